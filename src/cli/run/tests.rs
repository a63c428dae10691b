//! Tests of `run`.

use serde_json::json;

use super::*;
use crate::cluster::Object;
use crate::cluster::testing::object_with_kind;
use crate::limits::engine::{RUN_STEPS_OF_ENTRY, RUN_STEPS_OF_RECORDED};
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
        assert_eq!(lines(written_steps_of_two(brief)), [None, Some(json!(true))], "brief: {brief}");
        assert_eq!(lines(10_000), [None, None, None], "brief: {brief}");
    }
}

#[test]
fn runs_that_are_written_are_bounded_by_steps() {
    let begun = |steps: u64| {
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), three_pods(), Options::default());
        let bound = StepBound::after(scheduler.state(), steps);
        (scheduler, bound)
    };
    let operations = || vec![operation(&json!({"op": "schedule"})).unwrap(); 3];
    for brief in [false, true] {
        let lines = |steps: u64| {
            let ((mut scheduler, mut bound), mut lines) = (begun(steps), Vec::new());
            let write = |line| {
                lines.push(serde_json::to_value(line).unwrap().get("cutShort").cloned());
                Ok(())
            };
            let left = apply_in_lines(&mut scheduler, &mut bound, brief, operations(), write).unwrap_or_else(|_| panic!("nothing fails"));
            (lines, left, bound.is_reached())
        };
        assert_eq!(lines(100_000), (vec![None; 3], None, false), "brief: {brief}");
        let (cut, left, is_reached) = lines(1);
        assert_eq!((cut, is_reached), (vec![Some(json!(true))], true));
        assert_eq!(left.unwrap(), "CUT SHORT: the last 2 operations were not applied, of 3: this run takes too many steps");
    }
    // A source of a length that is known adds some for each byte, and entries of queues take some when they are written.
    let steps = |bytes: Option<u64>| {
        let options = Options { source_bytes: bytes, ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), three_pods(), options);
        let mut bound = StepBound::of_written(&scheduler);
        let mut entries = 0;
        while bound.allows_any(scheduler.state()) {
            bound.spend_on_written(scheduler.state().steps(), scheduler.state(), 10_000);
            entries += 10_000;
        }
        entries
    };
    assert!((125_000..175_000).contains(&steps(Some(1_000))), "{}", steps(Some(1_000)));
    assert!((575_000..625_000).contains(&steps(Some(1_000_000))), "{}", steps(Some(1_000_000)));
}

/// Returns a number of steps at which two attempts of [`three_pods`] have begun.
fn steps_of_two() -> u64 {
    let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), three_pods(), Options::default());
    let before = scheduler.state().steps();
    scheduler.apply(Operation::Schedule);
    scheduler.state().steps() - before + 1
}

/// The same where each is written, with the pods in the queues unless it is brief.
fn written_steps_of_two(brief: bool) -> u64 {
    let entries = if brief { 0 } else { 2 };
    (steps_of_two() - 1) * RUN_STEPS_OF_RECORDED + entries * RUN_STEPS_OF_ENTRY + 1
}

/// Returns a node and three pods that fit.
fn three_pods() -> Vec<Object> {
    let pod =
        |name: &str| object_with_kind(&json!({"kind": "Pod", "metadata": {"name": name}, "spec": {"schedulerName": "default-scheduler"}}));
    let node = json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"pods": "9"}}});
    vec![object_with_kind(&node), pod("a"), pod("b"), pod("c")]
}
