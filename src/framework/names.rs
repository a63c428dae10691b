//! The names of the in-tree plugins; mirrors `pkg/scheduler/framework/plugins/names/names.go`.

use serde::{Deserialize, Serialize};

/// A plugin of kube-scheduler, ordered by its name as text.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::EnumIter,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[allow(missing_docs, reason = "the variants are the plugins' own names")]
pub enum PluginName {
    DefaultBinder,
    DefaultPreemption,
    DynamicResources,
    /// The pseudo plugin that stands for all extenders.
    Extender,
    GangScheduling,
    ImageLocality,
    InterPodAffinity,
    NodeAffinity,
    NodeDeclaredFeatures,
    NodeName,
    NodePorts,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    NodeUnschedulable,
    NodeVolumeLimits,
    PodGroupPodsCount,
    PodTopologySpread,
    PrioritySort,
    SchedulingGates,
    TaintToleration,
    TopologyPlacementGenerator,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
}

impl PluginName {
    /// The name as kube-scheduler spells it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A set of plugins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginSet(u32);

impl PluginSet {
    /// The set whose one member has no name: kube-scheduler notes the rejector so of a pod that was deleted while it
    /// waited on Permit. The set is not empty, so that the pod counts as rejected, but no plugin is in it.
    pub const NAMELESS: Self = Self(1 << 31);

    /// Adds a plugin.
    pub fn insert(&mut self, plugin: PluginName) {
        self.0 |= 1 << plugin as u32;
    }

    /// Whether the plugin is in the set.
    pub fn contains(self, plugin: PluginName) -> bool {
        self.0 & (1 << plugin as u32) != 0
    }

    /// Everything in either set.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True without members.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, by name.
    pub fn iter(self) -> impl Iterator<Item = PluginName> {
        use strum::IntoEnumIterator;
        PluginName::iter().filter(move |p| self.contains(*p))
    }
}

impl FromIterator<PluginName> for PluginSet {
    fn from_iter<I: IntoIterator<Item = PluginName>>(plugins: I) -> Self {
        let mut set = Self::default();
        for plugin in plugins {
            set.insert(plugin);
        }
        set
    }
}
