//! Journals compared with a model: every moment is the capture of that moment, whatever happened to the recorder.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::{SignedDuration, Timestamp};

use super::frame::{self, FrameKind};
use super::*;
use crate::cluster::neighbors::{About, Neighbor, NeighborKind, Neighbors, OtherEvent};
use crate::cluster::{Cluster, Key, Kind, KindSet, MissingReason, Object, ObservedEvent};
use crate::limits::sources::{JOURNAL_EVENTS, JOURNAL_GAPS, JOURNAL_LINE};
use crate::source::capture::{Capture, Vocabulary};
use crate::source::live::Change;
use crate::source::{Input, Loaded, load};

/// Numbers that look random and are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % limit as u64) as usize
    }
}

/// Returns whether a recorder has the journal's lock: a shared one is possible unless a writer has it.
fn is_being_written(folder: &Path) -> bool {
    let lock = fs::File::open(folder.join("journal.lock")).unwrap();
    matches!(lock.try_lock_shared(), Err(fs::TryLockError::WouldBlock))
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn object(kind: Kind, name: &str, uid: usize, spec: &str) -> Object {
    let namespace = if kind.namespaced() { r#""namespace":"shop","# } else { "" };
    let text = format!(
        r#"{{"metadata":{{"name":"{name}",{namespace}"uid":"{uid}","creationTimestamp":"2026-11-27T00:00:00Z"}},"spec":{{{spec}}}}}"#
    );
    Object::deserialize_kind(kind, &mut serde_json::Deserializer::from_str(&text)).unwrap()
}

fn event(pod: &str, note: &str, count: u32) -> ObservedEvent {
    let (first, last) = (Some(time(0)), Some(time(i64::from(count))));
    let (reason, controller) = ("FailedScheduling".into(), "default-scheduler".into());
    ObservedEvent { pod: Key::new("shop", pod), uid: "1".into(), reason, note: note.to_owned(), controller, count, first, last }
}

fn start() -> Loaded {
    let mut loaded = Loaded {
        objects: vec![object(Kind::Node, "a", 1, ""), object(Kind::Pod, "web", 2, r#""nodeName":"a""#)],
        events: vec![event("web", "first", 1)],
        ..Loaded::default()
    };
    for kind in [Kind::Node, Kind::Pod, Kind::PodDisruptionBudget] {
        loaded.report.kinds.entry(kind).or_default().read += 1;
    }
    loaded
}

fn change(random: &mut Random, cluster: &Cluster) -> Vec<Change> {
    let name = ["web", "api", "db", "c\\n"][random.below(4)];
    let node = ["a", "b"][random.below(2)];
    match random.below(9) {
        0 => vec![Change::Event(event(name, ["first", "second"][random.below(2)], 1 + random.below(50) as u32))],
        1 => vec![Change::Listed(Kind::Service), Change::Put(object(Kind::Service, name, 3, ""))],
        2 => vec![Change::Unreadable(Kind::Pod, random.below(2))],
        3 => vec![Change::Put(object(Kind::Node, node, 1, &format!(r#""unschedulable":{}"#, random.below(2) == 0)))],
        4 | 5 => cluster.pods.iter().take(1).map(|pod| Change::Gone(Object::Pod(pod.clone()))).collect(),
        _ => vec![Change::Put(object(Kind::Pod, name, 10 + random.below(3), &format!(r#""nodeName":"{node}""#)))],
    }
}

/// Returns what a capture of the state would write.
fn capture(state: &RecordedState<'_>) -> String {
    let mut cluster = state.cluster().clone();
    cluster.unknown = state.knowledge().missing();
    let events: Vec<ObservedEvent> = state.events().cloned().collect();
    let unknown: BTreeSet<Kind> = state.knowledge().unlisted.iter().collect();
    let mut out = Vec::new();
    let version = state.knowledge().version.as_deref();
    Capture { cluster: &cluster, events: &events, version, unknown: &unknown, redact: None, neighbors: None }.write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn text(moment: &Moment) -> String {
    let (made, mut text) = (moment.text(), String::new());
    made.open().unwrap().read_to_string(&mut text).unwrap();
    text
}

/// A recorder with what it should have recorded.
struct Model {
    writer: JournalWriter,
    state: RecordedState<'static>,
    random: Random,
    now: i64,
    /// The capture of each moment with a frame.
    moments: Vec<(Timestamp, String)>,
}

impl Model {
    fn new(folder: &Path, options: JournalOptions, seed: u64) -> Self {
        let loaded = start();
        let unlisted = [Kind::PodGroup, Kind::Service].into_iter().collect();
        let state = RecordedState::new(&loaded, unlisted, Some("v1.36.2".to_owned()));
        let writer = JournalWriter::open(folder, options).unwrap();
        let mut model = Self { writer, state, random: Random(seed), now: 0, moments: Vec::new() };
        model.writer.begin(&model.state, time(0));
        model.note();
        model
    }

    fn note(&mut self) {
        if self.writer.failing().is_none() {
            self.moments.push((time(self.now), capture(&self.state)));
        }
    }

    fn step(&mut self) {
        self.now += 1 + self.random.below(3) as i64;
        let mut lines = Vec::new();
        let changes = (0..self.random.below(4)).flat_map(|_| change(&mut self.random, self.state.cluster())).collect();
        let stale: KindSet = (self.random.below(10) == 0).then_some(Kind::Node).into_iter().collect();
        let version = Some(["v1.36.2", "v1.37.0"][usize::from(self.now > 60)].to_owned());
        self.state.apply(changes, stale, version, time(self.now), &mut lines).unwrap();
        self.writer.append(&lines, &self.state, time(self.now));
        self.note();
    }

    /// Starts another recorder on the same journal, after some time.
    fn restart(self, folder: &Path, options: JournalOptions) -> Self {
        let Self { writer, state, random, now, moments } = self;
        drop(writer);
        let mut loaded = Loaded { objects: state.cluster().objects().collect(), events: state.events().cloned().collect(), ..start() };
        loaded.objects.push(object(Kind::Pod, "since", 99, ""));
        let state = RecordedState::new(&loaded, KindSet::default(), None);
        let mut model = Self { writer: JournalWriter::open(folder, options).unwrap(), state, random, now: now + 60, moments };
        model.writer.begin(&model.state, time(model.now));
        model.note();
        model
    }
}

/// Small segments.
fn small() -> JournalOptions {
    JournalOptions { segment_size: 2000, ..JournalOptions::default() }
}

#[track_caller]
fn assert_moments(journal: &Journal, moments: &[(Timestamp, String)]) {
    for (time, expected) in moments.iter().filter(|(time, _)| *time >= journal.begin() && *time <= journal.end()) {
        let moment = journal.at(*time).unwrap();
        assert!(!moment.in_doubt, "{time}: {moment:?}");
        pretty_assertions::assert_eq!(text(&moment), *expected, "{time}");
    }
}

#[test]
fn a_moment_is_the_capture_of_that_moment() {
    for seed in 0..8 {
        let folder = tempfile::tempdir().unwrap();
        let mut model = Model::new(folder.path(), small(), seed);
        for _ in 0..60 {
            model.step();
        }
        // It is read while it is written.
        let journal = Journal::open(folder.path()).unwrap();
        assert!(is_being_written(folder.path()) && model.writer.health().segments > 3, "{:?}", model.writer.health());
        assert_eq!((journal.begin(), Some(journal.end())), (time(0), model.writer.health().last));
        assert_moments(&journal, &model.moments);
        assert_eq!(journal.at(time(-1)).unwrap_err(), MomentError::Before(time(0)));
        assert_eq!(journal.at(time(10_000)).unwrap_err(), MomentError::After(journal.end()));
        drop(model);
        assert!(!is_being_written(folder.path()));
    }
}

#[test]
fn a_moment_loads_as_the_dump_of_that_moment() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), small(), 3);
    for _ in 0..40 {
        model.step();
    }
    let journal = Journal::open(folder.path()).unwrap();
    for (time, expected) in &model.moments {
        let from_journal = load(&[Input::Text { name: "in".to_owned(), text: journal.at(*time).unwrap().text() }]);
        let from_dump = load(&[Input::Path(dump(folder.path(), expected))]);
        assert_eq!(from_journal.objects, from_dump.objects, "{time}");
        assert_eq!(from_journal.events, from_dump.events, "{time}");
        assert_eq!(from_journal.report.missing(), from_dump.report.missing(), "{time}");
        assert_eq!(from_journal.report.server_version.map(|found| found.version), Some(from_dump.report.server_version.unwrap().version));
    }
}

fn dump(folder: &Path, text: &str) -> std::path::PathBuf {
    let path = folder.join("dump.json");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn steps_lead_from_each_moment_to_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), small(), 5);
    for _ in 0..40 {
        model.step();
    }
    let mut model = model.restart(folder.path(), small());
    for _ in 0..10 {
        model.step();
    }
    let journal = Journal::open(folder.path()).unwrap();
    let cluster = |text: &str| -> Cluster { load(&[Input::Path(dump(folder.path(), text))]).objects.into_iter().collect() };
    let expected = cluster(&model.moments.last().unwrap().1);
    for (number, (time, text)) in model.moments.iter().enumerate() {
        let mut state = cluster(text);
        let (mut gaps, mut states) = (Vec::new(), 0);
        for step in journal.after(&journal.at(*time).unwrap()) {
            match step {
                Step::Changes(_, changes) => {
                    for change in changes {
                        match change {
                            RecordedChange::Neighbor(_) | RecordedChange::NeighborGone(..) | RecordedChange::OtherEvent(_) => {
                                panic!("none was recorded")
                            }
                            RecordedChange::Put(object) => drop(state.insert(object)),
                            RecordedChange::Gone(kind, key) => assert!(state.remove(kind, &key).is_some(), "{kind} {key}"),
                            RecordedChange::Event(_) | RecordedChange::Known(_) => {}
                            RecordedChange::Unreadable => panic!("a line that was written is read"),
                        }
                    }
                }
                Step::Gap(gap) => gaps.push(gap.reason),
                Step::State(moment) => {
                    let loaded = load(&[Input::Text { name: "in".to_owned(), text: moment.text() }]);
                    (state, states) = (loaded.objects.into_iter().collect(), states + 1);
                }
            }
        }
        let objects = |cluster: &Cluster| cluster.objects().collect::<Vec<_>>();
        assert_eq!(objects(&state), objects(&expected), "{time}");
        let is_before = number < model.moments.len() - 11;
        assert_eq!((gaps, states), (if is_before { vec![GapReason::NotRunning] } else { vec![] }, usize::from(is_before)), "{time}");
    }
}

#[test]
fn a_recorder_that_is_killed_at_any_byte_loses_nothing_that_was_written_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), JournalOptions { segment_size: 6000, ..small() }, 11);
    for _ in 0..60 {
        model.step();
    }
    let Model { moments, writer, .. } = model;
    drop(writer);
    let mut names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|ending| ending == "ssj"));
    names.sort();
    let files: Vec<Vec<u8>> = names.iter().map(|path| fs::read(path).unwrap()).collect();
    let mut random = Random(1);
    for number in 0..200 {
        let copy = tempfile::tempdir().unwrap();
        // The recorder had written the files before, and a part of the last.
        let last = random.below(files.len());
        let cut = if number < 20 { random.below(40) } else { random.below(files[last].len() + 1) };
        for (path, bytes) in names.iter().zip(&files).take(last) {
            fs::write(copy.path().join(path.file_name().unwrap()), bytes).unwrap();
        }
        fs::write(copy.path().join(names[last].file_name().unwrap()), &files[last][..cut]).unwrap();
        let frames = frame::scan(&files[last][..cut]);
        let expected_end = frames.whole.last().map(|frame| frame.time);
        match Journal::open(copy.path()) {
            Ok(journal) => {
                assert!(expected_end.is_none_or(|end| end == journal.end()), "{number}");
                assert_moments(&journal, &moments);
            }
            Err(error) => assert!(last == 0 && expected_end.is_none() && matches!(error, JournalError::Empty(_)), "{number}: {error}"),
        }
        // The next recorder goes on behind it, and says what is missing.
        let loaded = start();
        let state = RecordedState::new(&loaded, KindSet::default(), None);
        let mut writer = JournalWriter::open(copy.path(), small()).unwrap();
        writer.begin(&state, time(1000));
        assert_eq!(writer.failing(), None);
        let journal = Journal::open(copy.path()).unwrap();
        let moment = journal.at(time(1000)).unwrap();
        assert_eq!((text(&moment), moment.in_doubt), (capture(&state), false), "{number}");
        let reasons: Vec<&GapReason> = moment.gaps.iter().map(|gap| &gap.reason).collect();
        let was_cut = frames.tail > 0;
        let had_frames = last > 0 || expected_end.is_some();
        assert_eq!(reasons.contains(&&GapReason::NotRunning), had_frames, "{number}: {reasons:?}");
        assert_eq!(
            reasons.iter().any(|reason| matches!(reason, GapReason::Cut { bytes } if *bytes == frames.tail as u64)),
            had_frames && was_cut
        );
        if had_frames && journal.begin() < time(999) {
            assert_moments(
                &journal,
                &moments.iter().filter(|(t, _)| expected_end.is_some_and(|end| *t <= end)).cloned().collect::<Vec<_>>(),
            );
            let between = journal.at(time(999)).unwrap();
            assert!(between.in_doubt && between.gaps.iter().any(|gap| gap.reason == GapReason::NotRunning), "{number}: {between:?}");
        }
    }
}

/// A flipped bit in the last frame or segment is not told from the end of the recording by its frames.
#[test]
fn a_damaged_end_is_in_doubt_and_one_that_was_cut_in_writing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), JournalOptions { segment_size: 6000, ..small() }, 11);
    for _ in 0..60 {
        model.step();
    }
    drop(model);
    let last = segment::list(folder.path()).unwrap().pop().unwrap().path;
    let whole = fs::read(&last).unwrap();
    let read = |bytes: &[u8]| {
        fs::write(&last, bytes).unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let moment = journal.at(journal.end()).unwrap();
        (moment.in_doubt, moment.gaps.last().map(|gap| gap.reason.clone()))
    };
    let end = frame::scan(&whole).whole.last().unwrap().payload.clone();
    let flipped = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    assert_eq!(read(&whole), (false, None));
    assert_eq!(read(&flipped(end.end - 1)), (true, Some(GapReason::Damaged)), "in the last frame");
    assert_eq!(read(&flipped(0)), (true, Some(GapReason::Damaged)), "in the head of the segment");
    assert_eq!(read(&[&whole[..], b"more"].concat()), (true, Some(GapReason::Damaged)));
    let missing = &whole[..whole.len() - 1];
    let bytes = (missing.len() - frame::scan(missing).whole.last().unwrap().payload.end) as u64;
    assert_eq!(read(missing), (false, Some(GapReason::Cut { bytes })));
    let mut lost = whole.clone();
    for byte in &mut lost {
        *byte ^= 1;
    }
    assert_eq!(read(&lost), (true, Some(GapReason::Damaged)), "the whole segment");
    assert!(!read(b"").0, "a segment that a writer has just made");
}

