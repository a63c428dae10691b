//! The table of reasons: the plugin, the text in each release, a plain phrase, and whether eviction might help.

use std::borrow::Cow;

use super::{Reason, ReasonKind, template};
use crate::framework::PluginName;
use crate::release::{Lifetime, Release};

use ReasonKind as K;

/// Whether evicting pods from the node might help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Eviction might help.
    Unschedulable,
    /// Eviction cannot help.
    Unresolvable,
}

/// A reason in plain words, without a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// Of one node: `is cordoned`.
    pub one: &'static str,
    /// Of several nodes: `are cordoned`.
    pub many: &'static str,
    /// A clause for every node, if it reads better than `all 3 nodes are cordoned`.
    pub none: Option<&'static str>,
}

/// A text of a reason and the releases that write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wording {
    /// The text, with `%s` or `%q` as placeholders for facts.
    pub(super) template: &'static str,
    /// The releases that write it.
    pub(super) span: Lifetime,
    /// How the text differs from the newest one, as a verb phrase: `names taints, as older versions do`.
    pub note: Option<&'static str>,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub kind: ReasonKind,
    /// The plugin that gives it; the first in a cycle if several do. `None` for reasons of the framework.
    pub plugin: Option<PluginName>,
    /// Whether evicting pods might help.
    pub class: Class,
    /// The texts, newest first.
    pub wordings: &'static [Wording],
    /// The phrase in plain words; `None` if the text itself is plain enough.
    pub phrase: Option<Phrase>,
}

impl Entry {
    const fn phrase(self, one: &'static str, many: &'static str) -> Self {
        Self { phrase: Some(Phrase { one, many, none: None }), ..self }
    }

    const fn phrase_or(self, one: &'static str, many: &'static str, none: &'static str) -> Self {
        Self { phrase: Some(Phrase { one, many, none: Some(none) }), ..self }
    }

    /// Returns the text of the newest release, if it contains no facts.
    pub fn plain_text(&self) -> Option<&'static str> {
        self.wordings.first().map(|w| w.template).filter(|t| template::is_plain(t))
    }

    /// Returns the text of a release, or the newest if that release has none.
    pub(super) fn wording(&self, release: Release) -> Option<&'static Wording> {
        self.wordings.iter().rev().find(|w| w.span.contains(release)).or(self.wordings.first())
    }
}

/// Returns every row.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

/// Returns the row of a kind; `None` for [`ReasonKind::Other`].
pub fn entry(kind: ReasonKind) -> Option<&'static Entry> {
    ENTRIES.iter().find(|e| e.kind == kind)
}

pub(super) fn text(reason: &Reason, release: Release) -> Cow<'static, str> {
    if let Reason::Other { text } = reason {
        return text.clone();
    }
    if let Reason::Preemption { reason } = reason {
        return format!("preemption: {}", reason.text(release)).into();
    }
    if let Reason::GroupPreemption { reasons } = reason {
        let texts: Vec<_> = reasons.iter().map(|reason| reason.text(release)).collect();
        return format!("pod group preemption: {}", texts.join(", ")).into();
    }
    if let Reason::GroupGated { pod, reasons } = reason {
        let texts: Vec<_> = reasons.iter().map(|reason| reason.text(release)).collect();
        return format!("pod {pod} of its pod group is gated: {}", texts.join(", ")).into();
    }
    let Some(wording) = entry(reason.kind()).and_then(|e| e.wording(release)) else { return Cow::Borrowed("") };
    if template::is_plain(wording.template) {
        return Cow::Borrowed(wording.template);
    }
    template::fill(wording.template, &arguments(reason)).into()
}

