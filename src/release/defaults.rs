//! What a release enables and passes to plugins where a configuration does not say; mirrors
//! `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`.

use super::gates::Gate;
use super::version::Lifetime;

/// A plugin of the default multiPoint list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultPlugin {
    /// Its name as a configuration spells it.
    pub name: &'static str,
    /// Its weight as a score plugin; 0 where the list gives none, which counts as 1.
    pub weight: i32,
    /// The gate without which it is not in the list.
    pub gate: Option<Gate>,
    /// The gate with which it is not in the list.
    pub without: Option<Gate>,
    /// The releases that have it at this place of the list.
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

    /// Leaves the plugin out while a gate is off.
    pub(super) const fn with(self, gate: Gate) -> Self {
        Self { gate: Some(gate), ..self }
    }

    /// Leaves the plugin out while a gate is on.
    pub(super) const fn without(self, gate: Gate) -> Self {
        Self { without: Some(gate), ..self }
    }

    /// Leaves the plugin out of other releases.
    pub(super) const fn of(self, releases: Lifetime) -> Self {
        Self { releases, ..self }
    }
}

/// The default multiPoint list of every release, in order; mirrors `getDefaultPlugins` in
/// `pkg/scheduler/apis/config/v1/default_plugins.go`.
pub(super) static DEFAULT_PLUGINS: &[DefaultPlugin] = &[
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
    // Before 1.34 it is in the list only with a gate that is off, and is not emulated.
    DefaultPlugin::plain("DynamicResources").of(Lifetime::since(34).until(35)),
    DefaultPlugin::weighing("DynamicResources", 2).of(Lifetime::since(35)),
    DefaultPlugin::plain("DefaultPreemption"),
    DefaultPlugin::weighing("NodeResourcesBalancedAllocation", 1),
    DefaultPlugin::weighing("ImageLocality", 1),
    DefaultPlugin::plain("DefaultBinder"),
    DefaultPlugin::plain("SchedulingGates").with(Gate::PodSchedulingReadiness).of(Lifetime::since(0).until(30)),
    DefaultPlugin::plain("NodeDeclaredFeatures").with(Gate::NodeDeclaredFeatures).of(Lifetime::since(35)),
];

/// The default of one argument of a plugin, where the release's is not that of the plugin's own code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultArgument {
    /// The plugin's name.
    pub plugin: &'static str,
    /// The field of its arguments.
    pub field: &'static str,
    /// The value as JSON.
    pub value: &'static str,
}
