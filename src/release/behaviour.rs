//! Choices of the engine that changed between releases, by name. Differences that a feature gate makes are asked of the
//! gate; a plugin whose algorithm changed has an implementation for each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::queue_behaviour::QueueBehaviour;

/// The named choices of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// How many nodes are searched.
    pub search: NodeSearch,
    /// How many nodes preemption dry-runs.
    pub candidates: Candidates,
    /// The functions that choose among preemption's candidates, in order.
    pub tie_break: &'static [ScoreFunctionName],
    /// The highest score a plugin may give a node after normalizing; the lowest is 0.
    pub score_max: i64,
    /// How long a pod may stay in unschedulablePods.
    pub leftover: Duration,
    /// How NodeResourcesBalancedAllocation scores.
    pub balance: BalanceScore,
    /// Whether NodeResourcesBalancedAllocation leaves pods alone that request none of its resources.
    pub balance_skips_best_effort: bool,
    /// Which images ImageLocality counts.
    pub images: ImageSources,
    /// Whether DynamicResources scores nodes.
    pub devices_score: bool,
    /// What selectors of devices may use.
    pub device_selectors: DeviceSelectors,
    /// Whether devices are allocated from pools that are not complete yet.
    pub incomplete_pools_serve: bool,
    /// What becomes of an attempt that meets a pool whose slices contradict each other.
    pub invalid_pools: InvalidPools,
    /// Whether devices are allocated by code that knows none of the features that came later, while these are off.
    pub has_stable_allocator: bool,
    /// Whether a volume's beta zone label is compared with the stable one of a node.
    pub beta_zones_translated: bool,
    /// Whether plugins that score every node alike for want of anything to go by are left out of scoring.
    pub idle_scores_skipped: bool,
    /// Whether a request that exceeds all a node has rules preemption out there.
    pub oversized_is_unresolvable: bool,
    /// Where NodeResourcesFit refuses pods with sidecars while `SidecarContainers` is off.
    pub sidecars_refused_in: SidecarCheck,
    /// Whether the host ports of sidecars count.
    pub sidecar_ports: bool,
    /// What scoring assumes a pod on a node to use where it requests nothing.
    pub assumed_usage: AssumedUsage,
    /// What PodTopologySpread keeps counts by.
    pub spread_counts: SpreadCounts,
    /// How VolumeBinding treats local volumes.
    pub local_volumes: LocalVolumes,
    /// Whether `volumeAttributesClassName` is compared when volumes are matched with claims.
    pub volume_attributes_compared: bool,
    /// What NodeVolumeLimits counts, and against which limits.
    pub csi_limits: CsiLimits,
    /// Whether a missing claim of the pod is a rejection by the volume limit plugins, and not an error.
    pub missing_claim_rejects: bool,
    /// Whether PreFilter goes on after a rejection that evictions may cure.
    pub pre_filter_goes_on: bool,
    /// Whether PreFilter results that exclude each other rule preemption out.
    pub no_node_left_is_unresolvable: bool,
    /// How plugins are listed that left no node together.
    pub narrowing_order: NarrowingOrder,
    /// Whether plugins that narrowed the nodes count as having rejected the pod.
    pub narrowing_rejects: bool,
    /// The status of nodes that PreFilter left out.
    pub left_out: LeftOutNodes,
    /// What becomes of an attempt where PreFilter names nodes that do not exist.
    pub missing_nodes: MissingNodes,
    /// Whether one feasible node is enough for a profile that does not score.
    pub one_node_without_scores: bool,
    /// The nodes that preemption tries.
    pub potential_nodes: PotentialNodes,
    /// The order of victims on a node.
    pub victims: VictimOrder,
    /// What stands behind the text of PostFilter in the message.
    pub message_end: &'static str,
    /// What the queue and the event handlers do.
    pub queue: QueueBehaviour,
}

/// How NodeResourcesBalancedAllocation scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceScore {
    /// How the pod changes the balance of the node.
    Change,
    /// How balanced the node is with the pod.
    Result,
}

