//! Maps the keys of a kube-scheduler-simulator export to the types of their lists.

use super::TypeMeta;

/// Returns the type of a list of a kind.
pub(in crate::source) fn list_of(kind: &str, api_version: &str) -> TypeMeta {
    TypeMeta { kind: Some(format!("{kind}List")), api_version: Some(api_version.to_owned()), self_link: None }
}

/// Returns the type of the list under a key in an export of kube-scheduler-simulator (`ResourcesForSnap` in
/// `simulator/snapshot/snapshot.go`).
pub(in crate::source) fn exported_list(key: &[u8]) -> Option<TypeMeta> {
    Some(match key {
        b"pods" => list_of("Pod", "v1"),
        b"nodes" => list_of("Node", "v1"),
        b"pvs" => list_of("PersistentVolume", "v1"),
        b"pvcs" => list_of("PersistentVolumeClaim", "v1"),
        b"storageClasses" => list_of("StorageClass", "storage.k8s.io/v1"),
        b"priorityClasses" => list_of("PriorityClass", "scheduling.k8s.io/v1"),
        b"namespaces" => list_of("Namespace", "v1"),
        _ => return None,
    })
}
