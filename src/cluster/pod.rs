//! `core/v1.Pod`, as far as scheduling reads it.
//!
//! The node of a bound pod is a field beside the spec, so that the pods of one workload share one [`PodSpec`]. Volumes
//! that no plugin reads are dropped for the same reason.
#![allow(missing_docs, reason = "the fields are the API's own, documented in the Kubernetes API reference")]

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::host_ports::PortsMemo;
use super::meta::str_empty;
use super::{
    Condition, CowArc, Empty, HostPorts, Key, LabelSelector, Labels, List, Map, Meta, NodeSelector, NodeSelectorTerm, OwnerReference,
    Quantity, ResourceList, Str,
};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "PodWire", into = "PodWire")]
pub struct Pod {
    pub metadata: Meta,
    /// `spec.nodeName`; empty while the pod is not bound.
    pub node_name: Str,
    pub spec: Arc<PodSpec>,
    pub status: PodStatus,
}

/// The serialized form of a pod: `nodeName` is inside the spec.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodWire {
    metadata: Meta,
    spec: PodSpec,
    status: PodStatus,
}

impl From<PodWire> for Pod {
    fn from(mut wire: PodWire) -> Self {
        let node_name = std::mem::take(&mut wire.spec.node_name);
        Self { metadata: wire.metadata, node_name, spec: Arc::new(wire.spec), status: wire.status }
    }
}

impl From<Pod> for PodWire {
    fn from(pod: Pod) -> Self {
        let mut spec = Arc::unwrap_or_clone(pod.spec);
        spec.node_name = pod.node_name;
        Self { metadata: pod.metadata, spec, status: pod.status }
    }
}

/// The controller of a pod as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodOwner {
    /// The kind and name of the workload: the Deployment of a ReplicaSet, the CronJob of a Job.
    pub workload: (Str, Str),
    /// The kind and name of the controller in between; `None` if the workload controls the pod itself.
    pub through: Option<(Str, Str)>,
}

impl OwnerReference {
    /// Returns the reference of an object to the pod that it is made for.
    pub fn to_pod(pod: &Pod) -> Self {
        let Meta { name, uid, .. } = &pod.metadata;
        Self { api_version: "v1".into(), kind: "Pod".into(), name: name.clone(), uid: uid.clone(), controller: Some(true) }
    }
}

impl Pod {
    /// Returns the length of the spec as JSON, in bytes: the cost of one decision grows with it.
    pub fn spec_length(&self) -> usize {
        let mut length = Length(0);
        // Counting cannot fail, and a spec that cannot be written has no length.
        let _ = serde_json::to_writer(&mut length, self.spec.as_ref());
        length.0
    }

    /// Returns the owner as people name it; `None` without a controller.
    ///
    /// A Deployment names its ReplicaSets by the hash of the pod's template, which is a label of the pod too. A CronJob names
    /// its Jobs by the scheduled minute.
    pub fn owner(&self) -> Option<PodOwner> {
        let controller = self.metadata.controller().filter(|o| !(o.kind.is_empty() && o.name.is_empty()))?;
        let (kind, name) = (controller.kind.clone(), controller.name.clone());
        let hash = self.metadata.labels.get("pod-template-hash").map_or("", Str::as_str);
        let above = match (kind.as_str(), name.rsplit_once('-')) {
            ("ReplicaSet", Some((deployment, end))) if !hash.is_empty() && end == hash => Some(("Deployment", deployment)),
            ("Job", Some((cron, end))) if end.len() == 8 && end.bytes().all(|b| b.is_ascii_digit()) => Some(("CronJob", cron)),
            _ => None,
        };
        Some(match above {
            Some((workload, of)) => PodOwner { workload: (workload.into(), of.into()), through: Some((kind, name)) },
            None => PodOwner { workload: (kind, name), through: None },
        })
    }

    /// Returns the node for which a DaemonSet made the pod; `None` for other pods. The controller names it in a required node
    /// affinity.
    pub fn daemon_node(&self) -> Option<&Str> {
        self.metadata.controller().filter(|owner| owner.kind == "DaemonSet")?;
        let required = self.spec.affinity.as_ref()?.node_affinity.as_ref()?.required.as_ref()?;
        let field = required.node_selector_terms.first()?.match_fields.iter().find(|field| field.key == "metadata.name")?;
        field.values.first()
    }

