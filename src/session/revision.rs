//! A revision: one action with its events, and the state before and after it.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::edit::Edit;
use super::logged::LoggedAttempt;
use super::requeue_events::RequeueEvents;
use super::verb::Verb;
use crate::cluster::{Cluster, Key, Kind, Object};
use crate::framework::{Context, Snapshot};
use crate::odds::Odds;
use crate::release::{Emulation, Gate, Release};
use crate::scheduler::{ConfigEdit, InitialQueues, Operation, Scheduler};
use crate::trace::{Event, QueuesView, RecordedEvents};

/// Full state at one point of the timeline. Clones share their parts.
#[derive(Clone, Debug, Default)]
pub struct Keyframe {
    /// All objects.
    pub cluster: Cluster,
    /// Nodes with the pods on them.
    pub snapshot: Snapshot,
    /// Queue places of pods.
    pub queues: QueuesView,
    /// Virtual time.
    pub clock: Timestamp,
    /// Events that may requeue parked pods; constant per release.
    pub requeue_events: Arc<RequeueEvents>,
    /// The release of the scheduler, with its gates.
    pub emulation: Emulation,
    /// Whether the scheduler reads pod groups; constant per configuration.
    pub reads_pod_groups: bool,
    /// Queue places at the start of the scheduler.
    pub initial_queues: InitialQueues,
}

impl Keyframe {
    /// Returns the context of a decision on this state.
    pub fn context(&self) -> Context<'_> {
        Context { cluster: &self.cluster, snapshot: &self.snapshot, emulation: self.emulation, now: self.clock }
    }

    /// Returns the state of a scheduler.
    pub(super) fn of(scheduler: &Scheduler, requeue_events: &Arc<RequeueEvents>) -> Self {
        let state = scheduler.state();
        Self {
            cluster: state.cluster().clone(),
            snapshot: state.snapshot(),
            queues: state.queue().view().clone(),
            clock: state.clock(),
            requeue_events: requeue_events.clone(),
            emulation: state.config().emulation,
            reads_pod_groups: state.config().emulation.enabled(Gate::GenericWorkload),
            initial_queues: scheduler.options().queues,
        }
    }
}

/// The request behind a revision; saved sessions replay it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// An operation that may change the state.
    Apply(Operation),
    /// An operation of a what-if.
    WhatIf {
        /// The what-if.
        verb: Box<Verb>,
        /// Its operation, or one of them.
        operation: Operation,
    },
    /// A dry decision about a pod.
    Explain(Key),
    /// One attempt of the cluster's own scheduler, read from its log.
    Logged(Box<LoggedAttempt>),
    /// Takeover by a kube-scheduler of another release.
    Release(Release),
    /// Takeover by a kube-scheduler with an edited configuration.
    Configure(ConfigEdit),
}

/// One action and its events.
#[derive(Clone, Debug)]
pub struct Revision {
    /// The request.
    pub action: Action,
    /// The action in words, such as `schedule shop/payments` or `advance 10 s`.
    pub title: String,
    /// Events in order; empty only where just the unknown kinds changed.
    pub events: Arc<RecordedEvents>,
    /// State before the action.
    pub before: Keyframe,
    /// State after the action.
    pub after: Keyframe,
    /// The scheduler before the action; a branch that leaves here continues with it.
    pub(super) scheduler: Scheduler,
    /// The odds of the cycle's nodes over all starting nodes of the search, once they are counted. No event has them.
    pub odds_over_starts: OnceLock<Arc<Odds>>,
}

/// An action without its objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RevisionKind {
    /// One iteration of the scheduling loop.
    #[default]
    Schedule,
    /// A dry decision about a pod.
    Explain(Key),
    /// An attempt of the cluster's own scheduler, from its log; `None` for the end of the log.
    Logged(Option<Key>),
    /// Creation of an object.
    Create(Kind, Key),
    /// Update of an object.
    Update(Kind, Key),
    /// Deletion of an object.
    Delete(Kind, Key),
    /// Advance of the virtual clock.
    Advance,
    /// Several changes applied as one.
    Batch,
    /// Observation of a live cluster.
    Observe,
    /// A pod that waits on Permit was allowed for every plugin.
    Allow(Key),
    /// A pod that waits on Permit was rejected.
    Reject(Key),
    /// Takeover by a kube-scheduler of another release.
    Release(Release),
    /// Takeover by a kube-scheduler with an edited configuration.
    Configure(ConfigEdit),
}

