//! Sources that hold their own past, journals and etcd's database: the state at a moment, and the changes around it as a timeline.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::Failure;
use super::args::{ConnectArgs, SchedulerArgs, SourceArgs};
use crate::analysis::JudgedAttempts;
use crate::cluster::neighbors::{Neighbors, OtherEvent};
use crate::cluster::{Cluster, Key, Kind, Object, ObservedEvent};
use crate::limits::sessions::{JOURNAL_CHANGES, JOURNAL_REVISIONS};
use crate::limits::sources::JOURNAL_LOG;
use crate::output::Lines;
use crate::plural::count;
use crate::scheduler::{Evictions, Operation};
use crate::session::{AtTime, Background, EtcdRevisions, Session, changes, has_new_report};
use crate::source::history::{EtcdHistory, RevisionError};
use crate::source::journal::{Deletion, Gap, Journal, JournalLog, Moment, RecordedChange, Step};
use crate::source::{Input, Limits, Loaded};

/// Gaps that are listed on standard error.
const LISTED_GAPS: usize = 5;

/// A source that holds its own past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Past {
    /// The folder of a journal.
    Journal(PathBuf),
    /// A file with etcd's database.
    Etcd(PathBuf),
}

impl Past {
    /// Returns the source at a path; `None` if it is another.
    pub(super) fn at(path: &Path) -> Option<Self> {
        if Journal::is_at(path) {
            return Some(Self::Journal(path.to_owned()));
        }
        EtcdHistory::is_at(path).then(|| Self::Etcd(path.to_owned()))
    }

