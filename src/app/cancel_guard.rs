//! Cancel guard: cancelled before, or committed at, the first irreversible effect.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const COMMITTED: u8 = 1;
const CANCELLED: u8 = 2;

/// Cancel guard, shared by the worker, which commits, and the UI thread, which cancels.
#[derive(Clone, Debug, Default)]
pub(super) struct CancelGuard(Arc<AtomicU8>);

impl CancelGuard {
    /// Commits to an irreversible effect; returns false if cancelled.
    pub(super) fn commit(&self) -> bool {
        self.turn(COMMITTED)
    }

    /// Cancels; returns false if an irreversible effect was committed to.
    pub(super) fn cancel(&self) -> bool {
        self.turn(CANCELLED)
    }

    /// Returns whether it was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) == CANCELLED
    }

    /// Returns whether an irreversible effect was committed to.
    pub(super) fn is_committed(&self) -> bool {
        self.0.load(Ordering::Acquire) == COMMITTED
    }

    fn turn(&self, to: u8) -> bool {
        match self.0.compare_exchange(OPEN, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(is) => is == to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cancelled_is_not_done_and_what_is_done_is_not_given_up() {
        let guard = CancelGuard::default();
        assert!(!guard.is_cancelled());
        assert!(guard.clone().commit() && guard.commit());
        assert!(!guard.cancel() && !guard.is_cancelled());
        let guard = CancelGuard::default();
        assert!(guard.clone().cancel() && guard.cancel() && guard.is_cancelled());
        assert!(!guard.commit());
    }
}
