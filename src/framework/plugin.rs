//! The extension points; mirrors the plugin interfaces of `staging/src/k8s.io/kube-scheduler/framework/interface.go`.
//!
//! A plugin reads its input and returns a status. It holds only its arguments: no clock, no randomness, no record. The
//! runtime records its answers.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{
    CandidateExtenders, ClusterEventWithHint, CycleState, KnownDryRuns, NodeDevices, NodeInfo, NodeToStatus, PlacementGeneratePlugin,
    PlacementScorePlugin, PluginName, PodInfo, PodSums, PreemptionRecord, Snapshot, Status,
};
use crate::cluster::{Cluster, Key, Object, Pod, Str};
use crate::release::Emulation;

/// The highest score a plugin may give a node, before its weight.
pub const MAX_NODE_SCORE: i64 = 100;

/// The read-only input of plugins.
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

/// A plugin; each method returns the extension point if the plugin implements it.
pub trait Plugin: Send + Sync {
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
    /// Its PlacementGenerate point.
    fn placement_generate(&self) -> Option<&dyn PlacementGeneratePlugin> {
        None
    }
    /// Its PlacementScore point.
    fn placement_score(&self) -> Option<&dyn PlacementScorePlugin> {
        None
    }
    /// Whether it implements QueueSort.
    fn sorts_queue(&self) -> bool {
        false
    }
    /// Whether it implements Bind.
    fn binds(&self) -> bool {
        false
    }
    /// Returns the events that may make pods it rejected schedulable, in registration order; `None` if the plugin does
    /// not implement `EnqueueExtensions`.
    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        None
    }
}

/// Decides whether a pod may enter activeQ.
pub trait PreEnqueuePlugin {
    /// Any code but Success keeps the pod out. `preempting` tells whether an asynchronous preemption for this pod is
    /// still running.
    fn pre_enqueue(&self, cx: &Context<'_>, pod: &Pod, preempting: bool) -> Status;
}

/// The nodes that remain after a PreFilter plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreFilterResult {
    /// The only nodes to filter; `None` for all.
    pub node_names: Option<BTreeSet<Str>>,
}

/// Computes per-cycle state before nodes are filtered.
pub trait PreFilterPlugin: Sync {
    /// Runs once per cycle. Skip disables the plugin's Filter for this cycle.
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status);
    /// Whether the release calls [`Self::add_pod`] and [`Self::remove_pod`].
    fn has_extensions(&self, _emulation: Emulation) -> bool {
        false
    }
    /// Updates the state for a pod added to the node; `node` already contains it.
    fn add_pod(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _added: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
    /// Updates the state for a pod removed from the node; `node` no longer contains it.
    fn remove_pod(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _removed: &PodInfo, _node: &NodeInfo) -> Status {
        Status::success()
    }
}

/// Decides whether a node can take the pod.
pub trait FilterPlugin: Sync {
    /// Returns the plugin's verdict on one node.
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// Whether adding pods to the node or removing them can change the verdict.
    fn depends_on_pods(&self) -> bool {
        true
    }
    /// Whether the verdict depends on the pods of the node by their sums alone.
    fn depends_on_sums(&self) -> bool {
        false
    }
    /// Whether the verdict depends on nothing but the pod's spec, namespace, labels and owners, and the node with its pods, where no
    /// device class is known.
    fn depends_on_node_alone(&self) -> bool {
        false
    }
    /// Returns the verdict on a node whose pods have other sums. Asked only of plugins that depend on nothing else of the pods.
    fn filter_sums(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo, _sums: &PodSums) -> Status {
        self.filter(cx, state, pod, node)
    }
    /// Returns the node's devices one by one for a verdict of [`Self::filter`]; `None` if the plugin knows of none.
    fn devices(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _node: &NodeInfo, _verdict: &Status) -> Option<NodeDevices> {
        None
    }
}

