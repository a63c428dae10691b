//! What happened, as facts in the past tense.
//!
//! An event says enough to redraw a screen without asking the engine: nobody outside the scheduler ever calls it to
//! find out why something happened.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::preemption::{DryRunStepAt, ScoreFunctionAt};
use super::queues_view::QueuesView;
use super::scores::{NodeScore, Row};
use crate::cluster::{Key, Kind, MissingKinds, Str};
use crate::framework::{ClusterEvent, EventLabel, ExtenderCall, NodeDryRun, PluginName, PluginSet, PreemptionRecord, QueueingHint, SharedList, Status};
use crate::release::{PreFilterRejection, Release};

/// One fact. Within a cycle, events come in the order in which kube-scheduler's code would have got there; those about
/// nodes in the order the nodes were walked.
///
/// Four words at most, because a cycle records one for every node it looked at: what is larger or repeats is behind a
/// pointer, and shared.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields' names and the variants' docs say it")]
pub enum Event {
    /// The cluster's own scheduler did something, by its log.
    Logged(Arc<LoggedEvent>),
    /// The virtual clock moved.
    ClockMoved { from: Box<Timestamp>, to: Timestamp },
    /// Another kube-scheduler took over, with nothing but the cluster's objects to go by.
    SchedulerStarted(Arc<SchedulerStart>),
    /// An object came, changed or went.
    ObjectChanged { kind: Kind, key: Key, change: ObjectChange },
    /// A pod went from one place to another.
    QueueMoved(Box<QueueMove>),
    /// Nobody saw a pod come to where it waits; its place is what the cluster's objects suggest.
    PlaceInferred(Box<InferredPlace>),
    /// A waiting pod's object changed its priority.
    PriorityChanged { pod: Key, priority: i32 },
    /// A plugin was asked whether an event helps a pod it had rejected.
    HintAsked { pod: Key, plugin: PluginName, event: ClusterEvent, hint: QueueingHint, error: Option<Str> },
    /// PreEnqueue ran and a plugin kept the pod out.
    PreEnqueueRejected { pod: Key, status: Status },
    /// A pod was taken from the queue.
    PodPopped { pod: Key, attempts: u32, early_from_backoff: bool },
    /// A cycle began.
    CycleStarted(Arc<CycleStart>),
    /// The popped pod was not tried at all.
    CycleSkipped { pod: Key, why: SkipReason },
    /// A plugin that this profile has would have had a say here, but is not emulated.
    NotEmulated { plugin: Str, what: Str },
    /// A PreFilter plugin answered; `nodes` are the only ones it left, where it narrowed them.
    PreFiltered { plugin: PluginName, status: Status, nodes: Option<SharedList<Str>> },
    /// PreFilter left only these nodes; `status` is that of all others. With `rejected` it turned the pod down for
    /// every node, and `status` says why.
    NodesNarrowed { nodes: SharedList<Str>, status: Status, rejected: Option<PreFilterRejection> },
    /// The pod's nominated node is tried before all others.
    NominatedNodeTried { node: Str },
    /// Extenders turned the nominated node down, and all nodes are tried.
    AllNodesTried,
    /// A node was looked at; Success means that the pod fits. The status names the plugin that rejected.
    NodeFiltered { node: Str, status: Status, nominated: SharedList<Key> },
    /// An extender had its part, or would have.
    ExtenderTookPart(Arc<ExtenderCall>),
    /// The search ended before all nodes were looked at.
    FilterStopped { looked_at: usize, of: usize, wanted: usize },
    /// A PreScore plugin answered.
    PreScored { plugin: PluginName, status: Status },
    /// A node was scored by every plugin that scores.
    NodeScored(Row<NodeScore>),
    /// A node was chosen.
    NodeSelected { node: Str, why: Selection, tied: SharedList<Str> },
    /// A PostFilter plugin answered.
    PostFiltered { plugin: PluginName, status: Status },
    /// Preemption was looked into.
    PreemptionStarted(Arc<PreemptionRecord>),
    /// In the dry run of a node, a pod was taken off or put back, or the filters ran with every lower-priority pod gone.
    DryRunStepped(DryRunStepAt),
    /// The dry run of a node ended.
    DryRunFinished(Arc<NodeDryRun>),
    /// A score function narrowed the candidates.
    CandidatesScored(ScoreFunctionAt),
    /// A candidate was chosen.
    CandidateSelected(Arc<PreemptionRecord>),
    /// The pod was nominated to a node; an empty name clears the nomination.
    PodNominated { pod: Key, node: Str },
    /// A pod of lower priority lost its nomination to a preemptor.
    NominationCleared { pod: Key, node: Str },
    /// The grace period of a terminating pod is over.
    GracePeriodEnded { pod: Key, node: Str },
    /// A pod was evicted.
    VictimEvicted { pod: Box<Key>, node: Str, preemptor: Arc<Key>, how: Eviction },
    /// The pod was put on its node in the scheduler's memory.
    PodAssumed { pod: Key, node: Str },
    /// A Reserve plugin answered.
    Reserved { plugin: PluginName, status: Status },
    /// Reserve plugins gave back what they had set aside.
    Unreserved { pod: Key, node: Str },
    /// A Permit plugin answered.
    Permitted { plugin: PluginName, status: Status },
    /// The pod waits on Permit: each plugin that asked for it, and when its patience ends.
    PermitWaited { pod: Box<Key>, node: Str, plugins: SharedList<(PluginName, Timestamp)> },
    /// The wait on Permit ended; `plugin` is the one that rejected the pod, where one did.
    PermitResolved { pod: Box<Key>, node: Str, end: PermitEnd, plugin: Option<PluginName>, message: Str },
    /// A PreBind plugin answered, and wrote these objects.
    PreBound { plugin: PluginName, status: Status, writes: SharedList<(Kind, Key)> },
    /// The pod was bound.
    PodBound { pod: Key, node: Str },
    /// The attempt failed; what the condition and the event say.
    AttemptFailed { pod: Key, failure: Arc<AttemptFailure> },
    /// The cycle ended.
    CycleFinished { pod: Key, outcome: Outcome },
}

