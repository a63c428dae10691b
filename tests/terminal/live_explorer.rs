//! The explorer and the commands on a live cluster, served by an API server in this process.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::{Command, Output};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use schedscope::app::{Explorer, FollowConfig};
use schedscope::cluster::{Key, Kind};
use schedscope::output::Headings;
use schedscope::release::{Emulation, FeatureGates, FoundVersion, ReleaseChoice, VersionSource};
use schedscope::scheduler::{Config, Evictions, InitialQueues, Options, Scheduler};
use schedscope::session::{Background, Cursor, PodLocation, Session};
use schedscope::source::live::{ConnectOptions, Live, Timing, connect};
use schedscope::source::{Story, load};
use schedscope::trace::Event;
use schedscope::ui::{Job, JobState, SessionHandle};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api_server::{ApiServer, Fault, PATIENCE};

fn story(name: &str) -> Vec<Value> {
    load(&[Story::named(name).unwrap().input()]).objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}

fn kubeconfig(server: &ApiServer) -> (TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    (folder, path)
}

struct Screen {
    explorer: Explorer,
    live: Arc<Live>,
    _folder: TempDir,
}

impl Screen {
    fn on(server: &ApiServer) -> Self {
        Self::with(server, Duration::from_millis(20), ReleaseChoice::default())
    }

    /// Follows a server; a requeued pod counts as tried after a time.
    fn with(server: &ApiServer, tried_by: Duration, release: ReleaseChoice) -> Self {
        let (folder, path) = kubeconfig(server);
        let timing = Timing {
            backoff: Duration::from_millis(1),
            max_backoff: Duration::from_millis(4),
            forbidden: Duration::from_millis(20),
            version: Duration::from_millis(20),
            ..Timing::default()
        };
        let options = ConnectOptions { kubeconfig: Some(path), timing, ..ConnectOptions::default() };
        let live = Arc::new(connect(&options).unwrap_or_else(|error| panic!("{error}")));
        let loaded = live.wait_first(Some(Instant::now() + PATIENCE)).expect("a first picture");
        let options = Options {
            start: jiff::Timestamp::now(),
            evictions: Evictions::AfterGracePeriod,
            queues: InitialQueues::AsObserved,
            events: loaded.events.clone(),
            unknown: loaded.report.missing(),
            release,
            ..Options::default()
        };
        let pace = FollowConfig { pause: Duration::ZERO, tried_by, ..FollowConfig::default() };
        let background = Background { events: loaded.events, ..Background::default() };
        let gates = FeatureGates::parse("", release.profile()).unwrap();
        let scheduler = Scheduler::new(Config::defaults(Emulation::new(release.profile(), gates)), loaded.objects, options);
        let session = Session::new(scheduler, "live test").with(background);
        Self {
            explorer: Explorer::new(session).with_reports(vec![Arc::new(loaded.report)]).following(Arc::clone(&live), pace),
            live,
            _folder: folder,
        }
    }

    /// Waits until there are changes to apply.
    fn until_updated(&self) {
        while !self.live.has_changes() {
            let updates = self.live.generation();
            assert!(self.live.has_changes() || self.live.wait_beyond(updates, Some(Instant::now() + PATIENCE)));
        }
    }

    /// Follows the cluster until a condition holds.
    fn until(&mut self, what: &str, holds: impl Fn(&Explorer) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let updates = self.live.generation();
            self.explorer.follow();
            if holds(&self.explorer) {
                return;
            }
            let again = self.explorer.live_status().and_then(|status| status.poll_after).map_or(deadline, |after| Instant::now() + after);
            let more = self.live.has_changes() || self.live.wait_beyond(updates, Some(deadline.min(again)));
            assert!(more || Instant::now() < deadline, "{what} did not come: {:?}", place(&self.explorer, "shop/payments"));
        }
    }
}

fn place(explorer: &Explorer, pod: &str) -> String {
    let (namespace, name) = pod.split_once('/').unwrap();
    let moment = explorer.timeline().keyframe();
    PodLocation::of(&moment.cluster, &moment.queues, &Key::new(namespace, name)).to_string()
}

fn pod(name: &str, message: Option<&str>) -> Value {
    let mut pod = json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-20T18:00:00Z"},
        "spec": {"schedulerName": "default-scheduler", "priority": 5, "containers": [{"name": "c", "resources": {"requests": {"cpu": "90"}}}]}});
    if let Some(message) = message {
        pod["status"] = json!({"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": message, "lastTransitionTime": "2026-11-20T18:00:01Z"}]});
    }
    pod
}

