//! The release of a cluster as its source shows it, and two releases compared, through the program.

use std::path::Path;
use std::process::{Command, Output};

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::api_server::ApiServer;

/// A cluster of one node, with these kubelets on others. A pod on the node has a sidecar with a host port, which counts
/// from 1.34 on, and another pod wants that port.
fn cluster(kubelets: &[&str], image: Option<&str>) -> Value {
    let mut items = vec![
        json!({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "2", "memory": "4Gi", "pods": "9"}}}),
        json!({"kind": "Pod", "metadata": {"name": "there", "namespace": "a", "uid": "t"}, "status": {"phase": "Running"},
               "spec": {"nodeName": "n", "containers": [{"name": "c"}], "initContainers":
                   [{"name": "s", "restartPolicy": "Always", "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}]}}),
        json!({"kind": "Pod", "metadata": {"name": "waits", "namespace": "a", "uid": "w", "creationTimestamp": "2026-11-20T18:00:00Z"},
               "spec": {"schedulerName": "default-scheduler", "containers":
                   [{"name": "c", "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]}]}}),
    ];
    for (i, version) in kubelets.iter().enumerate() {
        items.push(json!({"kind": "Node", "metadata": {"name": format!("m{i}")}, "spec": {"unschedulable": true},
                          "status": {"nodeInfo": {"kubeletVersion": version}}}));
    }
    if let Some(image) = image {
        items.push(json!({"kind": "Pod", "metadata": {"name": "kube-scheduler-n", "namespace": "kube-system", "uid": "k"},
                          "status": {"phase": "Running"},
                          "spec": {"nodeName": "n", "containers": [{"name": "kube-scheduler", "image": image}]}}));
    }
    for item in &mut items {
        item["apiVersion"] = "v1".into();
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn program(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).output().expect("it starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes the files of a dump to a folder.
fn dump(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("it can be written");
    }
    folder
}

fn path(folder: &Path) -> &str {
    folder.to_str().expect("UTF-8")
}

/// Returns the release of an answer: the emulated one, the requested one, and the evidence.
fn found(release: &Value) -> (String, String, String) {
    let text = |key: &str| release[key].as_str().unwrap_or("none").to_owned();
    (text("emulates"), text("asked"), text("from"))
}

#[test]
fn the_release_is_learned_from_the_best_that_tells_it() {
    let version = |text: &str| ("version.json", json!({"serverVersion": {"gitVersion": text}}).to_string());
    let nodes = |kubelets: &[&str], image: Option<&str>| ("cluster.json", cluster(kubelets, image).to_string());
    let mixed = ["", "v1.31.4-eks-a1b2c3", "v1.30.9", "kwok-v0.6.0"];
    let scheduler = Some("registry.k8s.io/kube-scheduler:v1.33.0");
    for (files, emulates, asked, from) in [
        (vec![nodes(&[], None)], "1.36.2", "none", "default"),
        (vec![nodes(&["", "latest"], Some("kube-scheduler:latest"))], "1.36.2", "none", "default"),
        (vec![nodes(&mixed, None)], "1.31.4", "1.31.4", "kubelets"),
        (vec![nodes(&mixed, Some("kube-scheduler:latest"))], "1.31.4", "1.31.4", "kubelets"),
        (vec![nodes(&mixed, scheduler)], "1.33.0", "1.33.0", "scheduler-image"),
        (vec![nodes(&mixed, scheduler), version("v1.32.1+k3s1")], "1.32.2", "1.32.1", "version-file"),
        (vec![nodes(&mixed, scheduler), version("unknown")], "1.33.0", "1.33.0", "scheduler-image"),
        (vec![nodes(&["v1.99.0"], None)], "1.37.0", "1.99.0", "kubelets"),
    ] {
        let folder = dump(&files);
        let from_there = ["explain", "waits", "-n", "a", "-o", "json", "--from", path(folder.path())];
        for more in [&[][..], &["--emulate", "auto"]] {
            let output = program(&[&from_there[..], more].concat());
            let answer: Value = serde_json::from_str(&stdout(&output)).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)));
            assert_eq!(found(&answer["release"]), (emulates.to_owned(), asked.to_owned(), from.to_owned()), "{}", stderr(&output));
        }
        let run = program(&["run", "-o", "json", "--from", path(folder.path())]);
        let first: Value = serde_json::from_str(stdout(&run).lines().next().expect("a line")).expect("JSON");
        assert_eq!(found(&first["release"]).0, emulates);
        let flag = program(&[&from_there[..], &["--emulate", "v1.35.2"]].concat());
        let answer: Value = serde_json::from_str(&stdout(&flag)).expect("JSON");
        assert_eq!(found(&answer["release"]), ("1.35.2".to_owned(), "1.35.2".to_owned(), "flag".to_owned()));
        assert_eq!(answer["release"]["cluster"].as_str().unwrap_or("none"), asked, "the cluster's own is still told");
    }
}

#[test]
fn the_release_is_reported_in_text_too_and_what_is_not_verified_with_it() {
    let folder = dump(&[("cluster.json", cluster(&["v1.28.3"], None).to_string())]);
    let from = path(folder.path());
    let line = "kube-scheduler v1.28.3: v1.28.3 is the version of its newest kubelet";
    let explain = program(&["explain", "waits", "-n", "a", "--from", from]);
    assert!(stdout(&explain).contains(&format!("\nRELEASE\n  {line}\n")), "{}", stdout(&explain));
    let markdown = program(&["explain", "waits", "-n", "a", "--from", from, "-o", "markdown"]);
    assert!(stdout(&markdown).contains(line), "{}", stdout(&markdown));
    let pending = program(&["explain", "-A", "--pending", "--from", from]);
    assert!(stdout(&pending).contains(line), "{}", stdout(&pending));
    // Answers name the parts of the release that no recorded case covers.
    let run = program(&["run", "--from", from]);
    assert!(stdout(&run).contains(&format!("\n{line}; not verified: queues\n")), "{}", stdout(&run));
    let info = program(&["info", "--emulate", "1.28.3", "-o", "json"]);
    let info: Value = serde_json::from_str(&stdout(&info)).expect("JSON");
    assert_eq!(info["release"]["notVerified"], json!(["queues", "configuration", "extenders"]));
    let patches = program(&["info", "--emulate", "1.31.2", "-o", "wide"]);
    let listed = stdout(&patches);
    assert!(listed.contains("changes in the patches 1.31.0 to 1.31.14\n  1.31.1 on          yes  "), "{listed}");
    assert!(listed.contains("\n  1.31.3 on          no   Victims are sorted by importance"), "{listed}");
    assert!(!stdout(&program(&["info", "--emulate", "1.31.2"])).contains("changes in the patches"));
    let last: Value = serde_json::from_str(&stdout(&program(&["info", "--emulate", "1.31", "-o", "json"]))).expect("JSON");
    assert_eq!(
        (&last["release"]["emulates"], &last["release"]["verifiedAs"], &last["release"]["changesApart"]),
        (&json!("1.31.14"), &json!("1.31.14"), &json!(0))
    );
    assert!(last["patchChanges"].as_array().expect("changes").iter().all(|change| change["has"] == true));
    // An answer for another release says so first.
    let other = program(&["explain", "waits", "-n", "a", "--from", from, "--emulate", "1.99"]);
    assert!(stderr(&other).contains("emulates kube-scheduler v1.37.0: v1.99 was requested"), "{}", stderr(&other));
}

#[test]
fn a_text_that_is_no_version_is_refused_with_the_range_that_is_known() {
    let folder = dump(&[("cluster.json", cluster(&[], None).to_string())]);
    let from = path(folder.path());
    for args in [
        &["explain", "waits", "-n", "a", "--from", from, "--emulate", "latest"][..],
        &["run", "--from", from, "--emulate", "1.31", "--compare", "2.0"],
        &["info", "--emulate", "newest"],
    ] {
        let output = program(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains("emulated are 1.11 to 1.37"), "{}", stderr(&output));
    }
}

#[test]
fn two_releases_are_compared_pod_by_pod() {
    let folder = dump(&[("cluster.json", cluster(&["v1.33.0"], None).to_string())]);
    let from = path(folder.path());
    let compare = |args: &[&str]| program(&[&["run", "--from", from][..], args].concat());
    let json = compare(&["--emulate", "1.33.0", "--compare", "1.36", "-o", "json"]);
    assert_eq!(json.status.code(), Some(1), "{}", stderr(&json));
    let answer: Value = serde_json::from_str(&stdout(&json)).expect("JSON");
    assert_eq!((answer["from"].as_str(), answer["to"].as_str()), (Some("1.33.0"), Some("1.36.4")));
    let pods = answer["pods"].as_array().expect("pods");
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0]["pod"], "a/waits");
    assert_eq!((&pods[0]["from"]["outcome"], &pods[0]["to"]["outcome"]), (&json!("scheduled"), &json!("unschedulable")));
    let changed = pods[0]["changed"].as_array().expect("keys");
    assert!(
        ["outcome", "node", "feasible", "filter", "message", "preemption"].iter().all(|key| changed.contains(&json!(key))),
        "{changed:?}"
    );
    // Each side equals the decision that explain prints.
    for (side, release) in [("from", "1.33.0"), ("to", "1.36")] {
        let explain = program(&["explain", "waits", "-n", "a", "--from", from, "--emulate", release, "-o", "json"]);
        let mut decision: Value = serde_json::from_str(&stdout(&explain)).expect("JSON");
        // Explain adds these to a decision.
        for key in ["schemaVersion", "others", "release", "pod", "namespace", "priority", "agreement", "when"] {
            assert!(decision.as_object_mut().expect("an object").remove(key).is_some(), "{key}");
        }
        assert_eq!(decision, pods[0][side]);
    }
    let text = compare(&["--compare", "1.36"]);
    assert_eq!(text.status.code(), Some(1));
    let expected =
        "1 of 1 pending pod is decided differently by kube-scheduler v1.36.4 than by v1.33.0:\n  a/waits\n    v1.33.0: fits on n\n";
    assert!(stdout(&text).contains(expected), "{}", stdout(&text));
    assert!(stdout(&text).contains("1 node: fits → node(s) didn't have free ports for the requested pod ports (n)"), "{}", stdout(&text));
    let markdown = compare(&["--compare", "1.36", "-o", "markdown"]);
    assert!(stdout(&markdown).starts_with("### kube-scheduler 1.33.0 compared with 1.36.4\n"), "{}", stdout(&markdown));
    // The same decision needs no warning.
    let same = compare(&["--emulate", "1.35", "--compare", "1.36", "-o", "json"]);
    assert_eq!(same.status.code(), Some(0), "{}", stdout(&same));
    let same: Value = serde_json::from_str(&stdout(&same)).expect("JSON");
    assert!(!same["pods"][0]["changed"].as_array().expect("keys").contains(&json!("outcome")));
    // A bare minor version is its last known patch, in which the ports of sidecars count.
    let last = compare(&["--emulate", "1.33", "--compare", "1.33.5", "-o", "json"]);
    let last: Value = serde_json::from_str(&stdout(&last)).expect("JSON");
    assert_eq!((last["from"].as_str(), last["to"].as_str()), (Some("1.33.13"), Some("1.33.5")));
    assert_eq!(last["pods"][0]["to"]["outcome"], "scheduled");
    let nothing = program(&["run", "--demo", "budgets", "--emulate", "1.36", "--compare", "1.36", "-o", "yaml"]);
    assert_eq!(nothing.status.code(), Some(0), "{}", stderr(&nothing));
    assert!(stdout(&nothing).contains("from: 1.36.4") && stdout(&nothing).contains("changed: []"), "{}", stdout(&nothing));
}

#[test]
fn a_live_server_tells_its_version_and_a_capture_keeps_it() {
    let mut items = cluster(&["v1.30.0"], None)["items"].as_array().expect("a list").clone();
    for item in &mut items {
        item["metadata"]["resourceVersion"] = "1".into();
    }
    let server = ApiServer::new(&items);
    server.world().git_version = "v1.32.1-gke.7".to_owned();
    let folder = tempfile::tempdir().expect("a folder");
    let kubeconfig = folder.path().join("config");
    std::fs::write(&kubeconfig, server.kubeconfig()).expect("it can be written");
    let file = folder.path().join("dump.json.gz");
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_schedscope")).args(args).env("KUBECONFIG", &kubeconfig).output().expect("it starts")
    };
    let live = run(&["explain", "waits", "-n", "a", "-o", "json"]);
    let answer: Value = serde_json::from_str(&stdout(&live)).unwrap_or_else(|e| panic!("{e}: {}", stderr(&live)));
    assert_eq!(found(&answer["release"]), ("1.32.2".to_owned(), "1.32.1".to_owned(), "server".to_owned()));
    for redact in [&[][..], &["--redact"]] {
        let captured = run(&[&["capture", path(&file)][..], redact].concat());
        assert!(captured.status.success(), "{}", stderr(&captured));
        let all = program(&["explain", "--pending", "-A", "-o", "json", "--from", path(&file)]);
        let answer: Value = serde_json::from_str(&stdout(&all)).unwrap_or_else(|e| panic!("{e}: {}", stderr(&all)));
        assert_eq!(found(&answer["release"]), ("1.32.2".to_owned(), "1.32.1".to_owned(), "version-file".to_owned()));
        assert_eq!(stderr(&all), "", "the version is no object that cannot be read");
        std::fs::remove_file(&file).expect("it is there");
    }
}

/// A pod that NodeAffinity rejects in PreFilter has no state of the plugins behind it, which a dry run of 1.26 and 1.27 asks for.
#[test]
fn the_first_plugin_without_state_ends_a_dry_run() {
    let twice =
        json!([{"key": "metadata.name", "operator": "In", "values": ["x"]}, {"key": "metadata.name", "operator": "In", "values": ["y"]}]);
    let affinity =
        json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchFields": twice}]}}});
    let list = json!({"kind": "List", "apiVersion": "v1", "items": [
        {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"}, "status": {"allocatable": {"cpu": "4", "pods": "10"}}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "low", "namespace": "a", "uid": "1"},
            "spec": {"nodeName": "w1", "priority": 0, "containers": [{"name": "c"}]}, "status": {"phase": "Running"}},
        {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "waits", "namespace": "a", "uid": "2"},
            "spec": {"priority": 10, "schedulerName": "default-scheduler", "containers": [{"name": "c"}], "affinity": affinity},
            "status": {"phase": "Pending"}},
    ]});
    let folder = dump(&[("cluster.json", list.to_string())]);
    for (release, plugin) in [("1.26.4", "PodTopologySpread"), ("1.27.1", "VolumeRestrictions")] {
        let answer = program(&["explain", "waits", "-n", "a", "--from", path(folder.path()), "--emulate", release, "-o", "json"]);
        let answer: Value = serde_json::from_str(&stdout(&answer)).expect("JSON");
        let status = answer["preemption"]["nodeStatuses"][0]["reasons"][0].as_str().expect("a reason");
        assert!(status.starts_with(&format!("running RemovePod on PreFilter plugin {plugin:?}: ")), "{release}: {status}");
    }
}
