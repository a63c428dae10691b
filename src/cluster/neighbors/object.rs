//! One object that scheduling does not read.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::super::{
    Affinity, ContainerPort, IntOrPercent, Key, Labels, List, OwnerReference, ResourceRequirements, SchedulingGate, Str, Toleration,
    TopologySpreadConstraint,
};
use super::NeighborKind;

/// An object, as far as it explains missing pods.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbor {
    pub kind: NeighborKind,
    pub api_version: Str,
    pub metadata: NeighborMeta,
    pub content: NeighborContent,
}

/// The spec and status of an object.
#[derive(Clone, Debug, PartialEq)]
pub enum NeighborContent {
    /// Of a workload of Kubernetes.
    Owner(Box<OwnerFacts>),
    /// Of any other kind, as JSON with the fields `spec` and `status`, and of a RuntimeClass `overhead` and `scheduling`.
    Other(Box<Value>),
}

/// Fields with the commands and the environment of programs: no answer needs them, and they may be secret.
const LEFT_OUT: [&str; 13] = [
    "annotations",
    "args",
    "command",
    "data",
    "env",
    "envFrom",
    "lifecycle",
    "livenessProbe",
    "managedFields",
    "readinessProbe",
    "startupProbe",
    "stringData",
    "userData",
];

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Maps whose keys users choose: a label may be called `env`.
const CHOSEN_KEYS: [&str; 5] = ["labels", "matchLabels", "minTaskMember", "nodeSelector", "selector"];

/// Removes the fields of [`LEFT_OUT`] at any depth, and those that are null: an API server reads them as absent. Users may have
/// chosen the keys of the value itself.
fn leave_out(value: &mut Value, is_chosen: bool) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, field| !field.is_null() && (is_chosen || !LEFT_OUT.contains(&name.as_str())));
            fields.iter_mut().for_each(|(name, field)| leave_out(field, CHOSEN_KEYS.contains(&name.as_str())));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| leave_out(item, false)),
        _ => {}
    }
}

/// Times are text, so that an invalid one does not reject the object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NeighborMeta {
    #[serde(skip_serializing_if = "is_default")]
    pub name: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub uid: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub resource_version: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub generation: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub creation_timestamp: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub deletion_timestamp: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub labels: Labels,
    #[serde(skip_serializing_if = "is_default")]
    pub owner_references: List<OwnerReference>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct OwnerFacts {
    #[serde(skip_serializing_if = "is_default")]
    pub spec: OwnerSpec,
    #[serde(skip_serializing_if = "is_default")]
    pub status: OwnerStatus,
}

/// The spec of a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob or ReplicationController.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub paused: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub suspend: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub parallelism: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub completions: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub backoff_limit: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub active_deadline_seconds: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub backoff_limit_per_index: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub pod_failure_policy: FailurePolicy,
    #[serde(skip_serializing_if = "is_default")]
    pub manual_selector: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub ordinals: Ordinals,
    #[serde(skip_serializing_if = "is_default")]
    pub pod_management_policy: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub pod_replacement_policy: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub strategy: Strategy,
    #[serde(skip_serializing_if = "is_default")]
    pub update_strategy: Strategy,
    #[serde(skip_serializing_if = "is_default")]
    pub template: Template,
    /// Of a CronJob.
    #[serde(skip_serializing_if = "is_default")]
    pub job_template: Option<Box<JobTemplate>>,
}

/// The numbers of a StatefulSet's pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Ordinals {
    #[serde(skip_serializing_if = "is_default")]
    pub start: i64,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct JobTemplate {
    #[serde(skip_serializing_if = "is_default")]
    pub spec: JobTemplateSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct JobTemplateSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub template: Template,
}

/// The policy of a Job for its failed pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct FailurePolicy {
    #[serde(skip_serializing_if = "is_default")]
    pub rules: List<FailureRule>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct FailureRule {
    pub action: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub on_pod_conditions: List<FailureCondition>,
}

