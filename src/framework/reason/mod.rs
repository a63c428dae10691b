//! Why a plugin rejected a pod, as a value with the deciding facts. The texts of kube-scheduler's plugins are made from
//! it where they are needed.
//!
//! [`catalogue`](entry) holds a row for each kind of reason: the plugin, the text in each release, how to read the text
//! back, the phrase in plain words and the class. Mirrors the `ErrReason...` constants and the messages of
//! `pkg/scheduler/framework/plugins`.
//!
//! Architecture invariant: schedscope never parses its own texts. It parses only texts that another program wrote.

mod catalogue;
mod fact;
mod facts;
mod read;
mod template;

use std::borrow::Cow;

use serde::Serialize;

use super::{Code, PluginName, SharedList};
use crate::cluster::{Key, Kind, Str, Taint};
use crate::release::Release;

pub use catalogue::{Class, Entry, Phrase, Wording, entries, entry};
pub use fact::{cores, taint_text, whole_bytes};
pub use facts::{
    DiskInUse, DomainConflict, GangCount, NoMatchInDomain, NodeSelectorPart, PortConflict, Shortage, SpreadSkew, UnmetRequirement,
    VolumeLimit, ZoneMismatch, Zones,
};
pub use read::{ReadReason, ReadReasons, read_reason, read_reason_of};

/// Returns every text of every reason in every release, without the facts.
pub fn reason_texts() -> impl Iterator<Item = &'static str> {
    let templates = entries().iter().flat_map(|e| e.wordings).map(|w| w.template);
    templates.flat_map(template::literals).filter(|text| !text.trim().is_empty())
}

