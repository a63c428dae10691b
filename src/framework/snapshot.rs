//! The nodes as one scheduling cycle sees them; mirrors `pkg/scheduler/backend/cache/snapshot.go`.

use std::sync::Arc;

use super::{
    BudgetIndex, EquivalenceClasses, ImageState, Images, NodeInfo, NodeList, Nodes, PodGroupStates, PodInfo, PodsByPosition, Topology,
};
use crate::cluster::{Key, Str};

/// The nodes at the start of a cycle, in walking order: zones in turn, one node each. Cloning is free.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    nodes: NodeList,
    images: Images,
    /// The pods of [`Self::nodes`] by slot.
    pods: EquivalenceClasses,
    budgets: BudgetIndex,
    pod_groups: PodGroupStates,
    /// The nodes to evaluate, as positions; `None` for all.
    placement: Option<Arc<[usize]>>,
    /// The indexes over all nodes, where they are older than the nodes.
    indexes: Option<Arc<SnapshotIndexes>>,
}

/// The indexes of a snapshot over all nodes, from the time when it is taken.
#[derive(Debug)]
pub struct SnapshotIndexes {
    nodes: NodeList,
    /// By position: whether a pod on the node has affinity or anti-affinity to pods.
    has_affinity: Vec<bool>,
    /// By position: whether a pod on the node has required anti-affinity.
    has_required_anti_affinity: Vec<bool>,
}

impl SnapshotIndexes {
    pub(super) fn has_affinity(&self, position: usize) -> bool {
        self.has_affinity.get(position).copied().unwrap_or(false)
    }

    pub(super) fn has_required_anti_affinity(&self, position: usize) -> bool {
        self.has_required_anti_affinity.get(position).copied().unwrap_or(false)
    }
}

impl Snapshot {
    /// Makes a snapshot of nodes, image states, and pod counts by slot.
    pub fn new(nodes: NodeList, images: Images, pods: EquivalenceClasses) -> Self {
        let (budgets, pod_groups) = (BudgetIndex::default(), PodGroupStates::default());
        Self { nodes, images, pods, budgets, pod_groups, placement: None, indexes: None }
    }

    /// Makes a snapshot of any nodes, for tests and small tools. Image states are counted from the nodes.
    pub fn of(nodes: impl IntoIterator<Item = NodeInfo>) -> Self {
        let nodes: NodeList = nodes.into_iter().collect();
        let mut pods = EquivalenceClasses::default();
        for (slot, node) in nodes.slots().zip(nodes.nodes()) {
            node.pods.iter().for_each(|pod| pods.add(pod, slot));
        }
        let mut images = Images::default();
        nodes.nodes().iter().for_each(|node| images.add(&node.node));
        Self::new(nodes, images, pods)
    }

    /// Returns the snapshot with these PodDisruptionBudgets in place of its own; a new snapshot has none.
    #[must_use]
    pub fn with_budgets(self, budgets: BudgetIndex) -> Self {
        Self { budgets, ..self }
    }

    /// Returns the PodDisruptionBudgets that can match pods.
    pub fn budgets(&self) -> &BudgetIndex {
        &self.budgets
    }

    /// Returns the snapshot with these groups' pods; without, it knows of none.
    #[must_use]
    pub fn with_pod_groups(self, pod_groups: PodGroupStates) -> Self {
        Self { pod_groups, ..self }
    }

    pub fn pod_groups(&self) -> &PodGroupStates {
        &self.pod_groups
    }

    /// Returns the snapshot with a placement: only the nodes at these positions, in ascending order, are evaluated for a pod.
    /// Mirrors `AssumePlacement`.
    #[must_use]
    pub fn with_placement(self, nodes: &[usize]) -> Self {
        let placement = (nodes.len() != self.len()).then(|| nodes.into());
        Self { placement, ..self }
    }

