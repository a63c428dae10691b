//! Keeps revisions in order, with a cursor among their events.
//!
//! A revision is one operation (a scheduling cycle, an advance of the clock, an edit) with its events and the state
//! before and after it. Moving the cursor folds events and never asks the engine, so that each position always shows
//! the same view.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;

use super::revision::{Keyframe, Revision};
use super::until::Until;
use crate::cluster::Key;
use crate::trace::{CycleView, Event, Fold, QueuesView, RecordedEvents, StepSize};

/// Position between events: the first `event` events of revision `revision` have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Cursor {
    /// Index of the revision.
    pub revision: usize,
    /// Number of its events that have happened.
    pub event: usize,
}

/// An event in its surroundings.
#[derive(Clone, Copy, Debug)]
pub struct Occurrence<'a> {
    /// The event before it in the revision; `None` for the first.
    pub before: Option<&'a Event>,
    pub event: &'a Event,
    /// The pod whose cycle it belongs to.
    pub cycle: Option<&'a Key>,
}

impl Cursor {
    /// Position beyond all events; seeking it goes to the end.
    pub const END: Self = Self { revision: usize::MAX, event: usize::MAX };
}

/// Revisions with a cursor. Clones share the revisions and views.
#[derive(Clone, Debug)]
pub struct Timeline {
    start: Keyframe,
    revisions: Vec<Arc<Revision>>,
    cursor: Cursor,
    /// Whether all objects that the revision at the cursor changes outside of a cycle have changed.
    changed: bool,
    cycle: Arc<CycleView>,
    queues: QueuesView,
    clock: Timestamp,
    /// The event right before the cursor, and the one before that in the revision.
    last: Option<Event>,
    before_last: Option<Event>,
    /// Views within the revision at the cursor, in order; going back starts from the nearest.
    checkpoints: Arc<Vec<Checkpoint>>,
    /// The ends of steps in the revision that was last stepped back in.
    step_ends: Option<Arc<StepEnds>>,
}

/// The ends of all steps of one size in a revision, as event indexes in order.
#[derive(Debug)]
struct StepEnds {
    events: Arc<RecordedEvents>,
    by: StepSize,
    ends: Vec<usize>,
}

/// View after the first `event` events of a revision.
#[derive(Clone, Debug)]
struct Checkpoint {
    event: usize,
    cycle: Arc<CycleView>,
    queues: QueuesView,
    clock: Timestamp,
}

/// Maximum number of checkpoints in a revision, and the minimum number of events between two.
const CHECKPOINTS: usize = 8;

impl Timeline {
    /// Makes a timeline without revisions.
    pub fn new(start: Keyframe) -> Self {
        let (queues, clock) = (start.queues.clone(), start.clock);
        let (cursor, cycle) = (Cursor::default(), Arc::default());
        let (last, before_last, checkpoints) = (None, None, Arc::default());
        Self { start, revisions: Vec::new(), cursor, changed: false, cycle, queues, clock, last, before_last, checkpoints, step_ends: None }
    }

    /// Appends a revision; the cursor stays.
    pub fn push(&mut self, revision: impl Into<Arc<Revision>>) {
        self.revisions.push(revision.into());
    }

    /// Returns a timeline of the first `revisions` revisions, with the cursor at their end.
    pub(super) fn prefix(&self, revisions: usize) -> Self {
        let mut timeline = Self::new(self.start.clone());
        timeline.revisions = self.revisions[..revisions.min(self.revisions.len())].to_vec();
        timeline.seek(Cursor::END);
        timeline
    }

    /// Inserts a revision that leaves the state as it was, before revision `at`; the cursor keeps its view.
    pub(super) fn insert(&mut self, at: usize, revision: Arc<Revision>) {
        let moves = !self.revisions.is_empty() && self.cursor.revision >= at;
        self.revisions.insert(at, revision);
        self.checkpoints = Arc::default();
        if moves {
            self.cursor.revision += 1;
        }
    }

    /// Returns the number of revisions that have happened completely.
    pub fn revisions_done(&self) -> usize {
        match self.revision() {
            Some(revision) if self.cursor.event >= revision.events.len() => self.cursor.revision + 1,
            _ => self.cursor.revision,
        }
    }

    /// Returns the position right behind the first event after the cursor that meets a condition.
    pub fn find_after(&self, until: &Until) -> Option<Cursor> {
        let mut from = self.cursor.event;
        let mut cycle = self.cycle.start.as_ref().map(|start| &start.pod);
        for (revision, events) in self.revisions.iter().map(|revision| &revision.events).enumerate().skip(self.cursor.revision) {
            while let Some(at) = events.position(from, |node, status| until.may_be_met_by(node, status)) {
                let event = events.get(at)?;
                if let Cow::Borrowed(Event::CycleStarted(start)) = event {
                    cycle = Some(&start.pod);
                }
                let before = at.checked_sub(1).and_then(|before| events.get(before));
                from = at + 1;
                if until.met(&Occurrence { before: before.as_deref(), event: &event, cycle }) {
                    return Some(Cursor { revision, event: from });
                }
            }
            (from, cycle) = (0, None);
        }
        None
    }

