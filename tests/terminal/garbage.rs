//! Bytes that no keyboard sends: the explorer goes on, keys keep their meaning, and memory does not grow.

use crate::pty::{ESC, Pty};

/// Returns bytes that look random and are the same in each run.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Leaves the explorer with Ctrl-C, the one key that no state of it takes for something else.
fn leave(pty: &mut Pty) {
    pty.send("\x03");
    let code = pty.wait_exit();
    assert!(code == 0 || code == 130, "{code}");
    pty.assert_restored();
}

#[test]
fn keys_work_after_a_sequence_that_does_not_end() {
    for begun in ["\x1b[200~some text", "\x1b[<0;12;", "\x1b[M", "\x1b[", "\x1bO", "\x1b[1;"] {
        let mut pty = Pty::start(&["demo", "payments"], 120, 40);
        pty.wait_for("payments");
        pty.send(begun);
        if begun.contains("200~") {
            pty.wait_for("the pasted text did not end");
        } else {
            // Longer than the limit, on any machine that runs tests.
            std::thread::sleep(std::time::Duration::from_millis(600));
        }
        pty.send("?");
        pty.wait_for("Panes and lists");
        pty.send(ESC);
        pty.wait_gone("Panes and lists");
        pty.send("q");
        assert_eq!(pty.wait_exit(), 0, "{begun:?}");
        pty.assert_restored();
    }
}

#[test]
fn ctrl_c_and_esc_work_within_a_paste() {
    let mut pty = Pty::start(&["demo", "payments"], 120, 40);
    pty.wait_for("payments");
    pty.send("\x1b[200~text");
    pty.send(ESC);
    pty.wait_for("the pasted text did not end");
    pty.send("\x1b[200~text");
    leave(&mut pty);
}

#[test]
fn garbage_never_makes_it_deaf() {
    for seed in 1..=3 {
        let mut pty = Pty::start(&["demo", "payments"], 100, 30);
        pty.wait_for("payments");
        // Without the bytes that quit or suspend.
        let bytes: Vec<u8> = noise(seed, 3000).into_iter().filter(|byte| !matches!(byte, 3 | 26 | b'q' | b'Q')).collect();
        pty.send_bytes(&bytes);
        leave(&mut pty);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_large_paste_costs_no_memory() {
    let mut pty = Pty::start(&["demo", "payments"], 100, 30);
    pty.wait_for("payments");
    let before = pty.peak_memory();
    pty.send("\x1b[200~");
    for _ in 0..300 {
        pty.send(&"x".repeat(100_000));
    }
    pty.send("\x1b[201~");
    pty.wait_for("the pasted text is longer than 64 KiB");
    let after = pty.peak_memory();
    assert!(after < before + 20_000, "{before} kB, then {after} kB");
    pty.send("q");
    assert_eq!(pty.wait_exit(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn windows_of_any_size_are_drawn() {
    let mut pty = Pty::start(&["demo", "payments"], 100, 30);
    pty.wait_for("payments");
    let before = pty.peak_memory();
    for (columns, rows) in [(0, 0), (1, 1), (u16::MAX, 1), (1, u16::MAX), (u16::MAX, u16::MAX)] {
        pty.resize_unseen(columns, rows);
        // The help is drawn at that size.
        pty.send("?");
    }
    pty.resize_unseen(100, 30);
    pty.wait_for("Panes and lists");
    let after = pty.peak_memory();
    assert!(after < before + 250_000, "{before} kB, then {after} kB");
    leave(&mut pty);
}
