//! Pods that wait on Permit, from the scheduling cycle to every possible end of the wait.

use crate::cluster::Object;
use crate::release::{Emulation, Gate};
use crate::scheduler::testing::{FIRST, SECOND, apply, at, changed, key, node, object, pod, scheduler, scheduler_with};
use crate::scheduler::{Evictions, Operation, Scheduler, TimerKind};
use crate::trace::Event;

/// A node, a pod `w` that asks for three of its CPUs and waits, and a pod `o` that does not fit next to it and is parked.
#[track_caller]
fn waiting(labels: &str) -> Scheduler {
    let mut s = scheduler(Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", labels), pod("o", 1, 2, "", "")]);
    assert_eq!(apply(&mut s, Operation::Schedule), ["w waits for n", "w scheduled"]);
    assert_eq!(apply(&mut s, Operation::Schedule)[0], "o parked by ScheduleAttemptFailure");
    s
}

fn nominated(s: &Scheduler, name: &str) -> String {
    s.state().cluster().pods.get(&key(name)).unwrap().status.nominated_node_name.to_string()
}

#[track_caller]
fn check(labels: &str, operations: Vec<Operation>, expected: &[&str]) -> Scheduler {
    let mut s = waiting(labels);
    let mut all = Vec::new();
    for operation in operations {
        all.extend(apply(&mut s, operation));
    }
    assert_eq!(all, expected);
    assert!(s.state().waiting.is_empty());
    s
}

fn wait(seconds: u64) -> String {
    format!("{FIRST}=wait-{seconds}")
}

fn allow() -> Operation {
    Operation::Allow { pod: key("w") }
}

#[test]
fn a_pod_that_waits_is_assumed_and_announced_and_its_events_are_kept() {
    let s = waiting(&wait(10));
    assert_eq!(nominated(&s, "w"), "n");
    assert_eq!(s.state().snapshot().get("n").unwrap().pods.len(), 1);
    assert_eq!(s.state().queue().view().waiting_on_permit().len(), 1);
    let mut emulation = Emulation::default();
    emulation.set(Gate::NominatedNodeNameForExpectation, false);
    let mut s = scheduler_with(emulation, Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &wait(10))]);
    apply(&mut s, Operation::Schedule);
    assert_eq!(nominated(&s, "w"), "");
}

#[test]
fn all_plugins_are_asked_and_the_wait_is_capped() {
    let labels = format!("{FIRST}=wait-1000 {SECOND}=wait-7");
    let mut s = scheduler(Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &labels)]);
    let events = s.apply(Operation::Schedule);
    let clock = s.state().clock();
    let waited = events.iter().find_map(|e| if let Event::PermitWaited { plugins, .. } = e { Some(plugins.clone()) } else { None });
    let after = |seconds| clock + jiff::SignedDuration::from_secs(seconds);
    assert_eq!(waited.unwrap(), [(FIRST, after(900)), (SECOND, after(7))]);
    assert_eq!(s.next_timer().unwrap().what, TimerKind::PermitDeadline { pod: key("w"), plugin: SECOND });
    for (labels, expected) in [
        (format!("{FIRST}=wait-9 {SECOND}=no-permit"), "w Unschedulable: 0/1 nodes are available: 1 told to."),
        (format!("{FIRST}=wait-9 {SECOND}=error-permit"), "w SchedulerError: running Permit plugin \"PodGroupPodsCount\": told to"),
        (format!("{FIRST}=no-reserve {SECOND}=wait-9"), "w Unschedulable: 0/1 nodes are available: 1 told to."),
    ] {
        let mut s = scheduler(Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &labels)]);
        let words = apply(&mut s, Operation::Schedule);
        assert!(s.state().waiting.is_empty() && words.contains(&expected.to_owned()), "{words:?}");
    }
}

#[test]
fn an_allowed_pod_is_bound() {
    let s = check(&wait(10), vec![allow(), allow()], &["w Allowed: ", "w bound to n"]);
    let pod = s.state().cluster().pods.get(&key("w")).unwrap().clone();
    assert_eq!((pod.node_name.as_str(), pod.status.nominated_node_name.as_str()), ("n", ""));
    assert_eq!(s.state().snapshot().get("n").unwrap().pods.len(), 1);
    assert!(!s.state().cache.is_assumed(&pod));
}

