//! Named engine behaviours that changed between releases. A difference behind a feature gate is read from the gate
//! instead. A plugin whose algorithm changed has one implementation for each.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::predicate_behaviour::PredicateBehaviour;
use super::queue_behaviour::QueueBehaviour;
use crate::cluster::SelectorWords;

/// The named behaviours of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    /// The algorithm that chooses a node.
    pub algorithm: Algorithm,
    /// Behaviours of predicates and priorities; used with [`Algorithm::PredicatesAndPriorities`].
    pub predicates: PredicateBehaviour,
    /// How the plugins that an extension point lists are put among those of `multiPoint`.
    pub plugin_order: PluginOrder,
    /// How the scores of a plugin count that runs twice.
    pub repeated_scores: RepeatedScores,
    /// Whether the error of a PreFilter plugin is left out of the message.
    pub pre_filter_error_lost: bool,
    /// How many nodes are filtered.
    pub search: NodeSearch,
    /// How many nodes preemption dry-runs.
    pub candidates: Candidates,
    /// The score functions that choose among preemption's candidates, in order.
    pub tie_break: &'static [ScoreFunctionName],
    /// The highest normalized score of a plugin; the lowest is 0.
    pub score_max: i64,
    /// How long a pod stays in unschedulablePods before it is retried.
    pub leftover: Duration,
    /// How NodeResourcesBalancedAllocation scores.
    pub balance: BalanceScore,
    /// Whether NodeResourcesBalancedAllocation skips pods that request none of its resources.
    pub balance_skips_best_effort: bool,
    /// Which images ImageLocality counts.
    pub images: ImageSources,
    /// Whether DynamicResources scores nodes.
    pub devices_score: bool,
    /// Functions and fields that device selectors may use.
    pub device_selectors: DeviceSelectors,
    /// Whether the error of a device selector names the device, and a missing attribute comes with a hint.
    pub selector_errors_name_device: bool,
    /// Whether devices are allocated from incomplete pools.
    pub incomplete_pools_serve: bool,
    /// Whether the API server adds `matchLabelKeys` of affinity terms to their selectors.
    pub merges_match_label_keys: bool,
    /// Whether slices with binding conditions go after the others of their pool.
    pub conditional_slices_last: bool,
    /// How an attempt handles a pool whose slices contradict each other.
    pub invalid_pools: InvalidPools,
    /// Whether the allocator confuses the alternatives of a request.
    pub alternatives_confused: bool,
    /// Whether the values of a `distinctAttribute` are never found equal.
    pub all_values_distinct: bool,
    /// Whether slices with shared counters belong to a pool like others.
    pub counter_slices_as_others: bool,
    /// Whether a capacity request of an alternative is reported for the whole request while it is not supported.
    pub capacity_of_whole_request: bool,
    /// Whether an allocator without the newer features runs while their gates are off.
    pub has_stable_allocator: bool,
    /// Whether the counters and constraints that were recorded of a rejected device are taken back, and the counters of a shared
    /// device that the search gives up.
    pub rejected_devices_taken_back: bool,
    /// Whether a `distinctAttribute` compares every device of a request, instead of only the last one.
    pub distinct_of_each_device: bool,
    /// Whether drivers with pools of one name have counters of their own.
    pub counters_by_driver: bool,
    /// Whether a device that claims share has drawn on its counters also where no claim records a capacity of it.
    pub shares_without_capacity_drawn: bool,
    /// Whether a request for all devices fails if one of them lacks capacity, instead of leaving that device out.
    pub all_devices_need_capacity: bool,
    /// Whether requests for capacity that are negative or cannot be counted end an attempt with an error.
    pub capacity_requests_checked: bool,
    /// Whether DynamicResources scores nodes for pods that have allocated claims beside others; if not, such scores fail.
    pub allocated_claims_scored: bool,
    /// Whether a volume's beta zone label is compared with the stable one of a node.
    pub beta_zones_translated: bool,
    /// Which plugins skip scoring when they would score every node alike.
    pub idle_scores: IdleScores,
    /// Which resources are checked although the pod requests none of them.
    pub zero_requests: ZeroRequests,
    /// Whether a request above the node's allocatable makes the node unresolvable.
    pub oversized_is_unresolvable: bool,
    /// Where NodeResourcesFit rejects pods with sidecars while `SidecarContainers` is off.
    pub sidecars_refused_in: SidecarCheck,
    /// Whether the number of nodes that have an image is read where a cycle copies a node, so that a node on which nothing happens
    /// keeps an earlier one.
    pub images_as_copied: bool,
    /// Whether the host ports of sidecars count.
    pub sidecar_ports: bool,
    /// The usage that scoring assumes for pods on a node that request nothing.
    pub assumed_usage: AssumedUsage,
    /// Which requests of a pod count as usage of its node.
    pub node_usage: NodeUsage,
    /// How the larger amount counts while containers are resized in place.
    pub resizes: ResizeMaximum,
    /// The unit in which the pod's own CPU overhead is added in scoring.
    pub overhead_unit: OverheadUnit,
    /// Whether the pod's own overhead counts in the scores of NodeResourcesFit.
    pub fit_scores_overhead: bool,
    /// How a resource counts that the node does not have, in scores by free or used share.
    pub missing_resources: MissingResources,
    /// How RequestedToCapacityRatio rounds the utilization of a resource.
    pub utilization: UtilizationRounding,
    /// The key of PodTopologySpread's counts.
    pub spread_counts: SpreadCounts,
    /// The workloads whose selectors are part of the selector of default constraints.
    pub default_selector: DefaultSelector,
    /// Which pods an empty selector of a spread constraint counts.
    pub empty_spread_selector: EmptySelector,
    /// How PodTopologySpread rounds its raw score.
    pub spread_score: Rounding,
    /// The range of raw scores that InterPodAffinity normalizes.
    pub affinity_range: AffinityRange,
    /// How many reasons InterPodAffinity gives for a node.
    pub affinity_reasons: AffinityReasons,
    /// When NodeAffinity detects that terms exclude each other.
    pub node_affinity_conflict: NodeAffinityConflict,
    /// The task of NodeAffinity's PreFilter.
    pub node_affinity_pre_filter: NodeAffinityPreFilter,
    /// The prefix of a spread constraint's error in PreFilter.
    pub constraint_error: &'static str,
    /// The wording of selector errors.
    pub selector_words: SelectorWords,
    /// Whether all errors of inter-pod affinity lists are reported, or only the last.
    pub affinity_errors_add_up: bool,
    /// Whether an affinity term of the incoming pod no longer has its namespace selector once the namespaces that it
    /// selects are added to the term.
    pub namespace_selectors_cleared: bool,
    /// Where VolumeZone reads claims.
    pub zones_looked_up_in: ZoneCheck,
    /// Whether PreFilter rejects the pod if a claim lost its volume.
    pub lost_claims_reject: bool,
    /// Whether inline volumes of migrated in-tree plugins count as volumes of their CSI driver.
    pub inline_volumes_counted: bool,
    /// The in-tree plugins whose volumes a CSI driver serves if the node declares it.
    pub migrated_plugins: MigratedPlugins,
    /// The in-tree plugins whose volumes count for the limits of their CSI driver on every node with a CSINode, declared or
    /// not.
    pub counted_undeclared: MigratedPlugins,
    /// How VolumeBinding treats local volumes.
    pub local_volumes: LocalVolumes,
    /// Which volume fields are compared when volumes are matched with claims.
    pub volume_matching: VolumeMatching,
    /// Whether `volumeAttributesClassName` is compared when volumes are matched with claims.
    pub volume_attributes_compared: bool,
    /// The volumes that NodeVolumeLimits counts, and the limits it applies.
    pub csi_limits: CsiLimits,
    /// Where a ReadWriteOncePod claim in use rejects a pod.
    pub claims_in_use: ClaimsInUse,
    /// How the volume limit plugins handle a missing claim of the pod.
    pub missing_claims: MissingClaims,
    /// How missing claims of generic ephemeral volumes are handled.
    pub ephemeral_claims: EphemeralClaims,
    /// The status of nodes if PreFilter rejects the pod.
    pub pre_filter_rejection: PreFilterRejection,
    /// Which filters run on a node.
    pub filters: FilterRun,
    /// Whether an error of a filter names the pod.
    pub filter_errors_name_pod: bool,
    /// Whether rejecting plugins are recorded for a pod.
    pub rejectors_noted: bool,
    /// Whether PreFilter continues after a rejection that evictions may resolve.
    pub pre_filter_continues: bool,
    /// Whether PreFilter results without a common node are unresolvable.
    pub no_node_left_is_unresolvable: bool,
    /// The order in which plugins are listed whose PreFilter results have no node in common.
    pub narrowing_order: NarrowingOrder,
    /// Whether plugins that restricted the nodes count as rejecting the pod.
    pub narrowing_rejects: bool,
    /// Whether the plugin that rejects the nominated node counts as rejecting the pod, even if the node is not among
    /// those that are filtered next.
    pub nominated_node_rejects: bool,
    /// The status of nodes that PreFilter excluded.
    pub left_out: LeftOutNodes,
    /// How an attempt handles missing nodes named by PreFilter.
    pub missing_nodes: MissingNodes,
    /// Whether extenders that leave out nodes count as rejecting the pod.
    pub extenders_reject: bool,
    /// Where the start of the next search wraps around.
    pub start_wraps: StartWrap,
    /// Whether one feasible node is enough for a profile without Score plugins.
    pub one_node_without_scores: bool,
    /// The nodes that preemption dry-runs.
    pub potential_nodes: PotentialNodes,
    /// The order of victims on a node.
    pub victims: VictimOrder,
    /// Which terminating pods on the nominated node keep the pod from preempting again.
    pub terminating: TerminatingPods,
    /// How a node is handled where every pod is reprieved.
    pub without_victims: WithoutVictims,
    /// The statuses kept of failed dry runs.
    pub dry_run: DryRunReport,
    /// The order of importance among pods.
    pub importance: Importance,
    /// When the eviction of a pod violates a budget.
    pub budgets: BudgetRule,
    /// The fields that decide whether a pod may preempt.
    pub eligibility: Eligibility,
    /// The message of DefaultPreemption if it finds no candidate.
    pub preemption_text: PreemptionText,
    /// Whether a successful preemption names its node and its number of victims.
    pub preemption_announced: bool,
    /// When the message includes the text of PostFilter.
    pub post_filter_text: PostFilterText,
    /// The text after that of PostFilter in the message.
    pub message_end: &'static str,
    /// When a pod group takes its nodes.
    pub group_rule: GroupRule,
    /// Whether preemption by a single pod evicts a group that is disrupted as one as a whole, with pod groups on.
    pub groups_are_victims: bool,
    /// Behaviours of the queue and the event handlers.
    pub queue: QueueBehaviour,
}

