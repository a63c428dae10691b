//! GangScheduling: PreEnqueue and Permit. Mirrors
//! `pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go`.

use std::sync::Arc;

use crate::cluster::{Cluster, Key, Object, Pod};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Code, Context, CycleState, EventResource, NodeInfo, PermitEffects,
    PermitPlugin, Plugin, PodGroupStates, PodInfo, PreEnqueuePlugin, QueueingHint, Reason, Status,
};
use crate::plugins::helper::pod_group_not_found;
use crate::release::{Emulation, Gate, GroupRule};

/// How long a member waits for the others, in seconds.
const PERMIT_TIMEOUT_SECONDS: u64 = 5 * 60;

/// Keeps the pods of a gang out of activeQ until there are enough of them, and from being bound until enough have a place.
#[derive(Clone, Copy, Debug, Default)]
pub struct GangScheduling;

impl Plugin for GangScheduling {
    plugin!(GangScheduling: pre_enqueue, permit);

    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let row = |resource, hint: fn(&Pod, &Change) -> QueueingHint| ClusterEventWithHint {
            event: ClusterEvent::new(resource, ActionType::ADD),
            hint: Some(Arc::new(move |_, pod, change| Ok(hint(pod, change)))),
        };
        Some(vec![row(EventResource::Pod, hint_after_pod), row(EventResource::PodGroup, hint_after_group)])
    }
}

fn queue_if(helps: bool) -> QueueingHint {
    if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip }
}

/// Queue when the pod that came is of the same group.
fn hint_after_pod(pod: &Pod, change: &Change) -> QueueingHint {
    let Some(Object::Pod(added)) = &change.new else { return QueueingHint::QueueSkip };
    queue_if(pod.group_key().is_some_and(|group| added.group_key() == Some(group)))
}

/// Queue when the group that came is the pod's.
fn hint_after_group(pod: &Pod, change: &Change) -> QueueingHint {
    let Some(Object::PodGroup(added)) = &change.new else { return QueueingHint::QueueSkip };
    queue_if(pod.group_key() == Some(added.metadata.key()))
}

impl PreEnqueuePlugin for GangScheduling {
    fn pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, _preempting: bool) -> Status {
        if !cx.emulation.enabled(Gate::GangScheduling) {
            return Status::success();
        }
        let Some(key) = pod.group_key() else { return Status::success() };
        rejection_of_group(cx.cluster, cx.snapshot.pod_groups(), &key).unwrap_or_else(Status::success)
    }
}

/// Returns why `PreEnqueue` keeps out every pod of a group; `None` where it lets them in.
pub(crate) fn rejection_of_group(cluster: &Cluster, states: &PodGroupStates, key: &Key) -> Option<Status> {
    let Some(group) = cluster.pod_groups.get(key) else {
        return Some(Status::rejected(Reason::PodGroupMissing { group: key.name.clone() }));
    };
    let min_count = group.min_count()?;
    let Some(state) = states.get(key) else {
        return Some(Status::error(format!("pod group state not found for pod group {key}")));
    };
    let pods = state.pods();
    is_below(pods, min_count).then(|| Status::rejected(Reason::GangIncomplete { pods, min_count }))
}

fn is_below(count: usize, min_count: i32) -> bool {
    i64::try_from(count).unwrap_or(i64::MAX) < i64::from(min_count)
}

impl PermitPlugin for GangScheduling {
    fn permit(&self, cx: &Context<'_>, _state: &mut CycleState, pod: &PodInfo, _node: &NodeInfo) -> (Status, u64) {
        if !cx.emulation.enabled(Gate::GangScheduling) || cx.emulation.behaviour().groups.rule == GroupRule::Feasible {
            return (Status::success(), 0);
        }
        let Some(key) = pod.pod.group_key() else { return (Status::success(), 0) };
        let Some(group) = cx.cluster.pod_groups.get(&key) else {
            return (Status::error(format!("failed to get podGroup {key}: {}", pod_group_not_found(&key.name))), 0);
        };
        let Some(min_count) = group.min_count() else { return (Status::success(), 0) };
        let Some(state) = cx.snapshot.pod_groups().get(&key) else {
            return (Status::error(format!("pod group state not found for pod group {key}")), 0);
        };
        let placed = state.scheduled_count();
        if is_below(placed, min_count) {
            return (Status::new(Code::Wait, [Reason::GangQuorumUnmet { placed, min_count }]), PERMIT_TIMEOUT_SECONDS);
        }
        (Status::success(), 0)
    }

    fn effects(&self, cx: &Context<'_>, pod: &PodInfo, answer: &Status) -> PermitEffects {
        let permits = cx.emulation.enabled(Gate::GangScheduling) && cx.emulation.behaviour().groups.rule == GroupRule::Permit;
        let Some(key) = pod.pod.group_key().filter(|_| permits) else {
            return PermitEffects::default();
        };
        let is_gang = cx.cluster.pod_groups.get(&key).is_some_and(|group| group.min_count().is_some());
        if !is_gang || cx.snapshot.pod_groups().get(&key).is_none() {
            return PermitEffects::default();
        }
        match answer.code() {
            Code::Wait => PermitEffects { activate: Some(key), allow: None },
            Code::Success => PermitEffects { activate: None, allow: Some(key) },
            _ => PermitEffects::default(),
        }
    }
}

#[cfg(test)]
mod tests;
