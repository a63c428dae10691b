//! Object metadata, kinds and keys.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Deref, DerefMut};

use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::annotations::read_annotations;
use super::str::read_unique;
use super::{CowArc, Empty, Labels, List, ResourceVersion, Str, Uid};

/// Identifies an object within its kind. `namespace` is empty for cluster-scoped kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub namespace: Str,
    pub name: Str,
}

impl Key {
    /// Makes a key from its parts.
    pub fn new(namespace: impl Into<Str>, name: impl Into<Str>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }
}

/// Writes `namespace/name`, or the name alone for cluster-scoped kinds.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.pad(&self.name) } else { f.pad(&format!("{}/{}", self.namespace, self.name)) }
    }
}

/// The part of `metav1.ObjectMeta` that scheduling reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "MetaWire<IgnoredAny>", into = "MetaWire<Changed<true>>")]
pub struct Meta {
    pub name: Str,
    pub namespace: Str,
    pub uid: Uid,
    pub resource_version: ResourceVersion,
    pub creation_timestamp: Option<Timestamp>,
    /// The fields reached by dereferencing.
    pub template: CowArc<MetaTemplate>,
}

/// The metadata that objects of one workload share, or that few objects have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct MetaTemplate {
    pub deletion_timestamp: Option<Timestamp>,
    pub labels: Labels,
    /// The [`super::KEPT_ANNOTATIONS`], and a digest of all others under [`super::OTHER_ANNOTATIONS`].
    pub annotations: Labels,
    pub owner_references: List<OwnerReference>,
    pub finalizers: List<Str>,
    /// Of Nodes and PodDisruptionBudgets, the last change of a field that scheduling reads; of PersistentVolumeClaims, when the
    /// node was chosen. From `managedFields`; `None` if they do not say.
    pub changed: Option<Timestamp>,
}

impl Empty for MetaTemplate {
    fn empty() -> &'static Self {
        static EMPTY: MetaTemplate = MetaTemplate {
            deletion_timestamp: None,
            labels: Labels::EMPTY,
            annotations: Labels::EMPTY,
            owner_references: List::EMPTY,
            finalizers: List::EMPTY,
            changed: None,
        };
        &EMPTY
    }
}

impl Deref for Meta {
    type Target = MetaTemplate;
    #[inline]
    fn deref(&self) -> &MetaTemplate {
        &self.template
    }
}

impl DerefMut for Meta {
    fn deref_mut(&mut self) -> &mut MetaTemplate {
        &mut self.template
    }
}

/// The serialized form of metadata.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct MetaWire<C: ManagedFields> {
    #[serde(deserialize_with = "read_unique")]
    name: Str,
    #[serde(skip_serializing_if = "str_empty")]
    namespace: Str,
    #[serde(skip_serializing_if = "Uid::is_empty")]
    uid: Uid,
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
    #[serde(skip_serializing_if = "ManagedFields::is_skipped")]
    managed_fields: C,
}

/// The part of `managedFields` that is read.
trait ManagedFields: Default {
    /// Returns the time of the last change of a field that scheduling reads.
    fn changed(&self) -> Option<Timestamp>;

    fn is_skipped(&self) -> bool {
        self.changed().is_none()
    }
}

/// Most kinds need none of it.
impl ManagedFields for IgnoredAny {
    fn changed(&self) -> Option<Timestamp> {
        None
    }
}

/// The newest time of the entries that change the labels, the spec, or (with `STATUS`) the status.
#[derive(Clone, Copy, Default)]
struct Changed<const STATUS: bool>(Option<Timestamp>);

impl<const STATUS: bool> ManagedFields for Changed<STATUS> {
    fn changed(&self) -> Option<Timestamp> {
        self.0
    }
}

impl<const STATUS: bool> Serialize for Changed<STATUS> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.map(|time| BTreeMap::from([("time", time)])))
    }
}

