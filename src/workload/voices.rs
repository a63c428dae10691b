//! Events and conditions of others, by speaker and shape.
//!
//! The shapes are those of `cluster-autoscaler/processors/status/eventing_scale_up_processor.go`, Karpenter's
//! `pkg/controllers/provisioning/scheduling/events.go`, and the controllers of Kubernetes, Kueue, Volcano, YuniKorn, KAI and the
//! descheduler. A text of another shape has no meaning here and is shown as it is.

use std::collections::{BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use super::conditions::{Capacity, word_of_conditions};
use super::funnel::WorkloadInput;
use super::queues::{QUEUE_LABEL, REQUEST_ANNOTATIONS, add_queues};
use super::refusal::Refusal;
use super::subject::owners;
use crate::cluster::neighbors::{About, NeighborKind, OtherEvent};
use crate::cluster::operations::operation;
use crate::cluster::{Key, Pod, Str};
use crate::limits::engine::VOICES_OF_OBJECT;

/// Pods of a workload whose words of others are shown with it.
const PODS_WITH_EVENTS: usize = 20;

/// Labels that name a pod's group.
const GROUP_LABELS: [&str; 3] = ["scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io", "pod-group.scheduling.run.ai/name"];
/// The annotation with the name of the PodGroup of Volcano.
const GROUP_ANNOTATION: &str = "scheduling.k8s.io/group-name";

/// Returns the PodGroups of gang schedulers that a pod names.
pub(super) fn groups(pod: &Pod) -> impl Iterator<Item = Key> {
    let metadata = &pod.metadata;
    let labelled = GROUP_LABELS.iter().filter_map(|label| metadata.labels.get(label));
    labelled.chain(metadata.annotations.get(GROUP_ANNOTATION)).map(|name| Key::new(metadata.namespace.clone(), name.clone()))
}

/// The text of another program about a pod, its owners, claims or group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Voice {
    /// The component that wrote it.
    pub speaker: Str,
    /// The object that it is about.
    pub about: About,
    /// `Normal` or `Warning`.
    #[serde(rename = "type")]
    pub kind: Str,
    /// The reason; empty in some events.
    pub reason: Str,
    /// The text.
    pub text: String,
    /// How often it was written, at least.
    pub count: u32,
    /// When it was first written, if known.
    pub first: Option<Timestamp>,
    /// When it was last written, if known.
    pub last: Option<Timestamp>,
    /// Its meaning; `None` for unknown texts.
    #[serde(skip)]
    pub means: Option<Meaning>,
}

/// The meaning of a text of another program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// cluster-autoscaler adds a node: the groups.
    ScaleUp(String),
    /// cluster-autoscaler adds no node: why not, by node group.
    NoScaleUp(String),
    /// cluster-autoscaler leaves the pod to this ProvisioningRequest.
    Provisioning(String),
    /// cluster-autoscaler removed the pod's node.
    ScaleDown,
    /// Karpenter plans this node for the pod.
    Nominated(String),
    /// Karpenter adds no node: a NodePool is at its limit.
    PoolAtLimit,
    /// Karpenter adds no node: the pod does not tolerate a taint of the NodePools.
    PoolTaint,
    /// Karpenter adds no node: the pod's requirements fit no NodePool.
    PoolRequirements,
    /// Karpenter adds no node: no type of instance is large enough, or offered.
    PoolInstances,
    /// Karpenter adds no node.
    NoPool,
    /// The API server refuses the owner's next pod.
    Refused(Refusal),
    /// The owner is suspended.
    Suspended,
    /// The claim is bound once the pod has a node.
    WaitsForConsumer,
    /// The claim's driver makes a volume.
    Provisions,
    /// The claim's driver failed to make a volume.
    ProvisioningFailed,
    /// No volume fits the claim, and no class makes one.
    NoVolume,
    /// The claim for a device could not be made.
    NoDeviceClaim,
    /// Kueue waits for quota of this resource and flavor, and the amount that lacks.
    QueueQuota(String),
    /// Kueue does not admit it.
    NotAdmitted,
    /// Kueue admits nothing through this queue.
    QueueInactive(About),
    /// The state of the capacity that this ProvisioningRequest asks for.
    Capacity(About, Capacity),
    /// The gang is not complete.
    Gang,
    /// LeaderWorkerSet did not make what the scheduler needs to know of its group.
    GroupNotMade,
    /// The queue is over its quota.
    QueueFull,
    /// The scheduler of the pod found no node.
    OtherScheduler,
    /// A taint evicted the pod.
    TaintEviction,
    /// The descheduler evicted the pod.
    Descheduled,
}

