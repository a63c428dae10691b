//! Where a verb is applied: a scheduler alone, or a branch of a session.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::WhatIfError;
use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Key, Object, ObservedEvent};
use crate::release::{FoundVersion, Release, ReleaseChoice, VersionSource};
use crate::scheduler::{ConfigEdit, ConfigEditError, InitialQueues, Operation, Quiescence, Scheduler, StepBound};
use crate::session::{Action, Cursor, Session, Verb, objects_in_order};
use crate::trace::Event;

/// A scheduler that operations are applied to.
pub trait Stage {
    /// Returns the scheduler as it is now.
    fn scheduler(&self) -> &Scheduler;
    /// Applies an operation of a verb. Returns false if it has no effect.
    fn apply(&mut self, verb: &Verb, operation: Operation) -> bool;
    /// Applies an operation that has no verb. Returns false if it has no effect.
    fn apply_alone(&mut self, operation: Operation) -> bool;
    /// Applies operations as one, but creates no more pods once the bound has no steps left. Returns those pods. `verb` is that of the
    /// operations, if they have one.
    fn apply_within(&mut self, verb: Option<&Verb>, name: &str, operations: Vec<Operation>) -> BTreeSet<Key>;
    /// Takes one step towards the state in which nothing changes. Returns false there, at the bound, or if cancelled.
    fn settle_step(&mut self) -> bool;
    /// Returns the bound on the steps of all runs.
    fn bound(&self) -> StepBound;
    /// Replaces the bound.
    fn set_bound(&mut self, bound: StepBound);
    /// Returns whether the run is not cancelled.
    fn continues(&self) -> bool {
        true
    }
    /// Returns the objects that scheduling does not read, which decide what controllers do.
    fn neighbors(&self) -> Arc<Neighbors>;
    /// Returns the pods that were preempted since the stage began, each with its preemptor.
    fn preempted(&self) -> BTreeMap<Key, Key>;
    /// Starts the scheduler anew with an edited configuration.
    ///
    /// # Errors
    /// When kube-scheduler would not start with it.
    fn configure(&mut self, edit: &ConfigEdit) -> Result<(), WhatIfError>;
    /// Starts a kube-scheduler of another release.
    ///
    /// # Errors
    /// When that release refuses the configuration.
    fn change_release(&mut self, release: Release) -> Result<(), WhatIfError>;
}

/// A scheduler without a record.
#[derive(Clone, Debug)]
pub struct Rehearsal {
    scheduler: Scheduler,
    settling: Quiescence,
    bound: StepBound,
    preempted: BTreeMap<Key, Key>,
    neighbors: Arc<Neighbors>,
    /// Counts the operations of its runs.
    operations: Arc<AtomicUsize>,
}

impl Rehearsal {
    /// Begins with a scheduler. Nothing of its cycles is recorded.
    pub fn new(scheduler: Scheduler) -> Self {
        let bound = StepBound::of(&scheduler);
        let (settling, preempted, operations, neighbors) = <_>::default();
        Self { scheduler: scheduler.quietly(), settling, bound, preempted, operations, neighbors }
    }

    /// Returns it with a counter to which it adds each operation of its runs, for showing how far they are.
    #[must_use]
    pub fn counting(self, operations: &Arc<AtomicUsize>) -> Self {
        Self { operations: operations.clone(), ..self }
    }

    /// Returns it with the objects that decide what controllers do.
    #[must_use]
    pub fn among(self, neighbors: &Arc<Neighbors>) -> Self {
        Self { neighbors: neighbors.clone(), ..self }
    }

    /// Replaces the scheduler by one that has just started.
    fn restart(&mut self, scheduler: Scheduler) {
        let bound = self.bound.restarted(self.scheduler.state(), scheduler.state());
        *self = Self { bound, operations: self.operations.clone(), neighbors: self.neighbors.clone(), ..Self::new(scheduler) };
    }

    /// Returns the queue places at a restart, and the Events from which they are inferred.
    fn queues(&self) -> (InitialQueues, Vec<ObservedEvent>) {
        (self.scheduler.options().queues, self.scheduler.options().events.clone())
    }
}

impl Stage for Rehearsal {
    fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    fn neighbors(&self) -> Arc<Neighbors> {
        self.neighbors.clone()
    }

    fn apply(&mut self, _verb: &Verb, operation: Operation) -> bool {
        self.apply_alone(operation)
    }

    fn apply_alone(&mut self, operation: Operation) -> bool {
        // Every pod is worth another attempt after a change from outside.
        self.settling = Quiescence::default();
        // The events of many operations take memory, and only whether there are any counts.
        match operation {
            Operation::Batch { operations, .. } if !matches!(operations.first(), Some(Operation::Observe { .. })) => {
                let mut has_effect = false;
                for operation in operations {
                    has_effect |= !self.scheduler.apply(operation).is_empty();
                }
                has_effect
            }
            operation => !self.scheduler.apply(operation).is_empty(),
        }
    }

    fn apply_within(&mut self, _verb: Option<&Verb>, _name: &str, operations: Vec<Operation>) -> BTreeSet<Key> {
        self.settling = Quiescence::default();
        let mut left = BTreeSet::new();
        for operation in operations {
            match created_pod(&operation) {
                Some(pod) if !self.bound.allows(self.scheduler.state(), &Operation::Schedule) => {
                    left.insert(pod);
                }
                _ => drop(self.scheduler.apply(operation)),
            }
        }
        left
    }

