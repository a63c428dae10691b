//! A scheduler with everything it did so far, on branches that left each other where something was done in the past.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::branch::{Action, Branch, Fork, Step};
use super::requeue_events::RequeueEvents;
use super::timeline::{Cursor, InitialQueues, Keyframe, Revision, RevisionKind, Timeline};
use super::until::Until;
use serde::{Deserialize, Serialize};

use crate::cluster::{Key, Object, ObservedEvent, Pod};
use crate::framework::NodeFilters;
use crate::release::{FoundVersion, Release, ReleaseChoice, VersionSource};
use crate::scheduler::{Operation, Options, ReleaseRefused, Scheduler, State, Waiting};
use crate::trace::{Event, SchedulerStart};

/// A scheduler and its timelines.
///
/// What is done at the end of a branch makes it longer. What is done in the past leaves the branch as it is and begins
/// another, on which the reader then is. A clone shares all that was recorded.
#[derive(Clone, Debug)]
pub struct Session {
    branches: Vec<Branch>,
    current: usize,
    source: String,
    background: Arc<Background>,
    /// What came before was forgotten, so that the start follows from more than the objects.
    truncated: bool,
}

/// What else the source told, for the reader and for beginning again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// What was read and what was not, a line each.
    pub report: Vec<String>,
    /// What the cluster's Events tell of attempts.
    pub events: Vec<ObservedEvent>,
    /// The first branch is what was seen of a cluster over time; what is done goes onto other branches.
    pub observed: bool,
}

impl Session {
    /// A session in which nothing has happened yet; `source` says where the cluster came from.
    pub fn new(scheduler: Scheduler, source: impl Into<String>) -> Self {
        let requeue_events = requeue_events(&scheduler);
        let mut timeline = Timeline::new(moment(scheduler.state(), &requeue_events));
        timeline.set_started(match scheduler.options().waiting {
            Waiting::Fresh => InitialQueues::Fresh,
            Waiting::AsObserved(_) => InitialQueues::AsObserved,
        });
        Self {
            branches: vec![Branch::new(scheduler, timeline)],
            current: 0,
            source: source.into(),
            background: Arc::default(),
            truncated: false,
        }
    }

    /// The same cluster from its start (or, where it was seen over time, as it was seen last), with waiting pods elsewhere;
    /// nothing has happened in it yet.
    #[must_use]
    pub fn restarted(&self, waiting: Waiting) -> Self {
        let seen = self.scheduler_as_seen();
        let state = seen.state();
        let options = Options { waiting, unknown: state.cluster().unknown, start: state.clock(), ..seen.options().clone() };
        let config = (**state.config()).clone();
        Self::new(Scheduler::new(config, objects_in_order(seen), options), self.source.clone()).with((*self.background).clone())
    }

    /// The same session from where the cluster was seen last: everything before and every branch is forgotten. Such a
    /// session cannot be saved, because its start does not follow from the objects alone.
    #[must_use]
    pub fn forgotten(&self) -> Self {
        let fresh = Self::new(self.scheduler_as_seen().clone(), self.source.clone());
        Self { truncated: true, background: self.background.clone(), ..fresh }
    }

    /// Whether what came before was forgotten ([`Self::forgotten`]).
    pub fn is_forgetful(&self) -> bool {
        self.truncated
    }

    /// Whether something was seen or done on this branch behind a revision, up to the cursor.
    pub fn changed_since(&self, revision: usize) -> bool {
        (revision + 1..self.timeline().revisions_done()).any(|at| self.branch().explained(at).is_none())
    }

    /// The pod of the decision without consequences that the cursor is in.
    pub fn explained(&self) -> Option<Key> {
        self.branch().explained(self.timeline().cursor().revision)
    }

    /// The same session, with what else its source told.
    #[must_use]
    pub fn with(self, background: Background) -> Self {
        Self { background: Arc::new(background), ..self }
    }

    /// What else the source told.
    pub fn background(&self) -> &Background {
        &self.background
    }