/// A kube-scheduler that has just started.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerStart {
    /// Its release.
    pub release: Release,
    /// Where it puts the waiting pods.
    pub queues: QueuesView,
}

/// How an object changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ObjectChange {
    Added,
    Updated,
    Deleted,
}

/// What is known of a pod when its cycle starts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleStart {
    /// Number of the cycle since the start, from 1.
    pub cycle: u64,
    /// The pod.
    pub pod: Key,
    /// Its priority.
    pub priority: i32,
    /// The profile that takes the decision.
    pub profile: Str,
    /// What it asks for, as name and amount, in resource-name order.
    pub requests: Vec<(Str, String)>,
    /// Where it is nominated to; empty when nowhere.
    pub nominated: Str,
    /// Nodes in the snapshot.
    pub nodes: usize,
    /// Whether it is unknown which budgets there are.
    pub budgets_unknown: bool,
    /// What is not known of the cluster.
    #[serde(default)]
    pub missing: MissingKinds,
    /// Whether extenders are asked, or their answers recalled.
    #[serde(default)]
    pub asks_extenders: bool,
}

/// Why a node was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum Selection {
    /// The nominated node still fits; nothing else was looked at.
    NominatedNode,
    /// It alone fits, so nothing was scored.
    OnlyFeasibleNode,
    /// It has the highest total.
    HighestScore,
    /// It shares the highest total, and it is its turn.
    Turn,
}

/// How a wait on Permit ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum PermitEnd {
    /// Every plugin that asked for it has allowed the pod.
    Allowed,
    /// A plugin, or the deletion of the pod, turned it back.
    Rejected,
    /// A plugin's patience ended.
    TimedOut,
    /// A pod of higher priority took its place.
    Preempted,
}

/// A place that was inferred, not seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InferredPlace {
    /// Which pod.
    pub pod: Key,
    /// Where it is taken to be.
    pub place: Place,
    /// What its order in the queues depends on.
    pub order: QueueOrder,
    /// Attempts that are known of: at least so many.
    pub attempts: u32,
    /// The plugins that are taken to have rejected it.
    pub plugins: PluginSet,
    /// What this was inferred from, and what stays unknown.
    pub from: String,
}

