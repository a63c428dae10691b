//! Arguments of NodeResourcesFit and NodeResourcesBalancedAllocation.
//!
//! Mirrors `staging/src/k8s.io/kube-scheduler/config/v1/types_pluginargs.go`, the defaults of
//! `pkg/scheduler/apis/config/v1/defaults.go` and `pkg/scheduler/apis/config/validation/validation_pluginargs.go`.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use crate::cluster::{List, Str};

/// Arguments of NodeResourcesFit.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeResourcesFitArgs {
    /// Read and ignored.
    pub api_version: IgnoredAny,
    /// Read and ignored.
    pub kind: IgnoredAny,
    /// Extended resources that Filter leaves out of account, by their whole name.
    pub ignored_resources: List<Str>,
    /// The same, by the part of the name before the slash.
    pub ignored_resource_groups: List<Str>,
    /// How nodes are ranked.
    #[serde(deserialize_with = "null_as_default")]
    pub scoring_strategy: ScoringStrategy,
}

/// Arguments of NodeResourcesBalancedAllocation.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NodeResourcesBalancedAllocationArgs {
    /// Read and ignored.
    pub api_version: IgnoredAny,
    /// Read and ignored.
    pub kind: IgnoredAny,
    /// The resources whose use is to be balanced; never empty once read.
    #[serde(deserialize_with = "read_resources")]
    pub resources: List<ResourceSpec>,
}

impl Default for NodeResourcesBalancedAllocationArgs {
    fn default() -> Self {
        Self { api_version: IgnoredAny, kind: IgnoredAny, resources: default_resources() }
    }
}

/// How NodeResourcesFit ranks nodes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScoringStrategy {
    /// Which formula.
    #[serde(rename = "type")]
    pub kind: ScoringStrategyType,
    /// The resources that count, with their weights; never empty once read.
    #[serde(default = "default_resources", deserialize_with = "read_resources")]
    pub resources: List<ResourceSpec>,
    /// For RequestedToCapacityRatio, and only there.
    #[serde(default)]
    pub requested_to_capacity_ratio: Option<RequestedToCapacityRatioParam>,
}

impl Default for ScoringStrategy {
    fn default() -> Self {
        Self { kind: ScoringStrategyType::LeastAllocated, resources: default_resources(), requested_to_capacity_ratio: None }
    }
}

/// The formulas of NodeResourcesFit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum ScoringStrategyType {
    /// The more room is left, the better.
    LeastAllocated,
    /// The less room is left, the better.
    MostAllocated,
    /// A function of utilization.
    RequestedToCapacityRatio,
}

/// A resource and how much it counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ResourceSpec {
    /// The resource's name.
    pub name: Str,
    /// 1 to 100; 1 where it is not given or 0.
    pub weight: i64,
}

/// Arguments of the RequestedToCapacityRatio formula.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RequestedToCapacityRatioParam {
    /// Points of the function, by rising utilization.
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

/// cpu and memory, with equal weight.
fn default_resources() -> List<ResourceSpec> {
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
    /// What `ValidateNodeResourcesFitArgs` refuses: the first thing wrong, with the field it is in.
    pub fn validate(&self) -> Result<(), String> {
        if let Some(group) = self.ignored_resource_groups.iter().find(|g| g.contains('/')) {
            return Err(format!("ignoredResourceGroups: Invalid value: {:?}: resource group name can't contain '/'", group.as_str()));
        }
        let strategy = &self.scoring_strategy;
        if let Some(r) = strategy.resources.iter().find(|r| !(1..=100).contains(&r.weight)) {
            let (name, weight) = (&r.name, r.weight);
            return Err(format!(
                "scoringStrategy.resources: Invalid value: {weight}: resource weight of {name} not in valid range (0, 100]"
            ));
        }
        let field = "scoringStrategy.requestedToCapacityRatio";
        match (strategy.kind, &strategy.requested_to_capacity_ratio) {
            (ScoringStrategyType::RequestedToCapacityRatio, None) => {
                Err(format!("{field}: Required value: must be specified when type is RequestedToCapacityRatio"))
            }
            (ScoringStrategyType::RequestedToCapacityRatio, Some(ratio)) => {
                validate_shape(&ratio.shape).map_err(|error| format!("{field}.shape: {error}"))
            }
            (_, Some(_)) => Err(format!("{field}: Forbidden: must be nil when type is not RequestedToCapacityRatio")),
            (_, None) => Ok(()),
        }
    }
}

fn validate_shape(shape: &[UtilizationShapePoint]) -> Result<(), String> {
    if shape.is_empty() {
        return Err("Required value: at least one point must be specified".into());
    }
    if let Some(pair) = shape.windows(2).find(|pair| pair[0].utilization >= pair[1].utilization) {
        return Err(format!("Invalid value: {}: values must be sorted in increasing order", pair[1].utilization));
    }
    shape.iter().try_for_each(|point| match point {
        UtilizationShapePoint { utilization, .. } if !(0..=100).contains(utilization) => {
            Err(format!("Invalid value: {utilization}: utilization not in valid range [0, 100]"))
        }
        UtilizationShapePoint { score, .. } if !(0..=10).contains(score) => {
            Err(format!("Invalid value: {score}: score not in valid range [0, 10]"))
        }
        _ => Ok(()),
    })
}

