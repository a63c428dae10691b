//! Inferred queue places of pods, by their conditions and events.

use std::collections::BTreeMap;

use super::*;
use crate::cluster::testing::object;
use crate::cluster::{Kind, Object};
use crate::release::Emulation;
use crate::scheduler::{Config, InitialQueues, Operation, Options, Scheduler};
use crate::trace::{Place, QueueEntry};

const NOW: &str = "2026-11-20T01:00:00Z";
const FIT: &str = "0/2 nodes are available: 1 Too many pods, 1 node(s) were unschedulable. preemption: 0/2 nodes are available: 2 x.";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// A pod that was created at half past twelve.
fn pod(metadata: &str, spec: &str, status: &str) -> Object {
    let text = format!(
        r#"{{"metadata":{{"name":"p","namespace":"d","uid":"u","creationTimestamp":"2026-11-20T00:30:00Z"{metadata}}},
        "spec":{{"schedulerName":"default-scheduler","containers":[{{"name":"c"}}]{spec}}},"status":{{"phase":"Pending"{status}}}}}"#
    );
    object(Kind::Pod, &text)
}

/// A PodScheduled condition of two minutes ago.
fn condition(status: &str, reason: &str, message: &str) -> String {
    let message = serde_json::to_string(message).unwrap();
    format!(
        r#","conditions":[{{"type":"PodScheduled","status":"{status}","reason":"{reason}","message":{message},
        "lastTransitionTime":"2026-11-20T00:58:00Z"}}]"#
    )
}

fn event(reason: &str, note: &str, count: u32, last: &str) -> ObservedEvent {
    ObservedEvent {
        pod: Key::new("d", "p"),
        uid: "u".into(),
        reason: reason.into(),
        note: note.into(),
        controller: "default-scheduler".into(),
        count,
        first: Some(time("2026-11-20T00:57:00Z")),
        last: Some(time(last)),
    }
}

fn start(objects: Vec<Object>, events: Vec<ObservedEvent>) -> Scheduler {
    let options = Options { start: time(NOW), queues: InitialQueues::AsObserved, events, ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, options);
    check_invariants(&scheduler);
    scheduler
}

/// Checks that each pod is in one place and that the view agrees.
fn check_invariants(scheduler: &Scheduler) {
    let queue = scheduler.state().queue();
    let mut places: BTreeMap<Key, &str> = BTreeMap::new();
    let mut add = |key: Key, place| assert!(places.insert(key, place).is_none());
    queue.active_pods().for_each(|i| add(i.key(), "active"));
    queue.in_flight_pods().for_each(|i| add(i.key(), "in flight"));
    for info in queue.backoff_pods() {
        add(info.key(), if info.rejectors().is_empty() { "errors" } else { "backoff" });
    }
    for info in queue.unschedulable_pods() {
        assert!(!info.rejectors().is_empty(), "{} is parked without a reason", info.key());
        add(info.key(), if info.gated() { "gated" } else { "parked" });
    }
    let seen: BTreeMap<Key, &str> = queue.view().entries.values().map(|e| (e.pod.clone(), word(e))).collect();
    assert_eq!(seen, places);
    for entry in queue.view().entries.values() {
        let nominated = scheduler.state().nominations().get(&entry.pod).cloned().unwrap_or_default();
        assert_eq!(entry.nominated, nominated, "{}", entry.pod);
        let Some(info) = queue.get(&entry.pod) else { continue };
        assert_eq!((entry.attempts, entry.timestamp, entry.plugins), (info.attempts, info.timestamp, info.rejectors()), "{}", entry.pod);
        assert!(info.timestamp <= scheduler.state().clock());
    }
}

fn word(entry: &QueueEntry) -> &'static str {
    match &entry.place {
        Place::Active => "active",
        Place::Backoff { error: true, .. } => "errors",
        Place::Backoff { .. } => "backoff",
        Place::Unschedulable { gated_by: Some(_), .. } => "gated",
        Place::Unschedulable { .. } => "parked",
        Place::InFlight => "in flight",
        Place::WaitingOnPermit { .. } | Place::Bound { .. } | Place::Gone => "elsewhere",
    }
}

