//! One line of events, and where it left another.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::timeline::{Revision, Timeline};
use crate::cluster::Key;
use crate::release::Release;
use crate::scheduler::{Operation, Quiescence, Scheduler};
use crate::trace::Event;

/// What was asked for, with one revision as its answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Something that changes things.
    Apply(Operation),
    /// A decision about a pod, without consequences.
    Explain(Key),
    /// A kube-scheduler of another release takes over.
    Release(Release),
}

/// Where a branch began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// The branch that it left.
    pub branch: usize,
    /// How many of that branch's revisions it shares.
    pub revisions: usize,
}

/// What led to a revision.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) before: Scheduler,
}

/// What a step means for a run until nothing changes any more: after a change from outside, everything is worth trying.
fn note(settling: &mut Quiescence, action: &Action, events: &[Event]) {
    match action {
        Action::Explain(_) => {}
        Action::Apply(Operation::Schedule | Operation::Advance { .. } | Operation::AdvanceTo { .. }) => settling.observe(events),
        Action::Apply(_) | Action::Release(_) => *settling = Quiescence::default(),
    }
}

/// A timeline, the scheduler at its end, and what led there.
#[derive(Clone, Debug)]
pub struct Branch {
    name: String,
    fork: Option<Fork>,
    pub(super) timeline: Timeline,
    pub(super) scheduler: Scheduler,
    /// One for each revision.
    steps: Vec<Arc<Step>>,
    /// What a run until nothing changes any more has to know of all this.
    settling: Quiescence,
}

impl Branch {
    /// The first branch.
    pub(super) fn new(scheduler: Scheduler, timeline: Timeline) -> Self {
        Self { name: "main".to_owned(), fork: None, timeline, scheduler, steps: Vec::new(), settling: Quiescence::default() }
    }

    /// A branch that shares this one's first revisions; its cursor stands behind them.
    pub(super) fn fork(&self, name: String, fork: Fork) -> Self {
        let scheduler = self.steps.get(fork.revisions).map_or(&self.scheduler, |step| &step.before).clone();
        let steps = self.steps[..fork.revisions.min(self.steps.len())].to_vec();
        let timeline = self.timeline.prefix(fork.revisions);
        let mut settling = Quiescence::default();
        for (revision, step) in timeline.revisions().iter().zip(&steps) {
            note(&mut settling, &step.action, &revision.events);
        }
        Self { name, fork: Some(fork), timeline, scheduler, steps, settling }
    }

    /// The pod that a revision decides about without consequences.
    pub(super) fn explained(&self, revision: usize) -> Option<Key> {
        match &self.steps.get(revision)?.action {
            Action::Explain(pod) => Some(pod.clone()),
            Action::Apply(_) | Action::Release(_) => None,
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it left another branch; `None` for the first.
    pub fn forked(&self) -> Option<Fork> {
        self.fork
    }

    /// What happened, with the cursor.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The scheduler at the end.
    pub fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// What was asked for, revision by revision.
    pub fn actions(&self) -> impl Iterator<Item = &Action> {
        self.steps.iter().map(|step| &step.action)
    }

    /// What is to be done next at the end for everything to happen that happens by itself; `None` when nothing changes
    /// any more.
    pub(super) fn next_operation(&self) -> Option<Operation> {
        self.scheduler.next_operation(&self.settling)
    }

    /// The scheduler after so many revisions.
    pub(super) fn scheduler_at(&self, revisions: usize) -> &Scheduler {
        self.steps.get(revisions).map_or(&self.scheduler, |step| &step.before)
    }

    /// Adds what happened at the end, with the scheduler that it led to.
    pub(super) fn push(&mut self, step: Step, revision: Revision, after: Scheduler) {
        note(&mut self.settling, &step.action, &revision.events);
        self.steps.push(Arc::new(step));
        self.timeline.push(revision);
        self.scheduler = after;
    }

    /// The part shared with the branch that this one left has grown by a revision.
    pub(super) fn shares_one_more(&mut self) {
        if let Some(fork) = &mut self.fork {
            fork.revisions += 1;
        }
    }

    /// Adds a revision that changed nothing, anywhere.
    pub(super) fn insert(&mut self, at: usize, step: Arc<Step>, revision: Arc<Revision>) {
        self.steps.insert(at, step);
        self.timeline.insert(at, revision);
    }
}
