//! Journals as sources: the state at a moment, and the changes around it as a timeline.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use super::Failure;
use super::args::{ConnectArgs, SourceArgs};
use crate::cluster::{Cluster, Key, Kind, Object, ObservedEvent};
use crate::limits::sessions::{JOURNAL_CHANGES, JOURNAL_REVISIONS};
use crate::output::Lines;
use crate::scheduler::Operation;
use crate::session::{AtTime, changes, has_new_report};
use crate::source::journal::{Gap, Journal, JournalChange, Moment, Step};
use crate::source::{Input, Limits, Loaded};

/// Gaps that are listed on standard error.
const LISTED_GAPS: usize = 5;

/// Returns the journal that a command names as its only source; `None` for any other source.
///
/// # Errors
/// Fails if `--at` is given without a journal.
pub(super) fn named(paths: &[std::path::PathBuf], at: Option<AtTime>) -> Result<Option<&Path>, Failure> {
    let journal = if let [path] = paths { Some(path.as_path()).filter(|path| Journal::is_at(path)) } else { None };
    if at.is_some() && journal.is_none() {
        return Err(Failure::usage("--at needs one journal, the folder that schedscope record writes"));
    }
    if paths.len() > 1 && paths.iter().any(|path| Journal::is_at(path)) {
        return Err(Failure::usage("a journal cannot be merged with other sources"));
    }
    Ok(journal)
}

fn failed(path: &Path, error: &dyn std::fmt::Display) -> Failure {
    Failure::source(format!("{}: {error}", path.display()))
}

/// Opens a journal and the state at a moment of it; by default, that of its end.
fn moment(path: &Path, at: Option<AtTime>) -> Result<(Journal, Moment), Failure> {
    let journal = Journal::open(path).map_err(|error| Failure::source(error.to_string()))?;
    let time = at.map_or(journal.end(), |at| at.in_record(journal.end()));
    let moment = journal.at(time).map_err(|error| failed(path, &error))?;
    Ok((journal, moment))
}

/// Loads the state of a moment.
fn load_moment(path: &Path, moment: &Moment, read: impl FnOnce(&[Input]) -> Loaded) -> Loaded {
    let mut loaded = read(&[Input::Text { name: path.display().to_string(), text: moment.text() }]);
    // The moment is the time of the state, whatever the clocks of its objects say.
    (loaded.report.taken, loaded.report.newest) = (Some(moment.time), Some(moment.time));
    loaded
}

/// Returns the lines about what the journal does not know of a moment.
fn doubts(moment: &Moment) -> Lines {
    let mut lines = Lines::default();
    if moment.in_doubt {
        lines.line(format_args!(
            "the journal is incomplete at {}: changes before that moment may be missing, so every kind counts as known in part",
            moment.time
        ));
    }
    let hidden = moment.gaps.len().saturating_sub(LISTED_GAPS);
    for gap in moment.gaps.iter().skip(hidden) {
        lines.line(format_args!("gap in the journal: {gap}"));
    }
    let more = hidden + moment.more_gaps;
    if more > 0 {
        lines.line(format_args!("{more} more gaps since the last keyframe"));
    }
    lines
}

/// Reads a journal at a moment. Doubts go to standard error.
///
/// # Errors
/// Fails if the journal does not reach the moment, or cannot be read.
pub(super) fn read(path: &Path, at: Option<AtTime>, limits: &Limits) -> Result<Loaded, Failure> {
    let (_, moment) = moment(path, at)?;
    crate::output::say_all(&doubts(&moment));
    let loaded = load_moment(path, &moment, |inputs| super::watched(inputs, limits));
    super::tell(&loaded);
    if loaded.objects.is_empty() {
        return Err(failed(path, &"the state at this moment has no objects"));
    }
    super::judgeable(loaded)
}