#[test]
fn damage_anywhere_is_in_doubt_or_without_effect() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), JournalOptions { segment_size: 8000, ..small() }, 2);
    for _ in 0..40 {
        model.step();
    }
    let Model { moments, writer, .. } = model;
    drop(writer);
    let paths: Vec<_> = segment::list(folder.path()).unwrap().into_iter().map(|segment| segment.path).collect();
    let mut random = Random(4);
    for number in 0..300 {
        let path = &paths[random.below(paths.len())];
        let whole = fs::read(path).unwrap();
        let mut damaged = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            damaged[at] ^= 1 << random.below(8);
        }
        fs::write(path, &damaged).unwrap();
        if let Ok(journal) = Journal::open(folder.path()) {
            for (time, expected) in moments.iter().step_by(3) {
                let Ok(moment) = journal.at(*time) else { continue };
                assert!(moment.in_doubt || text(&moment) == *expected, "{number}: {time}");
                let loaded = load(&[Input::Text { name: "in".to_owned(), text: moment.text() }]);
                assert!(!moment.in_doubt || loaded.report.missing().decides_on_part(), "{number}: {time}");
            }
            let first = journal.at(journal.begin());
            let _ = first.map(|moment| journal.after(&moment).count());
        }
        fs::write(path, &whole).unwrap();
    }
}

