//! A pod's fix made to other pods that wait for the same reasons.

use std::cmp::Reverse;
use std::sync::Arc;

use serde_json::Value;

use super::trial::group_steps;
use super::{Change, PodChange, operations};
use crate::cluster::{Cluster, Key, Object, Pod};
use crate::scheduler::{DryDecision, ObjectEdit, Operation, PostFilter, Scheduler};
use crate::trace::Outcome;

/// Returns the operations of a fix that was found for `first`, with its change of the pod made to each of `pods` that it
/// applies to; `None` where an object to change does not exist.
pub fn operations_of_all(cluster: &Cluster, first: &Key, changes: &[Change], pods: &[Key]) -> Option<Vec<Operation>> {
    let model = cluster.pods.get(first)?;
    let (of_pod, others): (Vec<Change>, Vec<Change>) = changes.iter().cloned().partition(|change| matches!(change, Change::Pod(_)));
    let mut all = operations(cluster, first, &others)?;
    if of_pod.is_empty() {
        return Some(all);
    }
    for pod in pods {
        let pod = cluster.pods.get(pod)?;
        if let Some(changed) = changed(model, pod, &of_pod) {
            all.push(Operation::Update { object: Object::Pod(changed) });
        }
    }
    Some(all)
}

/// Returns the pods of a pod group that are scheduled with the changes made, when the group is tried with all of `pods` changed
/// as the first one. `None` where the group is not tried. Adds the steps of the attempt to `steps`.
pub fn freed_with_group(scheduler: &Scheduler, first: &Arc<Pod>, changes: &[Change], pods: &[Key], steps: &mut u64) -> Option<Vec<Key>> {
    let cluster = scheduler.state().cluster();
    let operations = operations_of_all(cluster, &first.key(), changes, pods)?;
    let edits = operations.into_iter().filter_map(|operation| match operation {
        Operation::Create { object } | Operation::Update { object } => Some(ObjectEdit::Put(object)),
        Operation::Delete { object } => Some(ObjectEdit::Remove(object.kind(), object.key())),
        _ => None,
    });
    let changed = scheduler.looking_at_all_nodes().with_edits(edits).quietly();
    let first = changed.state().cluster().pods.get(&first.key())?;
    let view = changed.group_view(first)?;
    *steps = steps.saturating_add(group_steps(cluster.nodes.len(), first, &view));
    let is_scheduled = |pod: &Key| view.member(pod).is_some_and(|member| member.outcome == Some(Outcome::Scheduled));
    let mut freed: Vec<Key> = pods.iter().filter(|pod| is_scheduled(pod)).cloned().collect();
    freed.sort();
    Some(freed)
}

/// Returns the pods that find a node with the changes made, placed one after another by priority and name. A change of the
/// first pod is made to each pod that it applies to. Calls `go_on` before each pod; `false` leaves the rest out.
pub fn freed(scheduler: &Scheduler, first: &Arc<Pod>, changes: &[Change], pods: &[Key], go_on: &dyn Fn() -> bool) -> Vec<Key> {
    let cluster = scheduler.state().cluster();
    let Some(operations) = operations(cluster, &first.key(), changes) else { return Vec::new() };
    let of_first = |object: &Object| matches!(object, Object::Pod(pod) if pod.key() == first.key());
    let edits = operations.into_iter().filter_map(|operation| match operation {
        Operation::Create { object } | Operation::Update { object } if !of_first(&object) => Some(ObjectEdit::Put(object)),
        Operation::Delete { object } => Some(ObjectEdit::Remove(object.kind(), object.key())),
        _ => None,
    });
    let mut changed_scheduler = scheduler.looking_at_all_nodes().with_edits(edits);
    let mut waiting: Vec<&Arc<Pod>> = pods.iter().filter_map(|key| cluster.pods.get(key)).collect();
    waiting.sort_by_key(|pod| (Reverse(pod.priority()), pod.key()));
    let mut freed = Vec::new();
    for pod in waiting {
        if !go_on() {
            break;
        }
        let Some(patched) = changed(first, pod, changes) else { continue };
        let decision = changed_scheduler.dry_decision(&patched, PostFilter::LeaveOut);
        if let DryDecision::Tried(_) = &decision
            && let Some(node) = decision.best().first()
        {
            let mut bound = Pod::clone(&patched);
            bound.node_name = node.clone();
            changed_scheduler = changed_scheduler.with_edits([ObjectEdit::Put(Object::Pod(Arc::new(bound)))]);
            freed.push(pod.key());
        }
    }
    freed.sort();
    freed
}

/// Returns a pod with the changes of another pod; `None` if they do not apply to it.
fn changed(first: &Arc<Pod>, pod: &Arc<Pod>, changes: &[Change]) -> Option<Arc<Pod>> {
    let mut written: Option<Value> = None;
    for change in changes {
        let Change::Pod(of_pod) = change else { continue };
        let selects = |key: &str, value: &str| pod.spec.node_selector.as_ref().and_then(|s| s.get(key)).is_some_and(|v| v == value);
        let applies = match of_pod {
            PodChange::Tolerate(_) => true,
            PodChange::DropSelector { key, value } | PodChange::SetSelector { key, from: value, .. } => selects(key, value),
            PodChange::RenameSelector { from, value, .. } => selects(from, value),
            PodChange::RemoveGates(gates) => pod.spec.scheduling_gates.iter().map(|g| &g.name).eq(gates),
            _ => pod.spec == first.spec,
        };
        if !applies {
            return None;
        }
        if written.is_none() {
            written = serde_json::to_value(pod.as_ref()).ok();
        }
        change.edit(written.as_mut()?);
    }
    match written {
        Some(written) => serde_json::from_value(written).ok().map(Arc::new),
        None => Some(pod.clone()),
    }
}
