//! Groupings of nodes: by verdict and reason, by pool, by zone, or by any label.

use std::collections::BTreeSet;

use crate::cluster::{Node, Str};
use crate::framework::Nodes;

/// The number of nodes above which they are grouped by default.
const GROUP_ABOVE: usize = 40;

const ZONE: &str = "topology.kubernetes.io/zone";

/// The zone label of old clusters.
const OLD_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";

/// Returns whether a label names a node's zone.
pub fn is_zone(label: &str) -> bool {
    [ZONE, OLD_ZONE].contains(&label)
}

/// Returns the zone of a node, by its label.
pub fn zone_of(node: &Node) -> Option<&Str> {
    let mut zone = None;
    for (key, value) in node.metadata.labels.iter() {
        match key.as_str() {
            ZONE => return Some(value),
            OLD_ZONE => zone = Some(value),
            _ => {}
        }
    }
    zone
}

/// Labels that name a node's pool, most specific first: of autoscalers, clouds and distributions, common ones of users, and
/// the machine type as the last resort.
const POOLS: [&str; 15] = [
    "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "kubernetes.azure.com/agentpool",
    "doks.digitalocean.com/node-pool",
    "hypershift.openshift.io/nodePool",
    "machine.openshift.io/cluster-api-machineset",
    "cluster.x-k8s.io/deployment-name",
    "cluster.x-k8s.io/set-name",
    "kops.k8s.io/instancegroup",
    "node-pool",
    "nodepool",
    "pool",
    "node.kubernetes.io/instance-type",
];

/// Why nodes cannot be grouped by a name. The text is a sentence for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupingError {
    /// The name is missing.
    #[error("group needs verdict, pool, zone, none or a label")]
    NoName,
    /// No node has a label that names its pool.
    #[error("no node has a label that names its pool")]
    NoPools,
    /// No node has the zone label.
    #[error("no node has the label {ZONE}")]
    NoZones,
    /// No node has the label.
    #[error("no node has the label {0:?}")]
    NoLabel(String),
}

/// A grouping of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Grouping {
    /// One by one.
    #[default]
    None,
    /// By verdict and reason.
    Verdict,
    Label(Str),
}

impl Grouping {
    /// Returns the default grouping for a number of nodes.
    pub fn usual(nodes: usize) -> Self {
        if nodes > GROUP_ABOVE { Self::Verdict } else { Self::None }
    }

    /// Returns the grouping by pool: by the first pool label that most nodes have, or else the most common one; `None` if no
    /// node has any.
    pub fn pool(nodes: &Nodes) -> Option<Self> {
        let mut counts = [0; POOLS.len()];
        for key in nodes.iter().flat_map(|node| node.node.metadata.labels.keys()) {
            if let Some(at) = POOLS.iter().position(|pool| *pool == key.as_str()) {
                counts[at] += 1;
            }
        }
        let most = counts.iter().max().copied().filter(|most| *most > 0)?;
        let at = counts.iter().position(|count| count * 2 > nodes.len()).or_else(|| counts.iter().position(|count| *count == most))?;
        Some(Self::Label(POOLS[at].into()))
    }

    /// Returns the grouping by zone; `None` if no node has the zone label.
    pub fn zone(nodes: &Nodes) -> Option<Self> {
        nodes.iter().any(|n| n.node.metadata.labels.get(ZONE).is_some()).then(|| Self::Label(ZONE.into()))
    }

    /// Parses the name of a grouping.
    pub fn named(name: &str, nodes: &Nodes) -> Result<Self, GroupingError> {
        match name {
            "none" => Ok(Self::None),
            "verdict" => Ok(Self::Verdict),
            "pool" => Self::pool(nodes).ok_or(GroupingError::NoPools),
            "zone" => Self::zone(nodes).ok_or(GroupingError::NoZones),
            "" => Err(GroupingError::NoName),
            key if nodes.iter().any(|n| n.node.metadata.labels.get(key).is_some()) => Ok(Self::Label(key.into())),
            key => Err(GroupingError::NoLabel(key.to_owned())),
        }
    }

    /// Returns whether nodes are grouped.
    pub fn is_grouped(&self) -> bool {
        *self != Self::None
    }

