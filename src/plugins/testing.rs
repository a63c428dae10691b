//! Small clusters for tests of plugins that read the pods on other nodes.

use std::sync::Arc;

use crate::cluster::{Cluster, Node, Object, Pod};
use crate::framework::{Context, NodeInfo, Nodes, PodInfo, Snapshot};
use crate::release::{Emulation, Gate};

/// Makes a node with labels.
pub(in crate::plugins) fn node(name: &str, labels: &str) -> Node {
    serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","labels":{labels}}}}}"#)).unwrap()
}

/// Parses a pod as plugins see it.
pub(in crate::plugins) fn info(pod: Pod) -> PodInfo {
    PodInfo::new(Arc::new(pod))
}

/// Nodes with pods on them, and other objects.
pub(in crate::plugins) struct World {
    pub(in crate::plugins) cluster: Cluster,
    pub(in crate::plugins) snapshot: Snapshot,
    pub(in crate::plugins) emulation: Emulation,
}

impl World {
    /// Makes a world of nodes with their pods, and of other objects.
    pub(in crate::plugins) fn new(nodes: Vec<(Node, Vec<Pod>)>, objects: impl IntoIterator<Item = Object>) -> Self {
        let nodes = nodes.into_iter().map(|(node, pods)| {
            let mut info = NodeInfo::new(Arc::new(node));
            for pod in pods {
                info.add_pod(Arc::new(PodInfo::new(Arc::new(pod))));
            }
            info
        });
        Self { cluster: objects.into_iter().collect(), snapshot: Snapshot::of(nodes), emulation: Emulation::default() }
    }

    pub(in crate::plugins) fn cx(&self) -> Context<'_> {
        Context { cluster: &self.cluster, snapshot: &self.snapshot, emulation: self.emulation, now: jiff::Timestamp::UNIX_EPOCH }
    }

    pub(in crate::plugins) fn nodes(&self) -> &Nodes {
        self.snapshot.nodes()
    }

    /// Returns the emulation with some gates off.
    pub(in crate::plugins) fn emulation(&self, off: &[Gate]) -> Emulation {
        let mut emulation = self.emulation;
        for gate in off {
            emulation.set(*gate, false);
        }
        emulation
    }
}