/// Other pods are moved only after the pod is requeued, so that it does not wake itself.
#[test]
fn a_rejected_pod_is_parked_and_the_others_are_reported() {
    let reject = Operation::Reject { pod: key("w") };
    let s = check(
        &wait(10),
        vec![reject.clone(), reject],
        &[
            "w Rejected by GangScheduling: rejected by plugin GangScheduling",
            "w unreserved",
            "w parked by ScheduleAttemptFailure",
            "w Unschedulable: 0/1 nodes are available: 1 rejected by plugin GangScheduling.",
            "o backoff by AssignedPodDelete",
            OWN_NOMINATION,
        ],
    );
    assert_eq!(nominated(&s, "w"), "");
    assert!(s.state().snapshot().get("n").unwrap().pods.is_empty());
    let parked = s.state().queue().get(&key("w")).unwrap();
    assert_eq!((parked.unschedulable_plugins, parked.unschedulable_count), ([FIRST].into_iter().collect(), 1));
    // Without the announcement there is nothing to withdraw.
    let mut emulation = Emulation::default();
    emulation.set(Gate::NominatedNodeNameForExpectation, false);
    let mut s = scheduler_with(emulation, Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &wait(10))]);
    apply(&mut s, Operation::Schedule);
    assert_eq!(apply(&mut s, Operation::Reject { pod: key("w") })[2..].first().unwrap(), "w parked by ScheduleAttemptFailure");
    assert_eq!(s.state().queue().len(), (0, 0, 1));
}

/// Withdrawing the announced node counts as a pod deletion for pods of no higher priority, and the scripted plugins
/// take any deletion as helpful.
const OWN_NOMINATION: &str = "w backoff by AssignedPodDelete";

#[test]
fn a_deadline_passes_at_its_time() {
    let advance = |seconds| Operation::Advance { seconds };
    let labels = format!("{FIRST}=wait-1000 {SECOND}=wait-90");
    let s = check(
        &labels,
        vec![advance(89), advance(2)],
        &[
            "w TimedOut by PodGroupPodsCount: rejected due to timeout after waiting 1m30s at plugin PodGroupPodsCount",
            "w unreserved",
            "w parked by ScheduleAttemptFailure",
            "w Unschedulable: 0/1 nodes are available: 1 rejected due to timeout after waiting 1m30s at plugin PodGroupPodsCount.",
            "o active by AssignedPodDelete",
            OWN_NOMINATION,
        ],
    );
    assert_eq!(s.state().queue().get(&key("w")).unwrap().unschedulable_plugins, [SECOND].into_iter().collect());
    // A timeout of zero ends at once.
    let mut s = scheduler(Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &wait(0))]);
    let words = apply(&mut s, Operation::Schedule);
    assert!(words.iter().any(|w| w.ends_with("rejected due to timeout after waiting 0s at plugin GangScheduling")), "{words:?}");
}

#[test]
fn a_deleted_pod_is_rejected_as_removed() {
    let s = waiting(&wait(10));
    let delete = Operation::Delete { object: changed(&s, "w", |_| {}) };
    let resolved = ["w Rejected: removed", "w unreserved"];
    let s = check(
        &wait(10),
        vec![delete],
        &["o backoff by AssignedPodDelete", resolved[0], resolved[1], "w gone", "w Unschedulable: 0/1 nodes are available: 1 removed."],
    );
    assert!(s.state().queue().get(&key("w")).is_none());
    let marked = changed(&s_with_pod(), "w", |p| p.metadata.deletion_timestamp = Some(at(30)));
    let s = check(
        &wait(10),
        vec![Operation::Update { object: marked }],
        &[
            "o backoff by AssignedPodDelete",
            resolved[0],
            resolved[1],
            "w parked by ScheduleAttemptFailure",
            "w Unschedulable: 0/1 nodes are available: 1 removed.",
        ],
    );
    let parked = s.state().queue().get(&key("w")).unwrap();
    assert!(!parked.rejectors().is_empty() && parked.rejectors().iter().count() == 0, "a rejector without a name");
}

fn s_with_pod() -> Scheduler {
    waiting(&wait(10))
}

