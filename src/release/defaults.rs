//! Default plugins and plugin arguments of a release; mirrors
//! `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`.

use super::config_fields::{V1, V1BETA1, V1BETA2, V1BETA3};
use super::gates::Gate;
use super::version::Lifetime;

/// A plugin of the default multiPoint list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultPlugin {
    /// The plugin's name in configurations.
    pub name: &'static str,
    /// The weight as a score plugin; 0 if the list gives none, which counts as 1.
    pub weight: i32,
    /// The gate that must be on for the plugin to be listed.
    pub gate: Option<Gate>,
    /// The gate that must be off for the plugin to be listed.
    pub without: Option<Gate>,
    /// The releases that list it at this position.
    pub(super) releases: Lifetime,
}

impl DefaultPlugin {
    /// Returns a plugin without a weight.
    pub(super) const fn plain(name: &'static str) -> Self {
        Self::weighing(name, 0)
    }

    /// Returns a plugin with a weight.
    pub(super) const fn weighing(name: &'static str, weight: i32) -> Self {
        Self { name, weight, gate: None, without: None, releases: Lifetime::since(0) }
    }

    /// Lists the plugin only while a gate is on.
    pub(super) const fn with(self, gate: Gate) -> Self {
        Self { gate: Some(gate), ..self }
    }

    /// Lists the plugin only while a gate is off.
    pub(super) const fn without(self, gate: Gate) -> Self {
        Self { without: Some(gate), ..self }
    }

    /// Lists the plugin only in some releases.
    pub(super) const fn of(self, releases: Lifetime) -> Self {
        Self { releases, ..self }
    }
}

/// The default plugins of an extension point.
#[derive(Clone, Copy, Debug)]
pub(super) struct DefaultSet {
    /// The extension point, or `multiPoint`.
    pub(super) point: &'static str,
    /// The plugins, in order.
    pub(super) plugins: &'static [DefaultPlugin],
}

/// Returns the default plugins of configurations of an apiVersion.
pub(super) fn default_sets(api_version: &str) -> &'static [DefaultSet] {
    match api_version {
        V1BETA1 => BY_POINT_V1BETA1,
        V1BETA2 => BY_POINT_V1BETA2,
        V1BETA3 | V1 => MULTI_POINT,
        // `Profile::predicates_and_priorities` lists predicates and priorities.
        _ => &[],
    }
}

/// The only list of v1beta3 and v1; mirrors `getDefaultPlugins` in
/// `pkg/scheduler/apis/config/{v1beta3,v1}/default_plugins.go`.
static MULTI_POINT: &[DefaultSet] = &[DefaultSet { point: "multiPoint", plugins: DEFAULT_PLUGINS }];

const fn at(point: &'static str, plugins: &'static [DefaultPlugin]) -> DefaultSet {
    DefaultSet { point, plugins }
}

/// Mirrors `getDefaultConfig` in `pkg/scheduler/algorithmprovider/registry.go` and `getDefaultPlugins` in
/// `pkg/scheduler/apis/config/v1beta1/default_plugins.go`.
static BY_POINT_V1BETA1: &[DefaultSet] =
    &[QUEUE_SORT, PRE_FILTER, FILTER, POST_FILTER, PRE_SCORE, at("score", SCORE_V1BETA1), RESERVE, PRE_BIND, BIND];

/// Mirrors `getDefaultPlugins` in `pkg/scheduler/apis/config/v1beta2/default_plugins.go`.
static BY_POINT_V1BETA2: &[DefaultSet] =
    &[QUEUE_SORT, PRE_FILTER, FILTER, POST_FILTER, PRE_SCORE, at("score", SCORE_V1BETA2), RESERVE, PRE_BIND, BIND, PRE_ENQUEUE];