/// Runs filters on changed nodes, for preemption.
pub trait FilterRunner: Sync {
    /// Runs all filter plugins on one node: with the pods nominated to it that have at least the pod's priority, and
    /// again without them.
    fn filter_with_nominated_pods(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// Does the same for a node that passed all filters before pods were added or removed.
    fn filter_again_with_nominated_pods(&self, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        self.filter_with_nominated_pods(state, pod, node)
    }
    /// Returns the node with the pods nominated to it that have at least the pod's priority as its last pods, and their number. `None`
    /// where there are none, or where they change more than the node.
    fn with_nominated_pods(&self, _pod: &PodInfo, _node: &NodeInfo) -> Option<(NodeInfo, usize)> {
        None
    }
    /// Does the same as [`Self::filter_again_with_nominated_pods`], given the node with its nominated pods.
    fn filter_again_on(&self, state: &CycleState, pod: &PodInfo, _with_nominated: &NodeInfo, node: &NodeInfo) -> Status {
        self.filter_again_with_nominated_pods(state, pod, node)
    }
    /// Runs AddPod of every PreFilter plugin.
    fn add_pod(&self, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status;
    /// Runs RemovePod of every PreFilter plugin.
    fn remove_pod(&self, state: &mut CycleState, pod: &PodInfo, removed: &PodInfo, node: &NodeInfo) -> Status;
    /// Whether all filters depend on the pods of a node by their sums alone, and no PreFilter plugin keeps track of them.
    fn depends_on_sums(&self) -> bool {
        false
    }
    /// Returns the sums of the pods nominated to the node that have at least the pod's priority; `None` if there are none.
    fn nominated_sums(&self, _pod: &PodInfo, _node: &NodeInfo) -> Option<PodSums> {
        None
    }
    /// Does the same as [`Self::filter_with_nominated_pods`], or with `again` as [`Self::filter_again_with_nominated_pods`], for a node
    /// whose pods have these sums, and others with those that are nominated. Asked only where [`Self::depends_on_sums`].
    fn filter_sums(&self, _tried: &SumsTried<'_>, _sums: &PodSums, _with_nominated: Option<&PodSums>, _again: bool) -> Status {
        Status::error("the filters depend on more than sums")
    }
    /// Returns the rejection of a node whose pods have these sums by one of the first filters, as far as these depend on sums alone: what
    /// [`Self::filter_with_nominated_pods`] returns whatever the filters after it say. `None` where they pass it.
    fn rejection_by_sums(&self, _tried: &SumsTried<'_>, _sums: &PodSums, _with_nominated: Option<&PodSums>) -> Option<Status> {
        None
    }
    /// Whether any pod may be nominated to a node whose name has this hash ([`NodeInfo::name_hash`]); `false` is certain.
    fn may_be_nominated_to(&self, _name_hash: u64) -> bool {
        true
    }
    /// Takes the dry runs that are known for pods like this one, quiet ones or others, where these depend on the pod's requirements, the
    /// node, and [`Self::nominated_sums`] alone, or do where [`Self::rejection_by_sums`] ends them; for others `None`. Give them back with
    /// [`Self::keep_dry_runs`].
    fn take_dry_runs(&self, _pod: &PodInfo, _quiet: bool) -> Option<KnownDryRuns> {
        None
    }
    /// Keeps dry runs, quiet ones or others, for the next pod like this one.
    fn keep_dry_runs(&self, _known: KnownDryRuns, _quiet: bool) {}
    /// Returns all pods nominated to the node, of any priority, in nomination order.
    fn nominated_pods(&self, node: &str) -> Vec<Arc<PodInfo>>;
}

/// A pod and a node on which it is tried with other sums.
#[derive(Clone, Copy)]
pub struct SumsTried<'a> {
    pub state: &'a CycleState,
    pub pod: &'a PodInfo,
    /// The node, whose own sums do not count.
    pub node: &'a NodeInfo,
}

/// The input of a PostFilter plugin.
#[derive(Clone, Copy)]
pub struct PostFilterContext<'a> {
    /// The cluster.
    pub cx: Context<'a>,
    /// The filters of the profile.
    pub runner: &'a dyn FilterRunner,
    /// The status of each rejected node.
    pub statuses: &'a NodeToStatus,
    /// The offset of the dry run, and whether it covers all nodes.
    pub dry_run: DryRunPolicy,
    /// Whether to omit the steps of dry runs from the record. The result is the same.
    pub quiet: bool,
    /// The extenders that may be asked about candidates; `None` where none is.
    pub extenders: Option<&'a dyn CandidateExtenders>,
}

