//! The in-tree plugins, one file or folder each, with upstream's names.

/// Implements `Plugin::name` and the accessors of a plugin's extension points within its `impl Plugin`:
/// `plugin!(NodeName: filter);`.
macro_rules! plugin {
    ($name:ident $(: $($point:ident),+)?) => {
        fn name(&self) -> $crate::framework::PluginName {
            $crate::framework::PluginName::$name
        }
        $($(plugin!(@ $point);)+)?
    };
    (@ pre_enqueue) => { plugin!(@ pre_enqueue PreEnqueuePlugin); };
    (@ pre_filter) => { plugin!(@ pre_filter PreFilterPlugin); };
    (@ filter) => { plugin!(@ filter FilterPlugin); };
    (@ post_filter) => { plugin!(@ post_filter PostFilterPlugin); };
    (@ pre_score) => { plugin!(@ pre_score PreScorePlugin); };
    (@ score) => { plugin!(@ score ScorePlugin); };
    (@ reserve) => { plugin!(@ reserve ReservePlugin); };
    (@ permit) => { plugin!(@ permit PermitPlugin); };
    (@ pre_bind) => { plugin!(@ pre_bind PreBindPlugin); };
    (@ placement_generate) => { plugin!(@ placement_generate PlacementGeneratePlugin); };
    (@ placement_score) => { plugin!(@ placement_score PlacementScorePlugin); };
    (@ $point:ident $of:ident) => {
        fn $point(&self) -> Option<&dyn $crate::framework::$of> {
            Some(self)
        }
    };
}

mod admission;
pub mod default_binder;
pub mod default_preemption;
pub mod dynamic_resources;
pub mod gang_scheduling;
pub mod helper;
pub mod image_locality;
pub mod inter_pod_affinity;
pub mod legacy;
pub mod node_affinity;
pub mod node_declared_features;
pub mod node_label;
pub mod node_name;
pub mod node_ports;
pub mod node_prefer_avoid_pods;
pub mod node_resources;
pub mod node_unschedulable;
pub mod node_volume_limits;
pub mod pod_group_pods_count;
pub mod pod_topology_spread;
pub mod priority_sort;
pub mod registry;
pub mod scheduling_gates;
pub mod selector_spread;
pub mod service_affinity;
pub mod taint_toleration;
#[cfg(test)]
mod testing;
pub mod topology_placement_generator;
pub mod volume_binding;
pub mod volume_helpers;
pub mod volume_restrictions;
pub mod volume_zone;

pub use admission::admits;
pub(crate) use gang_scheduling::rejection_of_group;
