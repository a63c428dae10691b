//! The record of a preemption for a pod group as a whole.

use std::sync::Arc;

use super::{PodInfo, Status};
use crate::cluster::Key;

/// Everything that one preemption for a pod group did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupPreemptionRecord {
    /// Why the group may not preempt, or why eviction would not help; success where it would.
    pub status: Status,
    /// The priority with which the group preempts.
    pub priority: i32,
    /// The candidates for eviction, most important first.
    pub units: Vec<EvictionUnit>,
}

/// Pods that are evicted all or none: one pod, or a group that is disrupted as one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvictionUnit {
    /// The pod, or the group.
    pub name: Key,
    /// Whether it is a group.
    pub group: bool,
    /// Its pods, by node in walking order.
    pub pods: Vec<Arc<PodInfo>>,
    /// Its priority.
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
