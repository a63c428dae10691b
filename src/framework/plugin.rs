//! The extension points; mirrors the plugin interfaces of `staging/src/k8s.io/kube-scheduler/framework/interface.go`.
//!
//! A plugin reads what it is given and answers with a status. It holds its arguments and nothing else: no clock, no
//! chance, no record. The runtime records around it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{CandidateExtenders, ClusterEventWithHint, CycleState, NodeInfo, NodeToStatus, PluginName, PodInfo, PreemptionRecord, Snapshot, Status};
use crate::cluster::{Cluster, Object, Pod, Str};
use crate::release::Emulation;

/// The highest score a plugin may give a node, before its weight.
pub const MAX_NODE_SCORE: i64 = 100;

/// What plugins may look at.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// All objects of the cluster.
    pub cluster: &'a Cluster,
    /// The nodes as this cycle sees them.
    pub snapshot: &'a Snapshot,
    /// Feature gates.
    pub emulation: Emulation,
    /// The virtual time.
    pub now: jiff::Timestamp,
}

/// A plugin by the extension points it has.
pub trait Plugin: Send + Sync {
    /// Its name.
    fn name(&self) -> PluginName;
    /// Its PreEnqueue point.
    fn pre_enqueue(&self) -> Option<&dyn PreEnqueuePlugin> {
        None
    }
    /// Its PreFilter point.
    fn pre_filter(&self) -> Option<&dyn PreFilterPlugin> {
        None
    }
    /// Its Filter point.
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        None
    }
    /// Its PostFilter point.
    fn post_filter(&self) -> Option<&dyn PostFilterPlugin> {
        None
    }
    /// Its PreScore point.
    fn pre_score(&self) -> Option<&dyn PreScorePlugin> {
        None
    }
    /// Its Score point.
    fn score(&self) -> Option<&dyn ScorePlugin> {
        None
    }
    /// Its Reserve point.
    fn reserve(&self) -> Option<&dyn ReservePlugin> {
        None
    }
    /// Its Permit point.
    fn permit(&self) -> Option<&dyn PermitPlugin> {
        None
    }
    /// Its PreBind point.
    fn pre_bind(&self) -> Option<&dyn PreBindPlugin> {
        None
    }
    /// Whether it sorts the queue.
    fn sorts_queue(&self) -> bool {
        false
    }
    /// Whether it binds.
    fn binds(&self) -> bool {
        false
    }
    /// The events that may make pods it rejected schedulable, in registration order; `None` where the plugin has no
    /// say about events (`EnqueueExtensions` not implemented).
    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        None
    }
}

/// Decides whether a pod may enter activeQ.
pub trait PreEnqueuePlugin {
    /// Anything but Success keeps the pod out. `preempting` says whether an asynchronous preemption for this pod is
    /// still under way.
    fn pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, preempting: bool) -> Status;
}

/// The nodes a PreFilter plugin leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreFilterResult {
    /// The only nodes worth looking at; `None` for all.
    pub node_names: Option<BTreeSet<Str>>,
}

