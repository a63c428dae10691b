//! A file as a saved session: it replays, or it is refused with a message.
#![no_main]

use libfuzzer_sys::fuzz_target;
use schedscope::session::{Session, is_session_file};

fuzz_target!(|data: &[u8]| {
    let known = is_session_file(data);
    if Session::load(data).is_ok() {
        assert!(known, "whatever opens as a session is known as one");
    }
});