/// `place plugins attempts time`, with the time of day; `nowhere` for a pod in no queue. The text of an inferred place
/// must contain `says`; a gated pod has none.
#[track_caller]
fn check(pod: Object, events: &[ObservedEvent], expected: &str, says: &str) {
    let scheduler = start(vec![pod], events.to_vec());
    let entry = scheduler.state().queue().view().entries.get(&Key::new("d", "p")).cloned();
    let got = entry.as_ref().map_or("nowhere".to_owned(), |e| {
        let plugins: Vec<&str> = e.plugins.iter().map(PluginName::as_str).collect();
        format!("{} [{}] {} {}", word(e), plugins.join(" "), e.attempts, &e.timestamp.to_string()[11..])
    });
    assert_eq!(got, expected);
    let from = entry.and_then(|e| e.inferred.clone());
    assert_eq!(from.is_some(), !got.starts_with("gated") && got != "nowhere");
    let from = from.unwrap_or_default();
    assert!(from.contains(says), "{from}");
}

#[test]
fn pods_without_a_failed_attempt_are_to_be_tried() {
    check(pod("", "", ""), &[], "active [] 0 00:30:00Z", "no PodScheduled condition");
    let gated = condition("False", "SchedulingGated", "");
    check(pod("", "", &gated), &[], "active [] 0 00:30:00Z", "was gated at creation");
    check(pod("", "", &condition("True", "", "")), &[], "active [] 0 00:30:00Z", "PodScheduled is True although");
    check(pod("", "", &condition("False", "Odd", FIT)), &[], "active [] 0 00:30:00Z", "which kube-scheduler does not write");
    check(pod("", "", r#","nominatedNodeName":"n""#), &[], "active [] 0 00:30:00Z", "its binding may be under way");
    check(pod("", "", ""), &[event("Scheduled", "", 1, NOW)], "active [] 0 00:30:00Z", "an event says that it got a node");
    let Object::Pod(future) = pod("", "", "") else { unreachable!() };
    let mut future = Pod::clone(&future);
    future.metadata.creation_timestamp = Some(time("2026-11-21T00:00:00Z"));
    check(Object::Pod(future.into()), &[], "active [] 0 01:00:00Z", "");
}

#[test]
fn a_pod_whose_claim_is_being_bound_waits_in_pre_bind() {
    let claim = |annotations: &str, volume: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"data","namespace":"d","annotations":{{{annotations}}}}},"spec":{{"storageClassName":"s"{volume}}}}}"#
        );
        object(Kind::PersistentVolumeClaim, &text)
    };
    let volume = r#","volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]"#;
    let selected = r#""volume.kubernetes.io/selected-node":"n""#;
    let place = |claim: Object, status: &str| {
        let scheduler = start(vec![claim, pod("", volume, status)], Vec::new());
        let entry = scheduler.state().queue().view().entries.get(&Key::new("d", "p")).cloned();
        entry.map(|e| (word(&e).to_owned(), e.inferred.clone().unwrap_or_default()))
    };
    assert_eq!(place(claim(selected, ""), ""), None);
    let scheduler = start(vec![claim(selected, ""), pod("", volume, "")], Vec::new());
    let pod = scheduler.state().cluster().pods.get(&Key::new("d", "p")).unwrap();
    let binding = crate::scheduler::binding_under_way(scheduler.state().cluster(), pod).unwrap();
    assert_eq!(binding.to_string(), r#"claim "data" is being bound for n"#);

    for (claim, status, queue, says) in [
        (claim("", ""), String::new(), "active", "no PodScheduled condition"),
        (claim(&format!(r#"{selected},"pv.kubernetes.io/bind-completed":"yes""#), r#","volumeName":"pv""#), String::new(), "active", ""),
        (claim(selected, ""), condition("False", "Unschedulable", FIT), "parked", "it may be waiting in PreBind"),
    ] {
        let (word, why) = place(claim, &status).unwrap();
        assert_eq!(word, queue);
        assert!(why.contains(says), "{why}");
    }
}

#[test]
fn what_keeps_a_pod_out_is_certain() {
    let emulation = r#","schedulingGates":[{"name":"g"}]"#;
    check(pod("", emulation, ""), &[], "gated [SchedulingGates] 0 00:30:00Z", "");
    check(pod("", emulation, &condition("False", "SchedulingGated", "")), &[], "gated [SchedulingGates] 0 00:30:00Z", "");
    let deleted = r#","deletionTimestamp":"2026-11-20T00:59:00Z""#;
    check(pod(deleted, emulation, ""), &[], "gated [SchedulingGates] 0 00:30:00Z", "");
    let claims = r#","resourceClaims":[{"name":"r","resourceClaimName":"missing"}]"#;
    let rejected = condition("False", "Unschedulable", FIT);
    for status in ["", &rejected] {
        let expected = if status.is_empty() { "gated [DynamicResources] 0 00:30:00Z" } else { "gated [DynamicResources] 0 00:58:00Z" };
        check(pod("", claims, status), &[], expected, "");
    }
}

#[test]
fn rejected_pods_are_parked_with_their_rejectors() {
    let rejected = |message: &str| pod("", "", &condition("False", "Unschedulable", message));
    check(
        rejected(FIT),
        &[],
        "parked [NodeResourcesFit NodeUnschedulable] 1 00:58:00Z",
        "PodScheduled is False, Unschedulable: rejected by NodeResourcesFit, NodeUnschedulable, so assumed in unschedulablePods; tried at least 1 time, at 2026-11-20T00:58:00Z or later; unknown:",
    );
    let partly = "0/2 nodes are available: 1 Too many pods, 1 strange.";
    check(rejected(partly), &[], "parked [NodeResourcesFit] 1 00:58:00Z", r#"of another version ("strange"), which is ignored"#);
    let strange = "0/2 nodes are available: 2 strange.";
    check(rejected(strange), &[], "active [] 1 00:58:00Z", "no pod is in unschedulablePods");
    check(rejected("0/2 nodes are available: preemption: none."), &[], "active [] 1 00:58:00Z", "without a reason");
    let nominated = condition("False", "Unschedulable", FIT) + r#","nominatedNodeName":"n""#;
    check(pod("", "", &nominated), &[], "parked [NodeResourcesFit NodeUnschedulable] 1 00:58:00Z", "nominated to n: its victims");
}

#[test]
fn errors_back_off_or_are_to_be_tried() {
    let ended = |reason: &str, message: &str| pod("", "", &condition("False", reason, message));
    let late = |count| [event("FailedScheduling", "x", count, "2026-11-20T00:59:59Z")];
    check(ended("SchedulerError", "boom"), &[], "active [] 1 00:58:00Z", "ended in an error");
    check(ended("SchedulerError", FIT), &late(1), "errors [] 1 00:59:59Z", "in backoffQ, or in activeQ if its backoff is over");
    check(ended("Unschedulable", NO_NODES), &[], "active [] 1 00:58:00Z", "there were no nodes");
    check(ended("Unschedulable", NO_NODES), &late(4), "errors [] 4 00:59:59Z", "there were no nodes");
    check(ended("Unschedulable", "pod group is unschedulable"), &late(1), "errors [] 1 00:59:59Z", "not a rejection by plugins");
    // One error is over after one to two seconds, four are not after eight.
    let earlier = |count| [event("FailedScheduling", "x", count, "2026-11-20T00:59:57Z")];
    check(ended("SchedulerError", "boom"), &earlier(1), "active [] 1 00:59:57Z", "");
    check(ended("SchedulerError", "boom"), &earlier(4), "errors [] 4 00:59:57Z", "");
}

#[test]
fn a_pod_that_is_being_deleted_is_not_tried() {
    let deleted = r#","deletionTimestamp":"2026-11-20T00:59:00Z""#;
    let status = |reason: &str, message: &str| condition("False", reason, message);
    let parked = "parked [NodeResourcesFit NodeUnschedulable] 1 00:58:00Z";
    check(pod(deleted, "", &status("Unschedulable", FIT)), &[], parked, "it is terminating");
    for nowhere in [String::new(), status("SchedulerError", "boom"), status("Unschedulable", NO_NODES)] {
        check(pod(deleted, "", &nowhere), &[], "nowhere", "");
    }
    let scheduler = start(vec![pod(deleted, "", r#","nominatedNodeName":"n""#)], Vec::new());
    assert_eq!(scheduler.state().nominations().len(), 1, "a nomination outlives the pop");
}

#[test]
fn pods_of_other_schedulers_are_in_no_queue() {
    let text = r#"{"metadata":{"name":"p","namespace":"d"},"spec":{"schedulerName":"other"},"status":{"nominatedNodeName":"n"}}"#;
    check(object(Kind::Pod, text), &[], "nowhere", "");
    let scheduler = start(vec![object(Kind::Pod, text)], Vec::new());
    assert!(scheduler.state().nominations().is_empty());
}

#[test]
fn events_are_lower_bounds_and_stand_in_for_the_condition() {
    let failed = |note: &str, count, last: &str| event("FailedScheduling", note, count, last);
    let (earlier, later) = ("2026-11-20T00:57:30Z", "2026-11-20T00:59:00Z");
    let rejected = || pod("", "", &condition("False", "Unschedulable", FIT));
    let parked = |attempts: u32, at: &str| format!("parked [NodeResourcesFit NodeUnschedulable] {attempts} {at}");
    // The condition's text wins, and the later time.
    check(rejected(), &[failed("boom", 3, later)], &parked(3, "00:59:00Z"), "tried at least 3 times, at 2026-11-20T00:59:00Z or later");
    check(rejected(), &[failed("boom", 1, earlier)], &parked(1, "00:58:00Z"), "");
    check(rejected(), &[failed("a", 2, earlier), failed("b", 3, later)], &parked(5, "00:59:00Z"), "");
    // No time is in the future.
    check(rejected(), &[failed("a", 2, "2026-11-20T02:00:00Z")], &parked(2, "01:00:00Z"), "");
    // Without a condition the newest event decides.
    let events = [failed(FIT, 1, later), failed("boom", 1, earlier)];
    check(pod("", "", ""), &events, &parked(2, "00:59:00Z"), "a FailedScheduling event, without a condition");
    check(pod("", "", ""), &[failed("boom", 1, later)], "active [] 1 00:59:00Z", "counts as an error");
    // Events about other pods are ignored.
    let change = |change: fn(&mut ObservedEvent)| {
        let mut event = failed(FIT, 1, later);
        change(&mut event);
        event
    };
    for other in [
        change(|e| e.uid = "v".into()),
        change(|e| e.controller = "karpenter".into()),
        change(|e| e.pod = Key::new("d", "q")),
        change(|e| e.reason = "Preempted".into()),
    ] {
        check(pod("", "", ""), &[other], "active [] 0 00:30:00Z", "");
    }
    for same in [change(|e| e.uid = "".into()), change(|e| e.controller = "".into())] {
        check(pod("", "", ""), &[same], &parked(1, "00:59:00Z"), "");
    }
}

#[test]
fn nothing_stays_parked_for_longer_than_the_sweep_allows() {
    let old = condition("False", "Unschedulable", FIT).replace("00:58:00Z", "00:40:00Z");
    let expected = "parked [NodeResourcesFit NodeUnschedulable] 1 00:55:00Z";
    check(pod("", "", &old), &[], expected, "taken to have been there for 5 min, and the next flush moves it");
    let at_limit = old.replace("00:40:00Z", "00:55:00Z");
    check(pod("", "", &at_limit), &[], expected, "tried at least 1 time, at 2026-11-20T00:55:00Z or later; unknown");
    let mut scheduler = start(vec![pod("", "", &old)], Vec::new());
    scheduler.apply(Operation::Advance { seconds: 29 });
    assert_eq!(scheduler.next_pod(), None);
    scheduler.apply(Operation::Advance { seconds: 1 });
    assert_eq!(scheduler.next_pod(), Some(Key::new("d", "p")));
    let entry = scheduler.state().queue().view().entries[&Key::new("d", "p")].clone();
    assert_eq!((word(&entry), &entry.inferred), ("active", &None), "a move that was seen is not inferred");
}

#[test]
fn the_state_remembers_how_it_started() {
    let events = vec![event("FailedScheduling", FIT, 1, NOW)];
    let observed = start(Vec::new(), events.clone());
    assert_eq!((observed.options().queues, &observed.options().events), (InitialQueues::AsObserved, &events));
    let fresh = Scheduler::new(Config::defaults(Emulation::default()), vec![pod("", "", "")], Options::default());
    assert!(fresh.state().queue().view().entries.values().all(|e| e.inferred.is_none()));
}

/// All combinations of a pod's observable facts in one cluster: the queues stay consistent at every turn until nothing
/// moves, and through the flushes after that.
#[test]
fn every_combination_comes_to_rest() {
    let node = r#"{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","memory":"4Gi","pods":"30"}}}"#;
    let mut objects = vec![object(Kind::Node, node)];
    let mut events = Vec::new();
    let conditions = [
        String::new(),
        condition("False", "Unschedulable", FIT),
        condition("False", "Unschedulable", FIT).replace("2026-11-20T00:58", "2020-11-20T00:58"),
        condition("False", "Unschedulable", NO_NODES),
        condition("False", "Unschedulable", "0/1 nodes are available: 1 strange."),
        condition("False", "SchedulerError", "boom"),
        condition("False", "SchedulingGated", ""),
        condition("True", "", ""),
    ];
    for (c, condition) in conditions.iter().enumerate() {
        for bits in 0..64_u32 {
            let on = |bit: u32, text: &'static str| if bits & (1 << bit) == 0 { "" } else { text };
            let name = format!("p{c}-{bits}");
            let spec = [on(1, r#","schedulingGates":[{"name":"g"}]"#), on(2, r#","nodeSelector":{"a":"b"}"#)].concat();
            let status = format!("{condition}{}", on(3, r#","nominatedNodeName":"n""#));
            let Object::Pod(pod) = pod("", &spec, &status) else { unreachable!() };
            let mut pod = Pod::clone(&pod);
            (pod.metadata.name, pod.metadata.uid) = (name.as_str().into(), name.as_str().into());
            pod.metadata.deletion_timestamp = (bits & 1 != 0).then(|| time(NOW));
            pod.spec_mut().priority = Some(i32::from(bits & 16 != 0));
            if bits & 32 != 0 {
                let last = if bits & 1 == 0 { "2026-11-20T00:59:59Z" } else { "2026-11-20T00:10:00Z" };
                events.push(ObservedEvent { pod: pod.key(), uid: "".into(), ..event("FailedScheduling", FIT, bits, last) });
            }
            objects.push(Object::Pod(pod.into()));
        }
    }
    let mut scheduler = start(objects, events);
    let mut view = scheduler.state().queue().view().clone();
    let mut turns = 0;
    for _ in 0..4 {
        while scheduler.next_pod().is_some() {
            turns += 1;
            assert!(turns < 20_000, "no rest");
            for event in scheduler.apply(Operation::Schedule) {
                view.apply(&event);
            }
        }
        for event in scheduler.apply(Operation::Advance { seconds: 200 }) {
            view.apply(&event);
        }
        assert_eq!(&view, scheduler.state().queue().view());
        check_invariants(&scheduler);
    }
    assert!(turns > 200, "{turns}");
}