const FAILED: &str = "0/12 nodes are available: 12 Insufficient cpu.";

/// Returns the text of the live status, and whether it reports trouble.
fn following(explorer: &Explorer) -> Option<(String, bool)> {
    explorer.live_status().map(|status| (status.state.words(), status.state.is_trouble()))
}

#[test]
fn the_queues_follow_the_cluster_for_a_reader_at_its_end() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    assert_eq!(following(&screen.explorer), Some(("following".to_owned(), false)));
    server.put(pod("late", None));
    screen.until("the pod", |e| place(e, "shop/late") == "activeQ");
    let titles: Vec<&str> = screen.explorer.timeline().revisions().iter().map(|f| f.title.as_str()).collect();
    assert_eq!(titles, ["the cluster changed: 1 change"]);
    // Conditions of the cluster's scheduler set the pod's place from then on.
    server.put(pod("late", Some(FAILED)));
    screen.until("the condition", |e| place(e, "shop/late") == "unschedulablePods (NodeResourcesFit)");
    // An open decision is taken again.
    let late = Key::new("shop", "late");
    screen.explorer.explain(&late).unwrap();
    screen.explorer.timeline_mut().seek(Cursor { revision: usize::MAX, event: usize::MAX });
    let revisions = screen.explorer.timeline().revisions().len();
    server.delete("Node", "", "worker-a1");
    screen.until("the node to go", |e| e.timeline().revisions().len() > revisions);
    assert_eq!(screen.explorer.timeline().revisions().last().unwrap().title, "explain shop/late");
    assert_eq!(screen.explorer.timeline().keyframe().cluster.nodes.len(), 11);
    assert!(screen.explorer.timeline().at_end());
    // A pod with a node needs no decision.
    let mut bound = pod("late", None);
    bound["spec"]["nodeName"] = "worker-c3".into();
    server.put(bound);
    screen.until("the pod to be bound", |e| place(e, "shop/late") == "on worker-c3");
    assert_eq!(screen.explorer.timeline().revisions().last().unwrap().title, "the cluster changed: 1 change");
    server.delete("Pod", "shop", "late");
    screen.until("the pod to go", |e| place(e, "shop/late") == "gone");
}

/// The record stays bounded, and truncation never drops a pending pod.
#[test]
fn what_came_before_is_forgotten_and_no_pod_with_it() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    server.put(pod("late", None));
    screen.until("the pod", |e| place(e, "shop/late") == "activeQ");
    let waiting = screen.explorer.timeline().queues().entries.len();
    for number in 0..140 {
        let before = screen.explorer.timeline().revisions().len();
        let mut node =
            json!({"kind": "Node", "metadata": {"name": "other"}, "status": {"allocatable": {"cpu": "1", "memory": "1Gi", "pods": "1"}}});
        node["metadata"]["labels"] = json!({"number": number.to_string()});
        server.put(node);
        screen.until("the change", |e| e.timeline().revisions().len() != before);
    }
    assert!(screen.explorer.timeline().revisions().len() < 100, "{}", screen.explorer.timeline().revisions().len());
    assert_eq!(screen.explorer.timeline().queues().entries.len(), waiting);
    assert!(screen.explorer.save("/nowhere/x").unwrap_err().to_string().contains(":capture"));
    screen.explorer.restart(InitialQueues::AsObserved).unwrap();
    assert_eq!(screen.explorer.timeline().queues().entries.len(), waiting);
    assert_ne!(place(&screen.explorer, "shop/late"), "gone");
}

/// A decision from before a change of the cluster is taken again when it is opened.
#[test]
fn an_outdated_decision_is_not_shown_again() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    let payments = Key::new("shop", "payments");
    let mut state = schedscope::ui::first_state(screen.explorer.timeline(), (120, 40));
    assert!(schedscope::ui::show_pod(&mut state, &mut screen.explorer, &payments));
    assert!(schedscope::ui::show_pod(&mut state, &mut screen.explorer, &payments));
    assert_eq!(screen.explorer.timeline().revisions().len(), 1, "nothing has changed in between");
    screen.explorer.timeline_mut().seek(Cursor::default());
    server.put(pod("late", None));
    screen.until_updated();
    screen.explorer.catch_up().unwrap();
    assert!(schedscope::ui::show_pod(&mut state, &mut screen.explorer, &payments));
    assert!(screen.explorer.timeline().at_end());
    let titles: Vec<&str> = screen.explorer.timeline().revisions().iter().map(|f| f.title.as_str()).collect();
    assert_eq!(titles, ["explain shop/payments", "the cluster changed: 1 change", "explain shop/payments"]);
}

