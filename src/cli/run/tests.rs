//! Tests of `run`.

use serde_json::json;

use super::*;
use crate::cluster::Object;
use crate::cluster::testing::object_with_kind;
use crate::release::Emulation;
use crate::scheduler::{Config, Options};

#[test]
fn a_run_that_takes_too_many_steps_says_how_many_pods_are_not_decided() {
    let objects = three_pods();
    let text = |steps: u64| {
        let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects.clone(), Options::default());
        let (mut bound, mut doc) = (StepBound::after(scheduler.state(), steps), Document::default());
        settle(&mut scheduler, &mut bound, false, &mut doc);
        (bound.is_reached(), doc.plain(Headings::Capitals).to_string())
    };
    let (is_cut, cut) = text(steps_of_two());
    assert!(is_cut && cut.starts_with("CUT SHORT after 0s: 2 scheduled, 0 pending, 1 not decided, 0 evicted or deleted\nNote: "), "{cut}");
    let (is_cut, whole) = text(10_000);
    assert!(!is_cut && whole.starts_with("SETTLED after 0s: 3 scheduled, 0 pending, 0 evicted or deleted\n"), "{whole}");
}

#[test]
fn the_last_line_of_a_run_that_takes_too_many_steps_says_so() {
    for brief in [false, true] {
        let lines = |steps: u64| {
            let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), three_pods(), Options::default());
            let (mut bound, mut lines) = (StepBound::after(scheduler.state(), steps), Vec::new());
            let write = |line| {
                lines.push(serde_json::to_value(line).unwrap());
                Ok(())
            };
            settle_in_lines(&mut scheduler, &mut bound, brief, write).unwrap_or_else(|_| panic!("nothing fails"));
            lines.iter().map(|line| line.get("cutShort").cloned()).collect::<Vec<_>>()
        };
        assert_eq!(lines(steps_of_two()), [None, Some(json!(true))], "brief: {brief}");
        assert_eq!(lines(10_000), [None, None, None], "brief: {brief}");
    }
}

/// Returns a number of steps at which two attempts of [`three_pods`] have begun.
fn steps_of_two() -> u64 {
    let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), three_pods(), Options::default());
    let before = scheduler.state().steps();
    scheduler.apply(Operation::Schedule);
    scheduler.state().steps() - before + 1
}

/// Returns a node and three pods that fit.
fn three_pods() -> Vec<Object> {
    let pod =
        |name: &str| object_with_kind(&json!({"kind": "Pod", "metadata": {"name": name}, "spec": {"schedulerName": "default-scheduler"}}));
    let node = json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}});
    vec![object_with_kind(&node), pod("a"), pod("b"), pod("c")]
}
