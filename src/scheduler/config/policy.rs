//! The Policy API of older releases: predicates and priorities by name, and the plugins that they became; mirrors
//! `pkg/scheduler/framework/plugins/legacy_registry.go`, `createFromConfig` in `pkg/scheduler/factory.go` and
//! `ValidatePolicy` in `pkg/scheduler/apis/config/validation/validation.go`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::fields::{EXTENDER, POLICY};
use super::file::{ConfigFile, Extender, Plugin, PluginConfig, PluginSet, Plugins, Profile};
use super::schema::Schema;
use crate::framework::FieldErrors;
use crate::release::{Emulation, Gate};

/// The kind of a policy file.
pub(super) const KIND: &str = "Policy";
/// The valid apiVersions.
const API_VERSIONS: [&str; 2] = ["v1", "kubescheduler.config.k8s.io/v1"];
/// The key of a ConfigMap that holds a policy.
const CONFIG_MAP_KEY: &str = "policy.cfg";
/// Upper bound of weights, exclusive.
const MAX_WEIGHT: i64 = i64::MAX / 10;

/// Predicates that always run, whatever the file says.
const MANDATORY: [&str; 2] = ["PodToleratesNodeTaints", "CheckNodeUnschedulable"];

/// The predicates of a file without any.
const DEFAULT_PREDICATES: [&str; 12] = [
    "NoVolumeZoneConflict",
    "MaxEBSVolumeCount",
    "MaxGCEPDVolumeCount",
    "MaxAzureDiskVolumeCount",
    "MaxCSIVolumeCountPred",
    "MatchInterPodAffinity",
    "NoDiskConflict",
    "GeneralPredicates",
    "PodToleratesNodeTaints",
    "CheckVolumeBinding",
    "CheckNodeUnschedulable",
    "EvenPodsSpread",
];

/// The priorities of a file without any.
const DEFAULT_PRIORITIES: [(&str, i64); 9] = [
    ("SelectorSpreadPriority", 1),
    ("InterPodAffinityPriority", 1),
    ("LeastRequestedPriority", 1),
    ("BalancedResourceAllocation", 1),
    ("NodePreferAvoidPodsPriority", 10_000),
    ("NodeAffinityPriority", 1),
    ("TaintTolerationPriority", 1),
    ("ImageLocalityPriority", 1),
    ("EvenPodsSpreadPriority", 2),
];

const FIT: &[(&str, &str)] = &[("filter", "NodeResourcesFit"), ("preFilter", "NodeResourcesFit")];
const PORTS: &[(&str, &str)] = &[("filter", "NodePorts"), ("preFilter", "NodePorts")];
const NODE_AFFINITY: &[(&str, &str)] = &[("filter", "NodeAffinity"), ("preFilter", "NodeAffinity")];

/// The predicates in execution order, each with the extension points and plugins that replaced it.
#[allow(clippy::type_complexity, reason = "a table that is read once")]
static PREDICATES: [(&str, &[&[(&str, &str)]]); 19] = [
    ("CheckNodeUnschedulable", &[&[("filter", "NodeUnschedulable")]]),
    ("GeneralPredicates", &[FIT, &[("filter", "NodeName")], PORTS, NODE_AFFINITY]),
    ("HostName", &[&[("filter", "NodeName")]]),
    ("PodFitsHostPorts", &[PORTS]),
    ("MatchNodeSelector", &[NODE_AFFINITY]),
    ("PodFitsResources", &[FIT]),
    ("NoDiskConflict", &[&[("filter", "VolumeRestrictions")]]),
    ("PodToleratesNodeTaints", &[&[("filter", "TaintToleration")]]),
    ("CheckNodeLabelPresence", &[&[("filter", "NodeLabel")]]),
    ("CheckServiceAffinity", &[&[("filter", "ServiceAffinity"), ("preFilter", "ServiceAffinity")]]),
    ("MaxEBSVolumeCount", &[&[("filter", "EBSLimits")]]),
    ("MaxGCEPDVolumeCount", &[&[("filter", "GCEPDLimits")]]),
    ("MaxCSIVolumeCountPred", &[&[("filter", "NodeVolumeLimits")]]),
    ("MaxAzureDiskVolumeCount", &[&[("filter", "AzureDiskLimits")]]),
    ("MaxCinderVolumeCount", &[&[("filter", "CinderLimits")]]),
    (
        "CheckVolumeBinding",
        &[&[("preFilter", "VolumeBinding"), ("filter", "VolumeBinding"), ("reserve", "VolumeBinding"), ("preBind", "VolumeBinding")]],
    ),
    ("NoVolumeZoneConflict", &[&[("filter", "VolumeZone")]]),
    ("EvenPodsSpread", &[&[("preFilter", "PodTopologySpread"), ("filter", "PodTopologySpread")]]),
    ("MatchInterPodAffinity", &[&[("filter", "InterPodAffinity"), ("preFilter", "InterPodAffinity")]]),
];

