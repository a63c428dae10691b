//! The log of a live cluster's scheduler: read only on request, followed, resumed after a break, and every failure named.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use schedscope::cluster::Key;
use schedscope::scheduler_log::Outcome;
use schedscope::source::live::{ConnectOptions, Live, LogState, Timing, connect};
use schedscope::source::{Story, load};
use serde_json::{Value, json};

use crate::api_server::{ApiServer, Fault, PATIENCE};

const POD: &str = "kube-system/kube-scheduler-cp-1";
const ALWAYS: usize = usize::MAX / 2;

fn scheduler(name: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {"nodeName": "worker-a1", "priority": 0, "containers": [{"name": "kube-scheduler", "image": "kube-scheduler:v1.36.2"}]}})
}

fn server() -> ApiServer {
    let objects = load(&[Story::named("payments").unwrap().input()]).objects;
    let mut objects: Vec<Value> = objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect();
    objects.push(scheduler("kube-scheduler-cp-1"));
    ApiServer::new(&objects)
}

/// Returns lines of the scheduler, as the server gives them: one each second from `from` on, with the time before them.
fn lines(from: u32, messages: &[&str]) -> String {
    let line = |(n, text): (u32, &&str)| {
        let is_value = text.starts_with(['\t', ' ']);
        let head = if is_value { String::new() } else { format!("I1121 01:00:{n:02}.250000       1 a.go:1] ") };
        format!("2026-11-21T01:00:{n:02}.250000000Z {head}{text}\n")
    };
    (from..).zip(messages).map(line).collect()
}

const FIRST: &[&str] = &[
    r#""Starting Kubernetes Scheduler" version="v1.36.2""#,
    r#""Using component config" config=<"#,
    "\tapiVersion: kubescheduler.config.k8s.io/v1",
    "\tkind: KubeSchedulerConfiguration",
    "\tpodInitialBackoffSeconds: 1",
    "\tpodMaxBackoffSeconds: 10",
    " >",
    r#""Add event for unscheduled pod" pod="shop/payments""#,
    r#""Pod moved to an internal scheduling queue" pod="shop/payments" event="UnschedulablePodAdd" queue="Active""#,
    r#""Attempting to schedule pod" pod="shop/payments""#,
];
const SECOND: &[&str] = &[
    r#""Unable to schedule pod; no fit; waiting" pod="shop/payments" err="0/12 nodes are available: 12 Insufficient cpu.""#,
    r#""Pod moved to an internal scheduling queue" pod="shop/payments" event="ScheduleAttemptFailure" queue="Unschedulable" schedulingCycle=1 hint=0 unschedulable plugins={"NodeResourcesFit":{}}"#,
];

fn connected(server: &ApiServer, asked: bool) -> (Live, tempfile::TempDir) {
    connected_with(server, asked, |_| {})
}

fn connected_with(server: &ApiServer, asked: bool, adapt: impl FnOnce(&mut ConnectOptions)) -> (Live, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    let timing = Timing {
        backoff: Duration::from_millis(1),
        max_backoff: Duration::from_millis(4),
        forbidden: Duration::from_millis(20),
        ..Timing::default()
    };
    let mut options = ConnectOptions { kubeconfig: Some(path), timing, scheduler_log: asked, ..ConnectOptions::default() };
    adapt(&mut options);
    let live = connect(&options).unwrap_or_else(|error| panic!("{error}"));
    live.wait_first(Some(Instant::now() + PATIENCE)).expect("a first picture");
    (live, folder)
}

fn key() -> Key {
    Key::new("kube-system", "kube-scheduler-cp-1")
}

/// Waits until a condition on the live cluster holds.
fn until(live: &Live, what: &str, holds: impl Fn(&Live) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let updates = live.generation();
        if holds(live) {
            return;
        }
        assert!(live.wait_beyond(updates, Some(deadline)), "{what} did not come: {:?}", live.logs());
    }
}

fn asked_for_logs(server: &ApiServer) -> Vec<String> {
    server.world().requests.iter().filter(|request| request.contains("/log")).cloned().collect()
}

