use std::sync::Arc;

use super::*;
use crate::framework::{CoveringBudget, CoveringBudgets, NodeDryRun, PodInfo, PreemptionRecord, PutBack, Status, Victim};
use crate::trace::{ObjectChange, preemption_events};

fn victim(name: &str, budget: Option<&str>) -> PutBack {
    let pod = serde_json::from_value(serde_json::json!({ "metadata": { "name": name, "namespace": "a" } })).unwrap();
    let covering = budget.map(|name| Arc::new(CoveringBudgets::new([CoveringBudget { name: name.into(), allowed: 1 }].into(), [None])));
    PutBack { victim: Victim::new(Arc::new(PodInfo::new(Arc::new(pod))), covering), status: Status::unschedulable("x") }
}

/// Returns the indices of the events at which a breakpoint stops.
fn stops(text: &str, events: &[Event]) -> Vec<usize> {
    let breakpoint: Breakpoint = text.parse().unwrap();
    let at = |i: usize| Occurrence { before: i.checked_sub(1).map(|i| &events[i]), event: &events[i], cycle: None };
    (0..events.len()).filter(|i| breakpoint.hit(&at(*i))).collect()
}

#[test]
fn a_breakpoint_stops_at_the_first_of_events_in_a_row() {
    let put_back = vec![victim("v", Some("b")), victim("w", None), victim("x", Some("b"))];
    let run = NodeDryRun { node: "n".into(), filtered: Some(Status::success()), put_back: put_back.into(), ..NodeDryRun::default() };
    let record = PreemptionRecord { dry_runs: vec![Arc::new(run)].into(), ..PreemptionRecord::default() };
    // 0 starts, 1 filters, 2 to 4 put back, 5 ends the dry run.
    let mut events: Vec<Event> = preemption_events(&Arc::new(record)).collect();
    let (pod, node) = (Key::new("a", "v"), Key::new("", "n"));
    events.push(Event::PodBound { pod: pod.clone(), node: "m".into() });
    events.push(Event::ObjectChanged { kind: Kind::Pod, key: pod, change: ObjectChange::Updated });
    events.push(Event::ObjectChanged { kind: Kind::Node, key: node, change: ObjectChange::Updated });
    events.push(Event::ObjectChanged { kind: Kind::PodDisruptionBudget, key: Key::new("a", "b"), change: ObjectChange::Updated });
    assert_eq!(stops("pod a/v", &events), [2, 6]);
    assert_eq!(stops("node n", &events), [1, 8]);
    assert_eq!(stops("plugin DefaultPreemption", &events), [0]);
    assert_eq!(stops("budget a/b", &events), [2, 4, 9]);
    assert!(stops("budget other/b", &events).is_empty() && stops("plugin NodePorts", &events).is_empty());
}

#[test]
fn a_breakpoint_is_read_as_it_is_written() {
    for text in ["pod shop/payments", "node worker-a1", "plugin NodeResourcesFit", "budget shop/search"] {
        assert_eq!(text.parse::<Breakpoint>().unwrap().to_string(), text);
    }
    assert_eq!("pod p".parse::<Breakpoint>().unwrap().to_string(), "pod default/p");
    let error = |text: &str| text.parse::<Breakpoint>().unwrap_err().to_string();
    assert_eq!(error("pod"), "expected a name after pod");
    assert_eq!(error("plugin Nope"), "there is no plugin \"Nope\"");
    assert_eq!(error("bound"), "\"bound\" is not one of pod NAME, node NAME, plugin NAME, budget NAME");
}
