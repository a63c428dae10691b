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
mod tests {
    use super::*;
    use crate::framework::Snapshot;

    fn emulation() -> Emulation {
        let mut emulation = Emulation::default();
        emulation.set(Gate::GenericWorkload, true);
        emulation.set(Gate::GangScheduling, true);
        emulation
    }

    fn pod(name: &str, group: Option<&str>, node: &str) -> Arc<Pod> {
        let group = group.map(|g| format!(r#","schedulingGroup":{{"podGroupName":"{g}"}}"#)).unwrap_or_default();
        let text = format!(r#"{{"metadata":{{"name":"{name}","namespace":"d"}},"spec":{{"nodeName":"{node}"{group}}}}}"#);
        Arc::new(serde_json::from_str(&text).unwrap())
    }

    fn group(name: &str, policy: &str) -> Object {
        let text =
            format!(r#"{{"kind":"PodGroup","metadata":{{"name":"{name}","namespace":"d"}},"spec":{{"schedulingPolicy":{policy}}}}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// Two groups, a gang of two and one without a number; `pods` are known.
    fn with<R>(pods: &[Arc<Pod>], emulation: Emulation, ask: impl FnOnce(&Context<'_>) -> R) -> R {
        let cluster: Cluster = [group("gang", r#"{"gang":{"minCount":2}}"#), group("basic", r#"{"basic":{}}"#)].into_iter().collect();
        let mut states = PodGroupStates::default();
        for pod in pods {
            states.add(pod);
        }
        let snapshot = Snapshot::default().with_pod_groups(states);
        ask(&Context { cluster: &cluster, snapshot: &snapshot, emulation, now: jiff::Timestamp::UNIX_EPOCH })
    }

    #[track_caller]
    fn check_gate(pods: &[Arc<Pod>], emulation: Emulation, expected: &str) {
        let status = with(pods, emulation, |cx| PreEnqueuePlugin::pre_enqueue(&GangScheduling, cx, &pods[0], false));
        assert_eq!(status.to_string(), expected);
    }

    #[test]
    fn a_pod_waits_for_its_group_and_for_enough_of_it() {
        let unresolvable = |text: &str| format!("UnschedulableAndUnresolvable: {text}");
        let missing = unresolvable("waiting for pods's pod group \"nowhere\" to appear in scheduling queue");
        let few = unresolvable("waiting for minCount pods from a gang to appear in scheduling queue");
        check_gate(&[pod("a", None, "")], emulation(), "Success");
        check_gate(&[pod("a", Some("nowhere"), "")], emulation(), &missing);
        check_gate(&[pod("a", Some("basic"), "")], emulation(), "Success");
        check_gate(&[pod("a", Some("gang"), "")], emulation(), &few);
        check_gate(&[pod("a", Some("gang"), "")], Emulation::default(), "Success");
        // Bound pods count.
        check_gate(&[pod("a", Some("gang"), ""), pod("b", Some("gang"), "n")], emulation(), "Success");
    }

    #[test]
    fn a_member_waits_until_enough_have_a_place_and_lets_the_others_go() {
        let node = NodeInfo::default();
        let ask = |pods: &[Arc<Pod>], of: &str| {
            let info = PodInfo::new(pods[0].clone());
            with(pods, emulation(), |cx| {
                let (status, seconds) = PermitPlugin::permit(&GangScheduling, cx, &mut CycleState::default(), &info, &node);
                let PermitEffects { activate, allow } = GangScheduling.effects(cx, &info, &status);
                (format!("{of}: {status}"), seconds, activate.is_some(), allow.is_some())
            })
        };
        let wait = "gang: Wait: waiting for minCount pods from a gang to be scheduled".to_owned();
        assert_eq!(ask(&[pod("a", Some("gang"), "n"), pod("b", Some("gang"), "")], "gang"), (wait, 300, true, false));
        assert_eq!(ask(&[pod("a", Some("gang"), "n"), pod("b", Some("gang"), "n")], "gang"), ("gang: Success".into(), 0, false, true));
        assert_eq!(ask(&[pod("a", Some("basic"), "n")], "basic"), ("basic: Success".into(), 0, false, false));
        let gone = "gone: Error: failed to get podGroup d/gone: podgroup.scheduling.k8s.io \"gone\" not found".to_owned();
        assert_eq!(ask(&[pod("a", Some("gone"), "n")], "gone"), (gone, 0, false, false));
    }

    #[test]
    fn only_what_comes_to_the_own_group_helps() {
        use QueueingHint::{Queue, QueueSkip};
        let (own, other, single) = (pod("a", Some("gang"), ""), pod("b", Some("basic"), ""), pod("c", None, ""));
        let came = |object: Object| Change { old: None, new: Some(object) };
        let after = |waiting: &Pod, came: &Change| (hint_after_pod(waiting, came), hint_after_group(waiting, came));
        assert_eq!(after(&own, &came(Object::Pod(pod("d", Some("gang"), "")))), (Queue, QueueSkip));
        assert_eq!(after(&other, &came(Object::Pod(own.clone()))), (QueueSkip, QueueSkip));
        assert_eq!(after(&single, &came(Object::Pod(single.clone()))), (QueueSkip, QueueSkip));
        assert_eq!(after(&own, &came(group("gang", "{}"))), (QueueSkip, Queue));
        assert_eq!(after(&other, &came(group("gang", "{}"))), (QueueSkip, QueueSkip));
    }
}