/// The algorithm that chooses a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Plugins at the extension points of the scheduling framework.
    Plugins,
    /// Predicates and priorities. Claims must exist before anything else is checked. An error on one node lets the
    /// search continue and then ends the attempt with the errors of all nodes.
    PredicatesAndPriorities,
}

/// When a pod group takes its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupRule {
    /// When Permit lets enough members pass. Members without a place are asked for preemption.
    Permit,
    /// When enough members have a place. The attempt ends as soon as too few can have one, and members are not asked for preemption.
    Feasible,
}

/// How NodeResourcesBalancedAllocation scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceScore {
    /// Scores the change that the pod makes to the node's balance.
    Change,
    /// Scores the node's balance with the pod.
    Result,
    /// Scores the difference between CPU and memory with assumed usage; 0 if either is used up.
    Difference,
}

/// Which images ImageLocality counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageSources {
    /// Images of containers.
    Containers,
    /// Images of init containers as well.
    InitContainers,
    /// Images of image volumes as well.
    Volumes,
    /// Images of image volumes as well, each of which raises the sum for the highest score.
    VolumesWeighed,
}

/// How the larger amount counts while containers are resized in place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResizeMaximum {
    /// For each container the largest of the desired, the allocated and the actuated request.
    #[default]
    OfContainer,
    /// For the pod the largest of the three sums.
    OfPod,
}