/// A condition of a failed pod.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct FailureCondition {
    #[serde(rename = "type")]
    pub kind: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub status: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    #[serde(rename = "type")]
    #[serde(skip_serializing_if = "is_default")]
    pub kind: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub rolling_update: RollingUpdate,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    #[serde(skip_serializing_if = "is_default")]
    pub max_surge: Option<IntOrPercent>,
    #[serde(skip_serializing_if = "is_default")]
    pub max_unavailable: Option<IntOrPercent>,
    #[serde(skip_serializing_if = "is_default")]
    pub partition: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub struct Template {
    #[serde(skip_serializing_if = "is_default")]
    pub spec: TemplateSpec,
}

/// The part of a pod's template that says whether pods can be created, where those of a DaemonSet go, and whether a change of the
/// template reaches the pods.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateSpec {
    #[serde(skip_serializing_if = "is_default")]
    pub service_account_name: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub priority_class_name: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub node_selector: Labels,
    #[serde(skip_serializing_if = "is_default")]
    pub host_network: bool,
    #[serde(skip_serializing_if = "is_default")]
    pub affinity: Option<Affinity>,
    #[serde(skip_serializing_if = "is_default")]
    pub tolerations: List<Toleration>,
    #[serde(skip_serializing_if = "is_default")]
    pub scheduler_name: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "is_default")]
    pub preemption_policy: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub topology_spread_constraints: List<TopologySpreadConstraint>,
    #[serde(skip_serializing_if = "is_default")]
    pub scheduling_gates: List<SchedulingGate>,
    #[serde(skip_serializing_if = "is_default")]
    pub resources: Option<Box<ResourceRequirements>>,
    /// Empty if the template is not kept: of a ReplicaSet that wants no pods.
    #[serde(skip_serializing_if = "is_default")]
    pub containers: List<TemplateContainer>,
    #[serde(skip_serializing_if = "is_default")]
    pub init_containers: List<TemplateContainer>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateContainer {
    #[serde(skip_serializing_if = "is_default")]
    pub name: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub resources: ResourceRequirements,
    /// Those with a host port.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "with_host_port")]
    pub ports: List<ContainerPort>,
}

fn with_host_port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<ContainerPort>, D::Error> {
    let mut ports = List::<ContainerPort>::deserialize(deserializer)?;
    ports.retain(|port| port.host_port.is_some_and(|port| port != 0));
    ports.shrink_to_fit();
    Ok(ports)
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerStatus {
    #[serde(skip_serializing_if = "is_default")]
    pub observed_generation: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub replicas: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub ready_replicas: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub terminating_replicas: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub desired_number_scheduled: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub succeeded: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub failed: Option<i64>,
    #[serde(skip_serializing_if = "is_default")]
    pub conditions: List<NeighborCondition>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NeighborCondition {
    #[serde(rename = "type")]
    #[serde(skip_serializing_if = "is_default")]
    pub kind: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub status: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub reason: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub message: Str,
    #[serde(skip_serializing_if = "is_default")]
    pub last_transition_time: Str,
}

impl NeighborCondition {
    /// Returns since when the condition holds, if known.
    pub fn since(&self) -> Option<Timestamp> {
        self.last_transition_time.parse().ok()
    }
}

impl NeighborMeta {
    /// Returns the object's key.
    pub fn key(&self) -> Key {
        Key { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Returns the owner that controls the object, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|owner| owner.controller == Some(true))
    }

    /// Returns the resource version, as a number.
    pub fn version(&self) -> Option<u64> {
        self.resource_version.parse().ok()
    }

    /// Returns when the object was created, if known.
    pub fn created(&self) -> Option<Timestamp> {
        self.creation_timestamp.parse().ok()
    }
}

/// Writes the object as the API does, as far as it is kept.
impl Serialize for Neighbor {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap as _;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("apiVersion", &self.api_version)?;
        map.serialize_entry("metadata", &self.metadata)?;
        match &self.content {
            NeighborContent::Owner(facts) => {
                map.serialize_entry("spec", &facts.spec)?;
                map.serialize_entry("status", &facts.status)?;
            }
            NeighborContent::Other(fields) => {
                for (name, field) in fields.as_object().into_iter().flatten().filter(|(_, field)| !field.is_null()) {
                    map.serialize_entry(name, field)?;
                }
            }
        }
        map.end()
    }
}

/// Reads what was written of an object.
impl<'de> Deserialize<'de> for Neighbor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let value = Value::deserialize(deserializer)?;
        let text = |field: &str| value[field].as_str().unwrap_or_default().to_owned();
        let kind = text("kind").parse().map_err(D::Error::custom)?;
        Self::deserialize_kind(kind, text("apiVersion").into(), value).map_err(D::Error::custom)
    }
}

