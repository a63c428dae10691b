//! Events of the scheduler, in the past tense.
//!
//! An event holds everything that the screen needs to draw it: code outside the scheduler never calls the scheduler for
//! a reason.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::pod_group::GroupEvent;
use super::preemption::{DryRunStepAt, ScoreFunctionAt};
use super::queues_view::{GroupGate, QueuesView};
use super::scores::{NodeScore, Row};
use crate::cluster::{Key, Kind, MissingKinds, Str};
use crate::framework::{
    ClusterEvent, EventLabel, ExtenderCall, NodeDryRun, PluginName, PluginSet, PreemptionRecord, QueueingHint, SharedList, Status,
};
use crate::release::{PreFilterRejection, Release};

/// One event. Within a cycle, events are in the order of kube-scheduler's code; those about nodes are in walking order.
///
/// At most four words in size, because a cycle records one for every node that it filters. Larger or repeated values
/// are shared behind a pointer.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the fields' names and the variants' docs say it")]
pub enum Event {
    /// The cluster's own scheduler did something, according to its log.
    Logged(Arc<LoggedEvent>),
    /// The virtual clock moved.
    ClockMoved { from: Box<Timestamp>, to: Timestamp },
    /// Another kube-scheduler started on the cluster's objects, without any memory.
    SchedulerStarted(Arc<SchedulerStart>),
    /// An object was added, updated or deleted.
    ObjectChanged { kind: Kind, key: Key, change: ObjectChange },
    /// A pod went from one place to another.
    QueueMoved(Box<QueueMove>),
    /// The place of a pod was inferred from the cluster's objects; no move was observed.
    PlaceInferred(Box<InferredPlace>),
    /// A waiting pod's object changed its priority.
    PriorityChanged { pod: Key, priority: i32 },
    /// A plugin's queueing hint was run for an event and a pod that the plugin had rejected.
    HintAsked { pod: Key, plugin: PluginName, event: ClusterEvent, hint: QueueingHint, error: Option<Str> },
    /// A PreEnqueue plugin gated the pod.
    PreEnqueueRejected { pod: Key, status: Status },
    /// Another pod began to gate a group that is queued as one entry; without a gate none does any more.
    GroupGateChanged { group: Key, gate: Option<Arc<GroupGate>> },
    /// A pod was taken from the queue.
    PodPopped { pod: Key, attempts: u32, early_from_backoff: bool },
    /// A cycle began.
    CycleStarted(Arc<CycleStart>),
    /// The popped pod was not tried at all.
    CycleSkipped { pod: Key, why: SkipReason },
    /// A plugin of this profile that might have decided is not emulated.
    NotEmulated { plugin: Str, what: Str },
    /// A PreFilter plugin returned; `nodes` are the only ones it left, if it narrowed them.
    PreFiltered { plugin: PluginName, status: Status, nodes: Option<SharedList<Str>> },
    /// PreFilter left only these nodes; `status` is that of all others. With `rejected` it rejected the pod for every
    /// node, and `status` says why.
    NodesNarrowed { nodes: SharedList<Str>, status: Status, rejected: Option<PreFilterRejection> },
    /// The pod's nominated node is filtered before all others.
    NominatedNodeTried { node: Str },
    /// Extenders turned the nominated node down, and all nodes are tried.
    AllNodesTried,
    /// A node was filtered; Success means that the pod fits. The status names the plugin that rejected.
    NodeFiltered { node: Str, status: Status, nominated: SharedList<Key> },
    /// An extender had its part, or would have.
    ExtenderTookPart(Arc<ExtenderCall>),
    /// The search ended before all nodes were filtered.
    FilterStopped { evaluated: usize, of: usize, wanted: usize },
    /// A PreScore plugin returned.
    PreScored { plugin: PluginName, status: Status },
    /// All Score plugins scored a node.
    NodeScored(Row<NodeScore>),
    /// A node was chosen.
    NodeSelected { node: Str, why: Selection, tied: SharedList<Str> },
    /// A PostFilter plugin returned.
    PostFiltered { plugin: PluginName, status: Status },
    /// Preemption started.
    PreemptionStarted(Arc<PreemptionRecord>),
    /// The dry run of a node removed a pod, added one back, or ran the filters without all lower-priority pods. Only records list these,
    /// which make them of the events about the ends of dry runs; see [`super::RecordedEvents`].
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
    /// The pod was assumed: put on its node in the scheduler's memory.
    PodAssumed { pod: Key, node: Str },
    /// A Reserve plugin returned.
    Reserved { plugin: PluginName, status: Status },
    /// Reserve plugins released their reservations.
    Unreserved { pod: Key, node: Str },
    /// A Permit plugin returned.
    Permitted { plugin: PluginName, status: Status },
    /// The pod waits on Permit: each plugin that asked for it, with its deadline.
    PermitWaited { pod: Box<Key>, node: Str, plugins: SharedList<(PluginName, Timestamp)> },
    /// The wait on Permit ended; `plugin` rejected the pod, if one did.
    PermitResolved { pod: Box<Key>, node: Str, end: PermitEnd, plugin: Option<PluginName>, message: Str },
    /// A PreBind plugin returned, and wrote these objects.
    PreBound { plugin: PluginName, status: Status, writes: SharedList<(Kind, Key)> },
    /// The pod was bound.
    PodBound { pod: Key, node: Str },
    /// The attempt failed, with the texts of the condition and the Event.
    AttemptFailed { pod: Key, failure: Arc<AttemptFailure> },
    /// The cycle ended.
    CycleFinished { pod: Key, outcome: Outcome },
    /// In the cycle of a pod group, something that is about the group.
    Group(Arc<GroupEvent>),
}

