//! A live cluster, served by an API server in this process: the objects read equal those of the server after any fault,
//! and nothing is ever written.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use schedscope::cluster::{Cluster, Key, Kind, Object};
use schedscope::source::live::{Change, ConnectError, ConnectOptions, KindStatus, Live, State, Subject, Timing, connect};
use schedscope::source::{Loaded, STORIES, Severity, load};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api_server::{ApiServer, Fault, PATIENCE, World};

/// Short waits, and long ones only where a test expects none.
pub(crate) fn timing() -> Timing {
    Timing {
        backoff: Duration::from_millis(1),
        max_backoff: Duration::from_millis(4),
        second: Duration::from_millis(10),
        forbidden: Duration::from_millis(20),
        absent: Duration::from_millis(20),
        ..Timing::default()
    }
}

pub(crate) fn options(server: &ApiServer, folder: &TempDir) -> ConnectOptions {
    let path = folder.path().join("config");
    std::fs::write(&path, server.kubeconfig()).unwrap();
    ConnectOptions { kubeconfig: Some(path), timing: timing(), page: 3, ..ConnectOptions::default() }
}

/// The objects of the first story.
fn story() -> Vec<Value> {
    load(&[STORIES[0].input()]).objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect()
}

fn pod(name: &str, node: &str) -> Value {
    json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop"}, "spec": {"nodeName": node, "priority": 0, "containers": [{"name": "c"}]}})
}

/// A cluster from its consumer's view.
struct Follower {
    live: Live,
    first: Loaded,
    cluster: Cluster,
    /// All changes so far.
    changes: Vec<Change>,
    /// Keeps the kubeconfig on disk.
    _folder: TempDir,
}

fn follow(server: &ApiServer, adapt: impl FnOnce(&mut ConnectOptions)) -> Follower {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(server, &folder);
    adapt(&mut options);
    let live = connect(&options).unwrap_or_else(|error| panic!("{error}"));
    let deadline = Instant::now() + PATIENCE;
    let first = live.wait_first(Some(deadline)).unwrap_or_else(|| panic!("no first picture: {:#?}", live.status()));
    Follower { cluster: first.cluster(), first, live, changes: Vec::new(), _folder: folder }
}

impl Follower {
    /// Applies changes until a condition holds.
    fn until(&mut self, what: &str, holds: impl Fn(&Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let updates = self.live.generation();
            for change in self.live.take(7) {
                match &change {
                    Change::Put(object) => drop(self.cluster.insert(object.clone())),
                    Change::Gone(object) => drop(self.cluster.remove(object.kind(), &object.key())),
                    Change::Event(_) | Change::Listed(_) | Change::Unreadable(..) => {}
                }
                self.changes.push(change);
            }
            if holds(self) {
                return;
            }
            let more = self.live.has_changes() || self.live.wait_beyond(updates, Some(deadline));
            assert!(more, "{what} did not come; {:#?}\n{:?}", self.live.status(), self.changes);
        }
    }

    /// Follows until the objects equal a fresh list, and asserts that they do.
    fn until_fresh(&mut self, server: &ApiServer) {
        let fresh = contents(&follow(server, |_| {}).first.cluster());
        self.until("what a fresh list has", |follower| contents(&follower.cluster) == fresh);
        assert_eq!(contents(&self.live.cluster()), fresh);
    }

    fn status(&self, kind: Kind) -> KindStatus {
        self.live.status().kinds.into_iter().find(|status| status.subject == Subject::Objects(kind)).expect("every kind has one")
    }

    fn has_pod(&self, name: &str) -> bool {
        self.cluster.pods.get(&Key::new("shop", name)).is_some()
    }
}

/// Returns all objects, without volatile metadata.
fn contents(cluster: &Cluster) -> BTreeMap<String, Value> {
    let one = |object: Object| {
        let mut value = serde_json::to_value(&object).unwrap();
        value["metadata"].as_object_mut().unwrap().remove("resourceVersion");
        (format!("{} {}", object.kind(), object.key()), value)
    };
    cluster.objects().map(one).collect()
}

#[test]
fn a_live_cluster_is_what_its_dump_would_be() {
    let dump = load(&[STORIES[0].input()]);
    for (streaming, gzip, page) in [(true, false, 1000), (false, false, 1000), (false, false, 2), (false, true, 5)] {
        let server = ApiServer::new(&story());
        server.world().gzip = gzip;
        let follower = follow(&server, |options| (options.streaming, options.page) = (streaming, page));
        assert_eq!(contents(&follower.cluster), contents(&dump.cluster()), "streaming {streaming}, pages of {page}");
        let Loaded { report, diagnostics, .. } = &follower.first;
        assert_eq!(diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(), Vec::<String>::new());
        assert!(report.absent.is_empty() && !report.budgets_unknown() && report.objects() == dump.report.objects());
        assert_eq!(report.server_version.as_ref().unwrap().version, "v1.36.2");
        let world = server.world();
        let lists = world.requests.iter().filter(|request| request.contains("/pods?")).cloned().collect::<Vec<_>>();
        assert_eq!(lists.iter().any(|request| request.contains("sendInitialEvents=true")), streaming, "{lists:?}");
        assert!(world.headers.contains(&format!("user-agent: schedscope/{}", env!("CARGO_PKG_VERSION"))), "{:?}", world.headers);
        assert!(world.headers.contains(&"authorization: bearer secret-token".to_owned()), "{:?}", world.headers);
        assert_eq!(report.taken.map(|t| t.to_string()).as_deref(), Some("2026-11-21T01:58:07Z"));
    }
}