impl Meaning {
    /// Returns the node groups to which cluster-autoscaler adds nodes, from `[{GROUP 1->2 (max: 3)}]`.
    pub fn groups(&self) -> Vec<&str> {
        let Self::ScaleUp(text) = self else { return Vec::new() };
        text.split('{').skip(1).filter_map(|group| group.split_once(' ')).map(|(name, _)| name).filter(|name| !name.is_empty()).collect()
    }

    /// Returns the resource and the flavor whose quota Kueue waits for, from `RESOURCE in flavor FLAVOR, N more needed`.
    pub fn lacking_quota(&self) -> Option<(&str, &str)> {
        let Self::QueueQuota(text) = self else { return None };
        let (resource, rest) = text.split_once(" in flavor ")?;
        Some((resource, rest.split(',').next().unwrap_or(rest)))
    }

    /// Reads an event by speaker, reason and phrases of its text.
    pub fn of(event: &OtherEvent) -> Option<Self> {
        let (reason, text) = (event.reason.as_str(), event.text.as_str());
        match event.speaker.as_str() {
            "cluster-autoscaler" => autoscaler(reason, text),
            "karpenter" => karpenter(reason, text),
            "replicaset-controller" | "replication-controller" | "statefulset-controller" | "daemonset-controller" | "job-controller" => {
                match reason {
                    "FailedCreate" => Some(Self::Refused(Refusal::of(text))),
                    "Suspended" => Some(Self::Suspended),
                    _ => None,
                }
            }
            "persistentvolume-controller" => volumes(reason),
            "resource_claim" | "resourceclaim-controller" => (reason == "FailedResourceClaimCreation").then_some(Self::NoDeviceClaim),
            "kueue-admission" | "kueue-workload-controller" => kueue(reason, text),
            "volcano" | "vc-scheduler" => match reason {
                "Unschedulable" => Some(if text.contains("queue resource quota insufficient") { Self::QueueFull } else { Self::Gang }),
                "FailedScheduling" => Some(Self::OtherScheduler),
                _ => None,
            },
            "yunikorn" => text.contains("queue quota has been exceed").then_some(Self::QueueFull),
            "kai-scheduler" => (reason == "Unschedulable")
                .then(|| if text.contains("OverQuota") || text.contains("OverLimit") { Self::QueueFull } else { Self::OtherScheduler }),
            "taint-eviction-controller" | "node-controller" | "device-taint-eviction-controller" => {
                (reason.ends_with("TaintManagerEviction") && text.starts_with("Marking")).then_some(Self::TaintEviction)
            }
            "descheduler" | "sigs.k8s.io/descheduler" => Some(Self::Descheduled),
            // The CSI provisioner names itself after its driver.
            _ => volumes(reason).filter(|_| event.about.kind == "PersistentVolumeClaim"),
        }
    }
}

fn autoscaler(reason: &str, text: &str) -> Option<Meaning> {
    match reason {
        "TriggeredScaleUp" => Some(Meaning::ScaleUp(text.strip_prefix("pod triggered scale-up: ").unwrap_or(text).to_owned())),
        "NotTriggerScaleUp" => Some(Meaning::NoScaleUp(text.strip_prefix("pod didn't trigger scale-up: ").unwrap_or(text).to_owned())),
        "ScaleDown" => Some(Meaning::ScaleDown),
        _ => {
            let request = text.split_once("consuming ProvisioningRequest ")?.1;
            Some(Meaning::Provisioning(request.to_owned()))
        }
    }
}

