//! Long runs of the recorder and measurements of a large journal; run by hand, as CONTRIBUTING.md says.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement that fails may panic, and prints its figures")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use schedscope::cluster::{Key, KindSet, Object, ObservedEvent};
use schedscope::source::journal::{GapReason, Journal, JournalOptions, JournalWriter, RecordedState};
use schedscope::source::live::Change;
use schedscope::source::{Input, Loaded, Story, load};
use serde_json::{Value, json};

use crate::api_server::ApiServer;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the next of a row of numbers that look random.
fn next(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// Starts a recorder whose files may have a number of blocks of 1024 bytes at most.
fn recorder(server: &ApiServer, folder: &Path, blocks: Option<u64>) -> Child {
    let config = folder.join("config");
    std::fs::write(&config, server.kubeconfig()).unwrap();
    let limit = blocks.map_or_else(String::new, |blocks| format!("trap '' XFSZ; ulimit -f {blocks}; "));
    // The shell counts blocks of 1024 or 512 bytes; both are full soon.
    let script = format!("{limit}exec \"$0\" record \"$1\" --segment-size 1Mi");
    let mut command = Command::new("sh");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_schedscope")]).arg(folder.join("journal")).env("KUBECONFIG", config);
    command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Returns the names and versions of the pods at a moment.
fn pods(journal: &Journal, at: Timestamp) -> Vec<(Key, String)> {
    let moment = journal.at(at).unwrap();
    let loaded = load(&[Input::Text { name: "journal".to_owned(), text: moment.text() }]);
    loaded.cluster().pods.iter().map(|pod| (pod.key(), pod.metadata.resource_version.to_string())).collect()
}

/// A recorder is killed at random moments, 200 times, every third time with files that may not grow: each state that a reader saw is there
/// for good, and each time without a record is a gap.
#[test]
#[ignore = "takes 20 minutes; SCHEDSCOPE_SOAK_KILLS and SCHEDSCOPE_SOAK_SEED"]
fn what_was_flushed_survives_every_kill() {
    let (kills, mut seed) = (setting("SCHEDSCOPE_SOAK_KILLS", 200), setting("SCHEDSCOPE_SOAK_SEED", 7).max(1));
    let objects = load(&[Story::named("payments").unwrap().input()]).objects;
    let objects: Vec<Value> = objects.iter().map(|object| serde_json::to_value(object).unwrap()).collect();
    let server = ApiServer::new(&objects);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let mut seen: Vec<(Timestamp, Vec<(Key, String)>)> = Vec::new();
    let mut number = 0;
    for kill in 0..kills {
        let is_limited = kill % 3 == 2;
        let mut child = recorder(&server, folder.path(), is_limited.then_some(24));
        let until = Instant::now() + Duration::from_millis(500 + next(&mut seed) % 10_000);
        while Instant::now() < until {
            for _ in 0..20 {
                number += 1;
                let spec = json!({"schedulerName": "default-scheduler", "priority": 0, "containers": [{"name": "c", "image": format!("i{}", next(&mut seed))}]});
                server
                    .put(json!({"kind": "Pod", "metadata": {"name": format!("soak-{}", number % 500), "namespace": "shop"}, "spec": spec}));
            }
            std::thread::sleep(Duration::from_millis(100));
            // A reader looks now and then while the recorder writes.
            if next(&mut seed).is_multiple_of(8)
                && let Ok(journal) = Journal::open(&path)
            {
                seen.push((journal.end(), pods(&journal, journal.end())));
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        if kill % 20 == 19 || kill + 1 == kills {
            let journal = Journal::open(&path).unwrap();
            for (at, expected) in &seen {
                assert!(pods(&journal, *at) == *expected, "kill {kill}: the state at {at} is another one");
            }
            println!("{} kills, {} states seen, all there; the journal ends at {}", kill + 1, seen.len(), journal.end());
            // The newest of them are enough from now on, and one in ten of the others.
            let keep = seen.len().saturating_sub(20);
            let mut order = 0;
            seen.retain(|_| {
                order += 1;
                order > keep || order % 10 == 0
            });
        }
    }
    // The next recorder adds the last gap.
    let mut child = recorder(&server, folder.path(), None);
    std::thread::sleep(Duration::from_secs(3));
    child.kill().unwrap();
    child.wait().unwrap();
    let journal = Journal::open(&path).unwrap();
    let start = journal.at(journal.begin()).unwrap();
    let gaps: Vec<GapReason> = journal
        .after(&start)
        .filter_map(|step| if let schedscope::source::journal::Step::Gap(gap) = step { Some(gap.reason) } else { None })
        .collect();
    let count = |wanted: &GapReason| gaps.iter().filter(|reason| *reason == wanted).count();
    let (not_running, not_written) = (count(&GapReason::NotRunning), count(&GapReason::NotWritten));
    let cut = gaps.iter().filter(|reason| matches!(reason, GapReason::Cut { .. })).count();
    println!(
        "gaps: {not_running} without a recorder, {not_written} that could not be written, {cut} cut frames, {} damaged",
        count(&GapReason::Damaged)
    );
    assert_eq!(count(&GapReason::Damaged), 0);
    // A recorder that is killed before its first frame leaves one gap with the next.
    assert!(not_running > 0 && not_running <= kills as usize && (kills < 30 || not_written > 0), "{gaps:?}");
}

fn node(number: u64) -> Value {
    json!({"kind": "Node", "apiVersion": "v1", "metadata": {"name": format!("node-{number:05}"), "uid": format!("n{number}"),
        "labels": {"kubernetes.io/hostname": format!("node-{number:05}"), "topology.kubernetes.io/zone": format!("zone-{}", number % 3)}},
        "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn pod(number: u64, nodes: u64, version: u64) -> Value {
    let app = number % 400;
    json!({"kind": "Pod", "apiVersion": "v1",
        "metadata": {"name": format!("app-{app}-{number}"), "namespace": format!("team-{}", app % 20), "uid": format!("p{number}"), "resourceVersion": version.to_string(),
            "creationTimestamp": "2026-11-21T00:00:00Z", "labels": {"app": format!("app-{app}")}},
        "spec": {"nodeName": format!("node-{:05}", number % nodes), "schedulerName": "default-scheduler", "priority": ([-10, 0, 1000][(app % 3) as usize]),
            "containers": [{"name": "c", "image": format!("registry.example/app-{app}:1"), "resources": {"requests": {"cpu": "500m", "memory": "256Mi"}}}]},
        "status": {"phase": "Running", "startTime": "2026-11-21T08:00:00Z", "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-11-21T08:00:00Z"},
            {"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-21T08:00:00Z"}]}})
}

/// Makes a journal of a large cluster with changes each second: six in ten of a pod's status, three of pods that go and come, one event.
fn make(folder: &Path, (nodes, count, seconds, rate): (u64, u64, i64, u64)) {
    let object = |value: Value| serde_json::from_value::<Object>(value).unwrap();
    let begin: Timestamp = "2026-11-27T03:00:00Z".parse().unwrap();
    let time = |second: i64| begin.checked_add(SignedDuration::from_secs(second)).unwrap();
    let objects = (0..nodes).map(node).chain((0..count).map(|number| pod(number, nodes, 1))).map(object).collect();
    let mut state = RecordedState::new(&Loaded { objects, ..Loaded::default() }, KindSet::default(), None);
    let mut writer = JournalWriter::open(folder, JournalOptions::default()).unwrap();
    writer.begin(&state, time(0));
    let (mut seed, mut version) = (7, 1);
    for second in 1..=seconds {
        let mut changes = Vec::new();
        for change in 0..rate {
            version += 1;
            let number = next(&mut seed) % count;
            match change % 10 {
                0..6 => changes.push(Change::Put(object(pod(number, nodes, version)))),
                6..9 => {
                    changes.push(Change::Gone(object(pod(number, nodes, version))));
                    changes.push(Change::Put(object(pod(number, nodes, version))));
                }
                _ => changes.push(Change::Event(ObservedEvent {
                    pod: Key::new(format!("team-{}", number % 400 % 20), format!("app-{}-{number}", number % 400)),
                    uid: format!("p{number}").as_str().into(),
                    reason: "Scheduled".into(),
                    note: format!("Successfully assigned to node-{:05}", number % nodes),
                    controller: "default-scheduler".into(),
                    count: 1,
                    first: Some(time(second)),
                    last: Some(time(second)),
                })),
            }
        }
        let mut lines = Vec::new();
        state.apply(changes, KindSet::default(), None, time(second), &mut lines).unwrap();
        writer.append(&lines, &state, time(second));
    }
}

/// Prints the time and the memory of a command of the program.
fn measured(arguments: &[&str], journal: &Path) {
    let begin = Instant::now();
    let output =
        Command::new("/usr/bin/time").arg("-v").arg(env!("CARGO_BIN_EXE_schedscope")).args(arguments).arg(journal).output().unwrap();
    let (took, said) = (begin.elapsed(), String::from_utf8_lossy(&output.stderr).into_owned());
    let field = |name: &str| said.lines().find_map(|line| line.trim().strip_prefix(name)).unwrap_or("?").to_owned();
    let megabytes = field("Maximum resident set size (kbytes): ").parse::<u64>().unwrap_or(0) / 1000;
    let (user, system) = (field("User time (seconds): "), field("System time (seconds): "));
    println!("{took:>8.2?}  {megabytes:>5} MB  {user} s + {system} s  exit {:?}  {}", output.status.code(), arguments.join(" "));
}

/// Measures opening and asking of a large journal, which it makes unless SCHEDSCOPE_JOURNAL has it.
#[test]
#[ignore = "makes a large journal; SCHEDSCOPE_JOURNAL keeps it, SCHEDSCOPE_JOURNAL_NODES, _PODS, _SECONDS and _RATE are its size"]
fn a_large_journal_is_opened_and_asked() {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("SCHEDSCOPE_JOURNAL").map(PathBuf::from);
    let journal = kept.unwrap_or_else(|| folder.path().join("journal"));
    if !Journal::is_at(&journal) {
        let size = |name: &str, default| setting(&format!("SCHEDSCOPE_JOURNAL_{name}"), default);
        let begin = Instant::now();
        make(&journal, (size("NODES", 5000), size("PODS", 135_000), size("SECONDS", 960) as i64, size("RATE", 100)));
        println!("made in {:.1?}", begin.elapsed());
    }
    let bytes: u64 = std::fs::read_dir(&journal).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    println!("{:.1} MB, {:?}", bytes as f64 / 1e6, std::env::var("SCHEDSCOPE_JOURNAL"));
    let screen = folder.path().join("screen.txt");
    for at in ["-0s", "-8m"] {
        let _ = std::fs::remove_file(&screen);
        measured(&["open", "--print", screen.to_str().unwrap(), "--at", at], &journal);
    }
    measured(&["explain", "team-0/app-0-0", "--at", "-8m", "--from"], &journal);
    measured(&["explain", "team-0/app-0-0", "--evicted", "--from"], &journal);
    measured(&["explain", "team-3/app-3-134403", "--evicted", "--from"], &journal);
}
