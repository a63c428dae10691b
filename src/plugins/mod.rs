//! The in-tree plugins, one file or folder each, named as upstream names them.

pub mod default_binder;
pub mod default_preemption;
pub mod dynamic_resources;
pub mod helper;
pub mod image_locality;
pub mod inter_pod_affinity;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_name;
pub mod node_ports;
pub mod node_resources;
pub mod node_unschedulable;
pub mod node_volume_limits;
pub mod pod_topology_spread;
pub mod priority_sort;
pub mod scheduling_gates;
pub mod taint_toleration;
pub mod volume_binding;
pub mod volume_helpers;
pub mod volume_restrictions;
pub mod volume_zone;

use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::framework::{FieldErrors, Plugin};
use crate::release::Emulation;

/// Makes a plugin by name with its arguments from a configuration, which must be such as kube-scheduler would start
/// with; `None` for a name that is not known here. Errors have paths relative to the arguments.
///
/// Mirrors `pkg/scheduler/framework/plugins/registry.go`.
pub fn new_plugin(name: &str, args: Option<&serde_json::Value>, emulation: Emulation) -> Result<Option<Arc<dyn Plugin>>, FieldErrors> {
    Ok(Some(match name {
        "DefaultBinder" => Arc::new(default_binder::DefaultBinder),
        "DefaultPreemption" => {
            Arc::new(default_preemption::DefaultPreemption::new(read(args, default_preemption::DefaultPreemptionArgs::validate)?))
        }
        "DynamicResources" => {
            Arc::new(dynamic_resources::DynamicResources::new(read(args, |a: &dynamic_resources::DynamicResourcesArgs| {
                a.validate(emulation)
            })?))
        }
        "ImageLocality" => Arc::new(image_locality::ImageLocality),
        "InterPodAffinity" => {
            Arc::new(inter_pod_affinity::InterPodAffinity::new(read(args, inter_pod_affinity::InterPodAffinityArgs::validate)?))
        }
        "NodeAffinity" => Arc::new(node_affinity::NodeAffinity::new(read(args, node_affinity::NodeAffinityArgs::validate)?)),
        "NodeDeclaredFeatures" => Arc::new(node_declared_features::NodeDeclaredFeatures),
        "NodeName" => Arc::new(node_name::NodeName),
        "NodePorts" => Arc::new(node_ports::NodePorts),
        "NodeResourcesBalancedAllocation" => {
            let args = read(args, node_resources::NodeResourcesBalancedAllocationArgs::validate)?;
            Arc::new(node_resources::NodeResourcesBalancedAllocation::new(args))
        }
        "NodeResourcesFit" => Arc::new(node_resources::NodeResourcesFit::new(read(args, node_resources::NodeResourcesFitArgs::validate)?)),
        "NodeUnschedulable" => Arc::new(node_unschedulable::NodeUnschedulable),
        "NodeVolumeLimits" => Arc::new(node_volume_limits::NodeVolumeLimits),
        "PodTopologySpread" => {
            Arc::new(pod_topology_spread::PodTopologySpread::new(read(args, pod_topology_spread::PodTopologySpreadArgs::validate)?))
        }
        "PrioritySort" => Arc::new(priority_sort::PrioritySort),
        "SchedulingGates" => Arc::new(scheduling_gates::SchedulingGates),
        "TaintToleration" => Arc::new(taint_toleration::TaintToleration),
        "VolumeBinding" => {
            Arc::new(volume_binding::VolumeBinding::new(read(args, |a: &volume_binding::VolumeBindingArgs| a.validate(emulation))?))
        }
        "VolumeRestrictions" => Arc::new(volume_restrictions::VolumeRestrictions),
        "VolumeZone" => Arc::new(volume_zone::VolumeZone),
        _ => return Ok(None),
    }))
}

/// Reads arguments and refuses those that kube-scheduler would not start with.
fn read<T: DeserializeOwned + Default>(
    args: Option<&serde_json::Value>,
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
