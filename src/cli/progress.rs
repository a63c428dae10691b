//! Progress on standard error: how much was read, or how many operations a run has made.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::output::{self, Status};
use crate::plural::thousands;
use crate::source::Progress;

/// A thread that shows progress, ended on drop. The default one shows nothing.
#[derive(Default)]
pub(super) struct Showing(Option<(Sender<()>, JoinHandle<()>)>);

/// Delay before the first progress line: shorter loads print nothing.
const FIRST_PROGRESS: Duration = Duration::from_millis(400);
const NEXT_PROGRESS: Duration = Duration::from_millis(100);

impl Showing {
    /// Shows bytes and `more` on standard error, if that is a terminal.
    pub(super) fn on_terminal(progress: &Arc<Progress>, more: fn(&Progress) -> String) -> Self {
        let progress = Arc::clone(progress);
        Self::lines(move || format!("reading {}: {} MB{} so far", progress.file(), progress.bytes() / 1_000_000, more(&progress)))
    }

    /// Shows the number of operations of a run on standard error, if that is a terminal.
    pub(super) fn operations(count: &Arc<AtomicUsize>) -> Self {
        let count = Arc::clone(count);
        Self::lines(move || format!("running the scheduler: {} operations so far", thousands(count.load(Ordering::Relaxed))))
    }

    fn lines(line: impl Fn() -> String + Send + 'static) -> Self {
        if !output::standard_error_is_terminal() {
            return Self(None);
        }
        let (end, ended) = mpsc::channel::<()>();
        let show = move || {
            let mut wait = FIRST_PROGRESS;
            let mut status = Status::default();
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                status.show(line());
                wait = NEXT_PROGRESS;
            }
        };
        // Without a thread to spare, nothing is shown.
        Self(Builder::new().spawn(show).ok().map(|thread| (end, thread)))
    }
}

impl Drop for Showing {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.0.take() {
            drop(end);
            // A panic there has been reported.
            let _ = thread.join();
        }
    }
}
