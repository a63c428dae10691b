//! Texts of other programs, in words and as data.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::coming::{ComingNode, ComingVerdict, coming_nodes};
use crate::analysis::moments::span;
use crate::cluster::neighbors::{About, Neighbors};
use crate::cluster::{Key, Pod};
use crate::plural::count_of;
use crate::scheduler::Scheduler;
use crate::trace::{CycleView, Outcome};
use crate::workload::{
    Capacity, Joint, Meaning, OtherWords, QueueQuota, Refusal, UnknownVoice, Voice, WorkloadInput, joint, objects_of_pod, unknown_voices,
    voices_about, voices_of_pod,
};

/// The words of others about a pod.
#[derive(Clone, Debug, Default)]
pub struct Voices {
    /// The words, newest first.
    pub others: Vec<VoiceReport>,
    /// The number of words that are left out, because there are too many about one object.
    pub left_out: usize,
    /// Findings from these words and the decision together, a sentence each.
    pub together: Vec<String>,
}

impl Voices {
    /// Finds the words of others about a pending pod, for which a decision was made.
    pub fn about(pod: &Pod, scheduler: &Scheduler, neighbors: &Neighbors, decision: &CycleView) -> Self {
        Self::among(pod, scheduler, &WorkloadInput::of_events(scheduler.state().cluster(), neighbors), decision)
    }

    /// Finds the words of others about one of several pending pods, for which a decision was made; they share the index.
    pub fn among(pod: &Pod, scheduler: &Scheduler, input: &WorkloadInput<'_>, decision: &CycleView) -> Self {
        let is_rejected = decision.pre_filter.rejected.is_some();
        let (now, neighbors) = (scheduler.state().clock(), input.neighbors());
        let OtherWords { voices: found, left_out } = voices_in(input, pod, scheduler);
        let mut together: Vec<String> =
            joint(input, pod, &found, is_rejected).iter().map(|joint| joint_sentence(joint, Some(now))).collect();
        together.extend(unknown_voices(neighbors, pod, &found).into_iter().map(unknown_sentence));
        if decision.outcome == Some(Outcome::Unschedulable) && !is_rejected {
            let coming = coming_nodes(pod, scheduler, neighbors, &found);
            let (tried, others): (Vec<_>, Vec<_>) = coming.iter().partition(|node| node.verdict != ComingVerdict::NotTried);
            together.extend(tried.into_iter().map(coming_sentence));
            if !others.is_empty() {
                together.push(format!("{} not tried.", count_of(others.len(), "more coming node was", "more coming nodes were")));
            }
        }
        Self { others: found.iter().map(VoiceReport::from).collect(), left_out, together }
    }
}

/// Returns the words of others about a pod, its owners, claims and group.
pub fn voices(pod: &Pod, scheduler: &Scheduler, neighbors: &Neighbors) -> OtherWords {
    if neighbors.is_empty() {
        return OtherWords::default();
    }
    voices_in(&WorkloadInput::of_events(scheduler.state().cluster(), neighbors), pod, scheduler)
}

fn voices_in(input: &WorkloadInput<'_>, pod: &Pod, scheduler: &Scheduler) -> OtherWords {
    let own = pod.spec.scheduler_name.as_str();
    voices_of_pod(input, pod, scheduler.state().config().profile(own).is_some().then_some(own))
}

/// Returns the newest word of others about each of some pods, of which the meaning is known, in a few words: `Kueue: waits for quota`.
pub fn voices_of_pods<'p>(
    pods: impl Iterator<Item = &'p Arc<Pod>>,
    scheduler: &Scheduler,
    input: &WorkloadInput<'_>,
) -> BTreeMap<Key, String> {
    let now = Some(scheduler.state().clock());
    let newest = |objects: &[About], own: Option<&str>| {
        let found = voices_about(input, objects, own);
        found.voices.iter().find_map(|voice| Some((voice.last, short(voice.means.as_ref()?, ago(voice.last, now).as_deref())?)))
    };
    // Pods of one owner share the words about all objects but themselves.
    let mut of_others: HashMap<(Vec<About>, Option<&str>), Option<NewestWord>> = HashMap::new();
    let mut short = |pod: &'p Arc<Pod>| {
        let name = pod.spec.scheduler_name.as_str();
        let own = scheduler.state().config().profile(name).is_some().then_some(name);
        let mut objects = objects_of_pod(input, pod);
        let others = objects.split_off(1);
        let of_others = of_others.entry((others, own)).or_insert_with_key(|(others, own)| newest(others, *own));
        let newest = [newest(&objects, own), of_others.clone()].into_iter().flatten().max_by_key(|(last, _)| *last)?;
        Some((pod.key(), newest.1))
    };
    pods.filter_map(&mut short).collect()
}

