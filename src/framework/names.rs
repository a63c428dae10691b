//! The names of the in-tree plugins; mirrors `pkg/scheduler/framework/plugins/names/names.go`. Predicates and
//! priorities mirror `pkg/scheduler/algorithm/{predicates,priorities}` of the releases before the scheduling framework.

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
    AzureDiskLimits,
    BalancedResourceAllocation,
    CheckNodeCondition,
    CheckNodeDiskPressure,
    CheckNodeLabelPresence,
    CheckNodeMemoryPressure,
    CheckNodePIDPressure,
    CheckNodeUnschedulable,
    CheckServiceAffinity,
    CheckVolumeBinding,
    CinderLimits,
    DefaultBinder,
    DefaultPreemption,
    DynamicResources,
    EBSLimits,
    EqualPriority,
    /// The pseudo plugin under which all extenders are listed.
    Extender,
    GCEPDLimits,
    GangScheduling,
    GeneralPredicates,
    HostName,
    ImageLocality,
    ImageLocalityPriority,
    InterPodAffinity,
    InterPodAffinityPriority,
    LeastRequestedPriority,
    MatchInterPodAffinity,
    MatchNodeSelector,
    MaxAzureDiskVolumeCount,
    MaxCSIVolumeCountPred,
    MaxEBSVolumeCount,
    MaxGCEPDVolumeCount,
    MostRequestedPriority,
    NoDiskConflict,
    NoVolumeZoneConflict,
    NodeAffinity,
    NodeAffinityPriority,
    NodeDeclaredFeatures,
    NodeLabel,
    NodeLabelPriority,
    NodeName,
    NodePorts,
    NodePreferAvoidPods,
    NodePreferAvoidPodsPriority,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    NodeResourcesLeastAllocated,
    NodeResourcesMostAllocated,
    NodeUnschedulable,
    NodeVolumeLimits,
    PodFitsHostPorts,
    PodFitsResources,
    PodGroupPodsCount,
    PodToleratesNodeNoExecuteTaints,
    PodToleratesNodeTaints,
    PodTopologySpread,
    /// Preemption of the releases before PostFilter plugins. It is neither a predicate nor a priority.
    Preempt,
    PrioritySort,
    RequestedToCapacityRatio,
    RequestedToCapacityRatioPriority,
    SchedulingGates,
    SelectorSpread,
    SelectorSpreadPriority,
    ServiceAffinity,
    ServiceAntiAffinityPriority,
    ServiceSpreadingPriority,
    TaintToleration,
    TaintTolerationPriority,
    TopologyPlacementGenerator,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
}

impl PluginName {
    /// Returns the name as kube-scheduler spells it.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns whether it evicts pods of lower priority.
    pub fn preempts(self) -> bool {
        matches!(self, Self::DefaultPreemption | Self::Preempt)
    }

    /// Returns whether it compares requests with what nodes have left.
    pub fn compares_requests(self) -> bool {
        matches!(self, Self::NodeResourcesFit | Self::GeneralPredicates | Self::PodFitsResources)
    }
}

/// A set of plugins, with room for 127 names.
// Two 64-bit words keep the alignment of containing types at one word; a `u128` would raise it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginSet([u64; 2]);

impl PluginSet {
    /// A non-empty set without a named plugin. kube-scheduler records it as the rejector of a pod that was deleted
    /// while waiting on Permit: the pod counts as rejected, but no plugin is named.
    pub const NAMELESS: Self = Self::of(1 << 127);

    const fn of(bits: u128) -> Self {
        Self([bits as u64, (bits >> 64) as u64])
    }

    const fn bits(self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }

    /// Adds a plugin.
    pub fn insert(&mut self, plugin: PluginName) {
        *self = Self::of(self.bits() | 1 << plugin as u32);
    }

    /// Returns whether the plugin is in the set.
    pub fn contains(self, plugin: PluginName) -> bool {
        self.bits() & (1 << plugin as u32) != 0
    }

    /// Returns the union of both sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self::of(self.bits() | other.bits())
    }

    /// Whether the set has no members.
    pub fn is_empty(self) -> bool {
        self.bits() == 0
    }

    /// Returns the members in order of name.
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

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;

    #[test]
    fn names_are_ordered_as_text_and_leave_room_for_the_nameless() {
        let names: Vec<&str> = PluginName::iter().map(PluginName::as_str).collect();
        assert!(names.is_sorted() && names.len() < 127, "{names:?}");
    }

    #[test]
    fn a_set_has_what_was_put_into_it() {
        let mut all = PluginSet::default();
        for plugin in PluginName::iter() {
            assert!(!all.contains(plugin));
            all.insert(plugin);
        }
        assert!(all.iter().eq(PluginName::iter()));
        let one: PluginSet = [PluginName::VolumeZone].into_iter().collect();
        assert_eq!(one.union(PluginSet::default()).iter().collect::<Vec<_>>(), [PluginName::VolumeZone]);
        assert_eq!(serde_json::from_str::<PluginSet>(&serde_json::to_string(&all).unwrap()).unwrap(), all);
    }

    #[test]
    fn the_nameless_set_is_not_empty_and_has_no_plugin() {
        assert!(!PluginSet::NAMELESS.is_empty() && PluginSet::default().is_empty());
        assert_eq!(PluginSet::NAMELESS.iter().count(), 0);
        let with = PluginSet::NAMELESS.union([PluginName::NodeName].into_iter().collect());
        assert_eq!(with.iter().collect::<Vec<_>>(), [PluginName::NodeName]);
    }
}
