//! A file as a saved session: it replays, or it is refused with a message. Its checksum is computed again, so that changes get
//! beyond it.
#![no_main]

use flate2::Crc;
use libfuzzer_sys::fuzz_target;
use schedscope::session::{Session, is_session_file};
use serde_json::Value;

/// Returns the lines with the checksum that belongs to them. Lines that are no values are kept, and refused later.
fn sealed(text: &[u8]) -> Vec<u8> {
    let (mut crc, mut out) = (Crc::new(), Vec::new());
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !line.starts_with(b"{\"checksum\"")) {
        if let Ok(value) = serde_json::from_slice::<Value>(line) {
            crc.update(value.to_string().as_bytes());
        }
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    out.extend(format!("{{\"checksum\":\"{:08x}\"}}\n", crc.sum()).into_bytes());
    out
}

fn check(data: &[u8]) {
    let known = is_session_file(data);
    match Session::load(data) {
        Ok(session) => {
            assert!(known, "whatever opens as a session is known as one");
            let mut saved = Vec::new();
            session.save(&mut saved).expect("saved to memory");
            assert!(Session::load(saved.as_slice()).is_ok(), "what was saved opens again");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fuzz_target!(|data: &[u8]| {
    check(data);
    check(&sealed(data));
});
