//! Finds pods that already have a node and wait in `PreBind`.
//!
//! kube-scheduler writes no condition while it binds: what shows that it does are the claims that it wrote for the pod.

use crate::cluster::{Cluster, Key, Pod};
use crate::plugins::volume_helpers::{ANN_SELECTED_NODE, claim_class, claim_of, is_fully_bound};
use crate::trace::BindingUnderWay;

/// The annotation with a claim's provisioner, which the volume controller writes.
const ANN_STORAGE_PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";

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
        let of_class = || {
            let class = cluster.storage_classes.named(&claim_class(claim))?;
            Some(class.provisioner.clone())
        };
        let provisioner = claim.metadata.annotations.get(ANN_STORAGE_PROVISIONER).cloned().or_else(of_class).unwrap_or_default();
        Some(BindingUnderWay { claim: name.name, node: node.clone(), provisioner, since: claim.metadata.changed })
    })
}