#[test]
fn changes_come_as_they_happen_and_only_where_they_matter() {
    let server = ApiServer::new(&story());
    let mut follower = follow(&server, |_| {});
    // Every watch is open, so each change below is sent as an event.
    server.wait_until("all watches", |world| world.watching.values().sum::<usize>() >= 21);
    let mut node = story().into_iter().find(|object| object["kind"] == "Node").unwrap();
    node["status"]["conditions"][0]["lastHeartbeatTime"] = "2026-11-21T00:00:00Z".into();
    node["metadata"]["managedFields"] = json!([{"manager": "kubelet"}]);
    server.put(node.clone());
    server.put(pod("new", "gpu-a1"));
    follower.until("the new pod", |f| f.has_pod("new"));
    assert_eq!(follower.changes.len(), 1, "a heartbeat is no change: {:?}", follower.changes);
    node["spec"]["unschedulable"] = true.into();
    server.put(node.clone());
    server.delete("Pod", "shop", "new");
    let name = node["metadata"]["name"].as_str().unwrap();
    follower.until("both", |f| !f.has_pod("new") && f.cluster.nodes.get(&Key::new("", name)).unwrap().unschedulable());
    assert!(follower.live.status().last_change.is_some() && follower.live.status().troubles().next().is_none());
    follower.until_fresh(&server);
    assert_eq!(follower.live.original(Kind::Node, &Key::new("", name)).unwrap().contains("unschedulable: true"), true);
    assert!(follower.live.original(Kind::Pod, &Key::new("shop", "new")).unwrap_err().to_string().starts_with("404 Not Found"));
}

