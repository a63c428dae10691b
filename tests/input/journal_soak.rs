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
use crate::measure::{measured, next, program, setting};

/// Starts a recorder whose files may have a number of blocks of 1024 bytes at most.
fn recorder(server: &ApiServer, folder: &Path, blocks: Option<u64>) -> Child {
    let config = folder.join("config");
    std::fs::write(&config, server.kubeconfig()).unwrap();
    let limit = blocks.map_or_else(String::new, |blocks| format!("trap '' XFSZ; ulimit -f {blocks}; "));
    // The shell counts blocks of 1024 or 512 bytes: a keyframe fits in both, and some seconds of changes.
    let script = format!("{limit}exec \"$0\" record \"$1\" --segment-size 1Mi");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(program()).arg(folder.join("journal")).env("KUBECONFIG", config);
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
        let mut child = recorder(&server, folder.path(), is_limited.then_some(120));
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
        // Watches without a reader stay open until a change of their kind.
        server.end_watches();
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

/// Measures opening and asking of a large journal, which it makes unless SCHEDSCOPE_JOURNAL has it.
#[test]
#[ignore = "makes the journal of a day; SCHEDSCOPE_JOURNAL keeps it, SCHEDSCOPE_JOURNAL_NODES, _PODS, _SECONDS and _RATE are its size"]
fn a_large_journal_is_opened_and_asked() {
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::var_os("SCHEDSCOPE_JOURNAL").map(PathBuf::from);
    let journal = kept.unwrap_or_else(|| folder.path().join("journal"));
    if !Journal::is_at(&journal) {
        let size = |name: &str, default| setting(&format!("SCHEDSCOPE_JOURNAL_{name}"), default);
        let begin = Instant::now();
        make(&journal, (size("NODES", 5000), size("PODS", 150_000), size("SECONDS", 86_400) as i64, size("RATE", 100)));
        println!("made in {:.1?}", begin.elapsed());
    }
    let bytes: u64 = std::fs::read_dir(&journal).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
    println!("{:.1} MB, {:?}", bytes as f64 / 1e6, std::env::var("SCHEDSCOPE_JOURNAL"));
    let evicted = ["team-3/app-3-134403", "team-0/app-0-0"].map(str::to_owned);
    ask(&journal, "-8m", "team-0/app-0-0", &evicted);
}

/// Returns the processor time of a process so far, and its present and largest memory in MB.
fn cost(process: u32) -> (Duration, u64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let ticks = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2).map(|text| text.parse::<u64>().unwrap()).sum::<u64>();
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1000
    };
    // The kernel tells hundredths of a second, whatever its own rate.
    (Duration::from_millis(ticks * 10), field("VmRSS:"), field("VmHWM:"))
}

/// A pod as an API server has it, with the fields that nothing reads; `bound` is a pod on its node.
fn full_pod(number: u64, nodes: u64, bound: bool) -> Value {
    let mut pod = pod(number, nodes, 1);
    let app = number % 400;
    let metadata = pod["metadata"].as_object_mut().unwrap();
    metadata.remove("resourceVersion");
    let owner =
        json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("app-{app}"), "uid": format!("rs{app}"), "controller": true});
    metadata.insert("ownerReferences".into(), json!([owner]));
    let fields: Vec<Value> =
        (0..12).map(|n| json!({format!("f:field{n}"): {".": {}, "f:name": {}, "f:value": {}, "f:other": {}}})).collect();
    metadata.insert("managedFields".into(), json!([{"manager": "kube-controller-manager", "operation": "Update", "fieldsV1": fields}]));
    if !bound {
        pod["spec"].as_object_mut().unwrap().remove("nodeName");
        pod["status"] = json!({"phase": "Pending"});
    }
    pod
}

