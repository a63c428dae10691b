//! Tests of `evictions`.

use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::analysis::fixes::merge;
use crate::cluster::Object;

fn pod(name: &str, owner: &str, more: &Value) -> Pod {
    let owners = if owner.is_empty() { json!([]) } else { json!([{ "kind": owner, "name": "o", "controller": true }]) };
    let mut pod = json!({
        "metadata": { "name": name, "namespace": "shop", "labels": { "app": name.split('-').next() }, "ownerReferences": owners },
        "spec": { "nodeName": "n" },
        "status": { "phase": "Running" }
    });
    merge(&mut pod, more.clone());
    serde_json::from_value(pod).unwrap()
}

fn budget(name: &str, app: &str, spec: &Value, status: &Value) -> PodDisruptionBudget {
    let mut object = json!({ "metadata": { "name": name, "namespace": "shop" }, "spec": spec, "status": status });
    let selector = if app.is_empty() { json!({}) } else { json!({ "matchLabels": { "app": app } }) };
    merge(&mut object, json!({ "spec": { "selector": selector } }));
    serde_json::from_value(object).unwrap()
}

fn cluster(budgets: Vec<PodDisruptionBudget>) -> Cluster {
    let mut cluster = Cluster::default();
    for budget in budgets {
        cluster.insert(Object::PodDisruptionBudget(Arc::new(budget)));
    }
    cluster
}

fn allowed(n: i32) -> Value {
    json!({ "disruptionsAllowed": n })
}

#[test]
fn a_budget_lets_as_many_pods_go_as_it_allows() {
    let cluster = cluster(vec![budget("search", "search", &json!({}), &allowed(1))]);
    let pods = ["search-0", "search-1", "search-2", "web-0"].map(|name| pod(name, "ReplicaSet", &json!({})));
    let result = evictions(&cluster, &pods);
    assert_eq!(result.evicted, [Key::new("shop", "search-0"), Key::new("shop", "web-0")]);
    assert_eq!(result.sentence(), "stopped by budget shop/search: 2 of 4 pods may be evicted");
    let effect = &result.budgets[&Key::new("shop", "search")];
    assert_eq!((effect.covers, effect.evicted), (3, 1));
    assert_eq!(effect.sentence(), "allows 1, covers 3 pods here: shop/search-1, shop/search-2 stay");
    let fewer = evictions(&cluster, &pods[..1]);
    assert_eq!(fewer.sentence(), "its pod may be evicted");
    assert_eq!(fewer.budgets[&Key::new("shop", "search")].sentence(), "allows 1, covers 1 pod here: 0 left after the evictions");
}

#[test]
fn a_drain_leaves_daemon_sets_and_asks_no_budget_about_pods_that_do_not_run() {
    let cluster = cluster(vec![budget("all", "", &json!({}), &allowed(0))]);
    let pods = [
        pod("agent-0", "DaemonSet", &json!({})),
        pod("static-0", "Node", &json!({})),
        pod("done-0", "Job", &json!({ "status": { "phase": "Succeeded" } })),
        pod("new-0", "Job", &json!({ "status": { "phase": "Pending" } })),
        pod("ends-0", "Job", &json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } })),
    ];
    let result = evictions(&cluster, &pods);
    assert_eq!((result.left, result.evicted.len(), result.budgets.len()), (2, 3, 0));
    assert_eq!(result.sentence(), "all 3 pods may be evicted; 2 DaemonSet or static pods stay");
    let bare = evictions(&cluster, &[pod("bare-0", "", &json!({}))]);
    assert_eq!(
        bare.sentence(),
        "stopped by budget shop/all: 0 of 1 pod may be evicted; 1 pod without a controller will not be recreated",
        "an empty selector covers every pod"
    );
}

#[test]
fn unready_pods_go_by_the_policy() {
    let unready = || pod("search-0", "ReplicaSet", &json!({ "status": { "conditions": [{ "type": "Ready", "status": "False" }] } }));
    let goes = |spec: &Value, status: &Value| {
        let cluster = cluster(vec![budget("search", "search", spec, status)]);
        evictions(&cluster, &[unready()]).stopped.is_empty()
    };
    let status = |healthy: i32| json!({ "disruptionsAllowed": 0, "currentHealthy": healthy, "desiredHealthy": 2 });
    assert!(goes(&json!({}), &status(2)), "the others are healthy enough");
    assert!(!goes(&json!({}), &status(1)));
    assert!(goes(&json!({ "unhealthyPodEvictionPolicy": "AlwaysAllow" }), &status(1)));
}

#[test]
fn two_budgets_on_one_pod_stop_it() {
    let cluster = cluster(vec![budget("a", "web", &json!({}), &allowed(5)), budget("b", "web", &json!({}), &allowed(5))]);
    let result = evictions(&cluster, &[pod("web-0", "ReplicaSet", &json!({}))]);
    assert_eq!(result.stopped, [(Key::new("shop", "web-0"), Stop::Several(vec![Key::new("shop", "a"), Key::new("shop", "b")]))]);
    assert_eq!(result.sentence(), "stopped by budgets shop/a, shop/b: 0 of 1 pod may be evicted");
}
