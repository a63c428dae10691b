//! Servers that never end, hang, drip, loop or grow: each limit ends them with its name, and what was not read stays unknown.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::process::Command;
use std::time::{Duration, Instant};

use pretty_assertions::assert_eq;
use schedscope::cluster::{Key, Kind};
use schedscope::source::live::{Bounds, Change, ConnectError, ConnectOptions, KindStatus, Live, State, Subject, Waiting, connect};
use schedscope::source::{Loaded, STORIES, load};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::api_server::{ApiServer, Fault, PATIENCE};
use crate::live;

const ALWAYS: usize = usize::MAX / 2;

/// The time of an answer in tests that wait for it.
const SOON: Duration = Duration::from_millis(150);

fn options(server: &ApiServer, folder: &TempDir) -> ConnectOptions {
    ConnectOptions { streaming: false, ..live::options(server, folder) }
}

fn server() -> ApiServer {
    let objects = load(&[STORIES[0].input()]).objects;
    ApiServer::new(&objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect::<Vec<_>>())
}

fn connected(server: &ApiServer, adapt: impl FnOnce(&mut ConnectOptions)) -> Result<Live, Box<ConnectError>> {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(server, &folder);
    adapt(&mut options);
    connect(&options).map_err(Box::new)
}

fn first(server: &ApiServer, adapt: impl FnOnce(&mut ConnectOptions)) -> (Live, Loaded) {
    let live = connected(server, adapt).unwrap_or_else(|error| panic!("{error}"));
    let first = live.wait_first(Some(Instant::now() + PATIENCE));
    let first = first.unwrap_or_else(|| panic!("no first state: {:#?}", live.status()));
    (live, first)
}

fn status(live: &Live, kind: Kind) -> KindStatus {
    live.status().kinds.into_iter().find(|status| status.subject == Subject::Objects(kind)).unwrap()
}

/// Returns why a kind is tried again.
fn why(live: &Live, kind: Kind) -> String {
    if let State::Retrying { why, .. } = status(live, kind).state { why } else { String::new() }
}

fn until(live: &Live, what: &str, holds: impl Fn(&Live) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let updates = live.generation();
        if holds(live) {
            return;
        }
        assert!(live.wait_beyond(updates, Some(deadline)), "{what} did not come: {:#?}", live.status());
    }
}

fn pods_listed(server: &ApiServer) -> usize {
    server.world().requests.iter().filter(|request| request.contains("/pods?limit")).count()
}

#[test]
fn a_version_without_end_fails_the_connection() {
    let server = server();
    server.fault("/version", 1, Fault::Endless("{"));
    let error = connected(&server, |options| options.bounds.short_answer = 100_000).unwrap_err().to_string();
    assert!(error.ends_with("the server's version is longer than 100000 bytes"), "{error}");
    server.fault("/version", 1, Fault::Hang);
    let error = connected(&server, |options| options.timing.connect = SOON).unwrap_err();
    assert!(matches!(*error, ConnectError::Unreachable { .. }), "{error:?}");
    // Its first bytes may or may not have come.
    assert!(error.to_string().contains("the server's version") && error.to_string().contains("150ms"), "{error}");
    // Without groups there is no discovery, and the versions are tried one by one.
    server.fault("GET /apis", 1, Fault::Endless("{"));
    let (live, _) = first(&server, |options| options.bounds.short_answer = 100_000);
    assert_eq!(status(&live, Kind::Pod).lists, 1);
}

#[test]
fn each_request_that_hangs_or_drips_is_named() {
    for (on, fault, expected) in [
        ("/pods?limit", Fault::Silence, "no answer for 150ms to the list of pods"),
        ("/pods?limit", Fault::Hang, "only 8 bytes of the list of pods in 150ms"),
        ("/pods?watch", Fault::Silence, "no answer for 150ms to the watch of pods"),
    ] {
        let server = server();
        server.fault(on, ALWAYS, fault);
        let live = connected(&server, |options| options.timing.answer = SOON).unwrap();
        until(&live, expected, |live| why(live, Kind::Pod) == expected);
        server.forgive();
        until(&live, "the pods", |live| status(live, Kind::Pod).state == State::Watching);
    }
    // A watch that opened and then hangs alone, while the others go on.
    let server = server();
    let (live, _) = first(&server, |options| options.timing.silence = SOON);
    until(&live, "the silence", |live| why(live, Kind::Pod) == "no answer for 150ms to the watch of pods");
}

