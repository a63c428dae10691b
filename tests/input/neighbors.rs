//! Workloads, quotas and the events of others: of a live cluster, in captures and in sessions.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use schedscope::cluster::neighbors::{NeighborKind, Neighbors};
use schedscope::cluster::{Key, MissingReason};
use schedscope::source::live::{ConnectOptions, Live, NeighborsQuestion, Timing, connect};
use serde_json::{Value, json};

use crate::api_server::{ApiServer, Fault, PATIENCE};

const ALWAYS: usize = usize::MAX / 2;

/// A Deployment of three pods of which a quota lets one in, its ReplicaSet, a Job, and a pod without an owner.
fn objects() -> Vec<Value> {
    let owner = |kind: &str, name: &str| json!([{"kind": kind, "name": name, "controller": true, "uid": name, "apiVersion": "apps/v1"}]);
    vec![
        json!({"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "shop"}}),
        json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "2", "pods": "10"}}}),
        json!({"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "web", "namespace": "shop", "uid": "web", "generation": 1},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "c"}]}}},
            "status": {"observedGeneration": 1, "replicas": 1, "conditions": [{"type": "ReplicaFailure", "status": "True",
                "reason": "FailedCreate", "message": "exceeded quota: compute"}]}}),
        json!({"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": "web-1", "namespace": "shop", "uid": "web-1",
            "ownerReferences": owner("Deployment", "web")}, "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"replicas": 1}}),
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web-1-a", "namespace": "shop", "labels": {"app": "web"},
            "ownerReferences": owner("ReplicaSet", "web-1")}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "4"}}}],
            "schedulerName": "default-scheduler"}, "status": {"phase": "Pending"}}),
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "alone", "namespace": "shop"},
            "spec": {"containers": [{"name": "c"}], "schedulerName": "default-scheduler"}, "status": {"phase": "Pending"}}),
        json!({"kind": "ResourceQuota", "apiVersion": "v1", "metadata": {"name": "compute", "namespace": "shop"},
            "spec": {"hard": {"requests.cpu": "4"}}, "status": {"hard": {"requests.cpu": "4"}, "used": {"requests.cpu": "4"}}}),
        json!({"kind": "Job", "apiVersion": "batch/v1", "metadata": {"name": "sum", "namespace": "shop"}, "spec": {"suspend": true}}),
        json!({"kind": "Workload", "apiVersion": "kueue.x-k8s.io/v1", "metadata": {"name": "job-sum", "namespace": "shop"},
            "status": {"conditions": [{"type": "QuotaReserved", "status": "False", "reason": "Pending", "message": "wait"}]}}),
        json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e1", "namespace": "shop"},
            "involvedObject": {"kind": "ReplicaSet", "namespace": "shop", "name": "web-1", "uid": "web-1"}, "type": "Warning",
            "reason": "FailedCreate", "message": "Error creating: pods \"web-1-b\" is forbidden: exceeded quota: compute, requested: requests.cpu=4, used: requests.cpu=4, limited: requests.cpu=4",
            "count": 3, "firstTimestamp": "2026-11-21T01:57:00Z", "lastTimestamp": "2026-11-21T01:58:00Z",
            "source": {"component": "replicaset-controller"}}),
        json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e2", "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1-a"}, "type": "Normal", "reason": "NotTriggerScaleUp",
            "message": "pod didn't trigger scale-up: 1 max node group size reached", "count": 1,
            "firstTimestamp": "2026-11-21T01:57:30Z", "lastTimestamp": "2026-11-21T01:57:30Z",
            "source": {"component": "cluster-autoscaler"}}),
        // Two speakers' events of the same reason: only one is kube-scheduler's.
        json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e3", "namespace": "shop"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "web-1-a"}, "type": "Warning", "reason": "FailedScheduling",
            "message": "Failed to schedule pod, node limits have been exhausted for nodepool", "count": 2,
            "firstTimestamp": "2026-11-21T01:57:40Z", "lastTimestamp": "2026-11-21T01:57:50Z", "source": {"component": "karpenter"}}),
    ]
}

