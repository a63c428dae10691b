//! The formulas that score nodes by the used share of their resources.

use super::args::UtilizationShapePoint;
use super::requested_to_capacity_ratio::{self, scaled};
use super::resource_allocation::Usage;
use super::{least_allocated, most_allocated};
use crate::plugins::helper::FunctionShapePoint;
use crate::release::{ResourceBehaviour, UtilizationRounding};

/// A formula with its parameters.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    /// Prefers nodes with more free resources.
    LeastAllocated,
    /// Prefers nodes with fewer free resources.
    MostAllocated,
    /// Applies a function of utilization.
    RequestedToCapacityRatio(Vec<FunctionShapePoint>, UtilizationRounding),
}

impl Formula {
    /// Makes the function of a configured shape.
    pub(super) fn requested_to_capacity_ratio(shape: &[UtilizationShapePoint], release: &ResourceBehaviour) -> Self {
        Self::RequestedToCapacityRatio(scaled(shape), release.utilization)
    }

    /// Returns the score of a node, 0 to 100.
    pub(super) fn score(&self, usages: &[Usage]) -> i64 {
        match self {
            Self::LeastAllocated => least_allocated::score(usages),
            Self::MostAllocated => most_allocated::score(usages),
            Self::RequestedToCapacityRatio(shape, rounding) => requested_to_capacity_ratio::score(shape, *rounding, usages),
        }
    }
}
