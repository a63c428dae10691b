//! The in-tree plugins by name, with the releases that have them; mirrors
//! `pkg/scheduler/framework/plugins/registry.go`.
//!
//! A new plugin is its own file, a variant of [`PluginName`] and a row here.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::default_binder::DefaultBinder;
use super::default_preemption::{DefaultPreemption, DefaultPreemptionArgs};
use super::dynamic_resources::{DisabledDynamicResources, DynamicResources, DynamicResourcesArgs};
use super::gang_scheduling::GangScheduling;
use super::image_locality::ImageLocality;
use super::inter_pod_affinity::{InterPodAffinity, InterPodAffinityArgs};
use super::legacy::{
    CheckNodeCondition, CheckNodeLabelPresence, CheckNodePressure, CheckNodeUnschedulable, CheckServiceAffinity, CheckServiceAffinityArgs,
    EqualPriority, General, GeneralPart, ImageLocalityPriority, InterPodAffinityPriority, InterPodAffinityPriorityArgs, LabelPresence,
    MatchInterPodAffinity, MaxVolumeCount, NoDiskConflict, NoVolumeZoneConflict, NodeAffinityPriority, NodeLabelPriority,
    NodeLabelPriorityArgs, NodePreferAvoidPodsPriority, Preempt, RequestedToCapacityRatioArgs, ResourcePriority, SelectorSpreadPriority,
    ServiceAntiAffinityPriority, ServiceAntiAffinityPriorityArgs, TaintTolerationPriority, ToleratesTaints,
};
use super::node_affinity::{NodeAffinity, NodeAffinityArgs};
use super::node_declared_features::NodeDeclaredFeatures;
use super::node_label::{NodeLabel, NodeLabelArgs};
use super::node_name::NodeName;
use super::node_ports::NodePorts;
use super::node_prefer_avoid_pods::NodePreferAvoidPods;
use super::node_resources::{
    NodeResourcesBalancedAllocation, NodeResourcesBalancedAllocationArgs, NodeResourcesFit, NodeResourcesFitArgs, SingleFormula,
    SingleFormulaArgs,
};
use super::node_unschedulable::NodeUnschedulable;
use super::node_volume_limits::{InTreeVolumeLimits, NodeVolumeLimits};
use super::pod_group_pods_count::PodGroupPodsCount;
use super::pod_topology_spread::{PodTopologySpread, PodTopologySpreadArgs};
use super::priority_sort::PrioritySort;
use super::scheduling_gates::SchedulingGates;
use super::selector_spread::SelectorSpread;
use super::service_affinity::{ServiceAffinity, ServiceAffinityArgs};
use super::taint_toleration::TaintToleration;
use super::topology_placement_generator::TopologyPlacementGenerator;
use super::volume_binding::{CheckVolumeBinding, VolumeBinding, VolumeBindingArgs};
use super::volume_restrictions::VolumeRestrictions;
use super::volume_zone::VolumeZone;
use crate::framework::{FieldErrors, Plugin, PluginName};
use crate::release::{Emulation, Lifetime};

/// A plugin in a range of releases.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub name: PluginName,
    /// The releases in which `make` applies.
    pub releases: Lifetime,
    /// The constructor.
    pub make: Make,
}

/// The constructor of a plugin.
#[derive(Clone, Copy, Debug)]
pub enum Make {
    /// Makes the plugin from its arguments, which must be valid in kube-scheduler. Error paths are relative to them.
    Plugin(Factory),
    /// The plugin is not emulated; lists its extension points.
    NotEmulated(&'static [&'static str]),
}

/// Makes a plugin from its arguments; `None` if the configuration gives none.
pub type Factory = fn(Option<&Value>, Emulation) -> Result<Arc<dyn Plugin>, FieldErrors>;

/// Releases with the scheduling framework.
const FRAMEWORK: Lifetime = Lifetime::since(18);

/// Releases with the plugins of single predicates and priorities, and of later strategies of NodeResourcesFit.
const BEFORE_STRATEGIES: Lifetime = Lifetime::since(18).until(23);

