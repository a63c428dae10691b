//! The invariants in the map of the crate (`src/lib.rs`), as far as the source shows them. Who imports whom is in `layers.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedscope::cluster::{Key, Object, Str};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Evictions, Options, Scheduler};
use schedscope::session::Session;
use schedscope::source::{Story, load};
use schedscope::trace::Outcome;
use serde_json::json;

use crate::deciding::{explained, scheduler};
use crate::worlds::object;

/// The rooms below the screen and the sources, where chance and time are parameters.
const ENGINE: [&str; 17] = [
    "cluster",
    "release",
    "odds",
    "framework",
    "admission",
    "extenders",
    "trace",
    "preemption",
    "cel",
    "plugins",
    "scheduler",
    "controllers",
    "fixes",
    "session",
    "whatif",
    "analysis",
    "workspace",
];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn rust_files(path: &Path, out: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            rust_files(&entry.expect("an entry").path(), out);
        }
    } else if path.extension().is_some_and(|extension| extension == "rs") {
        out.push(path.to_owned());
    }
}

/// Returns the lines of code of a room, without tests and comments, each with its file below `src`.
fn lines(room: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    rust_files(&source().join(room), &mut files);
    assert!(!files.is_empty(), "{room} has no files");
    let is_test = |file: &PathBuf| file.to_string_lossy().contains("test");
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_test(file)) {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let name = file.strip_prefix(source()).expect("below src").to_string_lossy().into_owned();
        let is_code = |line: &&str| !line.trim_start().starts_with("//");
        found.extend(code.lines().filter(is_code).map(|line| (name.clone(), line.to_owned())));
    }
    found
}

/// Returns the lines that contain one of the texts, in files other than those allowed.
fn with_one_of(lines: Vec<(String, String)>, texts: &[&str], allowed: &[&str]) -> Vec<String> {
    let found = lines.into_iter().filter(|(file, line)| !allowed.contains(&file.as_str()) && texts.iter().any(|text| line.contains(text)));
    found.map(|(file, line)| format!("{file}: {}", line.trim())).collect()
}

