//! Suggestions for pods that do not exist.

use std::collections::BTreeSet;

use crate::cluster::{Cluster, Key};
use crate::suggest::nearest;

/// Returns a suggestion to end a message with, or nothing: a pod of the same name in another namespace, a pod with a similar name, or a similar namespace.
pub fn pod_meant(cluster: &Cluster, key: &Key) -> String {
    let elsewhere = cluster.pods.iter().map(|pod| pod.key()).find(|other| other.name == key.name);
    let in_namespace = || {
        let names = cluster.pods.in_namespace(&key.namespace).map(|pod| pod.metadata.name.as_str());
        nearest(&key.name, names).map(|name| Key::new(key.namespace.as_str(), name))
    };
    let in_another = || {
        let namespaces: BTreeSet<&str> = cluster.pods.iter().map(|pod| pod.metadata.namespace.as_str()).collect();
        (!namespaces.contains(key.namespace.as_str())).then(|| nearest(&key.namespace, namespaces.into_iter()))?
    };
    match elsewhere.or_else(in_namespace) {
        Some(pod) => format!("; did you mean {pod}?"),
        None => in_another().map_or_else(String::new, |namespace| format!("; did you mean namespace {namespace}?")),
    }
}