/// The priorities, each with the plugin that replaced it and whether that plugin has PreScore, too.
static PRIORITIES: [(&str, &str, bool); 13] = [
    ("SelectorSpreadPriority", "PodTopologySpread", true),
    ("TaintTolerationPriority", "TaintToleration", true),
    ("NodeAffinityPriority", "NodeAffinity", true),
    ("ImageLocalityPriority", "ImageLocality", false),
    ("InterPodAffinityPriority", "InterPodAffinity", true),
    ("NodePreferAvoidPodsPriority", "NodePreferAvoidPods", false),
    ("MostRequestedPriority", "NodeResourcesMostAllocated", false),
    ("BalancedResourceAllocation", "NodeResourcesBalancedAllocation", false),
    ("LeastRequestedPriority", "NodeResourcesLeastAllocated", false),
    ("RequestedToCapacityRatio", "RequestedToCapacityRatio", false),
    ("NodeLabel", "NodeLabel", false),
    ("ServiceAffinity", "ServiceAffinity", false),
    ("EvenPodsSpreadPriority", "PodTopologySpread", true),
];

/// The file as written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Policy {
    predicates: Option<Vec<Predicate>>,
    priorities: Option<Vec<Priority>>,
    extenders: Vec<Extender>,
    hard_pod_affinity_symmetric_weight: i32,
    always_check_all_predicates: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Predicate {
    name: String,
    argument: Option<PredicateArgument>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PredicateArgument {
    service_affinity: Option<LabelList>,
    labels_presence: Option<LabelList>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct LabelList {
    labels: Vec<String>,
    presence: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Priority {
    name: String,
    weight: i64,
    argument: Option<PriorityArgument>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PriorityArgument {
    service_anti_affinity: Option<OneLabel>,
    label_preference: Option<OneLabel>,
    requested_to_capacity_ratio_arguments: Option<Map<String, Value>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct OneLabel {
    label: String,
    presence: bool,
}

/// Returns the text of the policy in a ConfigMap.
pub(super) fn in_config_map(value: &Value) -> Option<&str> {
    (value.get("kind")? == "ConfigMap").then(|| value.get("data")?.get(CONFIG_MAP_KEY)?.as_str())?
}

/// Returns whether a file holds a policy that the release supports.
pub(super) fn is_policy(value: &Value, emulation: Emulation) -> bool {
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    text("kind") == KIND && API_VERSIONS.contains(&text("apiVersion")) && emulation.profile().reads_policies()
}

/// Decodes a policy into the equivalent configuration.
pub(super) fn decode(mut value: Value, emulation: Emulation) -> Result<ConfigFile, FieldErrors> {
    let mut errors = FieldErrors::default();
    if let Some(Value::Array(extenders)) = value.get_mut("extenders") {
        for extender in extenders {
            *extender = respelled(EXTENDER, std::mem::take(extender));
            if let Value::Object(fields) = extender
                && let Some(nanoseconds) = fields.get("httpTimeout").and_then(Value::as_i64)
            {
                fields.insert("httpTimeout".to_owned(), format!("{nanoseconds}ns").into());
            }
        }
    }
    let value = POLICY.read(value, "", &mut errors).unwrap_or_default();
    errors.into_result()?;
    let policy = Policy::deserialize(value).map_err(|e| error("", e.to_string()))?;
    validate(&policy).into_result()?;
    convert(policy, emulation)
}

fn error(path: &str, message: impl Into<String>) -> FieldErrors {
    let mut errors = FieldErrors::default();
    errors.add(path, message);
    errors
}

/// Restores the case of fields to that of their type, and drops fields that the type lacks; mirrors `UnmarshalJSON` of
/// `LegacyExtender`.
fn respelled(schema: Schema, value: Value) -> Value {
    match (schema, value) {
        (Schema::Object(fields), Value::Object(map)) => {
            let known = |key: &str| fields.iter().find(|(name, _)| name.eq_ignore_ascii_case(key));
            let entries =
                map.into_iter().filter_map(|(key, value)| known(&key).map(|(name, schema)| ((*name).into(), respelled(*schema, value))));
            Value::Object(entries.collect())
        }
        (Schema::List(item), Value::Array(list)) => list.into_iter().map(|value| respelled(*item, value)).collect(),
        (_, value) => value,
    }
}

fn validate(policy: &Policy) -> FieldErrors {
    let mut errors = FieldErrors::default();
    let mut declared: BTreeMap<&str, &Priority> = BTreeMap::new();
    for (i, priority) in policy.priorities.iter().flatten().enumerate() {
        let (path, name) = (format!("priorities[{i}]"), &priority.name);
        if priority.weight <= 0 || priority.weight >= MAX_WEIGHT {
            errors.add(&path, format!("priority {name} should have a positive weight applied to it or it has overflown"));
        }
        let Some(argument) = &priority.argument else { continue };
        let kind = if argument.label_preference.is_some() {
            "LabelPreference"
        } else if argument.service_anti_affinity.is_some() {
            "ServiceAntiAffinity"
        } else if argument.requested_to_capacity_ratio_arguments.is_some() {
            "RequestedToCapacityRatio"
        } else {
            errors.add(&path, format!("no priority arguments set for priority {name}"));
            continue;
        };
        match declared.get(kind) {
            Some(first) if kind == "RequestedToCapacityRatio" => {
                errors.add(&path, format!("priority {name:?} redeclares custom priority {kind:?}, from: {:?}", first.name));
                continue;
            }
            Some(first) if first.weight != priority.weight => {
                errors.add(&path, format!("{kind}  priority {name:?} has a different weight with {:?}", first.name));
                continue;
            }
            _ => {}
        }
        declared.insert(kind, priority);
    }
    let hard = policy.hard_pod_affinity_symmetric_weight;
    if !(0..=100).contains(&hard) {
        errors.invalid("hardPodAffinitySymmetricWeight", &hard, "not in valid range [0-100]");
    }
    errors
}

/// Arguments merged from several predicates and priorities.
#[derive(Default)]
struct Arguments(BTreeMap<&'static str, Map<String, Value>>);

impl Arguments {
    fn append(&mut self, plugin: &'static str, field: &str, labels: impl IntoIterator<Item = String>) {
        let list = self.0.entry(plugin).or_default().entry(field).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.extend(labels.into_iter().map(Value::String));
        }
    }

    fn count(&self, plugin: &str, fields: &[&str]) -> i64 {
        let lists = fields.iter().filter_map(|field| self.0.get(plugin)?.get(*field)?.as_array());
        lists.map(|list| i64::try_from(list.len()).unwrap_or(i64::MAX)).sum()
    }
}

fn convert(policy: Policy, emulation: Emulation) -> Result<ConfigFile, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut arguments = Arguments::default();
    let predicates: BTreeSet<&'static str> = policy.predicates.map_or_else(
        || DEFAULT_PREDICATES.into(),
        |list| list.into_iter().enumerate().filter_map(|(i, p)| predicate_key(i, p, &mut arguments, &mut errors)).collect(),
    );
    let priorities: BTreeMap<&'static str, i64> = policy.priorities.map_or_else(
        || DEFAULT_PRIORITIES.into(),
        |list| {
            let others = list.into_iter().enumerate().filter(|(_, p)| p.name != "EqualPriority");
            let keyed = others.filter_map(|(i, p)| Some((p.weight, priority_key(i, p, &mut arguments, &mut errors)?)));
            keyed.map(|(weight, key)| (key, weight)).collect()
        },
    );
    errors.into_result()?;
    let hard = policy.hard_pod_affinity_symmetric_weight;
    if hard != 0 {
        arguments.0.entry("InterPodAffinity").or_default().insert("hardPodAffinityWeight".to_owned(), hard.into());
    }
    let mut made = Made { emulation, arguments, plugins: Plugins::default(), configs: Vec::new() };
    for (point, plugin) in [("queueSort", "PrioritySort"), ("postFilter", "DefaultPreemption"), ("bind", "DefaultBinder")] {
        made.enable(point, plugin, 0);
    }
    made.add_predicates(&predicates);
    made.add_priorities(&priorities);
    let profile = Profile { plugins: made.plugins, plugin_config: made.configs, ..Profile::default() };
    Ok(ConfigFile {
        profiles: vec![profile],
        extenders: policy.extenders,
        api_version: emulation.profile().config_api_versions[0].to_owned(),
        is_policy: true,
        runs_all_filters: policy.always_check_all_predicates,
        ..ConfigFile::default()
    })
}

/// Returns the predicate that the name and argument identify; mirrors `ProcessPredicatePolicy`.
fn predicate_key(at: usize, predicate: Predicate, arguments: &mut Arguments, errors: &mut FieldErrors) -> Option<&'static str> {
    let Predicate { name, argument } = predicate;
    if argument.as_ref().is_some_and(|a| a.service_affinity.is_some() == a.labels_presence.is_some()) {
        errors.add(format!("predicates[{at}].argument"), format!("exactly 1 predicate argument is required for {name:?}"));
        return None;
    }
    let known = if name == "PodFitsPorts" { "PodFitsHostPorts" } else { name.as_str() };
    let known = PREDICATES.iter().find(|(key, _)| *key == known).map(|(key, _)| *key);
    let given = argument.unwrap_or_default();
    match (known, given.service_affinity, given.labels_presence) {
        (Some(known), ..) => Some(known),
        (None, Some(list), _) => {
            arguments.append("ServiceAffinity", "affinityLabels", list.labels);
            Some("CheckServiceAffinity")
        }
        (None, None, Some(list)) => {
            arguments.append("NodeLabel", if list.presence { "presentLabels" } else { "absentLabels" }, list.labels);
            Some("CheckNodeLabelPresence")
        }
        (None, None, None) => {
            errors.add(format!("predicates[{at}].name"), format!("predicate type not found for {name:?}"));
            None
        }
    }
}

/// Returns the priority that the name and argument identify; mirrors `ProcessPriorityPolicy`.
fn priority_key(at: usize, priority: Priority, arguments: &mut Arguments, errors: &mut FieldErrors) -> Option<&'static str> {
    let Priority { name, argument, .. } = priority;
    let given = argument.unwrap_or_default();
    let PriorityArgument { service_anti_affinity: spread, label_preference: preferred, requested_to_capacity_ratio_arguments: ratio } =
        given;
    let count = [spread.is_some(), preferred.is_some(), ratio.is_some()].into_iter().filter(|given| *given).count();
    if count > 1 {
        errors.add(format!("priorities[{at}].argument"), format!("exactly 1 priority argument is required for {name:?}"));
        return None;
    }
    let known = if name == "ServiceSpreadingPriority" { "SelectorSpreadPriority" } else { name.as_str() };
    if let Some(&(known, plugin, _)) = PRIORITIES.iter().find(|(key, ..)| *key == known) {
        if known == plugin {
            // These exist only with arguments, and upstream does not read them here.
            errors.add(format!("priorities[{at}].name"), format!("no arguments for {known:?}"));
            return None;
        }
        return Some(known);
    }
    if let Some(OneLabel { label, .. }) = spread {
        arguments.append("ServiceAffinity", "antiAffinityLabelsPreference", [label]);
        return Some("ServiceAffinity");
    }
    if let Some(OneLabel { label, presence }) = preferred {
        let field = if presence { "presentLabelsPreference" } else { "absentLabelsPreference" };
        arguments.append("NodeLabel", field, [label]);
        return Some("NodeLabel");
    }
    if let Some(ratio) = ratio {
        arguments.0.insert("RequestedToCapacityRatio", ratio);
        return Some("RequestedToCapacityRatio");
    }
    errors.add(format!("priorities[{at}].name"), format!("priority type not found for {name:?}"));
    None
}