    /// Returns `namespace/name`.
    pub fn key(&self) -> Key {
        self.metadata.key()
    }

    /// Returns the pod's priority; 0 if it has none.
    #[inline]
    pub fn priority(&self) -> i32 {
        self.spec.priority.unwrap_or(0)
    }

    /// Returns whether the pod's phase is Succeeded or Failed. The scheduler then ignores the pod.
    pub fn is_terminal(&self) -> bool {
        self.status.phase == "Succeeded" || self.status.phase == "Failed"
    }

    /// Returns whether the pod is neither bound nor terminal.
    pub fn is_pending(&self) -> bool {
        self.node_name.is_empty() && !self.is_terminal()
    }

    /// The PodGroup that the pod names as its own, whether there is one or not.
    pub fn group_key(&self) -> Option<Key> {
        let group = self.spec.scheduling_group.as_ref()?;
        Some(Key { namespace: self.metadata.namespace.clone(), name: group.pod_group_name.clone() })
    }

    /// Returns whether the pod is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Returns the first condition of a type.
    pub fn condition(&self, kind: &str) -> Option<&Condition> {
        self.status.conditions.iter().find(|c| c.kind == kind)
    }

    /// Returns the spec for changing; other pods that share it keep theirs.
    pub fn spec_mut(&mut self) -> &mut PodSpec {
        let spec = Arc::make_mut(&mut self.spec);
        spec.ports = PortsMemo::default();
        spec
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// Only in the serialized form; see [`Pod::node_name`].
    #[serde(skip_serializing_if = "str_empty")]
    node_name: Str,
    pub scheduler_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    #[serde(skip_serializing_if = "str_empty")]
    pub priority_class_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption_policy: Option<Str>,
    pub containers: List<Container>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub init_containers: List<Container>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceRequirements>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub overhead: ResourceList,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_selector: Option<Labels>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<Affinity>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub tolerations: List<Toleration>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub topology_spread_constraints: List<TopologySpreadConstraint>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub scheduling_gates: List<SchedulingGate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheduling_group: Option<PodSchedulingGroup>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub resource_claims: List<PodResourceClaim>,
    #[serde(skip_serializing_if = "List::is_empty", deserialize_with = "read_volumes")]
    pub volumes: List<Volume>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_network: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_users: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub termination_grace_period_seconds: Option<i64>,
    #[serde(skip)]
    ports: PortsMemo,
}

impl PodSpec {
    /// Returns the host ports that a pod uses on its node: those of containers and, with `sidecars`, those of sidecars.
    pub fn host_port_list(&self, sidecars: bool) -> impl Iterator<Item = &ContainerPort> {
        let sidecars = self.init_containers.iter().filter(move |c| sidecars && c.is_restartable());
        self.containers.iter().chain(sidecars).flat_map(|c| c.ports.iter()).filter(|p| p.host_port.unwrap_or(0) > 0)
    }