#[test]
fn an_object_made_again_is_gone_and_put() {
    let mut old = pod("web", "");
    old["metadata"]["uid"] = "1".into();
    let server = ApiServer::new(&[old.clone()]);
    let mut follower = follow(&server, |_| {});
    // No object is removed until all three changes have arrived.
    server.delete("Pod", "shop", "web");
    old["metadata"]["uid"] = "2".into();
    server.put(old);
    server.put(pod("last", ""));
    follower.until("the last pod", |f| f.has_pod("last"));
    let words: Vec<String> = follower
        .changes
        .iter()
        .map(|change| match change {
            Change::Put(object) => format!("+{} {}", object.key(), object.meta().uid),
            Change::Gone(object) => format!("-{} {}", object.key(), object.meta().uid),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(words, ["-shop/web 1", "+shop/web 2", "+shop/last pods/shop/last"]);
}

#[test]
fn what_schedulers_say_about_pods_comes_and_nothing_else_of_the_events() {
    let event = |name: &str, reason: &str, count: u32| {
        json!({"kind": "Event", "metadata": {"name": name, "namespace": "shop"}, "reason": reason, "count": count,
            "message": "0/1 nodes are available", "involvedObject": {"kind": "Pod", "name": "web", "namespace": "shop"}})
    };
    let server = ApiServer::new(&[event("a", "FailedScheduling", 1), event("b", "Pulled", 1)]);
    let mut follower = follow(&server, |_| {});
    assert_eq!(follower.first.events.iter().map(|e| (e.reason.as_str(), e.count)).collect::<Vec<_>>(), [("FailedScheduling", 1)]);
    server.put(event("c", "Started", 1));
    server.put(event("a", "FailedScheduling", 2));
    server.put(event("d", "Scheduled", 1));
    let found = |f: &Follower| {
        let event =
            |change: &Change| if let Change::Event(e) = change { format!("{} {}", e.reason, e.count) } else { format!("{change:?}") };
        f.changes.iter().map(event).collect::<Vec<_>>()
    };
    follower.until("both events", |f| f.changes.len() == 2);
    assert_eq!(found(&follower), ["FailedScheduling 2", "Scheduled 1"]);
    let world = server.world();
    let request = world.requests.iter().find(|request| request.contains("/events?")).unwrap();
    assert!(request.contains("fieldSelector=involvedObject.kind%3DPod%2Creason%21%3DPulled"), "{request}");
}

#[test]
fn whatever_goes_wrong_the_outcome_is_that_of_a_fresh_list() {
    let cut = || Fault::Cut(700);
    let cases: Vec<(&str, &str, usize, Fault, bool)> = vec![
        ("a list answered with 500", "/pods?", 2, Fault::Status(500, None), false),
        ("a list answered with 429", "/pods?", 2, Fault::Status(429, Some(2)), false),
        ("a list answered with 503", "/nodes?", 2, Fault::Status(503, None), false),
        ("a list cut in the middle", "/pods?", 2, cut(), false),
        ("a list that ends too early", "/pods?", 2, Fault::Truncated(700), false),
        ("a login page", "/pods?", 2, Fault::Html, false),
        ("a slow list", "/pods?", 1, Fault::Slow(50), false),
        ("a continue token that is too old", "continue=", 2, Fault::Status(410, None), false),
        ("credentials that are renewed", "/pods?", 1, Fault::Status(401, None), false),
        ("a stream answered with 500", "/pods?", 2, Fault::Status(500, None), true),
        ("a stream cut in the middle", "/pods?", 2, cut(), true),
        ("a slow stream", "/pods?", 1, Fault::Slow(50), true),
        ("a stream that ends at once", "/pods?", 2, Fault::End, true),
        ("a stream that is refused", "sendInitialEvents", 30, Fault::Status(422, None), true),
        ("a stream that ends with an error", "/pods?", 2, Fault::Error(500), true),
        ("a stream of a login page", "/pods?", 2, Fault::Html, true),
    ];
    for (what, on, times, fault, streaming) in cases {
        let server = ApiServer::new(&story());
        server.fault(on, times, fault);
        let mut follower = follow(&server, |options| options.streaming = streaming);
        server.put(pod("new", ""));
        follower.until_fresh(&server);
        assert!(follower.has_pod("new"), "{what}");
        let left = if times == 30 { server.faults_left() < 30 } else { server.faults_left() == 0 };
        assert!(left, "{what} did not happen: {:?}", server.world().requests);
    }
}

#[test]
fn a_watch_that_breaks_is_taken_up_again() {
    let cases: [(&str, Fault); 8] = [
        ("refused", Fault::Status(500, None)),
        ("busy", Fault::Status(429, Some(3))),
        ("too old", Fault::Error(410)),
        ("too old at once", Fault::Status(410, None)),
        ("broken", Fault::Error(500)),
        ("cut", Fault::Cut(60)),
        ("ended", Fault::End),
        ("a login page", Fault::Html),
    ];
    for (what, fault) in cases {
        for streaming in [true, false] {
            let server = ApiServer::new(&story());
            let mut follower = follow(&server, |options| options.streaming = streaming);
            server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
            server.fault("/pods?watch=true", 2, fault.clone());
            server.end_watches();
            server.put(pod("new", ""));
            server.delete("Pod", "shop", "payments");
            // The fresh list must not be the first to meet a fault.
            server.wait_until("a fault", |world| world.faults_left() < 2);
            follower.until_fresh(&server);
            assert!(follower.has_pod("new") && !follower.has_pod("payments"), "{what}");
            if matches!(fault, Fault::Error(410) | Fault::Status(410, _)) {
                assert!(follower.status(Kind::Pod).lists > 1, "{what}: listed again");
            }
        }
    }
}

#[test]
fn a_server_that_forgot_or_restarted_is_listed_again() {
    let server = ApiServer::new(&story());
    let mut follower = follow(&server, |_| {});
    server.set_down(true);
    follower.until("trouble", |f| matches!(f.status(Kind::Pod).state, State::Retrying { .. }));
    let State::Retrying { why, .. } = follower.status(Kind::Pod).state else { unreachable!() };
    assert!(!why.is_empty() && !why.contains("ServiceError"), "{why}");
    server.put(pod("new", ""));
    server.delete("Pod", "shop", "payments");
    server.compact();
    server.set_down(false);
    // The server does not have PodGroups.
    let watches = |kind: &KindStatus| matches!(kind.state, State::Watching | State::Absent);
    follower.until("all watches", |f| f.live.status().kinds.iter().all(watches));
    follower.until_fresh(&server);
    assert!(follower.has_pod("new") && !follower.has_pod("payments"));
}

#[test]
fn silence_is_noticed() {
    let server = ApiServer::new(&story());
    let mut follower = follow(&server, |options| options.timing.silence = Duration::from_millis(300));
    server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
    // After the first bookmark, silence means a dead connection.
    server.bookmark();
    server.fault("/pods?watch=true", 1, Fault::Silence);
    follower.until("trouble", |f| matches!(&f.status(Kind::Pod).state, State::Retrying { why, .. } if why.starts_with("no answer for")));
    server.put(pod("new", ""));
    server.forgive();
    follower.until_fresh(&server);

    let server = ApiServer::new(&story());
    server.fault("/pods?", 2, Fault::Silence);
    let mut follower = follow(&server, |options| options.timing.answer = Duration::from_millis(300));
    follower.until_fresh(&server);
    assert_eq!(server.faults_left(), 0);
}

#[test]
fn lists_that_go_in_circles_are_broken_off() {
    let server = ApiServer::new(&story());
    server.fault("/pods?", usize::MAX, Fault::Circle);
    let follower = follow(&server, |options| options.watch = false);
    let why = |state: &State| matches!(state, State::Retrying { why, .. } if why.contains("does not end"));
    assert!(why(&follower.status(Kind::Pod).state), "{:?}", follower.status(Kind::Pod));
    assert!(follower.first.report.missing().decides_on_part());
    let lists = server.world().requests.iter().filter(|request| request.contains("/pods?")).count();
    assert!(lists < 40, "{lists}");
}

#[test]
fn a_list_without_a_version_is_read_again_after_a_while() {
    for streaming in [true, false] {
        let server = ApiServer::new(&story());
        server.fault("/pods?", usize::MAX, Fault::Versionless);
        let mut follower = follow(&server, |options| {
            (options.streaming, options.page) = (streaming, 1000);
            (options.timing.backoff, options.timing.max_backoff) = (PATIENCE, PATIENCE);
        });
        assert!(follower.has_pod("payments"));
        let waits = |state: &State| matches!(state, State::Retrying { why, .. } if why.contains("no resource version"));
        follower.until("a pause", |f| waits(&f.status(Kind::Pod).state));
        let lists = server.world().requests.iter().filter(|request| request.contains("/pods?")).count();
        assert_eq!(lists, 1, "streaming {streaming}");
    }
}

#[test]
fn retry_after_is_honoured() {
    let server = ApiServer::new(&[]);
    server.fault("/pods?", 1, Fault::Status(429, Some(20)));
    let begin = Instant::now();
    let follower = follow(&server, |options| options.timing.second = Duration::from_millis(20));
    assert!(begin.elapsed() >= Duration::from_millis(400), "{:?}", begin.elapsed());
    assert_eq!(follower.status(Kind::Pod).state, State::Watching);
}

#[test]
fn what_is_forbidden_or_missing_is_reported_and_may_come_later() {
    let mut objects = story();
    objects.push(json!({"kind": "PodDisruptionBudget", "metadata": {"name": "late", "namespace": "shop"}}));
    let server = ApiServer::new(&objects);
    server.world().group_versions.insert("resource.k8s.io", "");
    server.world().group_versions.insert("storage.k8s.io", "v1alpha1");
    server.fault("/poddisruptionbudgets?", usize::MAX / 2, Fault::Status(403, None));
    server.fault("/statefulsets?", usize::MAX / 2, Fault::Status(500, None));
    let mut follower = follow(&server, |_| {});
    let report = &follower.first.report;
    assert!(report.budgets_unknown());
    let absent: Vec<Kind> = report.absent.iter().map(|absence| absence.kind).collect();
    let storage = [Kind::CSIDriver, Kind::CSINode, Kind::CSIStorageCapacity];
    let rest = [Kind::PodDisruptionBudget, Kind::StatefulSet, Kind::StorageClass, Kind::VolumeAttachment];
    assert_eq!(absent, [&storage[..], &rest].concat(), "what the server does not have is known: there is none");
    let at = format!("context test ({})", server.url());
    let words: Vec<String> = follower.first.diagnostics.iter().map(|d| d.to_string().replace(&at, "there")).collect();
    for expected in [
        "there: poddisruptionbudgets cannot be read: 403 Forbidden: scripted",
        "there: statefulsets could not be read so far: 500 Internal Server Error: scripted",
        "there: csinodes of storage.k8s.io/v1alpha1 cannot be read; only newer versions can",
        "there: the server does not have deviceclasses, resourceclaims, resourceclaimtemplates, resourceslices",
    ] {
        assert!(words.iter().any(|word| word == expected), "{expected}: {words:#?}");
    }
    assert!(follower.first.diagnostics.iter().any(|d| d.severity == Severity::Warning));
    assert!(matches!(follower.status(Kind::PodDisruptionBudget).state, State::Forbidden { .. }));
    assert_eq!(follower.status(Kind::DeviceClass).state, State::Absent);
    assert!(follower.live.status().troubles().count() >= 2);

    // Access is granted, and the server is upgraded.
    server.world().group_versions.clear();
    server.forgive();
    let listed = |f: &Follower, kind| f.changes.contains(&Change::Listed(kind));
    follower.until("budgets", |f| listed(f, Kind::PodDisruptionBudget) && listed(f, Kind::StatefulSet));
    follower.until("claims", |f| f.status(Kind::ResourceClaim).state == State::Watching);
    assert!(follower.cluster.pod_disruption_budgets.get(&Key::new("shop", "late")).is_some());
}

#[test]
fn a_list_that_is_not_found_is_unknown_and_not_none() {
    for code in [404, 405] {
        for (on, kind) in [
            ("/nodes?", Kind::Node),
            ("/nodes?limit=3&continue", Kind::Node),
            ("/pods?", Kind::Pod),
            ("/namespaces?", Kind::Namespace),
            ("/poddisruptionbudgets?", Kind::PodDisruptionBudget),
            ("/priorityclasses?", Kind::PriorityClass),
        ] {
            let server = ApiServer::new(&story());
            server.fault(on, usize::MAX / 2, Fault::Status(code, None));
            let follower = follow(&server, |options| options.watch = false);
            let state = follower.status(kind).state;
            assert!(matches!(&state, State::Retrying { why, .. } if why.starts_with(&code.to_string())), "{on}: {state:?}");
            assert!(follower.first.report.missing().why(kind).is_some(), "{on}: {:?}", follower.first.report.absent);
        }
    }
}

#[test]
fn a_discovery_without_the_core_is_not_believed() {
    let resource = |name: &str| json!({"name": name, "kind": "?", "verbs": ["get", "list"]});
    for resources in [json!([]), ["nodes", "pods"].map(resource).into()] {
        let server = ApiServer::new(&story());
        server.fault("GET /api/v1", 1, Fault::Body(json!({"kind": "APIResourceList", "resources": resources}).to_string()));
        let follower = follow(&server, |_| {});
        assert_eq!(contents(&follower.cluster), contents(&load(&[STORIES[0].input()]).cluster()));
        assert!(follower.first.report.absent.is_empty());
    }
}

#[test]
fn a_watch_that_is_not_found_leaves_what_is_known() {
    let not_found = |f: &Follower| matches!(&f.status(Kind::Pod).state, State::Retrying { why, .. } if why.starts_with("404"));
    for fault in [Fault::Status(404, None), Fault::Error(404)] {
        let server = ApiServer::new(&story());
        let mut follower = follow(&server, |_| {});
        server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
        server.fault("/pods?", usize::MAX / 2, fault);
        server.end_watches();
        follower.until("the failure", not_found);
        assert!(follower.has_pod("payments") && follower.changes.is_empty(), "{:?}", follower.changes);
        server.put(pod("new", ""));
        server.forgive();
        follower.until("the new pod", |f| f.has_pod("new"));
        follower.until_fresh(&server);
    }
}

#[test]
fn a_kind_that_discovery_loses_has_no_objects_until_it_is_back() {
    let server = ApiServer::new(&story());
    server.put(json!({"kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}}));
    let mut follower = follow(&server, |_| {});
    let classes = |f: &Follower| f.cluster.device_classes.iter().count();
    assert_eq!(classes(&follower), 1);
    server.wait_until("the watch", |world| world.watching.get("deviceclasses") == Some(&1));
    server.world().group_versions.insert("resource.k8s.io", "");
    server.end_watches();
    follower.until("the loss", |f| classes(f) == 0 && f.status(Kind::DeviceClass).state == State::Absent);
    server.world().group_versions.clear();
    follower.until("its return", |f| classes(f) == 1 && f.status(Kind::DeviceClass).state == State::Watching);
}

#[test]
fn items_of_another_kind_are_unknown_objects_of_the_lists() {
    let secret = json!({"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}});
    let partial = json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": {"name": "n"}});
    for item in [json!("a"), secret, partial, json!({"kind": "NodeList", "apiVersion": "v1", "items": []})] {
        for (on, of, kind) in [
            ("/nodes?", "Node", Kind::Node),
            ("/pods?", "Pod", Kind::Pod),
            ("/poddisruptionbudgets?", "PodDisruptionBudget", Kind::PodDisruptionBudget),
        ] {
            let server = ApiServer::new(&story());
            let version = if of == "PodDisruptionBudget" { "policy/v1" } else { "v1" };
            let list = json!({"kind": format!("{of}List"), "apiVersion": version, "metadata": {"resourceVersion": "1"}, "items": [item]});
            server.fault(on, usize::MAX / 2, Fault::Body(list.to_string()));
            let follower = follow(&server, |options| options.watch = false);
            let report = &follower.first.report;
            assert_eq!(report.kinds[&kind].unreadable, 1, "{item} in a list of {of}");
            assert_eq!(follower.status(kind).degraded, 1);
            assert!(report.missing().why(kind).is_some(), "{item} in a list of {of}");
        }
    }
}

#[test]
fn credentials_that_a_server_echoes_are_hidden() {
    let echo = |code: u16| Fault::Answer(code, "bad: authorization: Bearer secret-token".to_owned());
    let server = ApiServer::new(&story());
    server.fault("/nodes?", usize::MAX / 2, echo(500));
    server.fault("/poddisruptionbudgets?", usize::MAX / 2, echo(403));
    server.fault("/services?", usize::MAX / 2, Fault::Body("<Bearer secret-token>".to_owned()));
    let follower = follow(&server, |options| options.watch = false);
    let shown = format!("{:?} {:?}", follower.live.status(), follower.first.diagnostics);
    assert!(!shown.contains("secret-token") && shown.contains("authorization: Bearer [hidden]"), "{shown}");
    let folder = tempfile::tempdir().unwrap();
    server.fault("/version", usize::MAX / 2, echo(500));
    let error = connect(&options(&server, &folder)).unwrap_err().to_string();
    assert!(error.ends_with("500 Internal Server Error: bad: authorization: Bearer [hidden]"), "{error}");
}

#[test]
fn who_may_list_but_not_watch_sees_changes_with_the_next_list() {
    let server = ApiServer::new(&story());
    server.fault("/pods?watch=true", usize::MAX / 2, Fault::Status(403, None));
    let mut follower = follow(&server, |_| {});
    assert!(follower.has_pod("payments"));
    follower.until("the refusal", |f| matches!(f.status(Kind::Pod).state, State::Forbidden { .. }));
    server.put(pod("new", ""));
    server.delete("Pod", "shop", "payments");
    follower.until("the next list", |f| f.has_pod("new") && !f.has_pod("payments"));
}

#[test]
fn older_versions_are_read_where_the_server_has_no_newer() {
    let slice = json!({"kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": {"driver": "d", "pool": {"name": "p"}, "nodeName": "n",
        "devices": [{"name": "x", "basic": {"attributes": {"a": {"int": 1}}}}]}});
    let server = ApiServer::new(&[]);
    server.world().group_versions.insert("resource.k8s.io", "v1beta1");
    server.world().git_version = "v1.32.1".to_owned();
    server.put(slice);
    for discovery in [true, false] {
        if !discovery {
            server.fault("GET /apis", 1, Fault::Status(403, None));
        }
        let follower = follow(&server, |_| {});
        assert_eq!(follower.status(Kind::ResourceSlice).api_version, "resource.k8s.io/v1beta1");
        let slice = follower.cluster.resource_slices.iter().next().unwrap();
        assert_eq!(slice.spec.devices[0].attributes.iter().count(), 1);
    }
}

#[test]
fn namespaces_stand_in_for_what_may_not_be_read_as_a_whole() {
    let in_namespace = |name: &str, namespace: &str| {
        let mut pod = pod(name, "");
        pod["metadata"]["namespace"] = namespace.into();
        pod
    };
    let server = ApiServer::new(&[in_namespace("a", "shop"), in_namespace("b", "web"), in_namespace("c", "other")]);
    server.fault("GET /api/v1/pods?", usize::MAX / 2, Fault::Status(403, None));
    let mut follower = follow(&server, |options| options.namespaces = vec!["shop".into(), "web".into()]);
    let names = |f: &Follower| f.cluster.pods.iter().map(|pod| pod.metadata.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(&follower), ["a", "b"]);
    let words: Vec<String> = follower.first.diagnostics.iter().map(ToString::to_string).collect();
    assert!(words.iter().any(|w| w.ends_with("only namespaces shop, web were read of pods, since all may not be; nodes may look emptier than they are")), "{words:?}");
    assert!(!follower.first.report.absent.iter().any(|absence| absence.kind == Kind::Pod));
    server.put(in_namespace("d", "web"));
    server.put(in_namespace("e", "other"));
    server.delete("Pod", "shop", "a");
    follower.until("changes", |f| names(f) == ["b", "d"]);
    // Listing one namespace again does not affect the other.
    server.fault("/namespaces/web/pods?watch=true", 1, Fault::Error(410));
    server.end_watches();
    server.put(in_namespace("f", "web"));
    server.put(in_namespace("g", "shop"));
    follower.until("more changes", |f| names(f) == ["g", "b", "d", "f"]);

    let alone = follow(&server, |_| {});
    assert!(alone.first.report.absent.iter().any(|absence| absence.kind == Kind::Pod));
}

#[test]
fn nothing_is_ever_asked_but_reading() {
    let mut objects = story();
    for kind in ["Secret", "ConfigMap"] {
        objects.push(json!({"kind": kind, "metadata": {"name": "s", "namespace": "shop"}, "data": {"token": "aGlkZGVu"}}));
    }
    let server = ApiServer::new(&objects);
    let _follower = follow(&server, |_| {});
    let watches = |count: usize| move |world: &World| world.requests.iter().filter(|r| r.contains("watch=true")).count() >= count;
    server.wait_until("all watches", watches(21));
    server.compact();
    server.set_down(true);
    server.set_down(false);
    server.wait_until("all watches again", watches(42));
    let world = server.world();
    for request in &world.requests {
        assert!(request.starts_with("GET /"), "{request}");
        assert!(!request.contains("secrets") && !request.contains("configmaps") && !request.contains("leases"), "{request}");
    }
}

#[test]
fn connecting_fails_with_words_that_help() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    let attempt = |text: String| {
        std::fs::write(&path, text).unwrap();
        let timing = Timing { connect: Duration::from_secs(5), exec: Duration::from_millis(50), ..timing() };
        let options = ConnectOptions { kubeconfig: Some(path.clone()), timing, ..ConnectOptions::default() };
        let error = connect(&options).expect_err("nothing to connect to");
        assert!(!error.to_string().contains("hidden"), "{error}");
        error
    };
    let server = ApiServer::new(&[]);
    let closed = { format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()) };
    let error = attempt(server.kubeconfig().replace(&server.url(), &closed));
    assert!(matches!(error, ConnectError::Unreachable { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with(&format!("context test ({closed}) cannot be reached: ")) && text.contains("refused"), "{text}");

    let secure = server.url().replace("http:", "https:");
    let error = attempt(server.kubeconfig().replace(&server.url(), &secure));
    assert!(matches!(error, ConnectError::Certificate { .. }), "{error:?}");

    let exec = |command: &str, args: &[&str]| {
        let user = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "args": args, "interactiveMode": "Never"}});
        server.kubeconfig().replace(r#"{"token":"secret-token"}"#, &user.to_string())
    };
    for (config, expected) in [
        (exec("no-such-program-here", &[]), "the credential plugin \"no-such-program-here\" was not found"),
        (
            exec("no-such-program-here", &[]).replace(r#""interactiveMode""#, r#""installHint":"brew install it","interactiveMode""#),
            "was not found: brew install it",
        ),
        (exec("sh", &["-c", "echo hidden >&2; exit 3"]), "failed (exit status: 3); run it by hand, as the kubeconfig has it, to see why"),
        (exec("sh", &["-c", "echo hidden"]), "printed no ExecCredential"),
        (
            exec("sh", &["-c", r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"Secret","status":{"token":"hidden"}}'"#]),
            "printed no ExecCredential",
        ),
        (
            exec(
                "sh",
                &[
                    "-c",
                    r#"echo '{"apiVersion":"client.authentication.k8s.io/v1beta1","kind":"ExecCredential","status":{"token":"hidden"}}'"#,
                ],
            ),
            "answers in another apiVersion than \"client.authentication.k8s.io/v1\", which the kubeconfig requires",
        ),
        (
            exec(
                "sh",
                &[
                    "-c",
                    r#"echo '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"clientKeyData":"hidden"}}'"#,
                ],
            ),
            "gave neither a token nor a certificate with its key",
        ),
        (exec("sh", &["-c", "exec sleep 60"]), "did not finish within 50ms"),
        (exec("sh", &[]).replace("Never", "Always"), "needs a terminal (interactiveMode: Always), and there is none"),
        (exec("", &[]), "has a credential plugin (exec) without a command"),
    ] {
        let error = attempt(config);
        assert!(matches!(error, ConnectError::Credentials { .. }), "{error:?}");
        let text = error.to_string();
        assert!(text.starts_with(&format!("context test ({}): no credentials: ", server.url())) && text.contains(expected), "{text}");
    }
    for (fault, expected) in [
        (Fault::Status(401, None), "does not accept the credentials: 401 Unauthorized: scripted"),
        (
            Fault::Html,
            "does not answer like an API server: the answer is text/html; charset=utf-8, not JSON; is there a proxy or a login page in between? <html><h1>Please log in</h1></html>",
        ),
        (Fault::Status(500, None), "does not answer like an API server: 500 Internal Server Error: scripted"),
        (Fault::Truncated(5), "does not answer like an API server: the answer is invalid (EOF while parsing"),
    ] {
        server.fault("/version", 1, fault);
        let text = attempt(server.kubeconfig()).to_string();
        assert!(text.starts_with(&format!("context test ({}) {expected}", server.url())), "{text}");
    }
}

/// A server behind TLS that rejects all credentials.
fn secure_server() -> String {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls");
    let certificate = CertificateDer::from_pem_file(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream.unwrap());
            // The client may hang up after the certificate.
            let read = stream.read(&mut [0; 4096]);
            if read.is_ok_and(|length| length > 0) {
                let _ = stream.write_all(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            }
        }
    });
    format!("https://{address}")
}

#[test]
fn a_server_is_trusted_only_where_its_certificate_says_so() {
    let server = secure_server();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tls");
    let (ours, other) = (folder.join("ca.pem"), folder.join("server.pem"));
    let wrong = ["UnknownIssuer", "certificate"];
    for (cluster, expected) in [
        (json!({"certificate-authority": ours, "tls-server-name": "api.test"}), ["does not accept the credentials", "401 Unauthorized"]),
        (json!({"insecure-skip-tls-verify": true}), ["does not accept the credentials", "401 Unauthorized"]),
        (json!({"certificate-authority": ours}), ["no secure connection", "certificate"]),
        (
            json!({"certificate-authority": ours, "tls-server-name": "other.test"}),
            ["no secure connection", "not valid for name \"other.test\""],
        ),
        (json!({"certificate-authority": other, "tls-server-name": "api.test"}), wrong),
        (json!({"tls-server-name": "api.test"}), wrong),
    ] {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("config");
        let mut with_server = cluster.clone();
        with_server["server"] = server.as_str().into();
        let config = json!({"current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": with_server}], "users": [{"name": "u", "user": {"token": "t"}}]});
        std::fs::write(&path, config.to_string()).unwrap();
        let options = ConnectOptions { kubeconfig: Some(path), timing: timing(), ..ConnectOptions::default() };
        let text = connect(&options).expect_err("no credentials are accepted").to_string();
        assert!(text.starts_with(&format!("context c ({server})")) && expected.iter().all(|e| text.contains(e)), "{cluster}: {text}");
    }
}

#[test]
fn credentials_come_from_a_program_and_are_renewed() {
    let server = ApiServer::new(&story());
    let folder = tempfile::tempdir().unwrap();
    let count = folder.path().join("count");
    let script = format!(
        r#"echo x >> {0}; printf '{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{{"token":"t%s"}}}}' $(wc -l < {0})"#,
        count.display()
    );
    let user = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script]}});
    let text = server.kubeconfig().replace(r#"{"token":"secret-token"}"#, &user.to_string());
    let path = folder.path().join("config");
    std::fs::write(&path, text).unwrap();
    let mut follower = follow(&server, |options| options.kubeconfig = Some(path.clone()));
    let runs = || std::fs::read_to_string(&count).unwrap().lines().count();
    let before = runs();
    assert!(before > 0);
    server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
    server.fault("/pods?watch=true", 1, Fault::Status(401, None));
    server.end_watches();
    follower.until("new credentials", |_| runs() > before);
    server.put(pod("new", ""));
    follower.until("the new pod", |f| f.has_pod("new"));
}

