//! NodeResourcesFit and NodeResourcesBalancedAllocation. Mirrors `pkg/scheduler/framework/plugins/noderesources`.

mod args;
mod balanced_allocation;
mod dra;
mod fit;
mod formula;
mod hints;
mod least_allocated;
mod most_allocated;
mod requested_to_capacity_ratio;
mod resource_allocation;
mod single_formula;

pub use args::{
    NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs, RequestedToCapacityRatioParam, ResourceSpec, ScoringStrategy,
    ScoringStrategyType, UtilizationShapePoint,
};
pub use balanced_allocation::NodeResourcesBalancedAllocation;
pub use fit::{NodeResourcesFit, fits};
pub use single_formula::{SingleFormula, SingleFormulaArgs};