fn karpenter(reason: &str, text: &str) -> Option<Meaning> {
    match reason {
        "Nominated" => text.strip_prefix("Pod should schedule on: ").map(|node| Meaning::Nominated(node.to_owned())),
        "FailedScheduling" => {
            let phrases = [
                ("limits have been exhausted", Meaning::PoolAtLimit),
                ("exceed limits for nodepool", Meaning::PoolAtLimit),
                ("did not tolerate taint", Meaning::PoolTaint),
                ("incompatible requirements", Meaning::PoolRequirements),
                ("no instance type met", Meaning::PoolInstances),
            ];
            // With several NodePools the errors are joined. The first phrase that more capacity could end says most.
            Some(phrases.into_iter().find(|(phrase, _)| text.contains(phrase)).map_or(Meaning::NoPool, |(_, means)| means))
        }
        _ => None,
    }
}

fn volumes(reason: &str) -> Option<Meaning> {
    match reason {
        "WaitForFirstConsumer" | "WaitForPodScheduled" => Some(Meaning::WaitsForConsumer),
        "ExternalProvisioning" | "Provisioning" => Some(Meaning::Provisions),
        "ProvisioningFailed" => Some(Meaning::ProvisioningFailed),
        "FailedBinding" => Some(Meaning::NoVolume),
        _ => None,
    }
}

/// `insufficient unused quota for nvidia.com/gpu in flavor a100, 4 more needed`.
pub(super) fn kueue(reason: &str, text: &str) -> Option<Meaning> {
    if let Some((_, rest)) = text.split_once("insufficient unused quota for ") {
        // A resource's name may hold a point.
        let end = ["; ", ". "].iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        return Some(Meaning::QueueQuota(rest[..end].trim_end_matches('.').to_owned()));
    }
    let waits =
        ["Pending", "WaitingForQuota", "NoMatchingFlavor", "ExceedsMaxQuota", "TopologyPlacementFailed", "Suspended", "Misconfigured"];
    waits.contains(&reason).then_some(Meaning::NotAdmitted)
}

impl Voice {
    fn of(event: &OtherEvent) -> Self {
        let OtherEvent { about, speaker, kind, reason, text, count, first, last, .. } = event.clone();
        operation();
        Self { means: Meaning::of(event), about, speaker, kind, reason, text, count, first, last }
    }
}

/// The words of others about some objects.
#[derive(Clone, Debug, Default)]
pub struct OtherWords {
    /// The words, newest first.
    pub voices: Vec<Voice>,
    /// The number of further words, left out because there are too many about one object.
    pub left_out: usize,
}

impl OtherWords {
    fn add(&mut self, (voices, left_out): &(Vec<Voice>, usize)) {
        self.voices.extend_from_slice(voices);
        self.left_out += *left_out;
    }
}

/// The words about one object, newest first: of those about each subject, as many as an answer lists.
#[derive(Debug, Default)]
pub(super) struct WordsOfObject {
    /// The words, and the number of others.
    all: (Vec<Voice>, usize),
    /// Those of them that are not only about a pod that a controller created or deleted.
    apart: (Vec<Voice>, usize),
    /// The others, by the words of their texts, in which the names of the pods are.
    created: HashMap<String, (Vec<Voice>, usize)>,
}