    /// Returns its path.
    pub(super) fn path(&self) -> &Path {
        let (Self::Journal(path) | Self::Etcd(path)) = self;
        path
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> Failure {
        Failure::source(format!("{}: {error}", self.path().display()))
    }

    /// Loads the text of a moment.
    fn load(
        &self,
        text: std::sync::Arc<dyn crate::source::OpenText>,
        time: Option<Timestamp>,
        read: &dyn Fn(&[Input]) -> Loaded,
    ) -> Loaded {
        let mut loaded = read(&[Input::Text { name: self.path().display().to_string(), text }]);
        if time.is_some() {
            // The moment is the time of the state, whatever the clocks of its objects say.
            (loaded.report.taken, loaded.report.newest) = (time, time);
        }
        loaded
    }
}

/// Time before a moment of a journal of which the schedulers' log is read.
const LOG_BEFORE: SignedDuration = SignedDuration::from_hours(1);

impl Past {
    /// Adds the schedulers' log that a journal has from an hour before a time up to another one; returns lines about what it lacks.
    fn add_log(&self, journal: &Journal, from: Timestamp, to: Timestamp, loaded: &mut Loaded) -> Result<Lines, Failure> {
        let from = from.checked_sub(LOG_BEFORE).unwrap_or(Timestamp::MIN);
        let JournalLog { writers, dropped, is_cut, damaged } = journal.log(from, to).map_err(|error| self.failed(&error))?;
        let mut lines = Lines::default();
        for (writer, text) in writers {
            loaded.logs.add(format!("{}!/{writer}", self.path().display()), text);
        }
        if dropped > 0 {
            lines.line(format_args!(
                "the schedulers' log is incomplete: {} came too fast and were not recorded",
                count(dropped as usize, "byte")
            ));
        }
        if is_cut {
            lines.line(format_args!("only the newest {} MiB of the schedulers' log are read", JOURNAL_LOG >> 20));
        }
        if damaged > 0 {
            lines.line(format_args!("{} of the schedulers' log could not be read", count(damaged, "frame")));
        }
        Ok(lines)
    }
}

/// Returns the source with its own past that a command names as its only source; `None` for any other source.
///
/// # Errors
/// Fails if `--at` is given without such a source.
pub(super) fn named(paths: &[PathBuf], at: Option<AtTime>) -> Result<Option<Past>, Failure> {
    let past = if let [path] = paths { Past::at(path) } else { None };
    if at.is_some() && past.is_none() {
        let words = "--at needs one journal, the folder that schedscope record writes, or one snapshot of etcd that is in no archive";
        return Err(Failure::usage(words));
    }
    if paths.len() > 1 && paths.iter().any(|path| Journal::is_at(path)) {
        return Err(Failure::usage("a journal cannot be merged with other sources"));
    }
    Ok(past)
}

/// Returns the schedulers' log of a journal that is the only path; `None` for other paths. Its gaps go to standard error.
///
/// # Errors
/// Fails if the journal cannot be read.
pub(super) fn recorded_log(paths: &[PathBuf]) -> Result<Option<Loaded>, Failure> {
    let [path] = paths else { return Ok(None) };
    if !Journal::is_at(path) {
        return Ok(None);
    }
    let (past, journal) = (Past::Journal(path.clone()), journal_at(path)?);
    let mut loaded = Loaded::default();
    crate::output::say_all(&past.add_log(&journal, journal.begin(), journal.end(), &mut loaded)?);
    Ok(Some(loaded))
}

fn journal_at(path: &Path) -> Result<Journal, Failure> {
    Journal::open(path).map_err(|error| Failure::source(error.to_string()))
}

/// Returns the time of a moment of a journal; by default, that of its end.
fn time_in(journal: &Journal, at: Option<AtTime>) -> Result<Timestamp, Failure> {
    match at.map(|at| at.in_record(journal.end())) {
        None => Ok(journal.end()),
        Some(Some(time)) => Ok(time),
        Some(None) => Err(Failure::usage("--at rev:N needs a snapshot of etcd; the moments of a journal are times")),
    }
}

/// Returns the revision of a moment of etcd's history; by default, the newest.
fn revision_in(history: &EtcdHistory, at: Option<AtTime>) -> Result<u64, RevisionError> {
    match at {
        None => Ok(history.newest()),
        Some(AtTime::Revision(revision)) => history.check(revision),
        Some(at) => {
            let end = history.time_of(history.newest()).ok_or(RevisionError::NoTimes(history.newest()))?;
            history.revision_at(at.in_record(end).unwrap_or(end))
        }
    }
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

impl Past {
    /// Reads the state at a moment; by default, the end. Doubts go to standard error.
    ///
    /// # Errors
    /// Fails if the source does not reach the moment, or cannot be read.
    pub(super) fn read(&self, at: Option<AtTime>, limits: &Limits) -> Result<Loaded, Failure> {
        let watched = |inputs: &[Input]| super::watched(inputs, limits);
        let loaded = match self {
            Self::Journal(path) => {
                let journal = journal_at(path)?;
                let moment = journal.at(time_in(&journal, at)?).map_err(|error| self.failed(&error))?;
                crate::output::say_all(&doubts(&moment));
                let mut loaded = self.load(moment.text(), Some(moment.time), &watched);
                crate::output::say_all(&self.add_log(&journal, moment.time, moment.time, &mut loaded)?);
                loaded
            }
            Self::Etcd(path) => {
                let history = EtcdHistory::open(path, limits).map_err(|error| self.failed(&error))?;
                let revision = revision_in(&history, at).map_err(|error| self.failed(&error))?;
                self.load(history.text(revision), history.time_of(revision), &watched)
            }
        };
        super::tell(&loaded);
        if loaded.objects.is_empty() {
            return Err(self.failed(&"the state at this moment has no objects"));
        }
        super::judgeable(loaded)
    }

    /// Returns the moment before a pod was deleted last, and words for it; `None` if it was not.
    ///
    /// # Errors
    /// Fails if the source cannot be read.
    pub(super) fn before_deletion(&self, pod: &Key, limits: &Limits) -> Result<Option<(AtTime, String)>, Failure> {
        match self {
            Self::Journal(path) => {
                let deletion = journal_at(path)?.last_deletion(Kind::Pod, pod).map_err(|error| self.failed(&error))?;
                Ok(deletion.map(|Deletion { before, after }| {
                    let words = format!("{pod} was deleted after {before} and before {after}; this is the moment before");
                    (AtTime::At(before), words)
                }))
            }
            Self::Etcd(path) => {
                let history = EtcdHistory::open(path, limits).map_err(|error| self.failed(&error))?;
                let steps = history.after(history.begin()).map_err(|error| self.failed(&error))?;
                let is_gone = |change: &RecordedChange| matches!(change, RecordedChange::Gone(Kind::Pod, key) if key == pod);
                let gone = steps.filter(|step| step.changes.iter().any(is_gone)).last();
                Ok(gone.map(|step| {
                    let before = step.revision.saturating_sub(1);
                    let time = step.time.map_or_else(String::new, |time| format!(" ({time})"));
                    let words = format!("{pod} was deleted at revision {}{time}; this is the revision before", step.revision);
                    (AtTime::Revision(before), words)
                }))
            }
        }
    }

    /// Reads the part of the past around a moment: of a journal, up to a time behind it.
    ///
    /// # Errors
    /// Fails if the source does not reach the moment, or cannot be read.
    pub(super) fn window(
        &self,
        at: Option<AtTime>,
        behind: SignedDuration,
        limits: &Limits,
        read: &dyn Fn(&[Input]) -> Loaded,
    ) -> Result<Window, Failure> {
        match self {
            Self::Journal(path) => {
                let journal = journal_at(path)?;
                let time = time_in(&journal, at)?;
                journal_window(self, &journal, time, behind, read)
            }
            Self::Etcd(path) => {
                let history = EtcdHistory::open(path, limits).map_err(|error| self.failed(&error))?;
                let revision = revision_in(&history, at).map_err(|error| self.failed(&error))?;
                etcd_window(self, &history, revision, read)
            }
        }
    }
}

/// Returns the newest attempts of the cluster's scheduler about a pod before a moment, compared with our decisions on the states of
/// their moments.
///
/// # Errors
/// Fails if the source does not reach the moment, or cannot be read.
pub(super) fn attempts_before(
    past: &Past,
    at: Option<AtTime>,
    pod: &Key,
    args: &SchedulerArgs,
    limits: &Limits,
) -> Result<JudgedAttempts, Failure> {
    let read = |inputs: &[Input]| super::watched(inputs, limits);
    let Window { mut loaded, operations, reached, events, .. } = past.window(at, SignedDuration::ZERO, limits, &read)?;
    loaded = super::judgeable(loaded)?;
    // Its findings are those of the log of the moment, which are shown already.
    super::scheduler_log::read_log(args, &mut loaded, limits, &|_| ())?;
    let attempts = super::scheduler_log::reported(loaded.scheduler_log.as_deref());
    let scheduler = super::scheduler(args, &mut loaded, Evictions::AfterGracePeriod, &|_| ())?;
    let mut session = Session::new(scheduler, String::new()).with(Background { events, attempts, observed: true, ..Background::default() });
    for operation in operations.into_iter().take(reached) {
        session.observe(operation);
    }
    Ok(JudgedAttempts::new(&session, pod))
}

/// The part of a past around a moment.
pub(super) struct Window {
    /// The state at the start.
    pub(super) loaded: Loaded,
    /// The changes after it, each a revision of the timeline.
    pub(super) operations: Vec<Operation>,
    /// The revision of etcd at the start and after each operation; `None` for another source.
    pub(super) etcd: Option<EtcdRevisions>,
    /// The operations up to the moment that was asked for.
    pub(super) reached: usize,
    /// The events up to the end.
    pub(super) events: Vec<ObservedEvent>,
    /// The objects and events that scheduling does not read, as they were at the moment.
    pub(super) neighbors: std::sync::Arc<Neighbors>,
    /// Lines about the source, its gaps and the ends of the window; the last is the most important.
    pub(super) lines: Lines,
}

/// Time before and after a moment that the timeline of a journal covers.
pub(super) const AROUND: SignedDuration = SignedDuration::from_mins(5);

fn journal_window(
    past: &Past,
    journal: &Journal,
    time: Timestamp,
    behind: SignedDuration,
    read: &dyn Fn(&[Input]) -> Loaded,
) -> Result<Window, Failure> {
    // A moment that the journal does not reach is an error, not the nearest one.
    if time < journal.begin() || time > journal.end() {
        journal.at(time).map_err(|error| past.failed(&error))?;
    }
    let from = time.checked_sub(AROUND).unwrap_or(Timestamp::MIN).max(journal.begin());
    let to = time.checked_add(behind).unwrap_or(Timestamp::MAX).min(journal.end());
    let start = journal.at(from).map_err(|error| past.failed(&error))?;
    let mut loaded = past.load(start.text(), Some(start.time), read);
    let mut lines = doubts(&start);
    lines.extend(past.add_log(journal, from, to, &mut loaded)?);
    let mut maker = Operations::new(&loaded);
    let step_length = to.duration_since(from).as_secs() / JOURNAL_REVISIONS as i64;
    let (mut taken, mut end, mut unreadable, mut reached) = (0, to, 0, None);
    for step in journal.after(&start) {
        let begins = match &step {
            Step::Changes(at, _) => *at,
            Step::Gap(gap) => gap.to,
            Step::State(moment) => moment.time,
        };
        if begins > time && reached.is_none() {
            // The moment that was asked for ends a revision.
            maker.flush();
            reached = Some((maker.made.len(), maker.neighbors.clone()));
        }
        match step {
            Step::Changes(at, changes) => {
                if at > to || taken >= JOURNAL_CHANGES && at > time {
                    end = maker.last.unwrap_or(from).max(time);
                    break;
                }
                taken += changes.len();
                unreadable += unreadable_of(&changes);
                if maker.pending.first.is_some_and(|first| at.duration_since(first).as_secs() > step_length) {
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
                let next = past.load(moment.text(), Some(moment.time), read);
                maker.state(&next, moment.time);
            }
        }
    }
    maker.flush();
    let (reached, neighbors) = reached.unwrap_or_else(|| (maker.made.len(), std::mem::take(&mut maker.neighbors)));
    if unreadable > 0 {
        lines.line(format_args!("{} in the journal could not be read", count(unreadable, "change")));
    }
    let (begun, ended) = (journal.begin(), journal.end());
    lines
        .line(format_args!("the journal is from {begun} to {ended}; the timeline shows {from} to {end} of it, and --at TIME another part"));
    Ok(Window { loaded, operations: maker.made, etcd: None, reached, events: maker.events, neighbors: neighbors.into(), lines })
}

fn unreadable_of(changes: &[RecordedChange]) -> usize {
    changes.iter().filter(|change| matches!(change, RecordedChange::Unreadable)).count()
}

/// Returns whether a change is of a pod that terminates or is gone.
fn is_leaving(change: &RecordedChange) -> bool {
    match change {
        RecordedChange::Put(Object::Pod(pod)) => pod.is_terminating(),
        RecordedChange::Gone(kind, _) => *kind == Kind::Pod,
        _ => false,
    }
}

fn etcd_window(past: &Past, history: &EtcdHistory, revision: u64, read: &dyn Fn(&[Input]) -> Loaded) -> Result<Window, Failure> {
    let changed = history.changed();
    // About as many changes before the moment as after it.
    let before = changed.partition_point(|changed| *changed <= revision);
    let from = before.checked_sub(JOURNAL_CHANGES / 2).map_or(history.begin(), |first| changed[first].saturating_sub(1));
    let shown = changed.partition_point(|changed| *changed <= from);
    let shown = &changed[shown..changed.len().min(shown + JOURNAL_CHANGES)];
    let to = if shown.last() == changed.last() { history.newest() } else { shown.last().copied().unwrap_or(from) };
    let loaded = past.load(history.text(from), history.time_of(from), read);
    // Workloads and their events are those of the moment: the timeline does not change them, and the steps do not hold them.
    let neighbors = if from == revision { loaded.neighbors.clone() } else { past.load(history.text(revision), None, read).neighbors };
    let mut lines = Lines::default();
    let mut maker = Operations::new(&loaded);
    let together = shown.len().div_ceil(JOURNAL_REVISIONS).max(1);
    let (mut taken, mut unreadable, mut reached, mut first) = (0, 0, None, from);
    // The last revision of each operation.
    let (mut ends, mut last) = (Vec::new(), from);
    let mut time = loaded.report.newest.unwrap_or_default();
    for step in history.after(from).map_err(|error| past.failed(&error))? {
        if step.revision > revision && reached.is_none() {
            maker.flush();
            ends.resize(maker.made.len(), last);
            reached = Some(maker.made.len());
            taken = 0;
        }
        if step.revision > to {
            break;
        }
        // A pod that leaves begins an operation, so that the state before it is on the timeline.
        if taken == together || maker.made.len() < 2 * JOURNAL_REVISIONS && step.changes.iter().any(is_leaving) {
            maker.flush();
            ends.resize(maker.made.len(), last);
            taken = 0;
        }
        if taken == 0 {
            first = step.revision;
        }
        taken += 1;
        last = step.revision;
        unreadable += unreadable_of(&step.changes);
        time = step.time.map_or(time, |at| at.max(time));
        let revisions =
            if first == step.revision { format!("revision {first}") } else { format!("revisions {first} to {}", step.revision) };
        maker.pending.name = Some(format!("{revisions} at {}", time.strftime("%H:%M:%SZ")));
        maker.add(time, step.changes);
    }
    maker.flush();
    ends.resize(maker.made.len(), last);
    let reached = reached.unwrap_or(maker.made.len());
    if unreadable > 0 {
        lines.line(format_args!("{} in the snapshot could not be read", count(unreadable, "change")));
    }
    let named = |revision: u64| match history.time_of(revision) {
        Some(time) => format!("{revision} ({time})"),
        None => revision.to_string(),
    };
    let (begin, newest) = (named(history.begin()), named(history.newest()));
    let part = if (from, to) == (history.begin(), history.newest()) {
        String::new()
    } else {
        format!("; the timeline shows {from} to {to} of them, and --at rev:N another part")
    };
    lines.line(format_args!("the snapshot holds the revisions {begin} to {newest}{part}"));
    let etcd = Some(EtcdRevisions { start: from, ends });
    Ok(Window { loaded, operations: maker.made, etcd, reached, events: maker.events, neighbors, lines })
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
    /// The name of the operation; by default, that of its time.
    name: Option<String>,
}

/// Turns recorded changes into operations.
struct Operations {
    cluster: Cluster,
    events: Vec<ObservedEvent>,
    neighbors: Neighbors,
    made: Vec<Operation>,
    pending: Pending,
    /// The time of the last changes.
    last: Option<Timestamp>,
}

/// Returns an operation that only tells the time.
fn clock(time: Timestamp) -> Operation {
    Operation::Observe { time, pods: Vec::new(), events: Vec::new(), unknown: None }
}

impl Operations {
    fn new(loaded: &Loaded) -> Self {
        let (cluster, events) = (loaded.cluster(), loaded.events.clone());
        let neighbors = Neighbors::clone(&loaded.neighbors);
        Self { cluster, events, neighbors, made: Vec::new(), pending: Pending::default(), last: None }
    }

    fn add(&mut self, time: Timestamp, changes: Vec<RecordedChange>) {
        self.pending.first.get_or_insert(time);
        (self.pending.last, self.last) = (Some(time), Some(time));
        for change in changes {
            match change {
                RecordedChange::Put(object) => drop(self.pending.objects.insert((object.kind(), object.key()), Some(object))),
                RecordedChange::Gone(kind, key) => drop(self.pending.objects.insert((kind, key), None)),
                RecordedChange::Event(event) => self.pending.events.push(event),
                RecordedChange::Neighbor(neighbor) => self.neighbors.insert(*neighbor),
                RecordedChange::NeighborGone(kind, key) => self.neighbors.remove(kind, &key),
                RecordedChange::OtherEvent(event) => {
                    let same = |known: &OtherEvent| {
                        (&known.about, &known.uid, &known.speaker, &known.reason, &known.text)
                            == (&event.about, &event.uid, &event.speaker, &event.reason, &event.text)
                    };
                    self.neighbors.events.retain(|known| !same(known));
                    self.neighbors.events.push(event);
                }
                RecordedChange::Known(knowledge) => {
                    self.pending.unknown = Some(knowledge.missing());
                    if let Some(known) = &knowledge.neighbors {
                        known.mark(&mut self.neighbors);
                    }
                }
                RecordedChange::Unreadable => {}
            }
        }
    }

    /// Makes an operation of the pending changes: deletions first, then creations and updates.
    fn flush(&mut self) {
        let Pending { last, objects, events, unknown, name, .. } = std::mem::take(&mut self.pending);
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
        let name = name.unwrap_or_else(|| format!("recorded at {}", time.strftime("%H:%M:%SZ")));
        self.made.push(Operation::Batch { name, operations });
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
        (self.cluster, self.events, self.neighbors) = (cluster, next.events.clone(), Neighbors::clone(&next.neighbors));
    }
}

/// Loads the source that a command names, at a moment if it holds its past.
///
/// # Errors
/// Fails if it cannot be read.
pub(super) fn read_source(source: &SourceArgs, connect: &ConnectArgs, limits: &Limits, at: Option<AtTime>) -> Result<Loaded, Failure> {
    match named(&source.from, at)? {
        Some(past) if !connect.is_given() && (at.is_some() || matches!(past, Past::Journal(_))) => past.read(at, limits),
        _ => super::read(source, connect, limits),
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
        let past = Past::Journal(folder.path().to_owned());
        let window = past.window(Some("03:12".parse().unwrap()), AROUND, &Limits::default(), &read).unwrap();
        let names: Vec<String> = window
            .operations
            .iter()
            .map(|made| if let Operation::Batch { name, .. } = made { name.clone() } else { String::new() })
            .collect();
        assert_eq!(names, ["recorded at 03:10:00Z", "recorded at 03:12:00Z", "recorded at 03:12:30Z"]);
        assert_eq!((window.loaded.objects.len(), window.reached), (1, 2));
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
        let whole = past.window(Some(AtTime::Before(SignedDuration::from_secs(290))), AROUND, &Limits::default(), &read).unwrap();
        assert!((JOURNAL_REVISIONS / 2..=JOURNAL_REVISIONS).contains(&whole.operations.len()), "{}", whole.operations.len());
        let mut lines = Vec::new();
        let changes = (0..=JOURNAL_CHANGES).map(|number| put(format!("p{number}"), 1)).collect();
        state.apply(changes, crate::cluster::KindSet::default(), None, time(590), &mut lines).unwrap();
        writer.append(&lines, &state, time(590));
        let mut lines = Vec::new();
        state.apply(vec![put("after".to_owned(), 1)], crate::cluster::KindSet::default(), None, time(600), &mut lines).unwrap();
        writer.append(&lines, &state, time(600));
        let cut = past.window(Some(AtTime::Before(SignedDuration::from_secs(50))), AROUND, &Limits::default(), &read).unwrap();
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
            let Window { mut loaded, operations, etcd, reached, lines, .. } = past.window(at, AROUND, &Limits::default(), &read).unwrap();
            assert!(operations.len() <= 3 * JOURNAL_REVISIONS && lines.to_string().contains("the revisions 9949 ("), "{lines}");
            let args = crate::cli::args::SchedulerArgs::default();
            let scheduler = crate::cli::scheduler(&args, &mut loaded, crate::scheduler::Evictions::AfterGracePeriod, &|_| ()).unwrap();
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

    #[test]
    fn at_is_for_sources_with_a_past() {
        let paths = ["a.json".into(), "b.json".into()];
        assert!(named(&paths, Some(AtTime::Before(SignedDuration::ZERO))).is_err());
        assert_eq!(named(&paths, None).unwrap(), None);
    }
}
