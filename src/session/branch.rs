//! A branch: a timeline, the actions that led to its revisions, and the fork from another branch.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::logged::LoggedAttempt;
use super::recording::append;
use super::timeline::{Revision, Timeline};
use crate::cluster::Key;
use crate::release::Release;
use crate::scheduler::{ConfigEdit, Operation, Quiescence, Scheduler};
use crate::trace::Event;

/// Request that produced one revision; saved sessions replay it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// An operation that may change the state.
    Apply(Operation),
    /// A dry decision about a pod.
    Explain(Key),
    /// One attempt of the cluster's own scheduler, read from its log.
    Logged(Box<LoggedAttempt>),
    /// Takeover by a kube-scheduler of another release.
    Release(Release),
    /// Takeover by a kube-scheduler with an edited configuration.
    Configure(ConfigEdit),
}

/// Point where a branch left another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fork {
    /// Index of the branch that it left.
    pub branch: usize,
    /// Number of that branch's revisions that it shares.
    pub revisions: usize,
}

/// Action behind a revision, with the scheduler before it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) action: Action,
    pub(super) before: Scheduler,
}

/// Updates the quiescence with one step. An operation from outside resets it, because every pod is worth another
/// attempt then.
fn note(settling: &mut Quiescence, action: &Action, events: &[Event]) {
    match action {
        Action::Explain(_) | Action::Logged(_) => {}
        Action::Apply(Operation::Schedule | Operation::Advance { .. } | Operation::AdvanceTo { .. }) => settling.observe(events),
        Action::Apply(_) | Action::Release(_) | Action::Configure(_) => *settling = Quiescence::default(),
    }
}

/// A timeline, the scheduler at its end, and the step behind each revision.
#[derive(Clone, Debug)]
pub struct Branch {
    name: String,
    fork: Option<Fork>,
    pub(super) timeline: Timeline,
    pub(super) scheduler: Scheduler,
    /// One step per revision, in order.
    steps: Vec<Arc<Step>>,
    /// Quiescence at the end of the branch.
    settling: Quiescence,
}

impl Branch {
    /// Makes the first branch.
    pub(super) fn new(scheduler: Scheduler, timeline: Timeline) -> Self {
        Self { name: "main".to_owned(), fork: None, timeline, scheduler, steps: Vec::new(), settling: Quiescence::default() }
    }

    /// Returns a branch that shares the first `fork.revisions` revisions of this one, with the cursor at their end.
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

    /// Returns the scheduler before the first attempt from a log; `None` if there is none.
    pub(super) fn before_log(&self) -> Option<&Scheduler> {
        let logged = self.steps.iter().find(|step| matches!(step.action, Action::Logged(_)))?;
        Some(&logged.before)
    }

    /// Returns the pod of a dry decision; `None` for any other revision.
    pub(super) fn explained(&self, revision: usize) -> Option<Key> {
        match &self.steps.get(revision)?.action {
            Action::Explain(pod) => Some(pod.clone()),
            Action::Apply(_) | Action::Logged(_) | Action::Release(_) | Action::Configure(_) => None,
        }
    }

    /// Returns whether a revision leaves the state as it was: a dry decision, or an attempt from the log.
    pub(super) fn changes_nothing(&self, revision: usize) -> bool {
        self.steps.get(revision).is_some_and(|step| matches!(step.action, Action::Explain(_) | Action::Logged(_)))
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
        self.steps.iter().map(|step| &step.action)
    }

    /// Returns the operation that settling does next at the end; `None` when settled.
    pub(super) fn next_operation(&self) -> Option<Operation> {
        self.scheduler.next_operation(&self.settling)
    }

    /// Returns the scheduler after the first `revisions` revisions.
    pub(super) fn scheduler_at(&self, revisions: usize) -> &Scheduler {
        self.steps.get(revisions).map_or(&self.scheduler, |step| &step.before)
    }

    /// Returns the branch continued until nothing changes, or `go_on` returns false, and whether anything was done.
    pub(super) fn settled(&self, go_on: impl Fn() -> bool) -> (Self, bool) {
        let mut settled = self.clone();
        let mut steps = 0;
        while go_on()
            && let Some(operation) = settled.next_operation()
            && append(&mut settled, operation)
        {
            steps += 1;
        }
        (settled, steps > 0)
    }

    /// Appends a revision, with the scheduler after it.
    pub(super) fn push(&mut self, step: Step, revision: Revision, after: Scheduler) {
        note(&mut self.settling, &step.action, &revision.events);
        self.steps.push(Arc::new(step));
        self.timeline.push(revision);
        self.scheduler = after;
    }

    /// Counts a revision that was inserted into the shared part.
    pub(super) fn shares_one_more(&mut self) {
        if let Some(fork) = &mut self.fork {
            fork.revisions += 1;
        }
    }

    /// Inserts a revision that leaves the state as it was, before revision `at`.
    pub(super) fn insert(&mut self, at: usize, step: Arc<Step>, revision: Arc<Revision>) {
        self.steps.insert(at, step);
        self.timeline.insert(at, revision);
    }
}
