//! Records a scheduler's operations on branches, and forks a branch where an operation is applied in the past.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::branch::{Branch, Fork};
use super::breakpoint::Breakpoint;
use super::reported::ReportedAttempt;
use super::requeue_events::RequeueEvents;
use super::revision::{Action, Keyframe, Revision};
use super::timeline::{Cursor, Timeline};
use super::until::Until;
use serde::{Deserialize, Serialize};

use crate::cluster::neighbors::Neighbors;
use crate::cluster::{Key, Object, ObservedEvent, Pod};
use crate::extenders::Asking;
use crate::framework::NodeFilters;
use crate::limits::sessions::{RUN_BYTES_OF_EVENT, RUN_EVENTS};
use crate::release::{Release, VersionSource};
use crate::scheduler::{ConfigEdit, ConfigEditError, DryOptions, InitialQueues, Operation, Options, ReleaseRefused, Scheduler, StepBound};
use crate::trace::{Event, RecordedEvents, RecordedEventsBuilder, SchedulerStart};

/// A scheduler with its branches.
///
/// An operation at the end of a branch extends it. An operation in the past leaves the branch as it is, forks a new one
/// there and makes that the current branch. Clones share the revisions.
#[derive(Clone, Debug)]
pub struct Session {
    branches: Vec<Branch>,
    current: usize,
    source: String,
    background: Arc<Background>,
    /// The start does not follow from the objects alone, because earlier revisions were dropped.
    truncated: bool,
    /// Breakpoints, in the order in which they were set.
    breakpoints: Vec<Breakpoint>,
}

/// Information about the source besides the objects, for the reader and for a restart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Report of the load, one line per entry.
    pub report: Vec<String>,
    /// The cluster's Events about scheduling attempts.
    pub events: Vec<ObservedEvent>,
    /// The objects and events of the cluster that scheduling does not read; a saved session has them as values of their own.
    #[serde(skip)]
    pub neighbors: Arc<Neighbors>,
    /// The attempts in the log of the cluster's scheduler, where the first branch records the cluster.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<ReportedAttempt>,
    /// The revisions of etcd, where the first branch shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub etcd: Option<EtcdRevisions>,
    /// Whether the first branch records a cluster over time; operations then go to other branches.
    pub observed: bool,
}

/// The revisions of etcd on a timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EtcdRevisions {
    /// The revision at the start of the timeline.
    pub start: u64,
    /// The last revision of etcd in each revision of the timeline.
    pub ends: Vec<u64>,
}

impl EtcdRevisions {
    /// Returns the last revision of etcd on the timeline.
    pub fn last(&self) -> u64 {
        self.ends.last().copied().unwrap_or(self.start)
    }

    /// Returns the number of revisions of the timeline up to a revision of etcd; `None` if the timeline does not reach it. Where several
    /// revisions of etcd are one, those before it.
    pub fn done(&self, revision: u64) -> Option<usize> {
        let reaches = (self.start..=self.last()).contains(&revision);
        reaches.then(|| self.ends.partition_point(|end| *end <= revision))
    }
}

impl Session {
    /// Makes a session without revisions; `source` is the cluster's origin in words.
    pub fn new(scheduler: Scheduler, source: impl Into<String>) -> Self {
        let requeue_events = requeue_events(&scheduler);
        let timeline = Timeline::new(Keyframe::of(&scheduler, &requeue_events));
        Self {
            branches: vec![Branch::new(scheduler, timeline)],
            current: 0,
            source: source.into(),
            background: Arc::default(),
            truncated: false,
            breakpoints: Vec::new(),
        }
    }

    /// Returns a new session with other queues on the initial objects, or on the newest ones where the cluster was
    /// observed over time.
    #[must_use]
    pub fn restarted(&self, queues: InitialQueues) -> Self {
        let seen = self.scheduler_as_seen();
        let state = seen.state();
        let (unknown, start, events) = (state.cluster().unknown, state.clock(), self.events_for(queues));
        let options = Options { start, queues, events, unknown, ..seen.options().clone() };
        let config = (**state.config()).clone();
        let fresh = Self::new(Scheduler::new(config, objects_in_order(seen), options), self.source.clone());
        Self { background: self.background.clone(), breakpoints: self.breakpoints.clone(), ..fresh }
    }