    /// Returns the heading of the column that names groups and nodes.
    pub fn heading(&self) -> &'static str {
        match self {
            Self::None | Self::Verdict => "  NODE",
            Self::Label(key) if *key == ZONE => "  ZONE",
            Self::Label(key) if POOLS.contains(&key.as_str()) => "  POOL",
            Self::Label(_) => "  LABEL",
        }
    }

    /// Returns the grouping in a few words, with its label.
    pub fn words(&self) -> String {
        match self {
            Self::None => "one by one".to_owned(),
            Self::Verdict => "by verdict and reason".to_owned(),
            Self::Label(key) if *key == ZONE => format!("by zone ({key})"),
            Self::Label(key) if POOLS.contains(&key.as_str()) => format!("by pool ({key})"),
            Self::Label(key) => format!("by {key}"),
        }
    }

    /// Returns the grouping by a label for a title: by its common name, or else by the label; `None` for any other grouping.
    pub fn in_title(&self) -> Option<String> {
        match self {
            Self::None | Self::Verdict => None,
            Self::Label(key) if *key == ZONE => Some("by zone".to_owned()),
            Self::Label(key) if POOLS.contains(&key.as_str()) => Some("by pool".to_owned()),
            Self::Label(key) => Some(format!("by {key}")),
        }
    }

    /// Returns the next grouping in the cycle, skipping the groupings by pool and by zone where no node has the label.
    #[must_use]
    pub fn next(&self, pool: impl FnOnce() -> Option<Self>, zone: impl FnOnce() -> Option<Self>) -> Self {
        match self {
            Self::None => Self::Verdict,
            Self::Verdict => pool().or_else(zone).unwrap_or_default(),
            Self::Label(key) if POOLS.contains(&key.as_str()) => zone().unwrap_or_default(),
            Self::Label(_) => Self::None,
        }
    }
}

/// Limit on the nodes whose labels are offered.
const ASKED: usize = 200;

/// Returns the names of all groupings, labels included.
pub fn names(nodes: &Nodes) -> Vec<String> {
    let labels = nodes.iter().take(ASKED).flat_map(|n| n.node.metadata.labels.iter().map(|(key, _)| key.to_string()));
    let labels: BTreeSet<String> = labels.collect();
    ["verdict", "pool", "zone", "none"].into_iter().map(str::to_owned).chain(labels).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::framework::NodeInfo;
    use crate::ui::testing;

    fn nodes(labels: &[&[(&str, &str)]]) -> Nodes {
        let node = |labels: &&[(&str, &str)]| {
            let mut node = testing::node("n", "1", "1Gi");
            node.metadata.labels = labels.iter().map(|(k, v)| (Str::from(*k), Str::from(*v))).collect();
            Arc::new(NodeInfo::new(Arc::new(node)))
        };
        labels.iter().map(node).collect()
    }

    #[test]
    fn a_pool_is_what_most_nodes_name_and_the_type_of_machine_at_last() {
        let pool = |labels: &[&[(&str, &str)]]| Grouping::pool(&nodes(labels)).map(|g| g.words());
        let (karpenter, eks, kind) =
            (("karpenter.sh/nodepool", "a"), ("eks.amazonaws.com/nodegroup", "b"), ("node.kubernetes.io/instance-type", "c"));
        assert_eq!(pool(&[&[], &[("other", "x")]]), None);
        assert_eq!(pool(&[&[kind], &[kind]]).as_deref(), Some("by pool (node.kubernetes.io/instance-type)"));
        assert_eq!(pool(&[&[karpenter, kind], &[karpenter, kind]]).as_deref(), Some("by pool (karpenter.sh/nodepool)"));
        assert_eq!(pool(&[&[karpenter], &[eks], &[eks, kind]]).as_deref(), Some("by pool (eks.amazonaws.com/nodegroup)"));
        assert_eq!(pool(&[&[karpenter], &[], &[]]).as_deref(), Some("by pool (karpenter.sh/nodepool)"));
        let title = |key: &str| Grouping::Label(key.into()).in_title();
        assert_eq!(title("karpenter.sh/nodepool").as_deref(), Some("by pool"));
        assert_eq!((title(ZONE).as_deref(), title("disk").as_deref()), (Some("by zone"), Some("by disk")));
        assert_eq!((Grouping::None.in_title(), Grouping::Verdict.in_title()), (None, None));
    }

    #[test]
    fn the_way_round_leaves_out_what_no_node_has() {
        let round = |nodes: &Nodes| {
            let mut at = Grouping::None;
            let mut said = Vec::new();
            for _ in 0..5 {
                at = at.next(|| Grouping::pool(nodes), || Grouping::zone(nodes));
                said.push(at.heading().trim());
            }
            said.join(" ")
        };
        let (pool, zone) = (("karpenter.sh/nodepool", "a"), (ZONE, "z"));
        assert_eq!(round(&nodes(&[&[pool, zone]])), "NODE POOL ZONE NODE NODE");
        assert_eq!(round(&nodes(&[&[zone]])), "NODE ZONE NODE NODE ZONE");
        assert_eq!(round(&nodes(&[&[]])), "NODE NODE NODE NODE NODE");
        assert_eq!(Grouping::Label("x".into()).next(|| None, || None), Grouping::None);
    }

    #[test]
    fn what_no_node_has_cannot_be_named() {
        let nodes = nodes(&[&[("disk", "ssd")]]);
        assert_eq!(Grouping::named("disk", &nodes), Ok(Grouping::Label("disk".into())));
        for name in ["pool", "zone", "disc", ""] {
            assert!(Grouping::named(name, &nodes).is_err(), "{name}");
        }
        assert_eq!(names(&nodes), ["verdict", "pool", "zone", "none", "disk"]);
    }
}
