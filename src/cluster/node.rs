//! `core/v1.Node`, as far as scheduling reads it.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use serde::{Deserialize, Serialize};

use super::meta::str_empty;
use super::{Condition, List, Map, Meta, Quantity, Str};

/// Amounts by resource name.
pub type ResourceList = Map<Quantity>;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Node {
    #[serde(deserialize_with = "super::meta::of_node")]
    pub metadata: Meta,
    pub spec: NodeSpec,
    pub status: NodeStatus,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSpec {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unschedulable: Option<bool>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub taints: List<Taint>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Taint {
    pub key: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub value: Str,
    pub effect: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeStatus {
    pub allocatable: ResourceList,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub capacity: ResourceList,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub conditions: List<Condition>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub images: List<ContainerImage>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub declared_features: List<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_info: Option<NodeSystemInfo>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerImage {
    pub names: List<Str>,
    pub size_bytes: Option<i64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSystemInfo {
    pub kubelet_version: Str,
}

impl Node {
    /// Returns the node's name.
    pub fn name(&self) -> &Str {
        &self.metadata.name
    }

    /// Returns whether the node is cordoned.
    pub fn unschedulable(&self) -> bool {
        self.spec.unschedulable.unwrap_or(false)
    }
}