    /// Returns a session that starts where the cluster was observed last; all branches and earlier revisions are
    /// dropped. It cannot be saved, because its start does not follow from the objects alone.
    #[must_use]
    pub fn forgotten(&self) -> Self {
        let fresh = Self::new(self.scheduler_as_seen().clone(), self.source.clone());
        Self { truncated: true, background: self.background.clone(), breakpoints: self.breakpoints.clone(), ..fresh }
    }

    /// Returns the Events from which queue places are inferred at a restart.
    fn events_for(&self, queues: InitialQueues) -> Vec<ObservedEvent> {
        if queues == InitialQueues::AsObserved { self.background.events.clone() } else { Vec::new() }
    }

    /// Returns whether earlier revisions were dropped ([`Self::forgotten`]).
    pub fn is_forgetful(&self) -> bool {
        self.truncated
    }

    /// Returns whether a revision behind `revision`, up to the cursor, may have changed the state.
    pub fn changed_since(&self, revision: usize) -> bool {
        (revision + 1..self.timeline().revisions_done()).any(|at| !self.branch().changes_nothing(at))
    }

    /// Returns the number of revisions up to the last one, up to the cursor, that may have changed the state.
    pub fn revisions_that_changed(&self) -> usize {
        (0..self.timeline().revisions_done()).rev().find(|at| !self.branch().changes_nothing(*at)).map_or(0, |at| at + 1)
    }

    /// Returns the pod of the dry decision at the cursor.
    pub fn explained(&self) -> Option<Key> {
        self.timeline().revision()?.explained().cloned()
    }

    /// Replaces the information about the source.
    #[must_use]
    pub fn with(self, background: Background) -> Self {
        Self { background: Arc::new(background), ..self }
    }

    /// Returns the information about the source.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Returns the information about the source, for adding to it.
    pub fn background_mut(&mut self) -> &mut Background {
        Arc::make_mut(&mut self.background)
    }

    /// Returns the breakpoints, in the order in which they were set.
    pub fn breakpoints(&self) -> &[Breakpoint] {
        &self.breakpoints
    }

    /// Replaces the breakpoints.
    pub fn set_breakpoints(&mut self, breakpoints: Vec<Breakpoint>) {
        self.breakpoints = breakpoints;
    }

    /// Returns the cluster's origin in words.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns all branches in order of creation.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Returns the index of the current branch.
    pub fn current(&self) -> usize {
        self.current
    }

    /// Returns the current branch.
    pub fn branch(&self) -> &Branch {
        &self.branches[self.current]
    }

    pub(super) fn branch_mut(&mut self) -> &mut Branch {
        &mut self.branches[self.current]
    }

    /// Makes another branch current, with its cursor as it was. Returns false when there is no such branch.
    pub fn switch(&mut self, to: usize) -> bool {
        let known = to < self.branches.len();
        if known {
            self.current = to;
        }
        known
    }

    /// Returns the timeline of the current branch.
    pub fn timeline(&self) -> &Timeline {
        &self.branch().timeline
    }