/// A reason with the deciding facts. Facts that a plugin cannot know are `None` or empty.
///
/// Serializes as an object with its `kind` in camelCase and the facts as further fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, strum::EnumDiscriminants)]
#[strum_discriminants(name(ReasonKind), derive(PartialOrd, Ord, Hash, strum::EnumIter, strum::Display), doc = "The kinds of [`Reason`].")]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[allow(missing_docs, reason = "the fields are named for the objects they refer to")]
pub enum Reason {
    /// The pod has scheduling gates.
    SchedulingGates { gates: SharedList<Str> },
    /// Victims of the pod's preemption are still being deleted.
    PreemptionInProgress,
    /// Victims of the preemption of the pod's group are still being deleted.
    GroupPreemptionInProgress,
    /// There is no PodGroup of the name that the pod gives.
    PodGroupMissing { group: Str },
    /// Fewer pods of the group are known than must be scheduled together.
    GangIncomplete { pods: usize, min_count: i32 },
    /// Fewer pods of the group have a place than must be bound together.
    GangQuorumUnmet { placed: usize, min_count: i32 },
    /// Another pod of the group, which is queued as one entry, is gated for these reasons. kube-scheduler writes nothing then.
    GroupGated { pod: Key, reasons: Vec<Reason> },
    /// Fewer pods of the gang can have a place than must be scheduled together.
    GangUnsatisfiable(Box<GangCount>),
    /// Fewer pods of the gang have a place than must be scheduled together.
    GangUnsatisfied(Box<GangCount>),
    /// No pod of the group has a place.
    NoPodSchedulable,
    /// A Permit plugin lets the pod wait, and none turns it down.
    PermitWaits,
    /// The group of the pod cannot be scheduled.
    GroupUnschedulable,
    /// The group could be scheduled once the victims of a preemption are gone.
    GroupAwaitsPreemption,
    /// No placement takes the group; the answer of the first that was tried is given.
    NoPlacementAvailable { placements: usize, first: Str },
    /// No node is in any placement.
    NoFeasiblePlacement,
    /// No running pod has a lower priority than the group.
    NoVictimsForGroup,
    /// Preemption found places for the group; the success of preemption in releases that announce it.
    GroupPlacementFound { victims: usize },
    /// Victims of an earlier preemption are still on nodes to which pods of the group are nominated.
    GroupPreemptionOngoing,
    /// Reasons with the prefix `pod group preemption: `, as DefaultPreemption returns them.
    GroupPreemption { reasons: Vec<Reason> },
    /// A group with topology constraints does not preempt as a whole.
    GroupPreemptionConstrained,
    /// DefaultPreemption, which would preempt for the group, is not in the profile.
    GroupPreemptionUnregistered,
    /// The group preempts as a whole, so that its pods do not.
    PreemptionLeftToGroup,
    /// The group is tried in several placements, so that its pods do not preempt.
    PreemptionLimitedByPlacements,
    /// There is no PodGroup of the name that the preemptor gives.
    PreemptorGroupMissing,
    /// The node is cordoned.
    NodeUnschedulable,
    /// The node's condition Ready is not true.
    NodeNotReady,
    /// The node is out of disk space, or does not report it.
    NodeOutOfDisk,
    /// The node's network is not available, or the node does not report it.
    NodeNetworkUnavailable,
    /// The node is short of memory, and the pod is BestEffort.
    NodeMemoryPressure,
    /// The node is short of process IDs.
    NodePidPressure,
    /// The node is short of disk space.
    NodeDiskPressure,
    /// The node has a forbidden label, or lacks a required one.
    NodeLabelPresence { label: Str, wanted: bool },
    /// The pods of the pod's Services run on nodes with other values of some labels.
    ServiceAffinityViolated { label: Str, wanted: Str },
    /// The pod names another node in `spec.nodeName`.
    NodeNameMismatch { wanted: Str },
    /// The node has this taint, and the pod does not tolerate it.
    UntoleratedTaint { taint: Taint },
    /// The node does not match the pod's `nodeSelector` or required node affinity.
    NodeAffinityMismatch { unmet: Option<Box<UnmetRequirement>> },
    /// The node does not match the node affinity that the profile adds.
    AddedAffinityMismatch { unmet: Option<Box<UnmetRequirement>> },
    /// Every term of the pod's node affinity asks for several node names at once.
    NodeAffinityConflict,
    /// A host port of the pod is taken.
    HostPortConflict(Box<PortConflict>),
    /// The node runs its maximum number of pods.
    TooManyPods { pods: i64, allowed: i64 },
    /// The node has less of a resource free than the pod requests.
    Insufficient(Shortage),
    /// The pod has sidecars, and the feature gate for them is disabled.
    SidecarsDisabled,
    /// A disk of the pod is in use on the node.
    DiskConflict(Box<DiskInUse>),
    /// Another pod uses a ReadWriteOncePod claim of the pod.
    ReadWriteOncePodConflict { claim: Option<Str> },
    /// The node would have more volumes of a CSI driver than the driver can attach.
    MaxVolumeCountExceeded(Box<VolumeLimit>),
    /// A CSI driver that the pod's volumes need is not on the node.
    CsiDriverMissing { driver: Str },
    /// A claim of the pod was not found while counting volumes.
    ClaimLookupFailed {
        #[serde(serialize_with = "facts::name")]
        claim: Key,
    },
    /// No volume matches a claim, and none can be provisioned; with `chosen`, because that is the node for which one will be.
    NoVolumeToBind {
        claim: Option<Str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        chosen: Option<Str>,
    },
    /// The volume of a bound claim cannot be used on the node.
    VolumeNodeAffinityConflict { volume: Option<Str> },
    /// A volume to be provisioned does not fit.
    NotEnoughStorage { claim: Option<Str> },
    /// The volume of a bound claim does not exist.
    BoundVolumeMissing { claim: Option<Str> },
    /// Claims with immediate binding are not bound yet.
    UnboundImmediateClaims { claims: SharedList<Str> },
    /// The claim of a generic ephemeral volume does not exist yet.
    EphemeralClaimPending { claim: Str },
    /// A claim does not exist.
    ClaimNotFound { claim: Str },
    /// A claim is bound to a volume that no longer exists.
    ClaimLost { claim: Str, volume: Str },
    /// A claim is being deleted.
    ClaimDeleting { claim: Str },
    /// The claim of a generic ephemeral volume belongs to another owner.
    ClaimNotOwned {
        #[serde(serialize_with = "facts::name")]
        claim: Key,
        #[serde(serialize_with = "facts::name")]
        pod: Key,
    },
    /// The claim of a generic ephemeral volume was created for another purpose.
    ClaimNotMadeForPod { claim: Str },
    /// The node is not in the zone or region of a volume.
    VolumeZoneConflict(Box<ZoneMismatch>),
    /// A PersistentVolume does not exist.
    VolumeNotFound { volume: Str },
    /// A StorageClass does not exist.
    StorageClassNotFound { class: Str },
    /// A StorageClass has no volume binding mode.
    BindingModeUnset { class: Str },
    /// A volume of the pod names no claim.
    ClaimWithoutName,
    /// A claim has neither a volume nor a class.
    ClaimWithoutVolumeAndClass,
    /// A claim of a class with immediate binding has no volume yet.
    VolumeWithoutName,
    /// Placing the pod in the node's domain would exceed the skew.
    TopologySpreadSkew(Box<SpreadSkew>),
    /// The node lacks the topology key of a spread constraint.
    TopologyKeyMissing { topology_key: Str },
    /// Pod affinity or anti-affinity is violated; another reason gives the rule.
    PodAffinityRules,
    /// A required pod affinity term has no match in the node's domain.
    PodAffinityMismatch(Box<NoMatchInDomain>),
    /// A pod in the node's domain matches a required anti-affinity term of the pod.
    PodAntiAffinity(Box<DomainConflict>),
    /// A required anti-affinity term of a pod in the node's domain matches the pod.
    ExistingPodAntiAffinity(Box<DomainConflict>),
    /// The pod's affinity terms cannot be parsed.
    InvalidPodAffinity { error: Str },
    /// The node does not declare features that the pod needs.
    FeaturesMissing { features: SharedList<Str> },
    /// The node cannot give all devices that the pod claims.
    CannotAllocateClaims,
    /// An allocated claim cannot be used on the node.
    ResourceClaimUnavailable { claim: Str },
    /// A pool of devices is not valid.
    InvalidResourcePools,
    /// The claim for the pod's extended resources already has requests.
    ExtendedResourceClaimConflict,
    /// The node does not offer an extended resource.
    ExtendedResourceMissing { resource: Str },
    /// A ResourceClaim does not exist.
    ResourceClaimNotFound {
        #[serde(serialize_with = "facts::name")]
        claim: Key,
    },
    /// A ResourceClaim is being deleted.
    ResourceClaimDeleting { claim: Str },
    /// A generated ResourceClaim belongs to another pod.
    ResourceClaimNotOwned {
        #[serde(serialize_with = "facts::name")]
        claim: Key,
        #[serde(serialize_with = "facts::name")]
        pod: Key,
    },
    /// A ResourceClaim has not been generated from its template yet.
    ResourceClaimNotCreated {
        #[serde(serialize_with = "facts::name")]
        pod: Key,
    },
    /// A resource claim of the pod has neither a name nor a template.
    ResourceClaimUnspecified {
        #[serde(serialize_with = "facts::name")]
        pod: Key,
        name: Str,
    },
    /// A request of a ResourceClaim is of an unknown kind.
    UnknownRequestType {
        #[serde(serialize_with = "facts::name")]
        claim: Key,
        request: Str,
    },
    /// A request of a ResourceClaim lists alternatives, and the feature gate for them is disabled.
    SubrequestsDisabled {
        #[serde(serialize_with = "facts::name")]
        claim: Key,
        request: Str,
    },
    /// A DeviceClass does not exist.
    DeviceClassNotFound { request: Str, class: Str },
    /// PreFilter excluded the node; these plugins restricted the nodes.
    NotAmongNodes { plugins: SharedList<PluginName> },
    /// PreFilter excluded the node; the plugins are not named.
    FilteredOutByPreFilter,
    /// One plugin's PreFilter excluded all nodes.
    NoNodeLeftBy { plugin: PluginName },
    /// The PreFilter results of several plugins have no node in common.
    NoNodeLeftTogether { plugins: SharedList<PluginName> },
    /// DynamicResources had no claim to deallocate.
    NoClaimsToDeallocate,
    /// DynamicResources found nothing to deallocate.
    StillNotSchedulable,
    /// DynamicResources deallocated a claim.
    ClaimDeallocated,
    /// DynamicResources deleted a stale claim for extended resources.
    ClaimDeleted,
    /// The pod's `preemptionPolicy` is `Never`.
    PreemptionPolicyNever,
    /// Pods that were preempted on the nominated node are still terminating.
    TerminatingVictims,
    /// The node has no pods of lower priority.
    NoPreemptionVictims,
    /// The node has no pods of lower priority than this one.
    NoVictimsOnNode {
        node: Str,
        #[serde(serialize_with = "facts::name")]
        pod: Key,
    },
    /// Preemption was not tried on the node, because it cannot help there.
    PreemptionNotHelpful,
    /// The gate of the plugin is off.
    PluginDisabled,
    /// Preemption chose a node; the success of preemption in releases that announce it.
    PlacementFound { node: Str, victims: usize },
    /// No candidate was left to choose from.
    NoCandidate,
    /// A reason with the prefix `preemption: `, as DefaultPreemption returns it.
    Preemption { reason: Box<Reason> },
    /// Free text: an error, a reason of an out-of-tree plugin, or a summary of other reasons.
    Other { text: Cow<'static, str> },
}

impl Reason {
    pub fn kind(&self) -> ReasonKind {
        self.into()
    }