fn server() -> ApiServer {
    ApiServer::new(&objects())
}

/// Runs the program on a server, or on the source in its arguments.
fn program(server: Option<&ApiServer>, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, server.map_or_else(String::new, ApiServer::kubeconfig)).unwrap();
    Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).env("KUBECONFIG", config).output().unwrap()
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}

/// The parts of an answer about a workload that do not depend on the clock.
fn parts(answer: &Value) -> Value {
    let causes: Vec<Value> =
        answer["causes"].as_array().unwrap().iter().map(|c| json!([c["cause"], c["stage"], c["count"], c["by"], c["pods"]])).collect();
    let others: Vec<Value> = answer["others"]
        .as_array()
        .unwrap()
        .iter()
        .map(|o| json!([o["speaker"], o["reason"], o["text"], o["count"], o["means"]]))
        .collect();
    json!([answer["desired"], answer["created"], answer["missing"], answer["ready"], causes, others])
}

fn live(server: &ApiServer, adapt: impl FnOnce(&mut ConnectOptions)) -> Live {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    let mut options = ConnectOptions { kubeconfig: Some(path), ..ConnectOptions::default() };
    adapt(&mut options);
    let live = connect(&options).unwrap_or_else(|error| panic!("{error}"));
    live.wait_first(Some(Instant::now() + PATIENCE)).unwrap();
    live
}

fn ask(live: &Live, question: NeighborsQuestion) -> Neighbors {
    live.ask_neighbors(question).recv_timeout(PATIENCE).unwrap()
}

fn dump(folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("dump.json");
    std::fs::write(&path, json!({"kind": "List", "apiVersion": "v1", "items": objects()}).to_string()).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_workload_of_a_live_cluster_is_explained_as_that_of_its_dump() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let (of_live, of_dump) = (
        program(Some(&server), &["explain", "deployment/web", "-n", "shop", "-o", "json"]),
        program(None, &["explain", "deployment/web", "-n", "shop", "-o", "json", "--from", &dump(&folder)]),
    );
    assert_eq!((of_live.status.code(), of_dump.status.code()), (Some(1), Some(1)), "{}", String::from_utf8_lossy(&of_live.stderr));
    let found = answer(&of_live);
    assert_eq!(parts(&found), parts(&answer(&of_dump)));
    assert_eq!((&found["desired"], &found["missing"]), (&json!(3), &json!(3)), "{found:#}");
    let speakers: Vec<&str> = found["others"].as_array().unwrap().iter().map(|o| o["speaker"].as_str().unwrap()).collect();
    assert_eq!(speakers, ["replicaset-controller", "karpenter", "cluster-autoscaler"]);
    let requests = server.world().requests.clone();
    assert!(requests.iter().any(|r| r.contains("/namespaces/shop/deployments?")), "only its namespace is listed: {requests:?}");
    assert!(!requests.iter().any(|r| r.contains("/v1/deployments?")), "{requests:?}");
}

#[test]
fn a_kind_that_is_refused_or_late_is_unknown_and_the_rest_counts() {
    let server = server();
    server.fault("/resourcequotas?", ALWAYS, Fault::Status(403, None));
    server.fault("/jobs?", ALWAYS, Fault::Silence);
    server.fault("/workloads?", ALWAYS, Fault::Html);
    let live = live(&server, |_| {});
    let began = Instant::now();
    let found = ask(&live, NeighborsQuestion::all(None, Duration::from_millis(300)));
    assert!(began.elapsed() < PATIENCE);
    for (kind, why) in [
        (NeighborKind::ResourceQuota, Some(MissingReason::Refused)),
        (NeighborKind::Job, Some(MissingReason::Failed)),
        (NeighborKind::Workload, Some(MissingReason::Failed)),
        (NeighborKind::Deployment, None),
        (NeighborKind::NodePool, None),
        (NeighborKind::ClusterQueue, None),
    ] {
        assert_eq!(
            (found.why(kind), found.knows(kind)),
            (why, matches!(kind, NeighborKind::Deployment | NeighborKind::NodePool)),
            "{kind}"
        );
    }
    assert!(found.get(NeighborKind::Deployment, &Key::new("shop", "web")).is_some());
    assert_eq!(found.events.iter().map(|event| event.about.to_string()).collect::<Vec<_>>(), ["replicaset/web-1"]);
    server.forgive();

    server.fault("/resourcequotas?", ALWAYS, Fault::Status(403, None));
    let output = program(Some(&server), &["explain", "deployment/web", "-n", "shop", "-o", "json"]);
    let unknown = &answer(&output)["missingKinds"];
    let why = |kind: &str| unknown.as_array().unwrap().iter().find(|k| k["kind"] == kind).map(|k| k["why"].clone());
    assert_eq!((why("ResourceQuota"), why("LimitRange"), why("Deployment")), (Some(json!("refused")), Some(json!("failed")), None));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "an optional kind makes no noise");
    let text = program(Some(&server), &["explain", "deployment/web", "-n", "shop"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("ResourceQuotas cannot be read (no permission): room in quotas"), "{text}");
}