/// A word in short, and when it was last written.
type NewestWord = (Option<Timestamp>, String);

/// A text of another program, as `explain -o json` prints it under `others`.
#[derive(Clone, Debug, Serialize)]
pub struct VoiceReport {
    /// The text, with who wrote it.
    #[serde(flatten)]
    pub voice: Voice,
    /// Its meaning in a sentence; null for unknown texts.
    pub means: Option<String>,
}

impl From<&Voice> for VoiceReport {
    fn from(voice: &Voice) -> Self {
        Self { voice: voice.clone(), means: voice.means.as_ref().map(sentence) }
    }
}

/// Returns the time since a moment: `40 s ago`; `None` if either is unknown, or the moment is later than now, as where a dump says no time.
pub(crate) fn ago(last: Option<Timestamp>, now: Option<Timestamp>) -> Option<String> {
    let (last, now) = (last?, now?);
    (last <= now).then(|| format!("{} ago", span(last, now)))
}

/// Returns what is unknown because the source lacks a kind, as a sentence.
fn unknown_sentence(unknown: UnknownVoice) -> String {
    match unknown {
        UnknownVoice::PodGroups => "What its gang waits for is unknown: the source lacks PodGroups, or some of them.",
        UnknownVoice::Workloads => "What Kueue waits for is unknown: the source lacks its Workloads, or some of them.",
        UnknownVoice::ProvisioningRequests => {
            "Whether its capacity is there is unknown: the source lacks ProvisioningRequests, or some of them."
        }
    }
    .to_owned()
}

/// Returns a finding that needs both sides as a sentence.
pub(super) fn joint_sentence(joint: &Joint, now: Option<Timestamp>) -> String {
    match joint {
        Joint::NodeComing(since) => match since.zip(now) {
            Some((since, now)) => format!("The autoscaler has waited {} for the node that it adds.", span(since, now)),
            None => "The autoscaler waits for the node that it adds.".to_owned(),
        },
        Joint::Claim(claim, None) => format!("The planned node of {claim} is there and initialized."),
        Joint::Claim(claim, Some(step)) => format!("The planned node of {claim} is not {} yet.", step.to_lowercase()),
        Joint::Nominated(node) => format!("Karpenter adds no node while the pod is nominated to {node}."),
        Joint::BelowCutoff(priority) => {
            format!("No word from the autoscaler: the priority {priority} is below its cutoff (-10 by default).")
        }
        Joint::NoWord => {
            "No word from the autoscaler about this pod: it may be too new, delayed by its annotation, or the events have expired."
                .to_owned()
        }
        Joint::Quota(QueueQuota { queue, resource, flavor, reserved, nominal }) => {
            format!("{reserved} of {nominal} {resource} of the flavor {flavor} are reserved in {queue}.")
        }
        Joint::NotForNodes => "More nodes of any kind would not help: the pod is rejected before any node is tried.".to_owned(),
    }
}

