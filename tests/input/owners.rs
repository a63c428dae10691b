//! The commands of fixes, by the owners that a dump has.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::Command;

use serde_json::{Value, json};

/// A pod that asks for more cpu than the only node has, made from this template by an owner.
fn objects(owner: &Value, template: &Value, others: &[Value]) -> Value {
    let owners = if owner.is_null() { json!([]) } else { json!([owner]) };
    let mut spec = template.clone();
    spec["schedulerName"] = json!("default-scheduler");
    let labels = json!({"pod-template-hash": "abc"});
    let mut items = vec![
        json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1"}, "status": {"allocatable": {"cpu": "3", "pods": "20"}}}),
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "x-0", "namespace": "shop", "labels": labels, "ownerReferences": owners},
            "spec": spec, "status": {"phase": "Pending"}}),
    ];
    items.extend(others.iter().cloned());
    json!({"kind": "List", "apiVersion": "v1", "items": items})
}

fn object(api: &str, kind: &str, name: &str, above: Option<(&str, &str)>, spec: &Value) -> Value {
    let owners: Vec<Value> = above.into_iter().map(|(kind, name)| owner(kind, name)).collect();
    json!({"kind": kind, "apiVersion": api, "metadata": {"name": name, "namespace": "shop", "ownerReferences": owners}, "spec": spec})
}

fn owner(kind: &str, name: &str) -> Value {
    json!({"kind": kind, "name": name, "controller": true, "apiVersion": "x/v1", "uid": name})
}

fn template(cpu: &str) -> Value {
    json!({"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]})
}

/// Returns the section of the fixes in the answer about the pod.
fn fixes(objects: &Value, args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.json");
    std::fs::write(&dump, objects.to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_schedscope")).arg("explain").args(args).arg("--from").arg(&dump).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A command is printed only where the real owner brings the change about; else the answer says why not.
#[test]
fn a_command_is_for_an_owner_that_brings_the_change_about() {
    let of = |cpu: &str, rest: Value| {
        let mut spec = json!({"template": {"spec": template(cpu)}});
        spec.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        spec
    };
    let set = |above: Option<(&str, &str)>, cpu: &str| object("apps/v1", "ReplicaSet", "x-abc", above, &of(cpu, json!({"replicas": 1})));
    let deployment = |cpu: &str, rest: Value| object("apps/v1", "Deployment", "x", None, &of(cpu, rest));
    let stateful = |above, rest: Value| object("apps/v1", "StatefulSet", "x", above, &of("4", rest));
    let (by_set, by_stateful) = (owner("ReplicaSet", "x-abc"), owner("StatefulSet", "x"));
    let by_x = Some(("Deployment", "x"));
    for (by, others, expected) in [
        (&by_set, vec![set(by_x, "4"), deployment("4", json!({}))], "kubectl patch deployment x -n shop"),
        (&by_set, vec![], "Deployment x was not read: its template is taken to be like the pod's spec"),
        (&by_set, vec![set(by_x, "4"), deployment("4", json!({"paused": true}))], "# no command: Deployment x is paused"),
        (&by_set, vec![set(by_x, "4"), deployment("9", json!({}))], "# no command: the pod is of ReplicaSet x-abc"),
        (&by_set, vec![set(by_x, "1"), deployment("1", json!({}))], "# no command: a webhook or the like sets resources"),
        (&by_set, vec![set(Some(("Rollout", "x")), "4")], "# no command: Rollout x controls ReplicaSet x-abc"),
        (&by_stateful, vec![stateful(None, json!({}))], "kubectl delete pod x-0 -n shop"),
        (&by_stateful, vec![stateful(Some(("Prometheus", "k8s")), json!({}))], "# no command: Prometheus k8s controls StatefulSet x"),
        (
            &by_stateful,
            vec![stateful(None, json!({"updateStrategy": {"rollingUpdate": {"partition": 3}}}))],
            "# no command: the partition 3 of StatefulSet x keeps the pod at its revision",
        ),
        (
            &owner("DaemonSet", "x"),
            vec![object("apps/v1", "DaemonSet", "x", None, &of("4", json!({"updateStrategy": {"type": "OnDelete"}})))],
            "kubectl delete pod x-0 -n shop",
        ),
    ] {
        let text = fixes(&objects(by, &template("4"), &others), &["shop/x-0", "--fixes"]);
        assert!(text.contains(expected), "{expected} in {text}");
        assert_eq!(text.contains("kubectl patch"), !expected.starts_with('#'), "{text}");
        assert_eq!(text.contains("was not read"), others.is_empty(), "{text}");
    }
}

/// A Job is replaced as a last resort, with the progress that is lost.
#[test]
fn a_job_that_is_replaced_says_what_starts_over() {
    let by = owner("Job", "x-20260101");
    let job = |above: Option<(&str, &str)>| {
        let spec = json!({"manualSelector": true, "template": {"spec": template("4")}});
        let mut job = object("batch/v1", "Job", "x-20260101", above, &spec);
        job["status"] = json!({"succeeded": 8, "active": 2});
        job
    };
    let cron = object("batch/v1", "CronJob", "x", None, &json!({"jobTemplate": {"spec": {"template": {"spec": template("4")}}}}));
    let text = fixes(&objects(&by, &template("4"), &[job(None), cron.clone()]), &["shop/x-0", "--fixes"]);
    let resort = text.split_once("ONLY IF NOTHING ELSE HELPS").unwrap_or_else(|| panic!("{text}")).1;
    assert!(resort.contains("(Job x-20260101 is replaced, and starts over: 8 pods that have succeeded run again)"), "{text}");
    assert!(resort.contains("kubectl get job x-20260101 -n shop") && !resort.contains("selector"), "{text}");
    assert!(!text.contains("cronjob"), "{text}");
    let text = fixes(&objects(&by, &template("4"), &[job(Some(("CronJob", "x"))), cron]), &["shop/x-0", "--fixes"]);
    assert!(text.contains("kubectl patch cronjob x -n shop"), "{text}");
    let text = fixes(&objects(&by, &template("4"), &[job(Some(("JobSet", "ts")))]), &["shop/x-0", "--fixes"]);
    assert!(text.contains("# no command: JobSet ts controls Job x-20260101") && !text.contains("kubectl get job"), "{text}");
    let text = fixes(&objects(&by, &template("4"), &[]), &["shop/x-0", "--fixes", "-o", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let fix =
        &found["fixes"]["fixes"].as_array().unwrap().iter().find(|fix| fix["noCommand"].is_string()).unwrap_or_else(|| panic!("{text}"));
    assert_eq!(fix["kubectl"], Value::Null);
    assert_eq!(fix["noCommand"], "Job x-20260101 was not read, and the change needs another Job in its place");
}