impl WordsOfObject {
    /// Collects them.
    pub(super) fn of(input: &WorkloadInput<'_>, about: &About, scheduler: Option<&str>) -> Self {
        let events = input.events(about).iter().filter(|event| Some(event.speaker.as_str()) != scheduler);
        let mut found: Vec<Voice> = events.map(|event| Voice::of(event)).collect();
        found.extend(word_of_conditions(input, about));
        sort(&mut found);
        let (created, apart): (Vec<&Voice>, Vec<&Voice>) = found.iter().partition(|voice| is_about_children(voice));
        let mut by_name: HashMap<String, (Vec<Voice>, usize)> = HashMap::new();
        for voice in created {
            let names: HashSet<&str> = words_of(&voice.text).filter(|word| word.bytes().all(is_of_name)).collect();
            for name in names {
                let (listed, left_out) = by_name.entry(name.to_owned()).or_default();
                if listed.len() < VOICES_OF_OBJECT { listed.push(voice.clone()) } else { *left_out += 1 }
            }
        }
        let all: Vec<&Voice> = found.iter().collect();
        Self { all: newest(&all), apart: newest(&apart), created: by_name }
    }
}

/// Returns as many voices as an answer lists, and the number of the others. The newest of each speaker and reason come before
/// others.
fn newest(sorted: &[&Voice]) -> (Vec<Voice>, usize) {
    let mut seen = HashSet::new();
    let (first, repeated): (Vec<usize>, Vec<usize>) =
        (0..sorted.len()).partition(|at| seen.insert((sorted[*at].speaker.as_str(), sorted[*at].reason.as_str())));
    let mut listed: Vec<usize> = first.into_iter().chain(repeated).take(VOICES_OF_OBJECT).collect();
    listed.sort_unstable();
    (listed.iter().map(|at| sorted[*at].clone()).collect(), sorted.len() - listed.len())
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ','])
}

/// Returns whether a byte may be in the name of a pod.
fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.')
}

/// Returns what others wrote about objects, newest first. `scheduler` is the speaker that is left out: the pod's own scheduler,
/// whose reason is shown apart.
pub fn voices_about(input: &WorkloadInput<'_>, objects: &[About], scheduler: Option<&str>) -> OtherWords {
    let mut found = OtherWords::default();
    for about in objects {
        found.add(&input.words_about(about, scheduler).all);
    }
    sort(&mut found.voices);
    found
}

/// Returns the objects that words about a pod can be about: the pod, its owners, its claims, its group, its queues and the capacity that
/// is asked for.
pub fn objects_of_pod(input: &WorkloadInput<'_>, pod: &Pod) -> Vec<About> {
    let namespace = &pod.metadata.namespace;
    let key = |name: &Str| Key::new(namespace.clone(), name.clone());
    let mut objects = vec![About::new("Pod", pod.key())];
    objects.extend(owners(input.cluster, input.neighbors, pod));
    let claims = pod.spec.volumes.iter().filter_map(|volume| match (&volume.persistent_volume_claim, &volume.ephemeral) {
        (Some(claim), _) => Some(claim.claim_name.clone()),
        (None, Some(_)) => Some(format!("{}-{}", pod.metadata.name, volume.name).into()),
        (None, None) => None,
    });
    objects.extend(claims.map(|name| About::new("PersistentVolumeClaim", key(&name))));
    let named = pod.spec.resource_claims.iter().filter_map(|claim| claim.resource_claim_name.clone());
    let made = pod.status.resource_claim_statuses.iter().filter_map(|claim| claim.resource_claim_name.clone());
    objects.extend(named.chain(made).map(|name| About::new("ResourceClaim", key(&name))));
    objects.extend(groups_of(pod).map(|group| About::new("PodGroup", group)));
    add_queues(input, pod, &mut objects);
    objects
}

/// Returns what others wrote about the objects of a pod, as [`objects_of_pod`] has them, newest first.
pub fn voices_of_pod(input: &WorkloadInput<'_>, pod: &Pod, scheduler: Option<&str>) -> OtherWords {
    let mut found = OtherWords::default();
    for about in objects_of_pod(input, pod) {
        let words = input.words_about(&about, scheduler);
        // A controller that created or deleted another of its pods says nothing about this one.
        std::iter::once(&words.apart).chain(words.created.get(pod.metadata.name.as_str())).for_each(|words| found.add(words));
    }
    sort(&mut found.voices);
    found
}