#[test]
fn a_full_disk_is_a_gap_and_recording_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), JournalOptions { segment_size: 1 << 20, ..small() }, 7);
    for _ in 0..10 {
        model.step();
    }
    model.writer.room = Some(model.writer.health().size + 100);
    let from = model.writer.health().last.unwrap();
    for _ in 0..10 {
        model.step();
    }
    let (since, why) = model.writer.failing().unwrap();
    assert!(since >= from && why.contains("no storage space"), "{why}");
    assert!(model.writer.health().failed > 3);
    model.writer.room = None;
    model.step();
    assert_eq!(model.writer.failing(), None);
    for _ in 0..5 {
        model.step();
    }
    let journal = Journal::open(folder.path()).unwrap();
    assert_moments(&journal, &model.moments);
    let moment = journal.at(journal.end()).unwrap();
    assert!(matches!(&moment.gaps[..], [Gap { from, reason: GapReason::NotWritten, .. }] if *from == since), "{:?}", moment.gaps);
}

#[test]
fn old_segments_go_by_time_and_by_size() {
    let folder = tempfile::tempdir().unwrap();
    let by_time = JournalOptions { keep: Some(Duration::from_secs(30)), ..small() };
    let mut model = Model::new(folder.path(), by_time, 1);
    for _ in 0..80 {
        model.step();
    }
    let journal = Journal::open(folder.path()).unwrap();
    let kept = journal.end().duration_since(journal.begin());
    assert!(kept >= SignedDuration::from_secs(30) && journal.begin() > time(30), "{kept:?}");
    assert_moments(&journal, &model.moments);
    drop(model);

    let folder = tempfile::tempdir().unwrap();
    let by_size = JournalOptions { max_size: Some(12_000), ..small() };
    let mut model = Model::new(folder.path(), by_size, 1);
    for _ in 0..80 {
        model.step();
        assert!(model.writer.health().size <= 12_000 + 3000, "{:?}", model.writer.health());
    }
    let journal = Journal::open(folder.path()).unwrap();
    assert!(journal.begin() > time(0));
    assert_moments(&journal, &model.moments);
}