/// How an attempt handles a pool whose slices contradict each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidPools {
    /// The attempt ends with an error.
    Error,
    /// The pool offers no devices, and a node left without a device is rejected.
    Rejection,
}

/// Where NodeResourcesFit rejects pods with sidecars while `SidecarContainers` is off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SidecarCheck {
    /// On each node.
    Filter,
    /// Once, in PreFilter.
    PreFilter,
    /// Nowhere: the API has no sidecars, and all init containers run one after another.
    Unknown,
}

/// Which plugins skip scoring when they would score every node alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdleScores {
    /// All of them.
    Skipped,
    /// InterPodAffinity and PodTopologySpread only.
    OfPodsSkipped,
    /// None: every plugin scores every pod.
    Kept,
}

/// Which resources are checked although the pod requests none of them. A node fails the check if its pods request more
/// than it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZeroRequests {
    /// None.
    Pass,
    /// CPU, memory and ephemeral storage.
    BasicChecked,
    /// Also scalar resources that the pod names.
    Checked,
}

/// The unit in which the pod's own CPU overhead is added in scoring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverheadUnit {
    /// Thousandths of a core.
    Milli,
    /// Whole cores rounded up, added as if they were thousandths.
    Cores,
}

/// How a resource counts that the node does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingResources {
    /// It is left out.
    LeftOut,
    /// With its weight, at the score of a used-up resource.
    Weighed,
}

