//! The nodes on which a DaemonSet runs a pod. Mirrors `NodeShouldRunDaemonPod` in `pkg/controller/daemon/daemon_controller.go`.

use std::sync::Arc;

use crate::cluster::neighbors::TemplateSpec;
use crate::cluster::{Cluster, Node, Pod, PodSpec, Toleration};
use crate::plugins::helper::tolerates;
use crate::plugins::node_affinity::required_node_affinity_matches;
use crate::release::Emulation;

/// The taints that every pod of a DaemonSet tolerates.
const TOLERATED: [&str; 6] = ["not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"];

/// How many nodes a DaemonSet has, and why not the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Eligible {
    /// The number of nodes.
    pub nodes: usize,
    /// Those that run a pod.
    pub eligible: usize,
    /// Those that its node selector or affinity leaves out.
    pub unselected: usize,
    /// Those with a taint that it does not tolerate.
    pub tainted: usize,
}

impl Eligible {
    /// Counts the nodes for a template.
    pub(super) fn of(cluster: &Cluster, template: &TemplateSpec) -> Self {
        let mut spec = PodSpec::default();
        spec.affinity.clone_from(&template.affinity);
        spec.node_selector = (!template.node_selector.is_empty()).then(|| template.node_selector.clone());
        let mut tolerations: Vec<Toleration> = template.tolerations.iter().cloned().collect();
        tolerations.extend(TOLERATED.iter().map(|name| Toleration {
            key: format!("node.kubernetes.io/{name}").into(),
            operator: "Exists".into(),
            ..Toleration::default()
        }));
        let pod = Pod { spec: Arc::new(spec), ..Pod::default() };
        let mut found = Self { nodes: cluster.nodes.len(), ..Self::default() };
        for node in cluster.nodes.iter() {
            if !required_node_affinity_matches(&pod, node) {
                found.unselected += 1;
            } else if is_tainted(node, &tolerations) {
                found.tainted += 1;
            } else {
                found.eligible += 1;
            }
        }
        found
    }
}

fn is_tainted(node: &Node, tolerations: &[Toleration]) -> bool {
    let keeps_out = |effect: &str| matches!(effect, "NoSchedule" | "NoExecute");
    node.spec.taints.iter().any(|taint| keeps_out(&taint.effect) && !tolerates(tolerations, taint, Emulation::default()))
}
