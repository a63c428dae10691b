//! Finds pods that already have a node and wait in `PreBind`.
//!
//! kube-scheduler writes no condition while it binds: what shows that it does are the claims that it wrote for the pod.

use crate::cluster::{Cluster, Key, Pod, Str};
use crate::plugins::volume_helpers::{ANN_SELECTED_NODE, claim_of, is_fully_bound};

/// A claim that `PreBind` wrote for a pod, and which is not bound yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BindingUnderWay {
    /// Name of the claim, in the pod's namespace.
    pub claim: Str,
    /// The node that was chosen for the pod.
    pub node: Str,
}

impl std::fmt::Display for BindingUnderWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "claim {:?} is being bound for {}", self.claim.as_str(), self.node)
    }
}

/// Returns the first claim of a pending pod that `VolumeBinding` annotated with a node and that is not bound; `None` without
/// one. A provisioner that gives up removes the annotation.
pub fn binding_under_way(cluster: &Cluster, pod: &Pod) -> Option<BindingUnderWay> {
    if !pod.is_pending() || pod.is_terminating() {
        return None;
    }
    pod.spec.volumes.iter().filter_map(|volume| claim_of(pod, volume)).find_map(|name| {
        let key = Key::new(pod.metadata.namespace.clone(), name.name.clone());
        let claim = cluster.persistent_volume_claims.get(&key)?;
        let node = claim.metadata.annotations.get(ANN_SELECTED_NODE).filter(|_| !is_fully_bound(claim))?;
        Some(BindingUnderWay { claim: name.name, node: node.clone() })
    })
}