#[test]
fn a_pod_waits_for_the_words_of_others_up_to_a_limit() {
    let server = server();
    server.fault("involvedObject.kind%21%3DPod", ALWAYS, Fault::Silence);
    let began = Instant::now();
    let output = program(Some(&server), &["explain", "web-1-a", "-n", "shop"]);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("Insufficient cpu") && text.contains("Karpenter adds no node: a NodePool is at its limit."), "{text}");
    assert!(text.contains("Events about its owners, claims and group could not all be read."), "{text}");
    server.world().requests.clear();
    // A pod without an owner that was never tried is in no other object.
    let output = program(Some(&server), &["explain", "alone", "-n", "shop"]);
    assert_eq!(output.status.code(), Some(0));
    let requests = server.world().requests.clone();
    let optional =
        |request: &&String| ["kind%21%3DPod", "/deployments", "/nodepools", "/resourcequotas"].iter().any(|o| request.contains(o));
    assert_eq!(requests.iter().filter(optional).count(), 0, "{requests:?}");
}

#[test]
fn a_kind_with_too_many_objects_is_unknown() {
    let server = server();
    for name in ["a", "b"] {
        server.put(json!({"kind": "Job", "metadata": {"name": name, "namespace": "shop"}, "spec": {}}));
    }
    let live = live(&server, |options| options.bounds.neighbors = 2);
    let found = ask(&live, NeighborsQuestion::all(None, PATIENCE));
    assert_eq!((found.why(NeighborKind::Job), found.of_kind(NeighborKind::Job).count()), (Some(MissingReason::Failed), 0));
    assert!(found.knows(NeighborKind::Deployment));
}

#[test]
fn a_kind_is_looked_for_in_the_versions_that_the_server_prefers() {
    let server = server();
    server.world().group_versions.insert("kueue.x-k8s.io", "v1beta2");
    server.world().group_versions.insert("karpenter.sh", "");
    let live = live(&server, |_| {});
    let found = ask(&live, NeighborsQuestion::all(None, PATIENCE));
    let workload = found.get(NeighborKind::Workload, &Key::new("shop", "job-sum")).unwrap();
    assert_eq!(workload.api_version, "kueue.x-k8s.io/v1beta2");
    assert_eq!((found.knows(NeighborKind::NodePool), found.why(NeighborKind::NodePool)), (false, None));
    let requests = server.world().requests.clone();
    assert!(!requests.iter().any(|request| request.contains("nodepools")), "the server does not have the group: {requests:?}");
}

#[test]
fn a_user_with_rights_in_some_namespaces_gets_those() {
    let server = server();
    server.put(json!({"kind": "Deployment", "metadata": {"name": "other", "namespace": "batch"}, "spec": {}}));
    server.fault("/apis/apps/v1/deployments?", ALWAYS, Fault::Status(403, None));
    let live = live(&server, |options| options.namespaces = vec!["shop".to_owned()]);
    let found = ask(&live, NeighborsQuestion::all(None, PATIENCE));
    assert_eq!(found.of_kind(NeighborKind::Deployment).map(|o| o.metadata.name.as_str()).collect::<Vec<_>>(), ["web"]);
    assert_eq!(found.why(NeighborKind::Deployment), Some(MissingReason::Partial));
}

