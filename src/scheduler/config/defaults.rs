//! Completes a configuration with the defaults of a release; mirrors
//! `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`. The defaults of plugin arguments are with their types,
//! except where they depend on the release.

use serde_json::{Map, Value};

use super::file::{ConfigFile, Plugin, PluginConfig, PluginSet, Profile};
use crate::framework::PluginName;
use crate::release::{DefaultArgument, Emulation};

impl ConfigFile {
    /// Completes the profiles.
    pub(super) fn set_defaults(&mut self, emulation: Emulation) {
        let release = emulation.profile();
        if self.api_version.is_empty() {
            release.default_config_api_version().clone_into(&mut self.api_version);
        }
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
            let name = PluginName::NodeResourcesFit.as_str();
            if profile.plugins.enables(name) && !profile.plugin_config.iter().any(|c| c.name == name) {
                profile.plugin_config.push(PluginConfig { name: name.to_owned(), args: None });
            }
            for argument in release.default_arguments.iter().filter(|a| profile.plugins.enables(a.plugin)) {
                complete(&mut profile.plugin_config, argument);
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
    let plugins = emulation.profile().plugins(|gate| emulation.enabled(gate));
    plugins.map(|plugin| Plugin { name: plugin.name.into(), weight: plugin.weight }).collect()
}

/// Gives an argument its default where the plugin's arguments do not have it.
fn complete(configs: &mut Vec<PluginConfig>, argument: &DefaultArgument) {
    let Ok(value) = serde_json::from_str::<Value>(argument.value) else { return };
    let at = configs.iter().position(|c| c.name == argument.plugin).unwrap_or_else(|| {
        configs.push(PluginConfig { name: argument.plugin.to_owned(), args: None });
        configs.len() - 1
    });
    if let Value::Object(args) = configs[at].args.get_or_insert_with(|| Value::Object(Map::new())) {
        args.entry(argument.field).or_insert(value);
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_argument_keeps_what_the_configuration_gives() {
        let argument = DefaultArgument { plugin: "InterPodAffinity", field: "hardPodAffinityWeight", value: "2" };
        let config = |args| PluginConfig { name: argument.plugin.to_owned(), args };
        for (mut configs, expected) in [
            (vec![], json!({"hardPodAffinityWeight": 2})),
            (vec![config(None)], json!({"hardPodAffinityWeight": 2})),
            (vec![config(Some(json!({"hardPodAffinityWeight": 7})))], json!({"hardPodAffinityWeight": 7})),
            (
                vec![config(Some(json!({"ignorePreferredTermsOfExistingPods": true})))],
                json!({"ignorePreferredTermsOfExistingPods": true, "hardPodAffinityWeight": 2}),
            ),
        ] {
            complete(&mut configs, &argument);
            assert_eq!(configs.len(), 1);
            assert_eq!(configs[0].args, Some(expected));
        }
    }
}
