//! Choices of the engine that changed between releases, by name. Differences that a feature gate makes are asked of the
//! gate; a plugin whose algorithm changed has an implementation for each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::predicate_behaviour::PredicateBehaviour;
use super::queue_behaviour::QueueBehaviour;
use crate::cluster::SelectorWords;

/// The named choices of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// What decides where a pod goes.
    pub algorithm: Algorithm,
    /// What predicates and priorities do, where they decide.
    pub predicates: PredicateBehaviour,
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
    /// Which plugins are left out of scoring where they have nothing to go by and so score every node alike.
    pub idle_scores: IdleScores,
    /// Which resources a pod must find free of which it requests none.
    pub zero_requests: ZeroRequests,
    /// Whether a request that exceeds all a node has rules preemption out there.
    pub oversized_is_unresolvable: bool,
    /// Where NodeResourcesFit refuses pods with sidecars while `SidecarContainers` is off.
    pub sidecars_refused_in: SidecarCheck,
    /// Whether the host ports of sidecars count.
    pub sidecar_ports: bool,
    /// What scoring assumes a pod on a node to use where it requests nothing.
    pub assumed_usage: AssumedUsage,
    /// What of a pod on a node counts for the node.
    pub node_usage: NodeUsage,
    /// In which unit the overhead in cpu of the pod itself is added when nodes are scored.
    pub overhead_unit: OverheadUnit,
    /// Whether the overhead of the pod itself counts when NodeResourcesFit scores nodes.
    pub fit_scores_overhead: bool,
    /// How much a resource counts of which a node has nothing, when nodes are scored by what is free or taken.
    pub missing_resources: MissingResources,
    /// How a share of a resource is rounded for RequestedToCapacityRatio.
    pub utilization: UtilizationRounding,
    /// What PodTopologySpread keeps counts by.
    pub spread_counts: SpreadCounts,
    /// What an empty selector of a spread constraint counts.
    pub empty_spread_selector: EmptySelector,
    /// How the raw score of PodTopologySpread becomes a whole number.
    pub spread_score: Rounding,
    /// Which raw scores InterPodAffinity normalizes between.
    pub affinity_range: AffinityRange,
    /// How many reasons InterPodAffinity gives for a node.
    pub affinity_reasons: AffinityReasons,
    /// When NodeAffinity finds that terms exclude each other.
    pub node_affinity_conflict: NodeAffinityConflict,
    /// What PreFilter of NodeAffinity does.
    pub node_affinity_pre_filter: NodeAffinityPreFilter,
    /// What stands before an error of a spread constraint in PreFilter.
    pub constraint_error: &'static str,
    /// How errors of selectors are worded.
    pub selector_words: SelectorWords,
    /// Whether every list of inter-pod affinity with an error is told, and not the last alone.
    pub affinity_errors_add_up: bool,
    /// Where VolumeZone looks at claims.
    pub zones_looked_up_in: ZoneCheck,
    /// Whether a claim that lost its volume is a rejection before nodes are looked at.
    pub lost_claims_reject: bool,
    /// Whether inline volumes of in-tree plugins that are migrated count as those of their CSI driver.
    pub inline_volumes_counted: bool,
    /// Whose volumes a CSI driver serves, where a node says so.
    pub migrated_plugins: MigratedPlugins,
    /// How VolumeBinding treats local volumes.
    pub local_volumes: LocalVolumes,
    /// What is looked at when volumes are matched with claims.
    pub volume_matching: VolumeMatching,
    /// Whether `volumeAttributesClassName` is compared when volumes are matched with claims.
    pub volume_attributes_compared: bool,
    /// What NodeVolumeLimits counts, and against which limits.
    pub csi_limits: CsiLimits,
    /// Where a ReadWriteOncePod claim in use rejects a pod.
    pub claims_in_use: ClaimsInUse,
    /// What the volume limit plugins make of a missing claim of the pod.
    pub missing_claims: MissingClaims,
    /// What is known of claims that are made for generic ephemeral volumes.
    pub ephemeral_claims: EphemeralClaims,
    /// What becomes of nodes where PreFilter rejects the pod.
    pub pre_filter_rejection: PreFilterRejection,
    /// Which filters run on a node.
    pub filters: FilterRun,
    /// Whether an error of a filter names the pod.
    pub filter_errors_name_pod: bool,
    /// Whether it is noted which plugins reject a pod.
    pub rejectors_noted: bool,
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
    /// Which pods on the nominated node keep the pod from preempting once more.
    pub terminating: TerminatingPods,
    /// What becomes of a node where all pods may stay.
    pub without_victims: WithoutVictims,
    /// What is told of nodes that were tried in vain.
    pub dry_run: DryRunReport,
    /// Which of two pods is the more important one.
    pub importance: Importance,
    /// When the eviction of a pod violates a budget.
    pub budgets: BudgetRule,
    /// What is known of a pod when it is asked whether it may preempt.
    pub eligibility: Eligibility,
    /// What DefaultPreemption says where it finds nothing.
    pub preemption_text: PreemptionText,
    /// Whether the message has the text of PostFilter.
    pub post_filter_text: PostFilterText,
    /// What stands behind the text of PostFilter in the message.
    pub message_end: &'static str,
    /// What the queue and the event handlers do.
    pub queue: QueueBehaviour,
}

