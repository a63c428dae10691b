//! Compares the queues over time with runs recorded from kube-scheduler v1.36.2.
//!
//! The runs under `fixtures/conformance` always run. `SCHEDSCOPE_CONFORMANCE=DIR cargo test --test engine runs` runs
//! every `runs-*.jsonl.gz` of another folder instead; `SCHEDSCOPE_ONLY=runs-nodes/7` selects one.

use std::path::Path;

use schedscope::report::{BeforeOperation, OperationReport};
use schedscope::scheduler::{Evictions, Options, Sampling, Scheduler};
use serde_json::Value;

use crate::cases::{self, config};
use crate::recorded::{object, operation};

/// Returns the first key that disagrees, described; `None` if the whole run agrees.
fn first_difference(case: &Value) -> Option<(String, String)> {
    let config = config(case);
    let dry_run_offset = case["preemptionOffset"].as_u64().unwrap_or(0) as usize;
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, dry_run_offset, ..Sampling::default() };
    let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(object).collect();
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    let mut scheduler = {
        let evictions = if case["graceful"] == true { Evictions::Marked } else { Evictions::AtOnce };
        Scheduler::new(config, objects, Options { start, sampling, evictions, ..Options::default() })
    };
    let (ops, expected) = (case["ops"].as_array().expect("operations"), case["expected"].as_array().expect("answers"));
    let mut view = scheduler.state().queue().view().clone();
    for (index, (op, want)) in ops.iter().zip(expected).enumerate() {
        let before = BeforeOperation::of(&scheduler);
        let events = operation(op).map(|o| scheduler.apply(o)).unwrap_or_default();
        for event in &events {
            view.apply(event);
        }
        assert_eq!(&view, scheduler.state().queue().view(), "{} op {index}: events and state differ", case["id"]);
        let got = serde_json::to_value(OperationReport::after(&before, &events, &scheduler)).expect("plain data");
        for (key, want) in want.as_object().expect("an object") {
            // The record leaves out the first and last feasible node of pods that may narrow the nodes, even if the plugin is off.
            let found = match (want, &got[key]) {
                (Value::Object(want), Value::Object(got)) if key == "sampling" => {
                    Value::Object(got.iter().filter(|(name, _)| want.contains_key(*name)).map(|(n, v)| (n.clone(), v.clone())).collect())
                }
                (_, got) => got.clone(),
            };
            let agree = if key == "group" { is_part_of(want, &found) } else { *want == found };
            if !agree {
                let op: String = op.to_string().chars().take(300).collect();
                return Some((key.clone(), format!("op {index} {op}\n      expected {want}\n      actual   {}", got[key])));
            }
        }
    }
    None
}

/// Returns whether all that was recorded of a group is in the report, which says more.
fn is_part_of(want: &Value, got: &Value) -> bool {
    match (want, got) {
        (Value::Object(want), Value::Object(got)) => want.iter().all(|(key, want)| is_part_of(want, got.get(key).unwrap_or(&Value::Null))),
        (Value::Array(want), Value::Array(got)) => want.len() == got.len() && want.iter().zip(got).all(|(want, got)| is_part_of(want, got)),
        (want, got) => want == got,
    }
}

fn check(folder: &Path) {
    cases::check(folder, "runs-", |case| first_difference(case).into_iter().collect());
}

#[test]
fn queues_move_as_those_of_kube_scheduler() {
    check(&cases::folder());
}

#[test]
fn large_clusters_are_sampled_as_by_kube_scheduler() {
    check(&cases::fixtures().join("sampling"));
}

#[test]
fn queues_move_as_those_of_other_releases() {
    for folder in cases::other_releases("runs-") {
        check(&folder);
    }
}