impl<'de, const STATUS: bool> Deserialize<'de> for Changed<STATUS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::<ManagedEntry>::deserialize(deserializer)?;
        let counts = |entry: &&ManagedEntry| match &entry.fields {
            None => true,
            Some(ManagedPaths { spec, status, metadata }) => spec.is_some() || metadata.labels.is_some() || (STATUS && status.is_some()),
        };
        Ok(Self(entries.iter().filter(counts).filter_map(|entry| entry.time.parse().ok()).max()))
    }
}

/// The newest time of the entries that write the chosen node of a claim.
#[derive(Clone, Copy, Default)]
struct Chosen(Option<Timestamp>);

impl ManagedFields for Chosen {
    fn changed(&self) -> Option<Timestamp> {
        self.0
    }
}

impl<'de> Deserialize<'de> for Chosen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let entries = Vec::<ManagedEntry>::deserialize(deserializer)?;
        let chooses =
            |entry: &&ManagedEntry| entry.fields.as_ref().is_none_or(|fields| fields.metadata.annotations.selected_node.is_some());
        Ok(Self(entries.iter().filter(chooses).filter_map(|entry| entry.time.parse().ok()).max()))
    }
}

/// An entry of `managedFields`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ManagedEntry {
    time: Str,
    #[serde(rename = "fieldsV1")]
    fields: Option<ManagedPaths>,
}

/// The fields that an entry lists.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ManagedPaths {
    #[serde(rename = "f:spec")]
    spec: Option<IgnoredAny>,
    #[serde(rename = "f:status")]
    status: Option<IgnoredAny>,
    #[serde(rename = "f:metadata")]
    metadata: ManagedMeta,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ManagedMeta {
    #[serde(rename = "f:labels")]
    labels: Option<IgnoredAny>,
    #[serde(rename = "f:annotations")]
    annotations: ManagedAnnotations,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ManagedAnnotations {
    #[serde(rename = "f:volume.kubernetes.io/selected-node")]
    selected_node: Option<IgnoredAny>,
}

/// Reads the metadata of a Node. Changes of its status are ignored: every heartbeat is one.
pub(super) fn of_node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Meta, D::Error> {
    MetaWire::<Changed<false>>::deserialize(deserializer).map(Meta::from)
}

/// Reads the metadata of a PersistentVolumeClaim, with the time at which its node was chosen.
pub(super) fn of_claim<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Meta, D::Error> {
    MetaWire::<Chosen>::deserialize(deserializer).map(Meta::from)
}

/// Reads the metadata of a PodDisruptionBudget. Its status counts: it says how many disruptions are allowed.
pub(super) fn of_budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Meta, D::Error> {
    MetaWire::<Changed<true>>::deserialize(deserializer).map(Meta::from)
}

impl<C: ManagedFields> From<MetaWire<C>> for Meta {
    fn from(wire: MetaWire<C>) -> Self {
        let changed = wire.managed_fields.changed();
        let MetaWire { name, namespace, uid, resource_version, creation_timestamp, deletion_timestamp, .. } = wire;
        let MetaWire { labels, annotations, owner_references, finalizers, .. } = wire;
        let template = MetaTemplate { deletion_timestamp, labels, annotations, owner_references, finalizers, changed }.into();
        Self { name, namespace, uid, resource_version, creation_timestamp, template }
    }
}

impl From<Meta> for MetaWire<Changed<true>> {
    fn from(meta: Meta) -> Self {
        let Meta { name, namespace, uid, resource_version, creation_timestamp, template } = meta;
        let MetaTemplate { deletion_timestamp, labels, annotations, owner_references, finalizers, changed } = (*template).clone();
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
            managed_fields: Changed(changed),
        }
    }
}

pub(crate) fn str_empty(text: &Str) -> bool {
    text.is_empty()
}

impl Meta {
    /// Returns the object's key.
    #[inline]
    pub fn key(&self) -> Key {
        Key { namespace: self.namespace.clone(), name: self.name.clone() }
    }

    /// Returns the owner that controls the object, if any.
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
    pub uid: Uid,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
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
