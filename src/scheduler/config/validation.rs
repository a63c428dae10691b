//! Validates a decoded configuration; mirrors `pkg/scheduler/apis/config/validation/validation.go` and
//! `staging/src/k8s.io/component-base/config/validation/validation.go`. All functions take the configuration with its
//! defaults.

use std::borrow::Cow;

use jiff::SignedDuration;
use serde::Serialize;
use serde_json::Value;

use super::file::{ConfigFile, Extender, GoDuration, LeaderElection, Plugin, PluginSet, Profile};
use crate::cluster::LabelSelector;
use crate::framework::{FieldErrors, PluginName, format_duration, is_extended_resource_name};
use crate::limits::engine::{EXTENDER_RESOURCES, EXTENDERS};
use crate::plugins::registry::{self, Make};
use crate::release::Emulation;

/// The extension points at which validation looks for removed plugins. At others they are just unknown.
const CHECKED_POINTS: [&str; 12] = [
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
];

/// Returns the errors of `ValidateKubeSchedulerConfiguration`, in its order.
pub(super) fn validate(file: &ConfigFile, emulation: Emulation) -> FieldErrors {
    let mut errors = FieldErrors::default();
    if file.client_connection.burst < 0 {
        errors.invalid("clientConnection.burst", &file.client_connection.burst, "must be non-negative");
    }
    validate_leader_election(&file.leader_election, &mut errors);
    if let Some(parallelism) = file.parallelism.filter(|p| *p <= 0) {
        errors.invalid("parallelism", &parallelism, "should be an integer value greater than zero");
    }
    for (i, profile) in file.profiles.iter().enumerate() {
        let path = format!("profiles[{i}]");
        validate_profile(profile, &path, (&file.api_version, emulation), &mut errors);
        let name = profile.scheduler_name.as_deref().unwrap_or_default();
        if file.profiles[..i].iter().any(|p| p.scheduler_name.as_deref().unwrap_or_default() == name) {
            errors.duplicate(format!("{path}.schedulerName"), &name);
        }
    }
    validate_common_queue_sort(&file.profiles, &mut errors);
    validate_percentage("percentageOfNodesToScore", file.percentage_of_nodes_to_score, &mut errors);
    let (initial, max) = file.backoff_seconds();
    if initial <= 0 {
        errors.invalid("podInitialBackoffSeconds", &initial, "must be greater than 0");
    }
    if max < initial {
        errors.invalid("podMaxBackoffSeconds", &max, "must be greater than or equal to PodInitialBackoffSeconds");
    }
    validate_extenders(&file.extenders, &mut errors);
    errors
}

