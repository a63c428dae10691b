//! SIGINT and SIGHUP for programs that a test starts and interrupts.

use std::fs;
use std::sync::Arc;

use signal_hook::consts::{SIGHUP, SIGINT};

/// Lets programs that are started from now on be interrupted, even if the tests run where signals are ignored, as in a
/// shell's background and by `nohup`.
/// Programs inherit ignored signals, but no handlers.
pub(crate) fn let_children_be_interrupted() {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    for signal in [SIGINT, SIGHUP].into_iter().filter(|signal| ignored.unwrap_or_default() & (1 << (signal - 1)) != 0) {
        signal_hook::flag::register(signal, Arc::default()).expect("a handler");
    }
}