    /// Returns the timeline of the current branch, for moving the cursor.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.branch_mut().timeline
    }

    /// Returns the scheduler at the end of the current branch.
    pub fn scheduler(&self) -> &Scheduler {
        &self.branch().scheduler
    }

    /// Returns the scheduler at the cursor. Within a revision that is the one before it.
    pub fn scheduler_here(&self) -> &Scheduler {
        self.branch().scheduler_at(self.timeline().revisions_done())
    }

    /// Returns the number of revisions at the start of the current branch that record the cluster over time.
    pub fn observed_revisions(&self) -> usize {
        if !self.background.observed {
            return 0;
        }
        let (mut at, mut revisions) = (self.current, self.timeline().revisions().len());
        while let Some(fork) = self.branches[at].forked() {
            (at, revisions) = (fork.branch, revisions.min(fork.revisions));
        }
        revisions
    }

    /// Returns whether the state at the cursor is that of [`Self::scheduler_as_seen`].
    pub fn is_as_seen(&self) -> bool {
        if self.background.observed {
            return self.current == 0 && self.timeline().revisions_done() == self.timeline().revisions().len();
        }
        self.revisions_that_changed() == 0
    }

    /// Returns the changes up to the cursor that the user made, oldest first.
    pub fn own_changes(&self) -> impl Iterator<Item = &Revision> {
        let revisions = self.timeline().revisions().iter().take(self.timeline().revisions_done());
        revisions.skip(self.observed_revisions()).map(|revision| &**revision).filter(|revision| revision.action.is_what_if())
    }

    /// Applies an operation at the cursor. Extends the current branch at its end, where the cursor stays; elsewhere
    /// forks a new branch and makes it current. Returns false, and records nothing, when the operation has no effect.
    pub fn apply(&mut self, action: impl Into<Action>) -> bool {
        let action = action.into();
        let at_end = self.timeline().revisions_done() == self.timeline().revisions().len();
        if at_end && !self.on_observed() { self.branch_mut().append(action) } else { self.apply_on_new_branch(action) }
    }

    /// Starts a kube-scheduler of another release at the cursor, on a new branch. It has the same configuration file
    /// and feature gates, and knows only the cluster's objects, as after an upgrade.
    ///
    /// # Errors
    /// When that release refuses the configuration or a feature gate; no branch begins.
    pub fn change_release(&mut self, release: Release) -> Result<(), ReleaseChangeError> {
        let at = self.timeline().revisions_done();
        let after = self.with_release(self.branch().scheduler_at(at), release, VersionSource::Command)?;
        let left = self.current;
        self.fork();
        self.push_release(release, after);
        #[cfg(feature = "cli")]
        tracing::info!(branch = self.current, left, %release, "release changed");
        #[cfg(not(feature = "cli"))]
        let _ = left;
        Ok(())
    }

    /// Starts a kube-scheduler of another release at the end of the first branch, because the observed cluster runs that now; a
    /// cursor at the end follows.
    ///
    /// # Errors
    /// When that release refuses the configuration or a feature gate; nothing is recorded.
    pub fn observe_release(&mut self, release: Release) -> Result<(), ReleaseChangeError> {
        let after = self.with_release(self.branches[0].scheduler(), release, VersionSource::Server)?;
        let current = std::mem::replace(&mut self.current, 0);
        let follow = self.timeline().at_end();
        self.push_release(release, after);
        if follow {
            self.timeline_mut().seek(Cursor::END);
        }
        self.current = current;
        Ok(())
    }

    /// Returns a scheduler of another release, just started on the same cluster.
    fn with_release(&self, before: &Scheduler, release: Release, source: VersionSource) -> Result<Scheduler, ReleaseChangeError> {
        let choice = before.options().release.changed_to(release, source);
        let after = before.of_release(choice, objects_in_order(before), self.queues_again(before));
        after.map_err(|why| ReleaseChangeError { release: choice.profile().release, why })
    }

    /// Records the takeover by another release at the end of the current branch.
    fn push_release(&mut self, release: Release, after: Scheduler) {
        let title = format!("release {}", after.emulated().version());
        self.push_takeover(Action::Release(release), title, after);
    }

    /// Continues with an edited configuration at the cursor: at the end of a branch that records no cluster and is not
    /// the first, else on a new branch. The scheduler starts anew and knows only the cluster's objects.
    ///
    /// # Errors
    /// When kube-scheduler would not start with it, or it would change nothing; no branch begins.
    pub fn configure(&mut self, edit: &ConfigEdit) -> Result<(), ConfigEditError> {
        let at = self.timeline().revisions_done();
        let after = self.with_config(self.branch().scheduler_at(at), edit)?;
        self.begin_what_if();
        self.push_configured(edit.clone(), after);
        #[cfg(feature = "cli")]
        tracing::info!(branch = self.current, %edit, "configuration edited");
        Ok(())
    }

    /// Returns a scheduler with an edited configuration, just started on the same cluster.
    fn with_config(&self, before: &Scheduler, edit: &ConfigEdit) -> Result<Scheduler, ConfigEditError> {
        before.configured(edit, objects_in_order(before), self.queues_again(before))
    }

    fn push_configured(&mut self, edit: ConfigEdit, after: Scheduler) {
        let title = edit.to_string();
        self.push_takeover(Action::Configure(edit), title, after);
    }

    /// Begins a branch at the cursor, unless the cursor is at the end of one that left another. Returns the names of the
    /// new branch and of the one that it left.
    pub fn begin_what_if(&mut self) -> Option<(String, String)> {
        let at = self.timeline().revisions_done();
        if self.current > 0 && at == self.timeline().revisions().len() {
            return None;
        }
        let left = self.branch().name().to_owned();
        self.fork();
        Some((self.branch().name().to_owned(), left))
    }

    /// Drops the newest branch, if nothing forks from it, and makes the one that it left current, with its cursor as it
    /// was.
    pub fn abandon_branch(&mut self) {
        let last = self.branches.len() - 1;
        if let Some(fork) = self.branches[last].forked().filter(|_| self.current == last) {
            self.branches.pop();
            self.current = fork.branch;
        }
    }

    /// Returns the queue places at a restart of a scheduler, and the Events from which they are inferred.
    fn queues_again(&self, before: &Scheduler) -> (InitialQueues, Vec<ObservedEvent>) {
        let queues = before.options().queues;
        (queues, self.events_for(queues))
    }

    /// Records the takeover by another scheduler at the end of the current branch.
    fn push_takeover(&mut self, action: Action, title: String, after: Scheduler) {
        let branch = self.branch_mut();
        let scheduler = branch.scheduler.clone();
        let before = Keyframe::of(&scheduler, &branch.timeline.end().requeue_events);
        let is = Keyframe::of(&after, &requeue_events(&after));
        let start = SchedulerStart { release: after.emulated().profile.release, queues: is.queues.clone() };
        let events = Arc::new(RecordedEvents::new(vec![Event::SchedulerStarted(Arc::new(start))], &before.snapshot));
        branch.push(Revision { action, title, events, before, after: is, scheduler, odds_over_starts: OnceLock::new() }, after);
    }

    /// Forks a branch at the cursor and makes it current. Its cursor is at its end.
    pub fn fork(&mut self) {
        self.fork_at(self.timeline().revisions_done());
    }

    /// Forks a branch after the first `at` revisions of the current one, and makes it current.
    fn fork_at(&mut self, at: usize) {
        let fork = Fork { branch: self.current, revisions: at };
        let name = format!("branch {}", self.branches.len() + 1);
        let branch = self.branch().fork(name, fork);
        self.branches.push(branch);
        self.current = self.branches.len() - 1;
    }

    /// Applies an operation at the cursor on a new branch, which becomes the current one. Returns false, and makes no branch,
    /// when the operation has no effect.
    pub fn apply_on_new_branch(&mut self, action: impl Into<Action>) -> bool {
        self.fork();
        let done = self.branch_mut().append(action.into());
        if !done {
            self.abandon_branch();
        }
        done
    }

    /// Returns the scheduler at the start of the first branch.
    pub fn scheduler_at_start(&self) -> &Scheduler {
        self.branches[0].scheduler_at(0)
    }

    /// Returns the schedulers before and after a change that was observed: in a series of dumps that at the cursor, at its start the
    /// first; of a live cluster all changes since it was opened (`whole`). `None` if nothing was observed. The number is that of the
    /// revisions after it.
    pub fn observed_change(&self, whole: bool) -> Option<(usize, [&Scheduler; 2])> {
        let observed = self.observed_revisions();
        if observed == 0 {
            return None;
        }
        if whole {
            return Some((observed, [self.branch().scheduler_at(0), self.branch().scheduler_at(observed)]));
        }
        let revisions = self.timeline().revisions();
        let done = self.timeline().revisions_done().min(observed);
        let is_change = |at: &usize| !revisions[*at].action.changes_nothing();
        let at = (0..done).rev().find(is_change).or_else(|| (done..observed).find(is_change))?;
        Some((at + 1, [self.branch().scheduler_at(at), self.branch().scheduler_at(at + 1)]))
    }

    /// Begins a saved branch with the revisions that it shares. Returns false where its fork does not exist.
    pub(super) fn begin(&mut self, number: usize, name: &str, fork: Option<Fork>) -> bool {
        match fork {
            None => number == 0,
            Some(fork) => {
                let known = number == self.branches.len()
                    && self.branches.get(fork.branch).is_some_and(|from| fork.revisions <= from.timeline.revisions().len());
                if known {
                    self.branches.push(self.branches[fork.branch].fork(name.to_owned(), fork));
                    self.current = number;
                }
                known
            }
        }
    }

    /// Replays a saved action at the end of the current branch. Returns false when it has no effect.
    pub(super) fn redo(&mut self, action: Action) -> bool {
        match action {
            Action::Apply(_) | Action::WhatIf { .. } => self.branch_mut().append(action),
            Action::Explain(pod) => self.explain_at(self.current, self.timeline().revisions().len(), &pod, Asking::Recall),
            Action::Logged(attempt) => self.log(*attempt),
            Action::Release(release) => match self.with_release(self.scheduler(), release, self.release_source()) {
                Ok(after) => {
                    self.push_release(release, after);
                    true
                }
                Err(_) => false,
            },
            Action::Configure(edit) => match self.with_config(self.scheduler(), &edit) {
                Ok(after) => {
                    self.push_configured(edit, after);
                    true
                }
                Err(_) => false,
            },
        }
    }

    /// Returns where a saved change of the release on the current branch comes from: only the cluster changes the branch that
    /// records it.
    fn release_source(&self) -> VersionSource {
        if self.on_observed() { VersionSource::Server } else { VersionSource::Command }
    }

    /// Returns whether the current branch records a cluster, so that operations must go to another branch.
    fn on_observed(&self) -> bool {
        self.background.observed && self.current == 0
    }

    /// Applies an observation of the cluster at the end of the first branch; a cursor at the end follows. Returns false
    /// when the observation has no effect.
    pub fn observe(&mut self, operation: Operation) -> bool {
        let current = std::mem::replace(&mut self.current, 0);
        let follow = self.timeline().at_end();
        let done = self.branch_mut().append(operation.into());
        if done && follow {
            self.timeline_mut().seek(Cursor::END);
        }
        self.current = current;
        done
    }

    /// Returns the scheduler where the cluster was observed last: at the end of the first branch if that records a
    /// cluster, else at its start.
    pub fn scheduler_as_seen(&self) -> &Scheduler {
        if self.background.observed { self.branches[0].scheduler() } else { self.scheduler_at_start() }
    }

    /// Schedules the next waiting pod at the end of the current branch. Returns false when no pod can be popped.
    pub fn run_next(&mut self) -> bool {
        self.scheduler().next_pod().is_some() && self.append_apart(Operation::Schedule)
    }

    /// Applies an operation at the end of the current branch, or on a new branch there if the current one records a
    /// cluster.
    fn append_apart(&mut self, operation: Operation) -> bool {
        let forks = self.on_observed();
        if forks {
            self.fork_at(self.timeline().revisions().len());
        }
        let done = self.branch_mut().append(operation.into());
        if forks && !done {
            self.abandon_branch();
        }
        done
    }

    /// Does one step of settling at the end of the current branch, including timers. Returns false when settled.
    pub fn settle(&mut self) -> bool {
        self.branch().next_operation().is_some_and(|operation| self.append_apart(operation))
    }

    /// Returns how many events a run may record before it stops; see [`RUN_EVENTS`].
    pub fn events_of_a_run(&self) -> usize {
        let of_source = self.scheduler().source_length() / RUN_BYTES_OF_EVENT;
        RUN_EVENTS.saturating_add(usize::try_from(of_source).unwrap_or(usize::MAX))
    }

    /// Does one step of settling as [`Self::settle`] does, within a bound.
    pub fn settle_within(&mut self, bound: &mut StepBound) -> bool {
        let next = self.branch().next_operation().filter(|operation| bound.allows(self.scheduler().state(), operation));
        next.is_some_and(|operation| self.append_apart(operation))
    }

    /// Records a dry decision about a pod on the cluster at the cursor. The decision leaves the state as it is, so it
    /// is inserted at the cursor and no branch begins. Returns the index of its revision; `None` when there is no such
    /// pod.
    pub fn explain(&mut self, pod: &Key) -> Option<usize> {
        let at = self.timeline().revisions_done();
        // Decisions in the past call no extender.
        let asking = if at == self.timeline().revisions().len() { Asking::Ask } else { Asking::Recall };
        self.explain_at(self.current, at, pod, asking).then_some(at)
    }

    /// Records a dry decision as [`Self::explain`] does, for which the last answers of extenders count.
    pub fn explain_again(&mut self, pod: &Key) -> Option<usize> {
        let at = self.timeline().revisions_done();
        self.explain_at(self.current, at, pod, Asking::Recall).then_some(at)
    }

    /// Runs every Filter plugin for a pod on a node, on the cluster before the revision at the cursor: a cycle in that
    /// revision saw the same. Returns `None` when the pod or the node does not exist. Records nothing.
    pub fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters> {
        self.branch().scheduler_at(self.timeline().cursor().revision).every_filter(pod, node)
    }

    fn explain_at(&mut self, branch: usize, at: usize, pod: &Key, asking: Asking) -> bool {
        let scheduler = self.branches[branch].scheduler_at(at).clone();
        let Some(object) = scheduler.state().cluster().pods.get(pod).cloned() else { return false };
        let timeline = &self.branches[branch].timeline;
        let keyframe = timeline.revisions().get(at).map_or_else(|| timeline.end(), |revision| &revision.before);
        let before = Keyframe::of(&scheduler, &keyframe.requeue_events);
        let options = DryOptions { asking, ..DryOptions::default() };
        let mut recording = RecordedEventsBuilder::new(&before.snapshot);
        let of_group = scheduler.explain_group_in_parts(&object, &mut |events| recording.extend(events));
        let events = match of_group {
            Some(()) => recording.finish(),
            None => RecordedEvents::new(scheduler.explain_with(&object, options), &before.snapshot),
        };
        let events = Arc::new(events);
        let (action, title, after) = (Action::Explain(pod.clone()), format!("explain {pod}"), before.clone());
        let revision = Revision { action, title, events, before, after, scheduler, odds_over_starts: OnceLock::new() };
        // A revision that branches share belongs to the branch that the others forked from.
        let mut owner = branch;
        while let Some(fork) = self.branches[owner].forked().filter(|f| f.revisions > at) {
            owner = fork.branch;
        }
        self.insert(owner, at, &Arc::new(revision));
        true
    }

    /// Inserts a revision that leaves the state as it was into a branch and into all branches that share this part.
    fn insert(&mut self, branch: usize, at: usize, revision: &Arc<Revision>) {
        for child in 0..self.branches.len() {
            if self.branches[child].forked().is_some_and(|f| f.branch == branch && f.revisions > at) {
                self.insert(child, at, revision);
                self.branches[child].shares_one_more();
            }
        }
        self.branches[branch].timeline.insert(at, revision.clone());
    }

    /// Moves the cursor right behind the next event that meets a condition. Past the recorded events it schedules
    /// further pods, at most `turns` of them. Virtual time passes only where the condition names a pod and none can be popped.
    pub fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd {
        for turn in 0..=turns {
            if let Some(cursor) = self.timeline().find_after(until) {
                self.timeline_mut().seek(cursor);
                return RunEnd::Met;
            }
            self.timeline_mut().seek(Cursor::END);
            if turn < turns && !(if until.names_a_pod() { self.settle() } else { self.run_next() }) {
                return RunEnd::NothingLeft;
            }
        }
        RunEnd::OutOfTurns
    }
}

