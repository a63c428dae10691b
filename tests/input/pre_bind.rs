//! A pod that has its node and waits in PreBind for its volume, and the error after that.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

/// Two nodes, and a pod whose claim was written for the second one at 07:31 and is not provisioned.
fn objects(status: &Value) -> Value {
    let node = |name: &str| {
        json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "creationTimestamp": "2026-11-20T07:00:00Z"},
            "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}})
    };
    let written = json!([{"manager": "kube-scheduler", "time": "2026-11-20T07:31:05Z",
        "fieldsV1": {"f:metadata": {"f:annotations": {"f:volume.kubernetes.io/selected-node": {}}}}}]);
    json!({"kind": "List", "apiVersion": "v1", "items": [
        node("ctl-1"), node("ctl-2"),
        {"kind": "StorageClass", "apiVersion": "storage.k8s.io/v1", "metadata": {"name": "dead"}, "provisioner": "dead.example.com",
            "volumeBindingMode": "WaitForFirstConsumer"},
        {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": "data-db-0", "namespace": "shop",
            "annotations": {"volume.kubernetes.io/selected-node": "ctl-2"}, "managedFields": written},
            "spec": {"storageClassName": "dead", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
            "status": {"phase": "Pending"}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "db-0", "namespace": "shop", "creationTimestamp": "2026-11-20T07:31:04Z"},
            "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}],
                "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]},
            "status": status},
        {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "shop", "creationTimestamp": "2026-11-20T07:36:05Z"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "other"}, "reason": "Scheduled", "lastTimestamp": "2026-11-20T07:36:05Z"},
    ]})
}

/// Returns the exit code and the answer about the dump.
fn explain(status: &Value, args: &[&str]) -> (i32, String) {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump.json");
    std::fs::write(&dump, objects(status).to_string()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_schedscope")).arg("explain").args(args).arg("--from").arg(&dump).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_pod_that_waits_for_its_volume_is_chosen_and_pinned() {
    let status = json!({"phase": "Pending"});
    let chosen = "hosen for ctl-2 since 07:31:05 (5 min ago), waits for dead.example.com to provision data-db-0";
    let (code, text) = explain(&status, &["shop/db-0", "--fixes"]);
    assert_eq!(code, 1, "{text}");
    for part in [
        &format!("\nC{chosen}.\n"),
        "claim \"data-db-0\" is pinned to ctl-2: ctl-1",
        "it needs no fix here: it is chosen for ctl-2",
        "The cluster's scheduler chose this node too, and binds the pod's claims.",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains("the pod fits: it needs no fix"), "{text}");
    assert!(text.contains("WHEN\n  starts on ctl-2 once data-db-0 is provisioned\n"), "{text}");
    let (_, text) = explain(&status, &["shop/db-0", "-o", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    let named = json!([found["pod"], found["namespace"], found["priority"], found["agreement"]["accord"], found["when"]["text"]]);
    assert_eq!(named, json!(["db-0", "shop", 0, "binding", "starts on ctl-2 once data-db-0 is provisioned"]));
    let (code, text) = explain(&status, &["--pending", "-A"]);
    assert_eq!(code, 1, "{text}");
    for part in [&format!("  1 pod: c{chosen}\n"), "no fix is needed: a node is chosen already", "1 being bound"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn an_error_of_the_scheduler_is_a_verdict_of_its_own() {
    let message = "running PreBind plugin \"VolumeBinding\": binding volumes: context deadline exceeded";
    let status = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulerError",
        "message": message, "lastTransitionTime": "2026-11-20T07:31:00Z"}]});
    let (_, text) = explain(&status, &["shop/db-0"]);
    let said = format!("decided nothing:\n  the scheduler chose a node, and its attempt ended in an error: {message}\n");
    assert!(text.replace("    ", "  ").contains(&said), "{text}");
    assert!(!text.contains("found no node") && !text.contains("changed since"), "{text}");
    let (code, text) = explain(&status, &["--pending", "-A", "-o", "json"]);
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &found["pods"][0]["accord"]), (1, &json!("scheduler-error")), "{text}");
    assert_eq!(found["causes"][0]["cause"], "volume-provisioning", "{text}");
}
