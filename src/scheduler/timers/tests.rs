//! Tests of `timers`.

use super::*;
use crate::cluster::Object;
use crate::release::{Emulation, Gate};
use crate::scheduler::Operation;
use crate::scheduler::testing::{FIRST, SECOND, apply, at, changed, key, node, pod, scheduler, scheduler_with};
use jiff::SignedDuration;

const NANOSECOND: SignedDuration = SignedDuration::from_nanos(1);

/// A pod on a node with a deletionTimestamp, in seconds after midnight, and possibly a finalizer.
fn terminating(name: &str, seconds: i64, finalizer: bool) -> Object {
    let Object::Pod(pod) = pod(name, 0, 1, "n", "") else { unreachable!("a pod") };
    let mut pod = crate::cluster::Pod::clone(&pod);
    pod.metadata.deletion_timestamp = Some(at(seconds));
    pod.metadata.finalizers = vec!["held".into(); usize::from(finalizer)].into();
    Object::Pod(std::sync::Arc::new(pod))
}

/// Advances from timer to timer and compares their effects; an advance to just before a timer has none.
#[track_caller]
fn check(scheduler: &mut Scheduler, limit: usize, expected: &[(&str, &[&str])]) {
    let mut all = Vec::new();
    for _ in 0..limit {
        let Some(next) = scheduler.next_timer() else { break };
        let mut before = scheduler.clone();
        assert_eq!(apply(&mut before, Operation::AdvanceTo { time: next.time - NANOSECOND }), [""; 0], "before {next}");
        let words = apply(scheduler, Operation::AdvanceTo { time: next.time });
        assert!(!words.is_empty(), "{next} at {}", next.time);
        assert!(scheduler.state().clock() >= next.time);
        all.push((next.to_string(), words));
    }
    let all: Vec<(&str, Vec<&str>)> = all.iter().map(|(w, list)| (w.as_str(), list.iter().map(String::as_str).collect())).collect();
    let all: Vec<(&str, &[&str])> = all.iter().map(|(w, list)| (*w, &list[..])).collect();
    assert_eq!(all, expected);
}

#[test]
fn terminating_pods_go_at_their_time_and_those_that_are_held_stay() {
    let objects = || {
        let pods = [terminating("late", 40, false), terminating("b", 20, false), terminating("a", 20, false)];
        let pending = changed_node(terminating("pending", 5, false));
        [node("n"), terminating("held", 5, true), terminating("overdue", -60, false), pending].into_iter().chain(pods).collect()
    };
    let mut s = scheduler(Evictions::AfterGracePeriod, objects());
    apply(&mut s, Operation::Schedule);
    check(
        &mut s,
        9,
        &[
            ("the grace period of d/overdue ends", &["overdue ended"]),
            ("the grace period of d/a ends", &["a ended", "b ended"]),
            ("the grace period of d/late ends", &["late ended"]),
        ],
    );
    assert_eq!(s.state().clock(), at(40));
    assert!(s.state().cluster().pods.iter().map(|p| p.key()).eq([key("held"), key("pending")]));
    assert_eq!(s.state().snapshot().get("n").unwrap().pods.len(), 1);
    // In a single advance, the overdue pod goes before the clock moves.
    let mut s = scheduler(Evictions::AfterGracePeriod, objects());
    assert_eq!(apply(&mut s, Operation::Advance { seconds: 0 }), ["overdue ended"]);
    assert_eq!(apply(&mut s, Operation::AdvanceTo { time: at(-5) }), [""; 0]);
    assert_eq!(apply(&mut s, Operation::Advance { seconds: 100 }), ["a ended", "b ended", "late ended"]);
    for evictions in [Evictions::AtOnce, Evictions::Marked] {
        let mut s = scheduler(evictions, objects());
        apply(&mut s, Operation::Schedule);
        assert_eq!(apply(&mut s, Operation::Advance { seconds: 100 }), [""; 0]);
        assert_eq!(s.next_timer(), None);
    }
}