/// Returns the facts that the text contains, in order.
fn arguments(reason: &Reason) -> Vec<Cow<'_, str>> {
    let names = |plugins: &[PluginName]| plugins.iter().map(|p| p.as_str()).collect::<Vec<_>>().join(" ").into();
    match reason {
        Reason::SchedulingGates { gates } => vec![gates.join(" ").into()],
        Reason::UntoleratedTaint { taint } => vec![taint.key.as_str().into(), taint.value.as_str().into()],
        Reason::Insufficient(shortage) => vec![shortage.resource.as_str().into()],
        Reason::CsiDriverMissing { driver } => vec![driver.as_str().into()],
        Reason::ClaimLookupFailed { claim } => vec![claim.to_string().into(), claim.name.as_str().into()],
        Reason::EphemeralClaimPending { claim }
        | Reason::ClaimNotMadeForPod { claim }
        | Reason::ClaimNotFound { claim }
        | Reason::ClaimDeleting { claim } => {
            vec![claim.as_str().into()]
        }
        Reason::ClaimLost { claim, volume } => vec![claim.as_str().into(), volume.as_str().into()],
        Reason::ClaimNotOwned { claim, pod } | Reason::ResourceClaimNotOwned { claim, pod } => {
            vec![claim.to_string().into(), pod.to_string().into()]
        }
        Reason::VolumeNotFound { volume } => vec![volume.as_str().into()],
        Reason::StorageClassNotFound { class } | Reason::BindingModeUnset { class } => vec![class.as_str().into()],
        Reason::InvalidPodAffinity { error } => vec![error.as_str().into()],
        Reason::ResourceClaimNotFound { claim } => vec![claim.to_string().into()],
        Reason::ResourceClaimDeleting { claim } => vec![claim.as_str().into()],
        Reason::ResourceClaimNotCreated { pod } => vec![pod.to_string().into()],
        Reason::ResourceClaimUnspecified { pod, name } => vec![pod.to_string().into(), name.as_str().into()],
        Reason::UnknownRequestType { claim, request } | Reason::SubrequestsDisabled { claim, request } => {
            vec![claim.to_string().into(), request.as_str().into()]
        }
        Reason::DeviceClassNotFound { request, class } => vec![request.as_str().into(), class.as_str().into()],
        Reason::NoVictimsOnNode { node, pod } => vec![node.as_str().into(), pod.name.as_str().into()],
        Reason::PlacementFound { node, victims } => vec![node.as_str().into(), victims.to_string().into()],
        Reason::GroupPlacementFound { victims } => vec![victims.to_string().into()],
        Reason::GangUnsatisfiable(gang) | Reason::GangUnsatisfied(gang) => {
            vec![gang.min_count.to_string().into(), gang.scheduled.to_string().into(), gang.remaining.to_string().into()]
        }
        Reason::PodGroupMissing { group } => vec![group.as_str().into()],
        Reason::NoPlacementAvailable { placements, first } => vec![placements.to_string().into(), first.as_str().into()],
        Reason::NotAmongNodes { plugins } | Reason::NoNodeLeftTogether { plugins } => vec![names(plugins)],
        Reason::NoNodeLeftBy { plugin } => vec![plugin.as_str().into()],
        _ => Vec::new(),
    }
}

const fn always(template: &'static str) -> Wording {
    Wording { template, span: Lifetime::since(0), note: None }
}

const fn noted(template: &'static str, note: &'static str) -> Wording {
    Wording { template, span: Lifetime::since(0), note: Some(note) }
}

const fn since(minor: u8, template: &'static str) -> Wording {
    Wording { template, span: Lifetime::since(minor), note: None }
}

const fn since_patch(minor: u8, patch: u8, template: &'static str) -> Wording {
    Wording { template, span: Lifetime::since_patch(minor, patch), note: None }
}

/// A wording of releases before a patch.
const fn until_patch(minor: u8, patch: u8, template: &'static str, note: &'static str) -> Wording {
    Wording { template, span: Lifetime::since(0).until_patch(minor, patch), note: Some(note) }
}

const fn until(minor: u8, template: &'static str, note: &'static str) -> Wording {
    Wording { template, span: Lifetime::since(0).until(minor + 1), note: Some(note) }
}

/// Makes an empty text for all releases up to `minor`.
const fn silent(minor: u8) -> Wording {
    Wording { template: "", span: Lifetime::since(0).until(minor + 1), note: None }
}

const fn before_plugins(template: &'static str) -> Wording {
    Wording { template, span: Lifetime::since(0).until(18), note: Some("gives a reason that only old versions have") }
}

const fn row(kind: ReasonKind, plugin: PluginName, class: Class, wordings: &'static [Wording]) -> Entry {
    Entry { kind, plugin: Some(plugin), class, wordings, phrase: None }
}

const fn framework(kind: ReasonKind, class: Class, wordings: &'static [Wording]) -> Entry {
    Entry { kind, plugin: None, class, wordings, phrase: None }
}