    fn settle_step(&mut self) -> bool {
        let Some(operation) = self.bound.next_operation(&self.scheduler, &self.settling) else { return false };
        self.operations.fetch_add(1, Ordering::Relaxed);
        let events = self.scheduler.apply(operation);
        self.settling.observe(&events);
        self.preempted.extend(evictions(&events));
        true
    }

    fn bound(&self) -> StepBound {
        self.bound
    }

    fn set_bound(&mut self, bound: StepBound) {
        self.bound = bound;
    }

    fn preempted(&self) -> BTreeMap<Key, Key> {
        self.preempted.clone()
    }

    fn configure(&mut self, edit: &ConfigEdit) -> Result<(), WhatIfError> {
        let objects = objects_in_order(&self.scheduler);
        let after = self.scheduler.configured(edit, objects, self.queues()).map_err(refused)?;
        self.restart(after);
        Ok(())
    }

    fn change_release(&mut self, release: Release) -> Result<(), WhatIfError> {
        let wanted = FoundVersion { release, source: VersionSource::Command };
        let choice = ReleaseChoice { wanted: Some(wanted), ..self.scheduler.options().release };
        let after = self.scheduler.of_release(choice, objects_in_order(&self.scheduler), self.queues());
        let after = after.map_err(|why| WhatIfError::ReleaseChange { release: choice.profile().release, why })?;
        self.restart(after);
        Ok(())
    }
}

/// The end of a session's current branch. Every operation is a revision of it.
pub struct OnBranch<'a> {
    session: &'a mut Session,
    go_on: &'a dyn Fn() -> bool,
    bound: StepBound,
    /// Number of revisions at the start.
    from: usize,
}

impl<'a> OnBranch<'a> {
    /// Continues at the end of the current branch, until `go_on` returns false.
    pub fn new(session: &'a mut Session, go_on: &'a dyn Fn() -> bool) -> Self {
        let from = session.timeline().revisions().len();
        let bound = StepBound::of(session.scheduler());
        Self { session, go_on, bound, from }
    }

    /// Takes in that the scheduler has started anew.
    fn restarted(&mut self, before: &Scheduler) {
        self.bound = self.bound.restarted(before.state(), self.session.scheduler().state());
    }

    fn act(&mut self, action: impl Into<Action>) -> bool {
        self.session.timeline_mut().seek(Cursor::END);
        let done = self.session.apply(action);
        self.session.timeline_mut().seek(Cursor::END);
        done
    }
}

impl Stage for OnBranch<'_> {
    fn scheduler(&self) -> &Scheduler {
        self.session.scheduler()
    }

    fn neighbors(&self) -> Arc<Neighbors> {
        self.session.background().neighbors.clone()
    }

    fn apply(&mut self, verb: &Verb, operation: Operation) -> bool {
        self.act((verb.clone(), operation))
    }

    fn apply_alone(&mut self, operation: Operation) -> bool {
        self.act(operation)
    }

    fn apply_within(&mut self, verb: Option<&Verb>, name: &str, mut operations: Vec<Operation>) -> BTreeSet<Key> {
        // The history has them as one operation, so that their steps are counted before.
        let mut counted = Rehearsal { bound: self.bound, ..Rehearsal::new(self.session.scheduler().clone()) };
        let left = counted.apply_within(verb, name, operations.clone());
        operations.retain(|operation| created_pod(operation).is_none_or(|pod| !left.contains(&pod)));
        let operation = Operation::Batch { name: name.to_owned(), operations };
        match verb {
            Some(verb) => self.apply(verb, operation),
            None => self.apply_alone(operation),
        };
        if !left.is_empty() {
            self.bound = self.bound.reached();
        }
        left
    }

    fn settle_step(&mut self) -> bool {
        (self.go_on)() && self.session.settle_within(&mut self.bound)
    }

    fn bound(&self) -> StepBound {
        self.bound
    }

    fn set_bound(&mut self, bound: StepBound) {
        self.bound = bound;
    }

    fn continues(&self) -> bool {
        (self.go_on)()
    }

    fn preempted(&self) -> BTreeMap<Key, Key> {
        self.session.timeline().revisions().iter().skip(self.from).flat_map(|revision| evictions(revision.events.others())).collect()
    }

    fn configure(&mut self, edit: &ConfigEdit) -> Result<(), WhatIfError> {
        self.session.timeline_mut().seek(Cursor::END);
        let before = self.session.scheduler().clone();
        self.session.configure(edit).map_err(refused)?;
        self.restarted(&before);
        self.session.timeline_mut().seek(Cursor::END);
        Ok(())
    }

    fn change_release(&mut self, release: Release) -> Result<(), WhatIfError> {
        self.session.timeline_mut().seek(Cursor::END);
        let before = self.session.scheduler().clone();
        self.session.change_release(release)?;
        self.restarted(&before);
        self.session.timeline_mut().seek(Cursor::END);
        Ok(())
    }
}

/// Returns the victims among some events, each with its preemptor.
fn evictions(events: &[Event]) -> impl Iterator<Item = (Key, Key)> {
    events.iter().filter_map(|event| match event {
        Event::VictimEvicted { pod, preemptor, .. } => Some((Key::clone(pod), Key::clone(preemptor))),
        _ => None,
    })
}

/// Returns why an edit of the configuration was refused, with the gate that was probably meant.
fn refused(error: ConfigEditError) -> WhatIfError {
    match error {
        ConfigEditError::Gates(error) => WhatIfError::gate(error),
        error => error.into(),
    }
}

/// Returns the pod that an operation creates.
fn created_pod(operation: &Operation) -> Option<Key> {
    match operation {
        Operation::Create { object: Object::Pod(pod) } => Some(pod.key()),
        _ => None,
    }
}