#[test]
fn chance_and_time_are_parameters() {
    let texts = ["Timestamp::now", "SystemTime", "Instant::now", "rand::", "RandomState"];
    // Work is shared among threads by the time that it takes; the results are the same.
    let allowed = ["framework/parallel.rs"];
    let found: Vec<String> = ENGINE.iter().flat_map(|room| with_one_of(lines(room), &texts, &allowed)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn events_come_from_the_scheduler_and_the_session() {
    let made = ["push(Event::", "record(|| Event::", "vec![Event::", "| Event::Logged"];
    let mut rooms: Vec<&str> = ENGINE.into_iter().filter(|room| !["scheduler", "trace"].contains(room)).collect();
    rooms.extend(["report", "ui"]);
    let allowed = ["session/recording.rs", "session/logged.rs"];
    let found: Vec<String> = rooms.iter().flat_map(|room| with_one_of(lines(room), &made, &allowed)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(with_one_of(lines("session"), &made, &[]).len(), 2, "the start of a scheduler, and a line of a log");
}

#[test]
fn the_screen_knows_no_engine() {
    let engine = ["crate::scheduler::", "crate::plugins::", "crate::preemption::", "crate::extenders::", "crate::extender_client::"];
    let found = with_one_of(lines("ui"), &engine, &[]);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn requests_to_a_cluster_only_read() {
    let methods = ["Method::POST", "Method::PUT", "Method::PATCH", "Method::DELETE", "::post(", "::put(\"", "::patch(", "::delete("];
    let found = with_one_of(lines("source/live"), &methods, &[]);
    assert!(found.is_empty(), "{}", found.join("\n"));
    let guard = with_one_of(lines("source/live"), &["Method::GET"], &[]);
    assert!(guard.iter().any(|line| line.contains("!= Method::GET")), "each request is checked: {guard:?}");
}

/// Returns the names of the tests that each invariant of the map names.
fn named_tests() -> Vec<Vec<String>> {
    let map = std::fs::read_to_string(source().join("lib.rs")).expect("UTF-8");
    let (_, rest) = map.split_once("//! # Invariants\n").expect("the invariants");
    let text: String = rest.lines().take_while(|line| line.starts_with("//!")).map(|line| format!("{}\n", &line[3..])).collect();
    let invariants = text.split("\n - ").skip(1);
    let names = |invariant: &str| {
        let tests = invariant.rsplit_once("\n   (").map_or("", |(_, tests)| tests);
        tests.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    invariants.map(names).collect()
}

#[test]
fn each_invariant_has_the_tests_that_it_names() {
    let mut files = Vec::new();
    rust_files(&source(), &mut files);
    rust_files(&source().with_file_name("tests"), &mut files);
    let mut known: BTreeSet<String> = BTreeSet::new();
    for file in &files {
        let text = std::fs::read_to_string(file).expect("UTF-8");
        let lines = text.lines().filter_map(|line| line.trim_start().strip_prefix("fn "));
        known.extend(lines.filter_map(|rest| rest.split_once('(').map(|(name, _)| name.to_owned())));
    }
    let invariants = named_tests();
    assert_eq!(invariants.len(), 7);
    for tests in invariants {
        assert!(!tests.is_empty(), "an invariant names no test");
        let absent: Vec<&String> = tests.iter().filter(|test| !known.contains(*test)).collect();
        assert!(absent.is_empty(), "there is no test {absent:?}");
    }
}

#[test]
fn plugins_keep_nothing_and_reach_nothing() {
    let texts = ["std::fs", "std::net", "std::env", "std::process", "static mut", "thread_local!", "RwLock", "RefCell", "Atomic", "tokio"];
    let found = with_one_of(lines("plugins"), &texts, &[]);
    assert!(found.is_empty(), "{}", found.join("\n"));
    // Work that nodes of one cycle share: the devices that match, the checks of pools, and steps of an explanation.
    let memory = ["Mutex", "Cell<"];
    let allowed = ["matches.rs", "pools.rs", "state.rs", "explain.rs"].map(|file| format!("plugins/dynamic_resources/{file}"));
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let found = with_one_of(lines("plugins"), &memory, &allowed);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn text_goes_out_through_output_alone() {
    let rooms = std::fs::read_dir(source()).expect("a folder").filter_map(|entry| {
        let entry = entry.expect("an entry");
        entry.path().is_dir().then(|| entry.file_name().to_string_lossy().into_owned())
    });
    let texts = ["io::stdout", "io::stderr", "println!", "print!(", "clippy::disallowed_methods"];
    // The terminal draws cells, which hold what the screen has escaped.
    let allowed = ["output/streams.rs", "app/terminal.rs"];
    let found: Vec<String> = rooms.flat_map(|room| with_one_of(lines(&room), &texts, &allowed)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_extender_is_asked_to_bind() {
    let asked = with_one_of(lines("extenders"), &["self.send("], &[]);
    assert_eq!(asked.len(), 3, "{asked:?}");
    let verbs = ["ExtenderVerb::Filter", "ExtenderVerb::Prioritize", "ExtenderVerb::Preempt"];
    assert!(asked.iter().zip(verbs).all(|(line, verb)| line.contains(verb)), "{asked:?}");
    // The one place that sends refuses the verb.
    let sent = with_one_of(lines("extenders"), &["transport.send("], &[]);
    let guards = with_one_of(lines("extenders"), &["verb != ExtenderVerb::Bind"], &[]);
    assert_eq!((sent.len(), guards.len()), (1, 1), "{sent:?} {guards:?}");
}

#[test]
fn of_equal_nodes_the_first_by_name_wins_and_all_are_named() {
    let node = |name: &str| {
        object(&json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": name, "uid": name},
            "status": {"allocatable": {"cpu": "4", "memory": "4Gi", "pods": "10"}}}))
    };
    let pod = object(&json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "a", "uid": "p"},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}));
    for names in [["c", "a", "b"], ["b", "c", "a"]] {
        let objects: Vec<Object> = names.iter().map(|name| node(name)).chain([pod.clone()]).collect();
        let view = explained(&scheduler(objects, jiff::Timestamp::UNIX_EPOCH), &Key::new("a", "p"));
        assert_eq!(view.outcome, Some(Outcome::Scheduled));
        let (node, _, equal) = view.scoring.selected.expect("a node is selected");
        assert_eq!(node.as_str(), "a");
        assert_eq!(equal.iter().map(Str::as_str).collect::<Vec<_>>(), ["a", "b", "c"]);
    }
}

/// Objects that are equal in two states are one object, and so are nodes with their pods.
#[test]
fn full_states_share_what_did_not_change() {
    let loaded = load(&[Story::named("payments").expect("a demo").input()]);
    let options = Options { evictions: Evictions::AfterGracePeriod, ..Options::default() };
    let mut session = Session::new(Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, options), "payments");
    while session.settle() {}
    let revisions = session.timeline().revisions();
    assert!(revisions.len() > 10);
    let (mut shared, mut replaced) = (0, 0);
    for revision in revisions {
        let states = [&revision.before, &revision.after];
        let [before, after] = states.map(|state| &state.cluster);
        for pod in before.pods.iter() {
            match after.pods.get(&pod.key()) {
                Some(same) if same == pod => {
                    assert!(Arc::ptr_eq(pod, same), "{} is copied by {}", pod.key(), revision.title);
                    shared += 1;
                }
                _ => replaced += 1,
            }
        }
        for (one, other) in before.nodes.iter().zip(after.nodes.iter()) {
            assert!(Arc::ptr_eq(one, other), "a node is copied by {}", revision.title);
        }
        let [old, new] = states.map(|state| state.snapshot.nodes());
        let copied = old.iter().zip(new).filter(|(one, other)| !Arc::ptr_eq(one, other)).count();
        // A cycle changes the nodes of the pod and of its victims.
        assert!(copied <= 1 + revision.events.len() && copied < old.len(), "{copied} of {} by {}", old.len(), revision.title);
    }
    assert!(shared > 100 && replaced > 0, "{shared} {replaced}");
    let clone = session.scheduler().clone();
    let [one, other] = [session.scheduler(), &clone].map(|scheduler| scheduler.state().cluster());
    assert!(one.pods.iter().zip(other.pods.iter()).all(|(one, other)| Arc::ptr_eq(one, other)));
}