#[test]
fn other_updates_of_a_waiting_pod_reach_nobody_and_are_not_lost() {
    let mut s = waiting(&wait(10));
    let labelled = changed(&s, "w", |p| drop(p.metadata.labels.insert("x".into(), "y".into())));
    assert_eq!(apply(&mut s, Operation::Update { object: labelled }), [""; 0]);
    apply(&mut s, allow());
    assert_eq!(s.state().cluster().pods.get(&key("w")).unwrap().metadata.labels.get("x").unwrap(), "y");
}

#[test]
fn a_pod_that_somebody_else_bound_fails_to_bind() {
    let mut s = waiting(&wait(10));
    apply(&mut s, Operation::Create { object: node("m") });
    let bound = changed(&s, "w", |p| p.node_name = "m".into());
    apply(&mut s, Operation::Update { object: bound });
    assert_eq!(s.state().snapshot().get("m").unwrap().pods.len(), 1);
    let message = "w SchedulerError: running Bind plugin \"DefaultBinder\": Operation cannot be fulfilled on pods/binding \"w\": pod w is \
                   already assigned to node \"m\"";
    assert_eq!(apply(&mut s, allow()), ["w Allowed: ", "w unreserved", "w gone", message]);
    assert_eq!(s.state().snapshot().get("m").unwrap().pods.len(), 1);
}

/// PreBind fails, after a wait on Permit and without one.
#[test]
fn a_pre_bind_that_fails_leaves_no_rejector() {
    for (labels, message) in [
        ("=error-prebind", "w SchedulerError: running PreBind plugin \"PodGroupPodsCount\": told to"),
        ("=no-prebind", "w Unschedulable: told to"),
    ] {
        for wait in ["wait-9", "go"] {
            let labels = format!("{FIRST}={wait} {SECOND}{labels}");
            let mut s = scheduler(Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &labels)]);
            let mut words = apply(&mut s, Operation::Schedule);
            if wait == "wait-9" {
                words = apply(&mut s, allow());
            }
            assert!(words.contains(&"w error backoff by ScheduleAttemptFailure".to_owned()), "{words:?}");
            assert!(words.contains(&message.to_owned()), "{words:?}");
            let pod = s.state().cluster().pods.get(&key("w")).unwrap().clone();
            assert_eq!(pod.status.nominated_node_name, "", "announced, then taken back");
            assert_eq!(pod.status.conditions[0].status, "False");
        }
    }
}

/// A preemptor that needs the whole node, where `w` waits and `v` runs.
#[track_caller]
fn preempted(emulation: Emulation, victims: Vec<Object>, expected: &[&str]) -> Scheduler {
    let mut objects = vec![node("n"), pod("w", 5, 2, "", &wait(100))];
    objects.extend(victims);
    let mut s = scheduler_with(emulation, Evictions::AtOnce, objects);
    apply(&mut s, Operation::Schedule);
    apply(&mut s, Operation::Create { object: pod("p", 9, 4, "", "") });
    let words = apply(&mut s, Operation::Schedule);
    let relevant: Vec<&String> = words.iter().filter(|w| !w.starts_with("p Unsch") && *w != "p unschedulable").collect();
    assert_eq!(relevant, expected);
    let victim = s.state().cluster().pods.get(&key("w")).unwrap();
    assert!(!victim.is_terminating() && victim.status.conditions.iter().all(|c| c.kind != "DisruptionTarget"), "no write");
    assert!(s.state().preempting.is_empty());
    s
}

const IN_MEMORY: [&str; 5] = [
    "w Preempted by DefaultPreemption: preempted",
    "w unreserved",
    "p backoff by AssignedPodDelete",
    "w error backoff by ScheduleAttemptFailure",
    "w SchedulerError: waiting on permit for pod: preempted",
];

#[test]
fn a_victim_that_waits_is_turned_back_in_memory() {
    let (parked, by_memory) = ("p parked by ScheduleAttemptFailure", "w evicted InMemory");
    let expected = [&[parked, by_memory][..], &IN_MEMORY].concat();
    let mut s = preempted(Emulation::default(), vec![], &expected);
    assert_eq!(apply(&mut s, Operation::Schedule), ["p bound to n", "p scheduled"]);
    // It has a higher priority than the running victim and is rejected first, while the gate is still closed.
    let expected = [
        &[parked, by_memory, "v evicted Deleted"][..],
        &IN_MEMORY[..2],
        &["p gated"],
        &IN_MEMORY[3..],
        &["p backoff by AssignedPodDelete"],
    ]
    .concat();
    preempted(Emulation::default(), vec![pod("v", 1, 2, "n", "")], &expected);
}