/// Returns the moment before a pod was deleted last, in a journal; `None` if it was not.
///
/// # Errors
/// Fails if the journal cannot be read.
pub(super) fn before_deletion(path: &Path, pod: &Key) -> Result<Option<Timestamp>, Failure> {
    let journal = Journal::open(path).map_err(|error| Failure::source(error.to_string()))?;
    let first = journal.at(journal.begin()).map_err(|error| failed(path, &error))?;
    let (mut before, mut found) = (journal.begin(), None);
    for step in journal.after(&first) {
        match step {
            Step::Changes(time, changes) => {
                if changes.iter().any(|change| matches!(change, JournalChange::Gone(Kind::Pod, key) if key == pod)) {
                    found = Some(before);
                }
                before = time;
            }
            Step::Gap(gap) => before = gap.to,
            Step::State(moment) => before = moment.time,
        }
    }
    Ok(found)
}

/// The part of a journal around a moment.
pub(super) struct Window {
    /// The state at the start.
    pub(super) loaded: Loaded,
    /// The changes after it, each a revision of the timeline.
    pub(super) operations: Vec<Operation>,
    /// The events up to the end.
    pub(super) events: Vec<ObservedEvent>,
    /// The moment that was asked for.
    pub(super) time: Timestamp,
    /// Lines about the journal, its gaps and the ends of the window.
    pub(super) lines: Lines,
}

/// Time before and after a moment that the timeline covers.
const AROUND: SignedDuration = SignedDuration::from_mins(5);

/// Reads a journal around a moment.
///
/// # Errors
/// Fails if the journal does not reach the moment, or cannot be read.
pub(super) fn window(path: &Path, at: Option<AtTime>, read: &dyn Fn(&[Input]) -> Loaded) -> Result<Window, Failure> {
    let journal = Journal::open(path).map_err(|error| Failure::source(error.to_string()))?;
    let time = at.map_or(journal.end(), |at| at.in_record(journal.end()));
    // A moment that the journal does not reach is an error, not the nearest one.
    if time < journal.begin() || time > journal.end() {
        journal.at(time).map_err(|error| failed(path, &error))?;
    }
    let from = time.checked_sub(AROUND).unwrap_or(Timestamp::MIN).max(journal.begin());
    let to = time.checked_add(AROUND).unwrap_or(Timestamp::MAX).min(journal.end());
    let start = journal.at(from).map_err(|error| failed(path, &error))?;
    let loaded = load_moment(path, &start, read);
    let mut lines = doubts(&start);
    let mut maker = Operations { cluster: loaded.cluster(), events: loaded.events.clone(), made: Vec::new(), pending: Pending::default() };
    let step_length = to.duration_since(from).as_secs() / JOURNAL_REVISIONS as i64;
    let (mut taken, mut end, mut unreadable) = (0, to, 0);
    for step in journal.after(&start) {
        match step {
            Step::Changes(at, changes) => {
                if at > to || taken >= JOURNAL_CHANGES && at > time {
                    end = maker.pending.last.unwrap_or(from).max(time);
                    break;
                }
                taken += changes.len();
                unreadable += changes.iter().filter(|change| matches!(change, JournalChange::Unreadable)).count();
                // The moment that was asked for begins a revision.
                let is_next =
                    maker.pending.first.is_some_and(|first| at.duration_since(first).as_secs() > step_length || first <= time && at > time);
                if is_next {
                    maker.flush();
                }
                maker.add(at, changes);
            }
            Step::Gap(gap) if gap.from > to => break,
            Step::Gap(gap) => {
                maker.flush();
                lines.line(format_args!("gap in the journal: {gap}"));
                maker.gap(&gap);
            }
            Step::State(moment) if moment.time > to => break,
            Step::State(moment) => {
                maker.flush();
                let next = load_moment(path, &moment, read);
                maker.state(&next, moment.time);
            }
        }
    }
    maker.flush();
    if unreadable > 0 {
        lines.line(format_args!("{unreadable} changes in the journal could not be read"));
    }
    let (begun, ended) = (journal.begin(), journal.end());
    lines
        .line(format_args!("the journal is from {begun} to {ended}; the timeline shows {from} to {end} of it, and --at TIME another part"));
    Ok(Window { loaded, operations: maker.made, events: maker.events, time, lines })
}

