//! Object metadata, kinds and keys.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use std::fmt;
use std::ops::{Deref, DerefMut};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::annotations::read_annotations;
use super::str::read_unique;
use super::{CowArc, Empty, Labels, List, ResourceVersion, Str};

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
#[serde(from = "MetaWire", into = "MetaWire")]
pub struct Meta {
    pub name: Str,
    pub namespace: Str,
    pub uid: Str,
    pub resource_version: ResourceVersion,
    pub creation_timestamp: Option<Timestamp>,
    /// Its fields read as if they stood here.
    pub template: CowArc<MetaTemplate>,
}

/// What the objects of one workload have alike, and what few have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetaTemplate {
    pub deletion_timestamp: Option<Timestamp>,
    pub labels: Labels,
    /// Those of `SCHEDULING_ANNOTATIONS`; all others are present as `OTHER_ANNOTATIONS` only.
    pub annotations: Labels,
    pub owner_references: List<OwnerReference>,
    pub finalizers: List<Str>,
}

impl Empty for MetaTemplate {
    fn empty() -> &'static Self {
        static EMPTY: MetaTemplate = MetaTemplate {
            deletion_timestamp: None,
            labels: Labels::EMPTY,
            annotations: Labels::EMPTY,
            owner_references: List::EMPTY,
            finalizers: List::EMPTY,
        };
        &EMPTY
    }
}

impl Deref for Meta {
    type Target = MetaTemplate;
    fn deref(&self) -> &MetaTemplate {
        &self.template
    }
}

impl DerefMut for Meta {
    fn deref_mut(&mut self) -> &mut MetaTemplate {
        &mut self.template
    }
}

/// Metadata as it is written.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MetaWire {
    #[serde(deserialize_with = "read_unique")]
    name: Str,
    #[serde(skip_serializing_if = "str_empty")]
    namespace: Str,
    #[serde(skip_serializing_if = "str_empty", deserialize_with = "read_unique")]
    uid: Str,
    #[serde(skip_serializing_if = "ResourceVersion::is_empty")]
    resource_version: ResourceVersion,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<Timestamp>,
    #[serde(skip_serializing_if = "Labels::is_empty")]
    labels: Labels,
    #[serde(skip_serializing_if = "Labels::is_empty", deserialize_with = "read_annotations")]
    annotations: Labels,
    #[serde(skip_serializing_if = "List::is_empty")]
    owner_references: List<OwnerReference>,
    #[serde(skip_serializing_if = "List::is_empty")]
    finalizers: List<Str>,
}

impl From<MetaWire> for Meta {
    fn from(wire: MetaWire) -> Self {
        let MetaWire { name, namespace, uid, resource_version, creation_timestamp, deletion_timestamp, .. } = wire;
        let MetaWire { labels, annotations, owner_references, finalizers, .. } = wire;
        let template = MetaTemplate { deletion_timestamp, labels, annotations, owner_references, finalizers }.into();
        Self { name, namespace, uid, resource_version, creation_timestamp, template }
    }
}

impl From<Meta> for MetaWire {
    fn from(meta: Meta) -> Self {
        let Meta { name, namespace, uid, resource_version, creation_timestamp, template } = meta;
        let MetaTemplate { deletion_timestamp, labels, annotations, owner_references, finalizers } = (*template).clone();
        Self {
            name,
            namespace,
            uid,
            resource_version,
            creation_timestamp,
            deletion_timestamp,
            labels,
            annotations,
            owner_references,
            finalizers,
        }
    }
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

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
