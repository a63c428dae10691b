//! Maps the keys of a kube-scheduler-simulator export to the types of their lists.

use super::TypeMeta;
use crate::cluster::Kind;

pub(in crate::source) fn list_of(kind: &str, api_version: &str) -> TypeMeta {
    TypeMeta { kind: Some(format!("{kind}List")), api_version: Some(api_version.to_owned()), self_link: None }
}

/// Returns the type of the list under a key in an export of kube-scheduler-simulator (`ResourcesForSnap` in
/// `simulator/snapshot/snapshot.go`).
pub(in crate::source) fn exported_list(key: &[u8]) -> Option<TypeMeta> {
    let kind = match key {
        b"pods" => Kind::Pod,
        b"nodes" => Kind::Node,
        b"pvs" => Kind::PersistentVolume,
        b"pvcs" => Kind::PersistentVolumeClaim,
        b"storageClasses" => Kind::StorageClass,
        b"priorityClasses" => Kind::PriorityClass,
        b"namespaces" => Kind::Namespace,
        _ => return None,
    };
    Some(list_of(kind.into(), kind.api_version()))
}
