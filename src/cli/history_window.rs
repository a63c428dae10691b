//! The part of a past around a moment, as a timeline: of a journal or of etcd's history.

use jiff::{SignedDuration, Timestamp};

use super::args::SchedulerArgs;
use super::history::{Past, doubts, journal_at, revision_in, time_in};
use super::{Failure, Silent, StandardError};
use crate::analysis::JudgedAttempts;
use crate::cluster::neighbors::{Neighbors, OtherEvent};
use crate::cluster::{Key, Kind, Object, ObservedEvent};
use crate::limits::sessions::{JOURNAL_CHANGES, JOURNAL_REVISIONS};
use crate::output::Lines;
use crate::plural::count;
use crate::scheduler::{Evictions, Operation};
use crate::session::{AtTime, Background, EtcdRevisions, EventLog, ObservedChanges, Session};
use crate::source::history::EtcdHistory;
use crate::source::journal::{Journal, RecordedChange, Step};
use crate::source::{Input, Limits, Loaded};

impl Past {
    /// Reads the part of the past around a moment: the state at its start, and the changes after it; of a journal, up to a time behind
    /// the moment.
    ///
    /// # Errors
    /// Fails if the source does not reach the moment, or cannot be read.
    pub(super) fn window(
        &self,
        at: Option<AtTime>,
        behind: SignedDuration,
        limits: &Limits,
        read: &dyn Fn(&[Input]) -> Loaded,
    ) -> Result<(Loaded, Window), Failure> {
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
    let read = |inputs: &[Input]| super::read_inputs(inputs, limits, &StandardError);
    let (loaded, Window { operations, reached, events, .. }) = past.window(at, SignedDuration::ZERO, limits, &read)?;
    let mut loaded = super::judgeable(loaded)?;
    // Its findings are those of the log of the moment, which are shown already.
    super::scheduler_log::read_log(args, &mut loaded, limits, &Silent)?;
    let attempts = super::scheduler_log::reported(loaded.scheduler_log.as_deref());
    let scheduler = super::scheduler(args, &mut loaded, Evictions::AfterGracePeriod, &Silent)?;
    let mut session = Session::new(scheduler, String::new()).with(Background { events, attempts, observed: true, ..Background::default() });
    for operation in operations.into_iter().take(reached) {
        session.observe(operation);
    }
    Ok(JudgedAttempts::new(&session, pod))
}

/// The changes after the state at the start of a part of a past.
#[derive(Default)]
pub(super) struct Window {
    /// The changes, each a revision of the timeline.
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
) -> Result<(Loaded, Window), Failure> {
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
    let mut maker = ObservedChanges::new(loaded.cluster(), loaded.events.clone());
    let mut others = Others::new(&loaded.neighbors);
    let step_length = to.duration_since(from).as_secs() / JOURNAL_REVISIONS as i64;
    let (mut taken, mut end, mut unreadable, mut reached) = (0, to, 0, None);
    for step in journal.after(&start) {
        if begin(&step) > time && reached.is_none() {
            // The moment that was asked for ends a revision.
            maker.flush();
            reached = Some((maker.count(), others.neighbors()));
        }
        match step {
            Step::Changes(at, changes) => {
                if at > to || taken >= JOURNAL_CHANGES && at > time {
                    end = maker.last().unwrap_or(from).max(time);
                    break;
                }
                taken += changes.len();
                unreadable += unreadable_of(&changes);
                if maker.begun().is_some_and(|first| at.duration_since(first).as_secs() > step_length) {
                    maker.flush();
                }
                maker.at(at);
                add(&mut maker, &mut others, changes);
            }
            Step::Gap(gap) if gap.from > to => break,
            Step::Gap(gap) => {
                lines.line(format_args!("gap in the journal: {gap}"));
                maker.pause(format!("gap: {gap}"), gap.to);
            }
            Step::State(moment) if moment.time > to => break,
            Step::State(moment) => {
                let next = past.load(moment.text(), Some(moment.time), read);
                others = Others::new(&next.neighbors);
                let name = format!("recorded again from {}", moment.time.strftime("%H:%M:%SZ"));
                maker.state(next.cluster(), next.events, &name, moment.time);
            }
        }
    }
    maker.flush();
    let (reached, neighbors) = reached.unwrap_or_else(|| (maker.count(), others.neighbors()));
    if unreadable > 0 {
        lines.line(format_args!("{} in the journal could not be read", count(unreadable, "change")));
    }
    let (begun, ended) = (journal.begin(), journal.end());
    lines
        .line(format_args!("the journal is from {begun} to {ended}; the timeline shows {from} to {end} of it, and --at TIME another part"));
    let (operations, events) = maker.finish();
    Ok((loaded, Window { operations, etcd: None, reached, events, neighbors: neighbors.into(), lines }))
}

/// Returns the time from which a step's state holds.
fn begin(step: &Step) -> Timestamp {
    match step {
        Step::Changes(at, _) => *at,
        Step::Gap(gap) => gap.to,
        Step::State(moment) => moment.time,
    }
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

/// The part of a history that the timeline shows.
struct EtcdSpan {
    /// The revision at its start.
    from: u64,
    to: u64,
    /// The number of revisions that change anything that scheduling reads.
    changes: usize,
}

impl EtcdSpan {
    /// Returns the part with about as many changes before a revision as after it.
    fn around(history: &EtcdHistory, revision: u64) -> Self {
        let changed = history.changed();
        let before = changed.partition_point(|changed| *changed <= revision);
        let from = before.checked_sub(JOURNAL_CHANGES / 2).map_or(history.begin(), |first| changed[first].saturating_sub(1));
        let shown = changed.partition_point(|changed| *changed <= from);
        let shown = &changed[shown..changed.len().min(shown + JOURNAL_CHANGES)];
        let to = if shown.last() == changed.last() { history.newest() } else { shown.last().copied().unwrap_or(from) };
        Self { from, to, changes: shown.len() }
    }

    /// Returns which revisions a snapshot holds, and which of them are shown.
    fn in_words(&self, history: &EtcdHistory) -> String {
        let named = |revision: u64| match history.time_of(revision) {
            Some(time) => format!("{revision} ({time})"),
            None => revision.to_string(),
        };
        let Self { from, to, .. } = *self;
        let (begin, newest) = (named(history.begin()), named(history.newest()));
        let part = if (from, to) == (history.begin(), history.newest()) {
            String::new()
        } else {
            format!("; the timeline shows {from} to {to} of them, and --at rev:N another part")
        };
        format!("the snapshot holds the revisions {begin} to {newest}{part}")
    }
}

fn etcd_window(past: &Past, history: &EtcdHistory, revision: u64, read: &dyn Fn(&[Input]) -> Loaded) -> Result<(Loaded, Window), Failure> {
    let span = EtcdSpan::around(history, revision);
    let (from, to) = (span.from, span.to);
    let loaded = past.load(history.text(from), history.time_of(from), read);
    // Workloads and their events are those of the moment: the timeline does not change them, and the steps do not hold them.
    let neighbors = if from == revision { loaded.neighbors.clone() } else { past.load(history.text(revision), None, read).neighbors };
    let mut lines = Lines::default();
    let mut maker = ObservedChanges::new(loaded.cluster(), loaded.events.clone());
    let mut others = Others::new(&Neighbors::default());
    let together = span.changes.div_ceil(JOURNAL_REVISIONS).max(1);
    let (mut taken, mut unreadable, mut reached, mut first) = (0, 0, None, from);
    // The last revision of each operation.
    let (mut ends, mut last) = (Vec::new(), from);
    let mut time = loaded.report.newest.unwrap_or_default();
    for step in history.after(from).map_err(|error| past.failed(&error))? {
        if step.revision > revision && reached.is_none() {
            maker.flush();
            ends.resize(maker.count(), last);
            reached = Some(maker.count());
            taken = 0;
        }
        if step.revision > to {
            break;
        }
        // A pod that leaves begins an operation, so that the state before it is on the timeline.
        if taken == together || maker.count() < 2 * JOURNAL_REVISIONS && step.changes.iter().any(is_leaving) {
            maker.flush();
            ends.resize(maker.count(), last);
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
        maker.name(format!("{revisions} at {}", time.strftime("%H:%M:%SZ")));
        maker.at(time);
        add(&mut maker, &mut others, step.changes);
    }
    maker.flush();
    ends.resize(maker.count(), last);
    let reached = reached.unwrap_or(maker.count());
    if unreadable > 0 {
        lines.line(format_args!("{} in the snapshot could not be read", count(unreadable, "change")));
    }
    lines.line(format_args!("{}", span.in_words(history)));
    let etcd = Some(EtcdRevisions { start: from, ends });
    let (operations, events) = maker.finish();
    Ok((loaded, Window { operations, etcd, reached, events, neighbors, lines }))
}

/// The objects and events that scheduling does not read.
struct Others {
    /// The objects, without the events.
    objects: Neighbors,
    events: EventLog<OtherEvent>,
}

impl Others {
    fn new(neighbors: &Neighbors) -> Self {
        let mut objects = neighbors.clone();
        let events = EventLog::new(std::mem::take(&mut objects.events));
        Self { objects, events }
    }

    fn neighbors(&self) -> Neighbors {
        let mut neighbors = self.objects.clone();
        neighbors.events = self.events.to_vec();
        neighbors
    }
}

/// Adds recorded changes to those of a timeline and to the objects that scheduling does not read.
fn add(maker: &mut ObservedChanges, others: &mut Others, changes: Vec<RecordedChange>) {
    for change in changes {
        match change {
            RecordedChange::Put(object) => maker.put(object),
            RecordedChange::Gone(kind, key) => maker.gone(kind, key),
            RecordedChange::Event(event) => maker.event(event),
            RecordedChange::Neighbor(neighbor) => others.objects.insert(*neighbor),
            RecordedChange::NeighborGone(kind, key) => others.objects.remove(kind, &key),
            RecordedChange::OtherEvent(event) => others.events.add(event),
            RecordedChange::Known(knowledge) => {
                maker.know(knowledge.missing());
                if let Some(known) = &knowledge.neighbors {
                    known.mark(&mut others.objects);
                }
            }
            RecordedChange::Unreadable => {}
        }
    }
}

#[cfg(test)]
mod tests;
