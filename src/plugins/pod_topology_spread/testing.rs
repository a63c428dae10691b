//! Small clusters for the tests of this plugin.

use std::sync::Arc;

use crate::cluster::{Cluster, Node, Object, Pod};
use crate::framework::{Context, NodeInfo, Nodes, PodInfo, Snapshot};
use crate::release::{Emulation, Gate};

/// Makes a pod in namespace `default` with spread constraints and its name as uid.
pub(super) fn pod(name: &str, labels: &str, constraints: &str) -> Pod {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"default","uid":"{name}","labels":{labels}}},"spec":{{"topologySpreadConstraints":{constraints}}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

/// Makes a node with labels.
pub(super) fn node(name: &str, labels: &str) -> Node {
    serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","labels":{labels}}}}}"#)).unwrap()
}

/// Parses a pod as plugins see it.
pub(super) fn info(pod: Pod) -> PodInfo {
    PodInfo::new(Arc::new(pod))
}

/// Nodes with pods on them, and other objects.
pub(super) struct World {
    pub(super) cluster: Cluster,
    pub(super) snapshot: Snapshot,
    pub(super) emulation: Emulation,
}

impl World {
    pub(super) fn new(nodes: Vec<(Node, Vec<Pod>)>, objects: impl IntoIterator<Item = Object>) -> Self {
        let nodes = nodes.into_iter().map(|(node, pods)| {
            let mut info = NodeInfo::new(Arc::new(node));
            for pod in pods {
                info.add_pod(Arc::new(PodInfo::new(Arc::new(pod))));
            }
            info
        });
        Self { cluster: objects.into_iter().collect(), snapshot: Snapshot::of(nodes), emulation: Emulation::default() }
    }

    pub(super) fn cx(&self) -> Context<'_> {
        Context { cluster: &self.cluster, snapshot: &self.snapshot, emulation: self.emulation, now: jiff::Timestamp::UNIX_EPOCH }
    }

    pub(super) fn nodes(&self) -> &Nodes {
        self.snapshot.nodes()
    }

    /// Returns the emulation with some gates off.
    pub(super) fn emulation(&self, off: &[Gate]) -> Emulation {
        let mut emulation = self.emulation;
        for gate in off {
            emulation.set(*gate, false);
        }
        emulation
    }
}