#[test]
fn a_moment_stays_what_it_was_though_the_clock_is_set_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), small(), 5);
    let mut seen = Vec::new();
    for step in 0..60 {
        if step % 20 == 10 {
            model.now -= 40;
        }
        model.step();
        if step == 35 {
            model.writer.restate(&model.state, time(model.now));
        }
        let end = Journal::open(folder.path()).unwrap().end();
        seen.push((end, capture(&model.state)));
    }
    // A change after another leads to another state, or there was none.
    seen.dedup();
    let journal = Journal::open(folder.path()).unwrap();
    assert!(seen.windows(2).all(|two| two[0].0 < two[1].0 || two[0].1 == two[1].1));
    assert_moments(&journal, &seen);
}

#[test]
fn a_journal_has_one_writer_and_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/journal");
    let model = Model::new(&path, small(), 1);
    assert!(matches!(JournalWriter::open(&path, small()), Err(JournalError::Locked(_))));
    drop(model);
    JournalWriter::open(&path, small()).unwrap();
    for entry in fs::read_dir(&path).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    fs::write(folder.path().join("notes.txt"), "mine").unwrap();
    assert!(matches!(JournalWriter::open(folder.path(), small()), Err(JournalError::NotAJournal(_))));
    assert!(!Journal::is_at(folder.path()) && Journal::is_at(&path));
}