/// Releases before the scheduling framework.
const PREDICATES: Lifetime = Lifetime::since(0).until(18);

/// Releases that count volumes of in-tree plugins; CSI drivers serve all of them afterwards.
const IN_TREE_LIMITS: Lifetime = Lifetime::since(18).until(32);

/// Every plugin, by name. Rows of the same name cover different releases.
static ROWS: &[Row] = &[
    row(PluginName::AzureDiskLimits, IN_TREE_LIMITS, |_, _| Ok(Arc::new(InTreeVolumeLimits::AZURE_DISK))),
    row(PluginName::BalancedResourceAllocation, PREDICATES, |_, _| Ok(Arc::new(ResourcePriority::Balanced))),
    row(PluginName::CheckNodeCondition, PREDICATES, |_, _| Ok(Arc::new(CheckNodeCondition))),
    row(PluginName::CheckNodeDiskPressure, PREDICATES, |_, _| Ok(Arc::new(CheckNodePressure::Disk))),
    row(PluginName::CheckNodeLabelPresence, PREDICATES, |args, _| {
        Ok(Arc::new(CheckNodeLabelPresence::new(read(args, |_: &LabelPresence| Ok(()))?)))
    }),
    row(PluginName::CheckNodeMemoryPressure, PREDICATES, |_, _| Ok(Arc::new(CheckNodePressure::Memory))),
    row(PluginName::CheckNodePIDPressure, PREDICATES, |_, _| Ok(Arc::new(CheckNodePressure::Pid))),
    row(PluginName::CheckNodeUnschedulable, PREDICATES, |_, _| Ok(Arc::new(CheckNodeUnschedulable))),
    row(PluginName::CheckServiceAffinity, PREDICATES, |args, _| {
        Ok(Arc::new(CheckServiceAffinity::new(read(args, |_: &CheckServiceAffinityArgs| Ok(()))?)))
    }),
    row(PluginName::CheckVolumeBinding, PREDICATES, |_, _| Ok(Arc::new(CheckVolumeBinding::default()))),
    row(PluginName::CinderLimits, IN_TREE_LIMITS, |_, _| Ok(Arc::new(InTreeVolumeLimits::CINDER))),
    row(PluginName::DefaultBinder, FRAMEWORK, |_, _| Ok(Arc::new(DefaultBinder))),
    row(PluginName::DefaultPreemption, FRAMEWORK, |args, _| {
        Ok(Arc::new(DefaultPreemption::new(read(args, DefaultPreemptionArgs::validate)?)))
    }),
    row(PluginName::DynamicResources, Lifetime::since(26).until(34), |_, _| Ok(Arc::new(DisabledDynamicResources))),
    row(PluginName::DynamicResources, Lifetime::since(34), |args, emulation| {
        let args = read(args, |a: &DynamicResourcesArgs| a.validate(emulation))?;
        Ok(Arc::new(DynamicResources::new(args, emulation.behaviour().devices.nodes_scored)))
    }),
    row(PluginName::EBSLimits, IN_TREE_LIMITS, |_, _| Ok(Arc::new(InTreeVolumeLimits::EBS))),
    row(PluginName::EqualPriority, PREDICATES, |_, _| Ok(Arc::new(EqualPriority))),
    row(PluginName::GCEPDLimits, IN_TREE_LIMITS, |_, _| Ok(Arc::new(InTreeVolumeLimits::GCE_PD))),
    // The API of pod groups was another one.
    not_emulated(PluginName::GangScheduling, Lifetime::since(35).until(36), &["preEnqueue", "permit"]),
    row(PluginName::GangScheduling, Lifetime::since(36), |_, _| Ok(Arc::new(GangScheduling))),
    row(PluginName::GeneralPredicates, PREDICATES, |_, _| Ok(Arc::new(General(None)))),
    row(PluginName::HostName, PREDICATES, |_, _| Ok(Arc::new(General(Some(GeneralPart::HostName))))),
    row(PluginName::ImageLocality, FRAMEWORK, |_, _| Ok(Arc::new(ImageLocality))),
    row(PluginName::ImageLocalityPriority, PREDICATES, |_, _| Ok(Arc::new(ImageLocalityPriority))),
    row(PluginName::InterPodAffinity, FRAMEWORK, |args, _| {
        Ok(Arc::new(InterPodAffinity::new(read(args, InterPodAffinityArgs::validate)?)))
    }),
    row(PluginName::InterPodAffinityPriority, PREDICATES, |args, _| {
        Ok(Arc::new(InterPodAffinityPriority::new(read(args, InterPodAffinityPriorityArgs::validate)?)))
    }),
    row(PluginName::LeastRequestedPriority, PREDICATES, |_, _| Ok(Arc::new(ResourcePriority::LeastRequested))),
    row(PluginName::MatchInterPodAffinity, PREDICATES, |_, _| Ok(Arc::new(MatchInterPodAffinity))),
    row(PluginName::MatchNodeSelector, PREDICATES, |_, _| Ok(Arc::new(General(Some(GeneralPart::NodeSelector))))),
    row(PluginName::MaxAzureDiskVolumeCount, PREDICATES, |_, _| Ok(Arc::new(MaxVolumeCount::AzureDisk))),
    row(PluginName::MaxCSIVolumeCountPred, Lifetime::since(12).until(18), |_, _| Ok(Arc::new(MaxVolumeCount::Csi))),
    row(PluginName::MaxEBSVolumeCount, PREDICATES, |_, _| Ok(Arc::new(MaxVolumeCount::Ebs))),
    row(PluginName::MaxGCEPDVolumeCount, PREDICATES, |_, _| Ok(Arc::new(MaxVolumeCount::GcePd))),
    row(PluginName::MostRequestedPriority, PREDICATES, |_, _| Ok(Arc::new(ResourcePriority::MostRequested))),
    row(PluginName::NoDiskConflict, PREDICATES, |_, _| Ok(Arc::new(NoDiskConflict))),
    row(PluginName::NoVolumeZoneConflict, PREDICATES, |_, _| Ok(Arc::new(NoVolumeZoneConflict))),
    row(PluginName::NodeAffinity, FRAMEWORK, |args, _| Ok(Arc::new(NodeAffinity::new(read(args, NodeAffinityArgs::validate)?)))),
    row(PluginName::NodeAffinityPriority, PREDICATES, |_, _| Ok(Arc::new(NodeAffinityPriority))),
    row(PluginName::NodeDeclaredFeatures, Lifetime::since(35), |_, _| Ok(Arc::new(NodeDeclaredFeatures))),
    row(PluginName::NodeLabel, BEFORE_STRATEGIES, |args, _| Ok(Arc::new(NodeLabel::new(read(args, NodeLabelArgs::validate)?)))),
    row(PluginName::NodeLabelPriority, PREDICATES, |args, _| {
        Ok(Arc::new(NodeLabelPriority::new(read(args, |_: &NodeLabelPriorityArgs| Ok(()))?)))
    }),
    row(PluginName::NodeName, FRAMEWORK, |_, _| Ok(Arc::new(NodeName))),
    row(PluginName::NodePorts, FRAMEWORK, |_, _| Ok(Arc::new(NodePorts))),
    row(PluginName::NodePreferAvoidPods, BEFORE_STRATEGIES, |_, _| Ok(Arc::new(NodePreferAvoidPods))),
    row(PluginName::NodePreferAvoidPodsPriority, PREDICATES, |_, _| Ok(Arc::new(NodePreferAvoidPodsPriority))),
    row(PluginName::NodeResourcesBalancedAllocation, FRAMEWORK, |args, emulation| {
        let args = read(args, NodeResourcesBalancedAllocationArgs::validate)?;
        Ok(Arc::new(NodeResourcesBalancedAllocation::new(args, &emulation.behaviour().resources)))
    }),
    row(PluginName::NodeResourcesFit, FRAMEWORK, |args, emulation| {
        Ok(Arc::new(NodeResourcesFit::new(read(args, NodeResourcesFitArgs::validate)?, &emulation.behaviour().resources)))
    }),
    row(PluginName::NodeResourcesLeastAllocated, BEFORE_STRATEGIES, |args, emulation| {
        Ok(Arc::new(SingleFormula::least_allocated(&read(args, SingleFormulaArgs::validate)?, &emulation.behaviour().resources)))
    }),
    row(PluginName::NodeResourcesMostAllocated, BEFORE_STRATEGIES, |args, emulation| {
        Ok(Arc::new(SingleFormula::most_allocated(&read(args, SingleFormulaArgs::validate)?, &emulation.behaviour().resources)))
    }),
    row(PluginName::NodeUnschedulable, FRAMEWORK, |_, _| Ok(Arc::new(NodeUnschedulable))),
    row(PluginName::NodeVolumeLimits, FRAMEWORK, |_, _| Ok(Arc::new(NodeVolumeLimits))),
    row(PluginName::PodFitsHostPorts, PREDICATES, |_, _| Ok(Arc::new(General(Some(GeneralPart::HostPorts))))),
    row(PluginName::PodFitsResources, PREDICATES, |_, _| Ok(Arc::new(General(Some(GeneralPart::Resources))))),
    row(PluginName::PodGroupPodsCount, Lifetime::since(36), |_, _| Ok(Arc::new(PodGroupPodsCount))),
    row(PluginName::PodToleratesNodeNoExecuteTaints, PREDICATES, |_, _| Ok(Arc::new(ToleratesTaints::NoExecute))),
    row(PluginName::PodToleratesNodeTaints, PREDICATES, |_, _| Ok(Arc::new(ToleratesTaints::All))),
    row(PluginName::PodTopologySpread, FRAMEWORK, |args, _| {
        Ok(Arc::new(PodTopologySpread::new(read(args, PodTopologySpreadArgs::validate)?)))
    }),
    row(PluginName::Preempt, PREDICATES, |_, _| Ok(Arc::new(Preempt))),
    row(PluginName::PrioritySort, FRAMEWORK, |_, _| Ok(Arc::new(PrioritySort))),
    row(PluginName::RequestedToCapacityRatio, BEFORE_STRATEGIES, |args, emulation| {
        Ok(Arc::new(SingleFormula::requested_to_capacity_ratio(
            &read(args, SingleFormulaArgs::validate_ratio)?,
            &emulation.behaviour().resources,
        )))
    }),
    row(PluginName::RequestedToCapacityRatioPriority, Lifetime::since(12).until(18), |args, _| {
        let args: RequestedToCapacityRatioArgs = read(args, RequestedToCapacityRatioArgs::validate)?;
        Ok(Arc::new(ResourcePriority::RequestedToCapacityRatio(args.points())))
    }),
    row(PluginName::SchedulingGates, Lifetime::since(26), |_, _| Ok(Arc::new(SchedulingGates))),
    row(PluginName::SelectorSpread, Lifetime::since(18).until(29), |_, _| Ok(Arc::new(SelectorSpread))),
    row(PluginName::SelectorSpreadPriority, PREDICATES, |_, _| Ok(Arc::new(SelectorSpreadPriority::All))),
    row(PluginName::ServiceAffinity, BEFORE_STRATEGIES, |args, _| {
        Ok(Arc::new(ServiceAffinity::new(read(args, |_: &ServiceAffinityArgs| Ok(()))?)))
    }),
    row(PluginName::ServiceAntiAffinityPriority, PREDICATES, |args, _| {
        Ok(Arc::new(ServiceAntiAffinityPriority::new(read(args, |_: &ServiceAntiAffinityPriorityArgs| Ok(()))?)))
    }),
    row(PluginName::ServiceSpreadingPriority, PREDICATES, |_, _| Ok(Arc::new(SelectorSpreadPriority::Services))),
    row(PluginName::TaintToleration, FRAMEWORK, |_, _| Ok(Arc::new(TaintToleration))),
    row(PluginName::TaintTolerationPriority, PREDICATES, |_, _| Ok(Arc::new(TaintTolerationPriority))),
    row(PluginName::TopologyPlacementGenerator, Lifetime::since(36), |_, _| Ok(Arc::new(TopologyPlacementGenerator))),
    row(PluginName::VolumeBinding, FRAMEWORK, |args, emulation| {
        Ok(Arc::new(VolumeBinding::new(read(args, |a: &VolumeBindingArgs| a.validate(emulation))?)))
    }),
    row(PluginName::VolumeRestrictions, FRAMEWORK, |_, _| Ok(Arc::new(VolumeRestrictions))),
    row(PluginName::VolumeZone, FRAMEWORK, |_, _| Ok(Arc::new(VolumeZone))),
];