/// The plugins made from a policy.
struct Made {
    emulation: Emulation,
    arguments: Arguments,
    plugins: Plugins,
    configs: Vec<PluginConfig>,
}

impl Made {
    /// Enables a plugin; one that is enabled already keeps its weight.
    fn enable(&mut self, point: &str, name: &str, weight: i64) {
        if !self.plugins.at(point).enabled_names().any(|n| n == name) {
            let mut set: PluginSet = self.plugins.at(point).clone();
            // Truncated as upstream does.
            set.enabled.push(Plugin { name: name.to_owned(), weight: weight as i32 });
            self.plugins.set(point, set);
        }
    }

    /// Whether the release's default plugins include it at the extension point.
    fn is_at(&self, point: &str, name: &str) -> bool {
        let release = self.emulation.profile();
        release.plugins(release.config_api_versions[0], |_| true).any(|(p, plugin)| p == point && plugin.name == name)
    }

    /// Sets the arguments collected for a plugin.
    fn configure(&mut self, name: &str) {
        if let Some(args) = self.arguments.0.get(name).cloned().filter(|_| !self.configs.iter().any(|c| c.name == name)) {
            self.configs.push(PluginConfig { name: name.to_owned(), args: Some(Value::Object(args)) });
        }
    }

    fn add_predicates(&mut self, keys: &BTreeSet<&'static str>) {
        for (key, sets) in PREDICATES.iter().filter(|(key, _)| keys.contains(key) || MANDATORY.contains(key)) {
            for (point, plugin) in sets.iter().copied().flatten() {
                // NodeAffinity got PreFilter in a later release.
                if (*point, *plugin) != ("preFilter", "NodeAffinity") || self.is_at(point, plugin) {
                    self.enable(point, plugin, 0);
                }
            }
            match *key {
                "CheckNodeLabelPresence" => self.configure("NodeLabel"),
                "CheckServiceAffinity" => self.configure("ServiceAffinity"),
                _ => {}
            }
        }
    }

