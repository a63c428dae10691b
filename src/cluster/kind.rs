//! The kinds of objects that scheduling reads: one table of what the API and kubectl call them.
//!
//! Requests to a live cluster, names of files and keys, completions and words on the command line are made from it.
#![allow(missing_docs, reason = "the variants are the API's own kinds")]

use serde::{Deserialize, Serialize};
/// The kinds of objects that scheduling reads.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::EnumIter,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    Serialize,
    Deserialize,
)]
pub enum Kind {
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceTaintRule,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
    PodGroup,
    PriorityClass,
    ReplicaSet,
    ReplicationController,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
}

/// A kind in the table.
#[derive(Debug)]
pub struct KindRow {
    pub kind: Kind,
    /// The resource's name in the API, such as `storageclasses`.
    pub resource: &'static str,
    /// kubectl's short name; empty without one.
    pub short: &'static str,
    /// Whether objects live in a namespace.
    scope: Scope,
    /// The API group, empty for the core group, and the `apiVersion` of objects as they are held.
    api: Api,
    /// The versions that can be read, newest first.
    pub versions: &'static [&'static str],
}

/// Whether objects of a kind live in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    Cluster,
    Namespace,
}

/// An API group, and an `apiVersion` of it.
type Api = (&'static str, &'static str);

const CORE: Api = ("", "v1");
const APPS: Api = ("apps", "apps/v1");
const POLICY: Api = ("policy", "policy/v1");
const SCHEDULING: Api = ("scheduling.k8s.io", "scheduling.k8s.io/v1");
const GROUPS: Api = ("scheduling.k8s.io", "scheduling.k8s.io/v1alpha2");
const STORAGE: Api = ("storage.k8s.io", "storage.k8s.io/v1");
const DEVICES: Api = ("resource.k8s.io", "resource.k8s.io/v1");

const V1: &[&str] = &["v1"];
const BETA: &[&str] = &["v1", "v1beta1"];
const DEVICE_VERSIONS: &[&str] = &["v1", "v1beta2", "v1beta1"];
const RULE_VERSIONS: &[&str] = &["v1", "v1beta2"];
const GROUP_VERSIONS: &[&str] = &["v1beta1", "v1alpha3", "v1alpha2"];

const fn row(
    kind: Kind,
    resource: &'static str,
    short: &'static str,
    scope: Scope,
    api: Api,
    versions: &'static [&'static str],
) -> KindRow {
    KindRow { kind, resource, short, scope, api, versions }
}

/// The table, in the order of [`Kind`].
static KINDS: [KindRow; 22] = [
    row(Kind::CSIDriver, "csidrivers", "", Scope::Cluster, STORAGE, BETA),
    row(Kind::CSINode, "csinodes", "", Scope::Cluster, STORAGE, BETA),
    row(Kind::CSIStorageCapacity, "csistoragecapacities", "", Scope::Namespace, STORAGE, BETA),
    row(Kind::DeviceClass, "deviceclasses", "", Scope::Cluster, DEVICES, DEVICE_VERSIONS),
    row(Kind::DeviceTaintRule, "devicetaintrules", "", Scope::Cluster, DEVICES, RULE_VERSIONS),
    row(Kind::Namespace, "namespaces", "ns", Scope::Cluster, CORE, V1),
    row(Kind::Node, "nodes", "no", Scope::Cluster, CORE, V1),
    row(Kind::PersistentVolume, "persistentvolumes", "pv", Scope::Cluster, CORE, V1),
    row(Kind::PersistentVolumeClaim, "persistentvolumeclaims", "pvc", Scope::Namespace, CORE, V1),
    row(Kind::Pod, "pods", "po", Scope::Namespace, CORE, V1),
    row(Kind::PodDisruptionBudget, "poddisruptionbudgets", "pdb", Scope::Namespace, POLICY, BETA),
    row(Kind::PodGroup, "podgroups", "", Scope::Namespace, GROUPS, GROUP_VERSIONS),
    row(Kind::PriorityClass, "priorityclasses", "pc", Scope::Cluster, SCHEDULING, BETA),
    row(Kind::ReplicaSet, "replicasets", "rs", Scope::Namespace, APPS, V1),
    row(Kind::ReplicationController, "replicationcontrollers", "rc", Scope::Namespace, CORE, V1),
    row(Kind::ResourceClaim, "resourceclaims", "", Scope::Namespace, DEVICES, DEVICE_VERSIONS),
    row(Kind::ResourceClaimTemplate, "resourceclaimtemplates", "", Scope::Namespace, DEVICES, DEVICE_VERSIONS),
    row(Kind::ResourceSlice, "resourceslices", "", Scope::Cluster, DEVICES, DEVICE_VERSIONS),
    row(Kind::Service, "services", "svc", Scope::Namespace, CORE, V1),
    row(Kind::StatefulSet, "statefulsets", "sts", Scope::Namespace, APPS, V1),
    row(Kind::StorageClass, "storageclasses", "sc", Scope::Cluster, STORAGE, BETA),
    row(Kind::VolumeAttachment, "volumeattachments", "", Scope::Cluster, STORAGE, BETA),
];