/// Returns whether a controller only says that it created or deleted one of its pods.
fn is_about_children(voice: &Voice) -> bool {
    ["SuccessfulCreate", "SuccessfulDelete"].contains(&voice.reason.as_str()) && voice.about.kind != "Pod"
}

/// Returns the PodGroups that a pod names: of kube-scheduler and of gang schedulers.
pub(super) fn groups_of(pod: &Pod) -> impl Iterator<Item = Key> {
    pod.group_key().into_iter().chain(groups(pod))
}

/// The kinds and events that can hold words of others about a pod; listing others would be in vain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeighborNeeds {
    /// The kinds.
    pub kinds: BTreeSet<NeighborKind>,
    /// Whether events about other objects than the pod can.
    pub events: bool,
}

impl NeighborNeeds {
    /// Returns the needs of a pending pod.
    pub fn of(pod: &Pod) -> Self {
        let mut kinds = BTreeSet::new();
        let labels = &pod.metadata.labels;
        let controller = pod.metadata.controller().filter(|owner| owner.kind != "Node");
        if controller.is_some_and(|owner| owner.kind == "Job") {
            kinds.insert(NeighborKind::Job);
        }
        if labels.contains_key(QUEUE_LABEL) || pod.spec.scheduling_gates.iter().any(|gate| gate.name.starts_with("kueue.")) {
            kinds.extend([NeighborKind::Workload, NeighborKind::LocalQueue, NeighborKind::ClusterQueue, NeighborKind::ProvisioningRequest]);
        }
        if REQUEST_ANNOTATIONS.iter().any(|key| pod.metadata.annotations.contains_key(key)) {
            kinds.insert(NeighborKind::ProvisioningRequest);
        }
        // An autoscaler acts on pods that the scheduler has rejected.
        if pod.status.conditions.iter().any(|c| c.kind == "PodScheduled" && c.status == "False" && c.reason == "Unschedulable") {
            kinds.extend([NeighborKind::NodeClaim, NeighborKind::NodePool]);
        }
        let has_gang = groups(pod).next().is_some();
        if has_gang {
            kinds.insert(NeighborKind::PodGroup);
        }
        let has_group = pod.group_key().is_some() || has_gang;
        let has_claim = !pod.spec.resource_claims.is_empty()
            || pod.spec.volumes.iter().any(|volume| volume.persistent_volume_claim.is_some() || volume.ephemeral.is_some());
        Self { kinds, events: controller.is_some() || has_group || has_claim }
    }
}

/// Returns what others wrote about a workload, the objects below it, and the first of these pods, newest first. `is_ours` returns
/// whether kube-scheduler's configuration has a profile of a name.
pub fn voices_of_workload(input: &WorkloadInput<'_>, workload: &About, pods: &[Key], is_ours: impl Fn(&str) -> bool) -> OtherWords {
    let family = input.family(workload);
    let mut found = voices_about(input, &family, None);
    let family: HashSet<About> = family.into_iter().collect();
    let mut objects = HashSet::new();
    for pod in pods.iter().take(PODS_WITH_EVENTS).filter_map(|key| input.cluster.pods.get(key)) {
        let own = pod.spec.scheduler_name.as_str();
        for about in objects_of_pod(input, pod).into_iter().filter(|about| !family.contains(about)) {
            let words = input.words_about(&about, is_ours(own).then_some(own));
            let of_all = objects.insert(about).then_some(&words.apart);
            of_all.into_iter().chain(words.created.get(pod.metadata.name.as_str())).for_each(|words| found.add(words));
        }
    }
    sort(&mut found.voices);
    found
}

/// Sorts voices, newest first, and drops those that are found twice.
fn sort(found: &mut Vec<Voice>) {
    found.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| (&a.about, &a.speaker, &a.text).cmp(&(&b.about, &b.speaker, &b.text))));
    found.dedup();
}

#[cfg(test)]
mod tests;