impl From<Operation> for Action {
    fn from(operation: Operation) -> Self {
        Self::Apply(operation)
    }
}

impl From<(Verb, Operation)> for Action {
    fn from((verb, operation): (Verb, Operation)) -> Self {
        Self::WhatIf { verb: Box::new(verb), operation }
    }
}

impl Action {
    /// Returns whether it leaves the state as it was: a dry decision, or an attempt from the log.
    pub fn changes_nothing(&self) -> bool {
        matches!(self, Self::Explain(_) | Self::Logged(_))
    }

    /// Returns whether it is a change that a user made, other than letting the scheduler run and time pass. On a branch that
    /// records a cluster, these are changes of that cluster.
    pub fn is_what_if(&self) -> bool {
        match self {
            Self::Explain(_) | Self::Logged(_) => false,
            Self::WhatIf { .. } | Self::Release(_) | Self::Configure(_) => true,
            Self::Apply(operation) => !self.is_run() && !matches!(operation, Operation::Observe { .. } | Operation::TakeLog { .. }),
        }
    }

    /// Returns the what-if that it is, or is a part of; `None` for any other action.
    pub fn what_if(&self) -> Option<Verb> {
        match self {
            Self::WhatIf { verb, .. } => Some(Verb::clone(verb)),
            Self::Release(release) => Some(Verb::Release(*release)),
            Self::Configure(edit) => Some(Verb::Configure(edit.clone())),
            Self::Apply(_) | Self::Explain(_) | Self::Logged(_) => None,
        }
    }

    /// Returns the objects that it creates, updates or deletes, in order.
    pub fn objects(&self) -> Vec<ObjectChange<'_>> {
        match self {
            Self::Apply(operation) | Self::WhatIf { operation, .. } => objects(operation),
            Self::Explain(_) | Self::Logged(_) | Self::Release(_) | Self::Configure(_) => Vec::new(),
        }
    }

    /// Returns whether it lets the scheduler run, or time pass.
    pub fn is_run(&self) -> bool {
        matches!(self, Self::Apply(Operation::Schedule | Operation::Advance { .. } | Operation::AdvanceTo { .. }))
    }
}

impl Revision {
    pub fn kind(&self) -> RevisionKind {
        match &self.action {
            Action::Apply(operation) | Action::WhatIf { operation, .. } => kind(operation),
            Action::Explain(pod) => RevisionKind::Explain(pod.clone()),
            Action::Logged(attempt) => RevisionKind::Logged(attempt.pod.clone()),
            Action::Release(release) => RevisionKind::Release(self.release_started().unwrap_or(*release)),
            Action::Configure(edit) => RevisionKind::Configure(edit.clone()),
        }
    }

    fn release_started(&self) -> Option<Release> {
        self.events.others().iter().find_map(|event| if let Event::SchedulerStarted(start) = event { Some(start.release) } else { None })
    }

    pub fn is_dry_decision(&self) -> bool {
        self.explained().is_some()
    }

    /// Returns the pod of a dry decision; `None` for any other revision.
    pub fn explained(&self) -> Option<&Key> {
        if let Action::Explain(pod) = &self.action { Some(pod) } else { None }
    }

    /// Returns whether it comes from the log of the cluster's own scheduler.
    pub fn is_logged(&self) -> bool {
        matches!(self.action, Action::Logged(_))
    }

    /// Returns whether the objects that it changes outside of a cycle have all changed after its first `event` events.
    pub(super) fn has_changed(&self, event: usize) -> bool {
        let (done, ahead) = self.events.others().split_at(self.events.others_before(event).len());
        let changes = |events: &[Event]| events.iter().any(|event| matches!(event, Event::ObjectChanged { .. }));
        let is_cycle = || self.events.others().iter().any(|event| matches!(event, Event::CycleStarted(_)));
        changes(done) && !changes(ahead) && !is_cycle()
    }
}

