//! Object metadata, kinds and keys.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::annotations::read_annotations;
use super::str::read_unique;
use super::{Labels, List, Str};

/// What names an object among those of its kind; `namespace` is empty for cluster-scoped kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub namespace: Str,
    pub name: Str,
}

impl Key {
    /// A key from its parts.
    pub fn new(namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// `namespace/name`, or the name alone for cluster-scoped kinds.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.pad(&self.name) } else { f.pad(&format!("{}/{}", self.namespace, self.name)) }
    }
}

/// The part of `metav1.ObjectMeta` that scheduling reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Meta {
    #[serde(deserialize_with = "read_unique")]
    pub name: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub namespace: Str,
    #[serde(skip_serializing_if = "str_empty", deserialize_with = "read_unique")]
    pub uid: Str,
    #[serde(skip_serializing_if = "str_empty", deserialize_with = "read_unique")]
    pub resource_version: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Those of `SCHEDULING_ANNOTATIONS`; all others are present as `OTHER_ANNOTATIONS` only.
    #[serde(skip_serializing_if = "Labels::is_empty", deserialize_with = "read_annotations")]
    pub annotations: Labels,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub owner_references: List<OwnerReference>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub finalizers: List<Str>,
}

pub(crate) fn str_empty(text: &Str) -> bool {
    text.is_empty()
}

impl Meta {
    /// The object's key.
    pub fn key(&self) -> Key {
        Key { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// The owner that controls the object, if any.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.owner_references.iter().find(|o| o.controller == Some(true))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    pub api_version: Str,
    pub kind: Str,
    pub name: Str,
    pub uid: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
}

/// The kinds of objects that decide about scheduling.
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
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    PodDisruptionBudget,
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

impl Kind {
    /// Whether objects of the kind live in a namespace.
    pub fn namespaced(self) -> bool {
        matches!(
            self,
            Self::CSIStorageCapacity
                | Self::PersistentVolumeClaim
                | Self::Pod
                | Self::PodDisruptionBudget
                | Self::ReplicaSet
                | Self::ReplicationController
                | Self::ResourceClaim
                | Self::ResourceClaimTemplate
                | Self::Service
                | Self::StatefulSet
        )
    }
}

/// A condition of an object's status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: Str,
    pub status: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub reason: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub message: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}
