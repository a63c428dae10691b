//! The names of the in-tree plugins; mirrors `pkg/scheduler/framework/plugins/names/names.go`. Predicates and
//! priorities mirror `pkg/scheduler/algorithm/{predicates,priorities}` of the releases before the scheduling framework.

use std::sync::OnceLock;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits::engine::OUT_OF_TREE_NAMES;

/// A plugin of kube-scheduler, ordered by its name as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, strum::EnumIter, strum::EnumString, strum::IntoStaticStr)]
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
    // Places for the plugins of embedders; see `PluginName::out_of_tree`.
    OutOfTree1,
    OutOfTree2,
    OutOfTree3,
    OutOfTree4,
    OutOfTree5,
    OutOfTree6,
    OutOfTree7,
    OutOfTree8,
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

const PLACES: [PluginName; OUT_OF_TREE_NAMES] = [
    PluginName::OutOfTree1,
    PluginName::OutOfTree2,
    PluginName::OutOfTree3,
    PluginName::OutOfTree4,
    PluginName::OutOfTree5,
    PluginName::OutOfTree6,
    PluginName::OutOfTree7,
    PluginName::OutOfTree8,
];

/// Names of out-of-tree plugins by place. They are the process's, because a name is a place in sets of plugins.
static OUT_OF_TREE: [OnceLock<&'static str>; OUT_OF_TREE_NAMES] = [const { OnceLock::new() }; OUT_OF_TREE_NAMES];

impl PluginName {
    /// Returns the name as kube-scheduler spells it, or as an embedder registered it.
    pub fn as_str(self) -> &'static str {
        let registered = self.place().and_then(|place| OUT_OF_TREE[place].get());
        registered.copied().unwrap_or_else(|| self.into())
    }

    /// Returns whether it is a place for out-of-tree plugins.
    pub fn is_out_of_tree(self) -> bool {
        self.place().is_some()
    }

    fn place(self) -> Option<usize> {
        PLACES.iter().position(|place| *place == self)
    }

    /// Returns the name of an out-of-tree plugin, always the same one for equal texts. The first call for a text keeps a copy of it
    /// until the process ends; `None` if too many are kept.
    pub fn out_of_tree(name: &str) -> Option<Self> {
        let is_kept = |(_, kept): &(&Self, &OnceLock<&'static str>)| *kept.get_or_init(|| name.to_owned().leak()) == name;
        PLACES.iter().zip(&OUT_OF_TREE).find(is_kept).map(|(place, _)| *place)
    }

    /// Returns the plugin with a name, in-tree or registered.
    fn named(name: &str) -> Option<Self> {
        let registered = || PLACES.iter().zip(&OUT_OF_TREE).find(|(_, kept)| kept.get().is_some_and(|kept| *kept == name));
        name.parse().ok().or_else(|| registered().map(|(place, _)| *place))
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

impl std::fmt::Display for PluginName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

impl Serialize for PluginName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for PluginName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| D::Error::custom(format_args!("unknown plugin {name:?}")))
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
        let names: Vec<&str> = PluginName::iter().map(Into::into).collect();
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
    fn names_of_out_of_tree_plugins_are_kept_up_to_a_limit() {
        let names: Vec<String> = (0..PLACES.len()).map(|i| format!("Kept{i}")).collect();
        // Other tests of the process may have places too.
        let kept: Vec<PluginName> = names.iter().filter_map(|name| PluginName::out_of_tree(name)).collect();
        assert!(kept.len() <= OUT_OF_TREE_NAMES && PluginName::out_of_tree("one too many").is_none());
        for (name, plugin) in names.iter().zip(&kept) {
            assert_eq!((PluginName::out_of_tree(name), plugin.as_str()), (Some(*plugin), name.as_str()));
            assert_eq!(serde_json::from_str::<PluginName>(&serde_json::to_string(plugin).unwrap()).unwrap(), *plugin);
            assert!(plugin.is_out_of_tree() && format!("{plugin}") == *name);
        }
        assert!(serde_json::from_str::<PluginName>("\"NoSuchPlugin\"").is_err());
    }

    #[test]
    fn the_nameless_set_is_not_empty_and_has_no_plugin() {
        assert!(!PluginSet::NAMELESS.is_empty() && PluginSet::default().is_empty());
        assert_eq!(PluginSet::NAMELESS.iter().count(), 0);
        let with = PluginSet::NAMELESS.union([PluginName::NodeName].into_iter().collect());
        assert_eq!(with.iter().collect::<Vec<_>>(), [PluginName::NodeName]);
    }
}
