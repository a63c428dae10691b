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
    let text = format!(r#"{{"kind":"PodGroup","metadata":{{"name":"{name}","namespace":"d"}},"spec":{{"schedulingPolicy":{policy}}}}}"#);
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
