//! Arguments of NodeResourcesFit and NodeResourcesBalancedAllocation.
//!
//! Mirrors `staging/src/k8s.io/kube-scheduler/config/v1/types_pluginargs.go`, the defaults of
//! `pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::cluster::{LabelSelector, List, Str};
use crate::framework::FieldErrors;
use crate::plugins::helper::function_shape_errors;

/// Arguments of NodeResourcesFit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeResourcesFitArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// Extended resources that Filter ignores, by full name.
    pub ignored_resources: List<Str>,
    /// Extended resources that Filter ignores, by the part of the name before the slash.
    pub ignored_resource_groups: List<Str>,
    /// How nodes are scored.
    #[serde(deserialize_with = "null_as_default")]
    pub scoring_strategy: ScoringStrategy,
}

/// Arguments of NodeResourcesBalancedAllocation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeResourcesBalancedAllocationArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// The resources to balance; never empty after parsing.
    #[serde(deserialize_with = "read_resources")]
    pub resources: List<ResourceSpec>,
}

impl Default for NodeResourcesBalancedAllocationArgs {
    fn default() -> Self {
        Self { api_version: IgnoredAny, kind: IgnoredAny, resources: default_resources() }
    }
}

/// The scoring strategy of NodeResourcesFit.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScoringStrategy {
    /// The formula.
    #[serde(rename = "type", default = "no_type")]
    pub kind: ScoringStrategyType,
    /// The resources that count, with their weights; never empty after parsing.
    #[serde(default = "default_resources", deserialize_with = "read_resources")]
    pub resources: List<ResourceSpec>,
    /// Arguments of RequestedToCapacityRatio.
    #[serde(default)]
    pub requested_to_capacity_ratio: Option<RequestedToCapacityRatioParam>,
}

impl Default for ScoringStrategy {
    fn default() -> Self {
        Self { kind: ScoringStrategyType::LeastAllocated, resources: default_resources(), requested_to_capacity_ratio: None }
    }
}

/// The formulas of NodeResourcesFit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub enum ScoringStrategyType {
    /// Prefers nodes with more free resources.
    LeastAllocated,
    /// Prefers nodes with fewer free resources.
    MostAllocated,
    /// Applies a function of utilization.
    RequestedToCapacityRatio,
    /// Any other type, which is invalid; empty if no type is given.
    #[serde(untagged)]
    Unsupported(Str),
}

/// A resource and its weight.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ResourceSpec {
    /// The resource's name.
    pub name: Str,
    /// 1 to 100; 1 if absent or 0.
    pub weight: i64,
}

/// Arguments of the RequestedToCapacityRatio formula.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RequestedToCapacityRatioParam {
    /// Points of the function, by ascending utilization.
    pub shape: List<UtilizationShapePoint>,
}

/// A point of the function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct UtilizationShapePoint {
    /// Per cent of capacity, 0 to 100.
    pub utilization: i32,
    /// 0 to 10.
    pub score: i32,
}

/// Returns the type of a strategy without one; it has no default.
fn no_type() -> ScoringStrategyType {
    ScoringStrategyType::Unsupported(Str::default())
}

/// Returns CPU and memory with equal weight.
pub(super) fn default_resources() -> List<ResourceSpec> {
    ["cpu", "memory"].into_iter().map(|name| ResourceSpec { name: name.into(), weight: 1 }).collect()
}

fn read_resources<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<ResourceSpec>, D::Error> {
    let mut resources = List::<ResourceSpec>::deserialize(deserializer)?;
    if resources.is_empty() {
        return Ok(default_resources());
    }
    for resource in resources.iter_mut().filter(|r| r.weight == 0) {
        resource.weight = 1;
    }
    Ok(resources)
}

fn null_as_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(deserializer: D) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

impl NodeResourcesFitArgs {
    /// Validates the arguments; mirrors `ValidateNodeResourcesFitArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        for (i, name) in self.ignored_resources.iter().enumerate() {
            validate_label_name(name, &format!("ignoredResources[{i}]"), &mut errors);
        }
        for (i, group) in self.ignored_resource_groups.iter().enumerate() {
            let path = format!("ignoredResourceGroups[{i}]");
            if group.contains('/') {
                errors.invalid(&path, group, "resource group name can't contain '/'");
            }
            validate_label_name(group, &path, &mut errors);
        }
        errors.extend_at("scoringStrategy", self.scoring_strategy.errors());
        errors.into_result()
    }
}

fn validate_label_name(name: &Str, path: &str, errors: &mut FieldErrors) {
    for problem in LabelSelector::key_errors(name) {
        errors.invalid(path, name, problem);
    }
}

impl ScoringStrategy {
    fn errors(&self) -> FieldErrors {
        let mut errors = FieldErrors::default();
        if let ScoringStrategyType::Unsupported(other) = &self.kind {
            errors.unsupported("type", other, &["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]);
        }
        for (i, resource) in self.resources.iter().enumerate().filter(|(_, r)| !(1..=100).contains(&r.weight)) {
            let rule = format!("resource weight of {} not in valid range (0, 100]", resource.name);
            errors.invalid(format!("resources[{i}].weight"), &resource.weight, rule);
        }
        let field = "requestedToCapacityRatio";
        match (&self.kind, &self.requested_to_capacity_ratio) {
            (ScoringStrategyType::RequestedToCapacityRatio, None) => {
                errors.required(field, "must be specified when type is RequestedToCapacityRatio");
            }
            (ScoringStrategyType::RequestedToCapacityRatio, Some(ratio)) => {
                let points = ratio.shape.iter().map(|p| (p.utilization, p.score));
                errors.extend_at("requestedToCapacityRatio.shape", function_shape_errors(points));
            }
            (_, Some(_)) => errors.forbidden(field, "must be nil when type is not RequestedToCapacityRatio"),
            (_, None) => {}
        }
        errors
    }
}

impl NodeResourcesBalancedAllocationArgs {
    /// Validates the arguments; mirrors `ValidateNodeResourcesBalancedAllocationArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        let mut seen = BTreeSet::new();
        for (i, resource) in self.resources.iter().enumerate() {
            if !seen.insert(&resource.name) {
                errors.duplicate(format!("resources[{i}].name"), &resource.name);
            }
            if resource.weight != 1 {
                errors.invalid(format!("resources[{i}].weight"), &resource.weight, "must be 1");
            }
        }
        errors.into_result()
    }
}

#[cfg(test)]
mod tests;