fn changed_node(object: Object) -> Object {
    let Object::Pod(pod) = object else { return object };
    let mut pod = crate::cluster::Pod::clone(&pod);
    pod.node_name = "".into();
    Object::Pod(std::sync::Arc::new(pod))
}

#[test]
fn the_index_of_grace_periods_follows_the_objects() {
    let mut s = scheduler(Evictions::AfterGracePeriod, vec![node("n"), pod("a", 0, 1, "n", ""), terminating("b", 20, false)]);
    let update = |s: &mut Scheduler, name: &str, seconds: Option<i64>, finalizers: usize| {
        let object = changed(s, name, |p| {
            p.metadata.deletion_timestamp = seconds.map(at);
            p.metadata.finalizers = vec!["held".into(); finalizers].into();
        });
        apply(s, Operation::Update { object });
        s.state().terminating.iter().map(|(_, key)| key.name.to_string()).collect::<String>()
    };
    assert_eq!(update(&mut s, "a", Some(10), 0), "ab");
    assert_eq!(update(&mut s, "a", Some(30), 0), "ba");
    assert_eq!(update(&mut s, "b", Some(20), 1), "a");
    assert_eq!(update(&mut s, "b", Some(20), 0), "ba");
    let object = changed(&s, "b", |_| {});
    apply(&mut s, Operation::Delete { object });
    check(&mut s, 9, &[("the grace period of d/a ends", &["a ended"])]);
    assert!(s.state().terminating.is_empty());
}

#[test]
fn at_one_moment_flushes_come_first_and_deadlines_last() {
    let (wait, error) = (format!("{FIRST}=wait-2"), format!("{SECOND}=error-filter"));
    let objects = vec![node("n"), terminating("t", 2, false), pod("w", 9, 1, "", &wait), pod("e", 1, 1, "", &error)];
    let mut s = scheduler(Evictions::AfterGracePeriod, objects);
    // Make the wait begin at midnight.
    s.state.clock = at(0) - SignedDuration::from_millis(1);
    (0..2).for_each(|_| drop(apply(&mut s, Operation::Schedule)));
    let times = [s.next_grace_period_end(), s.next_deadline(), s.next_timer()].map(|w| w.unwrap().time);
    assert_eq!(times, [at(2); 3]);
    assert_eq!(s.next_timer().unwrap().what, TimerKind::BackoffComplete { pod: key("e") });
    for time in [at(2), at(3)] {
        let words = apply(&mut s.clone(), Operation::AdvanceTo { time });
        let expected = ["e active by BackoffComplete", "t ended", "w TimedOut by GangScheduling"];
        assert!(words.iter().zip(expected).all(|(word, start)| word.starts_with(start)), "{words:?}");
    }
}

#[test]
fn backoff_leftovers_and_deadlines_wake() {
    let wait = format!("{FIRST}=wait-60");
    let objects = vec![node("n"), pod("w", 9, 3, "", &wait), pod("u", 1, 2, "", ""), pod("e", 5, 1, "", &format!("{SECOND}=error-filter"))];
    let mut emulation = Emulation::default();
    // Withdrawing an announced node would wake the pod itself.
    emulation.set(Gate::NominatedNodeNameForExpectation, false);
    let mut s = scheduler_with(emulation, Evictions::AtOnce, objects);
    (0..3).for_each(|_| drop(apply(&mut s, Operation::Schedule)));
    let message = "rejected due to timeout after waiting 1m0s at plugin GangScheduling";
    let timed_out = format!("w TimedOut by GangScheduling: {message}");
    let failed = format!("w Unschedulable: 0/1 nodes are available: 1 {message}.");
    let rejected =
        [timed_out.as_str(), "w unreserved", "w parked by ScheduleAttemptFailure", failed.as_str(), "u active by AssignedPodDelete"];
    check(
        &mut s,
        3,
        &[
            ("the backoff of d/e ends", &["e active by BackoffComplete"]),
            ("the wait of d/w for GangScheduling times out", &rejected),
            ("d/w has been in unschedulablePods for too long", &["w active by UnschedulableTimeout"]),
        ],
    );
    assert_eq!(s.state().clock(), at(390));
    assert_eq!(s.next_timer(), None);
}