#[test]
fn a_followed_cluster_lists_workloads_again() {
    let server = server();
    let timing = Timing { neighbors: Duration::from_millis(1), ..Timing::default() };
    let live = live(&server, |options| options.timing = timing);
    live.follow_neighbors(NeighborsQuestion::all(None, PATIENCE));
    let deadline = Some(Instant::now() + PATIENCE);
    let wait = |has: &dyn Fn(&Neighbors) -> bool| loop {
        let seen = live.generation();
        if has(&live.newest_neighbors().1) {
            break;
        }
        assert!(live.wait_beyond(seen, deadline), "it did not come");
    };
    wait(&|found| found.get(NeighborKind::Deployment, &Key::new("shop", "web")).is_some());
    let generation = live.neighbors_generation();
    assert!(generation > 0);
    server.put(json!({"kind": "Deployment", "metadata": {"name": "new", "namespace": "shop"}, "spec": {"replicas": 1}}));
    wait(&|found| found.get(NeighborKind::Deployment, &Key::new("shop", "new")).is_some());
    assert!(live.neighbors_generation() > generation);
    // ReplicaSets and events about pods come with the objects that are followed.
    let newest = live.newest_neighbors().1;
    assert!(newest.get(NeighborKind::ReplicaSet, &Key::new("shop", "web-1")).is_some() && newest.knows(NeighborKind::StatefulSet));
    assert_eq!(newest.events.len(), 3);
    server.delete("ReplicaSet", "shop", "web-1");
    wait(&|found| found.get(NeighborKind::ReplicaSet, &Key::new("shop", "web-1")).is_none());
}