/// An object that an action changes.
#[derive(Clone, Copy, Debug)]
pub enum ObjectChange<'a> {
    /// It is created or updated, and is like this after.
    Put(&'a Object),
    Deleted(&'a Object),
}

fn objects(operation: &Operation) -> Vec<ObjectChange<'_>> {
    match operation {
        Operation::Create { object } | Operation::Update { object } => vec![ObjectChange::Put(object)],
        Operation::Delete { object } => vec![ObjectChange::Deleted(object)],
        Operation::Batch { operations, .. } => operations.iter().flat_map(objects).collect(),
        _ => Vec::new(),
    }
}

fn kind(operation: &Operation) -> RevisionKind {
    match operation {
        Operation::Schedule => RevisionKind::Schedule,
        Operation::Create { object } => RevisionKind::Create(object.kind(), object.key()),
        Operation::Update { object } => RevisionKind::Update(object.kind(), object.key()),
        Operation::Delete { object } => RevisionKind::Delete(object.kind(), object.key()),
        Operation::Advance { .. } | Operation::AdvanceTo { .. } => RevisionKind::Advance,
        Operation::Batch { .. } => RevisionKind::Batch,
        Operation::Observe { .. } | Operation::TakeLog { .. } => RevisionKind::Observe,
        Operation::Allow { pod } => RevisionKind::Allow(pod.clone()),
        Operation::Reject { pod } => RevisionKind::Reject(pod.clone()),
    }
}

/// Returns an operation that a scheduler is about to apply in words.
pub(super) fn title(operation: &Operation, scheduler: &Scheduler) -> String {
    let object = |verb: &str, o: &Object| format!("{verb} {} {}", o.kind(), o.key());
    match operation {
        Operation::Schedule => scheduler.next_pod().map_or_else(|| "schedule".to_owned(), |pod| format!("schedule {pod}")),
        Operation::Create { object: o } => object("create", o),
        Operation::Update { object: o } => cordon(o, scheduler).map_or_else(|| object("update", o), |edit| edit.to_string()),
        Operation::Delete { object: o } => object("delete", o),
        Operation::Advance { seconds } => format!("advance {seconds} s"),
        Operation::AdvanceTo { time } => {
            let millis = time.duration_since(scheduler.state().clock()).as_millis();
            let why = scheduler.next_timer().filter(|w| w.time == *time).map(|w| format!(": {w}"));
            // Tenths are cut off, as the clock cuts off seconds.
            format!("wait {}.{} s{}", millis / 1000, millis % 1000 / 100, why.unwrap_or_default())
        }
        Operation::Batch { name, operations } => {
            let changes = operations
                .iter()
                .filter(|o| !matches!(o, Operation::AdvanceTo { .. } | Operation::Observe { .. } | Operation::TakeLog { .. }))
                .count();
            if changes == 1 { format!("{name}: 1 change") } else { format!("{name}: {changes} changes") }
        }
        Operation::Observe { time, .. } => format!("observed at {time}"),
        Operation::TakeLog { time, .. } => format!("the queues by the scheduler's log at {time}"),
        Operation::Allow { pod } => format!("allow {pod}"),
        Operation::Reject { pod } => format!("reject {pod}"),
    }
}

/// Returns the edit that an update of a node amounts to, if that is a cordon or the end of one.
fn cordon(object: &Object, scheduler: &Scheduler) -> Option<Edit> {
    let Object::Node(node) = object else { return None };
    let cluster = scheduler.state().cluster();
    let old = cluster.nodes.named(node.name())?;
    let edit = match (old.unschedulable(), node.unschedulable()) {
        (false, true) => Edit::Cordon(node.name().clone()),
        (true, false) => Edit::Uncordon(node.name().clone()),
        _ => return None,
    };
    matches!(edit.operation(cluster), Ok(Operation::Update { object: by_edit }) if by_edit == *object).then_some(edit)
}
