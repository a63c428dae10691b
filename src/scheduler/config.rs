//! KubeSchedulerConfiguration (`kubescheduler.config.k8s.io/v1`) and the profiles it makes.
//!
//! Mirrors `staging/src/k8s.io/kube-scheduler/config/v1/types.go`, the defaults and the merging of plugin sets in
//! `pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go`, and the expansion of multiPoint in
//! `pkg/scheduler/framework/runtime/framework.go`.

use std::collections::HashMap;

use serde::Deserialize;

use super::runtime::{Framework, PluginRef};
use crate::cluster::Str;
use crate::framework::{FeatureGates, Gate};
use crate::plugins;

/// What is wrong with a configuration; names the place in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {message}")]
pub struct ConfigError {
    /// Where, such as `profiles[0].plugins.score.enabled[1]`.
    pub path: String,
    /// What.
    pub message: String,
}

impl ConfigError {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// A configuration ready for use.
#[derive(Clone, Debug)]
pub struct Config {
    /// The profiles, in order.
    pub profiles: Vec<Framework>,
    /// Global `percentageOfNodesToScore`; 0 adapts.
    pub percentage_of_nodes_to_score: i32,
    /// `podInitialBackoffSeconds`.
    pub pod_initial_backoff_seconds: i64,
    /// `podMaxBackoffSeconds`.
    pub pod_max_backoff_seconds: i64,
    /// Feature gates.
    pub gates: FeatureGates,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ConfigFile {
    api_version: String,
    kind: String,
    parallelism: Option<i32>,
    leader_election: Option<serde_json::Value>,
    client_connection: Option<serde_json::Value>,
    enable_profiling: Option<bool>,
    enable_contention_profiling: Option<bool>,
    percentage_of_nodes_to_score: Option<i32>,
    pod_initial_backoff_seconds: Option<i64>,
    pod_max_backoff_seconds: Option<i64>,
    profiles: Vec<ProfileFile>,
    extenders: Vec<serde_json::Value>,
    delay_cache_until_active: bool,
}

impl Default for ConfigFile {
    fn default() -> Self {
        Self {
            api_version: String::new(),
            kind: String::new(),
            parallelism: None,
            leader_election: None,
            client_connection: None,
            enable_profiling: None,
            enable_contention_profiling: None,
            percentage_of_nodes_to_score: None,
            pod_initial_backoff_seconds: None,
            pod_max_backoff_seconds: None,
            profiles: Vec::new(),
            extenders: Vec::new(),
            delay_cache_until_active: false,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct ProfileFile {
    scheduler_name: Option<String>,
    percentage_of_nodes_to_score: Option<i32>,
    plugins: Option<Plugins>,
    plugin_config: Vec<PluginConfig>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Plugins {
    pre_enqueue: PluginSetFile,
    queue_sort: PluginSetFile,
    pre_filter: PluginSetFile,
    filter: PluginSetFile,
    post_filter: PluginSetFile,
    pre_score: PluginSetFile,
    score: PluginSetFile,
    reserve: PluginSetFile,
    permit: PluginSetFile,
    pre_bind: PluginSetFile,
    bind: PluginSetFile,
    post_bind: PluginSetFile,
    placement_generate: PluginSetFile,
    placement_score: PluginSetFile,
    multi_point: PluginSetFile,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct PluginSetFile {
    enabled: Vec<PluginFile>,
    disabled: Vec<PluginFile>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct PluginFile {
    name: String,
    weight: Option<i32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct PluginConfig {
    name: String,
    args: Option<serde_json::Value>,
}

/// The default multiPoint list with its weights, in order.
fn default_multi_point(gates: FeatureGates) -> Vec<PluginFile> {
    let mut list: Vec<(&str, Option<i32>)> = vec![
        ("SchedulingGates", None),
        ("PrioritySort", None),
        ("NodeUnschedulable", None),
        ("NodeName", None),
        ("TaintToleration", Some(3)),
        ("NodeAffinity", Some(2)),
        ("NodePorts", None),
        ("NodeResourcesFit", Some(1)),
        ("VolumeRestrictions", None),
        ("NodeVolumeLimits", None),
        ("VolumeBinding", None),
        ("VolumeZone", None),
        ("PodTopologySpread", Some(2)),
        ("InterPodAffinity", Some(2)),
        ("DynamicResources", Some(2)),
        ("DefaultPreemption", None),
        ("NodeResourcesBalancedAllocation", Some(1)),
        ("ImageLocality", Some(1)),
        ("DefaultBinder", None),
    ];
    if gates.enabled(Gate::NodeDeclaredFeatures) {
        list.push(("NodeDeclaredFeatures", None));
    }
    list.into_iter().map(|(name, weight)| PluginFile { name: name.into(), weight }).collect()
}

impl Config {
    /// The configuration of a kube-scheduler without a configuration file.
    pub fn defaults(gates: FeatureGates) -> Self {
        Self::build(ConfigFile::default(), gates).expect("the default configuration is valid")
    }

    /// Reads a configuration as YAML or JSON.
    pub fn parse(text: &str, gates: FeatureGates) -> Result<Self, ConfigError> {
        let file: ConfigFile = serde_yaml::from_str(text).map_err(|e| ConfigError::new("configuration", e.to_string()))?;
        if file.api_version != "kubescheduler.config.k8s.io/v1" {
            return Err(ConfigError::new("apiVersion", format!("{:?} is not kubescheduler.config.k8s.io/v1", file.api_version)));
        }
        if file.kind != "KubeSchedulerConfiguration" {
            return Err(ConfigError::new("kind", format!("{:?} is not KubeSchedulerConfiguration", file.kind)));
        }
        Self::build(file, gates)
    }

    /// The profile that takes pods of a scheduler name.
    pub fn profile(&self, scheduler_name: &str) -> Option<&Framework> {
        self.profiles.iter().find(|p| p.name == scheduler_name)
    }

    fn build(mut file: ConfigFile, gates: FeatureGates) -> Result<Self, ConfigError> {
        if file.profiles.is_empty() {
            file.profiles.push(ProfileFile::default());
        }
        if let [only] = &mut file.profiles[..] {
            only.scheduler_name.get_or_insert_with(|| "default-scheduler".into());
        }
        let percentage = |path: &str, value: Option<i32>| match value {
            Some(v) if !(0..=100).contains(&v) => Err(ConfigError::new(path, format!("{v} not in valid range [0-100]"))),
            _ => Ok(()),
        };
        percentage("percentageOfNodesToScore", file.percentage_of_nodes_to_score)?;
        let initial = file.pod_initial_backoff_seconds.unwrap_or(1);
        let max = file.pod_max_backoff_seconds.unwrap_or(10);
        if initial <= 0 {
            return Err(ConfigError::new("podInitialBackoffSeconds", "must be greater than 0"));
        }
        if max < initial {
            return Err(ConfigError::new("podMaxBackoffSeconds", "must be greater than or equal to PodInitialBackoffSeconds"));
        }
        if file.parallelism.is_some_and(|p| p <= 0) {
            return Err(ConfigError::new("parallelism", "should be an integer value greater than zero"));
        }
        let mut profiles: Vec<Framework> = Vec::new();
        for (i, profile) in file.profiles.into_iter().enumerate() {
            let path = format!("profiles[{i}]");
            percentage(&format!("{path}.percentageOfNodesToScore"), profile.percentage_of_nodes_to_score)?;
            let framework = build_profile(profile, gates, &path)?;
            if profiles.iter().any(|p| p.name == framework.name) {
                return Err(ConfigError::new(format!("{path}.schedulerName"), format!("Duplicate value: {:?}", framework.name)));
            }
            profiles.push(framework);
        }
        for (i, extender) in file.extenders.iter().enumerate() {
            let url = extender.get("urlPrefix").and_then(|u| u.as_str()).unwrap_or("?");
            for profile in &mut profiles {
                profile.not_emulated.push((format!("extender {url} (extenders[{i}])"), vec!["filter", "prioritize", "preempt", "bind"]));
            }
        }
        Ok(Self {
            profiles,
            percentage_of_nodes_to_score: file.percentage_of_nodes_to_score.unwrap_or(0),
            pod_initial_backoff_seconds: initial,
            pod_max_backoff_seconds: max,
            gates,
        })
    }
}

fn build_profile(file: ProfileFile, gates: FeatureGates, path: &str) -> Result<Framework, ConfigError> {
    let name = file.scheduler_name.unwrap_or_default();
    if name.is_empty() {
        return Err(ConfigError::new(format!("{path}.schedulerName"), "Required value"));
    }
    let mut custom = file.plugins.unwrap_or_default();
    let defaults = PluginSetFile { enabled: default_multi_point(gates), disabled: Vec::new() };
    let multi_point = merge(defaults, std::mem::take(&mut custom.multi_point));

    let mut args: HashMap<String, serde_json::Value> = HashMap::new();
    for (i, config) in file.plugin_config.into_iter().enumerate() {
        if args.insert(config.name.clone(), config.args.unwrap_or(serde_json::Value::Null)).is_some() {
            return Err(ConfigError::new(format!("{path}.pluginConfig[{i}]"), format!("Duplicate value: {:?}", config.name)));
        }
    }

    let mut builder =
        Builder { plugins: HashMap::new(), args, path, framework: Framework { name: Str::from(name), ..Framework::default() } };
    for plugin in &multi_point.enabled {
        builder.plugin(&plugin.name, "multiPoint")?;
    }
    let f = &mut builder;
    f.framework.percentage_of_nodes_to_score = file.percentage_of_nodes_to_score;
    f.framework.pre_enqueue = f.expand("preEnqueue", &custom.pre_enqueue, &multi_point, |p| p.pre_enqueue().is_some())?;
    f.framework.pre_filter = f.expand("preFilter", &custom.pre_filter, &multi_point, |p| p.pre_filter().is_some())?;
    f.framework.filter = f.expand("filter", &custom.filter, &multi_point, |p| p.filter().is_some())?;
    f.framework.post_filter = f.expand("postFilter", &custom.post_filter, &multi_point, |p| p.post_filter().is_some())?;
    f.framework.pre_score = f.expand("preScore", &custom.pre_score, &multi_point, |p| p.pre_score().is_some())?;
    f.framework.reserve = f.expand("reserve", &custom.reserve, &multi_point, |p| p.reserve().is_some())?;
    f.framework.permit = f.expand("permit", &custom.permit, &multi_point, |p| p.permit().is_some())?;
    f.framework.pre_bind = f.expand("preBind", &custom.pre_bind, &multi_point, |p| p.pre_bind().is_some())?;
    let score = f.expand("score", &custom.score, &multi_point, |p| p.score().is_some())?;
    f.framework.score = weights(score, &custom.score, &multi_point);

    let sorts = f.expand("queueSort", &custom.queue_sort, &multi_point, |p| p.sorts_queue())?;
    match sorts.len() {
        1 => {}
        0 => {
            return Err(ConfigError::new(
                format!("{path}.plugins.queueSort"),
                format!("no queue sort plugin is enabled for profile {:?}", f.framework.name),
            ));
        }
        _ => return Err(ConfigError::new(format!("{path}.plugins.queueSort"), "only one queue sort plugin can be enabled")),
    }
    if f.expand("bind", &custom.bind, &multi_point, |p| p.binds())?.is_empty() {
        return Err(ConfigError::new(
            format!("{path}.plugins.bind"),
            format!("at least one bind plugin is needed for profile {:?}", f.framework.name),
        ));
    }
    for (point, set) in
        [("postBind", &custom.post_bind), ("placementGenerate", &custom.placement_generate), ("placementScore", &custom.placement_score)]
    {
        f.expand(point, set, &PluginSetFile::default(), |_| true)?;
    }
    Ok(builder.framework)
}

/// Mirrors `mergePluginSet`.
fn merge(defaults: PluginSetFile, custom: PluginSetFile) -> PluginSetFile {
    let disabled: Vec<PluginFile> = custom.disabled.into_iter().chain(defaults.disabled).collect();
    let is_disabled = |name: &str| disabled.iter().any(|d| d.name == name);
    let mut replaced = vec![false; custom.enabled.len()];
    let mut enabled = Vec::new();
    if !is_disabled("*") {
        for plugin in defaults.enabled.into_iter().filter(|p| !is_disabled(&p.name)) {
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
    PluginSetFile { enabled, disabled }
}

/// An explicit score weight wins over one from multiPoint; none or zero means 1.
fn weights(plugins: Vec<PluginRef>, score: &PluginSetFile, multi_point: &PluginSetFile) -> Vec<(PluginRef, i64)> {
    plugins
        .into_iter()
        .map(|plugin| {
            let name = plugin.name().as_str();
            let entry = score.enabled.iter().chain(&multi_point.enabled).find(|p| p.name == name);
            let weight = entry.and_then(|p| p.weight).filter(|w| *w != 0).unwrap_or(1);
            (plugin, i64::from(weight))
        })
        .collect()
}

struct Builder<'a> {
    plugins: HashMap<String, Option<PluginRef>>,
    args: HashMap<String, serde_json::Value>,
    path: &'a str,
    framework: Framework,
}

impl Builder<'_> {
    /// The plugin of a name, made once; `None` for one that is not known here.
    fn plugin(&mut self, name: &str, point: &'static str) -> Result<Option<PluginRef>, ConfigError> {
        if !self.plugins.contains_key(name) {
            let args = self.args.get(name).filter(|v| !v.is_null());
            let made =
                plugins::new_plugin(name, args).map_err(|e| ConfigError::new(format!("{}.pluginConfig[{name}].args", self.path), e))?;
            if let Some(plugin) = &made {
                self.framework.all.push(plugin.clone());
            }
            self.plugins.insert(name.to_owned(), made);
        }
        let plugin = self.plugins[name].clone();
        if plugin.is_none() {
            match self.framework.not_emulated.iter_mut().find(|(n, _)| n == name) {
                Some((_, points)) if points.contains(&point) => {}
                Some((_, points)) => points.push(point),
                None => self.framework.not_emulated.push((name.to_owned(), vec![point])),
            }
        }
        Ok(plugin)
    }

    /// The plugins of one extension point in the order they run; mirrors `expandMultiPointPlugins`.
    fn expand(
        &mut self,
        point: &'static str,
        set: &PluginSetFile,
        multi_point: &PluginSetFile,
        implements: impl Fn(&PluginRef) -> bool,
    ) -> Result<Vec<PluginRef>, ConfigError> {
        let path = format!("{}.plugins.{point}", self.path);
        let is_disabled = |name: &str| set.disabled.iter().any(|d| d.name == name);
        let explicit: Vec<&str> = set.enabled.iter().map(|p| p.name.as_str()).collect();
        for (i, plugin) in set.enabled.iter().enumerate() {
            if explicit[..i].contains(&plugin.name.as_str()) {
                return Err(ConfigError::new(
                    format!("{path}.enabled[{i}]"),
                    format!("plugin {:?} already registered as {point:?}", plugin.name),
                ));
            }
        }
        let from_multi_point: Vec<&str> = if is_disabled("*") {
            Vec::new()
        } else {
            multi_point.enabled.iter().map(|p| p.name.as_str()).filter(|n| !is_disabled(n)).collect()
        };
        let overrides = |name: &&str| from_multi_point.contains(name);
        let order = (explicit.iter().filter(|n| overrides(n)))
            .chain(from_multi_point.iter().filter(|n| !explicit.contains(n)))
            .chain(explicit.iter().filter(|n| !overrides(n)));
        let mut plugins = Vec::new();
        let mut seen: Vec<&str> = Vec::new();
        for name in order.copied() {
            let in_multi_point = !explicit.contains(&name);
            let Some(plugin) = self.plugin(name, if in_multi_point { "multiPoint" } else { point })? else { continue };
            if !implements(&plugin) {
                if in_multi_point {
                    continue;
                }
                return Err(ConfigError::new(&path, format!("plugin {name:?} does not extend {point} plugin")));
            }
            if seen.contains(&name) {
                return Err(ConfigError::new(&path, format!("plugin {name:?} already registered as {point:?}")));
            }
            seen.push(name);
            plugins.push(plugin);
        }
        Ok(plugins)
    }
}