/// Writes a capture of the server and returns its text.
fn captured(server: &ApiServer, path: &str, redact: bool) -> String {
    let arguments = [&["capture", path][..], if redact { &["--redact"] } else { &[] }].concat();
    let output = program(Some(server), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_capture_keeps_workloads_and_each_object_and_event_once() {
    let server = server();
    server.fault("/limitranges?", ALWAYS, Fault::Status(403, None));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let text = captured(&server, &path("capture.json"), false);
    for (part, times) in
        [(r#""generation":1,"name":"web""#, 1), (r#""uid":"web-1"},"spec""#, 1), ("involvedObject", 3), (r#""kind":"DeploymentList""#, 1)]
    {
        assert_eq!(text.matches(part).count(), times, "{part}: {text}");
    }
    let explain = |source: &[&str]| {
        let arguments = [&["explain", "deployment/web", "-n", "shop", "-o", "json"], source].concat();
        answer(&program(source.is_empty().then_some(&server), &arguments))
    };
    let (of_live, of_capture) = (explain(&[]), explain(&["--from", &path("capture.json")]));
    assert_eq!(parts(&of_capture), parts(&of_live));
    assert_eq!(of_capture["missingKinds"], of_live["missingKinds"]);
    assert!(of_capture["missingKinds"].to_string().contains(r#""kind":"LimitRange","why":"refused""#), "{of_capture}");
    let output = program(None, &["capture", &path("again.json"), "--from", &path("capture.json")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(path("again.json")).unwrap(), text, "a capture of a capture is the same");
}

#[test]
fn a_redacted_capture_keeps_amounts_kinds_and_causes() {
    let mut objects = objects();
    objects.push(json!({"kind": "LimitRange", "metadata": {"name": "hush-range", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "4"}, "default": {"memory": "1Gi"}}]}}));
    objects.push(json!({"kind": "ResourceQuota", "metadata": {"name": "hush-quota", "namespace": "shop"}, "status":
        {"hard": {"hushclass.storageclass.storage.k8s.io/requests.storage": "5Gi", "count/pods": "9"}, "used": {"count/pods": "3"}}}));
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(
        path("dump.json"),
        json!({"kind": "List", "apiVersion": "v1", "items": objects}).to_string().replace("shop", "hushshop"),
    )
    .unwrap();
    let output = program(None, &["capture", &path("redacted.json"), "--redact", "--from", &path("dump.json")]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(path("redacted.json")).unwrap();
    for gone in ["hush", "\"web", "web-1", "compute"] {
        assert!(!text.contains(gone), "{gone}: {text}");
    }
    for kept in [
        r#""hard":{"requests.cpu":"4"}"#,
        r#""count/pods":"9""#,
        ".storageclass.storage.k8s.io/requests.storage\":\"5Gi\"",
        r#""max":{"cpu":"4"}"#,
        r#""kind":"Deployment""#,
        r#""kind":"ReplicaSet""#,
        "pod didn't trigger scale-up: 1 max node group size reached",
        "requested: requests.cpu=4, used: requests.cpu=4, limited: requests.cpu=4",
        "node limits have been exhausted for nodepool",
    ] {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let list: Value = serde_json::from_str(text.lines().skip_while(|line| !line.contains("DeploymentList")).nth(1).unwrap())
        .unwrap_or_else(|_| {
            let line = text.lines().skip_while(|line| !line.contains("DeploymentList")).nth(1).unwrap();
            serde_json::from_str(line.trim_end_matches("]}")).unwrap()
        });
    let name = format!("deployment/{}", list["metadata"]["name"].as_str().unwrap());
    let namespace = list["metadata"]["namespace"].as_str().unwrap().to_owned();
    let redacted = answer(&program(None, &["explain", &name, "-n", &namespace, "-o", "json", "--from", &path("redacted.json")]));
    let plain = answer(&program(None, &["explain", "deployment/web", "-n", "hushshop", "-o", "json", "--from", &path("dump.json")]));
    let bare = |answer: &Value| {
        let causes: Vec<Value> =
            answer["causes"].as_array().unwrap().iter().map(|c| json!([c["cause"], c["stage"], c["count"], c["by"]["kind"]])).collect();
        let others: Vec<Value> =
            answer["others"].as_array().unwrap().iter().map(|o| json!([o["speaker"], o["reason"], o["means"]])).collect();
        json!([answer["desired"], answer["missing"], causes, others])
    };
    assert_eq!(bare(&redacted), bare(&plain));
}

#[test]
fn a_saved_session_keeps_workloads_and_the_events_of_others() {
    use schedscope::release::Emulation;
    use schedscope::scheduler::{Config, Options, Scheduler};
    use schedscope::session::{Background, Session};
    let folder = tempfile::tempdir().unwrap();
    let dump = dump(&folder);
    let loaded = schedscope::source::load(&[schedscope::source::Input::Path(dump.clone().into())]);
    let mut neighbors = (*loaded.neighbors).clone();
    neighbors.withhold(NeighborKind::LimitRange, MissingReason::Refused);
    neighbors.withhold(NeighborKind::DaemonSet, MissingReason::Incomplete);
    neighbors.events_withheld = Some(MissingReason::Partial);
    let start = loaded.report.newest.unwrap();
    let options = Options { start, unknown: loaded.report.missing(), ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), options);
    let background = Background { neighbors: neighbors.clone().into(), events: loaded.events.clone(), ..Background::default() };
    let session = Session::new(scheduler, "a dump").with(background);
    let mut file = Vec::new();
    session.save(&mut file).unwrap();
    let read = Session::load(&file[..]).unwrap();
    assert_eq!(*read.background().neighbors, neighbors);
    let path = folder.path().join("session").to_str().unwrap().to_owned();
    std::fs::write(&path, &file).unwrap();
    let explain = |from: &str| answer(&program(None, &["explain", "deployment/web", "-n", "shop", "-o", "json", "--from", from]));
    let (of_dump, of_session) = (explain(&dump), explain(&path));
    assert_eq!(parts(&of_session), parts(&of_dump));
    let why = |kind: &str| of_session["missingKinds"].as_array().unwrap().iter().find(|k| k["kind"] == kind).map(|k| k["why"].clone());
    assert_eq!(
        (why("LimitRange"), why("Event"), why("ServiceAccount")),
        (Some(json!("refused")), Some(json!("partial")), Some(json!("notInSource")))
    );
}
