//! Configurations of kube-schedulers with predicates and priorities: a policy file, or a `KubeSchedulerConfiguration` of the
//! time. Mirrors `pkg/scheduler/factory/{factory,plugins}.go` and `pkg/apis/componentconfig/types.go` of v1.11 and v1.12.

mod policy;
#[cfg(test)]
mod tests;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::policy::{Policy, PredicatePolicy, PriorityPolicy};
use super::file;
use super::{Config, built, not_emulated};
use crate::extenders::Extenders;
use crate::framework::{FieldErrors, PluginName};
use crate::plugins::registry::{self, Make};
use crate::release::{DefaultPlugin, Emulation, FilterRun, Gate};
use crate::scheduler::runtime::{Framework, PluginRef};

/// The predicates in the order in which they run; mirrors `predicatesOrdering`.
const ORDERING: [PluginName; 22] = [
    PluginName::CheckNodeCondition,
    PluginName::CheckNodeUnschedulable,
    PluginName::GeneralPredicates,
    PluginName::HostName,
    PluginName::PodFitsHostPorts,
    PluginName::MatchNodeSelector,
    PluginName::PodFitsResources,
    PluginName::NoDiskConflict,
    PluginName::PodToleratesNodeTaints,
    PluginName::PodToleratesNodeNoExecuteTaints,
    PluginName::CheckNodeLabelPresence,
    PluginName::CheckServiceAffinity,
    PluginName::MaxEBSVolumeCount,
    PluginName::MaxGCEPDVolumeCount,
    PluginName::MaxCSIVolumeCountPred,
    PluginName::MaxAzureDiskVolumeCount,
    PluginName::CheckVolumeBinding,
    PluginName::NoVolumeZoneConflict,
    PluginName::CheckNodeMemoryPressure,
    PluginName::CheckNodePIDPressure,
    PluginName::CheckNodeDiskPressure,
    PluginName::MatchInterPodAffinity,
];

/// A predicate that is registered but missing in the order, so it never runs.
const NEVER_RUN: &str = "PodFitsPorts";

/// The fields of `KubeSchedulerConfiguration` that affect decisions.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Configuration {
    scheduler_name: String,
    algorithm_source: AlgorithmSource,
    hard_pod_affinity_symmetric_weight: i32,
    disable_preemption: bool,
    percentage_of_nodes_to_score: i32,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AlgorithmSource {
    policy: Option<Value>,
    provider: Option<String>,
}

/// Returns the configuration of a scheduler without a file.
pub(super) fn defaults(emulation: Emulation) -> Result<Config, FieldErrors> {
    build(&Configuration::default(), Policy::default(), emulation)
}

/// Reads a policy or a configuration.
pub(super) fn parse(text: &str, emulation: Emulation) -> Result<Config, FieldErrors> {
    let mut value = file::parse(text).map_err(|e| file::one_error("", e.to_string()))?;
    if let Some(text) = value.pointer("/data/policy.cfg").and_then(Value::as_str) {
        value = file::parse(text).map_err(|e| file::one_error("data", e.to_string()))?;
    }
    if Policy::is_kind_of(&value) {
        return build(&Configuration::default(), Policy::decode(value)?, emulation);
    }
    file::check_type(&value, emulation.profile())?;
    let configuration = Configuration::deserialize(value).map_err(|e| file::one_error("", e.to_string()))?;
    build(&configuration, Policy::default(), emulation)
}

fn build(configuration: &Configuration, policy: Policy, emulation: Emulation) -> Result<Config, FieldErrors> {
    let mut errors = FieldErrors::default();
    let mut builder = Builder { emulation, framework: Framework::default(), errors: &mut errors };
    let name = &configuration.scheduler_name;
    builder.framework.name = if name.is_empty() { "default-scheduler".into() } else { name.as_str().into() };
    builder.framework.filters = if policy.always_check_all_predicates { FilterRun::All } else { FilterRun::UntilRejection };
    let own = policy.hard_pod_affinity_symmetric_weight;
    let weight = match (own, configuration.hard_pod_affinity_symmetric_weight) {
        (0, 0) => 1,
        (0, weight) | (weight, _) => weight,
    };
    builder.predicates(policy.predicates);
    builder.priorities(policy.priorities, configuration.algorithm_source.provider.as_deref(), weight);
    if !configuration.disable_preemption {
        builder.add(PluginName::Preempt, None, "");
    }
    let mut framework = builder.framework;
    errors.into_result()?;
    let extenders = built(&policy.extenders);
    framework.not_emulated.extend(not_emulated(&extenders));
    if configuration.algorithm_source.policy.is_some() {
        let what = "the policy of algorithmSource.policy, which can be given in place of this file".to_owned();
        framework.not_emulated.push((what, vec!["filter", "score"]));
    }
    Ok(Config {
        profiles: vec![framework],
        percentage_of_nodes_to_score: configuration.percentage_of_nodes_to_score,
        pod_initial_backoff_seconds: 1,
        pod_max_backoff_seconds: 60,
        emulation,
        extenders: Extenders::new(extenders),
        text: None,
        edits: Vec::new(),
        out_of_tree: crate::framework::OutOfTree::default(),
    })
}

