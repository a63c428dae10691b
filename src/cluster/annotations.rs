//! Selects the annotations that the model keeps.
//!
//! Annotations can outweigh the rest of an object (`kubectl.kubernetes.io/last-applied-configuration` repeats all of
//! it), and kube-scheduler reads a handful. Of the others a digest is kept: an update that changes any annotation of a
//! pod counts as a change of the pod (`isPodUpdated` in `pkg/scheduler/backend/queue/scheduling_queue.go`).

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Labels, Str};

/// The annotations that kube-scheduler and the libraries that it calls read, and those with the ProvisioningRequest and Volcano's
/// PodGroup of a pod, which say whom it waits for. That of mirrors of static pods is read by `kubectl drain`. The keys are defined in
/// `staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go` (bind state and chosen node of claims and
/// volumes), `staging/src/k8s.io/api/core/v1` (the beta storage class, a CSINode's migrated plugins, `preferAvoidPods`)
/// and `staging/src/k8s.io/api/resource/v1` (claims made for an entry of a pod or for its extended resources). The mark of the
/// default storage class decides about claims that name no class.
pub const KEPT_ANNOTATIONS: [&str; 16] = [
    "autoscaling.x-k8s.io/consume-provisioning-request",
    "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
    MIRROR,
    "pv.kubernetes.io/bind-completed",
    "pv.kubernetes.io/bound-by-controller",
    "pv.kubernetes.io/migrated-to",
    "pv.kubernetes.io/provisioned-by",
    "resource.kubernetes.io/extended-resource-claim",
    "resource.kubernetes.io/pod-claim-name",
    PREFER_AVOID_PODS,
    "scheduling.k8s.io/group-name",
    "storage.alpha.kubernetes.io/migrated-plugins",
    "storageclass.kubernetes.io/is-default-class",
    "volume.beta.kubernetes.io/storage-class",
    "volume.kubernetes.io/selected-node",
    "volume.kubernetes.io/storage-provisioner",
];

/// The annotation of the mirrors of static pods; `MirrorPodAnnotationKey` in `staging/src/k8s.io/api/core/v1/annotation_key_constants.go`.
pub(super) const MIRROR: &str = "kubernetes.io/config.mirror";

/// The annotation by which a node asks to avoid the pods of some controllers.
pub(crate) const PREFER_AVOID_PODS: &str = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/// The key of the digest of all other annotations, so that a change of one of them is seen as a change.
pub const OTHER_ANNOTATIONS: &str = "schedscope/other-annotations";

/// The value of [`PREFER_AVOID_PODS`].
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AvoidPods {
    prefer_avoid_pods: Vec<PreferAvoidPodsEntry>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PreferAvoidPodsEntry {
    pod_signature: PodSignature,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodSignature {
    pod_controller: AvoidedController,
}

/// A controller whose pods a node asks to avoid.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct AvoidedController {
    /// The kind.
    pub(crate) kind: Str,
    /// The UID.
    pub(crate) uid: Str,
}

/// Parses the value of [`PREFER_AVOID_PODS`]; an invalid one lists no controllers. Mirrors `GetAvoidPodsFromNodeAnnotations` of
/// `component-helpers/scheduling/corev1/helpers.go`.
pub(crate) fn avoided_controllers(text: &str) -> Vec<AvoidedController> {
    let avoids: AvoidPods = serde_json::from_str(text).unwrap_or_default();
    avoids.prefer_avoid_pods.into_iter().map(|entry| entry.pod_signature.pod_controller).collect()
}

/// Reads annotations, keeping [`KEPT_ANNOTATIONS`] and a digest of the rest.
pub(super) fn read_annotations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    deserializer.deserialize_option(Annotations)
}

struct Annotations;

impl<'de> Visitor<'de> for Annotations {
    type Value = Labels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_unit<E: Error>(self) -> Result<Labels, E> {
        Ok(Labels::default())
    }

    fn visit_none<E: Error>(self) -> Result<Labels, E> {
        Ok(Labels::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Labels, D::Error> {
        deserializer.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Labels, A::Error> {
        let mut kept = Labels::default();
        let mut others = 0u64;
        while let Some(key) = access.next_key::<Str>()? {
            if KEPT_ANNOTATIONS.contains(&key.as_str()) || key == OTHER_ANNOTATIONS {
                kept.insert(key, access.next_value()?);
            } else {
                // A sum does not depend on the order of the annotations.
                let Digest(value) = access.next_value()?;
                others = others.wrapping_add(digest(key.as_bytes()).rotate_left(17) ^ value);
            }
        }
        if others != 0 {
            kept.insert(Str::interned(OTHER_ANNOTATIONS), format!("{others:016x}").into());
        }
        Ok(kept)
    }
}

/// The digest of a value, which itself is dropped.
struct Digest(u64);

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Digest;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Digest, E> {
                Ok(Digest(digest(text.as_bytes())))
            }
            fn visit_unit<E: Error>(self) -> Result<Digest, E> {
                self.visit_str("")
            }
            fn visit_none<E: Error>(self) -> Result<Digest, E> {
                self.visit_str("")
            }
            fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Digest, D::Error> {
                deserializer.deserialize_str(self)
            }
        }
        deserializer.deserialize_option(Text)
    }
}

/// Returns the FNV-1a hash. It is the same on every machine, so the digest may be written to a file.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use crate::cluster::{Labels, Meta, OTHER_ANNOTATIONS};

    fn read(annotations: &str) -> Labels {
        serde_json::from_str::<Meta>(&format!(r#"{{"name":"a","annotations":{annotations}}}"#)).unwrap().annotations.clone()
    }

    #[test]
    fn keeps_what_is_read_and_notices_changes_of_the_rest() {
        let kept = read(r#"{"volume.kubernetes.io/selected-node":"n1","note":"x","other":null}"#);
        assert_eq!(kept.get("volume.kubernetes.io/selected-node").unwrap(), "n1");
        assert_eq!((kept.len(), kept.get("note")), (2, None));
        assert_ne!(kept, read(r#"{"volume.kubernetes.io/selected-node":"n1","note":"y","other":""}"#));
        assert_eq!(kept, read(r#"{"other":"","note":"x","volume.kubernetes.io/selected-node":"n1"}"#));
        for nothing in ["{}", "null"] {
            assert!(read(nothing).is_empty());
        }
        let again = serde_json::from_str::<Labels>(&serde_json::to_string(&kept).unwrap()).unwrap();
        assert_eq!(read(&serde_json::to_string(&again).unwrap()).get(OTHER_ANNOTATIONS), kept.get(OTHER_ANNOTATIONS));
    }
}
