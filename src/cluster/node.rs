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

/// A condition of a node that the node controller writes as a taint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeCondition {
    /// `Ready` is false.
    NotReady,
    /// `Ready` is unknown.
    Unreachable,
    /// `MemoryPressure` is true.
    MemoryPressure,
    /// `DiskPressure` is true.
    DiskPressure,
    /// `PIDPressure` is true.
    PidPressure,
    /// `NetworkUnavailable` is true.
    NetworkUnavailable,
}

impl NodeCondition {
    /// Returns the type of the condition in a node's status.
    pub fn kind(self) -> &'static str {
        match self {
            Self::NotReady | Self::Unreachable => "Ready",
            Self::MemoryPressure => "MemoryPressure",
            Self::DiskPressure => "DiskPressure",
            Self::PidPressure => "PIDPressure",
            Self::NetworkUnavailable => "NetworkUnavailable",
        }
    }

    /// Returns the condition as a predicate of one node.
    pub fn of_one(self) -> &'static str {
        match self {
            Self::NotReady => "is not ready",
            Self::Unreachable => "is unreachable",
            Self::MemoryPressure => "is short of memory",
            Self::DiskPressure => "is short of disk space",
            Self::PidPressure => "is short of process IDs",
            Self::NetworkUnavailable => "has no network",
        }
    }

    /// Returns a sentence about a cluster all of whose nodes have the condition; `None` where its predicate of several nodes is clear.
    pub fn of_all(self) -> Option<&'static str> {
        match self {
            Self::NotReady => Some("no node is ready"),
            Self::NetworkUnavailable => Some("no node has a network"),
            Self::Unreachable | Self::MemoryPressure | Self::DiskPressure | Self::PidPressure => None,
        }
    }

    /// Returns the condition as a predicate of several nodes.
    pub fn of_many(self) -> &'static str {
        match self {
            Self::NotReady => "are not ready",
            Self::Unreachable => "are unreachable",
            Self::MemoryPressure => "are short of memory",
            Self::DiskPressure => "are short of disk space",
            Self::PidPressure => "are short of process IDs",
            Self::NetworkUnavailable => "have no network",
        }
    }
}

impl Taint {
    /// Returns the condition that the key of the taint names; `None` for other taints, and for the one of cordoned nodes.
    pub fn condition(&self) -> Option<NodeCondition> {
        Some(match self.key.strip_prefix("node.kubernetes.io/")? {
            "not-ready" => NodeCondition::NotReady,
            "unreachable" => NodeCondition::Unreachable,
            "memory-pressure" => NodeCondition::MemoryPressure,
            "disk-pressure" => NodeCondition::DiskPressure,
            "pid-pressure" => NodeCondition::PidPressure,
            "network-unavailable" => NodeCondition::NetworkUnavailable,
            _ => return None,
        })
    }
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

    /// Returns what the kubelet or the node controller says of a condition: its message, or else its reason; `None` without either.
    pub fn says_of(&self, condition: NodeCondition) -> Option<&Str> {
        let found = self.status.conditions.iter().find(|one| one.kind == condition.kind())?;
        [&found.message, &found.reason].into_iter().find(|words| !words.is_empty())
    }

    /// Returns whether the node is cordoned.
    pub fn unschedulable(&self) -> bool {
        self.spec.unschedulable.unwrap_or(false)
    }
}