#[test]
fn without_asynchronous_preemption_the_victim_goes_first() {
    let mut emulation = Emulation::default();
    emulation.set(Gate::SchedulerAsyncPreemption, false);
    let (first, last) = (&["w evicted InMemory"][..], &["p backoff by ScheduleAttemptFailure"][..]);
    preempted(emulation, vec![], &[first, &IN_MEMORY[..2], &IN_MEMORY[3..], last].concat());
}

#[test]
fn pods_without_uid_wait_apart() {
    let anonymous = |name: &str| {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"d","labels":{{"{FIRST}":"wait-9"}}}},"spec":{{"schedulerName":"default-scheduler"}}}}"#
        );
        object(crate::cluster::Kind::Pod, &text)
    };
    let mut s = scheduler(Evictions::AtOnce, vec![node("n"), anonymous("a"), anonymous("b")]);
    for _ in 0..2 {
        apply(&mut s, Operation::Schedule);
    }
    assert_eq!(s.state().waiting.len(), 2);
    apply(&mut s, Operation::Delete { object: anonymous("a") });
    assert!(s.state().waiting.keys().eq([&key("b")]));
    assert_eq!(apply(&mut s, Operation::Allow { pod: key("b") }), ["b Allowed: ", "b bound to n"]);
}

/// A pod that was bound elsewhere and then deleted, and one replaced under its name.
#[test]
fn a_waiting_pod_never_outlives_its_object() {
    let mut s = waiting(&wait(500));
    let bound = changed(&s, "w", |p| p.node_name = "n".into());
    apply(&mut s, Operation::Update { object: bound.clone() });
    assert_eq!(s.state().waiting.len(), 1);
    let words = apply(&mut s, Operation::Delete { object: bound });
    assert!(words.contains(&"w Rejected: removed".to_owned()), "{words:?}");
    assert!(s.state().waiting.is_empty() && s.state().snapshot().get("n").unwrap().pods.is_empty());

    let mut s = waiting(&wait(500));
    let other = changed(&s, "w", |p| p.metadata.uid = "another".into());
    let words = apply(&mut s, Operation::Update { object: other });
    assert!(words.contains(&"w Rejected: removed".to_owned()), "{words:?}");
    assert!(s.state().waiting.is_empty() && s.state().snapshot().get("n").unwrap().pods.is_empty());
    assert_eq!(s.state().queue().view().entries[&key("w")].place, crate::trace::Place::Active);
}

/// The pod that replaces a waiting one under its name gets that one's condition up to a patch.
#[test]
fn a_recreated_pod_is_marked_up_to_a_patch() {
    for (version, marked) in [("v1.34.7", true), ("v1.34.8", false), ("v1.35.4", true), ("v1.35.5", false), ("v1.36.2", false)] {
        let emulation = crate::release::Profile::named(version).unwrap().into();
        let mut s = scheduler_with(emulation, Evictions::AtOnce, vec![node("n"), pod("w", 5, 3, "", &wait(500))]);
        apply(&mut s, Operation::Schedule);
        let other = changed(&s, "w", |p| p.metadata.uid = "another".into());
        apply(&mut s, Operation::Update { object: other });
        let new = s.state().cluster().pods.get(&key("w")).unwrap();
        assert_eq!(new.metadata.uid, "another", "{version}");
        assert_eq!(new.status.conditions.iter().any(|c| c.kind == "PodScheduled" && c.status == "False"), marked, "{version}");
        assert_eq!(s.state().queue().view().entries[&key("w")].place, crate::trace::Place::Active, "{version}");
    }
}

#[test]
fn a_clone_waits_on_its_own() {
    let mut one = waiting(&wait(10));
    let mut other = one.clone();
    apply(&mut one, allow());
    assert_eq!((one.state().waiting.len(), other.state().waiting.len()), (0, 1));
    apply(&mut other, Operation::Advance { seconds: 11 });
    assert!(other.state().cluster().pods.get(&key("w")).unwrap().node_name.is_empty());
}