use Class::{Unresolvable, Unschedulable};
use PluginName as P;

const OLD_SELECTOR: &str = "mentions node selectors, as old versions do";
const OLD_AFFINITY: &str = "mentions node affinity only, as old versions do";

const COUNTS_GANGS: &str = "counts the pods of a group, as newer versions do";
const QUEUED_AS_ONE: &str = "says what gates a pod group, as newer versions do";
const PREEMPTS_ONCE: &str = "says what preemption for a group found, as newer versions do";

/// Every reason but `Other`. Of rows with a common prefix, the longer text comes first.
static ENTRIES: &[Entry] = &[
    row(K::SchedulingGates, P::SchedulingGates, Unresolvable, &[always("waiting for scheduling gates: [%s]")]),
    row(K::PreemptionInProgress, P::DefaultPreemption, Unresolvable, &[always("waiting for the preemption for this pod to be finished")]),
    row(
        K::GroupPreemptionInProgress,
        P::DefaultPreemption,
        Unresolvable,
        &[always("waiting for the preemption for this pod group to be finished")],
    ),
    row(
        K::PodGroupMissing,
        P::GangScheduling,
        Unresolvable,
        &[
            always("waiting for pods's pod group %q to appear in scheduling queue"),
            since(37, "waiting for pod's pod group %q to appear in scheduling queue"),
        ],
    ),
    row(
        K::GangIncomplete,
        P::GangScheduling,
        Unresolvable,
        &[always("waiting for minCount pods from a gang to appear in scheduling queue")],
    ),
    row(K::GangQuorumUnmet, P::GangScheduling, Unschedulable, &[always("waiting for minCount pods from a gang to be scheduled")]),
    framework(K::GroupGated, Unresolvable, &[noted("pod %s of its pod group is gated: %s", QUEUED_AS_ONE)]),
    row(
        K::GangUnsatisfiable,
        P::GangScheduling,
        Unschedulable,
        &[noted("minCount (%s) cannot be satisfied: %s scheduled, %s remaining", COUNTS_GANGS)],
    ),
    row(
        K::GangUnsatisfied,
        P::GangScheduling,
        Unschedulable,
        &[noted("minCount (%s) is not yet satisfied: %s scheduled, %s remaining", COUNTS_GANGS)],
    ),
    framework(K::NoPodSchedulable, Unschedulable, &[noted("no pods were schedulable", COUNTS_GANGS)]),
    framework(K::PermitWaits, Unschedulable, &[always("one or more plugins asked to wait and no plugin rejected pod")]),
    framework(K::GroupUnschedulable, Unschedulable, &[always("pod group is unschedulable")]),
    framework(K::GroupAwaitsPreemption, Unschedulable, &[always("pod group is waiting for preemption to complete")]),
    framework(K::NoPlacementAvailable, Unschedulable, &[always("0/%s placements are available, first placement status: %s")]),
    framework(K::NoFeasiblePlacement, Unschedulable, &[always("no feasible placements found")]),
    row(K::NoVictimsForGroup, P::DefaultPreemption, Unresolvable, &[always("No preemption victims found for incoming preemptor")]),
    row(
        K::GroupPlacementFound,
        P::DefaultPreemption,
        Unschedulable,
        &[noted("found a placement for podgroup, preempting %s victims", PREEMPTS_ONCE)],
    ),
    row(K::GroupPreemptionOngoing, P::DefaultPreemption, Unschedulable, &[noted("ongoing preemption on nominated nodes", PREEMPTS_ONCE)]),
    row(K::GroupPreemption, P::DefaultPreemption, Unschedulable, &[noted("pod group preemption: %s", PREEMPTS_ONCE)]),
    row(
        K::GroupPreemptionConstrained,
        P::DefaultPreemption,
        Unschedulable,
        &[always("workload aware preemption is not supported for pod groups with scheduling constraints")],
    ),
    row(
        K::GroupPreemptionUnregistered,
        P::DefaultPreemption,
        Unschedulable,
        &[always("default preemption plugin is not registered, workload aware preemption is disabled")],
    ),
    row(K::PreemptionLeftToGroup, P::DefaultPreemption, Unschedulable, &[always("not eligible due to workload aware preemption enabled")]),
    row(
        K::PreemptionLimitedByPlacements,
        P::DefaultPreemption,
        Unschedulable,
        &[always("not eligible due to placement-based pod group scheduling limitation")],
    ),
    row(K::PreemptorGroupMissing, P::DefaultPreemption, Unschedulable, &[always("pod group for pod not found")]),
    row(K::NodeUnschedulable, P::NodeUnschedulable, Unresolvable, &[always("node(s) were unschedulable")])
        .phrase("is cordoned", "are cordoned"),
    row(K::NodeNotReady, P::CheckNodeCondition, Unresolvable, &[before_plugins("node(s) were not ready")]).phrase_or(
        "is not ready",
        "are not ready",
        "no node is ready",
    ),
    row(K::NodeOutOfDisk, P::CheckNodeCondition, Unresolvable, &[before_plugins("node(s) were out of disk space")])
        .phrase("is out of disk space", "are out of disk space"),
    row(K::NodeNetworkUnavailable, P::CheckNodeCondition, Unresolvable, &[before_plugins("node(s) had unavailable network")])
        .phrase("has no network", "have no network"),
    row(K::NodeMemoryPressure, P::CheckNodeMemoryPressure, Unresolvable, &[before_plugins("node(s) had memory pressure")])
        .phrase("is short of memory", "are short of memory"),
    row(K::NodePidPressure, P::CheckNodePIDPressure, Unresolvable, &[before_plugins("node(s) had pid pressure")])
        .phrase("is short of process IDs", "are short of process IDs"),
    row(K::NodeDiskPressure, P::CheckNodeDiskPressure, Unresolvable, &[before_plugins("node(s) had disk pressure")])
        .phrase("is short of disk space", "are short of disk space"),
    row(K::NodeLabelPresence, P::NodeLabel, Unresolvable, &[always("node(s) didn't have the requested labels")]).phrase_or(
        "does not have the labels that its configuration asks for",
        "do not have the labels that its configuration asks for",
        "no node has the labels that its configuration asks for",
    ),
    row(K::ServiceAffinityViolated, P::ServiceAffinity, Unschedulable, &[always("node(s) didn't match service affinity")]).phrase_or(
        "is not labelled as the nodes of its Service",
        "are not labelled as the nodes of its Service",
        "no node is labelled as those of its Service",
    ),
    row(
        K::NodeNameMismatch,
        P::NodeName,
        Unresolvable,
        &[
            since(21, "node(s) didn't match the requested node name"),
            until(20, "node(s) didn't match the requested hostname", "mentions a hostname, as old versions do"),
        ],
    )
    .phrase_or("is not the node it asks for", "are not the node it asks for", "no node has the name it asks for"),
    row(
        K::UntoleratedTaint,
        P::TaintToleration,
        Unresolvable,
        &[
            since_patch(34, 2, "node(s) had untolerated taint(s)"),
            until_patch(34, 2, "node(s) had untolerated taint {%s: %s}", "names taints, as older versions do"),
            until(23, "node(s) had taint {%s: %s}, that the pod didn't tolerate", "names taints in older words"),
            until(17, "node(s) had taints that the pod didn't tolerate", "words taints differently, as older versions do"),
        ],
    )
    .phrase("has a taint it does not tolerate", "have a taint it does not tolerate"),
    row(
        K::NodeAffinityMismatch,
        P::NodeAffinity,
        Unresolvable,
        &[
            since(21, "node(s) didn't match Pod's node affinity/selector"),
            until(20, "node(s) didn't match Pod's node affinity", OLD_AFFINITY),
            until(17, "node(s) didn't match node selector", OLD_SELECTOR),
        ],
    )
    .phrase_or(
        "does not match its node affinity or selector",
        "do not match its node affinity or selector",
        "no node matches its node affinity or selector",
    ),
    row(K::AddedAffinityMismatch, P::NodeAffinity, Unresolvable, &[always("node(s) didn't match scheduler-enforced node affinity")])
        .phrase_or(
            "does not match the node affinity its profile adds",
            "do not match the node affinity its profile adds",
            "no node matches the node affinity its profile adds",
        ),
    row(K::NodeAffinityConflict, P::NodeAffinity, Unresolvable, &[always("pod affinity terms conflict")]),
    row(K::HostPortConflict, P::NodePorts, Unschedulable, &[always("node(s) didn't have free ports for the requested pod ports")])
        .phrase_or("has its host port taken", "have its host port taken", "no node has its host port free"),
    row(
        K::TooManyPods,
        P::NodeResourcesFit,
        Unschedulable,
        &[since(18, "Too many pods"), until(17, "Insufficient pods", "counts pods as a resource, as old versions do")],
    ),
    row(K::Insufficient, P::NodeResourcesFit, Unschedulable, &[always("Insufficient %s")]),
    row(
        K::SidecarsDisabled,
        P::NodeResourcesFit,
        Unresolvable,
        &[always("Pod has a restartable init container and the SidecarContainers feature is disabled")],
    ),
    row(K::DiskConflict, P::VolumeRestrictions, Unschedulable, &[always("node(s) had no available disk")])
        .phrase("has its disk in use already", "have its disk in use already"),
    row(
        K::ReadWriteOncePodConflict,
        P::VolumeRestrictions,
        Unschedulable,
        &[
            since(34, "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"),
            until(
                33,
                "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
                "words a claim in use differently, as older versions do",
            ),
        ],
    )
    .phrase_or(
        "is out because another pod uses its ReadWriteOncePod claim",
        "are out because another pod uses its ReadWriteOncePod claim",
        "another pod uses its ReadWriteOncePod claim",
    ),
    row(K::MaxVolumeCountExceeded, P::NodeVolumeLimits, Unschedulable, &[always("node(s) exceed max volume count")]).phrase_or(
        "can attach no more volumes",
        "can attach no more volumes",
        "no node can attach more volumes",
    ),
    row(K::CsiDriverMissing, P::NodeVolumeLimits, Unschedulable, &[always("%s CSI driver is not installed on the node")]),
    row(K::ClaimLookupFailed, P::NodeVolumeLimits, Unresolvable, &[always("looking up PVC %s: persistentvolumeclaim %q not found")]),
    row(K::NoVolumeToBind, P::VolumeBinding, Unresolvable, &[always("node(s) didn't find available persistent volumes to bind")])
        .phrase_or("has no volume for its claims", "have no volume for its claims", "no node has a volume for its claims"),
    row(
        K::VolumeNodeAffinityConflict,
        P::VolumeBinding,
        Unresolvable,
        &[
            since(33, "node(s) didn't match PersistentVolume's node affinity"),
            until(32, "node(s) had volume node affinity conflict", "mentions a volume node affinity conflict, as older versions do"),
        ],
    )
    .phrase_or("is out of reach of its volume", "are out of reach of its volume", "no node is in reach of its volume"),
    row(K::NotEnoughStorage, P::VolumeBinding, Unresolvable, &[always("node(s) did not have enough free storage")]).phrase_or(
        "lacks free storage for its volumes",
        "lack free storage for its volumes",
        "no node has enough free storage for its volumes",
    ),
    row(
        K::BoundVolumeMissing,
        P::VolumeBinding,
        Unresolvable,
        &[
            since(23, "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
            until(22, "pvc(s) bound to non-existent pv(s)", "mentions claims only, as old versions do"),
        ],
    )
    .phrase_or(
        "is out because its claim is bound to a volume that was not found",
        "are out because its claim is bound to a volume that was not found",
        "its claim is bound to a volume that was not found",
    ),
    row(
        K::UnboundImmediateClaims,
        P::VolumeBinding,
        Unresolvable,
        &[
            since(12, "pod has unbound immediate PersistentVolumeClaims"),
            until(11, "pod has unbound PersistentVolumeClaims", "words unbound claims differently, as older versions do"),
        ],
    ),
    row(
        K::EphemeralClaimPending,
        P::VolumeBinding,
        Unresolvable,
        &[always("waiting for ephemeral volume controller to create the persistentvolumeclaim %q")],
    ),
    row(K::ClaimLost, P::VolumeBinding, Unresolvable, &[always("persistentvolumeclaim %q bound to non-existent persistentvolume %q")]),
    row(K::ClaimDeleting, P::VolumeBinding, Unresolvable, &[always("persistentvolumeclaim %q is being deleted")]),
    row(K::ClaimNotOwned, P::VolumeBinding, Unresolvable, &[always("PVC %s was not created for pod %s (pod is not owner)")]),
    row(K::ClaimNotMadeForPod, P::VolumeBinding, Unresolvable, &[always("persistentvolumeclaim %q was not created for the pod")]),
    // VolumeBinding and VolumeZone give the same reason, but run later.
    row(K::ClaimNotFound, P::VolumeRestrictions, Unresolvable, &[always("persistentvolumeclaim %q not found")]),
    row(K::VolumeZoneConflict, P::VolumeZone, Unresolvable, &[always("node(s) had no available volume zone")]).phrase_or(
        "is not in its volume's zone",
        "are not in its volume's zone",
        "no node is in its volume's zone",
    ),
    row(K::VolumeNotFound, P::VolumeZone, Unresolvable, &[always("persistentvolume %q not found")]),
    row(K::StorageClassNotFound, P::VolumeZone, Unresolvable, &[always("storageclass.storage.k8s.io %q not found")]),
    row(K::BindingModeUnset, P::VolumeZone, Unresolvable, &[always("VolumeBindingMode not set for StorageClass %q")]),
    row(
        K::ClaimWithoutVolumeAndClass,
        P::VolumeZone,
        Unresolvable,
        &[always("PersistentVolumeClaim had no pv name and storageClass name")],
    ),
    row(K::ClaimWithoutName, P::VolumeZone, Unresolvable, &[always("PersistentVolumeClaim had no name")]),
    row(K::VolumeWithoutName, P::VolumeZone, Unresolvable, &[always("PersistentVolume had no name")]),
    row(
        K::TopologyKeyMissing,
        P::PodTopologySpread,
        Unresolvable,
        &[always("node(s) didn't match pod topology spread constraints (missing required label)")],
    )
    .phrase_or(
        "lacks the label its topology spread needs",
        "lack the label its topology spread needs",
        "no node has the label its topology spread needs",
    ),
    row(K::TopologySpreadSkew, P::PodTopologySpread, Unschedulable, &[always("node(s) didn't match pod topology spread constraints")])
        .phrase("would break its topology spread", "would break its topology spread"),
    row(
        K::PodAffinityRules,
        P::InterPodAffinity,
        Unschedulable,
        &[
            noted("node(s) didn't match pod affinity/anti-affinity rules", "mentions affinity and anti-affinity, as old versions do"),
            until(20, "node(s) didn't match pod affinity/anti-affinity", "mentions affinity and anti-affinity, as old versions do"),
        ],
    ),
    row(K::PodAffinityMismatch, P::InterPodAffinity, Unresolvable, &[always("node(s) didn't match pod affinity rules")]).phrase_or(
        "does not meet its pod affinity",
        "do not meet its pod affinity",
        "no node meets its pod affinity",
    ),
    row(K::PodAntiAffinity, P::InterPodAffinity, Unschedulable, &[always("node(s) didn't match pod anti-affinity rules")])
        .phrase("is ruled out by its own anti-affinity", "are ruled out by its own anti-affinity"),
    row(
        K::ExistingPodAntiAffinity,
        P::InterPodAffinity,
        Unschedulable,
        &[always("node(s) didn't satisfy existing pods anti-affinity rules")],
    )
    .phrase("is ruled out by the anti-affinity of other pods", "are ruled out by the anti-affinity of other pods"),
    row(K::InvalidPodAffinity, P::InterPodAffinity, Unresolvable, &[always("parsing pod: %s")]),
    row(K::FeaturesMissing, P::NodeDeclaredFeatures, Unresolvable, &[always("node(s) didn't match Pod's required features")]).phrase_or(
        "lacks a feature it needs",
        "lack a feature it needs",
        "no node has all features it needs",
    ),
    row(K::CannotAllocateClaims, P::DynamicResources, Unresolvable, &[always("cannot allocate all claims")]).phrase_or(
        "cannot give all devices it claims",
        "cannot give all devices it claims",
        "no node can give all devices it claims",
    ),
    row(K::ResourceClaimUnavailable, P::DynamicResources, Unresolvable, &[always("resourceclaim not available on the node")]).phrase_or(
        "cannot use the device it holds",
        "cannot use the device it holds",
        "no node can use the device it holds",
    ),
    row(K::InvalidResourcePools, P::DynamicResources, Unresolvable, &[always("invalid resource pools were encountered")]),
    row(K::ExtendedResourceClaimConflict, P::DynamicResources, Unresolvable, &[always("cannot schedule extended resource claim")]),
    row(K::ExtendedResourceMissing, P::DynamicResources, Unresolvable, &[always("cannot fit resource")]),
    row(K::ResourceClaimNotFound, P::DynamicResources, Unresolvable, &[always("could not find ResourceClaim %q")]),
    row(K::ResourceClaimDeleting, P::DynamicResources, Unresolvable, &[always("resourceclaim %q is being deleted")]),
    row(
        K::ResourceClaimNotOwned,
        P::DynamicResources,
        Unresolvable,
        &[
            since(36, "ResourceClaim %s was not created for Pod %s (Pod is not owner)"),
            until(35, "ResourceClaim %s was not created for pod %s (pod is not owner)", "spells Pod in lower case, as older versions do"),
        ],
    ),
    row(K::ResourceClaimNotCreated, P::DynamicResources, Unresolvable, &[always("pod %q: ResourceClaim not created yet")]),
    row(
        K::ResourceClaimUnspecified,
        P::DynamicResources,
        Unresolvable,
        &[always("pod %q, spec.resourceClaim %q: none of the supported fields are set")],
    ),
    row(K::UnknownRequestType, P::DynamicResources, Unresolvable, &[always("resource claim %s, request %s: unknown request type")]),
    row(
        K::SubrequestsDisabled,
        P::DynamicResources,
        Unresolvable,
        &[always("resource claim %s, request %s: has subrequests, but the DRAPrioritizedList feature is disabled")],
    ),
    row(K::DeviceClassNotFound, P::DynamicResources, Unresolvable, &[always("request %s: device class %s does not exist")]),
    framework(K::FilteredOutByPreFilter, Unresolvable, &[always("node is filtered out by the prefilter result")])
        .phrase("is not among the nodes that the pod is tied to", "are not among the nodes that the pod is tied to"),
    framework(K::NoNodeLeftTogether, Unresolvable, &[always("node(s) didn't satisfy plugin(s) [%s] simultaneously")]),
    framework(K::NotAmongNodes, Unresolvable, &[always("node(s) didn't satisfy plugin(s) [%s]")]),
    framework(K::NoNodeLeftBy, Unresolvable, &[always("node(s) didn't satisfy plugin %s")]),
    row(K::NoClaimsToDeallocate, P::DynamicResources, Unschedulable, &[always("no new claims to deallocate")]),
    row(K::StillNotSchedulable, P::DynamicResources, Unschedulable, &[always("still not schedulable")]),
    row(K::ClaimDeallocated, P::DynamicResources, Unschedulable, &[always("deallocation of ResourceClaim completed")]),
    row(K::ClaimDeleted, P::DynamicResources, Unschedulable, &[always("deletion of ResourceClaim completed")]),
    row(
        K::PreemptionPolicyNever,
        P::DefaultPreemption,
        Unschedulable,
        &[since(24, "not eligible due to preemptionPolicy=Never."), silent(23)],
    ),
    row(
        K::TerminatingVictims,
        P::DefaultPreemption,
        Unschedulable,
        &[since(24, "not eligible due to a terminating pod on the nominated node."), silent(23)],
    ),
    row(K::NoPreemptionVictims, P::DefaultPreemption, Unresolvable, &[always("No preemption victims found for incoming pod")]),
    row(
        K::PluginDisabled,
        P::DynamicResources,
        Unschedulable,
        &[noted("plugin disabled", "says that a plugin is disabled, as older versions do")],
    ),
    row(
        K::PlacementFound,
        P::DefaultPreemption,
        Unschedulable,
        &[noted(
            "found a potential placement for pod on node %s, preempting %s victims",
            "says where preemption makes room, as newer versions do",
        )],
    ),
    row(K::NoVictimsOnNode, P::DefaultPreemption, Unresolvable, &[always("No victims found on node %s for preemptor pod %s")]),
    row(K::PreemptionNotHelpful, P::DefaultPreemption, Unresolvable, &[always("Preemption is not helpful for scheduling")]),
    row(K::NoCandidate, P::DefaultPreemption, Unschedulable, &[always("no candidate node for preemption")]),
    row(K::Preemption, P::DefaultPreemption, Unschedulable, &[always("preemption: %s")]),
];
