//! The workload of a pod: its Deployment where there is one, else its controller.

use std::fmt;

use crate::cluster::{Cluster, Key, Pod, Str};

/// The object whose template makes a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Workload {
    /// Its kind, such as `Deployment`.
    pub kind: Str,
    pub key: Key,
}

impl Workload {
    /// Returns the workload of a pod; `None` for a pod without a controller.
    pub fn of(cluster: &Cluster, pod: &Pod) -> Option<Self> {
        let owner = pod.metadata.controller()?;
        let key = |name: &Str| Key::new(pod.metadata.namespace.clone(), name.clone());
        let deployment = if owner.kind == "ReplicaSet" { deployment_of(cluster, pod, &owner.name) } else { None };
        Some(match deployment {
            Some(name) => Self { kind: "Deployment".into(), key: key(&name) },
            None => Self { kind: owner.kind.clone(), key: key(&owner.name) },
        })
    }
}

impl fmt::Display for Workload {
    /// Writes kind and name without the namespace, as `deployment web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key.name)
    }
}

/// Returns the Deployment of a pod's ReplicaSet: its owner, or its name without the hash of the pod's template.
pub fn deployment_of(cluster: &Cluster, pod: &Pod, replica_set: &Str) -> Option<Str> {
    let key = Key::new(pod.metadata.namespace.clone(), replica_set.clone());
    if let Some(known) = cluster.replica_sets.get(&key) {
        return known.metadata.controller().filter(|owner| owner.kind == "Deployment").map(|owner| owner.name.clone());
    }
    let hash = pod.metadata.labels.get("pod-template-hash")?;
    Some(Str::from(replica_set.strip_suffix(hash.as_str())?.strip_suffix('-')?))
}