#[test]
fn groups_that_hang_do_not_add_up() {
    let server = server();
    for group in ["apps", "policy", "scheduling.k8s.io", "storage.k8s.io", "resource.k8s.io"] {
        server.fault(&format!("GET /apis/{group}/v1 "), 1, Fault::Silence);
        server.fault(&format!("GET /apis/{group}/v1"), 1, Fault::Silence);
    }
    let waits = schedscope::source::live::Waits::default();
    let begin = Instant::now();
    let live = std::thread::scope(|scope| {
        let connecting = scope.spawn(|| {
            connected(&server, |options| {
                options.timing.answer = Duration::from_millis(600);
                options.waits = waits.clone();
            })
        });
        let named = || waits.longest().is_some_and(|(waiting, _)| matches!(waiting, Waiting::Resources(version) if version.contains('/')));
        let deadline = Instant::now() + PATIENCE;
        while !named() && !connecting.is_finished() && Instant::now() < deadline {
            std::thread::yield_now();
        }
        assert!(named() || connecting.is_finished());
        connecting.join().unwrap().unwrap()
    });
    assert!(begin.elapsed() < Duration::from_millis(600 * 4), "{:?}", begin.elapsed());
    assert!(live.wait_first(Some(Instant::now() + PATIENCE)).is_some());
}

#[test]
fn pages_and_lists_are_bounded_in_bytes_items_and_pages() {
    type Adapt = fn(&mut Bounds);
    let cases: [(Adapt, &str); 4] = [
        (|bounds| bounds.page = 500, "the list of pods is longer than 500 bytes"),
        (|bounds| bounds.list = 500, "the list is longer than 500 bytes"),
        (|bounds| bounds.pages = 1, "the list has more than 1 pages"),
        (|bounds| bounds.items = 2, "there are more than 2 objects"),
    ];
    for (adapt, expected) in cases {
        for watch in [false, true] {
            let server = server();
            let (live, loaded) = first(&server, |options| {
                options.watch = watch;
                adapt(&mut options.bounds);
            });
            assert_eq!(why(&live, Kind::Pod), expected);
            assert!(loaded.report.failed.contains(Kind::Pod), "{expected}");
            let said = format!("pods could not be read so far: {expected}");
            assert!(loaded.diagnostics.iter().any(|d| d.to_string().ends_with(&said)), "{:?}", loaded.diagnostics);
        }
    }
}

#[test]
fn a_page_that_is_too_long_is_asked_for_with_fewer_objects() {
    let pod = |at: usize| json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": format!("web-{at:03}"), "namespace": "shop", "annotations": {"x": "y".repeat(300)}}});
    let server = ApiServer::new(&(0..200).map(pod).collect::<Vec<_>>());
    let (live, loaded) = first(&server, |options| {
        (options.watch, options.page) = (false, 1000);
        options.bounds.page = 50_000;
    });
    assert_eq!((status(&live, Kind::Pod).objects, loaded.report.failed.contains(Kind::Pod)), (200, false));
    let asked: Vec<String> = server.world().requests.iter().filter(|request| request.contains("/pods?limit")).cloned().collect();
    let limits: Vec<bool> =
        ["limit=1000", "limit=100", "limit=100&continue"].iter().zip(&asked).map(|(limit, asked)| asked.contains(limit)).collect();
    assert!(limits == [true; 3] && asked.len() == 3, "{asked:?}");
}

#[test]
fn a_stream_of_too_many_objects_is_given_up() {
    let server = server();
    let (live, loaded) = first(&server, |options| (options.streaming, options.bounds.items) = (true, 2));
    assert_eq!((why(&live, Kind::Pod).as_str(), loaded.report.failed.contains(Kind::Pod)), ("there are more than 2 objects", true));
}

