//! The explorer on a live cluster whose scheduler's log is followed: the queues are those of the log.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use schedscope::app::{Explorer, FollowConfig};
use schedscope::cluster::Key;
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Evictions, InitialQueues, Options, Scheduler};
use schedscope::session::{Background, PodLocation, Session};
use schedscope::source::live::{ConnectOptions, Live, Timing, connect};
use schedscope::source::{Story, load};
use schedscope::ui::SessionHandle;
use serde_json::{Value, json};

use crate::api_server::{ApiServer, PATIENCE};

const POD: &str = "kube-system/kube-scheduler-cp-1";

fn line(second: u32, text: &str) -> String {
    format!("2026-11-21T01:00:{second:02}.250000000Z I1121 01:00:{second:02}.250000       1 a.go:1] {text}\n")
}

fn moved(pod: &str, event: &str, queue: &str) -> String {
    format!(r#""Pod moved to an internal scheduling queue" pod="{pod}" event="{event}" queue="{queue}""#)
}

/// Returns where the explorer shows a pod, and whether that is an inference.
fn place(explorer: &Explorer, pod: &str) -> (String, bool) {
    let (namespace, name) = pod.split_once('/').unwrap();
    let (moment, key) = (explorer.timeline().keyframe(), Key::new(namespace, name));
    let inferred = moment.queues.entries.get(&key).is_some_and(|entry| entry.inferred.is_some());
    (PodLocation::of(&moment.cluster, &moment.queues, &key).to_string(), inferred)
}

fn until(explorer: &mut Explorer, live: &Live, what: &str, holds: impl Fn(&Explorer) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let updates = live.generation();
        explorer.follow();
        if holds(explorer) {
            return;
        }
        let again = deadline.min(Instant::now() + Duration::from_millis(50));
        let waits = live.wait_beyond(updates, Some(again)) || Instant::now() < deadline;
        assert!(waits, "{what} did not come: {:?} {:#?}", place(explorer, "ml/gpu-hungry"), explorer.report_lines());
    }
}

#[test]
fn the_queues_are_those_of_the_log_and_each_attempt_is_on_the_timeline() {
    let objects = load(&[Story::named("payments").unwrap().input()]).objects;
    let mut objects: Vec<Value> = objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect();
    objects.push(json!({"kind": "Pod", "metadata": {"name": "kube-scheduler-cp-1", "namespace": "kube-system"},
        "spec": {"nodeName": "worker-a1", "priority": 0, "containers": [{"name": "kube-scheduler"}]}}));
    let server = ApiServer::new(&objects);
    let pod = "ml/gpu-hungry";
    server.log(POD, &line(0, r#""Starting Kubernetes Scheduler" version="v1.36.2""#));
    server.log(POD, &line(1, &moved(pod, "UnschedulablePodAdd", "Active")));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    let timing = Timing { backoff: Duration::from_millis(1), max_backoff: Duration::from_millis(4), ..Timing::default() };
    let options = ConnectOptions { kubeconfig: Some(path), timing, scheduler_log: true, ..ConnectOptions::default() };
    let live = Arc::new(connect(&options).unwrap_or_else(|error| panic!("{error}")));
    let loaded = live.wait_first(Some(Instant::now() + PATIENCE)).expect("a first picture");
    live.read_log(&Key::new("kube-system", "kube-scheduler-cp-1"), true);
    assert!(live.wait_logs(Some(Instant::now() + PATIENCE)));
    let options = Options {
        start: jiff::Timestamp::now(),
        evictions: Evictions::AfterGracePeriod,
        queues: InitialQueues::AsObserved,
        events: loaded.events.clone(),
        unknown: loaded.report.missing(),
        ..Options::default()
    };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options);
    let session = Session::new(scheduler, "live test").with(Background { events: loaded.events, ..Background::default() });
    let pace = FollowConfig { pause: Duration::ZERO, tried_by: Duration::from_millis(20), ..FollowConfig::default() };
    let known = live.with_log(Clone::clone);
    let mut explorer = Explorer::new(session).following(Arc::clone(&live), pace).following_log(&known);
    assert!(place(&explorer, pod).1, "no object says where it is");

    until(&mut explorer, &live, "the place in the log", |e| place(e, pod) == ("activeQ".to_owned(), false));
    assert!(place(&explorer, "batch/too-big").1, "the log says nothing of it");

    let plugins = r#"schedulingCycle=1 hint=0 unschedulable plugins={"NodeResourcesFit":{}}"#;
    let unfit =
        format!(r#""Unable to schedule pod; no fit; waiting" pod="{pod}" err="0/12 nodes are available: 12 Insufficient nvidia.com/gpu.""#);
    server.log(POD, &line(2, &format!(r#""Attempting to schedule pod" pod="{pod}""#)));
    server.log(POD, &line(3, &unfit));
    server.log(POD, &line(3, &format!("{} {plugins}", moved(pod, "ScheduleAttemptFailure", "Unschedulable"))));
    until(&mut explorer, &live, "the pod to be parked", |e| place(e, pod) == ("unschedulablePods (NodeResourcesFit)".to_owned(), false));
    let titles: Vec<&str> = explorer.timeline().revisions().iter().map(|revision| revision.title.as_str()).collect();
    assert!(titles.iter().any(|title| title.ends_with("the cluster's scheduler: ml/gpu-hungry fits no node")), "{titles:?}");
    // The decision on the same objects is shown beside it.
    let revision = explorer.timeline().revisions().iter().find(|revision| revision.title.ends_with("fits no node")).unwrap();
    let found: Vec<String> = revision.events.iter().map(|event| event.sentence()).collect();
    assert!(found.iter().any(|sentence| sentence.contains("schedscope, on the cluster's current state: ")), "{found:?}");

    // A node that would help moves it by our rules; the log has the last word.
    server.put(json!({"kind": "Node", "metadata": {"name": "huge"},
        "status": {"allocatable": {"cpu": "99", "memory": "99Gi", "pods": "110", "nvidia.com/gpu": "64"}}}));
    until(&mut explorer, &live, "the node", |e| e.timeline().keyframe().cluster.nodes.len() == 13);
    assert_eq!(place(&explorer, pod), ("unschedulablePods (NodeResourcesFit)".to_owned(), false));
    server.log(POD, &line(4, &moved(pod, "NodeAdd", "Backoff")));
    until(&mut explorer, &live, "the move", |e| place(e, pod).0.starts_with("backoffQ") && !place(e, pod).1);
    let lines = explorer.report_lines();
    assert!(lines.iter().any(|line| line == "  log of kube-system/kube-scheduler-cp-1: followed"), "{lines:?}");
}