/// How the utilization of a resource is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtilizationRounding {
    /// The used share is rounded down.
    TakenDown,
    /// The free share is rounded down.
    FreeDown,
}

/// Where a ReadWriteOncePod claim in use rejects a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimsInUse {
    /// In Filter, on each node; evicting the other user may help.
    Filter,
    /// Once, in PreFilter.
    PreFilter,
}

/// How the volume limit plugins handle a missing claim of the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingClaims {
    /// They reject the pod.
    Rejection,
    /// They return an error.
    Error,
    /// They ignore it; another plugin checks for it.
    PassedOver,
}

/// How missing claims of generic ephemeral volumes are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EphemeralClaims {
    /// As claims that may still be created; their volumes count towards limits.
    Awaited,
    /// As other claims; their volumes count towards no limit.
    AsOthers,
}

/// The in-tree volume plugins whose volumes CSI drivers may serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MigratedPlugins {
    /// All that have a CSI driver.
    All,
    /// All but Portworx.
    AllButPortworx,
    /// EBS, GCE disks, Azure disks and Cinder.
    Disks,
    /// EBS, Azure disks and Cinder.
    DisksButGce,
    /// Cinder.
    Cinder,
    /// None.
    None,
}

/// Which pods an empty selector counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptySelector {
    /// No pod.
    Nothing,
    /// Every pod.
    Everything,
}

/// How a number is rounded to a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest.
    Nearest,
    /// Towards zero.
    Down,
}

/// The range of raw scores that InterPodAffinity normalizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityRange {
    /// From the lowest to the highest raw score of the nodes.
    OfNodes,
    /// The same range, extended to include 0.
    WithZero,
}

/// How many reasons InterPodAffinity gives for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityReasons {
    /// One.
    One,
    /// A general one for any violation, and one that gives the rule.
    Two,
}

/// When NodeAffinity detects that terms exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAffinityConflict {
    /// If every term excludes all nodes.
    InAllTerms,
    /// If a term excludes all nodes, and all terms before it name nodes.
    InAnyTerm,
}