/// What decides where a pod goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Plugins at extension points.
    Plugins,
    /// Predicates and priorities. Claims must exist before anything else; an error of one node does not end the search, and
    /// then ends the attempt with the errors of all.
    PredicatesAndPriorities,
}

/// How NodeResourcesBalancedAllocation scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceScore {
    /// How the pod changes the balance of the node.
    Change,
    /// How balanced the node is with the pod.
    Result,
    /// The same as the difference between cpu and memory, with assumed usage; 0 where either is used up.
    Difference,
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

/// Which plugins are left out of scoring where they have nothing to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleScores {
    /// All.
    Skipped,
    /// InterPodAffinity and PodTopologySpread alone.
    OfPodsSkipped,
    /// None: every plugin scores every pod.
    Kept,
}

/// Which resources a pod must find free of which it requests none, as on a node that has less than its pods request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRequests {
    /// None.
    Pass,
    /// The basic ones.
    BasicChecked,
    /// Those it names too.
    Checked,
}

/// In which unit the overhead in cpu of the pod itself is added when nodes are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverheadUnit {
    /// In thousandths of a core.
    Milli,
    /// In whole cores rounded up, which then count as thousandths.
    Cores,
}

/// How much a resource counts of which a node has nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingResources {
    /// Nothing.
    LeftOut,
    /// Its weight, with a score of a resource that is used up.
    Weighed,
}

/// How a share of a resource is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtilizationRounding {
    /// The share that is taken is rounded down.
    TakenDown,
    /// The share that is free is rounded down.
    FreeDown,
}

/// Where a ReadWriteOncePod claim in use rejects a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimsInUse {
    /// On each node, where evicting its user may help.
    Filter,
    /// Before nodes are looked at.
    PreFilter,
}

/// What the volume limit plugins make of a missing claim of the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingClaims {
    /// A rejection.
    Rejection,
    /// An error.
    Error,
    /// Nothing: another plugin looks for it.
    PassedOver,
}

/// What is known of claims that are made for generic ephemeral volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralClaims {
    /// That they may be still to come; their volumes count towards limits.
    Awaited,
    /// What is known of others; their volumes count towards no limit.
    AsOthers,
}

/// The in-tree volume plugins whose volumes CSI drivers may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigratedPlugins {
    /// All that have a driver.
    All,
    /// Those of EBS, GCE disks, Azure disks and Cinder.
    Disks,
    /// That of Cinder.
    Cinder,
    /// None.
    None,
}

/// What an empty selector counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptySelector {
    /// No pod.
    Nothing,
    /// All pods.
    Everything,
}

