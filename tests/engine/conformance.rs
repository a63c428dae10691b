//! Compares the engine with decisions of kube-scheduler v1.36.2, recorded and unrecorded.
//!
//! The cases under `fixtures/conformance` run always. `SCHEDSCOPE_CONFORMANCE=DIR cargo test --test engine conformance` runs
//! every `decisions-*.jsonl.gz` of another folder instead.

use std::path::Path;

use schedscope::cluster::Key;
use schedscope::report::Decision;
use schedscope::scheduler::{Options, Sampling, Scheduler};
use schedscope::trace::CycleView;
use serde_json::Value;

use crate::cases::{self, config};
use crate::contract::within;
use crate::dry::check_dry_decision;
use crate::recorded::object;

fn decide(case: &Value) -> Value {
    let config = config(case);
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, ..Sampling::default() };
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(object).collect();
    let scheduler = Scheduler::new(config, objects, Options { start, sampling, ..Options::default() });
    let (namespace, name) = case["pod"].as_str().and_then(|p| p.split_once('/')).expect("namespace/name");
    let pod = scheduler.state().cluster().pods.get(&Key::new(namespace, name)).expect("the pod is in the cluster");
    check_dry_decision(&scheduler, pod, &case["id"].to_string());
    serde_json::to_value(Decision::of(&CycleView::of(&scheduler.explain(pod)))).expect("plain data")
}

/// Returns the keys that disagree, with the expected and the actual value. Where kube-scheduler draws at random, any
/// value of the set is right.
pub(crate) fn differences(expected: &Value, actual: &Value, path: &str, out: &mut Vec<(String, String)>) {
    for (key, want) in expected.as_object().expect("an object") {
        let got = &actual[key];
        let any_of = |set: &str| expected[set].as_array().is_some_and(|set| set.contains(got));
        let right = match (key.as_str(), want) {
            ("preemption", Value::Object(_)) if got.is_object() => {
                differences(want, got, "preemption.", out);
                true
            }
            ("node", Value::String(_)) => any_of("bestNodes"),
            // Both mean that none is known.
            ("unschedulablePlugins", Value::Null) => got.as_array().is_none_or(Vec::is_empty),
            ("selected", Value::String(_)) => any_of("bestCandidates"),
            _ => *want == within(want, got),
        };
        if !right {
            out.push((format!("{path}{key}"), format!("expected {want}\n      actual   {got}")));
        }
    }
}

fn check(folder: &Path) {
    cases::check(folder, "decisions-", |case| {
        let mut wrong = Vec::new();
        differences(&case["expected"], &decide(case), "", &mut wrong);
        wrong
    });
}

#[test]
fn decisions_are_those_of_kube_scheduler() {
    check(&cases::folder());
}

#[test]
fn decisions_are_those_of_other_releases() {
    for folder in cases::other_releases("decisions-") {
        check(&folder);
    }
}
