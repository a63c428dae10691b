//! The nodes on which a DaemonSet runs a pod. Mirrors `NodeShouldRunDaemonPod` in `pkg/controller/daemon/daemon_controller.go`.

use std::sync::Arc;

use crate::cluster::neighbors::TemplateSpec;
use crate::cluster::{Cluster, Node, Pod, PodSpec, Toleration, taints_of_daemons};
use crate::plugins::helper::tolerates;
use crate::plugins::node_affinity::required_node_affinity_matches;
use crate::release::Emulation;

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
        tolerations.extend(taints_of_daemons(template.host_network).map(|(key, effect)| Toleration {
            key: key.into(),
            operator: "Exists".into(),
            effect: effect.into(),
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::cluster::Object;

    #[test]
    fn taints_are_tolerated_with_their_effect_and_that_of_the_network_by_pods_in_it() {
        let node = |name: &str, key: &str, effect: &str| {
            let taints = json!([{"key": format!("node.kubernetes.io/{key}"), "effect": effect}]);
            Object::Node(Arc::new(serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"taints": taints}})).unwrap()))
        };
        let cluster: Cluster = [
            node("a", "network-unavailable", "NoSchedule"),
            node("b", "unreachable", "NoSchedule"),
            node("c", "unreachable", "NoExecute"),
            node("d", "memory-pressure", "NoSchedule"),
        ]
        .into_iter()
        .collect();
        let eligible = |host_network| Eligible::of(&cluster, &TemplateSpec { host_network, ..TemplateSpec::default() });
        assert_eq!(eligible(false), Eligible { nodes: 4, eligible: 2, unselected: 0, tainted: 2 });
        assert_eq!(eligible(true), Eligible { nodes: 4, eligible: 3, unselected: 0, tainted: 1 });
    }
}
