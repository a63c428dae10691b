use crate::cluster::testing::object;
use crate::cluster::{Kind, Object};
use crate::release::{Emulation, Gate};
use crate::scheduler::{Config, Evictions, Operation, Options, Scheduler};
use crate::trace::{Event, Place};

fn pod(name: &str, priority: i32, cpu: u32, node: &str) -> Object {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"d","uid":"{name}"}},"spec":{{"schedulerName":"default-scheduler",
        "priority":{priority},"nodeName":"{node}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}},
        "status":{{"phase":"Running","startTime":"2026-01-01T00:00:00Z"}}}}"#
    );
    object(Kind::Pod, &text)
}

/// Runs one turn for a pod that needs the whole node; compares its moves and its final queue.
#[track_caller]
fn check(emulation: Emulation, graceful: bool, victims: usize, expected: &[&str]) {
    let node = r#"{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"4","pods":"9"}}}"#;
    let mut objects = vec![object(Kind::Node, node), pod("preemptor", 9, 4, "")];
    objects.extend((0..victims).map(|i| pod(&format!("v{i}"), 0, 4 / u32::try_from(victims).unwrap(), "n")));
    let start = "2026-11-20T00:00:00Z".parse().unwrap();
    let mut scheduler = {
        let evictions = if graceful { Evictions::Marked } else { Evictions::AtOnce };
        Scheduler::new(Config::defaults(emulation), objects, Options { start, evictions, ..Options::default() })
    };
    let events = scheduler.apply(Operation::Schedule);
    let words = events.iter().filter_map(|e| match e {
        Event::QueueMoved(m) => Some(match m.to {
            Place::Active => format!("active {}", m.cause),
            Place::Backoff { .. } => format!("backoff {}", m.cause),
            Place::Unschedulable { .. } => format!("parked {}", m.cause),
            Place::InFlight | Place::WaitingOnPermit { .. } | Place::Bound { .. } | Place::Gone => return None,
        }),
        Event::PreEnqueueRejected { .. } => Some("gated".to_owned()),
        Event::VictimEvicted { pod, .. } => Some(format!("evicted {}", pod.name)),
        _ => None,
    });
    assert_eq!(words.collect::<Vec<_>>(), expected);
    assert!(scheduler.state().preempting.is_empty());
    assert_eq!(scheduler.state().nominations().len(), 1);
}

#[test]
fn the_last_victim_opens_the_gate() {
    let emulation = Emulation::default();
    let (parked, backoff) = ("parked ScheduleAttemptFailure", "backoff AssignedPodDelete");
    check(emulation, false, 1, &[parked, "evicted v0", backoff]);
    check(emulation, false, 2, &[parked, "evicted v0", "evicted v1", "gated", backoff]);
    // A victim that begins to terminate is no event that helps.
    check(emulation, true, 2, &[parked, "evicted v0", "evicted v1"]);
}

#[test]
fn without_the_gate_victims_go_while_the_pod_is_in_flight() {
    let mut emulation = Emulation::default();
    emulation.set(Gate::SchedulerAsyncPreemption, false);
    check(emulation, false, 2, &["evicted v0", "evicted v1", "backoff ScheduleAttemptFailure"]);
    check(emulation, true, 2, &["evicted v0", "evicted v1", "parked ScheduleAttemptFailure"]);
}