    /// Returns the kinds of which the reason misses an object: where a source lacks one of them, the reason proves nothing.
    pub fn missing_kinds(&self) -> &'static [Kind] {
        match self {
            Self::PodGroupMissing { .. } | Self::PreemptorGroupMissing => &[Kind::PodGroup],
            Self::ClaimNotFound { .. } | Self::ClaimLookupFailed { .. } | Self::EphemeralClaimPending { .. } => {
                &[Kind::PersistentVolumeClaim]
            }
            Self::VolumeNotFound { .. } | Self::BoundVolumeMissing { .. } => &[Kind::PersistentVolume],
            Self::NoVolumeToBind { .. } => &[Kind::PersistentVolume, Kind::StorageClass],
            // A class that is not there binds at once.
            Self::StorageClassNotFound { .. } | Self::UnboundImmediateClaims { .. } => &[Kind::StorageClass],
            Self::NotEnoughStorage { .. } => &[Kind::CSIStorageCapacity],
            Self::CsiDriverMissing { .. } => &[Kind::CSINode],
            Self::ResourceClaimNotFound { .. } => &[Kind::ResourceClaim],
            Self::DeviceClassNotFound { .. } => &[Kind::DeviceClass],
            Self::CannotAllocateClaims => &[Kind::ResourceSlice],
            Self::GroupGated { reasons, .. } => reasons.iter().map(Self::missing_kinds).find(|kinds| !kinds.is_empty()).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Returns whether the pod only waits for the end of pods that were preempted for it, or for its group.
    pub fn waits_for_victims(&self) -> bool {
        match self {
            Self::PreemptionInProgress | Self::GroupPreemptionInProgress => true,
            Self::GroupGated { reasons, .. } => reasons.iter().any(Self::waits_for_victims),
            _ => false,
        }
    }

    /// Returns a hash: equal for equal reasons, mostly different for different ones. Texts are not hashed.
    pub(super) fn fingerprint(&self) -> u64 {
        let amounts = match self {
            Self::Insufficient(shortage) => shortage.used ^ shortage.capacity.rotate_left(20),
            Self::TooManyPods { pods, allowed } => pods ^ allowed.rotate_left(20),
            Self::TopologySpreadSkew(skew) => skew.matching ^ skew.lowest.rotate_left(20),
            _ => 0,
        };
        (self.kind() as u64) << 56 ^ amounts as u64
    }

    /// Returns the text that kube-scheduler writes in a release.
    pub fn text(&self, release: Release) -> Cow<'static, str> {
        catalogue::text(self, release)
    }

    /// Returns the code, which tells whether eviction might help.
    pub fn code(&self) -> Code {
        match self {
            Self::Insufficient(shortage) if shortage.requested > shortage.capacity => Code::UnschedulableAndUnresolvable,
            _ => match entry(self.kind()).map(|e| e.class) {
                Some(Class::Unresolvable) => Code::UnschedulableAndUnresolvable,
                _ => Code::Unschedulable,
            },
        }
    }
}

impl From<&'static str> for Reason {
    fn from(text: &'static str) -> Self {
        Self::Other { text: text.into() }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self::Other { text: text.into() }
    }
}

#[cfg(test)]
mod tests;