/// Returns whether a node that does not exist yet would let the pod in, as a sentence.
fn coming_sentence(node: &ComingNode) -> String {
    let ComingNode { by, like, limit, not_ready, verdict } = node;
    let like = like.as_ref().map_or_else(String::new, |like| format!(", like {like},"));
    let subject = match by.kind.as_str() {
        "NodeClaim" => format!("The coming node of {by}"),
        "NodeGroup" => format!("The node that the autoscaler adds to {}{like}", by.key.name),
        _ => format!("One more node of {by}{like}"),
    };
    let at_limit = limit.as_ref().map(|limit| format!("is at its limit ({} {} of {})", limit.resource, limit.used, limit.most));
    let not_ready = not_ready.as_ref().map(|why| format!("is not ready ({why})"));
    let against: Vec<String> = at_limit.into_iter().chain(not_ready).collect();
    let limit = if against.is_empty() { String::new() } else { format!(", but {by} {}", against.join(" and ")) };
    match verdict {
        ComingVerdict::Fits => format!("{subject} would let it in{limit}."),
        ComingVerdict::FitsIfLarge => format!("{subject} would let it in by its labels and taints{limit}; its size is not known."),
        ComingVerdict::Rejected(why) => format!("{subject} would not let it in: {why}."),
        ComingVerdict::NoSuchLabel(label) => format!("{subject} would not let it in: its NodePool sets no label {label}."),
        ComingVerdict::NotTried => format!("{subject} was not tried."),
    }
}

fn sentence(means: &Meaning) -> String {
    match means {
        Meaning::ScaleUp(groups) => format!("The autoscaler adds a node for it: {groups}."),
        Meaning::NoScaleUp(why) => format!("The autoscaler adds no node for it: {why}."),
        Meaning::Provisioning(request) => format!("The autoscaler leaves it to the ProvisioningRequest {request}."),
        Meaning::ScaleDown => "The autoscaler removed its node.".to_owned(),
        Meaning::Nominated(node) => format!("Karpenter plans {node} for it."),
        Meaning::PoolAtLimit => "Karpenter adds no node: a NodePool is at its limit.".to_owned(),
        Meaning::PoolTaint => "Karpenter adds no node: it does not tolerate a taint of a NodePool.".to_owned(),
        Meaning::PoolRequirements => "Karpenter adds no node: its requirements fit no NodePool.".to_owned(),
        Meaning::PoolInstances => "Karpenter adds no node: no instance type is large enough and offered.".to_owned(),
        Meaning::NoPool => "Karpenter adds no node for it.".to_owned(),
        Meaning::Refused(refusal) => match refusal {
            Refusal::LeaderFirst => "JobSet creates the followers once their leader has a node.".to_owned(),
            _ => "The API server refuses its pods.".to_owned(),
        },
        Meaning::Suspended => "It creates no pods while it is suspended.".to_owned(),
        Meaning::WaitsForConsumer => "The claim waits for the pod, not the pod for the claim.".to_owned(),
        Meaning::Provisions => "A driver makes the claim's volume.".to_owned(),
        Meaning::ProvisioningFailed => "The driver cannot make the claim's volume.".to_owned(),
        Meaning::NoVolume => "No volume fits the claim, and none is made for it.".to_owned(),
        Meaning::NoDeviceClaim => "The claim for its devices does not exist yet.".to_owned(),
        Meaning::QueueQuota(lacking) => format!("Kueue waits for quota: {lacking}."),
        Meaning::NotAdmitted => "Kueue has not admitted it.".to_owned(),
        Meaning::QueueInactive(queue) => format!("Kueue admits nothing through {queue}: it is not active."),
        Meaning::Capacity(request, state) => match state {
            Capacity::Awaited => format!("The capacity of {request} is not there yet."),
            Capacity::Provisioned => format!("The capacity of {request} is there."),
            Capacity::Failed => format!("The autoscaler cannot provide the capacity of {request}."),
            Capacity::Expired => format!("The capacity of {request} was there, and is no longer kept for its pods."),
            Capacity::Revoked => format!("The capacity of {request} was there, and was taken away."),
        },
        Meaning::Gang => "Its gang is not complete.".to_owned(),
        Meaning::GroupNotMade => "LeaderWorkerSet did not make the group for its pods.".to_owned(),
        Meaning::QueueFull => "Its queue is over its quota; more nodes would not help.".to_owned(),
        Meaning::OtherScheduler => "Its scheduler found no node.".to_owned(),
        Meaning::TaintEviction => "A taint on its node evicted it.".to_owned(),
        Meaning::Descheduled => "The descheduler evicted it; a pending pod of its owner is the replacement.".to_owned(),
    }
}

