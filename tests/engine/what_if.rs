//! What-ifs as text: the answer to a drain that a budget stops.

use pretty_assertions::assert_eq;
use schedscope::report::WhatIfReport;
use schedscope::source::{Input, load};
use schedscope::whatif::{Answer, Elsewhere, Rehearsal, Stage as _, apply};
use serde_json::{Value, json};

use crate::deciding::scheduler;

/// A node of two CPUs.
fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"topology.kubernetes.io/zone": "a"}},
           "status": {"allocatable": {"cpu": "2", "memory": "8Gi", "pods": "20"}}})
}

/// A pod of one CPU.
fn pod(name: &str, node: &str, kind: &str, owner: &str) -> Value {
    let reference = json!({"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": true});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": {"app": owner},
               "ownerReferences": if owner.is_empty() { json!([]) } else { json!([reference]) }},
           "spec": {"schedulerName": "default-scheduler", "nodeName": node, "containers": [{"name": "c",
               "resources": {"requests": {"cpu": if kind == "DaemonSet" { "0" } else { "1" }}}}]}, "status": {"phase": "Running"}})
}

fn stage(items: &[Value]) -> Rehearsal {
    let text = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let loaded = load(&[Input::Bytes { name: "test".into(), bytes: text.into_bytes().into() }]);
    Rehearsal::new(scheduler(loaded.objects, jiff::Timestamp::UNIX_EPOCH))
}

/// Applies verbs, and returns the report without the release.
fn report(items: &[Value], verbs: &[&str]) -> String {
    let mut with = stage(items);
    let mut without = stage(items);
    let apply = |verb: &&str| apply(&mut with, &verb.parse().expect("a verb"), &|_, _| None).expect("it applies");
    let answers: Vec<Answer> = verbs.iter().map(apply).collect();
    while with.settle_step() {}
    while without.settle_step() {}
    let elsewhere = Elsewhere::of(without.scheduler(), with.scheduler(), &answers);
    let lines = WhatIfReport::new(answers, with.scheduler(), elsewhere).text().into_vec();
    lines[..lines.len() - 1].join("\n")
}

#[test]
fn a_drain_is_reported_pod_by_pod() {
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "db", "namespace": "shop"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}}, "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}});
    let items = [
        node("one"),
        node("two"),
        pod("db-0", "one", "StatefulSet", "db"),
        pod("web-0", "one", "StatefulSet", "web"),
        pod("logs-x", "one", "DaemonSet", "logs"),
        pod("by-hand", "two", "", ""),
        budget,
    ];
    assert_eq!(
        report(&items, &["drain one"]),
        "drain one: one is not drained, 1 pod placed, 1 pod blocked by budgets
  one is cordoned, but not drained
  shop/db-0 stays on one: budget shop/db allows 0 disruptions: 1 healthy, 1 desired
  shop/web-0 on one → on two
  shop/logs-x stays on one: it belongs to a DaemonSet
"
    );
    assert_eq!(
        report(&items, &["relax db", "drain two one"]),
        "relax db: applied

drain two one: 1 node drained, 1 node not drained, 2 pods pending
  two is cordoned, but nothing is evicted: no controller would replace shop/by-hand
  one is cordoned and drained
  2 pods pending: 0/2 nodes are available: 2 node(s) were unschedulable. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.
    shop/db-0 on one
    shop/web-0 on one
  shop/logs-x stays on one: it belongs to a DaemonSet
"
    );
    assert_eq!(
        report(&items, &["lose zone=a"]),
        "lose zone=a: 2 nodes lost, 2 pods pending, 2 pods not recreated
  one is lost
  two is lost
  2 pods pending: no nodes available to schedule pods
    shop/db-0 on one
    shop/web-0 on one
  shop/by-hand on two is gone: no controller replaces it
  shop/logs-x on one is gone: its DaemonSet creates no pod without the node
"
    );
    assert_eq!(
        report(&items, &["capacity web-0"]),
        "capacity web-0: 1 more pod like it fits
  the next one does not fit because no node has 1 free cpu (none free); there are no lower-priority pods to evict.
  counted without evictions
  1 on two
"
    );
}
