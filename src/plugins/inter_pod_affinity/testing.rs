//! Small clusters for the tests of this plugin.

use std::sync::Arc;

use crate::cluster::{Cluster, Node, Object, Pod};
use crate::framework::{Context, NodeInfo, Nodes, PodInfo, Snapshot};
use crate::release::Emulation;

/// Makes a pod in namespace `default` with its name as uid.
pub(super) fn pod(name: &str, labels: &str, affinity: &str) -> Pod {
    pod_in("default", name, labels, affinity)
}

/// Makes a pod in any namespace.
pub(super) fn pod_in(namespace: &str, name: &str, labels: &str, affinity: &str) -> Pod {
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{namespace}/{name}","labels":{labels}}},"spec":{{"affinity":{affinity}}}}}"#
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

/// Nodes with pods on them, and namespaces by name and labels.
pub(super) struct World {
    cluster: Cluster,
    snapshot: Snapshot,
    pub(super) emulation: Emulation,
}

impl World {
    pub(super) fn new(nodes: Vec<(Node, Vec<Pod>)>, namespaces: &[(&str, &str)]) -> Self {
        let nodes = nodes.into_iter().map(|(node, pods)| {
            let mut info = NodeInfo::new(Arc::new(node));
            for pod in pods {
                info.add_pod(Arc::new(PodInfo::new(Arc::new(pod))));
            }
            info
        });
        let cluster = namespaces.iter().map(|(name, labels)| {
            let text = format!(r#"{{"metadata":{{"name":"{name}","labels":{labels}}}}}"#);
            Object::Namespace(Arc::new(serde_json::from_str(&text).unwrap()))
        });
        Self { cluster: cluster.collect(), snapshot: Snapshot::of(nodes), emulation: Emulation::default() }
    }

    pub(super) fn cx(&self) -> Context<'_> {
        Context { cluster: &self.cluster, snapshot: &self.snapshot, emulation: self.emulation, now: jiff::Timestamp::UNIX_EPOCH }
    }

    pub(super) fn nodes(&self) -> &Nodes {
        self.snapshot.nodes()
    }
}
