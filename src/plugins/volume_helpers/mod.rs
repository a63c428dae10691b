//! Helpers of the volume plugins: claims of a pod, storage classes, binding state, node affinity of volumes.
//!
//! Mirrors `staging/src/k8s.io/component-helpers/storage/volume/{helpers,pv_helpers}.go` and
//! `staging/src/k8s.io/component-helpers/storage/ephemeral/ephemeral.go`; [`csi_migration`] mirrors
//! `staging/src/k8s.io/csi-translation-lib`.

pub mod csi_migration;

use std::sync::Arc;

use crate::cluster::storage::{PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{Labels, NodeSelector, Pod, Str, Volume};
use crate::framework::{ActionType, Change, ClusterEvent, ClusterEventWithHint, EventResource, HintError, QueueingHint, Reason};

/// On claims: the binding is complete.
pub const ANN_BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
/// On volumes: bound by a controller or the scheduler instead of a user.
pub const ANN_BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
/// On claims: the node for which their volume is provisioned.
pub const ANN_SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
/// On claims and volumes: the class, before there was a field for it.
pub const ANN_BETA_STORAGE_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
/// On CSINodes: in-tree plugins that CSI drivers have replaced, separated by commas.
pub const ANN_MIGRATED_PLUGINS: &str = "storage.alpha.kubernetes.io/migrated-plugins";
/// The provisioner of classes without dynamic provisioning.
pub const NOT_SUPPORTED_PROVISIONER: &str = "kubernetes.io/no-provisioner";
/// The binding mode of classes whose claims wait for a pod.
pub const WAIT_FOR_FIRST_CONSUMER: &str = "WaitForFirstConsumer";
/// Resource name of a volume's size.
pub const STORAGE: &str = "storage";

/// Returns the class that a claim requests; empty for none.
pub fn claim_class(claim: &PersistentVolumeClaim) -> Str {
    let beta = claim.metadata.annotations.get(ANN_BETA_STORAGE_CLASS);
    beta.or(claim.spec.storage_class_name.as_ref()).cloned().unwrap_or_default()
}

/// Returns the class of a volume; empty for none.
pub fn volume_class(volume: &PersistentVolume) -> &Str {
    volume.metadata.annotations.get(ANN_BETA_STORAGE_CLASS).unwrap_or(&volume.spec.storage_class_name)
}

/// Whether a claim names its volume and the binding is complete.
pub fn is_fully_bound(claim: &PersistentVolumeClaim) -> bool {
    !claim.spec.volume_name.is_empty() && claim.metadata.annotations.contains_key(ANN_BIND_COMPLETED)
}

/// The claim of a pod's volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimName {
    /// Its name, in the pod's namespace.
    pub name: Str,
    /// Whether it is created for a generic ephemeral volume; the pod must then control it.
    pub ephemeral: bool,
}

/// Returns the claim of a volume; `None` for volumes without one.
pub fn claim_of(pod: &Pod, volume: &Volume) -> Option<ClaimName> {
    if let Some(source) = &volume.persistent_volume_claim {
        return Some(ClaimName { name: source.claim_name.clone(), ephemeral: false });
    }
    volume.ephemeral.as_ref()?;
    Some(ClaimName { name: format!("{}-{}", pod.metadata.name, volume.name).into(), ephemeral: true })
}

/// Whether the pod uses the claim, including by a generic ephemeral volume.
pub fn uses_claim(pod: &Pod, claim: &PersistentVolumeClaim) -> bool {
    claim.metadata.namespace == pod.metadata.namespace
        && pod.spec.volumes.iter().filter_map(|v| claim_of(pod, v)).any(|c| c.name == claim.metadata.name)
}

/// Whether the pod has a `persistentVolumeClaim` volume of that claim; generic ephemeral volumes do not count.
pub fn names_claim(pod: &Pod, claim: &PersistentVolumeClaim) -> bool {
    let named = |v: &Volume| v.persistent_volume_claim.as_ref().is_some_and(|s| s.claim_name == claim.metadata.name);
    claim.metadata.namespace == pod.metadata.namespace && pod.spec.volumes.iter().any(named)
}

/// Rejects the claim of a generic ephemeral volume that the pod does not own.
pub fn volume_is_for_pod(pod: &Pod, claim: &PersistentVolumeClaim) -> Result<(), Reason> {
    let (p, c) = (&pod.metadata, &claim.metadata);
    if c.namespace == p.namespace && c.controller().is_some_and(|o| o.uid == p.uid) {
        return Ok(());
    }
    Err(Reason::ClaimNotOwned { claim: claim.metadata.key(), pod: pod.key() })
}

/// Whether a volume's required node affinity matches a node with these labels; fields are ignored.
pub fn node_affinity_holds(required: Option<&NodeSelector>, labels: &Labels) -> bool {
    required.is_none_or(|selector| selector.matches(labels, None))
}

/// Returns a volume's required node affinity.
pub fn required_affinity(volume: &PersistentVolume) -> Option<&NodeSelector> {
    volume.spec.node_affinity.as_ref().and_then(|a| a.required.as_ref())
}

/// A hint of a volume plugin; it needs only the pod and the change.
pub(super) type Hint = fn(&Pod, &Change) -> Result<QueueingHint, HintError>;

/// Makes an event to register, with its hint.
pub(super) fn on(resource: EventResource, action: ActionType, hint: Hint) -> ClusterEventWithHint {
    let event = ClusterEvent::new(resource, action);
    ClusterEventWithHint { event, hint: Some(Arc::new(move |_, pod, change| hint(pod, change))) }
}

/// Makes an event to register that always queues the pod.
pub(super) fn always(resource: EventResource, action: ActionType) -> ClusterEventWithHint {
    ClusterEventWithHint { event: ClusterEvent::new(resource, action), hint: None }
}

/// Returns `Queue` if the condition holds.
pub(super) fn queue_if(condition: bool) -> QueueingHint {
    if condition { QueueingHint::Queue } else { QueueingHint::QueueSkip }
}

/// Returns the old and the new object of a change if they are of the hint's kind.
macro_rules! objects {
    ($change:expr, $kind:ident) => {{
        use crate::cluster::Object;
        let change: &$crate::framework::Change = $change;
        match (&change.old, &change.new) {
            (None | Some(Object::$kind(_)), None | Some(Object::$kind(_))) if change.old.is_some() || change.new.is_some() => {
                let cast = |o: &Option<Object>| match o {
                    Some(Object::$kind(o)) => Some(o.clone()),
                    _ => None,
                };
                Ok((cast(&change.old), cast(&change.new)))
            }
            _ => Err($crate::framework::HintError::UnexpectedObjects { expected: $crate::cluster::Kind::$kind }),
        }
    }};
}
pub(super) use objects;

#[cfg(test)]
pub(super) mod testing;

#[cfg(test)]
mod tests;
