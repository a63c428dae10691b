//! Holds the engine against decisions that kube-scheduler v1.36.2 took, with a record of each and without.
//!
//! The cases under `fixtures/conformance` run always. `SCHEDSCOPE_CONFORMANCE=DIR cargo test --test engine conformance` runs
//! every `decisions-*.jsonl.gz` of another folder instead.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use schedscope::cluster::{Key, Kind, Object};
use schedscope::release::Emulation;
use schedscope::report::Decision;
use schedscope::scheduler::{Config, Options, Sampling, Scheduler};
use schedscope::trace::CycleView;
use serde_json::Value;

use crate::contract::within;
use crate::dry::check_dry_decision;

fn objects(list: &Value) -> Vec<Object> {
    let items = list["items"].as_array().expect("a List");
    items
        .iter()
        .filter_map(|item| {
            let kind: Kind = item["kind"].as_str()?.parse().ok()?;
            Some(Object::deserialize_kind(kind, item).expect("a valid object"))
        })
        .collect()
}

fn decide(case: &Value) -> Value {
    let gates = Emulation::default();
    let config = match &case["config"] {
        Value::Null => Config::defaults(gates),
        config => Config::parse(&config.to_string(), gates).expect("a valid configuration"),
    };
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, ..Sampling::default() };
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    let scheduler = Scheduler::new(config, objects(&case["cluster"]), Options { start, sampling, ..Options::default() });
    let (namespace, name) = case["pod"].as_str().and_then(|p| p.split_once('/')).expect("namespace/name");
    let pod = scheduler.state().cluster().pods.get(&Key::new(namespace, name)).expect("the pod is in the cluster");
    check_dry_decision(&scheduler, pod, &case["id"].to_string());
    serde_json::to_value(Decision::of(&CycleView::of(&scheduler.explain(pod)))).expect("plain data")
}

/// The keys that disagree, with what was expected and what came. Where kube-scheduler draws at random, any of the
/// set is right.
fn differences(expected: &Value, actual: &Value, path: &str, out: &mut Vec<(String, String)>) {
    for (key, want) in expected.as_object().expect("an object") {
        let got = &actual[key];
        let any_of = |set: &str| expected[set].as_array().is_some_and(|set| set.contains(got));
        let right = match (key.as_str(), want) {
            ("preemption", Value::Object(_)) if got.is_object() => {
                differences(want, got, "preemption.", out);
                true
            }
            ("node", Value::String(_)) => any_of("bestNodes"),
            ("selected", Value::String(_)) => any_of("bestCandidates"),
            _ => *want == within(want, got),
        };
        if !right {
            out.push((format!("{path}{key}"), format!("expected {want}\n      actual   {got}")));
        }
    }
}

fn check(folder: &Path) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with("decisions-")));
    files.sort();
    let (mut good, mut total, mut report) = (0, 0, String::new());
    for file in files {
        let (mut file_good, mut file_total, mut shown) = (0, 0, 0);
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for line in BufReader::new(GzDecoder::new(std::fs::File::open(&file).expect("the file"))).lines() {
            let case: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            let mut wrong = Vec::new();
            differences(&case["expected"], &decide(&case), "", &mut wrong);
            file_total += 1;
            file_good += usize::from(wrong.is_empty());
            if !wrong.is_empty() && shown < 3 {
                shown += 1;
                for (key, what) in wrong.iter().take(4) {
                    report.push_str(&format!("  {} {key}\n      {}\n", case["id"], what.chars().take(1500).collect::<String>()));
                }
            }
            for (key, _) in wrong {
                *keys.entry(key).or_default() += 1;
            }
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        report.push_str(&format!("{name}: {file_good}/{file_total} agree {keys:?}\n"));
        good += file_good;
        total += file_total;
    }
    println!("{report}{good} of {total} cases agree");
    assert!(total > 0, "no case was found in {}", folder.display());
    assert_eq!(good, total, "\n{report}");
}

#[test]
fn decisions_are_those_of_kube_scheduler() {
    let given = std::env::var_os("SCHEDSCOPE_CONFORMANCE").map(PathBuf::from);
    check(&given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance")));
}
