//! Tests of `history_window`.

use std::path::Path;

use super::*;
use crate::cluster::Cluster;
use crate::source::journal::{JournalOptions, JournalWriter, RecordedState};

fn pod(name: &str, node: &str) -> Object {
    let text = format!(r#"{{"kind":"Pod","metadata":{{"name":"{name}","namespace":"x","uid":"{name}"}},"spec":{{"nodeName":"{node}"}}}}"#);
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_window_leads_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let time = |text: &str| -> Timestamp { text.parse().unwrap() };
    let mut loaded = Loaded { objects: vec![pod("a", "n")], ..Loaded::default() };
    loaded.report.kinds.entry(Kind::Pod).or_default().read = 1;
    let mut state = RecordedState::new(&loaded, crate::cluster::KindSet::default(), None);
    let mut writer = JournalWriter::open(folder.path(), JournalOptions::default()).unwrap();
    writer.begin(&state, time("2026-11-26T23:00:00Z"));
    let steps = [("2026-11-27T03:10:00Z", pod("b", "")), ("2026-11-27T03:12:00Z", pod("b", "n")), ("2026-11-27T03:12:30Z", pod("c", ""))];
    for (at, object) in steps {
        let mut lines = Vec::new();
        let put = vec![crate::source::live::Change::Put(object)];
        state.apply(put, crate::cluster::KindSet::default(), None, time(at), &mut lines).unwrap();
        writer.append(&lines, &state, time(at));
    }
    let read = |inputs: &[Input]| crate::source::load(inputs);
    let past = Past::Journal(folder.path().to_owned());
    let (loaded, window) = past.window(Some("03:12".parse().unwrap()), AROUND, &Limits::default(), &read).unwrap();
    let names: Vec<String> =
        window.operations.iter().map(|made| if let Operation::Batch { name, .. } = made { name.clone() } else { String::new() }).collect();
    assert_eq!(names, ["recorded at 03:10:00Z", "recorded at 03:12:00Z", "recorded at 03:12:30Z"]);
    assert_eq!((loaded.objects.len(), window.reached), (1, 2));
    let early = past.window(Some("22:59".parse().unwrap()), AROUND, &Limits::default(), &read);
    assert!(early.err().unwrap().message.to_string().contains("the journal begins at 2026-11-26T23:00:00Z"));
    assert_eq!(past.before_deletion(&Key::new("x", "b"), &Limits::default()).unwrap().map(|(at, _)| at), None);
    let mut lines = Vec::new();
    let gone = vec![crate::source::live::Change::Gone(pod("b", "n"))];
    state.apply(gone, crate::cluster::KindSet::default(), None, time("2026-11-27T03:13:00Z"), &mut lines).unwrap();
    writer.append(&lines, &state, time("2026-11-27T03:13:00Z"));
    assert_eq!(
        past.before_deletion(&Key::new("x", "b"), &Limits::default()).unwrap().map(|(at, _)| at),
        Some(AtTime::At(time("2026-11-27T03:12:30Z")))
    );
}

#[test]
fn a_window_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let time = |seconds: i64| Timestamp::from_second(1_800_000_000 + seconds).unwrap();
    let mut state =
        RecordedState::new(&Loaded { objects: vec![pod("a", "n")], ..Loaded::default() }, crate::cluster::KindSet::default(), None);
    let mut writer = JournalWriter::open(folder.path(), JournalOptions::default()).unwrap();
    writer.begin(&state, time(0));
    let put = |name: String, node: usize| crate::source::live::Change::Put(pod(&name, &node.to_string()));
    for second in 1..=580 {
        let mut lines = Vec::new();
        let changes = vec![put("b".to_owned(), second)];
        state.apply(changes, crate::cluster::KindSet::default(), None, time(second as i64), &mut lines).unwrap();
        writer.append(&lines, &state, time(second as i64));
    }
    let read = |inputs: &[Input]| crate::source::load(inputs);
    let past = Past::Journal(folder.path().to_owned());
    let (_, whole) = past.window(Some(AtTime::Before(SignedDuration::from_secs(290))), AROUND, &Limits::default(), &read).unwrap();
    assert!((JOURNAL_REVISIONS / 2..=JOURNAL_REVISIONS).contains(&whole.operations.len()), "{}", whole.operations.len());
    let mut lines = Vec::new();
    let changes = (0..=JOURNAL_CHANGES).map(|number| put(format!("p{number}"), 1)).collect();
    state.apply(changes, crate::cluster::KindSet::default(), None, time(590), &mut lines).unwrap();
    writer.append(&lines, &state, time(590));
    let mut lines = Vec::new();
    state.apply(vec![put("after".to_owned(), 1)], crate::cluster::KindSet::default(), None, time(600), &mut lines).unwrap();
    writer.append(&lines, &state, time(600));
    let (_, cut) = past.window(Some(AtTime::Before(SignedDuration::from_secs(50))), AROUND, &Limits::default(), &read).unwrap();
    let said = cut.lines.to_string();
    assert!(said.contains(&format!("to {} of it", time(590))), "{said}");
}

#[test]
fn the_timeline_of_etcd_leads_from_state_to_state() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/dumps/etcd/snapshot-1.31.db.xz");
    let past = Past::at(&path).unwrap();
    assert_eq!(past, Past::Etcd(path.clone()));
    let read = |inputs: &[Input]| crate::source::load(inputs);
    let history = EtcdHistory::open(&path, &Limits::default()).unwrap();
    let objects = |cluster: &Cluster| cluster.objects().map(|object| serde_json::to_string(&object).unwrap()).collect::<Vec<_>>();
    for (at, revision) in [(None, 12_347), (Some(AtTime::Revision(11_000)), 11_000), (Some(AtTime::Revision(9_949)), 9_949)] {
        let (mut loaded, Window { operations, etcd, reached, lines, .. }) = past.window(at, AROUND, &Limits::default(), &read).unwrap();
        assert!(operations.len() <= 3 * JOURNAL_REVISIONS && lines.to_string().contains("the revisions 9949 ("), "{lines}");
        let args = crate::cli::args::SchedulerArgs::default();
        let scheduler = crate::cli::scheduler(&args, &mut loaded, crate::scheduler::Evictions::AfterGracePeriod, &Silent).unwrap();
        let mut session = crate::session::Session::new(scheduler, "etcd".to_owned());
        let etcd = etcd.unwrap();
        assert_eq!((etcd.ends.len(), etcd.done(revision)), (operations.len(), Some(reached)));
        for operation in operations.into_iter().take(reached) {
            session.observe(operation);
        }
        let expected = past.load(history.text(revision), None, &read).cluster();
        assert_eq!(objects(session.scheduler().state().cluster()), objects(&expected), "{revision}");
    }
}
