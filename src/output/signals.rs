//! Ends the program on a signal: at once, or some time later where a screen ends it first; no unfinished file and no child is left
//! behind.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::children::end_children;
use super::file::remove_partial_files;
use crate::limits::terminal::SCREEN_ENDS;

/// Whether Ctrl-C is how a command is meant to end.
static INTERRUPT_IS_SUCCESS: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C end the program with exit code 0, for a command that has no other end.
pub fn interrupt_is_success() {
    INTERRUPT_IS_SUCCESS.store(true, Ordering::Relaxed);
}

/// Restores the terminal of a screen that handles signals itself; `None` without one.
static SCREEN: Mutex<Option<fn()>> = Mutex::new(None);

fn screen() -> MutexGuard<'static, Option<fn()>> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the thread that waits for signals. Without it signals end the program as the system does.
pub fn end_on_signals() {
    let watch = || {
        let handled = [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|signal| !is_ignored(*signal));
        let Ok(mut signals) = Signals::new(handled) else { return };
        let Some(signal) = signals.forever().next() else { return };
        let has_screen = screen().is_some();
        if has_screen {
            // A screen restores the terminal, unless its output is not read.
            thread::sleep(SCREEN_ENDS);
        }
        let is_success = signal == SIGINT && INTERRUPT_IS_SUCCESS.load(Ordering::Relaxed);
        end(None, if is_success { 0 } else { 128 + signal });
    };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(watch);
}

/// Ends the program from any thread: removes unfinished files, restores the terminal, and says why.
pub(super) fn end(why: Option<String>, code: i32) -> ! {
    remove_partial_files();
    let restore = *screen();
    if let Some(restore) = restore {
        restore();
    }
    end_children();
    if let Some(why) = why {
        super::say(why);
    }
    std::process::exit(code)
}

/// Returns whether the program was started with a signal ignored, as `nohup` does. It stays ignored then.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask & (1 << (signal - 1)) != 0
}

/// Lets a screen end the program on signals for as long as the returned value lives. If it does not in time, the program ends after
/// `restore`, which must not wait.
pub fn screen_ends_on_signals(restore: fn()) -> ScreenEnds {
    *screen() = Some(restore);
    ScreenEnds(())
}

/// See [`screen_ends_on_signals`].
#[must_use]
#[derive(Debug)]
pub struct ScreenEnds(());

impl Drop for ScreenEnds {
    fn drop(&mut self) {
        screen().take();
    }
}