fn validate_leader_election(section: &LeaderElection, errors: &mut FieldErrors) {
    if !section.leader_elect.unwrap_or(true) {
        return;
    }
    let or = |GoDuration(given): GoDuration, seconds| if given.is_zero() { SignedDuration::from_secs(seconds) } else { given };
    let lease = or(section.lease_duration, 15);
    let renew = or(section.renew_deadline, 10);
    for (field, value) in [("leaseDuration", lease), ("renewDeadline", renew), ("retryPeriod", or(section.retry_period, 2))] {
        if value.is_negative() {
            errors.invalid(format!("leaderElection.{field}"), &format_duration(value), "must be greater than zero");
        }
    }
    if lease <= renew {
        errors.invalid("leaderElection.leaseDuration", &format_duration(renew), "must be greater than `RenewDeadline`");
    }
    if !matches!(section.resource_lock.as_str(), "" | "leases") {
        errors.invalid("leaderElection.resourceLock", &section.resource_lock, r#"resourceLock value must be "leases""#);
    }
}

fn validate_percentage(path: &str, value: Option<i32>, errors: &mut FieldErrors) {
    if let Some(value) = value.filter(|v| !(0..=100).contains(v)) {
        errors.invalid(path, &value, "not in valid range [0-100]");
    }
}

fn validate_profile(profile: &Profile, path: &str, (api_version, emulation): (&str, Emulation), errors: &mut FieldErrors) {
    if profile.scheduler_name.as_deref().unwrap_or_default().is_empty() {
        errors.required(format!("{path}.schedulerName"), "");
    }
    validate_percentage(&format!("{path}.percentageOfNodesToScore"), profile.percentage_of_nodes_to_score, errors);
    let removed = |name: &str| {
        let why = emulation.profile().removed(api_version, name)?;
        Some(format!("{why} (KubeSchedulerConfiguration is version {api_version:?})"))
    };
    for point in CHECKED_POINTS {
        for (i, name) in profile.plugins.at(point).enabled_names().enumerate() {
            if let Some(why) = removed(name) {
                errors.invalid(format!("{path}.plugins.{point}.enabled[{i}]"), &name, why);
            }
        }
    }
    for (i, config) in profile.plugin_config.iter().enumerate() {
        let path = format!("{path}.pluginConfig[{i}]");
        let name = config.name.as_str();
        if profile.plugin_config[..i].iter().any(|c| c.name == name) {
            errors.duplicate(&path, &name);
        }
        if let Some(why) = removed(name) {
            errors.invalid(path, &name, why);
            continue;
        }
        match name {
            // Upstream looks for the arguments of NodeResourcesFit under this name, which no plugin has.
            "NodeResourcesFitArgs" => {
                errors.invalid(format!("{path}.args"), config.args.as_ref().unwrap_or(&Value::Null), "has to match plugin args");
            }
            _ => {
                let row = registry::find(name, emulation);
                // So its arguments are validated when the plugin is built, if it is.
                let checked = row.filter(|row| row.name != PluginName::NodeResourcesFit);
                if let Some(Make::Plugin(make)) = checked.map(|row| row.make)
                    && let Err(wrong) = make(config.args.as_ref(), emulation)
                {
                    errors.extend_at(&format!("{path}.args"), wrong);
                }
            }
        }
    }
}

fn validate_common_queue_sort(profiles: &[Profile], errors: &mut FieldErrors) {
    let Some((first, others)) = profiles.split_first() else { return };
    let canon = first.plugins.at("queueSort");
    if canon.enabled.len() > 1 {
        let rule = "only one queue sort plugin can be enabled";
        errors.invalid("profiles[0].plugins.queueSort.Enabled", &canon.enabled.len(), rule);
    }
    let sort = canon.enabled_names().next().unwrap_or_default();
    let args = first.plugin_config.iter().rfind(|c| !sort.is_empty() && c.name == sort).and_then(|c| c.args.as_ref());
    for (i, profile) in others.iter().enumerate() {
        let path = format!("profiles[{}]", i + 1);
        let set = profile.plugins.at("queueSort");
        if !is_same(canon, set) {
            errors.invalid(format!("{path}.plugins.queueSort"), &Internal::from(set), "must be the same for all profiles");
        }
        for config in profile.plugin_config.iter().filter(|c| c.name == sort && c.args.as_ref() != args) {
            let value = config.args.as_ref().unwrap_or(&Value::Null);
            errors.invalid(format!("{path}.pluginConfig.args"), value, "queueSort must be the same for all profiles");
        }
    }
}

/// Whether two sets are equal. Weights of disabled plugins do not count.
fn is_same(a: &PluginSet, b: &PluginSet) -> bool {
    a.enabled == b.enabled && a.disabled.iter().map(|p| &p.name).eq(b.disabled.iter().map(|p| &p.name))
}

/// A set with the field names of the internal type, as errors print it.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Internal<'a> {
    enabled: Option<Vec<InternalPlugin<'a>>>,
    disabled: Option<Vec<InternalPlugin<'a>>>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct InternalPlugin<'a> {
    name: &'a str,
    weight: i32,
}

impl<'a> From<&'a PluginSet> for Internal<'a> {
    fn from(set: &'a PluginSet) -> Self {
        let list = |plugins: &'a [Plugin], weighted: bool| {
            let show = |p: &'a Plugin| InternalPlugin { name: &p.name, weight: if weighted { p.weight } else { 0 } };
            (!plugins.is_empty()).then(|| plugins.iter().map(show).collect())
        };
        Self { enabled: list(&set.enabled, true), disabled: list(&set.disabled, false) }
    }
}

/// Returns a value that is no name of a resource without the parts in which a URL, which it may be, has passwords.
fn shown_name(name: &str) -> Cow<'_, str> {
    if name.contains('@') {
        return "[hidden]".into();
    }
    match name.find(['?', '=', ';', '#']) {
        Some(at) => format!("{}[hidden]", &name[..=at]).into(),
        None => name.into(),
    }
}

fn validate_extenders(extenders: &[Extender], errors: &mut FieldErrors) {
    let resources: usize = extenders.iter().map(|extender| extender.managed_resources.len()).sum();
    for (what, found, most) in [("items", extenders.len(), EXTENDERS), ("managed resources", resources, EXTENDER_RESOURCES)] {
        if found > most {
            return errors.add("extenders", format!("has {found} {what}; schedscope reads no more than {most}"));
        }
    }
    let mut managed: Vec<&str> = Vec::new();
    for (i, extender) in extenders.iter().enumerate() {
        let path = format!("extenders[{i}]");
        if !extender.prioritize_verb.is_empty() && extender.weight <= 0 {
            errors.invalid(format!("{path}.weight"), &extender.weight, "must have a positive weight applied to it");
        }
        for (j, resource) in extender.managed_resources.iter().enumerate() {
            let path = format!("{path}.managedResources[{j}].name");
            let name = resource.name.as_str();
            let problems = LabelSelector::key_errors(name);
            if problems.is_empty() && !is_extended_resource_name(name) {
                errors.invalid(&path, &name, "is an invalid extended resource name");
            }
            for problem in problems {
                errors.invalid(&path, &shown_name(name), problem);
            }
            if managed.contains(&name) {
                errors.invalid(&path, &name, "duplicate extender managed resource name");
            }
            managed.push(name);
        }
    }
    let binders = extenders.iter().filter(|e| !e.bind_verb.is_empty()).count();
    if binders > 1 {
        let found = format!("found {binders} extenders implementing bind");
        errors.invalid("extenders", &found, "only one extender can implement bind");
    }
}