    /// What else the source told, to add to it.
    pub fn background_mut(&mut self) -> &mut Background {
        Arc::make_mut(&mut self.background)
    }

    /// Where the cluster came from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// All branches, in the order in which they began.
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// Which branch the reader is on.
    pub fn current(&self) -> usize {
        self.current
    }

    /// The branch that the reader is on.
    pub fn branch(&self) -> &Branch {
        &self.branches[self.current]
    }

    /// Goes to another branch; its cursor is where it was left. False when there is no such branch.
    pub fn switch(&mut self, to: usize) -> bool {
        let known = to < self.branches.len();
        if known {
            self.current = to;
        }
        known
    }

    /// What happened on this branch, with the cursor.
    pub fn timeline(&self) -> &Timeline {
        &self.branch().timeline
    }

    /// What happened on this branch, for moving the cursor.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.branches[self.current].timeline
    }

    /// The scheduler at the end of this branch.
    pub fn scheduler(&self) -> &Scheduler {
        &self.branch().scheduler
    }

    /// The scheduler at the cursor: as before the revision until its last event has happened.
    pub fn scheduler_here(&self) -> &Scheduler {
        self.branch().scheduler_at(self.timeline().revisions_done())
    }

    /// Does something at the cursor. Where the cursor is not at the end, a new branch begins there and the reader is on
    /// it. The cursor of a branch that only grows stays where it is. False when nothing came of it; then nothing is
    /// recorded, and no branch begins.
    pub fn apply(&mut self, operation: Operation) -> bool {
        let at = self.timeline().revisions_done();
        if at == self.timeline().revisions().len() && !self.on_observed() {
            return self.append(operation);
        }
        self.apply_apart(at, operation)
    }

    /// Lets a kube-scheduler of another release take over at the cursor, on a branch of its own. It has the same
    /// configuration file and feature gates, and knows nothing but the cluster's objects, as after an upgrade.
    ///
    /// # Errors
    /// Where that release refuses the configuration or a feature gate; then no branch begins.
    pub fn change_release(&mut self, release: Release) -> Result<(), ReleaseChangeError> {
        let at = self.timeline().revisions_done();
        let after = self.with_release(self.branch().scheduler_at(at), release)?;
        let left = self.current;
        self.fork_at(at);
        self.push_release(release, after);
        tracing::info!(branch = self.current, left, %release, "release changed");
        Ok(())
    }

    /// Returns a scheduler of another release that has just started on the cluster of this one.
    fn with_release(&self, before: &Scheduler, release: Release) -> Result<Scheduler, ReleaseChangeError> {
        let wanted = FoundVersion { release, source: VersionSource::Command };
        let choice = ReleaseChoice { wanted: Some(wanted), ..before.options().release };
        let waiting = match before.options().waiting {
            Waiting::Fresh => Waiting::Fresh,
            Waiting::AsObserved(_) => Waiting::AsObserved(self.background.events.clone()),
        };
        let after = before.of_release(choice, objects_in_order(before), waiting);
        after.map_err(|why| ReleaseChangeError { release: choice.profile().release, why })
    }

    /// Records the release at the end of this branch.
    fn push_release(&mut self, release: Release, after: Scheduler) {
        let branch = &mut self.branches[self.current];
        let before = branch.scheduler.clone();
        let was = moment(before.state(), &branch.timeline.end().requeue_events);
        let is = moment(after.state(), &requeue_events(&after));
        let start = SchedulerStart { release: after.emulated().profile.release, queues: is.queues.clone() };
        let events = vec![Event::SchedulerStarted(Arc::new(start))].into();
        let title = format!("release {}", after.emulated().version());
        let revision = Revision { kind: RevisionKind::Release(release), title, events, before: was, after: is };
        branch.push(Step { action: Action::Release(release), before }, revision, after);
    }

    /// Begins a branch behind so many revisions of this one, and goes to it.
    fn fork_at(&mut self, at: usize) {
        let fork = Fork { branch: self.current, revisions: at };
        let name = format!("branch {}", self.branches.len() + 1);
        let branch = self.branch().fork(name, fork);
        self.branches.push(branch);
        self.current = self.branches.len() - 1;
    }

    /// Does something behind so many revisions of this branch, on a branch of its own.
    fn apply_apart(&mut self, at: usize, operation: Operation) -> bool {
        let left = self.current;
        self.fork_at(at);
        let done = self.append(operation);
        if !done {
            self.branches.pop();
            self.current = left;
        }
        done
    }

    /// The scheduler before anything happened.
    pub fn scheduler_at_start(&self) -> &Scheduler {
        self.branches[0].scheduler_at(0)
    }

    /// Begins a branch that was saved, its shared part done already; false where it cannot begin there.
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

    /// Does again what was saved, at the end of this branch.
    pub(super) fn redo(&mut self, action: Action) -> bool {
        match action {
            Action::Apply(operation) => self.append(operation),
            Action::Explain(pod) => self.explain_at(self.current, self.timeline().revisions().len(), &pod),
            Action::Release(release) => match self.with_release(self.scheduler(), release) {
                Ok(after) => {
                    self.push_release(release, after);
                    true
                }
                Err(_) => false,
            },
        }
    }

    /// Whether this branch is what was seen of a cluster, which nothing that is done here can make longer.
    fn on_observed(&self) -> bool {
        self.background.observed && self.current == 0
    }

    /// Takes in what was seen of the cluster, at the end of the first branch; a cursor that stands there goes with it.
    /// False when nothing came of it.
    pub fn observe(&mut self, operation: Operation) -> bool {
        let current = std::mem::replace(&mut self.current, 0);
        let follow = self.timeline().at_end();
        let done = self.append(operation);
        if done && follow {
            self.timeline_mut().seek(Cursor::END);
        }
        self.current = current;
        done
    }

    /// The scheduler on the cluster as it was seen last: at the end of the first branch where that is what was seen of
    /// a cluster, and at its start otherwise.
    pub fn scheduler_as_seen(&self) -> &Scheduler {
        if self.background.observed { self.branches[0].scheduler() } else { self.scheduler_at_start() }
    }

    /// Does something at the end of this branch; the cursor stays.
    fn append(&mut self, operation: Operation) -> bool {
        let branch = &mut self.branches[self.current];
        let before = branch.scheduler.clone();
        let mut after = before.clone();
        let (kind, title) = (kind(&operation), title(&operation, &before));
        let events = after.apply(operation.clone());
        let same_unknown = before.state().cluster().unknown == after.state().cluster().unknown;
        if events.is_empty() && same_unknown {
            return false;
        }
        let requeue_events = &branch.timeline.end().requeue_events;
        let (was, is) = (moment(before.state(), requeue_events), moment(after.state(), requeue_events));
        let revision = Revision { kind, title, events: events.into(), before: was, after: is };
        branch.push(Step { action: Action::Apply(operation), before }, revision, after);
        true
    }

    /// Tries the next waiting pod at the end of this branch; false when none can be popped.
    pub fn run_next(&mut self) -> bool {
        self.scheduler().next_pod().is_some() && self.append_apart(Operation::Schedule)
    }

    /// Does something at the end of this branch, or on a new branch there where this one is what was seen of a cluster.
    fn append_apart(&mut self, operation: Operation) -> bool {
        if self.on_observed() { self.apply_apart(self.timeline().revisions().len(), operation) } else { self.append(operation) }
    }

    /// One step, at the end of this branch, of letting everything happen that happens by itself, time included; false
    /// when nothing changes any more.
    pub fn settle(&mut self) -> bool {
        self.branch().next_operation().is_some_and(|operation| self.append_apart(operation))
    }

    /// Tries waiting pods until none can be popped, at most `limit` times; says how often.
    pub fn run_to_quiescence(&mut self, limit: usize) -> usize {
        (0..limit).take_while(|_| self.run_next()).count()
    }

    /// Decides about one pod on the cluster as it stands at the cursor, without consequences. As nothing changes by it,
    /// the decision is put in where the cursor is, and no branch begins. Says which revision it is; `None` when there is
    /// no such pod.
    pub fn explain(&mut self, pod: &Key) -> Option<usize> {
        let at = self.timeline().revisions_done();
        self.explain_at(self.current, at, pod).then_some(at)
    }

    /// What every Filter plugin says about a node for a pod, on the cluster as it was before the revision at the cursor, which
    /// is what a cycle in that revision was decided on; `None` where there was no such pod or node. Nothing is recorded.
    pub fn every_filter(&self, pod: &Key, node: &str) -> Option<NodeFilters> {
        self.branch().scheduler_at(self.timeline().cursor().revision).every_filter(pod, node)
    }

    fn explain_at(&mut self, branch: usize, at: usize, pod: &Key) -> bool {
        let scheduler = self.branches[branch].scheduler_at(at).clone();
        let Some(object) = scheduler.state().cluster().pods.get(pod).cloned() else { return false };
        let timeline = &self.branches[branch].timeline;
        let stands = timeline.revisions().get(at).map_or_else(|| timeline.end(), |revision| &revision.before);
        let now = moment(scheduler.state(), &stands.requeue_events);
        let (kind, title) = (RevisionKind::Explain(pod.clone()), format!("explain {pod}"));
        let revision = Revision { kind, title, events: scheduler.explain(&object).into(), before: now.clone(), after: now };
        // What the branch shares with others is theirs as well.
        let mut owner = branch;
        while let Some(fork) = self.branches[owner].forked().filter(|f| f.revisions > at) {
            owner = fork.branch;
        }
        let step = Step { action: Action::Explain(pod.clone()), before: scheduler };
        self.insert(owner, at, &Arc::new(step), &Arc::new(revision));
        true
    }

    /// Puts a revision that changes nothing into a branch, and into those that share this part of it.
    fn insert(&mut self, branch: usize, at: usize, step: &Arc<Step>, revision: &Arc<Revision>) {
        for child in 0..self.branches.len() {
            if self.branches[child].forked().is_some_and(|f| f.branch == branch && f.revisions > at) {
                self.insert(child, at, step, revision);
                self.branches[child].shares_one_more();
            }
        }
        self.branches[branch].insert(at, step.clone(), revision.clone());
    }

    /// Goes on from the cursor to right behind the next event that meets a condition, trying further pods where what
    /// is recorded does not do: at most `turns` of them. Time does not pass by it.
    pub fn run_until(&mut self, until: &Until, turns: usize) -> RunEnd {
        for turn in 0..=turns {
            if let Some(cursor) = self.timeline().find_after(|event| until.met(event)) {
                self.timeline_mut().seek(cursor);
                return RunEnd::Met;
            }
            self.timeline_mut().seek(Cursor::END);
            if turn < turns && !self.run_next() {
                return RunEnd::NothingLeft;
            }
        }
        RunEnd::OutOfTurns
    }
}

