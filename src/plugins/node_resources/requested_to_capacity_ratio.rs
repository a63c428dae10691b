//! The RequestedToCapacityRatio formula.
//!
//! Mirrors `pkg/scheduler/framework/plugins/noderesources/requested_to_capacity_ratio.go`.

use super::args::UtilizationShapePoint;
use super::resource_allocation::Usage;
use crate::framework::MAX_NODE_SCORE;
use crate::plugins::helper::{FunctionShapePoint, broken_linear};
use crate::release::UtilizationRounding;

const MAX_UTILIZATION: i64 = 100;
/// The highest score in a configured shape.
const MAX_CUSTOM_PRIORITY_SCORE: i64 = 10;

/// Scales a configured shape to node scores.
pub(super) fn scaled(shape: &[UtilizationShapePoint]) -> Vec<FunctionShapePoint> {
    let scale = MAX_NODE_SCORE / MAX_CUSTOM_PRIORITY_SCORE;
    let point = |p: &UtilizationShapePoint| FunctionShapePoint { utilization: p.utilization.into(), score: i64::from(p.score) * scale };
    shape.iter().map(point).collect()
}

/// Returns the weighted mean of the function over the resources' utilizations, rounded half up; scores of 0 are left
/// out.
pub(super) fn score(shape: &[FunctionShapePoint], rounding: UtilizationRounding, usages: &[Usage]) -> i64 {
    let (mut sum, mut weights) = (0i64, 0i64);
    for usage in usages.iter().filter(|u| u.counts) {
        let share = |amount: i64| amount.wrapping_mul(MAX_UTILIZATION).wrapping_div(usage.allocatable);
        let utilization = if usage.allocatable == 0 || usage.requested > usage.allocatable {
            MAX_UTILIZATION
        } else if rounding == UtilizationRounding::TakenDown {
            share(usage.requested)
        } else {
            MAX_UTILIZATION - share(usage.allocatable.wrapping_sub(usage.requested))
        };
        let score = broken_linear(shape, utilization);
        if score > 0 {
            sum = sum.wrapping_add(score.wrapping_mul(usage.weight));
            weights = weights.wrapping_add(usage.weight);
        }
    }
    if weights == 0 { 0 } else { (sum as f64 / weights as f64).round() as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shape_is_followed_and_nothing_is_no_part_of_the_mean() {
        let usage = |requested, allocatable, weight| Usage { requested, allocatable, weight, counts: allocatable != 0, ..Usage::default() };
        let score = |shape: &[FunctionShapePoint], usages: &[Usage]| super::score(shape, UtilizationRounding::TakenDown, usages);
        let shape = |points: &[(i32, i32)]| {
            scaled(&points.iter().map(|&(utilization, score)| UtilizationShapePoint { utilization, score }).collect::<Vec<_>>())
        };
        let rising = shape(&[(0, 0), (100, 10)]);
        for (usages, expected) in [
            (vec![], 0),
            (vec![usage(0, 10, 1)], 0),
            (vec![usage(1, 3, 1)], 33),
            (vec![usage(4, 3, 1)], 100),
            // A score of 0 does not lower the mean.
            (vec![usage(1, 3, 1), usage(0, 10, 1)], 33),
            (vec![usage(1, 3, 1), usage(5, 0, 1)], 33),
            // (33 + 50) / 2 is rounded up.
            (vec![usage(1, 3, 1), usage(1, 2, 1)], 42),
            // (2 * 33 + 50) / 3 = 38.67
            (vec![usage(1, 3, 2), usage(1, 2, 1)], 39),
        ] {
            assert_eq!(score(&rising, &usages), expected, "{usages:?}");
        }
        assert_eq!(score(&shape(&[(10, 9), (50, 3)]), &[usage(3, 10, 1)]), 60);
        assert_eq!(score(&shape(&[(10, 9), (50, 3)]), &[usage(0, 10, 1)]), 90);
        // Empty and extreme values must not panic.
        assert_eq!(score(&[], &[usage(1, 2, 1)]), 0);
        score(&rising, &[usage(i64::MIN, -1, i64::MAX), usage(1, 1, i64::MAX)]);
    }
}