/// A moved pod without a new condition counts as tried in vain: a scheduler does not repeat a message.
#[test]
fn a_pod_that_is_moved_counts_as_tried_after_a_while() {
    let mut objects = story("payments");
    objects.push(pod("late", Some(FAILED)));
    let server = ApiServer::new(&objects);
    let mut screen = Screen::on(&server);
    assert_eq!(place(&screen.explorer, "shop/late"), "unschedulablePods (NodeResourcesFit)");
    let node =
        json!({"kind": "Node", "metadata": {"name": "huge"}, "status": {"allocatable": {"cpu": "99", "memory": "99Gi", "pods": "110"}}});
    server.put(node);
    screen.until("the pod to move and to count as tried", |e| {
        let revisions = e.timeline().revisions();
        let moved = revisions
            .iter()
            .any(|f| f.events.others().iter().any(|e| matches!(e, Event::QueueMoved(m) if m.pod == Key::new("shop", "late"))));
        moved && place(e, "shop/late") == "unschedulablePods (NodeResourcesFit)"
    });
}

#[test]
fn changes_wait_while_the_reader_steps_or_looks_back() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    assert!(screen.explorer.run_next());
    screen.explorer.timeline_mut().seek(Cursor { revision: usize::MAX, event: usize::MAX });
    assert_eq!(screen.explorer.current(), 1, "what is done goes onto a branch");
    server.put(pod("late", None));
    screen.until_updated();
    assert!(!screen.explorer.follow());
    assert_eq!(place(&screen.explorer, "shop/late"), "gone");
    assert_eq!(following(&screen.explorer), Some(("cluster changed, press R".to_owned(), false)));
    let caught_up = screen.explorer.catch_up().unwrap();
    assert!(caught_up.changed && !caught_up.dropped);
    assert_eq!((place(&screen.explorer, "shop/late").as_str(), screen.explorer.current()), ("activeQ", 0));
    assert_eq!(screen.explorer.branches().len(), 2, "what was done stays");
    assert_eq!(following(&screen.explorer), Some(("following".to_owned(), false)));
}

#[test]
fn trouble_shows_and_passes() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    server.set_down(true);
    screen.until("trouble", |e| following(e).is_some_and(|(words, wrong)| wrong && words == "disconnected"));
    assert!(screen.explorer.report_lines().iter().any(|line| line.contains("disconnected since")), "{:?}", screen.explorer.report_lines());
    server.put(pod("late", None));
    server.set_down(false);
    screen.until("the pod", |e| place(e, "shop/late") == "activeQ");
    screen.until("all to be well", |e| following(e) == Some(("following".to_owned(), false)));
}

