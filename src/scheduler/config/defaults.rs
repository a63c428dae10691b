//! What a configuration does not say; mirrors `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`. The
//! defaults of plugin arguments stand beside their types.

use super::file::{ConfigFile, Plugin, PluginConfig, PluginSet, Profile};
use crate::release::{Emulation, Gate};

impl ConfigFile {
    /// Completes the profiles.
    pub(super) fn set_defaults(&mut self, emulation: Emulation) {
        if self.profiles.is_empty() {
            self.profiles.push(Profile::default());
        }
        // With several profiles each must have a name of its own.
        if let [only] = &mut self.profiles[..] {
            only.scheduler_name.get_or_insert_with(|| "default-scheduler".into());
        }
        for profile in &mut self.profiles {
            let defaults = PluginSet { enabled: default_multi_point(emulation), disabled: Vec::new() };
            let merged = merge(defaults, profile.plugins.at("multiPoint").clone());
            profile.plugins.set("multiPoint", merged);
            // Others have arguments, too; these may be changed by extenders.
            let name = "NodeResourcesFit";
            if profile.plugins.enables(name) && !profile.plugin_config.iter().any(|c| c.name == name) {
                profile.plugin_config.push(PluginConfig { name: name.to_owned(), args: None });
            }
        }
    }

    /// `podInitialBackoffSeconds` and `podMaxBackoffSeconds`.
    pub(super) fn backoff_seconds(&self) -> (i64, i64) {
        (self.pod_initial_backoff_seconds.unwrap_or(1), self.pod_max_backoff_seconds.unwrap_or(10))
    }
}

/// The default multiPoint list with its weights, in order.
fn default_multi_point(emulation: Emulation) -> Vec<Plugin> {
    let list = [
        ("SchedulingGates", 0),
        ("PrioritySort", 0),
        ("NodeUnschedulable", 0),
        ("NodeName", 0),
        ("TaintToleration", 3),
        ("NodeAffinity", 2),
        ("NodePorts", 0),
        ("NodeResourcesFit", 1),
        ("VolumeRestrictions", 0),
        ("NodeVolumeLimits", 0),
        ("VolumeBinding", 0),
        ("VolumeZone", 0),
        ("PodTopologySpread", 2),
        ("InterPodAffinity", 2),
        ("DynamicResources", 2),
        ("DefaultPreemption", 0),
        ("NodeResourcesBalancedAllocation", 1),
        ("ImageLocality", 1),
        ("DefaultBinder", 0),
    ];
    let gated = emulation.enabled(Gate::NodeDeclaredFeatures).then_some(("NodeDeclaredFeatures", 0));
    list.into_iter().chain(gated).map(|(name, weight)| Plugin { name: name.into(), weight }).collect()
}

/// Mirrors `mergePluginSet`. Without default plugins the set stays as it is.
fn merge(defaults: PluginSet, custom: PluginSet) -> PluginSet {
    let mut replaced = vec![false; custom.enabled.len()];
    let mut enabled = Vec::new();
    if !custom.disables("*") {
        for plugin in defaults.enabled.into_iter().filter(|p| !custom.disables(&p.name)) {
            // Of several entries with one name the last one is meant, as in a Go map.
            match custom.enabled.iter().rposition(|c| c.name == plugin.name) {
                Some(at) => {
                    replaced[at] = true;
                    enabled.push(custom.enabled[at].clone());
                }
                None => enabled.push(plugin),
            }
        }
    }
    enabled.extend(custom.enabled.into_iter().zip(replaced).filter(|(_, replaced)| !replaced).map(|(p, _)| p));
    PluginSet { enabled, disabled: custom.disabled }
}
