//! Who goes first if pods like one keep coming: copies come one after another until preemption makes no more room.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::capacity::{CapacityEnd, Watch, capacity, needs_claims, template};
use super::error::WhatIfError;
use super::scale::workload_of;
use super::stage::{Rehearsal, Stage as _};
use crate::cluster::{Cluster, Key, Kind, Object, Pod, Str};
use crate::controllers::{Draft, pods as owners};
use crate::limits::engine::FLOOD_PODS;
use crate::scheduler::{ObjectEdit, Operation, Scheduler};

/// The pods that are evicted while pods like one keep coming.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flood {
    pub pod: Key,
    /// Copies that got a node before the first eviction.
    pub fits: usize,
    /// Copies that got a node in all.
    pub placed: usize,
    /// Number of other pending pods, which are left out.
    pub others: usize,
    /// The pods that are evicted, in order.
    pub victims: Vec<FloodVictim>,
    /// Why no more copies came.
    pub end: CapacityEnd,
}

/// A pod that is evicted for a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloodVictim {
    pub pod: Key,
    pub node: Str,
    pub priority: i32,
    /// Its workload, as what-ifs write it; `None` without one.
    pub workload: Option<String>,
    /// The number of the copy, from 1.
    pub by: usize,
    /// The budgets that its eviction violates.
    pub violates: Vec<Key>,
}

/// Lets copies of a pod come one after another, each once the one before has a node. Other pending pods are left out, and no victim is
/// made again.
///
/// # Errors
/// When the pod has ended, or no profile schedules it.
pub fn flood(scheduler: &Scheduler, pod: &Arc<Pod>, watch: Watch<'_>) -> Result<Flood, WhatIfError> {
    flood_within(scheduler, pod, watch, FLOOD_PODS)
}

/// Does the same with at most a number of copies beyond those that fit.
pub(super) fn flood_within(scheduler: &Scheduler, pod: &Arc<Pod>, watch: Watch<'_>, most: usize) -> Result<Flood, WhatIfError> {
    let free = capacity(scheduler, pod, &|_| watch(0))?;
    let pending = scheduler.state().cluster().pods.iter().filter(|pod| pod.is_pending()).map(|pod| pod.key());
    let base = scheduler.with_edits(pending.map(|key| ObjectEdit::Remove(Kind::Pod, key)).collect::<Vec<_>>());
    let like = template(pod);
    let mut flood = Flood { pod: pod.key(), fits: 0, placed: 0, others: free.others, victims: Vec::new(), end: CapacityEnd::Limit };
    let mut copies = Copies { like, old: base.state().cluster().clone(), made: 0 };
    let mut base = base;
    if !needs_claims(&copies.like, &copies.old) {
        // Copies that fit evict no pod, and where they go is known.
        let mut edits = Vec::new();
        for (node, count) in &free.nodes {
            for _ in 0..*count {
                let mut copy = copies.next(&base);
                copy.node_name = node.clone();
                edits.push(ObjectEdit::Put(Object::Pod(Arc::new(copy))));
            }
        }
        (flood.fits, flood.placed) = (free.fits, free.fits);
        base = base.with_edits(edits);
    }
    if free.end == CapacityEnd::Cancelled {
        flood.end = CapacityEnd::Cancelled;
        return Ok(flood);
    }
    let mut stage = Rehearsal::new(base);
    for _ in 0..most {
        if !watch(flood.placed) {
            flood.end = CapacityEnd::Cancelled;
            break;
        }
        let before = stage.scheduler().state().cluster().clone();
        let copy = copies.next(stage.scheduler());
        let key = copy.key();
        let mut draft = Draft::new(&before);
        owners::create(&mut draft, &copies.old, &copies.like, copy, &mut Vec::new());
        stage.apply_alone(Operation::Batch { name: "a pod comes".to_owned(), operations: draft.into_operations() });
        while stage.settle_step() {}
        if stage.bound().is_reached() {
            break;
        }
        let evicted: Vec<Key> = stage.preempted().into_iter().filter(|(_, by)| *by == key).map(|(pod, _)| pod).collect();
        flood.victims.extend(victims(&before, evicted, copies.made));
        let pod = stage.scheduler().state().cluster().pods.get(&key);
        if pod.is_none_or(|pod| pod.node_name.is_empty()) {
            let message = pod.and_then(|pod| pod.condition("PodScheduled").map(|condition| condition.message.to_string()));
            flood.end = CapacityEnd::Full(message.unwrap_or_default());
            break;
        }
        flood.placed += 1;
        if flood.victims.is_empty() {
            flood.fits += 1;
        }
    }
    Ok(flood)
}

/// Copies of a pod, with numbered names.
struct Copies {
    like: Pod,
    /// The cluster with the claims that copies are made of.
    old: Cluster,
    made: usize,
}

impl Copies {
    fn next(&mut self, scheduler: &Scheduler) -> Pod {
        self.made += 1;
        let name = Str::from(format!("{}-more-{}", self.like.metadata.name, self.made));
        owners::copy(&self.like, name, scheduler.state().clock())
    }
}

/// Returns the victims of a copy, those of the lowest priority first.
fn victims(before: &Cluster, evicted: Vec<Key>, by: usize) -> Vec<FloodVictim> {
    let mut used: BTreeMap<Key, i32> = BTreeMap::new();
    let mut found = Vec::new();
    for key in evicted {
        let Some(pod) = before.pods.get(&key) else { continue };
        let mut violates = Vec::new();
        let budgets = before.pod_disruption_budgets.in_namespace(&key.namespace).filter(|budget| budget.covers(pod));
        for budget in budgets.filter(|budget| !budget.status.disrupted_pods.contains_key(&key.name)) {
            let used = used.entry(budget.metadata.key()).or_default();
            *used += 1;
            if *used > budget.status.disruptions_allowed {
                violates.push(budget.metadata.key());
            }
        }
        let workload = workload_of(before, pod).map(|owner| owner.to_string());
        found.push(FloodVictim { pod: key, node: pod.node_name.clone(), priority: pod.priority(), workload, by, violates });
    }
    found.sort_by(|a, b| (a.priority, &a.pod).cmp(&(b.priority, &b.pod)));
    found
}