/// An event of the reason that kube-scheduler uses, by a component.
fn failed_scheduling(name: &str, pod: &str, component: &str) -> Value {
    json!({"kind": "Event", "metadata": {"name": name, "namespace": "shop", "creationTimestamp": "2026-11-20T18:00:05Z"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": pod, "uid": pod}, "reason": "FailedScheduling",
        "message": if component == "karpenter" { "Failed to schedule pod, incompatible requirements" } else { FAILED },
        "source": {"component": component}, "reportingComponent": component, "count": 1, "type": "Warning",
        "firstTimestamp": "2026-11-20T18:00:05Z", "lastTimestamp": "2026-11-20T18:00:05Z"})
}

#[test]
fn only_events_of_its_own_scheduler_say_that_a_pod_was_tried() {
    let mut objects = story("payments");
    objects.push(pod("late", Some(FAILED)));
    let server = ApiServer::new(&objects);
    let mut screen = Screen::with(&server, Duration::from_secs(3600), ReleaseChoice::default());
    server.put(json!({"kind": "Node", "metadata": {"name": "huge"},
        "status": {"allocatable": {"cpu": "99", "memory": "99Gi", "pods": "110"}}}));
    let is_parked = |e: &Explorer| place(e, "shop/late").starts_with("unschedulablePods");
    screen.until("the pod to move", |e| !is_parked(e));
    server.put(failed_scheduling("other", "late", "karpenter"));
    server.put(failed_scheduling("autoscaler", "late", "cluster-autoscaler"));
    server.put(pod("marker", None));
    screen.until("the marker", |e| place(e, "shop/marker") == "activeQ");
    assert!(!is_parked(&screen.explorer), "{}", place(&screen.explorer, "shop/late"));
    let written = screen.explorer.written(&Key::new("shop", "late")).unwrap();
    assert_eq!(written.message, FAILED);
    server.put(failed_scheduling("own", "late", "default-scheduler"));
    screen.until("the pod to be parked", is_parked);
}

fn emulated(explorer: &Explorer) -> String {
    explorer.emulated().label()
}

#[test]
fn an_upgrade_of_the_server_changes_the_release_unless_it_is_pinned() {
    let choice = |version: &str, source| {
        let found = FoundVersion { release: version.parse().unwrap(), source };
        ReleaseChoice { wanted: Some(found), cluster: Some(found) }
    };
    let server = ApiServer::new(&story("payments"));
    server.world().git_version = "v1.31.14".to_owned();
    let mut screen = Screen::with(&server, Duration::from_secs(3600), choice("v1.31.14", VersionSource::Server));
    let mut pinned = Screen::with(&server, Duration::from_secs(3600), choice("v1.31.14", VersionSource::Flag));
    assert_eq!(emulated(&screen.explorer), "v1.31.14 (server)");
    server.world().git_version = "v1.33.2".to_owned();
    screen.until("the release", |e| emulated(e) == "v1.33.2 (server)");
    let revisions = screen.explorer.timeline().revisions();
    assert_eq!(revisions.last().unwrap().title, "release v1.33.2");
    assert!(screen.explorer.timeline().at_end() && screen.explorer.branches().len() == 1);
    assert!(screen.explorer.report_lines()[0].contains("API server v1.33.2"), "{:?}", screen.explorer.report_lines());
    // A pod is decided by the new release, and changes go on.
    server.put(pod("late", None));
    screen.until("the pod", |e| place(e, "shop/late") == "activeQ");
    pinned.until("the pod", |e| place(e, "shop/late") == "activeQ");
    pinned.until("the version", |e| e.report_lines()[0].contains("API server v1.33.2"));
    assert_eq!(emulated(&pinned.explorer), "v1.31.14 (--emulate)");
}

#[test]
fn refused_credentials_are_said_and_are_no_sign_of_life() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    for (code, expected) in [(401, "credentials refused (401): log in again"), (403, "may read nothing (403)")] {
        server.fault("/api/v1/", usize::MAX / 4, Fault::Status(code, None));
        server.fault("/apis/", usize::MAX / 4, Fault::Status(code, None));
        server.end_watches();
        screen.until("the refusal", |e| following(e) == Some((expected.to_owned(), true)));
        let advice = screen.explorer.report_lines()[1].clone();
        assert!(advice.contains(&format!("({code})")), "{advice}");
        // Further refusals do not count as heard.
        let requests = server.world().requests.len();
        let silent_for = screen.explorer.live_status().unwrap().silent_for;
        server.wait_until("further requests", |world| world.requests.len() > requests + 20);
        assert!(screen.explorer.live_status().unwrap().silent_for > silent_for);
        server.forgive();
        screen.until("all to be well", |e| following(e) == Some(("following".to_owned(), false)));
    }
}

#[test]
fn an_object_that_turns_unreadable_is_said() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    let mut broken = pod("late", None);
    broken["spec"]["priority"] = "many".into();
    server.put(broken);
    screen.until("the pod", |e| following(e) == Some(("1 of the pods cannot be read".to_owned(), true)));
    let lines = screen.explorer.report_lines();
    assert!(lines.iter().any(|line| line.starts_with("  pods: ") && line.ends_with("; 1 cannot be read")), "{lines:?}");
    screen.until("the cluster to be known in part", |e| e.timeline().keyframe().cluster.unknown.decides_on_part());
    server.put(pod("late", None));
    screen.until("all to be well", |e| following(e) == Some(("following".to_owned(), false)));
    assert!(!screen.explorer.timeline().keyframe().cluster.unknown.decides_on_part());
}

#[test]
fn a_pod_is_asked_for_once_for_its_fixes() {
    let server = ApiServer::new(&story("payments"));
    let mut screen = Screen::on(&server);
    let payments = Key::new("shop", "payments");
    let job = screen.explorer.start_job(Job::Fixes(payments.clone())).unwrap();
    let deadline = Instant::now() + PATIENCE;
    while !matches!(job.state(), JobState::Done(_)) {
        assert!(Instant::now() < deadline);
        std::thread::yield_now();
    }
    let asked = |world: &[String]| world.iter().filter(|request| request.ends_with("/namespaces/shop/pods/payments")).count();
    assert_eq!(asked(&server.world().requests), 1, "{:#?}", server.world().requests);
}