    /// Returns what the snapshot knows about all nodes at once.
    pub fn indexes(&self) -> Arc<SnapshotIndexes> {
        let any = |of: fn(&PodInfo) -> bool| self.nodes().iter().map(|node| node.pods.iter().any(|pod| of(pod))).collect();
        let stanzas =
            |pod: &PodInfo| pod.pod.spec.affinity.as_ref().is_some_and(|a| a.pod_affinity.is_some() || a.pod_anti_affinity.is_some());
        let has_required_anti_affinity = any(|pod| !pod.required_anti_affinity().is_empty());
        Arc::new(SnapshotIndexes { nodes: self.nodes.clone(), has_affinity: any(stanzas), has_required_anti_affinity })
    }

    /// Returns the snapshot with the indexes of an earlier one. A pod that was assumed since is on its node; but its terms
    /// are seen only where the earlier snapshot lists the node, and its claims not at all. Mirrors `AssumePod`, which leaves
    /// the indexes as they are.
    #[must_use]
    pub fn with_indexes(self, indexes: Arc<SnapshotIndexes>) -> Self {
        Self { indexes: Some(indexes), ..self }
    }

    /// Whether a pod on a node uses the claim; mirrors `IsPVCUsedByPods`.
    pub fn is_claim_used(&self, claim: &Key) -> bool {
        let nodes = self.indexes.as_ref().map_or(&self.nodes, |indexes| &indexes.nodes);
        nodes.nodes().iter().any(|node| node.pvc_ref_counts.contains_key(claim))
    }

    /// Returns the positions of the nodes to evaluate, in walking order; `None` for all.
    pub fn placement(&self) -> Option<&[usize]> {
        self.placement.as_deref()
    }

    /// Whether the node at a position is evaluated.
    pub fn is_in_placement(&self, at: usize) -> bool {
        self.placement().is_none_or(|nodes| nodes.binary_search(&at).is_ok())
    }

    /// Returns the number of nodes to evaluate.
    pub fn nodes_in_placement(&self) -> usize {
        self.placement().map_or(self.len(), <[usize]>::len)
    }

    /// Returns all nodes in walking order.
    pub fn nodes(&self) -> &Nodes {
        self.nodes.nodes()
    }

    /// Returns the pods on the nodes by class; nodes are numbered as in [`Self::nodes`].
    pub fn pods(&self) -> PodsByPosition<'_> {
        PodsByPosition::new(&self.pods, &self.nodes, self.indexes.as_deref())
    }

    pub fn get(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.position(name).map(|at| &self.nodes()[at])
    }

    /// Returns a node's index in [`Self::nodes`]; `None` if no node has this name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.nodes.position(name)
    }

    /// Returns the index in [`Self::nodes`] of a node with the same object as there; `None` for one that an extender returned.
    #[inline]
    pub fn position_of(&self, node: &NodeInfo) -> Option<usize> {
        self.nodes.position_of(node)
    }

    /// Returns the place of each node in the order of names, by position.
    pub fn name_ranks(&self) -> Arc<[u32]> {
        self.nodes.name_ranks()
    }

    /// Returns the names of all nodes in walking order.
    pub fn names(&self) -> Arc<[Str]> {
        self.nodes.names()
    }

    /// Returns [`NodeInfo::name_hash`] of all nodes in walking order.
    pub fn name_hashes(&self) -> Arc<[u64]> {
        self.nodes.name_hashes()
    }

    /// Returns the images of the nodes.
    pub fn images(&self) -> &Images {
        &self.images
    }

    /// Returns the state of an image as a node's entry has it; `None` if no node has the image.
    pub fn image_on(&self, name: &str, node: &NodeInfo) -> Option<ImageState> {
        match self.nodes.slot(node.name()) {
            Some(slot) if self.images.differs(name) => self.images.at(name, slot),
            _ => self.images.get(name),
        }
    }

    /// Returns the domains that a label makes of all nodes.
    pub fn topology(&self, key: &Str) -> Arc<Topology> {
        self.nodes.topology(key)
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.nodes().len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes().is_empty()
    }
}