#[test]
fn a_connection_ends_when_it_is_dropped_even_while_listing() {
    let server = ApiServer::new(&story());
    server.fault("/pods?", usize::MAX / 2, Fault::Silence);
    let folder = tempfile::tempdir().unwrap();
    let live = connect(&options(&server, &folder)).unwrap();
    server.wait_until("a list of pods", |world| world.requests.iter().any(|request| request.contains("/pods?")));
    assert!(live.first().is_none() && !live.status().complete);
    assert!(live.wait_first(Some(Instant::now() + Duration::from_millis(20))).is_none());
    let begin = Instant::now();
    drop(live);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// Returns a kubeconfig with another user.
fn with_user(server: &ApiServer, user: &Value) -> String {
    server.kubeconfig().replace(r#"{"token":"secret-token"}"#, &user.to_string())
}

#[test]
fn credentials_that_live_for_a_moment_are_used_for_as_long() {
    let server = ApiServer::new(&story());
    for (lives, most) in [(20, 1), (-20, 3)] {
        let folder = tempfile::tempdir().unwrap();
        let count = folder.path().join("count");
        let until = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(lives);
        let credential = json!({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
            "status": {"token": "t", "expirationTimestamp": until.to_string()}});
        let script = format!("echo x >> {}; echo '{credential}'", count.display());
        let user = json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "args": ["-c", script]}});
        let path = folder.path().join("config");
        std::fs::write(&path, with_user(&server, &user)).unwrap();
        let follower = follow(&server, |options| {
            options.kubeconfig = Some(path.clone());
            options.watch = false;
        });
        assert!(follower.cluster.pods.len() > 1);
        let runs = std::fs::read_to_string(&count).unwrap().lines().count();
        assert!(runs <= most, "{runs} runs for credentials of {lives} s");
    }
}

