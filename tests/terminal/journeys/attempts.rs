//! "What did the scheduler do with my pod last night, and was that right?": the attempts in a journal, each compared with our decision.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::path::Path;
use std::process::Command;

use jiff::{SignedDuration, Timestamp};
use pretty_assertions::assert_eq;
use schedscope::cluster::{Key, Kind, KindSet, Object, ObservedEvent};
use schedscope::source::journal::{JournalOptions, JournalWriter, LogLines, LogWriter, RecordedState};
use schedscope::source::live::Change;
use schedscope::source::{Input, Story, load};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{ESC, command, quit, words};
use crate::pty::Pty;

const RIGHT: &str = "0/12 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 8 Insufficient cpu. no new claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.";
const WRONG: &str =
    "0/12 nodes are available: 12 Too many pods. preemption: 0/12 nodes are available: 12 No preemption victims found for incoming pod.";
const SPREAD: &str = "spread-85969bc548-7z2j5";

fn time(seconds: i64) -> Timestamp {
    let begin: Timestamp = "2026-11-27T03:00:00Z".parse().unwrap();
    begin.checked_add(SignedDuration::from_secs(seconds)).unwrap()
}

fn changed(state: &RecordedState<'_>, key: &Key, change: impl FnOnce(&mut Value)) -> Change {
    let mut value = serde_json::to_value(state.cluster().get(Kind::Pod, key).unwrap()).unwrap();
    change(&mut value);
    Change::Put(serde_json::from_value::<Object>(value).unwrap())
}

/// Records the story of payments for four minutes, with two attempts about too-big, and a third as often as asked, and a binding.
fn record(folder: &TempDir, repeated: u32) {
    let loaded = load(&[Input::clone(&Story::named("payments").unwrap().input())]);
    let mut state = RecordedState::new(&loaded, KindSet::default(), None);
    let mut writer = JournalWriter::open(&folder.path().join("night.journal"), JournalOptions::default()).unwrap();
    writer.begin(&state, time(0));
    let (big, spread) = (Key::new("batch", "too-big"), Key::new("shop", SPREAD));
    let condition = |message: &str| json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]);
    for seconds in (5..=240_i64).step_by(5) {
        let mut changes = Vec::new();
        match seconds {
            60 => changes.push(changed(&state, &big, |pod| pod["status"]["conditions"] = condition(RIGHT))),
            120 => changes.push(changed(&state, &big, |pod| pod["status"]["conditions"] = condition(WRONG))),
            125 => changes.push(changed(&state, &spread, |pod| pod["spec"]["nodeName"] = json!("worker-a2"))),
            _ => {}
        }
        if seconds > 130 && seconds <= 130 + i64::from(repeated) * 5 {
            changes.push(Change::Event(ObservedEvent {
                pod: big.clone(),
                uid: state.cluster().pods.get(&big).unwrap().metadata.uid.clone().into(),
                reason: "FailedScheduling".into(),
                note: RIGHT.to_owned(),
                controller: "default-scheduler".into(),
                count: u32::try_from(seconds).unwrap(),
                first: Some(time(60)),
                last: Some(time(seconds - 1)),
            }));
        }
        let (mut lines, mut log) = (Vec::new(), LogLines::default());
        state.apply(changes, KindSet::default(), None, time(seconds), &mut lines).unwrap();
        writer.append(&lines, &state, time(seconds));
        if seconds == 60 {
            let line = format!(
                "I1127 03:00:59.000000       1 a.go:1] \"Unable to schedule pod; no fit; waiting\" pod=\"batch/too-big\" err=\"{RIGHT}\"\n"
            );
            let text = format!("2026-11-27T03:00:59.0Z {line}");
            state.take_log(&LogWriter::Pod(Key::new("kube-system", "kube-scheduler-cp-1")), text.as_bytes(), time(seconds), &mut log);
            writer.append_log(&mut log, time(seconds));
        }
    }
}

fn explained(folder: &Path, pod: &str, at: &str) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_schedscope"));
    let output = command.current_dir(folder).args(["explain", pod, "--from", "night.journal", "--at", at]).output().unwrap();
    assert!(!output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What did the scheduler say about too-big, was it right, and where did the spread pod go?
#[test]
fn find_what_the_scheduler_did_with_a_pod_and_whether_that_was_right() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder, 0);
    for size in [(80, 24), (120, 40)] {
        let mut pty = Pty::start_at(folder.path(), &[], &["open", "night.journal", "--at", "03:03"], size.0, size.1);
        pty.wait_for("1 Queues");
        command(&mut pty, "attempts batch/too-big");
        let screen = words(&pty.wait_for("Attempts of the"));
        assert!(screen.contains("agrees: exactly.") && screen.contains("differs: "), "{screen}");
        assert!(screen.contains("(log, condition)"), "{screen}");
        pty.send(ESC);
        pty.wait_gone("Attempts of the");
        command(&mut pty, &format!("attempts shop/{SPREAD}"));
        let screen = words(&pty.wait_for("bound to worker-a2"));
        assert!(screen.contains("agrees: it fits on worker-a2, one of 2 nodes with equal scores."), "{screen}");
        pty.send(ESC);
        pty.wait_gone("Attempts of the");
        command(&mut pty, "attempts shop/payments");
        pty.wait_for("the timeline shows no attempt of");
        quit(pty);
    }
    let answer = explained(folder.path(), "batch/too-big", "03:01:30");
    assert!(answer.contains("2026-11-27 03:00:59Z: 0/12 nodes are available") && answer.contains("agrees: exactly."), "{answer}");
    assert!(!answer.contains("12 Too many pods"), "the second attempt is later: {answer}");
    let answer = explained(folder.path(), "batch/too-big", "03:03");
    assert!(answer.contains("12 Too many pods") && answer.contains("    differs: "), "{answer}");
}

#[test]
fn the_newest_attempts_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder, 15);
    let answer = explained(folder.path(), "batch/too-big", "03:03:50");
    assert_eq!(answer.matches("agrees: exactly.").count(), 12, "{answer}");
    assert!(answer.contains("5 older attempts are not compared"), "{answer}");
}
