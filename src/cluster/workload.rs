//! Namespaces, priority classes, budgets, and the objects that select or own pods.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use serde::{Deserialize, Serialize};

use super::{LabelSelector, Labels, Map, Meta, Pod, Str};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Namespace {
    pub metadata: Meta,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriorityClass {
    pub metadata: Meta,
    pub value: i32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub global_default: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption_policy: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudget {
    #[serde(deserialize_with = "super::meta::of_budget")]
    pub metadata: Meta,
    pub spec: PodDisruptionBudgetSpec,
    pub status: PodDisruptionBudgetStatus,
}

impl PodDisruptionBudget {
    /// Returns whether the budget covers a pod. A budget with an absent, empty or invalid selector covers no pod, and a
    /// pod without labels is covered by none. Mirrors `filterPodsWithPDBViolation` in
    /// `pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go`.
    pub fn covers(&self, pod: &Pod) -> bool {
        self.metadata.namespace == pod.metadata.namespace
            && !pod.metadata.labels.is_empty()
            && self.usable_selector().is_some_and(|s| s.matches(&pod.metadata.labels))
    }

    /// Returns the selector if it can match pods.
    pub fn usable_selector(&self) -> Option<&LabelSelector> {
        self.spec.selector.as_ref().filter(|s| !s.is_empty() && s.validate().is_ok())
    }
}

/// `minAvailable` and `maxUnavailable` are not read: preemption and evictions read the status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unhealthy_pod_eviction_policy: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodDisruptionBudgetStatus {
    pub disruptions_allowed: i32,
    #[serde(skip_serializing_if = "is_zero")]
    pub current_healthy: i32,
    #[serde(skip_serializing_if = "is_zero")]
    pub desired_healthy: i32,
    /// Names of pods whose eviction is already counted.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub disrupted_pods: Labels,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "the signature of serde")]
fn is_zero(number: &i32) -> bool {
    *number == 0
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Service {
    pub metadata: Meta,
    pub spec: MapSelectorSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicationController {
    pub metadata: Meta,
    pub spec: MapSelectorSpec,
}

/// The spec of kinds whose selector is a plain map.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct MapSelectorSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<Labels>,
}

/// `apps/v1.ReplicaSet` and `apps/v1.StatefulSet`, of which only the selector is read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Workload {
    pub metadata: Meta,
    pub spec: WorkloadSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkloadSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
}