/// How a victim goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum Eviction {
    /// It was deleted and is gone.
    Deleted,
    /// It was deleted and has its grace period.
    Terminating,
    /// It was waiting to be bound and was turned back in memory.
    InMemory,
}

/// The reason of the `PodScheduled` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum FailureReason {
    /// Turned away.
    Unschedulable,
    /// Something went wrong.
    SchedulerError,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptFailure {
    /// The reason of the `PodScheduled` condition.
    pub reason: FailureReason,
    /// What is behind it.
    pub cause: FailureCause,
    /// The text of the condition and of the event.
    pub message: Str,
    /// The plugins that rejected the pod.
    pub plugins: PluginSet,
}

/// What is behind a failed attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FailureCause {
    /// No node takes the pod; the events about nodes say why.
    NoFit,
    /// There is no node.
    NoNodes,
    /// A plugin rejected the pod after its node was chosen.
    Rejected(Status),
    /// No profile takes pods of this scheduler name.
    UnknownProfile(Str),
    /// Something went wrong, as the message says.
    Error,
}

/// Why a popped pod was not tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkipReason {
    /// It is being deleted.
    Deleting,
}

impl SkipReason {
    /// Returns the text that kube-scheduler writes about the pod.
    pub fn text(self, pod: &Key) -> String {
        match self {
            Self::Deleting => format!("skip schedule deleting pod: {pod}"),
        }
    }
}

/// How a cycle ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Outcome {
    /// The pod was bound, or has its node and waits on Permit.
    Scheduled,
    /// No node took it.
    Unschedulable,
    /// PreEnqueue keeps it out.
    Gated,
    /// Something went wrong.
    Error,
}

/// A pod's way from place to place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueMove {
    /// Which pod.
    pub pod: Key,
    /// Where it was; `None` for a pod that is new to the queue.
    pub from: Option<Place>,
    /// Where it is.
    pub to: Place,
    /// What moved it.
    pub cause: MoveCause,
    /// The plugin whose hint said Queue, if one did.
    pub plugin: Option<PluginName>,
    /// What its order in the queues depends on.
    pub order: QueueOrder,
    /// The plugins that rejected it last, those of PreEnqueue included.
    pub plugins: PluginSet,
}

/// What a pod's order in activeQ depends on, most important first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueOrder {
    /// Higher goes first.
    pub priority: i32,
    /// When it came to the queue, or came back to it; earlier goes first.
    pub timestamp: Timestamp,
    /// How many pods had come or come back before; breaks ties of the timestamp, which kube-scheduler leaves to chance.
    pub sequence: u64,
}

/// What moved a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveCause {
    /// Something in the cluster changed.
    Cluster(ClusterEvent),
    /// Something of the queue's own.
    Label(EventLabel),
    /// It was popped, bound, dropped or deleted.
    Cycle,
}

/// The label as kube-scheduler logs it.
impl std::fmt::Display for MoveCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cluster(event) => write!(f, "{event}"),
            Self::Label(label) => write!(f, "{label}"),
            Self::Cycle => f.write_str("cycle"),
        }
    }
}

/// What the cluster's own scheduler did with a pod, by its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedEvent {
    /// The pod.
    pub pod: Key,
    /// When, as the log tells it.
    pub at: String,
    /// What happened, as a sentence without its end.
    pub words: String,
}

/// Where a pod can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields' names and the variants' docs say it")]
pub enum Place {
    /// In activeQ.
    Active,
    /// In backoffQ until the end of a whole second; `error` for the heap of pods that failed with an error.
    #[allow(missing_docs, reason = "said above")]
    Backoff { expires: Timestamp, error: bool },
    /// In unschedulablePods.
    Unschedulable { plugins: PluginSet, gated_by: Option<PluginName> },
    /// Popped, its attempt under way.
    InFlight,
    /// On its node in the scheduler's memory, waiting for Permit plugins.
    WaitingOnPermit { node: Str },
    /// On a node.
    Bound { node: Str },
    /// In no queue: deleted, or dropped until its next update.
    Gone,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_takes_four_words_at_most() {
        assert!(size_of::<Event>() <= 32, "{}", size_of::<Event>());
    }
}