/// Error of [`Session::change_release`]: the release refuses the configuration or a feature gate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kube-scheduler {release} would not start with this configuration: {why}")]
pub struct ReleaseChangeError {
    release: Release,
    why: ReleaseRefused,
}

/// Reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// An event met the condition.
    Met,
    /// No pod can be popped.
    NothingLeft,
    /// The limit on attempts was reached.
    OutOfTurns,
}

/// Returns the events that may requeue parked pods of a scheduler.
pub fn requeue_events(scheduler: &Scheduler) -> Arc<RequeueEvents> {
    Arc::new(RequeueEvents::new(scheduler.state().queue().hints().registrations()))
}

/// Returns the objects of a cluster, pending pods last, in the order in which the scheduler received them.
pub(crate) fn objects_in_order(scheduler: &Scheduler) -> Vec<Object> {
    let cluster = scheduler.state().cluster();
    let rest = cluster.objects().filter(|o| !matches!(o, Object::Pod(pod) if pod.is_pending()));
    let arrived = scheduler.state().arrivals().iter().filter_map(|key| cluster.pods.get(key).cloned().map(Object::Pod));
    // Sort the pods that were added later by creation, as a scheduler that restarts would.
    let known: BTreeSet<&Key> = scheduler.state().arrivals().iter().collect();
    let mut later: Vec<&Arc<Pod>> = cluster.pods.iter().filter(|pod| pod.is_pending() && !known.contains(&pod.key())).collect();
    later.sort_by_cached_key(|pod| (pod.metadata.creation_timestamp, pod.key()));
    rest.chain(arrived.filter(|o| matches!(o, Object::Pod(pod) if pod.is_pending())))
        .chain(later.into_iter().cloned().map(Object::Pod))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Meta, Node};
    use crate::framework::PluginName;
    use crate::release::Emulation;
    use crate::scheduler::{Config, Options};

    #[test]
    fn the_events_that_wake_pods_are_found_once_and_shared() {
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), Vec::new(), Options::default());
        let mut session = Session::new(scheduler, "nothing");
        let requeue_events = session.timeline().keyframe().requeue_events.clone();
        for (plugin, expected) in [
            (PluginName::NodeName, &["NodeAdd", "NodeUpdateNodeTaint"][..]),
            (PluginName::NodeAffinity, &["NodeAdd", "NodeUpdateNodeTaint", "NodeUpdateNodeLabel"]),
            (PluginName::NodePorts, &["AssignedPodDelete", "NodeAdd", "NodeUpdateNodeTaint"]),
            (PluginName::DefaultPreemption, &["AssignedPodDelete"]),
            (PluginName::SchedulingGates, &["UnschedulablePodUpdatePodSchedulingGatesEliminated"]),
            (PluginName::PrioritySort, &[]),
        ] {
            let labels: Vec<String> = requeue_events.of("default-scheduler", plugin).iter().map(ToString::to_string).collect();
            assert_eq!(labels, expected, "{plugin}");
            assert!(requeue_events.of("other", plugin).is_empty());
        }
        let node = Node { metadata: Meta { name: "n".into(), ..Meta::default() }, ..Node::default() };
        assert!(session.apply(Operation::Create { object: Object::Node(Arc::new(node)) }));
        let revision = session.timeline().revision().expect("it was recorded");
        assert!(
            Arc::ptr_eq(&revision.before.requeue_events, &requeue_events) && Arc::ptr_eq(&revision.after.requeue_events, &requeue_events)
        );
    }
}
