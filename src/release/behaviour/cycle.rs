//! Behaviours of the scheduling cycle: which plugins run, and how their statuses and scores count.

use serde::{Deserialize, Serialize};

/// The named behaviours of the scheduling cycle: which plugins run, and how their statuses and scores count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleBehaviour {
    /// How the plugins that an extension point lists are put among those of `multiPoint`.
    pub plugin_order: PluginOrder,
    /// How the scores of a plugin count that runs twice.
    pub repeated_scores: RepeatedScores,
    /// Whether the error of a PreFilter plugin is left out of the message.
    pub pre_filter_error_lost: bool,
    /// The highest normalized score of a plugin; the lowest is 0.
    pub score_max: i64,
    /// Which plugins skip scoring when they would score every node alike.
    pub idle_scores: IdleScores,
    /// The status of nodes if PreFilter rejects the pod.
    pub pre_filter_rejection: PreFilterRejection,
    /// Which filters run on a node.
    pub filters: FilterRun,
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
