//! How nodes are scored by what of their resources is taken.

use super::args::UtilizationShapePoint;
use super::requested_to_capacity_ratio::{self, scaled};
use super::resource_allocation::Usage;
use super::{least_allocated, most_allocated};
use crate::plugins::helper::FunctionShapePoint;
use crate::release::{Behaviour, UtilizationRounding};

/// A formula with its parameters.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    /// The more room is left, the better.
    LeastAllocated,
    /// The less room is left, the better.
    MostAllocated,
    /// A function of utilization.
    RequestedToCapacityRatio(Vec<FunctionShapePoint>, UtilizationRounding),
}

impl Formula {
    /// Returns the function of a configured shape.
    pub(super) fn requested_to_capacity_ratio(shape: &[UtilizationShapePoint], release: &Behaviour) -> Self {
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
