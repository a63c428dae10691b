//! Counts the recorded decisions that reach each reason and each way to a score, and accepts no gap without a reason.
//!
//! `cargo test --test engine coverage -- --nocapture` prints the table, with the first cases of each row.
//! `SCHEDSCOPE_CONFORMANCE=DIR` counts the cases of another folder instead. The module `conformance` tests that the
//! decisions are right.

use std::collections::BTreeMap;
use std::path::Path;

use schedscope::source::{Input, Story, load};
use serde_json::{Value, json};

use crate::cases;
use crate::rows::{Case, Row, rows};

/// Returns the profile of a configuration for the pod.
fn profile(config: &Value, pod: &Value) -> Value {
    let name = |v: &Value| v["schedulerName"].as_str().unwrap_or("default-scheduler").to_owned();
    let mut profiles = config["profiles"].as_array().into_iter().flatten();
    profiles.find(|p| name(p) == name(&pod["spec"])).cloned().unwrap_or_default()
}

fn case(cluster: &Value, config: &Value, pod: &str, expected: &Value) -> Case {
    let items = cluster["items"].as_array().expect("a List").clone();
    let (namespace, name) = pod.split_once('/').expect("namespace/name");
    let is_it = |o: &&Value| o["kind"] == "Pod" && o["metadata"]["name"] == name && o["metadata"]["namespace"] == namespace;
    let pod = items.iter().find(is_it).expect("the pod is in the cluster").clone();
    Case { profile: profile(config, &pod), items, pod, expected: expected.clone() }
}

/// Returns the decisions recorded for the story `payments`.
fn story() -> Vec<(String, Case)> {
    let input: Input = Story::named("payments").expect("a story").input();
    let items: Vec<Value> = load(&[input]).objects.iter().map(|o| serde_json::to_value(o).expect("plain data")).collect();
    let cluster = json!({ "items": items });
    let recorded: BTreeMap<String, Value> =
        serde_json::from_str(include_str!("../../fixtures/stories/payments.decisions.json")).expect("decisions");
    recorded.iter().map(|(pod, expected)| (format!("story {pod}"), case(&cluster, &Value::Null, pod, expected))).collect()
}

/// Returns the decisions of the story `payments` and those of a folder.
fn all_cases(folder: &Path) -> Vec<(String, Case)> {
    let recorded = cases::cases(folder, "decisions-").map(|one| {
        let text = |key: &str| one[key].as_str().expect("a text");
        (text("id").to_owned(), case(&one["cluster"], &one["config"], text("pod"), &one["expected"]))
    });
    story().into_iter().chain(recorded).collect()
}

fn print(row: &Row, hits: &[&str]) {
    let plugin = if row.plugin.is_empty() { "(framework)" } else { row.plugin };
    let remark = row.never.map_or_else(|| hits.iter().take(2).copied().collect::<Vec<_>>().join(" "), |why| format!("never: {why}"));
    println!("{:5}  {plugin:32} {:22} {}  [{remark}]", hits.len(), row.place(), row.what);
}

#[test]
fn every_reason_and_every_way_to_a_score_is_in_a_recorded_decision() {
    let cases = all_cases(&cases::folder());
    println!("cases  plugin                           where                  what");
    let mut wrong = Vec::new();
    for row in rows() {
        let hits: Vec<&str> = cases.iter().filter(|(_, case)| row.is_in(case)).map(|(id, _)| id.as_str()).collect();
        print(&row, &hits);
        match (hits.is_empty(), row.never) {
            (true, None) => wrong.push(format!("{} {}: {} is in no case", row.plugin, row.place(), row.what)),
            (false, Some(_)) => {
                wrong.push(format!("{} {}: {} is said never to be, and is in {}", row.plugin, row.place(), row.what, hits[0]));
            }
            _ => {}
        }
    }
    println!("{} cases", cases.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Every recorded reason has a row.
#[test]
fn whatever_a_recorded_decision_says_has_a_row() {
    let rows = rows();
    for (id, case) in all_cases(&cases::fixtures()) {
        let mut alone = Vec::new();
        for verdict in case.expected["filter"].as_array().into_iter().flatten() {
            for reason in verdict["reasons"].as_array().into_iter().flatten() {
                alone.push(json!({"filter": [{"code": verdict["code"], "plugin": verdict["plugin"], "reasons": [reason]}]}));
            }
        }
        for verdict in case.expected["preemption"]["nodeStatuses"].as_array().into_iter().flatten() {
            for reason in verdict["reasons"].as_array().into_iter().flatten() {
                alone.push(json!({"preemption": {"nodeStatuses": [{"code": verdict["code"], "reasons": [reason]}]}}));
            }
        }
        alone.extend(["preEnqueue", "preFilter"].iter().filter(|k| case.expected[*k].is_object()).map(|k| json!({*k: case.expected[*k]})));
        if case.expected["outcome"] == "error" {
            alone.push(json!({"message": case.expected["message"]}));
        }
        for expected in alone {
            let part = Case { items: Vec::new(), profile: Value::Null, pod: Value::Null, expected };
            assert!(rows.iter().any(|row| row.is_in(&part)), "{id}: no row has {}", part.expected);
        }
    }
}

/// Every reason with a fixed text has a row, so that a new one is not forgotten here.
#[test]
fn every_reason_without_facts_in_its_text_has_a_row() {
    let rows = rows();
    let texts: Vec<&str> = schedscope::framework::entries().iter().filter_map(schedscope::framework::Entry::plain_text).collect();
    let missing: Vec<&&str> = texts.iter().filter(|text| !rows.iter().any(|row| row.what.contains(**text))).collect();
    assert!(missing.is_empty() && texts.len() >= 20, "{missing:?}");
}
