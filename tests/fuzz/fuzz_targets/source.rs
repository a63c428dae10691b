//! Any file: plain, compressed, an archive. It loads or gives a diagnostic, and the objects that load can be scheduled.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::source::{Input, load};

fuzz_target!(|data: &[u8]| {
    let loaded = load(&[Input::Bytes { name: "input".to_owned(), bytes: data.to_vec().into() }]);
    drop(loaded.cluster());
});
