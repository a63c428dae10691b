//! PrioritySort: QueueSort. Mirrors `pkg/scheduler/framework/plugins/queuesort/priority_sort.go`.
//!
//! Orders by higher priority, then by earlier queue timestamp.

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