/// Which images ImageLocality counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSources {
    /// Those of containers.
    Containers,
    /// Those of init containers too.
    InitContainers,
    /// Those of image volumes as well.
    Volumes,
}

/// What becomes of an attempt that meets a pool whose slices contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidPools {
    /// It ends with an error.
    Error,
    /// The pool gives nothing, and the node is rejected where that leaves it without a device.
    Rejection,
}

/// Where NodeResourcesFit refuses pods with sidecars while `SidecarContainers` is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SidecarCheck {
    /// On each node.
    Filter,
    /// Before nodes are looked at.
    PreFilter,
}

/// What scoring assumes a pod on a node to use where it requests nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumedUsage {
    /// So much for each container and each phase of init containers.
    PerPhase,
    /// So much for each container.
    PerContainer,
}

/// What PodTopologySpread keeps counts by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadCounts {
    /// By topology key: constraints with one key share theirs.
    PerTopologyKey,
    /// By constraint.
    PerConstraint,
}

/// How VolumeBinding treats local volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalVolumes {
    /// PreFilter narrows the nodes to those that bound volumes name.
    Narrow,
    /// Filter looks at each node.
    Filter,
}

/// What NodeVolumeLimits counts, and against which limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsiLimits {
    /// The volumes of pods, against the limits of the Node and the CSINode.
    NodeAndCsiNode,
    /// VolumeAttachments too, against the limits of the CSINode.
    CsiNode,
}

/// How plugins are listed that left no node together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NarrowingOrder {
    /// As they run.
    Running,
    /// By name.
    ByName,
}

/// The status of nodes that PreFilter left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutNodes {
    /// None: they are neither counted in the message nor known to be beyond help.
    WithoutStatus,
    /// UnschedulableAndUnresolvable on each, without naming a plugin.
    FilteredOut,
    /// UnschedulableAndUnresolvable, naming the plugins.
    NotAmongNodes,
}

/// What becomes of an attempt where PreFilter names nodes that do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingNodes {
    /// It ends with an error at the first.
    Error,
    /// kube-scheduler crashes where none exists.
    Crash,
    /// They are passed over.
    PassedOver,
}

/// The nodes that preemption tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PotentialNodes {
    /// All but those with UnschedulableAndUnresolvable.
    NotUnresolvable,
    /// Those with Unschedulable.
    Unschedulable,
}

/// The order of victims on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimOrder {
    /// Those that violate a budget in front, each group by importance.
    ViolatingFirst,
    /// By importance.
    ByImportance,
}

/// How many feasible nodes a search wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSearch {
    /// All of them.
    All,
    /// `percentageOfNodesToScore` of the nodes; without a percentage one that falls with their number. Mirrors
    /// `numFeasibleNodesToFind`.
    Adaptive {
        /// At least so many, in nodes; smaller clusters are searched whole.
        min_nodes: usize,
        /// The percentage without a configured one is not below this.
        min_percentage: i64,
    },
}

/// How many candidates preemption looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// Every potential node is tried.
    All,
    /// As many as the arguments of DefaultPreemption say.
    Sampled,
}

/// A function that chooses among preemption's candidates; mirrors `pickOneNodeForPreemption` in
/// `pkg/scheduler/framework/preemption/preemption.go`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::EnumIter, strum::Display, strum::IntoStaticStr, Serialize, Deserialize)]
pub enum ScoreFunctionName {
    /// Fewest budget violations.
    MinNumPDBViolations,
    /// Lowest priority of the most important victim.
    MinHighestPriority,
    /// Smallest sum of priorities, each made positive first.
    MinSumPriorities,
    /// Fewest victims.
    MinNumPods,
    /// Latest of the earliest start times of the most important victims.
    LatestStartTime,
}

/// What selectors of devices may use beyond what all releases know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSelectors {
    /// The function `includes`.
    pub includes: bool,
    /// The field `device.allowMultipleAllocations`.
    pub multiple_allocations: bool,
    /// Functions that take lists apart and sort them: `slice`, `flatten`, `sort`, `distinct`, `reverse`, `lists.range`.
    pub list_functions: bool,
}
