//! Holds the queues over time against stories that kube-scheduler v1.36.2 lived through.
//!
//! The stories under `fixtures/conformance` run always. `SCHEDSCOPE_CONFORMANCE=DIR cargo test --test engine runs` runs every
//! `runs-*.jsonl.gz` of another folder instead; `SCHEDSCOPE_ONLY=runs-nodes/7` only that story.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use schedscope::release::Emulation;
use schedscope::report::OperationReport;
use schedscope::scheduler::{Config, Evictions, Options, Sampling, Scheduler};
use serde_json::Value;

use crate::recorded::{object, operation};

/// The first key that disagrees, in words; `None` when the whole story agrees.
fn first_difference(case: &Value) -> Option<(String, String)> {
    let gates = Emulation::default();
    let config = match &case["config"] {
        Value::Null => Config::defaults(gates),
        config => Config::parse(&config.to_string(), gates).expect("a valid configuration"),
    };
    let sampling = Sampling { percentage: config.percentage_of_nodes_to_score, ..Sampling::default() };
    let objects = case["cluster"]["items"].as_array().expect("a List").iter().filter_map(object).collect();
    let start = "2026-11-20T00:00:00Z".parse().expect("a time");
    let mut scheduler = {
        let evictions = if case["graceful"] == true { Evictions::Marked } else { Evictions::AtOnce };
        Scheduler::new(config, objects, Options { start, sampling, evictions, ..Options::default() })
    };
    let (ops, expected) = (case["ops"].as_array().expect("operations"), case["expected"].as_array().expect("answers"));
    let mut view = scheduler.state().queue().view().clone();
    for (index, (op, want)) in ops.iter().zip(expected).enumerate() {
        let events = operation(op).map(|o| scheduler.apply(o)).unwrap_or_default();
        for event in &events {
            view.apply(event);
        }
        assert_eq!(&view, scheduler.state().queue().view(), "{} op {index}: events and state differ", case["id"]);
        let got = serde_json::to_value(OperationReport::of(&events, scheduler.state())).expect("plain data");
        for (key, want) in want.as_object().expect("an object") {
            if *want != got[key] {
                let op: String = op.to_string().chars().take(300).collect();
                return Some((key.clone(), format!("op {index} {op}\n      expected {want}\n      actual   {}", got[key])));
            }
        }
    }
    None
}

fn check(folder: &Path) {
    let only = std::env::var("SCHEDSCOPE_ONLY").ok();
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.retain(|f| f.file_name().is_some_and(|n| n.to_string_lossy().starts_with("runs-")));
    files.sort();
    let (mut good, mut total, mut report) = (0, 0, String::new());
    for file in files {
        let (mut file_good, mut file_total) = (0, 0);
        let mut keys: BTreeMap<String, usize> = BTreeMap::new();
        for line in BufReader::new(GzDecoder::new(std::fs::File::open(&file).expect("the file"))).lines() {
            let case: Value = serde_json::from_str(&line.expect("a line")).expect("JSON");
            if only.as_ref().is_some_and(|id| case["id"] != **id) {
                continue;
            }
            file_total += 1;
            match first_difference(&case) {
                None => file_good += 1,
                Some((key, what)) => {
                    if file_total - file_good <= 5 {
                        let what: String = what.chars().take(2500).collect();
                        let _ = writeln!(report, "  {} {key}\n      {what}", case["id"]);
                    }
                    *keys.entry(key).or_default() += 1;
                }
            }
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let _ = writeln!(report, "{name}: {file_good}/{file_total} agree {keys:?}");
        good += file_good;
        total += file_total;
    }
    println!("{report}{good} of {total} stories agree");
    assert!(total > 0, "no story was found in {}", folder.display());
    assert_eq!(good, total, "\n{report}");
}

#[test]
fn queues_move_as_those_of_kube_scheduler() {
    let given = std::env::var_os("SCHEDSCOPE_CONFORMANCE").map(PathBuf::from);
    check(&given.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/conformance")));
}
