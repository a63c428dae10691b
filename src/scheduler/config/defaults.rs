//! Completes a configuration with the defaults of a release; mirrors
//! `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`. The defaults of plugin arguments are with their types,
//! except where they depend on the release.

use serde_json::{Map, Value};

use super::file::{ConfigFile, Plugin, PluginConfig, PluginSet, Profile};
use crate::framework::PluginName;
use crate::release::{DefaultArgument, Emulation, Gate};

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
        // With several profiles each must have its own name.
        if let [only] = &mut self.profiles[..] {
            only.scheduler_name.get_or_insert_with(|| "default-scheduler".into());
        }
        let defaults = if self.is_policy { Vec::new() } else { default_sets(&self.api_version, emulation) };
        let names_all_points = defaults.iter().any(|(point, _)| *point != "multiPoint");
        let appends = !release.merges_config(&self.api_version);
        for profile in &mut self.profiles {
            if names_all_points {
                // The field exists, and nothing reads it.
                profile.plugins.set("multiPoint", PluginSet::default());
            }
            for (point, enabled) in &defaults {
                let defaults = PluginSet { enabled: enabled.clone(), disabled: Vec::new() };
                let custom = profile.plugins.at(point).clone();
                let merged = if appends { append(defaults, custom) } else { merge(defaults, custom) };
                profile.plugins.set(point, merged);
            }
            if release.lists_own_constraints(&self.api_version) {
                name_defaulting(&mut profile.plugin_config, emulation);
            }
            // Other plugins have arguments, too; extenders may change these.
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

/// The default plugins with their weights, by the extension point that they are listed at, in order.
fn default_sets(api_version: &str, emulation: Emulation) -> Vec<(&'static str, Vec<Plugin>)> {
    let mut sets: Vec<(&'static str, Vec<Plugin>)> = Vec::new();
    for (point, plugin) in emulation.profile().plugins(api_version, |gate| emulation.enabled(gate)) {
        let plugin = Plugin { name: plugin.name.into(), weight: plugin.weight };
        match sets.last_mut() {
            Some((last, plugins)) if *last == point => plugins.push(plugin),
            _ => sets.push((point, vec![plugin])),
        }
    }
    sets
}

/// Sets whose default constraints PodTopologySpread uses, if its arguments leave it open; mirrors
/// `SetDefaults_PodTopologySpreadArgs` of v1beta1.
fn name_defaulting(configs: &mut Vec<PluginConfig>, emulation: Emulation) {
    let name = PluginName::PodTopologySpread.as_str();
    let at = configs.iter().position(|c| c.name == name).unwrap_or_else(|| {
        configs.push(PluginConfig { name: name.to_owned(), args: None });
        configs.len() - 1
    });
    let Value::Object(args) = configs[at].args.get_or_insert_with(|| Value::Object(Map::new())) else { return };
    let lists = args.get("defaultConstraints").and_then(Value::as_array).is_some_and(|c| !c.is_empty());
    let is_open = args.get("defaultingType").and_then(Value::as_str).unwrap_or_default().is_empty();
    if is_open {
        let system = !lists && emulation.enabled(Gate::DefaultPodTopologySpread);
        args.insert("defaultingType".to_owned(), if system { "System" } else { "List" }.into());
    }
}

/// Mirrors `mergePluginSet` of v1beta1: a plugin that is enabled twice stays so, and validation finds it.
fn append(defaults: PluginSet, custom: PluginSet) -> PluginSet {
    let mut enabled = defaults.enabled;
    enabled.retain(|p| !custom.disables("*") && !custom.disables(&p.name));
    enabled.extend(custom.enabled);
    PluginSet { enabled, disabled: Vec::new() }
}

/// Sets an argument's default if the plugin's arguments lack it.
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
            // Of several entries with one name the last one counts, as in a Go map.
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