/// Builds the single framework.
struct Builder<'e> {
    emulation: Emulation,
    framework: Framework,
    errors: &'e mut FieldErrors,
}

impl Builder<'_> {
    /// Returns the default plugins of the release, limited to predicates or to priorities.
    fn defaults(&self, is_wanted: impl Fn(&PluginRef) -> bool) -> Vec<(&'static DefaultPlugin, PluginName)> {
        let emulation = self.emulation;
        let enabled = move |gate| emulation.enabled(gate);
        let plugins = emulation.profile().predicates_and_priorities();
        let plugins = plugins.filter(move |plugin| plugin.gate.is_none_or(enabled) && !plugin.without.is_some_and(enabled));
        let named = plugins.filter_map(|plugin| Some((plugin, plugin.name.parse::<PluginName>().ok()?)));
        named.filter(|(_, name)| make(*name, None, emulation).is_ok_and(|p| is_wanted(&p))).collect()
    }

    /// Builds a plugin and enables it at its extension points; reports errors under `path`.
    fn add(&mut self, name: PluginName, args: Option<&Value>, path: &str) -> Option<PluginRef> {
        let plugin = match make(name, args, self.emulation) {
            Ok(plugin) => plugin,
            Err(errors) => {
                self.errors.extend_at(path, errors);
                return None;
            }
        };
        let framework = &mut self.framework;
        if plugin.pre_filter().is_some() {
            framework.pre_filter.push(plugin.clone());
        }
        if plugin.filter().is_some() {
            framework.filter.push(plugin.clone());
        }
        if plugin.post_filter().is_some() {
            framework.post_filter.push(plugin.clone());
        }
        if plugin.pre_score().is_some() {
            framework.pre_score.push(plugin.clone());
        }
        if plugin.reserve().is_some() {
            framework.reserve.push(plugin.clone());
        }
        if plugin.pre_bind().is_some() {
            framework.pre_bind.push(plugin.clone());
        }
        framework.all.push(plugin.clone());
        Some(plugin)
    }

    /// Enables the predicates of a policy, or the default ones, and the mandatory ones.
    fn predicates(&mut self, policy: Option<Vec<PredicatePolicy>>) {
        // Place in the order, plugin that runs there, and its arguments.
        let mut enabled: Vec<(PluginName, PluginName, Option<Value>)> = Vec::new();
        match policy {
            None => enabled.extend(self.defaults(|p| p.filter().is_some()).into_iter().map(|(_, name)| (name, name, None))),
            Some(policy) => {
                for (i, predicate) in policy.into_iter().enumerate() {
                    enabled.extend(self.predicate(i, predicate));
                }
                let taints = self.emulation.enabled(Gate::TaintNodesByCondition);
                let mandatory: &[PluginName] = if taints {
                    &[PluginName::PodToleratesNodeTaints, PluginName::CheckNodeUnschedulable]
                } else {
                    &[PluginName::CheckNodeCondition]
                };
                let missing = mandatory.iter().filter(|name| self.is_registered(**name) && !enabled.iter().any(|e| e.0 == **name));
                let missing: Vec<_> = missing.map(|name| (*name, *name, None)).collect();
                enabled.extend(missing);
            }
        }
        for place in ORDERING {
            // Of several with one name the last counts, as in a Go map.
            if let Some((_, name, args)) = enabled.iter().rfind(|(at, ..)| *at == place).cloned() {
                self.add(name, args.as_ref(), "predicates");
            }
        }
    }

    /// Returns the place and the name of a policy's predicate, with its argument; `None` if it does not run.
    fn predicate(&mut self, i: usize, predicate: PredicatePolicy) -> Option<(PluginName, PluginName, Option<Value>)> {
        let PredicatePolicy { name, argument } = predicate;
        let path = format!("predicates[{i}]");
        let place = name.parse::<PluginName>().ok();
        let (kind, args) = match argument.map(|a| (a.service_affinity, a.labels_presence)) {
            Some((Some(args), None)) => (PluginName::CheckServiceAffinity, args),
            Some((None, Some(args))) => (PluginName::CheckNodeLabelPresence, args),
            Some((service, labels)) => {
                let given = usize::from(service.is_some()) + usize::from(labels.is_some());
                self.errors.add(path, format!("Exactly 1 predicate argument is required, numArgs: {given}, Predicate: {name}"));
                return None;
            }
            None if name == NEVER_RUN => return None,
            None => {
                let known = place.filter(|name| ORDERING.contains(name) && !needs_argument(*name) && self.is_registered(*name));
                if known.is_none() {
                    self.errors.add(path, format!("Invalid configuration: Predicate type not found for {name}"));
                }
                return known.map(|name| (name, name, None));
            }
        };
        // A name without a place in the order is registered and never runs.
        Some((place.filter(|name| ORDERING.contains(name))?, kind, Some(args)))
    }

    /// Whether the release has the predicate, given its gates.
    fn is_registered(&self, name: PluginName) -> bool {
        let is_gated = |plugin: &DefaultPlugin| {
            plugin.name == name.as_str()
                && (plugin.without.is_some_and(|g| self.emulation.enabled(g)) || plugin.gate.is_some_and(|g| !self.emulation.enabled(g)))
        };
        registry::find(name.as_str(), self.emulation).is_some() && !self.emulation.profile().predicates_and_priorities().any(is_gated)
    }

    /// Enables the priorities of a policy, or those of a provider.
    fn priorities(&mut self, policy: Option<Vec<PriorityPolicy>>, provider: Option<&str>, hard_weight: i32) {
        let mut enabled: Vec<(PluginName, i64, Option<Value>, String)> = Vec::new();
        match policy {
            Some(policy) => {
                for (i, priority) in policy.into_iter().enumerate() {
                    let path = format!("priorities[{i}]");
                    let weight = priority.weight;
                    if let Some((name, args)) = self.priority(&path, priority) {
                        enabled.push((name, weight, args, path));
                    }
                }
            }
            None => {
                let most_requested = match provider {
                    None | Some("" | "DefaultProvider") => false,
                    Some("ClusterAutoscalerProvider") => true,
                    Some(other) => {
                        self.errors.add("algorithmSource.provider", format!("plugin {other:?} has not been registered"));
                        return;
                    }
                };
                for (plugin, name) in self.defaults(|p| p.score().is_some()) {
                    let swapped = most_requested && name == PluginName::LeastRequestedPriority;
                    let name = if swapped { PluginName::MostRequestedPriority } else { name };
                    enabled.push((name, plugin.weight.into(), None, String::new()));
                }
            }
        }
        for (name, weight, args, path) in enabled {
            let args = match name {
                PluginName::InterPodAffinityPriority => Some(json!({ "hardPodAffinitySymmetricWeight": hard_weight })),
                _ => args,
            };
            if let Some(plugin) = self.add(name, args.as_ref(), &path) {
                self.framework.score.push((plugin, weight));
            }
        }
    }

    /// Returns the name of a policy's priority with its argument.
    fn priority(&mut self, path: &str, priority: PriorityPolicy) -> Option<(PluginName, Option<Value>)> {
        let PriorityPolicy { name, argument, .. } = priority;
        let Some(argument) = argument else {
            let known = name.parse::<PluginName>().ok().filter(|name| !needs_argument(*name));
            let scores = |name: &PluginName| make(*name, None, self.emulation).is_ok_and(|plugin| plugin.score().is_some());
            let known = known.filter(scores);
            if known.is_none() {
                self.errors.add(path, format!("Invalid configuration: Priority type not found for {name}"));
            }
            return known.map(|name| (name, None));
        };
        let given = [
            (PluginName::ServiceAntiAffinityPriority, argument.service_anti_affinity),
            (PluginName::NodeLabelPriority, argument.label_preference),
            (PluginName::RequestedToCapacityRatioPriority, argument.requested_to_capacity_ratio_arguments),
        ];
        let given: Vec<_> = given.into_iter().filter_map(|(kind, args)| args.map(|args| (kind, Some(args)))).collect();
        if given.len() != 1 {
            let message = format!("Exactly 1 priority argument is required, numArgs: {}, Priority: {name}", given.len());
            self.errors.add(path, message);
        }
        given.into_iter().next()
    }
}

/// Whether a policy enables it only with an argument.
fn needs_argument(name: PluginName) -> bool {
    matches!(
        name,
        PluginName::CheckServiceAffinity
            | PluginName::CheckNodeLabelPresence
            | PluginName::ServiceAntiAffinityPriority
            | PluginName::NodeLabelPriority
    )
}

/// Makes a plugin of the release.
fn make(name: PluginName, args: Option<&Value>, emulation: Emulation) -> Result<PluginRef, FieldErrors> {
    // `null` means no argument.
    let args = args.filter(|args| !args.is_null()).cloned().unwrap_or_else(|| Value::Object(Map::new()));
    match registry::find(name.as_str(), emulation).map(|row| row.make) {
        Some(Make::Plugin(factory)) => factory(Some(&args), emulation),
        _ => Err(file::one_error("", format!("{name} is not known"))),
    }
}