/// Why another release cannot take over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("kube-scheduler {release} would not start with this configuration: {why}")]
pub struct ReleaseChangeError {
    release: Release,
    why: ReleaseRefused,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// What it waited for has happened.
    Met,
    /// No pod can be popped.
    NothingLeft,
    /// As many pods were tried as was allowed.
    OutOfTurns,
}

/// The events that may wake pods of a scheduler.
fn requeue_events(scheduler: &Scheduler) -> Arc<RequeueEvents> {
    Arc::new(RequeueEvents::new(scheduler.state().queue().hints().registrations()))
}

fn moment(state: &State, requeue_events: &Arc<RequeueEvents>) -> Keyframe {
    Keyframe {
        cluster: state.cluster().clone(),
        snapshot: state.snapshot(),
        queues: state.queue().view().clone(),
        clock: state.clock(),
        requeue_events: requeue_events.clone(),
    }
}

/// The objects of a cluster, pending pods last and in the order in which the scheduler heard of them.
pub(super) fn objects_in_order(scheduler: &Scheduler) -> Vec<Object> {
    let cluster = scheduler.state().cluster();
    let rest = cluster.objects().filter(|o| !matches!(o, Object::Pod(pod) if pod.is_pending()));
    let arrived = scheduler.state().arrivals().iter().filter_map(|key| cluster.pods.get(key).cloned().map(Object::Pod));
    // Pods that came later, as they would have been heard of.
    let known: BTreeSet<&Key> = scheduler.state().arrivals().iter().collect();
    let mut later: Vec<&Arc<Pod>> = cluster.pods.iter().filter(|pod| pod.is_pending() && !known.contains(&pod.key())).collect();
    later.sort_by_cached_key(|pod| (pod.metadata.creation_timestamp, pod.key()));
    rest.chain(arrived.filter(|o| matches!(o, Object::Pod(pod) if pod.is_pending())))
        .chain(later.into_iter().cloned().map(Object::Pod))
        .collect()
}