/// Extension points that plugins implement only in later releases than those that have them.
static LATER_POINTS: &[(PluginName, &str, Lifetime)] = &[
    (PluginName::AzureDiskLimits, "preFilter", Lifetime::since(28)),
    (PluginName::CinderLimits, "preFilter", Lifetime::since(28)),
    (PluginName::DefaultPreemption, "preEnqueue", Lifetime::since(32)),
    (PluginName::DynamicResources, "score", Lifetime::since(35)),
    (PluginName::EBSLimits, "preFilter", Lifetime::since(28)),
    (PluginName::GCEPDLimits, "preFilter", Lifetime::since(28)),
    (PluginName::NodeAffinity, "preFilter", Lifetime::since(21)),
    (PluginName::NodeAffinity, "preScore", Lifetime::since(21)),
    (PluginName::NodeResourcesBalancedAllocation, "preScore", Lifetime::since(27)),
    (PluginName::NodeResourcesFit, "preScore", Lifetime::since(27)),
    (PluginName::NodeResourcesFit, "score", Lifetime::since(22)),
    (PluginName::NodeVolumeLimits, "preFilter", Lifetime::since(28)),
    (PluginName::VolumeBinding, "preScore", Lifetime::since(30)),
    (PluginName::VolumeBinding, "score", Lifetime::since(21)),
    (PluginName::VolumeRestrictions, "preFilter", Lifetime::since(22)),
    (PluginName::VolumeZone, "preFilter", Lifetime::since(27)),
];