#[test]
fn a_log_is_not_asked_for_unless_that_was_wanted() {
    let server = server();
    server.log(POD, &lines(0, FIRST));
    let (live, _folder) = connected(&server, false);
    live.read_log(&key(), true);
    assert!(live.wait_logs(None) && live.logs().is_empty());
    assert_eq!(live.log_generation(), 0);
    drop(live);
    assert_eq!(asked_for_logs(&server), Vec::<String>::new());
}

#[test]
fn a_log_is_followed_and_resumed_after_a_break_without_repeating_a_line() {
    let server = server();
    server.log(POD, &lines(0, FIRST));
    // The first answer that is followed breaks off within a line.
    server.fault("follow=true", 1, Fault::Cut(30));
    let (live, _folder) = connected(&server, true);
    live.read_log(&key(), true);
    live.read_log(&key(), true);
    assert!(live.wait_logs(Some(Instant::now() + PATIENCE)));
    let ended = |live: &Live, number: usize| {
        live.with_log(|log| log.attempts.iter().filter(|a| a.outcome != Outcome::Unfinished).count() == number)
    };
    assert!(ended(&live, 0));
    server.log(POD, &lines(20, &SECOND[..1]));
    until(&live, "the end of the attempt", |live| ended(live, 1));
    server.end_watches();
    server.log(POD, &lines(20, &SECOND[1..]));
    until(&live, "the requeue", |live| live.with_log(|log| log.attempts[0].requeued.is_some()));
    live.with_log(|log| {
        assert_eq!((log.attempts.len(), log.processes.len(), log.findings.len()), (1, 1, 0), "{:?}", log.findings);
        // Values over several lines came whole, and no line came twice.
        assert!(log.processes[0].configuration.as_ref().unwrap().contains("podMaxBackoffSeconds: 10"));
        assert_eq!(log.changes.len(), 5, "{:?}", log.changes);
    });
    let requests = asked_for_logs(&server);
    assert!(requests.iter().all(|request| {
        request.starts_with("GET /api/v1/namespaces/kube-system/pods/kube-scheduler-cp-1/log?container=kube-scheduler&timestamps=true")
    }));
    assert!(requests.iter().skip(1).all(|request| request.contains("&sinceTime=2026-11-21T01:00:")), "{requests:?}");
}

#[test]
fn every_failure_has_a_state_and_passes() {
    for (fault, expected) in [
        (Fault::Status(403, None), "no permission to read it (403 Forbidden: scripted); it needs \"get\" on \"pods/log\""),
        (Fault::Status(404, None), "there is no log (404 Not Found: scripted)"),
        (Fault::Status(400, None), "there is no log (400 Bad Request: scripted)"),
        (Fault::Status(500, None), "it could not be read (500 Internal Server Error: scripted)"),
        (
            Fault::Html,
            "it could not be read (the answer is text/html; charset=utf-8, not plain text; is there a proxy or a login page in between?",
        ),
    ] {
        let server = server();
        server.log(POD, &lines(0, FIRST));
        server.fault("/log?", ALWAYS, fault.clone());
        let (live, _folder) = connected(&server, true);
        live.read_log(&key(), true);
        assert!(live.wait_logs(Some(Instant::now() + PATIENCE)));
        let trouble = live.logs()[0].state.trouble().unwrap_or_default();
        assert!(trouble.starts_with(expected), "{fault:?}: {trouble}");
        server.forgive();
        until(&live, "the log", |live| live.logs()[0].state == LogState::Read && live.with_log(|log| log.attempts.len() == 1));
    }
}

fn program(server: &ApiServer, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, server.kubeconfig()).unwrap();
    Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).env("KUBECONFIG", config).output().unwrap()
}