#[test]
fn a_token_file_may_end_with_a_line_break() {
    let server = ApiServer::new(&story());
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "from-a-file\n").unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, with_user(&server, &json!({"tokenFile": token}))).unwrap();
    let follower = follow(&server, |options| options.kubeconfig = Some(path.clone()));
    assert!(follower.has_pod("payments"));
    let headers = server.world().headers.clone();
    assert!(headers.iter().any(|header| header.trim().eq_ignore_ascii_case("authorization: Bearer from-a-file")), "{headers:?}");
    std::fs::remove_file(&token).unwrap();
    let error = connect(&ConnectOptions { kubeconfig: Some(path), timing: timing(), ..ConnectOptions::default() }).unwrap_err();
    assert!(error.to_string().contains("no credentials: tokenFile ") && matches!(error, ConnectError::Credentials { .. }), "{error}");
}

#[test]
fn a_proxy_in_between_is_named_without_its_password() {
    let server = ApiServer::new(&[]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config: Value = serde_json::from_str(&server.kubeconfig()).unwrap();
    config["clusters"][0]["cluster"]["proxy-url"] = format!("http://me:hidden@{closed}").into();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config");
    std::fs::write(&path, config.to_string()).unwrap();
    let error = connect(&ConnectOptions { kubeconfig: Some(path), timing: timing(), ..ConnectOptions::default() }).unwrap_err().to_string();
    assert!(error.ends_with(&format!(" (by the proxy http://{closed})")) && !error.contains("hidden"), "{error}");
}

#[test]
fn a_server_that_hangs_is_noticed_and_answers_again() {
    let server = ApiServer::new(&story());
    let mut follower = follow(&server, |options| {
        options.timing.probe = Duration::from_millis(30);
        options.timing.probe_answer = Duration::from_millis(30);
    });
    // The server keeps its connections open, and sends nothing on any of them.
    server.fault("GET /", usize::MAX / 2, Fault::Silence);
    let hangs = |f: &Follower| {
        let retries = |kind: &KindStatus| matches!(&kind.state, State::Retrying { why, .. } if why.contains("the server does not respond"));
        // A kind that discovery lacks is not listed.
        f.live.status().kinds.iter().all(|kind| retries(kind) || kind.state == State::Absent)
    };
    follower.until("the silence", hangs);
    server.put(pod("later", ""));
    server.forgive();
    follower.until("the server again", |f| f.has_pod("later") && f.status(Kind::Pod).state == State::Watching);
}

#[test]
fn a_single_look_lists_and_does_not_watch() {
    let server = ApiServer::new(&story());
    let follower = follow(&server, |options| options.watch = false);
    assert!(follower.has_pod("payments"));
    assert!(!server.world().requests.iter().any(|request| request.contains("watch=")), "{:?}", server.world().requests);
    // Events are listed in larger pages.
    assert!(server.world().requests.iter().any(|request| request.contains("/events?limit=30")), "{:?}", server.world().requests);
    // A permanent server error fails the list, even of nodes or pods.
    server.fault("/pods?", usize::MAX / 2, Fault::Status(500, None));
    let follower = follow(&server, |options| options.watch = false);
    assert_eq!(follower.first.report.withheld(), [Kind::Pod]);
}

#[test]
fn rights_that_are_lost_show_until_they_are_given_back() {
    let server = ApiServer::new(&story());
    let mut follower = follow(&server, |_| {});
    server.wait_until("the watch of nodes", |world| world.watching.get("nodes") == Some(&1));
    server.fault("/nodes?", usize::MAX / 2, Fault::Status(403, None));
    server.end_watches();
    follower.until("the refusal", |f| matches!(f.status(Kind::Node).state, State::Forbidden { .. }));
    // The objects read so far stay, and the interrupted list counts as lost.
    assert!(follower.status(Kind::Node).lists > 0 && follower.cluster.nodes.len() > 1);
    server.forgive();
    follower.until("the rights", |f| f.status(Kind::Node).state == State::Watching);
}
