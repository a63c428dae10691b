//! "My pod is gone": from a journal to who evicted it, why it and not its neighbor, and the queue of that moment.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use jiff::{SignedDuration, Timestamp};
use schedscope::cluster::{Key, KindSet, Object, ObservedEvent};
use schedscope::source::journal::{JournalOptions, JournalWriter, RecordedState};
use schedscope::source::live::Change;
use schedscope::source::{Input, Story, load};
use tempfile::TempDir;

use super::{ESC, command, quit, words};
use crate::pty::Pty;

const VICTIM: &str = "reports-646f8d7fc5-zgcpb";

fn time(seconds: i64) -> Timestamp {
    let begin: Timestamp = "2026-11-27T03:00:00Z".parse().unwrap();
    begin.checked_add(SignedDuration::from_secs(seconds)).unwrap()
}

/// Records the story of payments for four minutes. In the third, these pods go, the first of them with an event about the preemption.
fn record(folder: &TempDir, gone: &[&str], preemptor: &str) {
    let loaded = load(&[Input::clone(&Story::named("payments").unwrap().input())]);
    let mut state = RecordedState::new(&loaded, KindSet::default(), None);
    let mut writer = JournalWriter::open(&folder.path().join("night.journal"), JournalOptions::default()).unwrap();
    writer.begin(&state, time(0));
    for seconds in (10..=240).step_by(10) {
        let mut changes = Vec::new();
        if seconds == 150 {
            let keys: Vec<Key> = gone.iter().map(|name| Key::new("batch", *name)).collect();
            let pods: Vec<Object> = keys.iter().map(|key| Object::Pod(state.cluster().pods.get(key).unwrap().clone())).collect();
            let Object::Pod(first) = &pods[0] else { unreachable!() };
            let event = ObservedEvent {
                pod: keys[0].clone(),
                uid: first.metadata.uid.clone().into(),
                reason: "Preempted".into(),
                note: format!("Preempted by pod {preemptor} on node {}", first.node_name),
                controller: "default-scheduler".into(),
                count: 1,
                first: Some(time(149)),
                last: Some(time(149)),
            };
            changes.extend([vec![Change::Event(event)], pods.into_iter().map(Change::Gone).collect()].concat());
        }
        let mut lines = Vec::new();
        state.apply(changes, KindSet::default(), None, time(seconds), &mut lines).unwrap();
        writer.append(&lines, &state, time(seconds));
    }
}

fn open(folder: &TempDir, (columns, rows): (u16, u16)) -> Pty {
    let pty = Pty::start_at(folder.path(), &[], &["open", "night.journal"], columns, rows);
    pty.wait_for("1 Queues");
    pty
}

/// Who evicted reports-646f8d7fc5-zgcpb, and why it and not a pod of another node? shop/payments did: other nodes have pods of priority 1000
/// in the way. Then the reader goes through the minutes around it.
#[test]
fn find_who_evicted_a_pod_that_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder, &[VICTIM, "reports-646f8d7fc5-kdjfj"], "shop/payments");
    for size in [(80, 24), (120, 40)] {
        let mut pty = open(&folder, size);
        // The two pods that left, of which one was preempted.
        command(&mut pty, "evictions");
        let screen = words(&pty.wait_for("Pods that left their nodes"));
        assert!(screen.contains("batch/reports-646f8d7fc5-kdjfj left worker-a2: deleted") || size.0 == 80, "{screen}");
        pty.send("/preempted\r");
        let screen = words(&pty.wait_for("left their nodes  /preempted"));
        let expected = format!("2026-11-27 03:02:30Z batch/{VICTIM} left worker-a2: preempted by shop/payments");
        assert!(screen.contains(&expected) || size.0 == 80, "{screen}");
        pty.send("\r");
        pty.wait_for("Eviction of");
        pty.send(ESC);
        pty.wait_gone("Eviction of");
        command(&mut pty, &format!("evicted batch/{VICTIM}"));
        let screen = words(&pty.wait_for("Eviction of"));
        for expected in [
            "Who evicted it",
            "shop/payments preempted batch/reports-646f8d7fc5-zgcpb on worker-a2 at 2026-11-27T03:02:29Z.",
            "Its priority -10 is below 100000, that of shop/payments.",
            "On worker-a2 2 pods have to go before shop/payments fits:",
            "6 candidates (worker-a1, worker-a3 and 4 more) are eliminated by MinHighestPriority:",
            "shop/catalog-746f66cf94-qjfrq (priority 1000) stays on worker-a2: shop/payments fits beside it",
        ] {
            assert!(screen.replace('│', "").contains(expected) || size.0 == 80, "{expected}: {screen}");
        }
        pty.send("G");
        let screen = words(&pty.wait_for("Pods that waited then"));
        assert!(screen.contains("agrees: schedscope evicts it too.") || size.0 == 80, "{screen}");
        pty.send(ESC);
        pty.wait_gone("Eviction of");
        // The queues are those before it.
        pty.wait_for("payments");
        // A moment after it, by the clock, and one that was not recorded.
        command(&mut pty, "at 03:01");
        pty.wait_gone("Eviction of");
        command(&mut pty, "at 02:00");
        pty.wait_for("the timeline is from 2026-11-27T03:00");
        quit(pty);
    }
}

/// A pod that was deleted without a preemption, and one whose preemptor the journal does not have.
#[test]
fn an_eviction_that_is_not_known_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    record(&folder, &[VICTIM, "reports-646f8d7fc5-kdjfj"], "shop/unknown");
    let mut pty = open(&folder, (120, 40));
    command(&mut pty, "evicted batch/reports-646f8d7fc5-kdjfj");
    let screen = words(&pty.wait_for("Eviction of"));
    assert!(screen.contains("something else deleted it") && screen.contains("not known:"), "{screen}");
    pty.send(ESC);
    pty.wait_gone("Eviction of");
    command(&mut pty, &format!("evicted batch/{VICTIM}"));
    let screen = words(&pty.wait_for("which was not in the source before"));
    assert!(screen.contains("not known:"), "{screen}");
    pty.send(ESC);
    pty.wait_gone("Eviction of");
    command(&mut pty, "evicted shop/payments");
    pty.wait_for("shop/payments does not leave a node on this timeline");
    quit(pty);
}