/// Changes that are not an operation yet.
#[derive(Default)]
struct Pending {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The last state of each object; `None` if it is gone.
    objects: BTreeMap<(Kind, Key), Option<Object>>,
    events: Vec<ObservedEvent>,
    unknown: Option<crate::cluster::MissingKinds>,
}

/// Turns the changes of a journal into operations.
struct Operations {
    cluster: Cluster,
    events: Vec<ObservedEvent>,
    made: Vec<Operation>,
    pending: Pending,
}

/// Returns an operation that only tells the time.
fn clock(time: Timestamp) -> Operation {
    Operation::Observe { time, pods: Vec::new(), events: Vec::new(), unknown: None }
}

impl Operations {
    fn add(&mut self, time: Timestamp, changes: Vec<JournalChange>) {
        self.pending.first.get_or_insert(time);
        self.pending.last = Some(time);
        for change in changes {
            match change {
                JournalChange::Put(object) => drop(self.pending.objects.insert((object.kind(), object.key()), Some(object))),
                JournalChange::Gone(kind, key) => drop(self.pending.objects.insert((kind, key), None)),
                JournalChange::Event(event) => self.pending.events.push(event),
                JournalChange::Known(knowledge) => self.pending.unknown = Some(knowledge.missing()),
                JournalChange::Unreadable => {}
            }
        }
    }

    /// Makes an operation of the pending changes: deletions first, then creations and updates.
    fn flush(&mut self) {
        let Pending { last, objects, events, unknown, .. } = std::mem::take(&mut self.pending);
        let Some(time) = last else { return };
        let (mut gone, mut came, mut pods) = (Vec::new(), Vec::new(), Vec::new());
        for ((kind, key), now) in objects {
            let before = self.cluster.get(kind, &key);
            let is_other = |now: &Object| before.as_ref().is_some_and(|before| before.meta().uid != now.meta().uid);
            if let Some(before) = before.clone().filter(|_| now.as_ref().is_none_or(is_other)) {
                self.cluster.remove(kind, &key);
                gone.push(Operation::Delete { object: before });
            }
            let Some(object) = now.filter(|now| before.as_ref() != Some(now)) else { continue };
            if let Object::Pod(pod) = &object
                && has_new_report(self.cluster.pods.get(&key).map(|pod| &**pod), pod)
            {
                pods.push(key);
            }
            came.push(Operation::put(&self.cluster, object.clone()));
            self.cluster.insert(object);
        }
        let is_about = |event: &&ObservedEvent| self.cluster.pods.get(&event.pod).is_some_and(|pod| event.is_about(pod));
        pods.extend(events.iter().filter(|event| event.reason == "FailedScheduling").filter(is_about).map(|event| event.pod.clone()));
        pods.sort();
        pods.dedup();
        for event in &events {
            self.events.retain(|known| {
                (&known.pod, &known.uid, &known.reason, &known.note) != (&event.pod, &event.uid, &event.reason, &event.note)
            });
            self.events.push(event.clone());
        }
        let unknown = unknown.filter(|unknown| *unknown != self.cluster.unknown);
        if let Some(unknown) = unknown {
            self.cluster.unknown = unknown;
        }
        if gone.is_empty() && came.is_empty() && events.is_empty() && unknown.is_none() {
            return;
        }
        let about: Vec<ObservedEvent> = self.events.iter().filter(|event| pods.binary_search(&event.pod).is_ok()).cloned().collect();
        let mut operations = vec![clock(time)];
        operations.extend(gone);
        operations.extend(came);
        operations.push(Operation::Observe { time, pods, events: about, unknown });
        self.made.push(Operation::Batch { name: format!("recorded at {}", time.strftime("%H:%M:%SZ")), operations });
    }

    fn gap(&mut self, gap: &Gap) {
        self.made.push(Operation::Batch { name: format!("gap: {gap}"), operations: vec![clock(gap.to)] });
    }

    /// Makes an operation of all differences from another state.
    fn state(&mut self, next: &Loaded, time: Timestamp) {
        let cluster = next.cluster();
        let operation =
            changes(&self.cluster, &cluster, &next.events, &format!("recorded again from {}", time.strftime("%H:%M:%SZ")), time);
        self.made.extend(operation);
        (self.cluster, self.events) = (cluster, next.events.clone());
    }
}

