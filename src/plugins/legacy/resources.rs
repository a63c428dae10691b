//! LeastRequestedPriority, MostRequestedPriority, BalancedResourceAllocation and RequestedToCapacityRatioPriority:
//! scores by the requested CPU and memory. Mirrors
//! `pkg/scheduler/algorithm/priorities/{resource_allocation,least_requested,most_requested,balanced_resource_allocation,requested_to_capacity_ratio}.go`.

use serde::Deserialize;

use super::MAX_PRIORITY;
use crate::cluster::Pod;
use crate::framework::{
    Context, CycleState, DEFAULT_MEMORY_REQUEST, DEFAULT_MILLI_CPU_REQUEST, FieldErrors, NodeInfo, Plugin, PluginName, PodInfo,
    ScorePlugin, Status,
};
use crate::plugins::helper::{FunctionShapePoint, broken_linear, function_shape_errors};

/// Scores nodes by their requested CPU and memory with the pod.
#[derive(Clone, Debug)]
pub enum ResourcePriority {
    /// LeastRequestedPriority: prefers larger free shares.
    LeastRequested,
    /// MostRequestedPriority: prefers larger requested shares.
    MostRequested,
    /// BalancedResourceAllocation: prefers similar shares of CPU and memory.
    Balanced,
    /// RequestedToCapacityRatioPriority: applies a function of the share.
    RequestedToCapacityRatio(Vec<FunctionShapePoint>),
}

/// The argument `requestedToCapacityRatioArguments` of a priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestedToCapacityRatioArgs {
    /// The points of the function, by utilization.
    #[serde(default)]
    pub shape: Vec<ShapePoint>,
}

/// A point of a function of utilization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ShapePoint {
    /// In per cent.
    pub utilization: i32,
    /// 0 to 10.
    pub score: i32,
}

impl RequestedToCapacityRatioArgs {
    /// Validates the function; mirrors `NewFunctionShape`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        // No points select the function of the default arguments.
        if self.shape.is_empty() {
            return Ok(());
        }
        function_shape_errors(self.shape.iter().map(|p| (p.utilization, p.score))).into_result()
    }

    /// Returns the points of the function; without points those of `defaultFunctionShape`.
    pub fn points(&self) -> Vec<FunctionShapePoint> {
        if self.shape.is_empty() {
            return vec![FunctionShapePoint { utilization: 0, score: 10 }, FunctionShapePoint { utilization: 100, score: 0 }];
        }
        self.shape.iter().map(|p| FunctionShapePoint { utilization: p.utilization.into(), score: p.score.into() }).collect()
    }
}

/// Returns the sums over containers of CPU, in thousandths of a core, and memory, in bytes; mirrors
/// `getNonZeroRequests`.
fn non_zero_request(pod: &Pod) -> (i64, i64) {
    let request = |c: &crate::cluster::Container| {
        let requests = &c.resources.requests;
        let cpu = requests.get("cpu").map_or(DEFAULT_MILLI_CPU_REQUEST, |q| q.milli_value());
        (cpu, requests.get("memory").map_or(DEFAULT_MEMORY_REQUEST, |q| q.value()))
    };
    let each = pod.spec.containers.iter().map(request);
    each.fold((0, 0), |sum, more| (sum.0.wrapping_add(more.0), sum.1.wrapping_add(more.1)))
}

impl ResourcePriority {
    fn of_resource(&self, requested: i64, capacity: i64) -> i64 {
        match self {
            Self::RequestedToCapacityRatio(shape) if capacity == 0 || requested > capacity => broken_linear(shape, 100),
            _ if capacity == 0 || requested > capacity => 0,
            Self::LeastRequested => (capacity - requested).wrapping_mul(MAX_PRIORITY) / capacity,
            Self::MostRequested => requested.wrapping_mul(MAX_PRIORITY) / capacity,
            Self::RequestedToCapacityRatio(shape) => broken_linear(shape, 100 - (capacity - requested).wrapping_mul(100) / capacity),
            Self::Balanced => 0,
        }
    }

    fn score_of(&self, cpu: (i64, i64), memory: (i64, i64)) -> i64 {
        if !matches!(self, Self::Balanced) {
            return i64::midpoint(self.of_resource(cpu.0, cpu.1), self.of_resource(memory.0, memory.1));
        }
        let share = |(requested, capacity): (i64, i64)| if capacity == 0 { 1.0 } else { requested as f64 / capacity as f64 };
        let (cpu, memory): (f64, f64) = (share(cpu), share(memory));
        if cpu >= 1.0 || memory >= 1.0 { 0 } else { ((1.0 - (cpu - memory).abs()) * MAX_PRIORITY as f64) as i64 }
    }
}

impl Plugin for ResourcePriority {
    fn name(&self) -> PluginName {
        match self {
            Self::LeastRequested => PluginName::LeastRequestedPriority,
            Self::MostRequested => PluginName::MostRequestedPriority,
            Self::Balanced => PluginName::BalancedResourceAllocation,
            Self::RequestedToCapacityRatio(_) => PluginName::RequestedToCapacityRatioPriority,
        }
    }
    fn score(&self) -> Option<&dyn ScorePlugin> {
        Some(self)
    }
}

impl ScorePlugin for ResourcePriority {
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let (cpu, memory) = non_zero_request(&pod.pod);
        let cpu = (node.non_zero_cpu.wrapping_add(cpu), node.allocatable.milli_cpu);
        let memory = (node.non_zero_memory.wrapping_add(memory), node.allocatable.memory);
        Ok(self.score_of(cpu, memory))
    }
}