#[test]
fn budgets_that_may_be_read_later_are_unknown_until_then() {
    let server = ApiServer::new(&story("payments"));
    server.fault("poddisruptionbudgets", usize::MAX, Fault::Status(403, None));
    let mut screen = Screen::on(&server);
    assert!(screen.explorer.timeline().keyframe().cluster.unknown.budgets);
    assert!(screen.explorer.report_lines().iter().any(|l| l.contains("poddisruptionbudgets: may not be read")));
    server.forgive();
    screen.until("the budgets", |e| !e.timeline().keyframe().cluster.unknown.budgets);
    assert_eq!(screen.explorer.timeline().keyframe().cluster.count(Kind::PodDisruptionBudget), 3);
}

#[test]
fn an_object_is_asked_of_the_server() {
    let mut objects = story("payments");
    let mut late = pod("late", None);
    late["spec"]["containers"][0]["env"] = json!([{"name": "A", "value": "b"}]);
    objects.push(late);
    let server = ApiServer::new(&objects);
    let mut screen = Screen::on(&server);
    let job = screen.explorer.start_job(Job::Object(Kind::Pod, Key::new("shop", "late"))).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let document = loop {
        match job.state() {
            JobState::Done(document) => break document,
            JobState::Going(..) if Instant::now() < deadline => std::thread::yield_now(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(document.title, "Pod shop/late: as the cluster has it now");
    let lines = document.body.plain(Headings::Colon).into_vec();
    assert!(lines.iter().any(|l| l.contains("env:")), "{lines:?}");
}

/// Runs the program on a server.
fn program(server: &ApiServer, arguments: &[&str]) -> Output {
    let (_folder, path) = kubeconfig(server);
    Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).env("KUBECONFIG", path).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn commands_read_a_live_cluster_where_no_other_source_is_named() {
    let server = ApiServer::new(&story("aftermath"));
    let all = program(&server, &["explain", "-A", "--pending"]);
    // Not all of them fit.
    assert_eq!(all.status.code(), Some(1), "{}", stderr(&all));
    assert!(stdout(&all).starts_with("14 pending pods. "), "{}", stdout(&all));
    let one = program(&server, &["explain", "--live", "too-big", "-n", "batch"]);
    assert_eq!(one.status.code(), Some(1), "{}", stderr(&one));
    assert!(stdout(&one).contains("THE CLUSTER'S SCHEDULER\n  Agrees with"), "{}", stdout(&one));
    let none = program(&server, &["explain", "too-big", "--context", "nowhere"]);
    assert_eq!(none.status.code(), Some(3));
    assert_eq!(stderr(&none), "schedscope: there is no context \"nowhere\" in the kubeconfig; it has test\n");
    let both = program(&server, &["explain", "too-big", "--context", "test", "--demo", "payments"]);
    assert_eq!(both.status.code(), Some(2), "{}", stderr(&both));
    let requests = server.world().requests.clone();
    assert!(requests.iter().all(|r| r.starts_with("GET ")) && !requests.iter().any(|r| r.contains("secrets") || r.contains("configmaps")));
}

#[test]
fn a_watch_prints_what_happens_to_a_live_cluster_until_ctrl_c() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let node = json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "w1"},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}});
    let pod = |name: &str, cpu: &str, node: &str| {
        json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": {"app": "web"}},
            "spec": {"nodeName": node, "schedulerName": "default-scheduler",
                "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
            "status": {"phase": if node.is_empty() { "Pending" } else { "Running" }}})
    };
    let budget = |healthy: u32| {
        json!({"kind": "PodDisruptionBudget", "apiVersion": "policy/v1", "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
            "status": {"currentHealthy": healthy, "desiredHealthy": 1, "disruptionsAllowed": 0, "expectedPods": 1}})
    };
    let server = ApiServer::new(&[node, pod("old", "1", "w1"), budget(1)]);
    let (_folder, path) = kubeconfig(&server);
    crate::interrupts::let_children_be_interrupted();
    let watch = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
        command.args(["explain", "--pending", "--watch", "-n", "shop"]).args(more).env("KUBECONFIG", &path);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut child = watch(&[]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // Each line begins with its time.
    let mut next = || lines.next().unwrap().unwrap().split_once(' ').unwrap().1.to_owned();
    assert_eq!(next(), "watching: pending pods: 0, violated budgets: 0");
    server.put(pod("web", "2", ""));
    assert_eq!(next(), "pending shop/web: Fits on w1, the only node.");
    server.put(pod("large", "40", ""));
    let large = next();
    assert!(large.starts_with("pending shop/large: ") && large.contains("cpu"), "{large}");
    server.put(pod("web", "2", "w1"));
    assert_eq!(next(), "pending no more shop/web: bound to w1");
    server.put(budget(0));
    assert_eq!(next(), "budget violated shop/web: 0 healthy of 1 that must be");
    server.put(budget(1));
    assert_eq!(next(), "budget met again shop/web");
    server.delete("Pod", "shop", "large");
    assert_eq!(next(), "pending no more shop/large: deleted, or ended");
    // A connection that breaks and comes back loses nothing.
    server.set_down(true);
    server.put(pod("late", "1", ""));
    server.set_down(false);
    assert_eq!(next(), "pending shop/late: Fits on w1, the only node.");
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    assert_eq!(child.wait().unwrap().code(), Some(0));

    let mut child = watch(&["-o", "json"]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&first["event"], &first["pending"]), (&json!("started"), &json!(1)), "{first}");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let none = program(&server, &["explain", "--pending", "--watch", "-n", "shp"]);
    assert_eq!(none.status.code(), Some(2), "{}", stderr(&none));
    assert!(stderr(&none).contains("did you mean shop?"), "{}", stderr(&none));
}

