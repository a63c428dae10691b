//! PrioritySort: QueueSort. Mirrors `pkg/scheduler/framework/plugins/queuesort/priority_sort.go`.
//!
//! Orders by higher priority, then by earlier queue timestamp.

use std::cmp::Ordering;

use jiff::Timestamp;

use crate::framework::Plugin;

/// Sorts activeQ.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrioritySort;

impl Plugin for PrioritySort {
    plugin!(PrioritySort);

    fn sorts_queue(&self) -> bool {
        true
    }
}

/// Compares two queued pods, each given as priority and queue timestamp; the one to pop first is less.
pub fn compare(a: (i32, Timestamp), b: (i32, Timestamp)) -> Ordering {
    b.0.cmp(&a.0).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn priority_first_then_time() {
        let (early, late) = (Timestamp::from_second(1).unwrap(), Timestamp::from_second(2).unwrap());
        assert_eq!(compare((5, late), (1, early)), Ordering::Less);
        assert_eq!(compare((1, early), (1, late)), Ordering::Less);
        assert_eq!(compare((1, late), (1, early)), Ordering::Greater);
    }
}
