//! Leave to do what cannot be undone: it is given up, or it is used, and never both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const FREE: u8 = 0;
const TAKEN: u8 = 1;
const GIVEN_UP: u8 = 2;

/// Shared by whoever does something on a copy, and whoever may give that up meanwhile.
#[derive(Clone, Debug, Default)]
pub(super) struct Leave(Arc<AtomicU8>);

impl Leave {
    /// Asks for leave, before something is done that cannot be undone; false where all of it has been given up.
    pub(super) fn take(&self) -> bool {
        self.turn(TAKEN)
    }

    /// Gives up what is being done; false where something of it cannot be undone any more.
    pub(super) fn give_up(&self) -> bool {
        self.turn(GIVEN_UP)
    }

    /// Whether it was given up.
    pub(super) fn is_given_up(&self) -> bool {
        self.0.load(Ordering::Acquire) == GIVEN_UP
    }

    /// Whether something was done that cannot be undone.
    pub(super) fn is_taken(&self) -> bool {
        self.0.load(Ordering::Acquire) == TAKEN
    }

    fn turn(&self, to: u8) -> bool {
        match self.0.compare_exchange(FREE, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(is) => is == to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_up_is_not_done_and_what_is_done_is_not_given_up() {
        let leave = Leave::default();
        assert!(!leave.is_given_up());
        assert!(leave.clone().take() && leave.take());
        assert!(!leave.give_up() && !leave.is_given_up());
        let leave = Leave::default();
        assert!(leave.clone().give_up() && leave.give_up() && leave.is_given_up());
        assert!(!leave.take());
    }
}