#[test]
fn events_are_kept_up_to_a_number() {
    let mut state = RecordedState::new(&start(), KindSet::default(), None);
    let changes = |from: usize, to: usize| (from..to).map(|number| Change::Event(event("web", &number.to_string(), 1))).collect();
    let mut lines = Vec::new();
    state.apply(changes(0, JOURNAL_EVENTS), KindSet::default(), None, time(1), &mut lines).unwrap();
    assert_eq!(state.events().count(), JOURNAL_EVENTS);
    assert!(state.events().all(|event| event.note != "first"), "the oldest went");
    state.apply(Vec::new(), KindSet::default(), None, time(3 * 3600), &mut lines).unwrap();
    assert_eq!(state.events().count(), 0, "old ones go");
}

#[test]
fn a_line_without_end_is_damage() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let mut known = Vec::new();
    entry::known(&mut known, &Knowledge::default()).unwrap();
    encoder.write_all(&known).unwrap();
    encoder.write_all(b"+Pod\t\t[\"a\",\"b\"]\t").unwrap();
    encoder.write_all(&vec![b' '; JOURNAL_LINE as usize]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let bytes = frame::encode(FrameKind::Keyframe, 1, time(0), &encoder.finish().unwrap()).unwrap();
    fs::write(folder.path().join(segment::name(1)), bytes).unwrap();
    let moment = Journal::open(folder.path()).unwrap().at(time(0)).unwrap();
    let loaded = load(&[Input::Text { name: "in".to_owned(), text: moment.text() }]);
    assert!(loaded.diagnostics.iter().any(|found| found.message.contains("damaged")), "{:?}", loaded.diagnostics);
    assert!(loaded.report.missing().decides_on_part());
}