    /// Returns [`Self::host_port_list`] as a set.
    pub fn host_ports(&self, sidecars: bool) -> &HostPorts {
        self.ports.of(self, sidecars)
    }
}

fn read_volumes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<Volume>, D::Error> {
    let mut volumes = List::<Volume>::deserialize(deserializer)?;
    volumes.retain(|v| !v.source_is_irrelevant());
    volumes.shrink_to_fit();
    Ok(volumes)
}

/// Counts the bytes written to it.
struct Length(usize);

impl std::io::Write for Length {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    pub name: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub image: Str,
    pub resources: ResourceRequirements,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub ports: List<ContainerPort>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restart_policy: Option<Str>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub restart_policy_rules: List<ContainerRestartRule>,
}

impl Container {
    /// Returns whether an init container keeps running beside the others (a sidecar).
    pub fn is_restartable(&self) -> bool {
        self.restart_policy.as_deref() == Some("Always")
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerRestartRule {
    pub action: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceRequirements {
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub requests: ResourceList,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub limits: ResourceList,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub claims: List<ContainerClaim>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerClaim {
    pub name: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub request: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerPort {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_port: Option<i32>,
    #[serde(rename = "hostIP", skip_serializing_if = "str_empty")]
    pub host_ip: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub protocol: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Toleration {
    #[serde(skip_serializing_if = "str_empty")]
    pub key: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub operator: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub value: Str,
    #[serde(skip_serializing_if = "str_empty")]
    pub effect: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SchedulingGate {
    pub name: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSchedulingGroup {
    pub pod_group_name: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodResourceClaim {
    pub name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_claim_name: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_claim_template_name: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_affinity: Option<NodeAffinity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_affinity: Option<PodAffinity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_anti_affinity: Option<PodAffinity>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "Option::is_none")]
    pub required: Option<NodeSelector>,
    /// Absent and empty differ: NodeAffinity's PreScore skips only where the list is absent.
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "Option::is_none")]
    pub preferred: Option<Vec<PreferredSchedulingTerm>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreferredSchedulingTerm {
    pub weight: i32,
    pub preference: NodeSelectorTerm,
}

/// `core/v1.PodAffinity` and `core/v1.PodAntiAffinity`, which have the same shape.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinity {
    #[serde(rename = "requiredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "List::is_empty")]
    pub required: List<PodAffinityTerm>,
    #[serde(rename = "preferredDuringSchedulingIgnoredDuringExecution", skip_serializing_if = "List::is_empty")]
    pub preferred: List<WeightedPodAffinityTerm>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodAffinityTerm {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub namespaces: List<Str>,
    pub topology_key: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_label_keys: List<Str>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub mismatch_label_keys: List<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WeightedPodAffinityTerm {
    pub weight: i32,
    pub pod_affinity_term: PodAffinityTerm,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TopologySpreadConstraint {
    pub max_skew: i32,
    pub topology_key: Str,
    pub when_unsatisfiable: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label_selector: Option<LabelSelector>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_domains: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_affinity_policy: Option<Str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_taints_policy: Option<Str>,
    #[serde(skip_serializing_if = "List::is_empty")]
    pub match_label_keys: List<Str>,
}

/// A volume, with at most one of the sources that scheduling reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    pub name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_volume_claim: Option<PersistentVolumeClaimVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ephemeral: Option<EphemeralVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csi: Option<CSIVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<ImageVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gce_persistent_disk: Option<GCEPersistentDiskVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aws_elastic_block_store: Option<AWSElasticBlockStoreVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rbd: Option<RBDVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iscsi: Option<ISCSIVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_disk: Option<AzureDiskVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure_file: Option<AzureFileVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vsphere_volume: Option<VsphereVirtualDiskVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cinder: Option<CinderVolumeSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub portworx_volume: Option<PortworxVolumeSource>,
}

impl Volume {
    /// Returns whether it has no source that scheduling reads. Names of such volumes are often made for each pod.
    pub fn is_unread(&self) -> bool {
        *self == Self { name: self.name.clone(), ..Self::default() }
    }
}

impl Volume {
    fn source_is_irrelevant(&self) -> bool {
        *self == Self { name: self.name.clone(), ..Self::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PersistentVolumeClaimVolumeSource {
    pub claim_name: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EphemeralVolumeSource {}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CSIVolumeSource {
    pub driver: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ImageVolumeSource {
    pub reference: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct GCEPersistentDiskVolumeSource {
    pub pd_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AWSElasticBlockStoreVolumeSource {
    #[serde(rename = "volumeID")]
    pub volume_id: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partition: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RBDVolumeSource {
    pub monitors: List<Str>,
    pub image: Str,
    pub pool: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ISCSIVolumeSource {
    pub target_portal: Str,
    pub iqn: Str,
    pub lun: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AzureDiskVolumeSource {
    pub disk_name: Str,
    #[serde(rename = "diskURI")]
    pub disk_uri: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Str>,
}

/// Only its presence counts: a CSI driver may serve the volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AzureFileVolumeSource {}

/// Only its presence counts: a CSI driver may serve the volume.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct VsphereVirtualDiskVolumeSource {}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CinderVolumeSource {
    #[serde(rename = "volumeID")]
    pub volume_id: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PortworxVolumeSource {
    #[serde(rename = "volumeID")]
    pub volume_id: Str,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "PodStatusWire", into = "PodStatusWire")]
pub struct PodStatus {
    pub phase: Str,
    pub start_time: Option<Timestamp>,
    /// The fields reached by dereferencing.
    pub rare: CowArc<RarePodStatus>,
}

/// The status fields that few pods have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RarePodStatus {
    /// Without [`KUBELET_CONDITIONS`]; a loaded pod that is bound also lacks `PodScheduled`.
    pub conditions: List<Condition>,
    /// Whether the condition `Ready` is there and not true; never of a pod that has ended.
    pub unready: bool,
    pub nominated_node_name: Str,
    pub container_statuses: List<ContainerStatus>,
    pub init_container_statuses: List<ContainerStatus>,
    /// The pod-level resources in effect.
    pub resources: Option<StatusResources>,
    pub allocated_resources: ResourceList,
    pub resource_claim_statuses: List<PodResourceClaimStatus>,
    pub extended_resource_claim_status: Option<ExtendedResourceClaimStatus>,
}

impl Empty for RarePodStatus {
    fn empty() -> &'static Self {
        static EMPTY: RarePodStatus = RarePodStatus {
            conditions: List::EMPTY,
            unready: false,
            nominated_node_name: Str::EMPTY,
            container_statuses: List::EMPTY,
            init_container_statuses: List::EMPTY,
            resources: None,
            allocated_resources: ResourceList::EMPTY,
            resource_claim_statuses: List::EMPTY,
            extended_resource_claim_status: None,
        };
        &EMPTY
    }
}

impl Deref for PodStatus {
    type Target = RarePodStatus;
    fn deref(&self) -> &RarePodStatus {
        &self.rare
    }
}

impl DerefMut for PodStatus {
    fn deref_mut(&mut self) -> &mut RarePodStatus {
        &mut self.rare
    }
}

/// The serialized form of a pod's status.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct PodStatusWire {
    #[serde(skip_serializing_if = "str_empty")]
    phase: Str,
    #[serde(skip_serializing_if = "List::is_empty", deserialize_with = "read_conditions")]
    conditions: List<Condition>,
    #[serde(skip_serializing_if = "str_empty")]
    nominated_node_name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time: Option<Timestamp>,
    #[serde(skip_serializing_if = "List::is_empty", deserialize_with = "read_container_statuses")]
    container_statuses: List<ContainerStatus>,
    #[serde(skip_serializing_if = "List::is_empty", deserialize_with = "read_container_statuses")]
    init_container_statuses: List<ContainerStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resources: Option<StatusResources>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    allocated_resources: ResourceList,
    #[serde(skip_serializing_if = "List::is_empty")]
    resource_claim_statuses: List<PodResourceClaimStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extended_resource_claim_status: Option<ExtendedResourceClaimStatus>,
}

impl From<PodStatusWire> for PodStatus {
    fn from(wire: PodStatusWire) -> Self {
        let PodStatusWire { container_statuses, init_container_statuses, resources, allocated_resources, .. } = wire;
        let PodStatusWire { resource_claim_statuses, extended_resource_claim_status, nominated_node_name, mut conditions, .. } = wire;
        let has_ended = wire.phase == "Succeeded" || wire.phase == "Failed";
        let unready = conditions.iter().any(|c| c.kind == READY) && !has_ended;
        // Of a pod that has ended it says when.
        conditions.retain(|c| c.kind != READY || has_ended && c.last_transition_time.is_some());
        for ended in conditions.iter_mut().filter(|c| c.kind == READY) {
            (ended.reason, ended.message) = (Str::default(), Str::default());
        }
        conditions.shrink_to_fit();
        let rare = RarePodStatus {
            conditions,
            unready,
            nominated_node_name,
            container_statuses,
            init_container_statuses,
            resources,
            allocated_resources,
            resource_claim_statuses,
            extended_resource_claim_status,
        };
        let PodStatusWire { phase, start_time, .. } = wire;
        Self { phase, start_time, rare: rare.into() }
    }
}

impl From<PodStatus> for PodStatusWire {
    fn from(status: PodStatus) -> Self {
        let PodStatus { phase, start_time, rare } = status;
        let RarePodStatus {
            mut conditions,
            unready,
            nominated_node_name,
            container_statuses,
            init_container_statuses,
            resources,
            allocated_resources,
            resource_claim_statuses,
            extended_resource_claim_status,
        } = (*rare).clone();
        if unready {
            conditions.push(Condition { kind: READY.into(), status: "False".into(), ..Condition::default() });
        }
        Self {
            phase,
            conditions,
            nominated_node_name,
            start_time,
            container_statuses,
            init_container_statuses,
            resources,
            allocated_resources,
            resource_claim_statuses,
            extended_resource_claim_status,
        }
    }
}

/// The conditions that report the kubelet's progress. Scheduling does not read them, and on running pods they would take
/// more memory than everything else.
pub const KUBELET_CONDITIONS: [&str; 4] = ["PodReadyToStartContainers", "Initialized", READY, "ContainersReady"];

/// The condition of a pod that counts as healthy. Only its failure is kept, as [`RarePodStatus::unready`]; of a pod that has ended, its
/// time.
const READY: &str = "Ready";

fn read_conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<Condition>, D::Error> {
    let mut conditions = List::<Condition>::deserialize(deserializer)?;
    conditions.retain(|c| !KUBELET_CONDITIONS.contains(&c.kind.as_str()) || c.kind == READY && c.status != "True");
    conditions.shrink_to_fit();
    Ok(conditions)
}

fn read_container_statuses<'de, D: Deserializer<'de>>(deserializer: D) -> Result<List<ContainerStatus>, D::Error> {
    let mut statuses = List::<ContainerStatus>::deserialize(deserializer)?;
    // The effective request reads only statuses that report resources.
    statuses.retain(|s| s.resources.is_some() || !s.allocated_resources.is_empty());
    statuses.shrink_to_fit();
    Ok(statuses)
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    pub name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<StatusResources>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub allocated_resources: ResourceList,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StatusResources {
    pub requests: ResourceList,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodResourceClaimStatus {
    pub name: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_claim_name: Option<Str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ExtendedResourceClaimStatus {
    pub resource_claim_name: Str,
    pub request_mappings: List<ContainerExtendedResourceRequest>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerExtendedResourceRequest {
    pub container_name: Str,
    pub resource_name: Str,
    pub request_name: Str,
}

/// Zero, as the start of a sum.
pub const NO_QUANTITY: Quantity = Quantity::units(0);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn of_the_kubelets_conditions_only_unreadiness_is_kept() {
        let pod = |phase: &str, ready: &str| -> Pod {
            let conditions =
                json!([{"type": "Initialized", "status": "True"}, {"type": "Ready", "status": ready}, {"type": "Own", "status": "x"}]);
            serde_json::from_value(json!({"status": {"phase": phase, "conditions": conditions}})).unwrap()
        };
        for (phase, ready, unready) in
            [("Running", "True", false), ("Running", "False", true), ("Running", "Unknown", true), ("Failed", "False", false)]
        {
            let pod = pod(phase, ready);
            assert_eq!((pod.status.unready, pod.status.conditions.len()), (unready, 1), "{phase} {ready}");
            let again: Pod = serde_json::from_value(serde_json::to_value(&pod).unwrap()).unwrap();
            assert_eq!(again, pod, "{phase} {ready}");
        }
        assert!(!Pod::default().status.unready);
        let ended: Pod = serde_json::from_value(json!({"status": {"phase": "Succeeded", "conditions": [
            {"type": "Ready", "status": "False", "reason": "PodCompleted", "lastTransitionTime": "2026-11-20T10:05:00Z"}]}}))
        .unwrap();
        assert!(ended.condition("Ready").is_some_and(|ready| ready.last_transition_time.is_some() && ready.reason.is_empty()));
        let again: Pod = serde_json::from_value(serde_json::to_value(&ended).unwrap()).unwrap();
        assert_eq!((again, ended.status.unready), (ended.clone(), false));
    }
}