/// Returns a meaning in a few words; `None` where a column has no use for it.
fn short(means: &Meaning, ago: Option<&str>) -> Option<String> {
    let when = ago.map_or_else(String::new, |ago| format!(" {ago}"));
    Some(match means {
        Meaning::ScaleUp(_) => format!("scale-up triggered{when}"),
        Meaning::NoScaleUp(_) => format!("no scale-up{when}"),
        Meaning::Provisioning(_) => "ProvisioningRequest".to_owned(),
        Meaning::Nominated(_) => format!("Karpenter: node planned{when}"),
        Meaning::PoolAtLimit => "Karpenter: NodePool at its limit".to_owned(),
        Meaning::PoolTaint | Meaning::PoolRequirements | Meaning::PoolInstances | Meaning::NoPool => format!("Karpenter: no node{when}"),
        Meaning::Refused(_) => "pods refused".to_owned(),
        Meaning::Suspended => "suspended".to_owned(),
        Meaning::ProvisioningFailed | Meaning::NoVolume => "no volume".to_owned(),
        Meaning::NoDeviceClaim => "no device claim".to_owned(),
        Meaning::QueueQuota(_) => "Kueue: waits for quota".to_owned(),
        Meaning::NotAdmitted => "Kueue: not admitted".to_owned(),
        Meaning::QueueInactive(_) => "Kueue: queue not active".to_owned(),
        Meaning::Capacity(_, state) => match state {
            Capacity::Awaited => "capacity asked for".to_owned(),
            Capacity::Provisioned => "capacity is there".to_owned(),
            Capacity::Failed => "capacity refused".to_owned(),
            Capacity::Expired => "capacity expired".to_owned(),
            Capacity::Revoked => "capacity revoked".to_owned(),
        },
        Meaning::Gang => "gang not complete".to_owned(),
        Meaning::GroupNotMade => "group not made".to_owned(),
        Meaning::QueueFull => "queue over its quota".to_owned(),
        Meaning::WaitsForConsumer
        | Meaning::Provisions
        | Meaning::OtherScheduler
        | Meaning::ScaleDown
        | Meaning::TaintEviction
        | Meaning::Descheduled => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Object;
    use crate::cluster::neighbors::OtherEvent;
    use crate::cluster::operations::counted;
    use crate::release::Emulation;
    use crate::scheduler::{Config, Options};

    #[test]
    fn the_events_of_an_owner_are_read_once_for_all_its_pods() {
        let operations = |count: usize| {
            let pod = |at: usize| -> Object {
                let owner = r#"[{"kind":"ReplicaSet","name":"web","controller":true}]"#;
                let text = format!(r#"{{"kind":"Pod","metadata":{{"name":"web-{at}","namespace":"x","ownerReferences":{owner}}}}}"#);
                serde_json::from_str(&text).unwrap()
            };
            let about = About::new("ReplicaSet", Key::new("x", "web"));
            let event = |at: usize| OtherEvent {
                about: about.clone(),
                speaker: "replicaset-controller".into(),
                reason: "FailedCreate".into(),
                text: format!(r#"pods "web-{at}" is forbidden: exceeded quota: q"#),
                ..OtherEvent::default()
            };
            let mut neighbors = Neighbors::default();
            neighbors.events.extend((0..count).map(event));
            let scheduler = Scheduler::new(Config::defaults(Emulation::default()), (0..count).map(pod).collect(), Options::default());
            let (found, operations) = counted(|| {
                let cluster = scheduler.state().cluster();
                let input = WorkloadInput::of_events(cluster, &neighbors);
                voices_of_pods(cluster.pods.iter(), &scheduler, &input)
            });
            assert!(found.len() == count && found.values().all(|words| words == "pods refused"), "{found:?}");
            operations
        };
        let (few, many) = (operations(50), operations(200));
        assert!(many < 6 * few, "{few} and {many}");
    }
}