#[test]
fn continue_tokens_that_repeat_or_grow_end_the_list() {
    let long: &'static str = Box::leak("t".repeat(18_000).into_boxed_str());
    for (fault, most, expected) in [
        (Fault::Token("same", false), 2, "the list does not end: a continue token comes again after 2 pages"),
        (Fault::Token("t", true), 3, "the list does not end: its pages bring nothing new"),
        (Fault::Token(long, false), 1, "the list has a continue token of 18000 bytes"),
    ] {
        let server = server();
        server.fault("/pods?limit", ALWAYS, fault);
        let (live, loaded) = first(&server, |options| options.watch = false);
        assert_eq!(why(&live, Kind::Pod), expected);
        assert!(loaded.report.failed.contains(Kind::Pod));
        assert_eq!(pods_listed(&server), most, "{expected}");
    }
}

#[test]
fn a_compressed_list_that_unpacks_too_far_is_given_up() {
    let server = server();
    server.fault("/pods?limit", ALWAYS, Fault::Packed(" ".repeat(2_000_000)));
    let (live, loaded) = first(&server, |options| (options.bounds.growth_free, options.watch) = (100_000, false));
    assert!(why(&live, Kind::Pod).starts_with("the list of pods unpacks from "), "{}", why(&live, Kind::Pod));
    assert!(loaded.report.failed.contains(Kind::Pod));
}

#[test]
fn requests_of_the_first_load_are_counted() {
    let server = server();
    let (live, loaded) = first(&server, |options| (options.bounds.first_requests, options.watch) = (12, false));
    let asked = server.world().requests.len();
    assert_eq!(asked, 12, "{:?}", server.world().requests);
    let state = |status: KindStatus| if let State::Retrying { why, .. } = status.state { Some(why) } else { None };
    let troubles: Vec<String> = live.status().kinds.into_iter().filter_map(state).collect();
    assert!(troubles.iter().any(|why| why == "the server was asked 12 times without being read in full"), "{troubles:?}");
    assert!(loaded.diagnostics.iter().any(|d| d.to_string().ends_with("without being read in full")));
}

#[test]
fn a_first_load_ends_in_time_without_what_is_missing() {
    let server = server();
    server.fault("/pods?limit", ALWAYS, Fault::Silence);
    server.fault("/nodes?limit", ALWAYS, Fault::Status(503, Some(u32::MAX)));
    let (live, loaded) = first(&server, |options| (options.timing.first_load, options.timing.retry_after) = (SOON, SOON));
    assert_eq!(loaded.report.withheld(), [Kind::Node, Kind::Pod]);
    assert!(live.time_left().starts_with("at most 0 s"));
    let said = |end: &str| loaded.diagnostics.iter().any(|d| d.to_string().ends_with(end));
    assert!(said("pods were not read in time: 0 objects so far"), "{:?}", loaded.diagnostics);
    server.forgive();
    until(&live, "the rest", |live| [Kind::Pod, Kind::Node].iter().all(|kind| status(live, *kind).state == State::Watching));
    let listed = |change: &Change| matches!(change, Change::Listed(Kind::Pod));
    assert!(live.take(usize::MAX).iter().any(listed));
}

#[test]
fn servers_that_fail_after_each_success_are_not_asked_without_a_pause() {
    let no_version = r#"{"kind":"PodList","metadata":{"resourceVersion":""},"items":[]}"#;
    for (on, fault, expected) in [
        ("/pods?watch", Fault::Error(410), "410 Gone: too old resource version"),
        ("/pods?limit", Fault::Body(no_version.to_owned()), "the list has no resource version, so its changes cannot be watched"),
        ("/pods?limit", Fault::Status(410, None), "410 Gone: scripted"),
    ] {
        let server = server();
        server.fault(on, ALWAYS, fault);
        let live = connected(&server, |options| {
            options.page = 1000;
            // The second wait is longer than the test.
            options.timing.backoff = Duration::from_secs(3600);
            options.timing.max_backoff = Duration::from_secs(3600);
        })
        .unwrap();
        until(&live, expected, |live| why(live, Kind::Pod) == expected);
        assert!(pods_listed(&server) <= 2, "{expected}: {}", pods_listed(&server));
    }
    // A watch that ends at once after an event is opened again, but not at once.
    let server = server();
    let line = r#"{"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"200"}}}"#;
    server.fault("/pods?watch", ALWAYS, Fault::Body(format!("{line}\n")));
    let (live, _) = first(&server, |options| options.timing.backoff = Duration::from_secs(3600));
    server.wait_until("the watch", |world| world.requests.iter().any(|request| request.contains("/pods?watch")));
    until(&live, "the pause", |live| live.status().complete);
    assert!(server.world().requests.iter().filter(|request| request.contains("/pods?watch")).count() <= 2);
}

