//! The predicates and priorities of releases before the scheduling framework, as Filter and Score plugins with their
//! names; mirrors `pkg/scheduler/algorithm/{predicates,priorities}` of v1.11 and v1.12.
//!
//! A predicate returns `UnschedulableAndUnresolvable` if `nodesWherePreemptionMightHelp` of
//! `pkg/scheduler/core/generic_scheduler.go` excludes the node. PreFilter computes the metadata of `GetMetadata`.
//! Priorities score 0 to 10.
//!
//! | file | predicates and priorities |
//! | --- | --- |
//! | `conditions` | CheckNodeCondition, CheckNodeUnschedulable, CheckNode...Pressure |
//! | `general` | GeneralPredicates, PodFitsResources, HostName, PodFitsHostPorts, MatchNodeSelector |
//! | `taints` | PodToleratesNodeTaints, PodToleratesNodeNoExecuteTaints, TaintTolerationPriority |
//! | `volumes` | NoDiskConflict, NoVolumeZoneConflict |
//! | `volume_counts` | Max...VolumeCount |
//! | `inter_pod_affinity` | MatchInterPodAffinity |
//! | `inter_pod_priority` | InterPodAffinityPriority |
//! | `node_labels` | CheckNodeLabelPresence, NodeLabelPriority |
//! | `services` | CheckServiceAffinity, ServiceAntiAffinityPriority |
//! | `resources` | LeastRequestedPriority, MostRequestedPriority, BalancedResourceAllocation, RequestedToCapacityRatioPriority |
//! | `spread` | SelectorSpreadPriority, ServiceSpreadingPriority |
//! | `preferences` | NodeAffinityPriority, NodePreferAvoidPodsPriority, ImageLocalityPriority, EqualPriority |
//! | `preempt` | preemption |
//!
//! CheckVolumeBinding is with [`super::volume_binding`], whose binding it shares.

mod conditions;
mod general;
mod inter_pod_affinity;
mod inter_pod_priority;
mod node_labels;
mod preempt;
mod preferences;
mod resources;
mod services;
mod spread;
mod taints;
#[cfg(test)]
mod tests;
mod volume_counts;
mod volumes;

pub use conditions::{CheckNodeCondition, CheckNodePressure, CheckNodeUnschedulable};
pub use general::{General, GeneralPart};
pub use inter_pod_affinity::MatchInterPodAffinity;
pub use inter_pod_priority::{InterPodAffinityPriority, InterPodAffinityPriorityArgs};
pub use node_labels::{CheckNodeLabelPresence, LabelPresence, NodeLabelPriority, NodeLabelPriorityArgs};
pub use preempt::Preempt;
pub use preferences::{EqualPriority, ImageLocalityPriority, NodeAffinityPriority, NodePreferAvoidPodsPriority};
pub use resources::{RequestedToCapacityRatioArgs, ResourcePriority};
pub use services::{CheckServiceAffinity, CheckServiceAffinityArgs, ServiceAntiAffinityPriority, ServiceAntiAffinityPriorityArgs};
pub use spread::SelectorSpreadPriority;
pub use taints::{TaintTolerationPriority, ToleratesTaints};
pub use volume_counts::MaxVolumeCount;
pub use volumes::{NoDiskConflict, NoVolumeZoneConflict};

use std::sync::Arc;

use crate::cluster::Pod;
use crate::framework::{Code, Context, Reason, ReasonKind, Status};
use crate::release::{Behaviour, PreemptionReach};

/// The highest score of a priority, before its weight; mirrors `MaxPriority` in `pkg/scheduler/api/types.go`.
const MAX_PRIORITY: i64 = 10;

/// Returns a rejection with these reasons; mirrors `nodesWherePreemptionMightHelp`.
fn reject(reasons: Vec<Reason>, release: &Behaviour) -> Status {
    let rules_out = |reason: &Reason| match reason.kind() {
        ReasonKind::NodeAffinityMismatch
        | ReasonKind::NodeNameMismatch
        | ReasonKind::UntoleratedTaint
        | ReasonKind::NodeLabelPresence
        | ReasonKind::NodeNotReady
        | ReasonKind::NodeNetworkUnavailable
        | ReasonKind::NodeUnschedulable
        | ReasonKind::VolumeZoneConflict
        | ReasonKind::VolumeNodeAffinityConflict
        | ReasonKind::NoVolumeToBind => true,
        ReasonKind::PodAffinityMismatch
        | ReasonKind::NodeOutOfDisk
        | ReasonKind::NodeMemoryPressure
        | ReasonKind::NodePidPressure
        | ReasonKind::NodeDiskPressure => release.predicates.preemption_reach == PreemptionReach::Narrow,
        _ => false,
    };
    let code = if reasons.iter().any(rules_out) { Code::UnschedulableAndUnresolvable } else { Code::Unschedulable };
    if reasons.is_empty() { Status::success() } else { Status::new(code, reasons) }
}

/// Returns the pods whose node does not exist. kube-scheduler keeps such a node without its object, and then computes
/// no metadata.
fn pods_without_node<'a>(cx: &Context<'a>) -> impl Iterator<Item = &'a Arc<Pod>> {
    let snapshot = cx.snapshot;
    let placed = cx.cluster.pods.iter().filter(|pod| !pod.node_name.is_empty() && !pod.is_terminal());
    placed.filter(|pod| snapshot.position(&pod.node_name).is_none())
}

/// Scales counts so that the highest becomes [`MAX_PRIORITY`]; with `reverse`, so that 0 does. Mirrors
/// `NormalizeReduce` in `pkg/scheduler/algorithm/priorities/reduce.go`.
fn normalize(scores: &mut [i64], reverse: bool) {
    let highest = scores.iter().copied().max().unwrap_or(0).max(0);
    if highest == 0 {
        if reverse {
            scores.fill(MAX_PRIORITY);
        }
        return;
    }
    for score in scores {
        let scaled = MAX_PRIORITY.wrapping_mul(*score) / highest;
        *score = if reverse { MAX_PRIORITY - scaled } else { scaled };
    }
}
