//! Whether a workload's template differs from that of its pods.

use std::collections::BTreeSet;

use crate::cluster::{Pod, PodSpec, Toleration};

/// Returns whether two pods are made from templates that differ in fields that are known of both. Fields that admission or
/// controllers set are not compared.
pub(super) fn differs(old: &Pod, new: &Pod) -> bool {
    let (a, b): (&PodSpec, &PodSpec) = (&old.spec, &new.spec);
    let tolerations = |spec: &PodSpec| {
        let is_own = |t: &&Toleration| !t.key.starts_with("node.kubernetes.io/");
        spec.tolerations.iter().filter(is_own).map(|t| format!("{t:?}")).collect::<BTreeSet<_>>()
    };
    let claims = |spec: &PodSpec| spec.volumes.iter().map(|volume| volume.name.clone()).collect::<BTreeSet<_>>();
    let affinity = |pod: &Pod| {
        let mut affinity = pod.spec.affinity.clone();
        // The controller of a DaemonSet replaces it.
        if let Some(of_nodes) = affinity.as_mut().and_then(|a| a.node_affinity.as_mut()).filter(|_| pod.daemon_node().is_some()) {
            of_nodes.required = None;
        }
        affinity.filter(|affinity| {
            affinity.pod_affinity.is_some()
                || affinity.pod_anti_affinity.is_some()
                || affinity.node_affinity.as_ref().is_some_and(|nodes| nodes.required.is_some() || nodes.preferred.is_some())
        })
    };
    let own_labels = |pod: &Pod| {
        let is_set = |key: &str| {
            matches!(key, "pod-template-hash" | "controller-revision-hash" | "pod-template-generation" | "controller-uid" | "job-name")
                || ["statefulset.kubernetes.io/", "apps.kubernetes.io/", "batch.kubernetes.io/"]
                    .iter()
                    .any(|prefix| key.starts_with(prefix))
        };
        let labels = pod.metadata.labels.iter().filter(|(key, _)| !is_set(key));
        labels.map(|(key, value)| (key.clone(), value.clone())).collect::<BTreeSet<_>>()
    };
    a.containers != b.containers
        || a.init_containers != b.init_containers
        || a.node_selector.clone().unwrap_or_default() != b.node_selector.clone().unwrap_or_default()
        || a.scheduler_name != b.scheduler_name
        || a.priority != b.priority
        || a.topology_spread_constraints != b.topology_spread_constraints
        || a.host_network.unwrap_or(false) != b.host_network.unwrap_or(false)
        || a.resource_claims != b.resource_claims
        || tolerations(a) != tolerations(b)
        || claims(a) != claims(b)
        || affinity(old) != affinity(new)
        || own_labels(old) != own_labels(new)
}