/// Returns a text with empty quotation marks.
fn without_quoted(text: &str) -> String {
    text.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

#[test]
fn a_capture_decides_as_the_cluster_does() {
    let server = ApiServer::new(&story("aftermath"));
    let folder = tempfile::tempdir().unwrap();
    for redact in [false, true] {
        let file = folder.path().join(if redact { "redacted.json.gz" } else { "dump.json.gz" });
        let path = file.to_str().unwrap();
        let mut arguments = vec!["capture", path];
        arguments.extend(redact.then_some("--redact"));
        let captured = program(&server, &arguments);
        assert_eq!(captured.status.code(), Some(0), "{}", stderr(&captured));
        let outcomes = |output: &Output| -> Vec<(String, Value)> {
            let value: Value = serde_json::from_slice(&output.stdout).unwrap();
            let mut all: Vec<_> =
                value["pods"].as_array().unwrap().iter().map(|p| (p["accord"].to_string(), p["message"].clone())).collect();
            all.sort_by_key(|(a, m)| (a.clone(), m.to_string()));
            all
        };
        let again = program(&server, &["explain", "-A", "--pending", "-o", "json", "--from", path]);
        let live = program(&server, &["explain", "-A", "--pending", "-o", "json"]);
        // Messages contain no replaced names but those of missing claims.
        let plain = |output: &Output| {
            let mut all = outcomes(output);
            for (_, message) in &mut all {
                *message = without_quoted(message.as_str().unwrap_or_default()).into();
            }
            all.sort_by_key(|(a, m)| (a.clone(), m.to_string()));
            all
        };
        assert_eq!(plain(&again), plain(&live));
        if !redact {
            assert_eq!(outcomes(&again), outcomes(&live));
        }
        let over = program(&server, &arguments);
        assert_eq!(over.status.code(), Some(3));
        assert!(stderr(&over).contains("already exists; it is not overwritten"), "{}", stderr(&over));
    }
}

/// `kubectl-schedscope` on the PATH becomes `kubectl schedscope`.
#[test]
fn the_program_is_a_plugin_of_kubectl() {
    let server = ApiServer::new(&story("aftermath"));
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("kubectl-schedscope");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_schedscope"), &plugin).unwrap();
    let (_config, path) = kubeconfig(&server);
    let run = |arguments: &[&str]| Command::new(&plugin).args(arguments).env("KUBECONFIG", &path).output().unwrap();
    assert!(stdout(&run(&["explain", "-A", "--pending"])).starts_with("14 pending pods. "));
    // Without a terminal the explorer does not start; the error proves that it was meant.
    let live = run(&["--context", "test"]);
    assert!(stderr(&live).contains("terminal"), "{}", stderr(&live));
    assert!(stdout(&run(&["--version"])).starts_with("schedscope "));
}