/// The task of NodeAffinity's PreFilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAffinityPreFilter {
    /// It restricts the nodes to those that terms name.
    Narrows,
    /// It restricts no nodes.
    Prepares,
}

/// Where VolumeZone reads claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneCheck {
    /// Once, in PreFilter.
    PreFilter,
    /// In Filter, on each node with a zone or region label.
    Filter,
}

/// The status of nodes if PreFilter rejects the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PreFilterRejection {
    /// The plugin's status; the message contains it once.
    Shared,
    /// None; the message contains the plugin's status once.
    WithoutStatus,
    /// The plugin's status; the message counts it for each node.
    OfEachNode,
}

/// How the plugins that an extension point lists are put among those of `multiPoint`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PluginOrder {
    /// Before those that only `multiPoint` implies.
    ImpliedLast,
    /// Those that override one of `multiPoint` before the implied ones, the others after them.
    OverridesFirst,
    /// As [`Self::OverridesFirst`] is meant, but the loop changes the list it goes over: of three or more overriding
    /// plugins some come last and others run twice (kubernetes/kubernetes#122066).
    OverridesMixedUp,
}

/// How the scores of a plugin count that runs twice. Either way they are normalized twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepeatedScores {
    /// Once; they are multiplied by the weight, checked, and multiplied by it again.
    WeightedTwice,
    /// Twice, with their weight.
    CountedTwice,
}

/// Which filters run on a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilterRun {
    /// Up to the first that rejects.
    #[default]
    UntilRejection,
    /// All; the node has the reasons of all rejections.
    All,
}

/// Which terminating pods of lower priority on the nominated node keep the pod from preempting again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminatingPods {
    /// Those that kube-scheduler preempted.
    Preempted,
    /// All.
    All,
}

/// How a node is handled where every pod is reprieved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutVictims {
    /// It is an error.
    Error,
    /// It is a candidate.
    Candidate,
    /// It is a candidate and is chosen before all others, even if the node has no pods of lower priority.
    Chosen,
}

/// The statuses kept of failed dry runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DryRunReport {
    /// One for each node. If there is no candidate, errors replace the other statuses.
    Errors,
    /// One for each node.
    Statuses,
    /// None.
    Nothing,
}

/// The message of DefaultPreemption if it finds no candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PreemptionText {
    /// The reason, with the prefix `preemption: `.
    Prefixed,
    /// The reason.
    Plain,
    /// None.
    None,
}

/// When the message includes the text of PostFilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostFilterText {
    /// Always.
    Always,
    /// Unless PostFilter returned an error.
    UnlessError,
    /// Never.
    Never,
}

/// The usage that scoring assumes for pods on a node that request nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumedUsage {
    /// An amount for each container and each phase of init containers.
    PerPhase,
    /// An amount for each container.
    PerContainer,
}

/// Which requests of a pod count as usage of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeUsage {
    /// All of the pod's requests.
    Pod,
    /// The requests of its containers without init containers, each rounded up.
    Containers,
}

/// Which volume fields are compared when volumes are matched with claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VolumeMatching {
    /// Phase and volume mode as well.
    WithPhaseAndMode,
    /// All but phase and volume mode.
    WithoutPhaseAndMode,
}

/// The order of importance among pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// The higher priority first, then the earlier start.
    PriorityAndStart,
    /// The higher priority first.
    Priority,
}

/// When the eviction of a pod violates a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetRule {
    /// When its allowed disruptions are used up, counting down from pod to pod.
    CountedDown,
    /// Like [`Self::CountedDown`], but a pod that finds a budget used up is not counted in the budgets behind it.
    UpToExhausted,
    /// When it allows no disruptions. Pods listed in its status count too.
    AsItStands,
}

/// The fields that decide whether a pod may preempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eligibility {
    /// Its `preemptionPolicy`, its nomination, and whether the nominated node is unresolvable.
    PolicyAndStatus,
    /// Its nomination only.
    Nomination,
}