fn event(server: &ApiServer, about: &Value, number: u64, (reason, note): (&str, &str), now: Timestamp) {
    let (metadata, time) = (&about["metadata"], now.to_string());
    server.put(json!({"kind": "Event",
        "metadata": {"name": format!("e{number}"), "namespace": metadata["namespace"]},
        "involvedObject": {"kind": "Pod", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"]},
        "reason": reason, "message": note, "type": "Normal", "source": {"component": "default-scheduler"}, "count": 1,
        "firstTimestamp": time, "lastTimestamp": time}));
}

/// A server with a large cluster.
fn large_server(nodes: u64, count: u64) -> ApiServer {
    let server = ApiServer::new(&[]);
    (0..nodes).map(node).for_each(|node| server.put(node));
    for app in 0..400_u64 {
        let (name, namespace) = (format!("app-{app}"), format!("team-{}", app % 20));
        let template = json!({"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "c", "image": "i"}]}});
        let spec = json!({"replicas": count / 400, "selector": {"matchLabels": {"app": name}}, "template": template});
        let status = json!({"replicas": count / 400, "observedGeneration": 1});
        server.put(json!({"kind": "Deployment", "metadata": {"name": name, "namespace": namespace, "uid": format!("d{app}")}, "spec": spec, "status": status}));
        let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": format!("d{app}"), "controller": true});
        let metadata = json!({"name": name, "namespace": namespace, "uid": format!("rs{app}"), "ownerReferences": [owner]});
        server.put(json!({"kind": "ReplicaSet", "metadata": metadata, "spec": spec, "status": status}));
    }
    (0..count).for_each(|number| server.put(full_pod(number, nodes, true)));
    server.compact();
    server
}

/// A recorder follows a large cluster for a quarter of an hour, and what it wrote is asked. The journal is kept where SCHEDSCOPE_JOURNAL
/// says.
#[test]
#[ignore = "takes 20 minutes; SCHEDSCOPE_SOAK_NODES, _PODS, _SECONDS and _RATE are its size, SCHEDSCOPE_SOAK_PROGRAM another build"]
fn a_recorder_follows_a_large_cluster() {
    let size = |name: &str, default| setting(&format!("SCHEDSCOPE_SOAK_{name}"), default);
    let (nodes, count, seconds, rate) = (size("NODES", 5000), size("PODS", 150_000), size("SECONDS", 900), size("RATE", 100));
    let server = large_server(nodes, count);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("config");
    std::fs::write(&config, server.kubeconfig()).unwrap();
    let journal = std::env::var_os("SCHEDSCOPE_JOURNAL").map_or_else(|| folder.path().join("journal"), PathBuf::from);
    let health = folder.path().join("health");
    let mut recorder = Command::new(program());
    recorder.arg("record").arg(&journal).env("KUBECONFIG", config);
    recorder.stdin(Stdio::null()).stderr(std::fs::File::create(&health).unwrap());
    let (begin, mut recorder) = (Instant::now(), recorder.spawn().unwrap());
    let bytes = || -> u64 { std::fs::read_dir(&journal).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum() };
    while !Journal::is_at(&journal) || Journal::open(&journal).is_err() {
        std::thread::sleep(Duration::from_millis(200));
        assert!(recorder.try_wait().unwrap().is_none(), "{}", std::fs::read_to_string(&health).unwrap());
    }
    let (listed, _, largest) = cost(recorder.id());
    println!(
        "the first keyframe after {:.1?}, {listed:.1?} of processor time, {largest} MB, {:.1} MB written",
        begin.elapsed(),
        bytes() as f64 / 1e6
    );
    // Pods that are there, oldest first, and those that went.
    let mut there: std::collections::VecDeque<u64> = (0..count).collect();
    let (mut seed, mut numbered, mut evicted) = (7, count, Vec::new());
    let (begin, first) = (Instant::now(), bytes());
    for change in 0..seconds * rate {
        let at = begin + Duration::from_secs(1).mul_f64(change as f64 / rate as f64);
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        let now = Timestamp::now();
        let number = there[(next(&mut seed) % there.len() as u64) as usize];
        if change % (60 * rate) == 30 * rate {
            // One pod a minute gives way to another.
            let preemptor = full_pod(numbered, nodes, false);
            let mut victim = full_pod(number, nodes, true);
            server.put(preemptor.clone());
            let name = preemptor["metadata"]["name"].as_str().unwrap();
            event(
                &server,
                &victim,
                change,
                (
                    "Preempted",
                    &format!("Preempted by pod {} on node node-{:05}", preemptor["metadata"]["uid"].as_str().unwrap(), number % nodes),
                ),
                now,
            );
            victim["metadata"]["deletionTimestamp"] = now.to_string().into();
            let text = format!("default-scheduler: preempting to accommodate a higher priority pod {name}");
            victim["status"]["conditions"].as_array_mut().unwrap().push(json!({"type": "DisruptionTarget", "status": "True",
                "reason": "PreemptionByScheduler", "message": text, "lastTransitionTime": now.to_string()}));
            server.put(victim.clone());
            evicted.push(format!("{}/{}", victim["metadata"]["namespace"].as_str().unwrap(), victim["metadata"]["name"].as_str().unwrap()));
            server.delete("Pod", victim["metadata"]["namespace"].as_str().unwrap(), victim["metadata"]["name"].as_str().unwrap());
            there.retain(|other| *other != number);
            there.push_back(numbered);
            numbered += 1;
            continue;
        }
        match change % 20 {
            0..12 => {
                let mut pod = full_pod(number, nodes, true);
                pod["status"]["conditions"][1]["lastTransitionTime"] = now.to_string().into();
                pod["status"]["conditions"][1]["status"] = (if change % 2 == 0 { "False" } else { "True" }).into();
                server.put(pod);
            }
            12..15 => {
                let old = full_pod(there.pop_front().unwrap(), nodes, true);
                server.delete("Pod", old["metadata"]["namespace"].as_str().unwrap(), old["metadata"]["name"].as_str().unwrap());
            }
            15..18 => {
                let new = full_pod(numbered, nodes, true);
                there.push_back(numbered);
                numbered += 1;
                server.put(new);
            }
            _ => event(&server, &full_pod(number, nodes, true), change, ("Scheduled", "Successfully assigned it"), now),
        }
        if change % (60 * rate) == 0 {
            server.bookmark();
            let (used, memory, largest) = cost(recorder.id());
            println!(
                "{:>6.1?}  {used:.1?} of processor time, {memory} MB, at most {largest} MB, {:.2} MB written",
                begin.elapsed(),
                bytes() as f64 / 1e6
            );
        }
    }
    let ((used, memory, largest), took) = (cost(recorder.id()), begin.elapsed());
    let used = used.saturating_sub(listed);
    let share = used.as_secs_f64() / took.as_secs_f64() * 100.0;
    println!("{took:.0?} of changes: {used:.1?} of processor time, {share:.1} % of a core, {memory} MB, at most {largest} MB");
    println!("{:.1} MB written, {:.2} MB of them after the first keyframe", bytes() as f64 / 1e6, (bytes() - first) as f64 / 1e6);
    // Its first signal ends it in order.
    assert!(Command::new("kill").args(["-TERM", &recorder.id().to_string()]).status().unwrap().success());
    recorder.wait().unwrap();
    println!("{}", std::fs::read_to_string(&health).unwrap().lines().last().unwrap_or_default());
    println!("evicted: {}", evicted.join(" "));
    let middle = format!("-{}s", seconds / 2);
    ask(&journal, &middle, "team-0/app-0-149600", &evicted);
    assert!(share < 10.0 && largest < 400, "{share} % of a core, {largest} MB");
}

/// Measures opening and asking of a journal.
fn ask(journal: &Path, middle: &str, pod: &str, evicted: &[String]) {
    let folder = tempfile::tempdir().unwrap();
    let screen = folder.path().join("screen.txt");
    for at in ["-0s", middle] {
        let _ = std::fs::remove_file(&screen);
        measured(&["open", "--print", screen.to_str().unwrap(), "--at", at], journal);
    }
    measured(&["explain", pod, "--from"], journal);
    measured(&["explain", pod, "--at", middle, "--from"], journal);
    for pod in evicted.iter().last().into_iter().chain(evicted.first()) {
        measured(&["explain", pod, "--evicted", "--from"], journal);
    }
}