/// Loads the source that a command names, at a moment if it is a journal.
///
/// # Errors
/// Fails if it cannot be read.
pub(super) fn read_source(source: &SourceArgs, connect: &ConnectArgs, limits: &Limits, at: Option<AtTime>) -> Result<Loaded, Failure> {
    match named(&source.from, at)? {
        Some(_) if connect.is_given() => super::read(source, connect, limits),
        Some(path) => read(path, at, limits),
        None => super::read(source, connect, limits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::journal::{JournalOptions, JournalWriter, RecordedState};

    fn pod(name: &str, node: &str) -> Object {
        let text =
            format!(r#"{{"kind":"Pod","metadata":{{"name":"{name}","namespace":"x","uid":"{name}"}},"spec":{{"nodeName":"{node}"}}}}"#);
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
        let steps =
            [("2026-11-27T03:10:00Z", pod("b", "")), ("2026-11-27T03:12:00Z", pod("b", "n")), ("2026-11-27T03:12:30Z", pod("c", ""))];
        for (at, object) in steps {
            let mut lines = Vec::new();
            let put = vec![crate::source::live::Change::Put(object)];
            state.apply(put, crate::cluster::KindSet::default(), None, time(at), &mut lines).unwrap();
            writer.append(&lines, &state, time(at));
        }
        let read = |inputs: &[Input]| crate::source::load(inputs);
        let window = window(folder.path(), Some("03:12".parse().unwrap()), &read).unwrap();
        let names: Vec<String> = window
            .operations
            .iter()
            .map(|made| if let Operation::Batch { name, .. } = made { name.clone() } else { String::new() })
            .collect();
        assert_eq!(names, ["recorded at 03:10:00Z", "recorded at 03:12:00Z", "recorded at 03:12:30Z"]);
        assert_eq!((window.loaded.objects.len(), window.time), (1, time("2026-11-27T03:12:00Z")));
        let early = super::window(folder.path(), Some("22:59".parse().unwrap()), &read);
        assert!(early.err().unwrap().message.to_string().contains("the journal begins at 2026-11-26T23:00:00Z"));
        assert_eq!(before_deletion(folder.path(), &Key::new("x", "b")).unwrap(), None);
        let mut lines = Vec::new();
        let gone = vec![crate::source::live::Change::Gone(pod("b", "n"))];
        state.apply(gone, crate::cluster::KindSet::default(), None, time("2026-11-27T03:13:00Z"), &mut lines).unwrap();
        writer.append(&lines, &state, time("2026-11-27T03:13:00Z"));
        assert_eq!(before_deletion(folder.path(), &Key::new("x", "b")).unwrap(), Some(time("2026-11-27T03:12:30Z")));
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
        let whole = window(folder.path(), Some(AtTime::Before(SignedDuration::from_secs(290))), &read).unwrap();
        assert!((JOURNAL_REVISIONS / 2..=JOURNAL_REVISIONS).contains(&whole.operations.len()), "{}", whole.operations.len());
        let mut lines = Vec::new();
        let changes = (0..=JOURNAL_CHANGES).map(|number| put(format!("p{number}"), 1)).collect();
        state.apply(changes, crate::cluster::KindSet::default(), None, time(590), &mut lines).unwrap();
        writer.append(&lines, &state, time(590));
        let mut lines = Vec::new();
        state.apply(vec![put("after".to_owned(), 1)], crate::cluster::KindSet::default(), None, time(600), &mut lines).unwrap();
        writer.append(&lines, &state, time(600));
        let cut = window(folder.path(), Some(AtTime::Before(SignedDuration::from_secs(50))), &read).unwrap();
        let said = cut.lines.to_string();
        assert!(said.contains(&format!("to {} of it", time(590))), "{said}");
    }

    #[test]
    fn at_is_for_journals() {
        let paths = ["a.json".into(), "b.json".into()];
        assert!(named(&paths, Some(AtTime::Before(SignedDuration::ZERO))).is_err());
        assert_eq!(named(&paths, None).unwrap(), None);
    }
}