#[test]
fn a_wait_that_the_server_asks_for_is_bounded() {
    let server = server();
    server.fault("/pods?limit", 1, Fault::Status(503, Some(u32::MAX)));
    let begin = Instant::now();
    first(&server, |options| (options.timing.retry_after, options.timing.second) = (SOON, Duration::from_secs(1)));
    assert!(begin.elapsed() >= SOON && begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn an_object_without_end_ends_its_watch() {
    let server = server();
    let (live, _) = first(&server, |options| options.bounds.watched_object = 50_000);
    // A watch that began before the fault, and was not known yet, would not be ended.
    server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
    server.fault("/pods?watch", 1, Fault::Endless(r#"{"type":"ADDED","object":{"#));
    server.end_watches();
    let listed = status(&live, Kind::Pod).lists;
    // It is listed anew, since changes may be missing.
    until(&live, "the fault", |live| server.faults_left() == 0 && status(live, Kind::Pod).state == State::Watching);
    assert!(status(&live, Kind::Pod).lists >= listed);
}

#[test]
fn a_list_of_rubbish_is_given_up() {
    let server = server();
    let items: Vec<Value> =
        (0..20).map(|n| json!({"metadata": {"name": format!("p{n}"), "namespace": "x"}, "spec": {"nodeName": n}})).collect();
    let body = json!({"kind": "PodList", "metadata": {"resourceVersion": "1", "continue": "more"}, "items": items}).to_string();
    server.fault("/pods?limit", ALWAYS, Fault::Body(body));
    let (live, loaded) = first(&server, |options| (options.bounds.unreadable, options.watch) = (10, false));
    assert_eq!(why(&live, Kind::Pod), "more than 10 objects cannot be read");
    assert!(loaded.report.failed.contains(Kind::Pod));
}

#[test]
fn an_object_that_a_watch_makes_unreadable_is_counted_until_it_is_read_again() {
    let server = server();
    let (live, _) = first(&server, |_| {});
    server.wait_until("the watch of pods", |world| world.watching.get("pods") == Some(&1));
    let pod = |node: Value| json!({"kind": "Pod", "metadata": {"name": "payments", "namespace": "shop"}, "spec": {"nodeName": node}});
    server.put(pod(json!({"no": "name"})));
    until(&live, "the unreadable pod", |live| status(live, Kind::Pod).degraded == 1);
    assert_eq!(live.status().kinds.iter().map(|kind| kind.degraded).sum::<usize>(), 1);
    assert!(live.cluster().pods.get(&Key::new("shop", "payments")).is_some(), "its last state stays");
    assert_eq!(live.take(usize::MAX), [Change::Unreadable(Kind::Pod, 1)]);
    server.put(pod(json!("worker-a1")));
    until(&live, "the pod", |live| status(live, Kind::Pod).degraded == 0);
    assert!(live.take(usize::MAX).contains(&Change::Unreadable(Kind::Pod, 0)));
}

#[test]
fn answers_on_part_of_the_pods_exit_with_3() {
    let server = server();
    server.fault("/pods?limit=1000&continue", ALWAYS, Fault::Status(500, None));
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, server.kubeconfig()).unwrap();
    for number in 0..1001 {
        server.put(json!({"kind": "Pod", "metadata": {"name": format!("p{number}"), "namespace": "many"}, "spec": {"nodeName": "worker-a1", "containers": [{"name": "c"}]}}));
    }
    let run =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_schedscope")).args(arguments).env("KUBECONFIG", &config).output().unwrap();
    let output = run(&["explain", "-A", "--pending", "-o", "json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert!(answer["missing"].as_array().unwrap().iter().any(|missing| missing["kind"] == "Pod"), "{text}");
    // A capture keeps what is missing.
    let dump = folder.path().join("dump.json");
    let output = run(&["capture", dump.to_str().unwrap()]);
    assert!(dump.exists(), "{}", String::from_utf8_lossy(&output.stderr));
    let loaded = schedscope::source::load(&[schedscope::source::Input::Path(dump)]);
    assert!(loaded.report.missing().failed.contains(Kind::Pod), "{:?}", loaded.report.missing());
}
