//! The MostAllocated formula. Mirrors `pkg/scheduler/framework/plugins/noderesources/most_allocated.go`.

use super::resource_allocation::{Usage, weighted_mean};
use crate::framework::MAX_NODE_SCORE;

/// Returns the weighted mean of the used shares, 0 to 100; 0 if no resource counts.
pub(super) fn score(usages: &[Usage]) -> i64 {
    weighted_mean(usages, most_requested_score)
}

/// The share of one resource that is taken.
pub(super) fn most_requested_score(requested: i64, capacity: i64) -> i64 {
    if capacity == 0 {
        return 0;
    }
    // Assumed requests can exceed the capacity.
    requested.min(capacity).wrapping_mul(MAX_NODE_SCORE).wrapping_div(capacity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_is_taken_counts() {
        let usage = |requested, allocatable, weight| Usage { requested, allocatable, counts: allocatable != 0, weight, ..Usage::default() };
        for (usages, expected) in [
            (vec![], 0),
            (vec![usage(0, 10, 1)], 0),
            (vec![usage(1, 3, 1)], 33),
            (vec![usage(11, 10, 1)], 100),
            // (3 * 33 + 1 * 100) / 4
            (vec![usage(1, 3, 3), usage(5, 5, 1)], 49),
            (vec![usage(1, 3, 3), usage(0, 0, 1)], 33),
        ] {
            assert_eq!(score(&usages), expected, "{usages:?}");
        }
        // Extreme values must not panic.
        score(&[usage(i64::MIN, -1, i64::MAX), usage(i64::MAX, i64::MAX, i64::MAX)]);
    }
}