/// Whether the plugin of a release may implement an extension point, named as in configurations.
pub fn may_extend(plugin: PluginName, point: &str, emulation: Emulation) -> bool {
    let later = LATER_POINTS.iter().find(|(name, later, _)| (*name, *later) == (plugin, point));
    later.is_none_or(|(_, _, releases)| releases.contains(emulation.release()))
}

const fn row(name: PluginName, releases: Lifetime, make: Factory) -> Row {
    Row { name, releases, make: Make::Plugin(make) }
}

const fn not_emulated(name: PluginName, releases: Lifetime, points: &'static [&'static str]) -> Row {
    Row { name, releases, make: Make::NotEmulated(points) }
}

/// Returns the plugin that a release has under a name; `None` if the name is not one of its plugins.
pub fn find(name: &str, emulation: Emulation) -> Option<&'static Row> {
    let name: PluginName = name.parse().ok()?;
    let is_there = |row: &&Row| row.releases.contains(emulation.release());
    ROWS.iter().filter(|row| row.name == name).find(is_there)
}

/// Parses arguments and rejects those that kube-scheduler does not start with.
fn read<T: DeserializeOwned + Default>(
    args: Option<&Value>,
    validate: impl FnOnce(&T) -> Result<(), FieldErrors>,
) -> Result<T, FieldErrors> {
    let unreadable = |error: serde_json::Error| {
        let mut errors = FieldErrors::default();
        errors.add("", error.to_string());
        errors
    };
    let args = args.map_or_else(|| Ok(T::default()), |value| T::deserialize(value).map_err(unreadable))?;
    validate(&args).map(|()| args)
}

#[cfg(test)]
mod tests;
