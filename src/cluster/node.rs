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

/// A taint that a program puts on a node and takes away by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedTaint {
    /// The program or person that takes it away.
    pub owner: Str,
    pub stage: NodeStage,
}

/// The state of a node as a taint with an owner says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeStage {
    /// The node is new, and is not ready for pods yet. The owner takes the taint away when it is.
    Starting,
    /// The node is about to be removed.
    Leaving,
    /// The node does not run.
    Down,
}

/// Taints with owners, by key. Those that end with `/` are the beginning of keys.
const OWNED_TAINTS: &[(&str, &str, NodeStage)] = {
    use NodeStage::{Down, Leaving, Starting};
    &[
        ("ToBeDeletedByClusterAutoscaler", "Cluster Autoscaler", Leaving),
        ("DeletionCandidateOfClusterAutoscaler", "Cluster Autoscaler", Leaving),
        ("karpenter.sh/disrupted", "Karpenter", Leaving),
        ("karpenter.sh/disruption", "Karpenter", Leaving),
        ("karpenter.sh/unregistered", "Karpenter", Starting),
        ("aws-node-termination-handler/", "AWS Node Termination Handler", Leaving),
        ("cloud.google.com/impending-node-termination", "the node termination handler", Leaving),
        ("node.cluster.x-k8s.io/outdated-revision", "Cluster API", Leaving),
        ("node.cluster.x-k8s.io/uninitialized", "Cluster API", Starting),
        ("node.cloudprovider.kubernetes.io/uninitialized", "the cloud controller manager", Starting),
        ("node.cloudprovider.kubernetes.io/shutdown", "the cloud controller manager", Down),
        // An administrator, or an operator for remediation, says so, and takes it back once the node has recovered.
        ("node.kubernetes.io/out-of-service", "whoever declared the node out of service", Down),
        ("node.cilium.io/agent-not-ready", "Cilium", Starting),
        ("ignore-taint.cluster-autoscaler.kubernetes.io/cilium-agent-not-ready", "Cilium", Starting),
        ("startup-taint.cluster-autoscaler.kubernetes.io/", "the program that prepares the node", Starting),
        ("cni.istio.io/not-ready", "Istio", Starting),
        ("node.gardener.cloud/critical-components-not-ready", "Gardener", Starting),
    ]
};
/// The name of the taints of CSI drivers that are not ready, behind the driver's name; `AgentNotReadyNodeTaintKeySuffix` of several.
const DRIVER_NOT_READY: &str = "/agent-not-ready";

impl Taint {
    /// Returns who puts the taint on nodes and takes it away, and what it says of them; `None` for other taints, for those of
    /// [`Self::condition`], and for the one of cordoned nodes.
    pub fn owned(&self) -> Option<OwnedTaint> {
        let is_named = |key: &str| if key.ends_with('/') { self.key.starts_with(key) } else { self.key == key };
        if let Some((_, owner, stage)) = OWNED_TAINTS.iter().find(|(key, ..)| is_named(key)) {
            return Some(OwnedTaint { owner: (*owner).into(), stage: *stage });
        }
        let driver = self.key.strip_suffix(DRIVER_NOT_READY).filter(|driver| driver.contains(".csi."))?;
        Some(OwnedTaint { owner: format!("the CSI driver {driver}").into(), stage: NodeStage::Starting })
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    fn taint(key: &str) -> Taint {
        Taint { key: key.into(), value: Str::default(), effect: "NoSchedule".into() }
    }

    #[test]
    fn taints_of_programs_have_owners() {
        for (key, owner, stage) in [
            ("ToBeDeletedByClusterAutoscaler", "Cluster Autoscaler", NodeStage::Leaving),
            ("karpenter.sh/unregistered", "Karpenter", NodeStage::Starting),
            ("aws-node-termination-handler/spot-itn", "AWS Node Termination Handler", NodeStage::Leaving),
            ("node.cloudprovider.kubernetes.io/shutdown", "the cloud controller manager", NodeStage::Down),
            ("ebs.csi.aws.com/agent-not-ready", "the CSI driver ebs.csi.aws.com", NodeStage::Starting),
        ] {
            assert_eq!(taint(key).owned(), Some(OwnedTaint { owner: owner.into(), stage }), "{key}");
        }
        for key in [
            "dedicated",
            "node.kubernetes.io/not-ready",
            "node.kubernetes.io/unschedulable",
            "karpenter.sh/disrupted-by-us",
            "a/agent-not-ready",
        ] {
            assert_eq!(taint(key).owned(), None, "{key}");
        }
    }
}
