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
mod parallel;
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

use crate::framework::Plugin;

/// Makes a plugin by name with its arguments from a configuration; `None` for a name that is not known here.
///
/// Mirrors `pkg/scheduler/framework/plugins/registry.go`.
pub fn new_plugin(name: &str, args: Option<&serde_json::Value>) -> Result<Option<Arc<dyn Plugin>>, String> {
    Ok(Some(match name {
        "DefaultBinder" => Arc::new(default_binder::DefaultBinder),
        "DefaultPreemption" => Arc::new(default_preemption::DefaultPreemption::new(read(args)?)),
        "DynamicResources" => Arc::new(dynamic_resources::DynamicResources::new(read(args)?)),
        "ImageLocality" => Arc::new(image_locality::ImageLocality),
        "InterPodAffinity" => Arc::new(inter_pod_affinity::InterPodAffinity::new(read(args)?)),
        "NodeAffinity" => Arc::new(node_affinity::NodeAffinity::new(checked(args, node_affinity::NodeAffinityArgs::validate)?)),
        "NodeDeclaredFeatures" => Arc::new(node_declared_features::NodeDeclaredFeatures),
        "NodeName" => Arc::new(node_name::NodeName),
        "NodePorts" => Arc::new(node_ports::NodePorts),
        "NodeResourcesBalancedAllocation" => {
            let args = checked(args, node_resources::NodeResourcesBalancedAllocationArgs::validate)?;
            Arc::new(node_resources::NodeResourcesBalancedAllocation::new(args))
        }
        "NodeResourcesFit" => {
            Arc::new(node_resources::NodeResourcesFit::new(checked(args, node_resources::NodeResourcesFitArgs::validate)?))
        }
        "NodeUnschedulable" => Arc::new(node_unschedulable::NodeUnschedulable),
        "NodeVolumeLimits" => Arc::new(node_volume_limits::NodeVolumeLimits),
        "PodTopologySpread" => Arc::new(pod_topology_spread::PodTopologySpread::new(read(args)?)),
        "PrioritySort" => Arc::new(priority_sort::PrioritySort),
        "SchedulingGates" => Arc::new(scheduling_gates::SchedulingGates),
        "TaintToleration" => Arc::new(taint_toleration::TaintToleration),
        "VolumeBinding" => Arc::new(volume_binding::VolumeBinding::new(read(args)?)),
        "VolumeRestrictions" => Arc::new(volume_restrictions::VolumeRestrictions),
        "VolumeZone" => Arc::new(volume_zone::VolumeZone),
        _ => return Ok(None),
    }))
}

fn read<T: DeserializeOwned + Default>(args: Option<&serde_json::Value>) -> Result<T, String> {
    args.map_or_else(|| Ok(T::default()), |value| T::deserialize(value).map_err(|e| e.to_string()))
}

/// Reads arguments and refuses those that kube-scheduler would not start with.
fn checked<T: DeserializeOwned + Default>(
    args: Option<&serde_json::Value>,
    validate: impl FnOnce(&T) -> Result<(), String>,
) -> Result<T, String> {
    let args = read(args)?;
    validate(&args).map(|()| args)
}
