//! Arguments: parsed, or refused with a message.
#![no_main]

use clap::Parser as _;
use libfuzzer_sys::fuzz_target;
use schedscope::cli::{Cli, as_plugin};

fuzz_target!(|text: &str| {
    let arguments = ["schedscope"].into_iter().chain(text.split('\u{1f}')).map(Into::into).collect();
    if let Err(error) = Cli::try_parse_from(as_plugin(arguments)) {
        assert!(!error.to_string().is_empty());
    }
});