impl Neighbor {
    /// Reads an object of a known kind.
    ///
    /// # Errors
    /// Returns the error of the deserializer.
    pub fn deserialize_kind<'de, D: Deserializer<'de>>(kind: NeighborKind, api_version: Str, deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct OwnerWire {
            metadata: NeighborMeta,
            spec: OwnerSpec,
            status: OwnerStatus,
        }
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct OtherWire {
            metadata: NeighborMeta,
            spec: Value,
            status: Value,
            /// Of a RuntimeClass, which has no spec.
            overhead: Value,
            scheduling: Value,
        }
        if kind.is_owner() && !matches!(kind, NeighborKind::JobSet | NeighborKind::LeaderWorkerSet) {
            let OwnerWire { metadata, mut spec, status } = OwnerWire::deserialize(deserializer)?;
            // A Deployment keeps many of these for a rollback.
            if kind == NeighborKind::ReplicaSet && spec.replicas == Some(0) {
                (spec.template.spec.containers, spec.template.spec.init_containers) = Default::default();
            }
            return Ok(Self { kind, api_version, metadata, content: NeighborContent::Owner(Box::new(OwnerFacts { spec, status })) });
        }
        let OtherWire { metadata, spec, status, overhead, scheduling } = OtherWire::deserialize(deserializer)?;
        let mut fields = match kind {
            NeighborKind::RuntimeClass => serde_json::json!({"overhead": overhead, "scheduling": scheduling}),
            _ => serde_json::json!({"spec": spec, "status": status}),
        };
        leave_out(&mut fields, false);
        let content = NeighborContent::Other(Box::new(fields));
        Ok(Self { kind, api_version, metadata, content })
    }

    /// Returns the spec and status of a workload of Kubernetes; `None` for other kinds.
    pub fn facts(&self) -> Option<&OwnerFacts> {
        if let NeighborContent::Owner(facts) = &self.content { Some(facts) } else { None }
    }

    /// Returns a field of another kind by its JSON pointer, such as `/status/used`.
    pub fn field(&self, pointer: &str) -> Option<&Value> {
        if let NeighborContent::Other(fields) = &self.content { fields.pointer(pointer).filter(|value| !value.is_null()) } else { None }
    }

    /// Returns a number field of another kind.
    pub fn number(&self, pointer: &str) -> Option<i64> {
        self.field(pointer)?.as_i64()
    }

    /// Returns the conditions of the status.
    pub fn conditions(&self) -> Vec<NeighborCondition> {
        match &self.content {
            NeighborContent::Owner(facts) => facts.status.conditions.iter().cloned().collect(),
            NeighborContent::Other(_) => {
                let listed = self.field("/status/conditions").and_then(Value::as_array);
                listed.into_iter().flatten().filter_map(|condition| serde_json::from_value(condition.clone()).ok()).collect()
            }
        }
    }

    /// Returns the API group.
    pub fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

#[cfg(test)]
mod tests;
