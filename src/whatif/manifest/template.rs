//! Whether a workload's template differs from that of its pods.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cluster::{Pod, PodSpec, Quantity, Toleration};

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

/// Returns whether a manifest has only fields that the live object has too. Quantities are compared as amounts.
pub(super) fn is_within(manifest: &Value, live: &Value) -> bool {
    match (manifest, live) {
        (Value::Object(fields), Value::Object(known)) => {
            fields.iter().all(|(name, value)| known.get(name).map_or(is_empty(value), |live| is_within(value, live)))
        }
        (Value::Array(items), Value::Array(known)) => {
            items.len() == known.len() && items.iter().zip(known).all(|(item, live)| is_within(item, live))
        }
        (one, other) if one == other => true,
        (one, other) => match (amount(one), amount(other)) {
            (Some(one), Some(other)) => one == other,
            _ => false,
        },
    }
}

/// Returns whether the API server leaves out a field with this value.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Bool(on) => !on,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.as_i64() == Some(0),
    }
}

fn amount(value: &Value) -> Option<Quantity> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}
