//! What one cycle sees of the nodes; mirrors `pkg/scheduler/backend/cache/snapshot.go`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{BudgetIndex, NodeInfo, PodClasses};
use crate::cluster::Str;

/// The nodes at one moment, in the order kube-scheduler walks them: zones in turn, one node each. Cloning is free.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    nodes: Arc<Vec<Arc<NodeInfo>>>,
    index: Arc<HashMap<Str, usize>>,
    image_nodes: Arc<HashMap<Str, ImageState>>,
    pods: PodClasses,
    budgets: BudgetIndex,
}

/// Where an image is; mirrors `ImageStateSummary`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageState {
    /// Bytes, as the first node that had the image reported them.
    pub size: i64,
    /// Nodes that have the image.
    pub num_nodes: usize,
}

impl Snapshot {
    /// A snapshot of nodes that stand in walking order already, and of the pods on them.
    pub fn new(
        nodes: Arc<Vec<Arc<NodeInfo>>>,
        index: Arc<HashMap<Str, usize>>,
        image_nodes: Arc<HashMap<Str, ImageState>>,
        pods: PodClasses,
    ) -> Self {
        Self { nodes, index, image_nodes, pods, budgets: BudgetIndex::default() }
    }

    /// A snapshot of any nodes, for tests and small tools; image states are counted from the nodes.
    pub fn of(nodes: impl IntoIterator<Item = NodeInfo>) -> Self {
        let nodes: Vec<Arc<NodeInfo>> = nodes.into_iter().map(Arc::new).collect();
        let index = nodes.iter().enumerate().map(|(i, n)| (n.name().clone(), i)).collect();
        let mut pods = PodClasses::default();
        for (i, node) in nodes.iter().enumerate() {
            node.pods.iter().for_each(|pod| pods.add(pod, i));
        }
        let mut images: HashMap<Str, ImageState> = HashMap::new();
        for node in &nodes {
            let mut seen = HashSet::new();
            for image in &node.node.status.images {
                for name in image.names.iter().filter(|n| seen.insert((*n).clone())) {
                    let state = images.entry(name.clone()).or_insert(ImageState { size: image.size_bytes.unwrap_or(0), num_nodes: 0 });
                    state.num_nodes += 1;
                }
            }
        }
        Self::new(Arc::new(nodes), Arc::new(index), Arc::new(images), pods)
    }

    /// Returns the snapshot with these PodDisruptionBudgets; without, it has none.
    #[must_use]
    pub fn with_budgets(self, budgets: BudgetIndex) -> Self {
        Self { budgets, ..self }
    }

    /// Returns the PodDisruptionBudgets that can match pods.
    pub fn budgets(&self) -> &BudgetIndex {
        &self.budgets
    }

    /// All nodes in walking order.
    pub fn nodes(&self) -> &[Arc<NodeInfo>] {
        &self.nodes
    }

    /// The pods on the nodes by class, the nodes numbered as in [`Self::nodes`].
    pub fn pods(&self) -> &PodClasses {
        &self.pods
    }

    /// A node by name.
    pub fn get(&self, name: &str) -> Option<&Arc<NodeInfo>> {
        self.index.get(name).map(|i| &self.nodes[*i])
    }

    /// Where an image is, looked up by the exact name; `None` where no node has it.
    pub fn image(&self, name: &str) -> Option<ImageState> {
        self.image_nodes.get(name).copied()
    }

    /// How many nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True without nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
