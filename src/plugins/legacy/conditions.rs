//! Predicates of node conditions: CheckNodeCondition, CheckNodeUnschedulable, CheckNodeMemoryPressure,
//! CheckNodePIDPressure and CheckNodeDiskPressure. Mirrors the functions of these names in
//! `pkg/scheduler/algorithm/predicates/predicates.go`.

use super::reject;
use crate::cluster::Pod;
use crate::framework::{Context, CycleState, FilterPlugin, NodeInfo, Plugin, PluginName, PodInfo, Reason, Status};
use crate::plugins::node_unschedulable::tolerates_unschedulable;

/// Keeps pods off nodes that are not ready, out of disk space, without network or cordoned.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckNodeCondition;

impl Plugin for CheckNodeCondition {
    plugin!(CheckNodeCondition: filter);
}

impl FilterPlugin for CheckNodeCondition {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let reason = |condition: &crate::cluster::Condition| match (condition.kind.as_str(), condition.status.as_str()) {
            ("Ready", "True") | ("OutOfDisk" | "NetworkUnavailable", "False") => None,
            ("Ready", _) => Some(Reason::NodeNotReady),
            ("OutOfDisk", _) => Some(Reason::NodeOutOfDisk),
            ("NetworkUnavailable", _) => Some(Reason::NodeNetworkUnavailable),
            _ => None,
        };
        let mut reasons: Vec<Reason> = node.node.status.conditions.iter().filter_map(reason).collect();
        reasons.extend(node.unschedulable().then_some(Reason::NodeUnschedulable));
        reject(reasons, cx.emulation.behaviour())
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

/// Keeps pods off cordoned nodes, unless they tolerate the unschedulable taint.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckNodeUnschedulable;

impl Plugin for CheckNodeUnschedulable {
    plugin!(CheckNodeUnschedulable: filter);
}

impl FilterPlugin for CheckNodeUnschedulable {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let rejects = node.unschedulable() && !tolerates_unschedulable(&pod.pod, cx.emulation);
        reject(rejects.then_some(Reason::NodeUnschedulable).into_iter().collect(), cx.emulation.behaviour())
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

/// Keeps pods off nodes under pressure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckNodePressure {
    /// CheckNodeMemoryPressure; passes pods with any request or limit.
    Memory,
    /// CheckNodePIDPressure.
    Pid,
    /// CheckNodeDiskPressure.
    Disk,
}

impl Plugin for CheckNodePressure {
    fn name(&self) -> PluginName {
        match self {
            Self::Memory => PluginName::CheckNodeMemoryPressure,
            Self::Pid => PluginName::CheckNodePIDPressure,
            Self::Disk => PluginName::CheckNodeDiskPressure,
        }
    }
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        Some(self)
    }
}

impl FilterPlugin for CheckNodePressure {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let (condition, reason) = match self {
            Self::Memory if !is_best_effort(&pod.pod) => return Status::success(),
            Self::Memory => ("MemoryPressure", Reason::NodeMemoryPressure),
            Self::Pid => ("PIDPressure", Reason::NodePidPressure),
            Self::Disk => ("DiskPressure", Reason::NodeDiskPressure),
        };
        // The last condition of a type counts, because upstream reads them in order.
        let found = node.node.status.conditions.iter().rfind(|c| c.kind == condition);
        reject(found.filter(|c| c.status == "True").map(|_| reason).into_iter().collect(), cx.emulation.behaviour())
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

/// Returns whether no container requests or limits CPU or memory; mirrors `GetPodQOS` in
/// `pkg/apis/core/v1/helper/qos/qos.go`.
fn is_best_effort(pod: &Pod) -> bool {
    let counts = |list: &crate::cluster::ResourceList| {
        list.iter().any(|(name, quantity)| (name == "cpu" || name == "memory") && *quantity > crate::cluster::Quantity::default())
    };
    let plain = |c: &crate::cluster::Container| !counts(&c.resources.requests) && !counts(&c.resources.limits);
    pod.spec.containers.iter().all(plain)
}