/// A kube-scheduler that has just started.
#[derive(Clone, Debug, PartialEq)]
pub struct SchedulerStart {
    pub release: Release,
    /// The places of the pending pods.
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

/// Facts of a cycle's start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CycleStart {
    /// Number of the cycle since the start, from 1.
    pub cycle: u64,
    pub pod: Key,
    pub priority: i32,
    /// The profile that decides.
    pub profile: Str,
    /// Its requests, as name and amount, in order of resource names.
    pub requests: Vec<(Str, String)>,
    /// The node it is nominated to; empty if none.
    pub nominated: Str,
    /// Nodes in the snapshot.
    pub nodes: usize,
    /// Whether the source lacks PodDisruptionBudgets.
    pub budgets_unknown: bool,
    /// Kinds that the source did not provide.
    #[serde(default)]
    pub missing: MissingKinds,
    /// Whether extenders are asked, or their answers recalled.
    #[serde(default)]
    pub asks_extenders: bool,
    /// The node for which a DaemonSet made the pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon_node: Option<Str>,
    /// The time of a dry decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<Timestamp>,
    /// Of a dry decision, the claim that `PreBind` wrote for the pod already, and that is not bound yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binding: Option<BindingUnderWay>,
}

/// A claim that `PreBind` wrote for a pod, and which is not bound yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BindingUnderWay {
    /// Name of the claim, in the pod's namespace.
    pub claim: Str,
    /// The node that was chosen for the pod.
    pub node: Str,
    /// The provisioner of its volume; empty if it is unknown.
    pub provisioner: Str,
    /// When the claim was written, if managed fields show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

impl std::fmt::Display for BindingUnderWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "claim {:?} is being bound for {}", self.claim.as_str(), self.node)
    }
}

/// Why a node was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum Selection {
    /// The nominated node still fits, so no other was filtered.
    NominatedNode,
    /// Only this node fits, so no node was scored.
    OnlyFeasibleNode,
    /// It has the highest total.
    HighestScore,
    /// It shares the highest total, and releases that rotate select it.
    Turn,
}

/// How a wait on Permit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum PermitEnd {
    /// Every plugin that asked for it has allowed the pod.
    Allowed,
    /// A plugin, or the deletion of the pod, rejected it.
    Rejected,
    /// The deadline of a plugin passed.
    TimedOut,
    /// A pod of higher priority preempted it.
    Preempted,
}

