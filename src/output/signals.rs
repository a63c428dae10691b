//! Ends the program on a signal: at once, or some time later where a screen ends it first; no unfinished file and no child is left
//! behind.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::children::end_children;
use super::file::remove_partial_files;
use crate::limits::terminal::SCREEN_ENDS;

/// Whether a screen handles signals itself.
static HAS_SCREEN: AtomicBool = AtomicBool::new(false);

/// Starts the thread that waits for signals. Without it signals end the program as the system does.
pub fn end_on_signals() {
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    let watch = move || {
        let Some(signal) = signals.forever().next() else { return };
        if HAS_SCREEN.load(Ordering::Relaxed) {
            // A screen restores the terminal, unless its output is not read.
            thread::sleep(SCREEN_ENDS);
        }
        remove_partial_files();
        end_children();
        std::process::exit(128 + signal);
    };
    // Without a thread to spare, signals have no handler that acts; the screen has its own.
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(watch);
}

/// Lets a screen end the program on signals for as long as the returned value lives.
pub fn screen_ends_on_signals() -> ScreenEnds {
    HAS_SCREEN.store(true, Ordering::Relaxed);
    ScreenEnds(())
}

/// See [`screen_ends_on_signals`].
#[must_use]
#[derive(Debug)]
pub struct ScreenEnds(());

impl Drop for ScreenEnds {
    fn drop(&mut self) {
        HAS_SCREEN.store(false, Ordering::Relaxed);
    }
}
