//! Logs of kube-scheduler: releases, files, archives, dumps that contain them, and the answers about missing facts.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schedscope::analysis::LogReport;
use schedscope::report::{Answer, Format};
use schedscope::scheduler::queue::QueueInLog;
use schedscope::scheduler_log::{Certainty, Fact, FindingKind, Outcome, SchedulerLog};
use schedscope::source::{Input, Limits, LogTimes, load, read_logs_of_dump, read_scheduler_logs};
use serde_json::{Value, json};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/scheduler-logs").join(name)
}

fn read(inputs: &[Input]) -> SchedulerLog {
    read_scheduler_logs(inputs, LogTimes::default(), &Limits::default(), &Arc::default())
}

fn bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Input {
    Input::Bytes { name: name.into(), bytes: bytes.into().into() }
}

fn answer(log: &SchedulerLog) -> Value {
    let report = LogReport::new(log, None).expect("a report");
    let text =
        Format::named("json").expect("a format").write(&Answer::Log(&report), schedscope::output::Lines::default()).expect("an answer");
    serde_json::from_str(text.as_str()).expect("JSON")
}

#[test]
fn each_release_tells_the_same_story_in_its_own_words() {
    for release in ["1.24", "1.28", "1.31", "1.34", "1.36"] {
        let ending = if release == "1.36" { "json.log" } else { "log" };
        let log = read(&[Input::Path(fixture(&format!("story-{release}.{ending}")))]);
        let answer = answer(&log);
        assert!(answer["release"].as_str().unwrap().starts_with(&format!("v{release}.")), "{release}");
        let found: Vec<(&str, Outcome, usize)> = log.attempts.iter().map(|a| (log.names.text(a.pod), a.outcome, a.victims.len())).collect();
        // 1.24 logs neither victims nor their node.
        let victims = usize::from(release != "1.24");
        let expected = [
            ("shop/web", Outcome::Unschedulable, victims),
            ("shop/big", Outcome::Unschedulable, 0),
            ("shop/gone", Outcome::Unschedulable, 0),
            ("shop/web", Outcome::Scheduled, 0),
        ];
        assert_eq!(found, expected, "{release}");
        let queues = &answer["queues"];
        if release == "1.24" {
            assert_eq!(queues["unplaced"], json!(["shop/big"]));
            assert!(["active", "backoff", "unschedulable"].iter().all(|queue| queues[queue].is_null()));
            assert_eq!(answer["complete"], json!(["attempts"]));
            continue;
        }
        // 1.28 does not log the plugins that rejected a pod.
        let plugins = if release == "1.28" { json!([]) } else { json!(["NodeAffinity"]) };
        let parked = json!([
            {"pod": "shop/gated", "plugins": [], "gatedBy": "SchedulingGates"},
            {"pod": "shop/big", "plugins": plugins, "gatedBy": null},
        ]);
        assert_eq!((&queues["unschedulable"], &queues["active"], &queues["backoff"]), (&parked, &json!([]), &json!([])), "{release}");
        assert_eq!(answer["complete"], json!(["attempts", "moves", "queues"]), "{release}");
        let moves: Vec<String> = answer["moves"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|one| one["pod"] == "shop/web")
            .map(|one| format!("{} {}", one["event"].as_str().unwrap().trim_start_matches("Unschedulable"), one["to"].as_str().unwrap()))
            .collect();
        let expected = ["PodAdd active", "ScheduleAttemptFailure unschedulable", "AssignedPodDelete backoff", "BackoffComplete active"];
        assert_eq!(moves, expected, "{release}");
    }
}