#[test]
fn commands_say_why_there_is_no_log_and_exit_with_3() {
    let said = |output: &Output| (output.status.code(), String::from_utf8_lossy(&output.stderr).trim_end().to_owned());
    let arguments = ["explain", "too-big", "-n", "batch", "--scheduler-log", "live", "--config-from-log"];
    let refusing = server();
    refusing.log(POD, &lines(0, FIRST));
    refusing.fault("/log?", ALWAYS, Fault::Status(403, None));
    let screen = tempfile::tempdir().unwrap();
    let path = screen.path().join("screen.txt").display().to_string();
    let refused = "schedscope: --scheduler-log live: log of kube-system/kube-scheduler-cp-1: no permission to read it (403 Forbidden: scripted); \
                   it needs \"get\" on \"pods/log\"";
    for arguments in [&arguments[..], &["run", "--scheduler-log", "live"], &["live", "--scheduler-log", "live", "--print", &path]] {
        assert_eq!(said(&program(&refusing, arguments)), (Some(3), refused.to_owned()), "{arguments:?}");
    }
    // Nothing but the log is missing, so without it the answer comes.
    assert_eq!(program(&refusing, &["explain", "too-big", "-n", "batch"]).status.code(), Some(1));

    let other = server();
    other.log(POD, "2026-11-21T01:00:00Z hello\n");
    let none = "schedscope: --scheduler-log live: no line of kube-scheduler in the log of kube-system/kube-scheduler-cp-1";
    assert_eq!(said(&program(&other, &arguments)), (Some(3), none.to_owned()));
    other.delete("Pod", "kube-system", "kube-scheduler-cp-1");
    let managed = "schedscope: --scheduler-log live: no visible pod runs kube-scheduler; managed control planes hide it";
    assert_eq!(said(&program(&other, &arguments)), (Some(3), managed.to_owned()));
    assert_eq!(asked_for_logs(&other).len(), 1);

    for arguments in [
        &["explain", "too-big", "-n", "batch", "--scheduler-log", "live", "--demo", "payments"][..],
        &["run", "--scheduler-log", "live", "--scheduler-log", "x"],
        &["demo", "--scheduler-log", "live", "--print", &path],
        &["live", "--scheduler-log", "x", "--print", &path],
        &["live", "--config-from-log", "--print", &path],
    ] {
        assert_eq!(program(&other, arguments).status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn one_replica_that_may_be_read_is_enough_and_its_configuration_is_taken() {
    let server = server();
    server.put(scheduler("kube-scheduler-cp-2"));
    server.log(POD, &lines(0, FIRST));
    let output = program(&server, &["explain", "too-big", "-n", "batch", "--scheduler-log", "live", "--config-from-log"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("log of kube-system/kube-scheduler-cp-2: there is no log (404 Not Found: "), "{stderr}");
    // A configuration without profiles is not refused; a broken one would be.
    server
        .log(POD, &lines(30, &[r#""Starting Kubernetes Scheduler" version="v1.36.2""#, r#""Using component config" config="kind: Pod""#]));
    let output = program(&server, &["explain", "too-big", "-n", "batch", "--scheduler-log", "live", "--config-from-log"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_log_that_hangs_is_waited_for_up_to_a_limit() {
    let server = server();
    server.fault("/log", ALWAYS, Fault::Silence);
    let (live, _folder) = connected(&server, true);
    live.read_log(&key(), false);
    assert!(!live.wait_logs(Some(Instant::now() + Duration::from_millis(50))));
    assert_eq!(live.logs()[0].state, LogState::Reading);
}

#[test]
fn a_log_without_end_is_given_up() {
    let server = server();
    server.log(POD, &lines(0, FIRST));
    let (live, _folder) = connected_with(&server, true, |options| options.bounds.log = 50);
    live.read_log(&key(), false);
    assert!(live.wait_logs(Some(Instant::now() + PATIENCE)));
    assert_eq!(live.logs()[0].state, LogState::Failed("the log is longer than 50 bytes".to_owned()));
}

#[test]
fn a_followed_log_that_is_silent_is_asked_for_again() {
    let server = server();
    server.log(POD, &lines(0, FIRST));
    let (live, _folder) = connected_with(&server, true, |options| options.timing.log_silence = Duration::from_millis(50));
    live.read_log(&key(), true);
    server.wait_until("the log again", |world| world.requests.iter().filter(|request| request.contains("follow=true")).count() >= 3);
    assert_eq!(live.logs()[0].state, LogState::Read);
}