/// Looks at the pod and the cluster once, before nodes are filtered.
pub trait PreFilterPlugin {
    /// Skip switches the plugin's Filter off for this cycle.
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status);
    /// Whether [`Self::add_pod`] and [`Self::remove_pod`] do anything.
    fn has_extensions(&self) -> bool {
        false
    }
    /// Updates the state as if `added` had come to the node (`node` holds it already).
    fn add_pod(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _added: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
    /// Updates the state as if `removed` had left the node (`node` no longer holds it).
    fn remove_pod(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _removed: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
}

/// Decides whether a node can take the pod.
pub trait FilterPlugin: Sync {
    /// The plugin's verdict on one node.
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// Whether pods that come to the node or leave it can change the verdict.
    fn depends_on_pods(&self) -> bool {
        true
    }
}

/// Runs filters with changed nodes; what preemption asks of the runtime.
pub trait FilterRunner: Sync {
    /// All filter plugins on one node, with the pods nominated to it of no lower priority, and again without them.
    fn filter_with_nominated_pods(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// The same for a node that passed all filters before pods came to it or left it.
    fn filter_again_with_nominated_pods(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        self.filter_with_nominated_pods(state, pod, node)
    }
    /// Tells every PreFilter plugin of a pod that came to the node.
    fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status;
    /// Tells every PreFilter plugin of a pod that left the node.
    fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status;
    /// All pods nominated to the node, whatever their priority, in nomination order.
    fn nominated_pods(&self, node: &str) -> Vec<Arc<PodInfo>>;
}

/// What a PostFilter plugin works with.
#[derive(Clone, Copy)]
pub struct PostFilterContext<'a> {
    /// The cluster.
    pub cx: Context<'a>,
    /// The filters of the profile.
    pub runner: &'a dyn FilterRunner,
    /// Why each node was turned down.
    pub statuses: &'a NodeToStatus,
    /// Where the dry run starts among the potential nodes, and whether to cut it short.
    pub dry_run: DryRunPolicy,
    /// Whether to leave the steps of dry runs out of the record; nothing that is found depends on it.
    pub quiet: bool,
    /// The extenders that may be asked about candidates; `None` where none is.
    pub extenders: Option<&'a dyn CandidateExtenders>,
}

/// What stands in for chance in the dry run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DryRunPolicy {
    /// First potential node, modulo their number; kube-scheduler draws it at random.
    pub offset: usize,
    /// Look at every potential node, whatever the configured count.
    pub all_nodes: bool,
}

/// What becomes of the pod's nominated node; mirrors `NominatingInfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NominatingInfo {
    /// Leave it as it is.
    Noop,
    /// Set it; an empty name clears it.
    Override(Str),
}

/// A PostFilter plugin's answer.
#[derive(Clone, Debug)]
pub struct PostFilterResult {
    /// Success where the pod can expect a place.
    pub status: Status,
    /// The nomination, where the plugin has a say.
    pub nominating: Option<NominatingInfo>,
    /// What preemption found, in full.
    pub preemption: Option<Arc<PreemptionRecord>>,
    /// Objects the plugin writes to the API server.
    pub writes: Vec<Object>,
}

/// Tries to make room after no node was found.
pub trait PostFilterPlugin {
    /// Success and UnschedulableAndUnresolvable end the extension point.
    fn post_filter(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> PostFilterResult;
    /// Returns what a preemption would find, for a plugin that preempts and was not reached; nothing is chosen.
    fn dry_run_only(&self, _cx: &PostFilterContext<'_>, _state: &CycleState, _pod: &PodInfo) -> Option<Arc<PreemptionRecord>> {
        None
    }
}

/// Prepares scoring.
pub trait PreScorePlugin {
    /// Skip switches the plugin's Score off. `nodes` are the feasible nodes.
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Status;
}

/// Ranks feasible nodes.
pub trait ScorePlugin: Sync {
    /// A raw score for one node.
    fn score(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status>;
    /// Raw scores for several nodes, in their order, or the first error; for plugins that look things up which are the
    /// same for all nodes.
    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        nodes.iter().map(|node| self.score(cx, state, pod, node)).collect()
    }
    /// Brings raw scores into 0..=100; `nodes` and `scores` go together.
    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], _scores: &mut [i64]) -> Status {
        Status::success()
    }
}

/// Sets things aside for the pod on its node, in memory.
pub trait ReservePlugin {
    /// A failure makes every Reserve plugin give back.
    fn reserve(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// Gives back. Must do nothing where nothing was set aside.
    fn unreserve(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo);
}

/// May hold the pod back before it is bound.
pub trait PermitPlugin {
    /// Success, a rejection, or Wait with the longest wait in seconds.
    fn permit(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo) -> (Status, u64);
}

/// Does what must be done before the pod is bound.
pub trait PreBindPlugin {
    /// Skip where the plugin has nothing to do for the pod, else Success.
    fn pre_bind_pre_flight(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// The objects to write, or why binding fails.
    fn pre_bind(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<Vec<Object>, Status>;
}