#[test]
fn less_verbose_logs_leave_queues_unknown() {
    let text = std::fs::read_to_string(fixture("story-1.36.json.log")).unwrap();
    let least = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        match value["msg"].as_str().unwrap() {
            "Pod moved to an internal scheduling queue" if value.get("schedulingCycle").is_some() => 3,
            "Pod moved to an internal scheduling queue" | "Event is not making pod schedulable" | "Dry run the preemption" => 5,
            "Pod moved to an internal scheduling queue, because the pod is gated" => 5,
            "Status after running PostFilter plugins for pod" | "Pod is a potential preemption victim on node" => 5,
            "About to try and schedule pod" | "Status after running PreEnqueue plugin" => 4,
            _ => 0,
        }
    };
    for verbosity in [3, 4] {
        let cut: String = text.lines().filter(|line| least(line) <= verbosity).flat_map(|line| [line, "\n"]).collect();
        let log = read(&[bytes("cut.log", cut)]);
        let answer = answer(&log);
        let parked: Vec<&str> = answer["queues"]["unschedulable"].as_array().unwrap().iter().map(|p| p["pod"].as_str().unwrap()).collect();
        let expected: &[&str] = if verbosity == 3 { &["shop/big"] } else { &["shop/gated", "shop/big"] };
        assert_eq!(parked, expected);
        assert_eq!((&answer["queues"]["active"], &answer["queues"]["backoff"]), (&Value::Null, &Value::Null));
        assert_eq!((&answer["verbosity"], &answer["complete"]), (&json!(verbosity), &json!(["attempts", "requeues"])));
        assert_eq!(answer["queues"]["certainty"], "parkedOrMovedSince");
    }
}

#[test]
fn rotated_and_compressed_files_are_one_log() {
    let text = std::fs::read(fixture("story-1.34.log")).unwrap();
    let half = text.iter().enumerate().filter(|(_, b)| **b == b'\n').nth(20).unwrap().0 + 1;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&text[..half]).unwrap();
    // The files are given in the wrong order.
    let log = read(&[bytes("current.log", &text[half..]), bytes("old.log.gz", gzip.finish().unwrap())]);
    let whole = read(&[bytes("whole.log", text)]);
    assert_eq!((log.processes.len(), log.findings.len()), (1, 0));
    assert_eq!(log.queues(0, None), whole.queues(0, None));
    assert_eq!(log.queues(0, None).certainty, Certainty::Exact);
}

#[test]
fn dumps_bring_their_schedulers_log_along() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let story = std::fs::read(fixture("story-1.34.log")).unwrap();
    write("nodes.json", br#"{"items":[{"metadata":{"name":"n-1"}}]}"#);
    write("kube-system/kube-scheduler-cp-1/logs.txt", &story);
    write("kube-system/kube-proxy-x/logs.txt", b"I1122 10:15:30.250000       1 server.go:1] \"Starting\"\n");
    let loaded = load(&[Input::Path(folder.path().to_owned())]);
    let log = read_logs_of_dump(&loaded, LogTimes::default(), &Limits::default(), &Arc::default()).unwrap();
    assert_eq!((log.attempts.len(), &*log.processes[0].source), (4, "kube-scheduler-cp-1"));

    let gather =
        "must-gather/img/namespaces/openshift-kube-scheduler/pods/openshift-kube-scheduler-cp-1/kube-scheduler/kube-scheduler/logs";
    let half = story.len() / 2;
    let half = half + story[half..].iter().position(|b| *b == b'\n').unwrap() + 1;
    let mut tar = tar::Builder::new(Vec::new());
    for (path, text) in [("current.log", &story[half..]), ("previous.log", &story[..half])] {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, format!("{gather}/{path}"), text).unwrap();
    }
    let archive = tar.into_inner().unwrap();
    let loaded = load(&[bytes("must-gather.tar", archive.clone())]);
    let log = read_logs_of_dump(&loaded, LogTimes::default(), &Limits::default(), &Arc::default()).unwrap();
    assert_eq!((log.attempts.len(), log.processes.len()), (4, 1));
    assert_eq!(log.processes[0].complete(), [Fact::Attempts, Fact::Moves, Fact::Queues]);
    // The same archive, named as a log.
    assert_eq!(read(&[bytes("must-gather.tar", archive)]).attempts.len(), 4);
    assert!(read_logs_of_dump(&load(&[]), LogTimes::default(), &Limits::default(), &Arc::default()).is_none());
}