/// A place that was inferred rather than observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InferredPlace {
    pub pod: Key,
    /// Its inferred place.
    pub place: Place,
    /// Its sort key in the queues.
    pub order: QueueOrder,
    /// Known attempts, a lower bound.
    pub attempts: u32,
    /// The plugins assumed to have rejected it.
    pub plugins: PluginSet,
    /// The evidence, and the facts that remain unknown.
    pub from: String,
    /// The scheduler's log shows the place: it is no inference.
    #[serde(default)]
    pub from_log: bool,
}

/// How a victim is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum Eviction {
    /// It was deleted at once.
    Deleted,
    /// It was marked for deletion and has its grace period.
    Terminating,
    /// It was waiting on Permit and was rejected in memory.
    InMemory,
}

/// The reason of the `PodScheduled` condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display, Serialize, Deserialize)]
pub enum FailureReason {
    /// The pod was rejected.
    Unschedulable,
    /// The attempt ended in an error.
    SchedulerError,
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttemptFailure {
    /// The reason of the `PodScheduled` condition.
    pub reason: FailureReason,
    pub cause: FailureCause,
    /// The text of the condition and of the event.
    pub message: Str,
    /// The plugins that rejected the pod.
    pub plugins: PluginSet,
}

/// The cause of a failed attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FailureCause {
    /// No node fits the pod; the events about nodes say why.
    NoFit,
    /// The snapshot has no nodes.
    NoNodes,
    /// A plugin rejected the pod after its node was chosen.
    Rejected(Status),
    /// The pod's group is not scheduled, whatever place the pod would have.
    Group(Status),
    /// No profile has this scheduler name.
    UnknownProfile(Str),
    /// An error, described by the message.
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
    /// No node fits.
    Unschedulable,
    /// PreEnqueue rejected it.
    Gated,
    /// The attempt ended in an error.
    Error,
}

/// A move of a pod between queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct QueueMove {
    pub pod: Key,
    /// Its place before; `None` for a pod that is new to the queue.
    pub from: Option<Place>,
    /// Its place after.
    pub to: Place,
    pub cause: MoveCause,
    /// The plugin whose hint returned Queue, if one did.
    pub plugin: Option<PluginName>,
    /// Its sort key in the queues.
    pub order: QueueOrder,
    /// The plugins that rejected it last, those of PreEnqueue included.
    pub plugins: PluginSet,
}

/// The sort key of a pod in activeQ, most significant field first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueOrder {
    /// Higher goes first.
    pub priority: i32,
    /// Time of its last entry into the queue; earlier goes first.
    pub timestamp: Timestamp,
    /// Number of its entry into the queue; breaks ties of the timestamp, whose order kube-scheduler leaves open.
    pub sequence: u64,
}

/// The cause of a queue move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MoveCause {
    /// A change of the cluster.
    Cluster(ClusterEvent),
    /// An event of the queue itself.
    Label(EventLabel),
    /// It was popped, bound, dropped or deleted.
    Cycle,
}

/// Displays the label that kube-scheduler logs.
impl std::fmt::Display for MoveCause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cluster(event) => write!(f, "{event}"),
            Self::Label(label) => write!(f, "{label}"),
            Self::Cycle => f.write_str("cycle"),
        }
    }
}

/// An action of the cluster's own scheduler on a pod, from its log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedEvent {
    pub pod: Key,
    /// Time of the action, as the log writes it.
    pub at: String,
    /// The action, as a sentence without a full stop.
    pub words: String,
    /// Whether it is a remark of schedscope about the log, not the log's own.
    #[serde(default)]
    pub is_ours: bool,
}

/// The place of a pod.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the fields' names and the variants' docs say it")]
pub enum Place {
    /// In activeQ.
    Active,
    /// In backoffQ until the end of a whole second; `error` marks the heap of pods that failed with an error.
    #[allow(missing_docs, reason = "said above")]
    Backoff { expires: Timestamp, error: bool },
    /// In unschedulablePods.
    Unschedulable { plugins: PluginSet, gated_by: Option<PluginName> },
    /// Popped, its attempt under way.
    InFlight,
    /// Assumed on its node, waiting for Permit plugins.
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
