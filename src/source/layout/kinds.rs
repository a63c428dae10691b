//! Infers the kind of objects that have none from the name of their file.

use super::Hint;

/// A kind and its `apiVersion`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) struct KindOf {
    pub(in crate::source) kind: &'static str,
    pub(in crate::source) api_version: &'static str,
}

/// The names of resources: the plural, and other forms that tools write.
const RESOURCES: &[(&str, &str, &str)] = &[
    ("csidrivers", "CSIDriver", "storage.k8s.io/v1"),
    ("csinodes", "CSINode", "storage.k8s.io/v1"),
    ("csistoragecapacities", "CSIStorageCapacity", "storage.k8s.io/v1"),
    ("daemonsets", "DaemonSet", "apps/v1"),
    ("deployments", "Deployment", "apps/v1"),
    ("deviceclasses", "DeviceClass", "resource.k8s.io/v1"),
    ("events", "Event", "v1"),
    ("namespaces", "Namespace", "v1"),
    ("nodes", "Node", "v1"),
    ("persistentvolumeclaims", "PersistentVolumeClaim", "v1"),
    ("persistentvolumes", "PersistentVolume", "v1"),
    ("poddisruptionbudgets", "PodDisruptionBudget", "policy/v1"),
    ("podgroups", "PodGroup", "scheduling.k8s.io/v1alpha2"),
    ("pods", "Pod", "v1"),
    ("priorityclasses", "PriorityClass", "scheduling.k8s.io/v1"),
    ("pdbs", "PodDisruptionBudget", "policy/v1"),
    ("pvcs", "PersistentVolumeClaim", "v1"),
    ("pvs", "PersistentVolume", "v1"),
    ("replicasets", "ReplicaSet", "apps/v1"),
    ("replicationcontrollers", "ReplicationController", "v1"),
    ("resourceclaims", "ResourceClaim", "resource.k8s.io/v1"),
    ("resourceclaimtemplates", "ResourceClaimTemplate", "resource.k8s.io/v1"),
    ("resourceslices", "ResourceSlice", "resource.k8s.io/v1"),
    ("services", "Service", "v1"),
    ("statefulsets", "StatefulSet", "apps/v1"),
    ("storageclasses", "StorageClass", "storage.k8s.io/v1"),
    ("volumeattachments", "VolumeAttachment", "storage.k8s.io/v1"),
];

/// Returns the kind of a resource: `pods`, `storage-classes`, `priorityclasses.scheduling.k8s.io`, in any case.
pub(in crate::source) fn of_resource(name: &str) -> Option<KindOf> {
    let (name, group) = name.split_once('.').unwrap_or((name, ""));
    let name = name.replace('-', "").to_ascii_lowercase();
    // Some tools name a folder after the kind of its objects.
    let is = |(resource, kind, _): &&(&str, &str, &str)| *resource == name || kind.eq_ignore_ascii_case(&name);
    let (_, kind, api_version) = RESOURCES.iter().find(is)?;
    let (own, _) = api_version.split_once('/').unwrap_or(("", api_version));
    (group.is_empty() || group == own).then_some(KindOf { kind, api_version })
}

/// Returns the hint for a file of any tool: objects in `pods.json`, `pods/shop.json` and `pod/shop/web.json` that have a
/// name are pods.
pub(in crate::source) fn general_hint(path: &str) -> Hint {
    let mut parts = path.rsplit('/');
    let file = parts.next().and_then(|file| file.split('.').next()).unwrap_or_default();
    let kind = of_resource(file).or_else(|| parts.take(2).find_map(of_resource));
    Hint { kind, ..Hint::default() }
}