const QUEUE_SORT: DefaultSet = at("queueSort", &[DefaultPlugin::plain("PrioritySort")]);
const PRE_FILTER: DefaultSet = at(
    "preFilter",
    &[
        DefaultPlugin::plain("NodeResourcesFit"),
        DefaultPlugin::plain("NodePorts"),
        DefaultPlugin::plain("VolumeRestrictions").of(Lifetime::since(22)),
        DefaultPlugin::plain("PodTopologySpread"),
        DefaultPlugin::plain("InterPodAffinity"),
        DefaultPlugin::plain("VolumeBinding"),
        DefaultPlugin::plain("VolumeZone").of(Lifetime::since(27)),
        DefaultPlugin::plain("NodeAffinity").of(Lifetime::since(21)),
    ],
);
const FILTER: DefaultSet = at(
    "filter",
    &[
        DefaultPlugin::plain("NodeUnschedulable"),
        DefaultPlugin::plain("NodeName"),
        DefaultPlugin::plain("TaintToleration"),
        DefaultPlugin::plain("NodeAffinity"),
        DefaultPlugin::plain("NodePorts"),
        DefaultPlugin::plain("NodeResourcesFit"),
        DefaultPlugin::plain("VolumeRestrictions"),
        DefaultPlugin::plain("EBSLimits"),
        DefaultPlugin::plain("GCEPDLimits"),
        DefaultPlugin::plain("NodeVolumeLimits"),
        DefaultPlugin::plain("AzureDiskLimits"),
        DefaultPlugin::plain("VolumeBinding"),
        DefaultPlugin::plain("VolumeZone"),
        DefaultPlugin::plain("PodTopologySpread"),
        DefaultPlugin::plain("InterPodAffinity"),
    ],
);
const POST_FILTER: DefaultSet = at("postFilter", &[DefaultPlugin::plain("DefaultPreemption")]);
const PRE_SCORE: DefaultSet = at(
    "preScore",
    &[
        DefaultPlugin::plain("InterPodAffinity"),
        DefaultPlugin::plain("PodTopologySpread"),
        DefaultPlugin::plain("TaintToleration"),
        DefaultPlugin::plain("NodeAffinity").of(Lifetime::since(21)),
        DefaultPlugin::plain("NodeResourcesFit").of(Lifetime::since(27)),
        DefaultPlugin::plain("NodeResourcesBalancedAllocation").of(Lifetime::since(27)),
        SELECTOR_SPREAD,
    ],
);
const SCORE_V1BETA1: &[DefaultPlugin] = &[
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::weighing("InterPodAffinity", 1),
    DefaultPlugin::weighing("NodeResourcesLeastAllocated", 1),
    DefaultPlugin::weighing("NodeAffinity", 1),
    DefaultPlugin::weighing("NodePreferAvoidPods", 10000),
    DefaultPlugin::weighing("PodTopologySpread", 2),
    DefaultPlugin::weighing("TaintToleration", 1),
    SELECTOR_SPREAD,
];
const SCORE_V1BETA2: &[DefaultPlugin] = &[
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::weighing("InterPodAffinity", 1),
    DefaultPlugin::weighing("NodeResourcesFit", 1),
    DefaultPlugin::weighing("NodeAffinity", 1),
    DefaultPlugin::weighing("PodTopologySpread", 2),
    DefaultPlugin::weighing("TaintToleration", 1),
    SELECTOR_SPREAD,
];
/// With the gate off, PodTopologySpread has no default constraints.
const SELECTOR_SPREAD: DefaultPlugin = DefaultPlugin::weighing("SelectorSpread", 1).without(Gate::DefaultPodTopologySpread);
const RESERVE: DefaultSet = at("reserve", &[DefaultPlugin::plain("VolumeBinding")]);
const PRE_BIND: DefaultSet = at("preBind", &[DefaultPlugin::plain("VolumeBinding")]);
const BIND: DefaultSet = at("bind", &[DefaultPlugin::plain("DefaultBinder")]);
const PRE_ENQUEUE: DefaultSet =
    at("preEnqueue", &[DefaultPlugin::plain("SchedulingGates").with(Gate::PodSchedulingReadiness).of(Lifetime::since(26))]);

/// The `multiPoint` list.
static DEFAULT_PLUGINS: &[DefaultPlugin] = &[
    DefaultPlugin::plain("SchedulingGates").of(Lifetime::since(30)),
    DefaultPlugin::plain("PrioritySort"),
    DefaultPlugin::plain("NodeUnschedulable"),
    DefaultPlugin::plain("NodeName"),
    DefaultPlugin::weighing("TaintToleration", 3),
    DefaultPlugin::weighing("NodeAffinity", 2),
    DefaultPlugin::plain("NodePorts"),
    DefaultPlugin::weighing("NodeResourcesFit", 1),
    DefaultPlugin::plain("VolumeRestrictions"),
    DefaultPlugin::plain("EBSLimits").of(Lifetime::since(0).until(31)),
    DefaultPlugin::plain("GCEPDLimits").of(Lifetime::since(0).until(31)),
    DefaultPlugin::plain("NodeVolumeLimits"),
    DefaultPlugin::plain("AzureDiskLimits").of(Lifetime::since(0).until(31)),
    DefaultPlugin::plain("VolumeBinding"),
    DefaultPlugin::plain("VolumeZone"),
    DefaultPlugin::weighing("PodTopologySpread", 2),
    DefaultPlugin::weighing("InterPodAffinity", 2),
    // Before 1.34 only an unemulated gate, off by default, lists it.
    DefaultPlugin::plain("DynamicResources").of(Lifetime::since(34).until(35)),
    DefaultPlugin::weighing("DynamicResources", 2).of(Lifetime::since(35)),
    DefaultPlugin::plain("DefaultPreemption"),
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::plain("DefaultBinder"),
    DefaultPlugin::plain("SchedulingGates").with(Gate::PodSchedulingReadiness).of(Lifetime::since(26).until(30)),
    SELECTOR_SPREAD,
    DefaultPlugin::plain("NodeDeclaredFeatures").with(Gate::NodeDeclaredFeatures).of(Lifetime::since(35)),
    DefaultPlugin::plain("GangScheduling").with(Gate::GangScheduling).of(Lifetime::since(36).until(37)),
    DefaultPlugin::plain("GangScheduling").with(Gate::GenericWorkload).of(Lifetime::since(37)),
    DefaultPlugin::plain("TopologyPlacementGenerator").with(Gate::TopologyAwareWorkloadScheduling).of(Lifetime::since(36)),
    DefaultPlugin::weighing("PodGroupPodsCount", 1).with(Gate::TopologyAwareWorkloadScheduling).of(Lifetime::since(36)),
];

/// A plugin argument whose default in a release differs from the plugin's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultArgument {
    /// The plugin's name.
    pub plugin: &'static str,
    /// The argument.
    pub field: &'static str,
    /// The value as JSON.
    pub value: &'static str,
}