    /// Returns the event right before the cursor in its surroundings; `None` at the start of a revision.
    pub fn occurrence(&self) -> Option<Occurrence<'_>> {
        let cycle = self.cycle.start.as_ref().map(|start| &start.pod);
        Some(Occurrence { before: self.before_last.as_ref(), event: self.last.as_ref()?, cycle })
    }

    /// Returns all revisions in order.
    pub fn revisions(&self) -> &[Arc<Revision>] {
        &self.revisions
    }

    /// Returns the position of the cursor.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// Returns the revision at the cursor; `None` on an empty timeline.
    pub fn revision(&self) -> Option<&Revision> {
        self.revisions.get(self.cursor.revision).map(|revision| &**revision)
    }

    /// Returns the event right before the cursor; `None` at the start of a revision.
    pub fn current(&self) -> Option<&Event> {
        self.last.as_ref()
    }

    /// Returns the cycle at the cursor.
    pub fn cycle(&self) -> &CycleView {
        &self.cycle
    }

    /// Returns the queues at the cursor.
    pub fn queues(&self) -> &QueuesView {
        &self.queues
    }

    /// Returns the virtual time at the cursor, exact within a revision in which time passes.
    pub fn clock(&self) -> Timestamp {
        self.clock
    }

    /// Returns the keyframe at the cursor: the one before the revision until its last event has happened, or outside of a cycle
    /// until the last object has changed. Its queues and clock are those of the keyframe; [`Self::queues`] and [`Self::clock`] are
    /// exact.
    pub fn keyframe(&self) -> &Keyframe {
        match self.revision() {
            Some(revision) if self.changed || self.cursor.event >= revision.events.len() => &revision.after,
            Some(revision) => &revision.before,
            None => self.end(),
        }
    }

    /// Returns the keyframe that the cycle at the cursor decided on, which its binding does not change; outside of a cycle
    /// the keyframe at the cursor.
    pub fn decided_on(&self) -> &Keyframe {
        match self.revision() {
            Some(revision) if self.cycle.start.is_some() => &revision.before,
            _ => self.keyframe(),
        }
    }

    pub fn start(&self) -> &Keyframe {
        &self.start
    }

    pub fn end(&self) -> &Keyframe {
        self.revisions.last().map_or(&self.start, |f| &f.after)
    }

    /// Returns whether all events have happened.
    pub fn at_end(&self) -> bool {
        self.revisions.is_empty()
            || (self.cursor.revision + 1 == self.revisions.len() && self.revision().is_some_and(|f| self.cursor.event == f.events.len()))
    }

    /// Returns whether no event has happened.
    pub fn at_start(&self) -> bool {
        self.cursor == Cursor::default()
    }

    /// Returns the number of events before the cursor and the number of all events.
    pub fn progress(&self) -> (usize, usize) {
        let len = |f: &Arc<Revision>| f.events.len();
        let done: usize = self.revisions[..self.cursor.revision.min(self.revisions.len())].iter().map(len).sum();
        (done + self.cursor.event, self.revisions.iter().map(len).sum())
    }

    /// Moves the cursor; a position beyond the end is clamped.
    pub fn seek(&mut self, to: Cursor) {
        let revision = to.revision.min(self.revisions.len().saturating_sub(1));
        let event = match self.revisions.get(revision) {
            Some(f) if to.revision == revision => to.event.min(f.events.len()),
            Some(f) => f.events.len(),
            None => 0,
        };
        let target = Cursor { revision, event };
        let forward = target.revision == self.cursor.revision && target.event >= self.cursor.event;
        let back = target.revision == self.cursor.revision && !forward;
        if target.revision != self.cursor.revision {
            self.checkpoints = Arc::default();
        }
        let mut from = self.cursor.event;
        if !forward {
            let mark = self.checkpoints.iter().rev().find(|mark| mark.event <= target.event);
            from = mark.map_or(0, |mark| mark.event);
            (self.cycle, self.queues, self.clock) = match mark {
                Some(mark) => (mark.cycle.clone(), mark.queues.clone(), mark.clock),
                None => {
                    let before = self.revisions.get(revision).map_or(&self.start, |f| &f.before);
                    (Arc::default(), before.queues.clone(), before.clock)
                }
            };
        }
        self.cursor = target;
        self.changed = self.revisions.get(target.revision).is_some_and(|revision| revision.has_changed(target.event));
        if let Some(revision) = self.revisions.get(revision) {
            let apart = (revision.events.len() / CHECKPOINTS).max(CHECKPOINTS);
            let mut fold = Fold::default();
            for (i, event) in revision.events.without_steps(from..event) {
                // Keep checkpoints on the way back: further steps back are likely. At the end of a dry run the cycle would lack its steps.
                let is_due = back && i >= self.checkpoints.last().map_or(0, |mark| mark.event) + apart;
                if is_due && !matches!(*event, Event::DryRunFinished(_)) {
                    fold.finish(Arc::make_mut(&mut self.cycle));
                    let (cycle, queues) = (self.cycle.clone(), self.queues.clone());
                    Arc::make_mut(&mut self.checkpoints).push(Checkpoint { event: i, cycle, queues, clock: self.clock });
                }
                self.queues.apply(&event);
                if let Event::ClockMoved { to, .. } = &*event {
                    self.clock = *to;
                }
                fold.apply(Arc::make_mut(&mut self.cycle), event);
            }
            fold.finish(Arc::make_mut(&mut self.cycle));
        }
        let earlier = |by| Some(self.revisions.get(revision)?.events.get(event.checked_sub(by)?)?.into_owned());
        (self.last, self.before_last) = (earlier(1), earlier(2));
        let revision = self.revisions.get(revision).filter(|_| self.cycle.scoring.selected.is_some());
        let odds = revision.and_then(|revision| revision.odds_over_starts.get());
        if odds.is_some() != self.cycle.findings.odds_over_starts.is_some() {
            Arc::make_mut(&mut self.cycle).findings.odds_over_starts = odds.cloned();
        }
    }

    /// Steps forward within the recorded events. Returns false at the end.
    pub fn forward(&mut self, by: StepSize) -> bool {
        if self.at_end() {
            return false;
        }
        let mut cursor = self.cursor;
        if self.revisions[cursor.revision].events.len() == cursor.event {
            cursor = Cursor { revision: cursor.revision + 1, event: 0 };
        }
        cursor.event = self.boundary_after(cursor, by);
        self.seek(cursor);
        true
    }

    /// Steps back. Returns false at the start. Exactly undoes [`Self::forward`] of the same step size.
    pub fn back(&mut self, by: StepSize) -> bool {
        if self.at_start() {
            return false;
        }
        let mut cursor = self.cursor;
        if cursor.event == 0 {
            let revision = cursor.revision - 1;
            cursor = Cursor { revision, event: self.revisions[revision].events.len() };
        }
        let steps = self.step_ends(cursor.revision, by);
        let before = steps.ends.partition_point(|end| *end < cursor.event);
        cursor.event = before.checked_sub(1).map_or(0, |last| steps.ends[last]);
        if cursor.event == 0 && cursor.revision > 0 {
            // The end of one revision and the start of the next show the same state; use the end of the earlier one.
            cursor = Cursor { revision: cursor.revision - 1, event: self.revisions[cursor.revision - 1].events.len() };
        }
        self.seek(cursor);
        true
    }

    /// Returns the ends of the steps of a revision; found once for many steps back.
    fn step_ends(&mut self, revision: usize, by: StepSize) -> Arc<StepEnds> {
        let events = &self.revisions[revision].events;
        if let Some(known) = self.step_ends.as_ref().filter(|known| known.by == by && Arc::ptr_eq(&known.events, events)) {
            return known.clone();
        }
        let next = |event: &usize| (*event < events.len()).then(|| self.boundary_after(Cursor { revision, event: *event }, by));
        let ends = std::iter::successors(next(&0), next).collect();
        let found = Arc::new(StepEnds { events: events.clone(), by, ends });
        self.step_ends = Some(found.clone());
        found
    }

    /// Returns the first event index after `from` at which a step of this size ends.
    fn boundary_after(&self, from: Cursor, by: StepSize) -> usize {
        let events = &self.revisions[from.revision].events;
        let Some(first) = events.get(from.event) else { return events.len() };
        let same = |last: &Event, e: &Event| match by {
            StepSize::Event => false,
            StepSize::Plugin => e.plugin() == first.plugin() && e.extension_point() == first.extension_point(),
            StepSize::Node => e.node().is_some() && e.node() == first.node(),
            StepSize::Phase => e.continues_phase(&first, last),
            StepSize::ExtensionPoint => e.extension_point() == first.extension_point(),
            StepSize::Cycle => true,
        };
        let (mut last, mut end) = (first.clone(), from.event + 1);
        for event in events.range(end..events.len()) {
            if !same(&last, &event) {
                break;
            }
            (last, end) = (event, end + 1);
        }
        end
    }
}

#[cfg(test)]
mod tests;