impl NodeResourcesBalancedAllocationArgs {
    /// What `ValidateNodeResourcesBalancedAllocationArgs` refuses: the first thing wrong, with the field it is in.
    pub fn validate(&self) -> Result<(), String> {
        let mut seen = BTreeSet::new();
        self.resources.iter().enumerate().try_for_each(|(i, resource)| match resource.weight {
            _ if !seen.insert(&resource.name) => Err(format!("resources[{i}].name: Duplicate value: {:?}", resource.name)),
            1 => Ok(()),
            weight => Err(format!("resources[{i}].weight: Invalid value: {weight}: must be 1")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_given_is_defaulted() {
        let default = NodeResourcesFitArgs::default();
        assert_eq!(default.scoring_strategy.resources, default_resources());
        for yaml in
            ["{}", "{apiVersion: a, kind: b}", "{scoringStrategy: null}", "{scoringStrategy: {type: LeastAllocated, resources: []}}"]
        {
            assert_eq!(serde_yaml::from_str::<NodeResourcesFitArgs>(yaml).unwrap(), default, "{yaml}");
        }
        let args: NodeResourcesFitArgs = serde_yaml::from_str(
            "{scoringStrategy: {type: MostAllocated, resources: [{name: a}, {name: b, weight: 0}, {name: c, weight: 7}]}}",
        )
        .unwrap();
        assert_eq!(args.scoring_strategy.resources.iter().map(|r| r.weight).collect::<Vec<_>>(), [1, 1, 7]);
        for yaml in ["{}", "{resources: null}", "{resources: []}"] {
            let args: NodeResourcesBalancedAllocationArgs = serde_yaml::from_str(yaml).unwrap();
            assert_eq!(args, NodeResourcesBalancedAllocationArgs::default(), "{yaml}");
        }
        for yaml in ["{extra: 1}", "{scoringStrategy: {}}", "{scoringStrategy: {type: Best}}"] {
            assert!(serde_yaml::from_str::<NodeResourcesFitArgs>(yaml).is_err(), "{yaml}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_its_place() {
        let strategy = |rest: &str| format!("{{scoringStrategy: {{{rest}}}}}");
        let shape = |points: &str| strategy(&format!("type: RequestedToCapacityRatio, requestedToCapacityRatio: {{shape: [{points}]}}"));
        for (yaml, expected) in [
            ("{}".to_owned(), ""),
            (
                "{ignoredResourceGroups: [a/b]}".into(),
                "ignoredResourceGroups: Invalid value: \"a/b\": resource group name can't contain '/'",
            ),
            (
                strategy("type: MostAllocated, resources: [{name: x, weight: 101}]"),
                "scoringStrategy.resources: Invalid value: 101: resource weight of x not in valid range (0, 100]",
            ),
            (
                strategy("type: RequestedToCapacityRatio"),
                "scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
            ),
            (
                strategy("type: LeastAllocated, requestedToCapacityRatio: {}"),
                "scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
            ),
            (shape(""), "scoringStrategy.requestedToCapacityRatio.shape: Required value: at least one point must be specified"),
            (
                shape("{utilization: 5}, {utilization: 5}"),
                "scoringStrategy.requestedToCapacityRatio.shape: Invalid value: 5: values must be sorted in increasing order",
            ),
            (
                shape("{utilization: 101}"),
                "scoringStrategy.requestedToCapacityRatio.shape: Invalid value: 101: utilization not in valid range [0, 100]",
            ),
            (
                shape("{utilization: 5, score: 11}"),
                "scoringStrategy.requestedToCapacityRatio.shape: Invalid value: 11: score not in valid range [0, 10]",
            ),
            (shape("{utilization: 0, score: 0}, {utilization: 100, score: 10}"), ""),
        ] {
            let args: NodeResourcesFitArgs = serde_yaml::from_str(&yaml).unwrap();
            assert_eq!(args.validate().err().unwrap_or_default(), expected, "{yaml}");
        }
        for (resources, expected) in [
            ("{name: a}, {name: b}", ""),
            ("{name: a}, {name: a}", "resources[1].name: Duplicate value: \"a\""),
            ("{name: a, weight: 2}", "resources[0].weight: Invalid value: 2: must be 1"),
        ] {
            let args: NodeResourcesBalancedAllocationArgs = serde_yaml::from_str(&format!("{{resources: [{resources}]}}")).unwrap();
            assert_eq!(args.validate().err().unwrap_or_default(), expected, "{resources}");
        }
    }
}