/// The choices of the dry run that kube-scheduler draws at random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DryRunPolicy {
    /// Index of the first potential node, modulo their number; kube-scheduler draws it at random.
    pub offset: usize,
    /// Whether to dry-run every potential node instead of the configured number.
    pub all_nodes: bool,
    /// How many nodes beyond the shortlist may be dry-run for the odds of the decision.
    pub odds_nodes: usize,
}

/// The change to the pod's nominated node; mirrors `NominatingInfo`.
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
    /// Success if the pod can expect to be scheduled.
    pub status: Status,
    /// The nomination; `None` if the plugin leaves it to others.
    pub nominating: Option<NominatingInfo>,
    /// The full record of the preemption; `None` if there was none.
    pub preemption: Option<Arc<PreemptionRecord>>,
    /// Objects the plugin writes to the API server.
    pub writes: Vec<Object>,
}

/// Tries to make room after no node was feasible.
pub trait PostFilterPlugin {
    /// Runs after filtering. Success and UnschedulableAndUnresolvable end the extension point.
    fn post_filter(&self, cx: &PostFilterContext<'_>, state: &CycleState, pod: &PodInfo) -> PostFilterResult;
    /// Returns the candidates that a preemption would find, without choosing one. Runs for a preempting plugin that the
    /// extension point did not reach.
    fn dry_run_only(&self, _cx: &PostFilterContext<'_>, _state: &CycleState, _pod: &PodInfo) -> Option<Arc<PreemptionRecord>> {
        None
    }
}

/// Prepares scoring.
pub trait PreScorePlugin {
    /// Runs once per cycle. Skip disables the plugin's Score. `nodes` are the feasible nodes.
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Status;
}

/// Ranks feasible nodes.
pub trait ScorePlugin: Sync {
    /// Returns the raw score of one node.
    fn score(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status>;
    /// Whether the raw score depends on nothing but what [`FilterPlugin::depends_on_node_alone`] names.
    fn depends_on_node_alone(&self) -> bool {
        false
    }
    /// Returns raw scores in the order of the nodes, or the first error. Override it to do shared look-ups once.
    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let mut scores = Vec::with_capacity(nodes.len());
        for node in nodes {
            scores.push(self.score(cx, state, pod, node)?);
        }
        Ok(scores)
    }
    /// Normalizes raw scores to 0..=100; `nodes` and `scores` are parallel.
    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], _scores: &mut [i64]) -> Status {
        Status::success()
    }
}

/// Reserves resources for the pod on its node, in memory.
pub trait ReservePlugin {
    /// Reserves. A failure unreserves all Reserve plugins.
    fn reserve(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// Releases the reservation. Must do nothing if nothing was reserved.
    fn unreserve(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo);
}

/// Can delay or reject the pod before it is bound.
pub trait PermitPlugin {
    /// Returns Success, a rejection, or Wait with the timeout in seconds.
    fn permit(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo) -> (Status, u64);
    /// Returns the effects of its answer on other pods.
    fn effects(&self, _cx: &Context<'_>, _pod: &PodInfo, _answer: &Status) -> PermitEffects {
        PermitEffects::default()
    }
}

/// Effects of a Permit plugin on other pods.
#[derive(Clone, Debug, Default)]
pub struct PermitEffects {
    /// The group whose pods that have no place are to be tried again.
    pub activate: Option<Key>,
    /// The group whose assumed pods it allows.
    pub allow: Option<Key>,
}

/// Runs before the pod is bound.
pub trait PreBindPlugin {
    /// Returns Skip if the plugin has nothing to do for the pod, else Success.
    fn pre_bind_pre_flight(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status;
    /// Returns the objects to write, or why binding fails.
    fn pre_bind(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<Vec<Object>, Status>;
}