fn kind(operation: &Operation) -> RevisionKind {
    match operation {
        Operation::Schedule => RevisionKind::Schedule,
        Operation::Create { object } => RevisionKind::Create(object.kind(), object.key()),
        Operation::Update { object } => RevisionKind::Update(object.kind(), object.key()),
        Operation::Delete { object } => RevisionKind::Delete(object.kind(), object.key()),
        Operation::Advance { .. } | Operation::AdvanceTo { .. } => RevisionKind::Advance,
        Operation::Batch { .. } => RevisionKind::Batch,
        Operation::Observe { .. } => RevisionKind::Observe,
        Operation::Allow { pod } => RevisionKind::Allow(pod.clone()),
        Operation::Reject { pod } => RevisionKind::Reject(pod.clone()),
    }
}

fn title(operation: &Operation, scheduler: &Scheduler) -> String {
    let object = |verb: &str, o: &Object| format!("{verb} {} {}", o.kind(), o.key());
    match operation {
        Operation::Schedule => scheduler.next_pod().map_or_else(|| "schedule".to_owned(), |pod| format!("schedule {pod}")),
        Operation::Create { object: o } => object("create", o),
        Operation::Update { object: o } => object("update", o),
        Operation::Delete { object: o } => object("delete", o),
        Operation::Advance { seconds } => format!("advance {seconds} s"),
        Operation::AdvanceTo { time } => {
            let seconds = time.duration_since(scheduler.state().clock()).as_secs_f64();
            let why = scheduler.next_timer().filter(|w| w.time == *time).map(|w| format!(": {w}"));
            format!("wait {seconds:.1} s{}", why.unwrap_or_default())
        }
        Operation::Batch { name, operations } => {
            let changes = operations.iter().filter(|o| !matches!(o, Operation::AdvanceTo { .. } | Operation::Observe { .. })).count();
            if changes == 1 { format!("{name}: 1 change") } else { format!("{name}: {changes} changes") }
        }
        Operation::Observe { time, .. } => format!("looked at {time}"),
        Operation::Allow { pod } => format!("allow {pod}"),
        Operation::Reject { pod } => format!("reject {pod}"),
    }
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
        let requeue_events = session.timeline().moment().requeue_events.clone();
        for (plugin, expected) in [
            (PluginName::NodeName, &["NodeAdd", "NodeUpdateNodeTaint"][..]),
            (PluginName::NodeAffinity, &["NodeAdd", "NodeUpdateNodeTaint", "NodeUpdateNodeLabel"]),
            (PluginName::NodePorts, &["AssignedPodDelete", "NodeAdd", "NodeUpdateNodeTaint"]),
            (PluginName::DefaultPreemption, &["AssignedPodDelete"]),
            (PluginName::SchedulingGates, &["UnschedulablePodUpdatePodSchedulingGatesEliminated"]),
            (PluginName::PrioritySort, &[]),
        ] {
            assert_eq!(requeue_events.of("default-scheduler", plugin), expected, "{plugin}");
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