    fn add_priorities(&mut self, weights: &BTreeMap<&'static str, i64>) {
        let system = self.emulation.enabled(Gate::DefaultPodTopologySpread);
        for (key, weight) in weights {
            let Some((_, mut plugin, prepares)) = PRIORITIES.iter().find(|(name, ..)| name == key).copied() else { continue };
            if *key == "SelectorSpreadPriority" && !system {
                plugin = "SelectorSpread";
            }
            // One plugin replaces several priorities.
            let times = match plugin {
                "NodeLabel" => self.arguments.count(plugin, &["presentLabelsPreference", "absentLabelsPreference"]),
                "ServiceAffinity" => self.arguments.count(plugin, &["antiAffinityLabelsPreference"]),
                _ => 1,
            };
            self.enable("score", plugin, weight.wrapping_mul(times));
            if prepares && (plugin != "NodeAffinity" || self.is_at("preScore", plugin)) {
                self.enable("preScore", plugin, 0);
            }
            match *key {
                "SelectorSpreadPriority" if system => self.spread_by("System"),
                "EvenPodsSpreadPriority" if system && !self.configs.iter().any(|c| c.name == plugin) => self.spread_by("List"),
                _ => self.configure(plugin),
            }
        }
    }

    /// Sets whose default constraints PodTopologySpread uses.
    fn spread_by(&mut self, defaulting: &str) {
        self.configs.retain(|c| c.name != "PodTopologySpread");
        let args = json!({"defaultingType": defaulting});
        self.configs.push(PluginConfig { name: "PodTopologySpread".to_owned(), args: Some(args) });
    }
}

#[cfg(test)]
mod tests;
