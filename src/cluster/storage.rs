//! Volumes, claims and the storage.k8s.io kinds.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use serde::{Deserialize, Serialize};

use super::pod::{
    AWSElasticBlockStoreVolumeSource, AzureDiskVolumeSource, CinderVolumeSource, GCEPersistentDiskVolumeSource, PortworxVolumeSource,
};
use super::{LabelSelector, List, Meta, NodeSelector, Quantity, ResourceList, Str, TopologySelectorTerm};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolume {
    pub metadata: Meta,
    pub spec: PersistentVolumeSpec,
    pub status: Phase,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeSpec {
    pub capacity: ResourceList,
    pub access_modes: List<Str>,
    pub claim_ref: Option<ObjectReference>,
    pub storage_class_name: Str,
    pub volume_mode: Option<Str>,
    pub node_affinity: Option<VolumeNodeAffinity>,
    pub volume_attributes_class_name: Option<Str>,
    pub csi: Option<CSIPersistentVolumeSource>,
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,
    pub azure_disk: Option<AzureDiskVolumeSource>,
    pub cinder: Option<CinderVolumeSource>,
    pub portworx_volume: Option<PortworxVolumeSource>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectReference {
    pub namespace: Str,
    pub name: Str,
    pub uid: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeNodeAffinity {
    pub required: Option<NodeSelector>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSIPersistentVolumeSource {
    pub driver: Str,
    pub volume_handle: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Phase {
    pub phase: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaim {
    #[serde(deserialize_with = "super::meta::of_claim")]
    pub metadata: Meta,
    pub spec: PersistentVolumeClaimSpec,
    pub status: Phase,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaimSpec {
    pub access_modes: List<Str>,
    pub selector: Option<LabelSelector>,
    pub resources: VolumeResourceRequirements,
    pub volume_name: Str,
    pub storage_class_name: Option<Str>,
    pub volume_mode: Option<Str>,
    pub volume_attributes_class_name: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeResourceRequirements {
    pub requests: ResourceList,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageClass {
    pub metadata: Meta,
    pub provisioner: Str,
    pub volume_binding_mode: Option<Str>,
    pub allowed_topologies: List<TopologySelectorTerm>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSINode {
    pub metadata: Meta,
    pub spec: CSINodeSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSINodeSpec {
    pub drivers: List<CSINodeDriver>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSINodeDriver {
    pub name: Str,
    pub allocatable: Option<VolumeNodeResources>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeNodeResources {
    pub count: Option<i32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSIDriver {
    pub metadata: Meta,
    pub spec: CSIDriverSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSIDriverSpec {
    pub storage_capacity: Option<bool>,
    pub attach_required: Option<bool>,
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSIStorageCapacity {
    pub metadata: Meta,
    pub node_topology: Option<LabelSelector>,
    pub storage_class_name: Str,
    pub capacity: Option<Quantity>,
    pub maximum_volume_size: Option<Quantity>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachment {
    pub metadata: Meta,
    pub spec: VolumeAttachmentSpec,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentSpec {
    pub attacher: Str,
    pub node_name: Str,
    pub source: VolumeAttachmentSource,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VolumeAttachmentSource {
    pub persistent_volume_name: Option<Str>,
}
