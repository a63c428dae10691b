//! A branch: a timeline, the scheduler at its end, and the fork from another branch.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::revision::{Action, Keyframe, Revision, title};
use super::timeline::Timeline;
use crate::scheduler::{Operation, Quiescence, Scheduler};
use crate::trace::{Event, RecordedEventsBuilder};

/// Point where a branch left another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// Index of the branch that it left.
    pub branch: usize,
    /// Number of that branch's revisions that it shares.
    pub revisions: usize,
}

/// Updates the quiescence with one step. An operation from outside resets it, because every pod is worth another
/// attempt then.
fn note(settling: &mut Quiescence, action: &Action, events: &[Event]) {
    match action {
        Action::Explain(_) | Action::Logged(_) => {}
        Action::Apply(Operation::Schedule | Operation::Advance { .. } | Operation::AdvanceTo { .. }) => settling.observe(events),
        Action::Apply(_) | Action::WhatIf { .. } | Action::Release(_) | Action::Configure(_) => *settling = Quiescence::default(),
    }
}

/// A timeline and the scheduler at its end.
#[derive(Clone, Debug)]
pub struct Branch {
    name: String,
    fork: Option<Fork>,
    pub(super) timeline: Timeline,
    pub(super) scheduler: Scheduler,
    /// Quiescence at the end of the branch.
    settling: Quiescence,
}

impl Branch {
    /// Makes the first branch.
    pub(super) fn new(scheduler: Scheduler, timeline: Timeline) -> Self {
        Self { name: "main".to_owned(), fork: None, timeline, scheduler, settling: Quiescence::default() }
    }

    /// Returns a branch that shares the first `fork.revisions` revisions of this one, with the cursor at their end.
    pub(super) fn fork(&self, name: String, fork: Fork) -> Self {
        let scheduler = self.scheduler_at(fork.revisions).clone();
        let timeline = self.timeline.prefix(fork.revisions);
        let mut settling = Quiescence::default();
        for revision in timeline.revisions() {
            note(&mut settling, &revision.action, revision.events.others());
        }
        Self { name, fork: Some(fork), timeline, scheduler, settling }
    }

    /// Returns the scheduler before the first attempt from a log; `None` if there is none.
    pub(super) fn before_log(&self) -> Option<&Scheduler> {
        self.timeline.revisions().iter().find(|revision| revision.is_logged()).map(|revision| &revision.scheduler)
    }

    /// Returns whether a revision leaves the state as it was: a dry decision, or an attempt from the log.
    pub(super) fn changes_nothing(&self, revision: usize) -> bool {
        self.timeline.revisions().get(revision).is_some_and(|revision| revision.action.changes_nothing())
    }

    /// Returns the name: `main`, or `branch N`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it left another branch; `None` for the first.
    pub fn forked(&self) -> Option<Fork> {
        self.fork
    }

    /// Returns the revisions with the cursor.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// Returns the scheduler at the end.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// Returns the action behind each revision, in order.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.timeline.revisions().iter().map(|revision| &revision.action)
    }

    /// Returns the operation that settling does next at the end; `None` when settled.
    pub(super) fn next_operation(&self) -> Option<Operation> {
        self.scheduler.next_operation(&self.settling)
    }

    /// Returns the scheduler after the first `revisions` revisions.
    pub fn scheduler_at(&self, revisions: usize) -> &Scheduler {
        self.timeline.revisions().get(revisions).map_or(&self.scheduler, |revision| &revision.scheduler)
    }

    /// Returns the branch continued until nothing changes, or `go_on` returns false, and whether anything was done.
    pub(super) fn settled(&self, go_on: impl Fn() -> bool) -> (Self, bool) {
        let mut settled = self.clone();
        let mut steps = 0;
        while go_on()
            && let Some(operation) = settled.next_operation()
            && settled.append(operation.into())
        {
            steps += 1;
        }
        (settled, steps > 0)
    }

    /// Applies the operation of an action at the end; the cursor stays. Returns false where it has no effect, or is none.
    pub(super) fn append(&mut self, action: Action) -> bool {
        let (Action::Apply(operation) | Action::WhatIf { operation, .. }) = &action else { return false };
        let scheduler = self.scheduler.clone();
        let mut done = scheduler.clone();
        let title = title(operation, &scheduler);
        let requeue_events = &self.timeline.end().requeue_events;
        let before = Keyframe::of(&scheduler, requeue_events);
        let mut events = RecordedEventsBuilder::new(&before.snapshot);
        done.apply_in_parts(operation.clone(), &mut |part| events.extend(part));
        let events = events.finish();
        let same_unknown = scheduler.state().cluster().unknown == done.state().cluster().unknown;
        if events.is_empty() && same_unknown {
            return false;
        }
        let (events, after) = (Arc::new(events), Keyframe::of(&done, requeue_events));
        self.push(Revision { action, title, events, before, after, scheduler, odds_over_starts: OnceLock::new() }, done);
        true
    }

    /// Appends a revision, with the scheduler after it.
    pub(super) fn push(&mut self, revision: Revision, after: Scheduler) {
        note(&mut self.settling, &revision.action, revision.events.others());
        self.timeline.push(revision);
        self.scheduler = after;
    }

    /// Counts a revision that was inserted into the shared part.
    pub(super) fn shares_one_more(&mut self) {
        if let Some(fork) = &mut self.fork {
            fork.revisions += 1;
        }
    }
}
