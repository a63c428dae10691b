//! The user's own files: themes and keymaps.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::ui::{self, Depth, Library};

fuzz_target!(|text: &str| {
    let library = Library::new([("mine".to_owned(), "mine.toml".to_owned(), Ok(text.to_owned()))]);
    for depth in [Depth::None, Depth::True] {
        let _ = library.load("mine", depth).map_err(|error| assert!(!error.to_string().is_empty()));
    }
    if let Ok(keys) = text.parse::<toml::Table>() {
        let (_, problems) = ui::keymap().configured(&keys);
        assert!(problems.iter().all(|problem| !problem.is_empty()));
    }
});