/// The ReplicationControllers, ReplicaSets and StatefulSets whose selectors PodTopologySpread's default constraints and
/// SelectorSpread join with those of Services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultSelector {
    /// All that select the pod.
    OfMatching,
    /// The pod's controller.
    OfController,
}

/// The key of PodTopologySpread's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadCounts {
    /// The topology key; constraints with the same key add up. Pods count on every node of a domain that has a counted node.
    OnAllNodes,
    /// The topology key; constraints with the same key share counts.
    PerTopologyKey,
    /// The constraint.
    PerConstraint,
}

/// How VolumeBinding treats local volumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalVolumes {
    /// PreFilter restricts the nodes to those that bound volumes name.
    Narrow,
    /// Filter checks each node.
    Filter,
}

/// The volumes that NodeVolumeLimits counts, and the limits it applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsiLimits {
    /// Volumes of pods, with the limits of the Node and the CSINode.
    NodeAndCsiNode,
    /// VolumeAttachments as well, with the limits of the CSINode.
    CsiNode,
}

/// The order in which plugins are listed whose PreFilter results have no node in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NarrowingOrder {
    /// Running order.
    Running,
    /// Order of name.
    ByName,
}

/// The status of nodes that PreFilter excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutNodes {
    /// None: they are not counted in the message and not known to be unresolvable.
    WithoutStatus,
    /// UnschedulableAndUnresolvable, without naming a plugin.
    FilteredOut,
    /// UnschedulableAndUnresolvable, naming the plugins.
    NotAmongNodes,
}

/// How an attempt handles missing nodes named by PreFilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingNodes {
    /// It ends with an error at the first missing node.
    Error,
    /// kube-scheduler crashes if none of the named nodes exists.
    Crash,
    /// It ignores missing nodes.
    PassedOver,
}

/// Where the start of the next search wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartWrap {
    /// At the number of all nodes.
    AmongAll,
    /// At the number of nodes that PreFilter left.
    AmongLeft,
}

/// The nodes that preemption dry-runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PotentialNodes {
    /// All nodes but those with UnschedulableAndUnresolvable.
    NotUnresolvable,
    /// Nodes with Unschedulable, in the order of all nodes.
    ListedUnschedulable,
    /// Nodes with Unschedulable, in any order unless it is the status of all.
    Unschedulable,
}

/// The order of victims on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VictimOrder {
    /// Victims that violate a budget first; each group by importance.
    ViolatingFirst,
    /// By importance.
    ByImportance,
}

/// How many feasible nodes a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSearch {
    /// All of them.
    All,
    /// `percentageOfNodesToScore` of the nodes. Without a configured percentage, it falls with the number of nodes.
    /// Mirrors `numFeasibleNodesToFind`.
    Adaptive {
        /// The smallest number of nodes; smaller clusters are searched completely.
        min_nodes: usize,
        /// The lower bound of the percentage that is not configured.
        min_percentage: i64,
    },
    /// `percentageOfNodesToScore` of the nodes; all nodes if it is not between 1 and 99.
    Share {
        /// The smallest number of nodes; smaller clusters are searched completely.
        min_nodes: usize,
        /// The percentage if none is configured.
        percentage: i64,
    },
}

/// How many candidates preemption looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidates {
    /// As many as there are: every potential node is dry-run.
    All,
    /// As many as the arguments of DefaultPreemption set.
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
    /// Smallest sum of priorities, each shifted to be non-negative.
    MinSumPriorities,
    /// Fewest victims.
    MinNumPods,
    /// Latest of the earliest start times of the most important victims.
    LatestStartTime,
}

/// Additions to the functions and fields of device selectors that all releases have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSelectors {
    /// The function `includes`.
    pub includes: bool,
    /// The field `device.allowMultipleAllocations`.
    pub multiple_allocations: bool,
    /// Functions that slice, order and build lists: `slice`, `flatten`, `sort`, `distinct`, `reverse`, `lists.range`.
    pub list_functions: bool,
    /// Attributes that are lists.
    #[serde(default)]
    pub list_attributes: bool,
}