/// How a number becomes a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest.
    Nearest,
    /// Cut off.
    Down,
}

/// Which raw scores InterPodAffinity normalizes between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityRange {
    /// The lowest and the highest of the nodes.
    OfNodes,
    /// The same, and 0.
    WithZero,
}

/// How many reasons InterPodAffinity gives for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityReasons {
    /// One.
    One,
    /// One for any violation, and one that tells which.
    Two,
}

/// When NodeAffinity finds that terms exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAffinityConflict {
    /// When no term leaves a node.
    InAllTerms,
    /// When the first terms up to one that leaves none all name nodes.
    InAnyTerm,
}

/// What PreFilter of NodeAffinity does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAffinityPreFilter {
    /// It narrows the nodes to those that terms name.
    Narrows,
    /// It narrows none.
    Prepares,
}

/// Where VolumeZone looks at claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCheck {
    /// Before nodes are looked at.
    PreFilter,
    /// On each node that has a zone or region.
    Filter,
}

/// What becomes of nodes where PreFilter rejects the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreFilterRejection {
    /// They have the plugin's status, and the message tells it once.
    Shared,
    /// They have no status; the message tells that of the plugin once.
    WithoutStatus,
    /// They have the plugin's status, and the message counts it for each.
    OfEachNode,
}

/// Which filters run on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterRun {
    /// Those up to the first that rejects.
    #[default]
    UntilRejection,
    /// All; the node has the reasons of all that reject.
    All,
}

/// Which pods on the nominated node keep the pod from preempting once more, of those with lower priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminatingPods {
    /// Those that terminate because kube-scheduler preempted them.
    Preempted,
    /// All that terminate.
    All,
}

/// What becomes of a node where all pods may stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutVictims {
    /// An error.
    Error,
    /// A candidate.
    Candidate,
    /// A candidate that is chosen before all others, also where the node has no pods of lower priority.
    Chosen,
}

/// What is told of nodes that were tried in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRunReport {
    /// A status each; errors in place of the rest where no candidate was found.
    Errors,
    /// A status each.
    Statuses,
    /// Nothing.
    Nothing,
}

/// What DefaultPreemption says where it finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionText {
    /// Why, beginning with `preemption: `.
    Prefixed,
    /// Why.
    Plain,
    /// Nothing.
    None,
}

/// Whether the message has the text of PostFilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostFilterText {
    /// It has.
    Told,
    /// It has unless it is that of an error.
    ErrorsUntold,
    /// It has not.
    Untold,
}

/// What scoring assumes a pod on a node to use where it requests nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumedUsage {
    /// So much for each container and each phase of init containers.
    PerPhase,
    /// So much for each container.
    PerContainer,
}

/// What of a pod on a node counts for the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeUsage {
    /// All that the pod requests.
    Pod,
    /// The requests of its containers, each rounded up; not those of init containers.
    Containers,
}

/// What is looked at when volumes are matched with claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeMatching {
    /// Phase and mode among others.
    WithPhaseAndMode,
    /// Neither phase nor mode.
    WithoutPhaseAndMode,
}

/// Which of two pods is the more important one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// The one with the higher priority, and of equals the one that started earlier.
    PriorityAndStart,
    /// The one with the higher priority.
    Priority,
}

/// When the eviction of a pod violates a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetRule {
    /// When nothing is left of what it allows, counted down from pod to pod.
    CountedDown,
    /// When it allows nothing; pods that its status lists count, too.
    AsItStands,
}

/// What is known of a pod when it is asked whether it may preempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    /// Its `preemptionPolicy`, and whether its nominated node is beyond help.
    PolicyAndStatus,
    /// Neither.
    Nomination,
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
    /// `percentageOfNodesToScore` of the nodes; all of them where it is not from 1 to 99.
    Share {
        /// At least so many, in nodes; smaller clusters are searched whole.
        min_nodes: usize,
        /// The percentage without a configured one.
        percentage: i64,
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