impl Kind {
    /// Returns the row of the table.
    pub fn row(self) -> &'static KindRow {
        &KINDS[self as usize]
    }

    /// Returns the kind of a word: its name or its resource's in any case, or kubectl's short name.
    pub fn named(word: &str) -> Option<Self> {
        let is_meant = |row: &&KindRow| [row.kind.into(), row.resource, row.short].iter().any(|name| word.eq_ignore_ascii_case(name));
        KINDS.iter().find(is_meant).filter(|_| !word.is_empty()).map(|row| row.kind)
    }

    /// Returns the plural, such as `StorageClasses` or `CSIStorageCapacities`. In lower case it is the resource's name.
    pub fn plural(self) -> String {
        let kind = self.to_string();
        match (kind.strip_suffix('y'), kind.ends_with('s')) {
            (Some(stem), _) => format!("{stem}ies"),
            (None, true) => format!("{kind}es"),
            (None, false) => format!("{kind}s"),
        }
    }

    /// Returns the resource's name in the API, such as `storageclasses`.
    pub fn resource(self) -> &'static str {
        self.row().resource
    }

    /// Returns the API group; empty for the core group.
    pub fn group(self) -> &'static str {
        self.row().api.0
    }

    /// Returns the `apiVersion` of objects as they are held: `v1`, `apps/v1`.
    pub fn api_version(self) -> &'static str {
        self.row().api.1
    }

    /// Returns whether schedulers of some releases read the kind only with a feature gate. Few API servers offer it.
    pub fn is_gated(self) -> bool {
        matches!(self, Self::DeviceTaintRule | Self::PodGroup)
    }

    /// Returns whether objects of the kind live in a namespace.
    pub fn namespaced(self) -> bool {
        self.row().scope == Scope::Namespace
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use strum::IntoEnumIterator as _;

    use super::*;

    #[test]
    fn the_table_has_each_kind_once_with_names_that_fit() {
        assert_eq!(Kind::iter().count(), KINDS.len());
        for kind in Kind::iter() {
            let row = kind.row();
            assert_eq!(row.kind, kind);
            assert_eq!(row.resource, kind.plural().to_lowercase());
            let group = kind.api_version().split_once('/').map_or("", |(group, _)| group);
            assert_eq!(group, kind.group(), "{kind}");
            let version = kind.api_version().rsplit('/').next().unwrap();
            assert!(row.versions.contains(&version), "{kind}: objects are held in a version that is read");
        }
        let short: Vec<&str> = KINDS.iter().map(|row| row.short).filter(|short| !short.is_empty()).collect();
        assert_eq!(short.len(), short.iter().collect::<BTreeSet<_>>().len());
    }

    #[test]
    fn a_kind_is_named_as_in_kubectl() {
        for (word, expected) in [
            ("pod", Some(Kind::Pod)),
            ("Pods", Some(Kind::Pod)),
            ("po", Some(Kind::Pod)),
            ("pdb", Some(Kind::PodDisruptionBudget)),
            ("storageclasses", Some(Kind::StorageClass)),
            ("CSIStorageCapacities", Some(Kind::CSIStorageCapacity)),
            ("", None),
            ("secret", None),
        ] {
            assert_eq!(Kind::named(word), expected, "{word}");
        }
    }
}
