//! A log beside a dump: our decision on the objects of each attempt's moment, and our cache beside the scheduler's.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::Command;

use pretty_assertions::assert_eq;
use serde_json::{Value, json};

fn node(name: &str, cpu: &str) -> Value {
    json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "creationTimestamp": "2026-11-22T09:00:00Z"},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "5"}}})
}

fn pod(name: &str, cpu: &str, node: Option<&str>) -> Value {
    let mut pod = json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": name, "namespace": "a", "uid": name, "creationTimestamp": "2026-11-22T09:00:00Z"},
        "spec": {"schedulerName": "default-scheduler", "priority": 0, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Pending"}});
    if let Some(node) = node {
        pod["spec"]["nodeName"] = node.into();
        pod["status"]["phase"] = "Running".into();
    }
    pod
}

/// Returns the answer about a log on a dump, as JSON and as text.
fn answer(objects: &[Value], log: &str) -> (Value, String) {
    let folder = tempfile::tempdir().unwrap();
    let (dump, path) = (folder.path().join("dump.json"), folder.path().join("scheduler.log"));
    // The newest time of the dump is after the log.
    let event = json!({"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "a", "creationTimestamp": "2026-11-22T11:00:00Z"},
        "involvedObject": {"kind": "Pod", "namespace": "a", "name": "other"}, "reason": "Scheduled", "lastTimestamp": "2026-11-22T11:00:00Z"});
    let items: Vec<&Value> = objects.iter().chain([&event]).collect();
    std::fs::write(&dump, json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string()).unwrap();
    std::fs::write(&path, log).unwrap();
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
        let output = command.arg("log").arg(&path).arg("--from").arg(&dump).args(["--log-timezone", "UTC"]).args(more).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    (serde_json::from_str(&run(&["-o", "json"])).unwrap(), run(&[]))
}

fn lines(messages: &[&str]) -> String {
    let line = |(n, text): (usize, &&str)| format!("I1122 10:00:{n:02}.000000       1 a.go:1] {text}\n");
    messages.iter().enumerate().map(line).collect()
}

const START: &str = r#""Starting Kubernetes Scheduler" version="v1.36.2""#;

#[test]
fn each_attempt_is_decided_on_the_pods_of_its_moment() {
    // The dump is of the end: both pods are bound, and the first one took the room on n-1.
    let objects = [node("n-1", "4"), node("n-2", "2"), pod("big", "3", Some("n-1")), pod("next", "2", Some("n-2")), pod("late", "2", None)];
    let log = lines(&[
        START,
        r#""Attempting to schedule pod" pod="a/big""#,
        r#""Attempting to schedule pod" pod="a/next""#,
        r#""Successfully bound pod to node" pod="a/big" node="n-1" evaluatedNodes=2 feasibleNodes=1"#,
        r#""Successfully bound pod to node" pod="a/next" node="n-2" evaluatedNodes=2 feasibleNodes=1"#,
        r#""Attempting to schedule pod" pod="a/late""#,
        r#""Unable to schedule pod; no fit; waiting" pod="a/late" err="0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.""#,
        r#""Attempting to schedule pod" pod="a/gone""#,
        r#""Unable to schedule pod; no fit; waiting" pod="a/gone" err="0/2 nodes are available: 2 Insufficient cpu.""#,
    ]);
    let (found, text) = answer(&objects, &log);
    let kinds: Vec<&Value> = found["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["beside"]["kind"]).collect();
    assert_eq!(kinds, [&json!("agrees"), &json!("agrees"), &json!("agrees"), &Value::Null], "{:#}", found["attempts"]);
    assert_eq!(found["agreement"], json!({"agrees": 3, "explained": 0, "differs": 0, "notCompared": 1}));
    assert!(text.contains("COMPARED WITH SCHEDSCOPE\n  4 attempts: 3 agree, 0 explained, 0 differ, 1 cannot be compared\n"), "{text}");
}

#[test]
fn a_difference_is_explained_only_by_what_is_not_known() {
    let objects = [node("n-1", "4"), pod("late", "3", None)];
    let attempt = [
        START,
        r#""Attempting to schedule pod" pod="a/late""#,
        r#""Unable to schedule pod; no fit; waiting" pod="a/late" err="0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.""#,
    ];
    let kind = |log: &[&str]| {
        let (found, text) = answer(&objects, &lines(log));
        (found["attempts"][0]["beside"]["kind"].clone(), found["attempts"][0]["beside"]["unknown"].clone(), text)
    };
    let (differs, unknown, text) = kind(&attempt);
    assert_eq!((differs, unknown), (json!("differs"), json!([])));
    assert!(text.contains("  1 attempt: 0 agree, 0 explained, 1 differs\n"), "{text}");
    // A pod that the dump does not have took the room.
    let seen = [START, r#""Add event for scheduled pod" pod="a/before""#, attempt[1], attempt[2]];
    let (explained, unknown, text) = kind(&seen);
    assert_eq!((explained, unknown), (json!("explained"), json!(["1 pod on a node is not in the dump"])));
    assert!(text.contains("Explained: 1 pod on a node is not in the dump."), "{text}");
    // It was gone by then.
    let gone = [seen[0], seen[1], r#""Delete event for scheduled pod" pod="a/before""#, attempt[1], attempt[2]];
    assert_eq!(kind(&gone).0, json!("differs"));
    // A node changed since.
    let changed = [attempt[0], attempt[1], attempt[2], r#""Update event for node" node="n-1""#];
    assert_eq!(kind(&changed).1, json!(["1 node was added, deleted or changed between this attempt and the dump"]));
}

#[test]
fn the_cache_of_the_log_is_next_to_ours() {
    let objects = [node("n-1", "4"), node("n-2", "2"), node("n-3", "1"), pod("big", "3", Some("n-1")), pod("next", "2", Some("n-2"))];
    let cached = |name: &str, cpu: u32, all: u32, pods: &[&str]| {
        let pods: String =
            pods.iter().map(|pod| format!("\n\tname: {pod}, namespace: a, uid: 1, phase: Running, nominated node: ")).collect();
        let amounts = |cpu: u32, memory: u64, pods: u32| {
            format!("&{{MilliCPU:{cpu} Memory:{memory} EphemeralStorage:0 AllowedPodNumber:{pods} ScalarResources:map[]}}")
        };
        format!(
            "\tNode name: {name}\n\tDeleted: false\n\tRequested Resources: {}\n\tAllocatable Resources:{}\n\tScheduled Pods(number: 1):{pods}\n\t\n\t\n",
            amounts(cpu, 0, 0),
            amounts(all, 8 << 30, 5)
        )
    };
    let nodes = [cached("n-1", 3000, 4000, &["big"]), cached("n-2", 500, 1000, &["other"]), cached("n-4", 0, 1000, &[])].concat();
    let dump = format!("\"Dump of cached NodeInfo\" nodes=<\n{nodes} >");
    let (found, text) = answer(
        &objects,
        &lines(&[START, &dump, r#""Dump of scheduling queue" summary="activeQ:0; backoffQ:0; unschedulablePods:0" pods="""#]),
    );
    assert_eq!(
        found["cache"]["nodes"],
        json!([
            {"node": "n-1", "differences": []},
            {"node": "n-2", "differences": ["requested cpu 500m in the cache, 2000m in the dump", "allocatable cpu 1000m in the cache, 2000m in the dump", "only in the cache: a/other", "only in the dump: a/next"]},
            {"node": "n-3", "differences": ["not in the cache"]},
            {"node": "n-4", "differences": ["not in the dump"]},
        ])
    );
    assert_eq!(found["cache"]["at"], "2026-11-22T10:00:01.000000Z");
    assert!(
        text.contains("  the scheduler's cache at 2026-11-22T10:00:01.000000Z: 1 of 4 nodes as in the dump\n  n-2: requested cpu 500m"),
        "{text}"
    );
}

/// Returns what `run` says about the queues at the start of a dump that was taken at a time, and its story of one pod.
fn queues(taken: &str, log: Option<&str>, more: &[&str], pod: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let (dump, path) = (folder.path().join("dump.json"), folder.path().join("scheduler.log"));
    let pending = |name: &str, spec: Value| {
        let mut spec = spec;
        spec["containers"] = json!([{"name": "c", "resources": {"requests": {"cpu": "1"}}}]);
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-22T10:00:00Z"},
            "spec": spec, "status": {"phase": "Pending"}})
    };
    // Nothing in the objects says that a pod was tried.
    let elsewhere = json!({"nodeSelector": {"disk": "ssd"}});
    let items = json!([
        node("n-1", "4"),
        pending("gated", json!({"schedulingGates": [{"name": "wait"}]})),
        pending("web", json!({})),
        pending("big", elsewhere.clone()),
        pending("gone", elsewhere),
        {"kind": "Event", "apiVersion": "v1", "metadata": {"name": "e", "namespace": "shop", "creationTimestamp": taken},
         "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "other"}, "reason": "Scheduled", "lastTimestamp": taken},
    ]);
    std::fs::write(&dump, json!({"kind": "List", "apiVersion": "v1", "items": items}).to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    command.args(["run", "--from"]).arg(&dump).args(["--log-timezone", "UTC"]).args(more);
    if let Some(log) = log {
        std::fs::write(&path, log).unwrap();
        command.arg("--scheduler-log").arg(&path);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let head = format!("shop/{pod}: ");
    let story = text.lines().skip_while(|line| !line.starts_with(&head)).take(3).collect::<Vec<_>>().join("\n");
    (text.lines().next().unwrap_or_default().to_owned(), story)
}

#[test]
fn observed_queues_are_those_of_the_log() {
    let story = include_str!("../../fixtures/scheduler-logs/story-1.34.log");
    // `web` was moved to backoffQ just before the end of this part, `big` and `gone` are parked.
    let moved = r#"pod="shop/web" event="AssignedPodDelete" queue="Backoff" hint=1"#;
    let part: String = story.split_inclusive('\n').take_while(|line| !line.contains("BackoffComplete")).collect();
    assert!(part.contains(moved), "{part}");
    let taken = "2026-11-22T10:15:41.3Z";
    let observed = ["--queues", "observed"];

    let (inferred, _) = queues(taken, None, &observed, "web");
    let from_objects = "queues observed: 3 of 4 places inferred; 3 in activeQ, 0 in backoffQ, 1 in unschedulablePods";
    assert_eq!(inferred, from_objects);
    let (found, web) = queues(taken, Some(&part), &observed, "web");
    assert_eq!(found, "queues observed: 0 of 4 places inferred; 0 in activeQ, 1 in backoffQ, 3 in unschedulablePods");
    assert!(web.contains("popped from backoffQ early"), "{web}");
    let (_, big) = queues(taken, Some(&part), &observed, "big");
    assert!(big.contains("to activeQ (UnschedulableTimeout)"), "{big}");

    // A log that is named is used, unless the places are to be fresh.
    let fresh = "queues fresh: 4 pending pods are new to the scheduler";
    assert_eq!(queues(taken, Some(&part), &[], "web").0, found);
    assert_eq!(queues(taken, Some(&part), &["--queues", "fresh"], "web").0, fresh);
    assert_eq!(queues(taken, None, &[], "web").0, fresh);
    // At -v=4 moves leave no line: no place is certain.
    let quiet: String = part
        .split_inclusive('\n')
        .filter(|line| !["internal scheduling queue", "Checking events", "Event is not"].iter().any(|w| line.contains(w)))
        .collect();
    assert_eq!(queues(taken, Some(&quiet), &observed, "web").0, from_objects);
    // A log of another time says nothing about the places in the dump: one that ended over a minute before, one that began later.
    for other in ["2026-11-22T10:16:42Z", "2026-11-22T10:15:00Z"] {
        assert_eq!(queues(other, Some(&part), &observed, "web").0, from_objects, "{other}");
    }
    // A log that goes on past the dump shows the places at the time of the dump.
    assert_eq!(queues(taken, Some(story), &observed, "web").0, found);
}