#[test]
fn gaps_are_kept_up_to_a_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(folder.path(), JournalOptions { segment_size: 1 << 20, ..small() }, 7);
    let gap = serde_json::to_vec(&Gap { from: time(0), to: time(1), reason: GapReason::Damaged }).unwrap();
    for _ in 0..JOURNAL_GAPS + 5 {
        model.writer.frame_for_test(FrameKind::Gap, time(1), &gap);
    }
    let moment = Journal::open(folder.path()).unwrap().at(time(1)).unwrap();
    assert_eq!((moment.gaps.len(), moment.more_gaps), (JOURNAL_GAPS, 5));
}

#[test]
fn a_redacted_journal_has_no_name_and_the_same_replacements_throughout() {
    let words = Vocabulary::of(crate::framework::reason_texts());
    let folder = tempfile::tempdir().unwrap();
    let named = |name: &str| object(Kind::Pod, name, 5, r#""nodeName":"secret-node""#);
    let loaded = Loaded { objects: vec![object(Kind::Node, "secret-node", 1, ""), named("secret-b")], ..start() };
    let mut state = RecordedState::new(&loaded, KindSet::default(), None).redacted(&words);
    let mut writer = JournalWriter::open(folder.path(), small()).unwrap();
    writer.begin(&state, time(0));
    for second in 1..60 {
        let mut lines = Vec::new();
        let changes =
            vec![Change::Put(named(&format!("secret-{second:02}"))), Change::Event(event("secret-b", "0/1 nodes are available", 2))];
        let restate = state.apply(changes, KindSet::default(), None, time(second), &mut lines).unwrap();
        assert!(!restate);
        writer.append(&lines, &state, time(second));
    }
    let mut lines = Vec::new();
    state.apply(vec![Change::Gone(named("secret-30"))], KindSet::default(), None, time(60), &mut lines).unwrap();
    writer.append(&lines, &state, time(60));
    let journal = Journal::open(folder.path()).unwrap();
    let objects = |second: i64| {
        let found = text(&journal.at(time(second)).unwrap());
        assert!(!found.contains("secret"), "{found}");
        let loaded = load(&[Input::Text { name: "in".to_owned(), text: journal.at(time(second)).unwrap().text() }]);
        assert_eq!(loaded.diagnostics.iter().filter(|found| found.severity != crate::source::Severity::Note).count(), 0);
        loaded.cluster()
    };
    let (first, last, end) = (objects(1), objects(59), objects(60));
    assert_eq!((first.pods.len(), last.pods.len(), end.pods.len()), (2, 60, 59));
    let node = first.nodes.iter().next().unwrap().metadata.name.clone();
    assert!(first.pods.iter().all(|pod| pod.node_name == node && last.pods.get(&pod.key()).is_some()));
    assert!(last.pods.iter().all(|pod| pod.node_name == node));
    // Sorted as the originals are, the thirtieth went.
    let names: Vec<Key> = last.pods.iter().map(|pod| pod.key()).collect();
    assert_eq!(names.iter().position(|key| end.pods.get(key).is_none()), Some(29));
}

fn neighbor(kind: NeighborKind, api_version: &str, name: &str, replicas: usize) -> Neighbor {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop"}},"spec":{{"replicas":{replicas}}},"status":{{"replicas":{replicas}}}}}"#
    );
    Neighbor::deserialize_kind(kind, api_version.into(), &mut serde_json::Deserializer::from_str(&text)).unwrap()
}

fn drawn_neighbors(random: &mut Random) -> Neighbors {
    let mut neighbors = Neighbors::default();
    for name in ["web", "api"] {
        if random.below(3) > 0 {
            neighbors.insert(neighbor(NeighborKind::ReplicaSet, "apps/v1", name, random.below(3)));
        }
        if random.below(3) > 0 {
            neighbors.insert(neighbor(NeighborKind::Deployment, "apps/v1", name, random.below(3)));
        }
        if random.below(3) > 0 {
            let group = ["kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1"][random.below(2)];
            neighbors.insert(neighbor(NeighborKind::LocalQueue, group, name, 1));
        }
    }
    neighbors.add_listed(NeighborKind::Deployment);
    neighbors.add_listed(NeighborKind::Job);
    if random.below(2) == 0 {
        neighbors.withhold(NeighborKind::CronJob, MissingReason::Refused);
    }
    neighbors.events_withheld = (random.below(2) == 0).then_some(MissingReason::Failed);
    for text in ["first", "second"] {
        if random.below(2) == 0 {
            neighbors.events.push(OtherEvent {
                about: About::new("Deployment", Key::new("shop", "web")),
                speaker: "deployment-controller".into(),
                kind: "Warning".into(),
                reason: "Failed".into(),
                text: text.into(),
                count: 1 + random.below(3) as u32,
                first: Some(time(0)),
                last: Some(time(1)),
                ..OtherEvent::default()
            });
        }
    }
    neighbors
}

