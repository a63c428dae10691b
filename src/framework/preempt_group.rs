//! The record of a preemption for a pod group as a whole.

use std::sync::Arc;

use super::{PodInfo, Status};
use crate::cluster::{Key, Str};

/// Everything that one preemption for a pod group did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupPreemptionRecord {
    /// Why the group may not preempt, or why eviction would not help; success where it would.
    pub status: Status,
    /// The priority with which the group preempts.
    pub priority: i32,
    /// The candidates for eviction, most important first.
    pub units: Vec<EvictionUnit>,
    /// The nodes to which pods of the group are nominated, in releases that keep the places found without the candidates.
    pub nominated: Vec<(Key, Str)>,
}

/// Pods that are evicted all or none: one pod, or a group that is disrupted as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvictionUnit {
    /// The pod, or the group.
    pub name: Key,
    pub group: bool,
    /// Its pods, by node in walking order.
    pub pods: Vec<Arc<PodInfo>>,
    pub priority: i32,
    /// Whether the eviction of one of its pods would violate a budget.
    pub violates: bool,
    /// Whether the group finds its places without its eviction.
    pub reprieved: bool,
}

impl GroupPreemptionRecord {
    /// Returns the pods to evict, those of the most important unit first; none where eviction does not help.
    pub fn victims(&self) -> impl Iterator<Item = &Arc<PodInfo>> {
        let units = self.units.iter().filter(|unit| self.status.is_success() && !unit.reprieved);
        units.flat_map(|unit| &unit.pods)
    }
}

/// Why the pods of a group are not tried together. Writes kube-scheduler's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GroupMismatch {
    /// The pods name several schedulers: another one, and the first.
    Schedulers(Str, Str),
    /// A pod has another priority than the group: the pod's, and the group's.
    Priorities(i32, i32),
    /// The pods have several preemption policies: another one, and the first.
    Policies(Str, Str),
}

impl std::fmt::Display for GroupMismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("all pods in a single pod group should have the same ")?;
        match self {
            Self::Schedulers(other, first) => write!(f, ".spec.schedulerName set, got: {:?} and {:?}", other.as_str(), first.as_str()),
            Self::Priorities(pod, group) => write!(f, "priority as the pod group's priority, got {pod} and {group}"),
            Self::Policies(other, first) => write!(f, "preemption policy, got {other} and {first}"),
        }
    }
}