#[test]
fn saved_metrics_tell_the_lengths_of_the_queues() {
    let log = read(&[Input::Path(fixture("metrics.txt"))]);
    let answer = answer(&log);
    assert_eq!(answer["pendingPodsByMetrics"], json!({"active": 1, "backoff": 0, "gated": 2, "unschedulable": 14}));
    assert!(answer["queues"]["active"].is_null() && answer["from"].is_null() && log.findings.is_empty());
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_is_read() {
    let log = read(&[
        Input::Path("/nowhere/scheduler.log".into()),
        bytes("objects.yaml", "kind: Pod\n"),
        Input::Path(fixture("story-1.31.log")),
        bytes("empty.log", ""),
    ]);
    assert_eq!(log.attempts.len(), 4);
    let mut found: Vec<String> = log.findings.iter().map(ToString::to_string).collect();
    found.sort();
    assert_eq!(found.len(), 3);
    assert!(found[0].starts_with("/nowhere/scheduler.log: "), "{found:?}");
    assert_eq!(found[1..], ["empty.log: is empty", "objects.yaml: none of its 1 lines is from kube-scheduler"]);
    let empty = read(&[bytes("objects.yaml", "kind: Pod\n")]);
    assert!(empty.is_empty() && LogReport::new(&empty, None).is_none());
    assert!(matches!(empty.findings[0].kind, FindingKind::NotScheduler { lines: 1 }));
}

/// A pod in backoffQ was rejected by plugins or failed with an error: where the log does not list the plugins, its message does. Its
/// backoff counts from the failure, not from the move.
#[test]
fn pods_in_backoff_have_the_plugins_and_the_time_of_their_failure() {
    let mut seen = 0;
    for name in ["story-1.24.log", "story-1.28.log", "story-1.31.log", "story-1.34.log"] {
        let text = std::fs::read(fixture(name)).expect("a log");
        let times = LogTimes { latest: "2026-11-23T00:00:00Z".parse().ok(), offset: Some(0) };
        let log = read_scheduler_logs(&[bytes(name, text)], times, &Limits::default(), &Arc::default());
        for change in &log.changes {
            let report = LogReport::new(&log, Some(change.at)).expect("a report");
            let Some((_, places)) = report.queue_places() else { continue };
            for place in places.iter().filter(|place| matches!(place.queue, QueueInLog::Backoff(_)) && !place.error) {
                seen += 1;
                assert!(!place.plugins.is_empty(), "{name}: {place:?}");
                assert!(place.failed.is_some_and(|failed| failed <= place.since), "{name}: {place:?}");
            }
        }
    }
    assert!(seen > 0, "no pod is ever in backoffQ");
}

/// A log that was not read whole says so, and ends with 3.
#[test]
fn a_log_in_part_ends_with_3() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read(fixture("story-1.36.json.log")).expect("a log");
    let packed = crate::archives::gzip(&text);
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        path.display().to_string()
    };
    let (whole, cut) = (write("a.log.gz", &packed), write("cut.log.gz", &packed[..packed.len() - 100]));
    let missing = folder.path().join("missing.log").display().to_string();
    for (files, expected) in [(vec![&whole], 0), (vec![&cut], 3), (vec![&whole, &missing], 3)] {
        let run = |more: &[&str]| {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_schedscope"));
            command.arg("log").args(&files).args(more).output().expect("an output")
        };
        let (output, json) = (run(&[]), run(&["-o", "json"]));
        assert_eq!((output.status.code(), json.status.code()), (Some(expected), Some(expected)), "{output:?}");
        let json: Value = serde_json::from_slice(&json.stdout).expect("JSON");
        assert_eq!(json["complete"] == json!([]), expected == 3, "{}", json["complete"]);
        assert_eq!(String::from_utf8_lossy(&output.stdout).contains("complete: nothing"), expected == 3);
    }
}