/// Returns what is known of objects that scheduling does not read, in the order of nothing but their keys.
fn seen(neighbors: &Neighbors) -> Vec<String> {
    let mut all: Vec<String> = neighbors.objects().map(|object| serde_json::to_string(&**object).unwrap()).collect();
    all.extend(neighbors.events.iter().map(|event| serde_json::to_string(event).unwrap()));
    all.sort();
    let of_kind = |kind| format!("{kind} {} {:?}", neighbors.knows(kind), neighbors.why(kind));
    all.extend([NeighborKind::Deployment, NeighborKind::Job, NeighborKind::CronJob, NeighborKind::DaemonSet].map(of_kind));
    all.push(format!("{:?}", neighbors.events_withheld));
    all
}

#[test]
fn workloads_and_events_of_others_are_those_of_the_moment() {
    for seed in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(seed);
        let sets = ["web", "api"].map(|name| object(Kind::ReplicaSet, name, 1, r#""replicas":1"#));
        let loaded = Loaded { objects: sets.into_iter().chain(start().objects).collect(), ..start() };
        let mut state = RecordedState::new(&loaded, KindSet::default(), None);
        let mut writer = JournalWriter::open(folder.path(), small()).unwrap();
        writer.begin(&state, time(0));
        let mut moments = Vec::new();
        for second in 1..40 {
            let mut lines = Vec::new();
            let neighbors = drawn_neighbors(&mut random);
            assert!(!state.apply_neighbors(neighbors.clone(), &mut lines).unwrap());
            writer.append(&lines, &state, time(second));
            moments.push((time(second), seen(&neighbors)));
        }
        let journal = Journal::open(folder.path()).unwrap();
        for (time, expected) in &moments {
            let loaded = load(&[Input::Text { name: "in".to_owned(), text: journal.at(*time).unwrap().text() }]);
            assert!(loaded.diagnostics.iter().all(|found| found.severity == crate::source::Severity::Note), "{:?}", loaded.diagnostics);
            // The objects of kinds that scheduling reads are objects of both.
            let mut found = Neighbors::clone(&loaded.neighbors);
            for name in ["web", "api"] {
                if !expected.iter().any(|text| text.contains("ReplicaSet") && text.contains(name)) {
                    found.remove(NeighborKind::ReplicaSet, &Key::new("shop", name));
                }
            }
            let names = |all: &[String]| all.iter().filter(|text| !text.contains("\"ReplicaSet\"")).cloned().collect::<Vec<_>>();
            assert_eq!(names(&seen(&found)), names(expected), "seed {seed} at {time}");
            let replicas = |text: &String| text.contains("\"ReplicaSet\"").then(|| text.matches("\"replicas\":2").count());
            let states = |all: &[String]| all.iter().filter_map(replicas).filter(|count| *count > 0).count();
            assert_eq!(states(&seen(&found)), states(expected), "seed {seed} at {time}");
        }
    }
}

#[test]
fn events_of_others_are_kept_up_to_a_number() {
    let mut state = RecordedState::new(&start(), KindSet::default(), None);
    let mut neighbors = Neighbors::default();
    let event = |number: usize| OtherEvent { text: number.to_string(), last: Some(time(number as i64)), ..OtherEvent::default() };
    neighbors.events = (0..JOURNAL_EVENTS + 3).map(event).collect();
    let mut lines = Vec::new();
    state.apply_neighbors(neighbors, &mut lines).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    assert_eq!(lines.lines().filter(|line| line.starts_with("+OtherEvent")).count(), JOURNAL_EVENTS);
    assert!(lines.contains("Incomplete") && !lines.contains(r#""message":"2""#));
}

#[test]
fn a_deletion_is_found_without_the_segments_before_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut state = RecordedState::new(&start(), KindSet::default(), None);
    let pod = |name: &str| object(Kind::Pod, name, 9, "");
    let mut writer = JournalWriter::open(folder.path(), small()).unwrap();
    writer.begin(&state, time(0));
    for second in 1..200 {
        let mut changes = vec![Change::Put(pod(&format!("p{second}")))];
        match second {
            50 | 150 => changes.push(Change::Gone(pod("web"))),
            100 => changes.push(Change::Put(pod("web"))),
            160 => changes.push(Change::Put(pod("web"))),
            _ => {}
        }
        let mut lines = Vec::new();
        state.apply(changes, KindSet::default(), None, time(second), &mut lines).unwrap();
        writer.append(&lines, &state, time(second));
    }
    drop(writer);
    let key = Key::new("shop", "web");
    let last = |key: &Key| Journal::open(folder.path()).unwrap().last_deletion(Kind::Pod, key);
    let expected = Deletion { before: time(149), after: time(150) };
    assert_eq!(last(&key), Ok(Some(expected)));
    // A pod that is gone after a gap is gone since its begin.
    let mut without: Vec<Object> = state.cluster().objects().filter(|object| object.key() != key).collect();
    without.push(object(Kind::Pod, "new", 1, ""));
    let state = RecordedState::new(&Loaded { objects: without, ..Loaded::default() }, KindSet::default(), None);
    let mut writer = JournalWriter::open(folder.path(), small()).unwrap();
    writer.begin(&state, time(300));
    writer.append(&[], &state, time(320));
    drop(writer);
    assert_eq!(last(&key), Ok(Some(Deletion { before: time(199), after: time(300) })));
    assert_eq!((last(&Key::new("shop", "p7")), last(&Key::new("shop", "never"))), (Ok(None), Ok(None)));
    // Segments before that of the deletion are not read.
    let segments = segment::list(folder.path()).unwrap();
    assert!(segments.len() > 5);
    for segment in &segments[..segments.len() - 3] {
        let length = fs::metadata(&segment.path).unwrap().len() as usize;
        let mut bytes = fs::read(&segment.path).unwrap();
        bytes[40..length].fill(0);
        fs::write(&segment.path, bytes).unwrap();
    }
    assert_eq!(last(&key), Ok(Some(Deletion { before: time(199), after: time(300) })));
}

#[test]
fn frames_with_the_first_and_the_last_number_there_is_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut known = GzEncoder::new(Vec::new(), Compression::fast());
    let mut line = Vec::new();
    entry::known(&mut line, &Knowledge::default()).unwrap();
    known.write_all(&line).unwrap();
    let known = known.finish().unwrap();
    for sequences in [[0, 0, 0], [u64::MAX, 0, u64::MAX], [u64::MAX - 1, u64::MAX, u64::MAX]] {
        let mut bytes = Vec::new();
        for (second, sequence) in (0..).zip(sequences) {
            let kind = if second == 0 { FrameKind::Keyframe } else { FrameKind::Changes };
            bytes.extend(frame::encode(kind, sequence, time(second), &known).unwrap());
        }
        fs::write(folder.path().join(segment::name(1)), bytes).unwrap();
        let journal = Journal::open(folder.path()).unwrap();
        let steps = journal.after(&journal.at(time(0)).unwrap()).take(100).count();
        assert!(steps < 10, "{sequences:?}: {steps}");
        assert!(journal.at(time(2)).unwrap().in_doubt, "{sequences:?}");
        drop(journal.last_deletion(Kind::Pod, &Key::new("a", "b")));
        // A recorder goes on with it.
        let mut writer = JournalWriter::open(folder.path(), small()).unwrap();
        writer.begin(&RecordedState::new(&start(), KindSet::default(), None), time(10));
        assert!(writer.failing().is_none(), "{sequences:?}");
        drop(writer);
        for segment in segment::list(folder.path()).unwrap() {
            fs::remove_file(segment.path).unwrap();
        }
    }
}

#[test]
fn a_journal_of_another_format_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(segment::name(1));
    let mut bytes = frame::encode(FrameKind::Keyframe, 1, Timestamp::UNIX_EPOCH, b"").unwrap();
    bytes[3] = b'1';
    std::fs::write(&path, &bytes).unwrap();
    let words = "is a journal of format 1; this version reads and writes format 2";
    assert!(Journal::open(folder.path()).unwrap_err().to_string().contains(words));
    assert!(JournalWriter::open(folder.path(), JournalOptions::default()).unwrap_err().to_string().contains(words));
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}
