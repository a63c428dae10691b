//! One object that scheduling does not read.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::super::{Affinity, IntOrPercent, Key, Labels, List, OwnerReference, Str, Toleration};
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
    /// Of any other kind, as JSON with the fields `spec` and `status`.
    Other(Box<Value>),
}

/// Times are text, so that an invalid one does not reject the object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NeighborMeta {
    pub name: Str,
    pub namespace: Str,
    pub uid: Str,
    pub resource_version: Str,
    pub generation: Option<i64>,
    pub creation_timestamp: Str,
    pub deletion_timestamp: Str,
    pub labels: Labels,
    pub owner_references: List<OwnerReference>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct OwnerFacts {
    pub spec: OwnerSpec,
    pub status: OwnerStatus,
}

/// The spec of a Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob or ReplicationController.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerSpec {
    pub replicas: Option<i64>,
    pub paused: bool,
    pub suspend: bool,
    pub parallelism: Option<i64>,
    pub completions: Option<i64>,
    pub backoff_limit: Option<i64>,
    pub active_deadline_seconds: Option<i64>,
    pub pod_management_policy: Str,
    pub pod_replacement_policy: Str,
    pub strategy: Strategy,
    pub update_strategy: Strategy,
    pub template: Template,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    #[serde(rename = "type")]
    pub kind: Str,
    pub rolling_update: RollingUpdate,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RollingUpdate {
    pub max_surge: Option<IntOrPercent>,
    pub max_unavailable: Option<IntOrPercent>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Template {
    pub spec: TemplateSpec,
}

/// The part of a pod's template that says whether pods can be created, and where those of a DaemonSet go.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TemplateSpec {
    pub service_account_name: Str,
    pub priority_class_name: Str,
    pub node_selector: Labels,
    pub affinity: Option<Affinity>,
    pub tolerations: List<Toleration>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerStatus {
    pub observed_generation: Option<i64>,
    pub replicas: Option<i64>,
    pub ready_replicas: Option<i64>,
    pub terminating_replicas: Option<i64>,
    pub desired_number_scheduled: Option<i64>,
    pub succeeded: Option<i64>,
    pub failed: Option<i64>,
    pub conditions: List<NeighborCondition>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NeighborCondition {
    #[serde(rename = "type")]
    pub kind: Str,
    pub status: Str,
    pub reason: Str,
    pub message: Str,
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
        }
        if kind.is_owner() && !matches!(kind, NeighborKind::JobSet | NeighborKind::LeaderWorkerSet) {
            let OwnerWire { metadata, spec, status } = OwnerWire::deserialize(deserializer)?;
            return Ok(Self { kind, api_version, metadata, content: NeighborContent::Owner(Box::new(OwnerFacts { spec, status })) });
        }
        let OtherWire { metadata, spec, status } = OtherWire::deserialize(deserializer)?;
        let content = NeighborContent::Other(Box::new(serde_json::json!({"spec": spec, "status": status})));
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
mod tests {
    use super::*;

    fn read(kind: NeighborKind, text: &str) -> Neighbor {
        Neighbor::deserialize_kind(kind, "apps/v1".into(), &mut serde_json::Deserializer::from_str(text)).unwrap()
    }

    #[test]
    fn a_workload_keeps_its_numbers_and_another_kind_its_fields() {
        let web = read(
            NeighborKind::Deployment,
            r#"{"metadata":{"name":"web","generation":4},"spec":{"replicas":5,"strategy":{"rollingUpdate":{"maxSurge":"25%"}},
            "template":{"spec":{"priorityClassName":"high","containers":[{"name":"c"}]}}},
            "status":{"observedGeneration":3,"conditions":[{"type":"ReplicaFailure","status":"True","lastTransitionTime":"soon"}]}}"#,
        );
        let facts = web.facts().unwrap();
        assert_eq!((web.metadata.generation, facts.spec.replicas, facts.status.observed_generation), (Some(4), Some(5), Some(3)));
        assert_eq!(facts.spec.template.spec.priority_class_name, "high");
        assert_eq!(web.conditions()[0].since(), None);
        // An active CronJob lists its Jobs where a Job has a number.
        read(NeighborKind::CronJob, r#"{"metadata":{"name":"c"},"spec":{"suspend":true},"status":{"active":[{"name":"j"}]}}"#);
        let quota = read(NeighborKind::ResourceQuota, r#"{"metadata":{"name":"q"},"status":{"hard":{"pods":"2"},"conditions":[]}}"#);
        assert_eq!(quota.field("/status/hard/pods").unwrap(), "2");
        assert!(quota.field("/spec/hard").is_none() && quota.facts().is_none());
    }
}
