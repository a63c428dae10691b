//! NodeResourcesLeastAllocated, NodeResourcesMostAllocated and RequestedToCapacityRatio: Score by one formula each;
//! later releases have them as strategies of NodeResourcesFit. Mirrors `least_allocated.go`, `most_allocated.go` and
//! `requested_to_capacity_ratio.go` in `pkg/scheduler/framework/plugins/noderesources` of the releases that have them.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};

use super::args::{ResourceSpec, UtilizationShapePoint, default_resources};
use super::formula::Formula;
use super::resource_allocation::{Requests, ResourceAllocationScorer};
use crate::cluster::List;
use crate::framework::{Context, CycleState, FieldErrors, NodeInfo, Plugin, PluginName, PodInfo, ScorePlugin, Status};
use crate::plugins::helper::function_shape_errors;
use crate::release::ResourceBehaviour;

/// `NodeResourcesLeastAllocatedArgs`, `NodeResourcesMostAllocatedArgs` and `RequestedToCapacityRatioArgs` of
/// `kubescheduler.config.k8s.io/v1beta1`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SingleFormulaArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// The function of RequestedToCapacityRatio; empty for the others.
    pub shape: List<UtilizationShapePoint>,
    /// The resources that count, with their weights; never empty after parsing.
    #[serde(deserialize_with = "read_resources")]
    pub resources: List<ResourceSpec>,
}

impl Default for SingleFormulaArgs {
    fn default() -> Self {
        Self { api_version: IgnoredAny, kind: IgnoredAny, shape: List::default(), resources: default_resources() }
    }
}

/// Parses resources without defaulting their weights.
fn read_resources<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<ResourceSpec>, D::Error> {
    let resources = List::<ResourceSpec>::deserialize(deserializer)?;
    Ok(if resources.is_empty() { default_resources() } else { resources })
}

impl SingleFormulaArgs {
    /// Validates the arguments; mirrors `ValidateNodeResourcesLeastAllocatedArgs` and
    /// `ValidateNodeResourcesMostAllocatedArgs`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        self.validate_weights(100, &mut errors);
        errors.into_result()
    }

    /// Validates the arguments; mirrors `ValidateRequestedToCapacityRatioArgs`.
    pub fn validate_ratio(&self) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        errors.extend_at("shape", function_shape_errors(self.shape.iter().map(|p| (p.utilization, p.score))));
        self.validate_weights(i64::MAX, &mut errors);
        errors.into_result()
    }

    fn validate_weights(&self, max: i64, errors: &mut FieldErrors) {
        for (i, resource) in self.resources.iter().enumerate().filter(|(_, r)| !(1..=max).contains(&r.weight)) {
            let (path, name) = (format!("resources[{i}].weight"), &resource.name);
            let rule = if resource.weight < 1 {
                format!("resource weight of {name} should be a positive value")
            } else {
                format!("resource weight of {name} should be less than {max}")
            };
            errors.invalid(path, &resource.weight, rule);
        }
    }
}

/// Scores nodes by their free or used share.
#[derive(Clone, Debug)]
pub struct SingleFormula {
    name: PluginName,
    formula: Formula,
    scorer: ResourceAllocationScorer,
}

impl SingleFormula {
    /// Makes `NodeResourcesLeastAllocated`.
    pub fn least_allocated(args: &SingleFormulaArgs, release: &ResourceBehaviour) -> Self {
        Self::new(PluginName::NodeResourcesLeastAllocated, Formula::LeastAllocated, args, release)
    }

    /// Makes `NodeResourcesMostAllocated`.
    pub fn most_allocated(args: &SingleFormulaArgs, release: &ResourceBehaviour) -> Self {
        Self::new(PluginName::NodeResourcesMostAllocated, Formula::MostAllocated, args, release)
    }

    /// Makes `RequestedToCapacityRatio`.
    pub fn requested_to_capacity_ratio(args: &SingleFormulaArgs, release: &ResourceBehaviour) -> Self {
        let formula = Formula::requested_to_capacity_ratio(&args.shape, release);
        Self::new(PluginName::RequestedToCapacityRatio, formula, args, release)
    }

    fn new(name: PluginName, formula: Formula, args: &SingleFormulaArgs, release: &ResourceBehaviour) -> Self {
        Self { name, formula, scorer: ResourceAllocationScorer::new(&args.resources, Requests::Assumed, release) }
    }
}

impl Plugin for SingleFormula {
    fn name(&self) -> PluginName {
        self.name
    }

    fn score(&self) -> Option<&dyn ScorePlugin> {
        Some(self)
    }
}

impl ScorePlugin for SingleFormula {
    fn score(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let pre = self.scorer.pre_score(cx, &pod.pod);
        Ok(self.scorer.with_usages(&pre, node, |usages| self.formula.score(usages)))
    }

    fn score_all(
        &self,
        cx: &Context<'_>,
        _state: &CycleState,
        pod: &PodInfo,
        nodes: &[std::sync::Arc<NodeInfo>],
    ) -> Result<Vec<i64>, Status> {
        let pre = self.scorer.pre_score(cx, &pod.pod);
        Ok(nodes.iter().map(|node| self.scorer.with_usages(&pre, node, |usages| self.formula.score(usages))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_read_and_refused() {
        let read = |text: &str| serde_json::from_str::<SingleFormulaArgs>(text).unwrap();
        assert_eq!(read("{}"), SingleFormulaArgs::default());
        assert!(read("{}").validate().is_ok());
        assert!(read(r#"{"resources":[{"name":"cpu","weight":101}]}"#).validate().is_err());
        assert!(read(r#"{"resources":[{"name":"cpu"}]}"#).validate().is_err());
        assert!(read("{}").validate_ratio().is_err());
        let shape = r#""shape":[{"utilization":0,"score":10},{"utilization":100,"score":0}]"#;
        assert!(read(&format!("{{{shape},\"resources\":[{{\"name\":\"cpu\",\"weight\":1000}}]}}")).validate_ratio().is_ok());
    }
}
