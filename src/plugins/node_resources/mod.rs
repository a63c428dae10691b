//! NodeResourcesFit and NodeResourcesBalancedAllocation. Mirrors `pkg/scheduler/framework/plugins/noderesources`.

mod args;
mod balanced_allocation;
mod dra;
mod fit;
mod hints;
mod least_allocated;
mod most_allocated;
mod requested_to_capacity_ratio;
mod resource_allocation;

pub use args::{
    NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs, RequestedToCapacityRatioParam, ResourceSpec, ScoringStrategy,
    ScoringStrategyType, UtilizationShapePoint,
};
pub use balanced_allocation::NodeResourcesBalancedAllocation;
pub use fit::{NodeResourcesFit, fits};
