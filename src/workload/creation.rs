//! Why pods of a workload are not created.

use jiff::Timestamp;

use super::daemons::Eligible;
use super::desired::ended;
use super::funnel::{CauseKind, MissingCause, PodCounts, WorkloadInput};
use super::holders::Holder;
use super::refusal::Refusal;
use super::remedy::{QuotaRoom, Remedy, quota_room};
use crate::cluster::neighbors::{About, Neighbor, NeighborKind, OwnerFacts};
use crate::cluster::{Key, Kind, Pod, Str};

/// Reasons of events that report that a pod could not be created or kept.
const FAILURES: [&str; 3] = ["FailedCreate", "FailedDaemonPod", "FailedPlacement"];

/// Why pods are not created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCreated {
    /// The API server refused a pod.
    Refused(Refusal, RefusedAt),
    /// The API server refused a pod, and would take it now. The controller tries again with a growing pause.
    RetriesLater(Refusal, RefusedAt),
    /// The rollout is paused before its first ReplicaSet.
    Paused,
    /// It is suspended.
    Suspended(Suspension),
    /// A StatefulSet creates the next pod once this one is ready.
    Ordered(Key),
    /// The rollout keeps the ReplicaSets together below the wanted number; true if its deadline has passed.
    Rollout(bool),
    /// The controller has not acted on the newest spec: its generation, and the one that was observed.
    Behind(i64, i64),
    /// The Job has ended: the reason and message of its condition.
    JobEnded(Str, Str),
    /// Terminating pods hold the places of the new ones.
    PlacesHeld(Vec<Key>),
    /// This owner creates the rest later, by design.
    ByDesign(About),
    /// The source does not show why.
    Unknown,
    /// A DaemonSet runs on few nodes, which lowers what it wants.
    FewEligible(Eligible),
    /// A Job runs this number of pods at once, with this number left to complete.
    Parallelism(i64, i64),
    /// An autoscaler sets the number of replicas: its object, minimum and maximum, and its condition that limits it.
    SetBy(About, Option<i64>, Option<i64>, Option<String>),
}

/// Who suspends a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suspension {
    /// Nothing else sets it than the object itself.
    Own(About),
    /// This program admits the object, and says this of it, if anything.
    Held(About, Holder, Option<(About, String)>),
    /// Its owner decides when it runs.
    Owner(About),
}

/// Where a refusal was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedAt {
    /// The object whose event or condition says it; `None` if it follows from the objects.
    pub about: Option<About>,
    /// How often it was said, at least.
    pub count: u32,
    /// When it was last said, if known.
    pub last: Option<Timestamp>,
}

impl NotCreated {
    /// Returns a stable key.
    pub fn key(&self) -> String {
        match self {
            Self::Refused(refusal, _) => refusal.key().to_owned(),
            Self::RetriesLater(refusal, _) => format!("retries-after-{}", refusal.key()),
            Self::Paused => "paused".to_owned(),
            Self::Suspended(..) => "suspended".to_owned(),
            Self::Ordered(_) => "ordered".to_owned(),
            Self::Rollout(_) => "rollout".to_owned(),
            Self::Behind(..) => "controller-behind".to_owned(),
            Self::JobEnded(..) => "job-ended".to_owned(),
            Self::PlacesHeld(_) => "terminating-pods".to_owned(),
            Self::ByDesign(_) => "created-later".to_owned(),
            Self::Unknown => "not-created".to_owned(),
            Self::FewEligible(_) => "few-eligible-nodes".to_owned(),
            Self::Parallelism(..) => "parallelism".to_owned(),
            Self::SetBy(..) => "autoscaler".to_owned(),
        }
    }
}

/// Returns the cause of pods that are not created, with remarks that count no pod. `lacking` is the number of these pods; where it is
/// unknown, what objects and events say is a remark.
pub(super) fn causes(input: &WorkloadInput<'_>, workload: &About, counts: &PodCounts<'_>, lacking: Option<usize>) -> Vec<MissingCause> {
    let mut found = Vec::new();
    match lacking {
        Some(0) => {}
        Some(lacking) => found.push(cause(input, workload, why(input, workload, counts), lacking)),
        None => found.extend(said(input, workload).map(|why| cause(input, workload, why, 0))),
    }
    found.extend(remarks(input, workload).into_iter().map(|why| cause(input, workload, why, 0)));
    found
}

/// Returns what objects and events say about the creation of pods, without regard to how many there are.
fn said(input: &WorkloadInput<'_>, workload: &About) -> Option<NotCreated> {
    let object = input.neighbors.owner(&workload.kind, &workload.key);
    suspended(input, workload).or_else(|| job_ended(object?)).or_else(|| refused(input, workload))
}

/// Returns the cause, most certain sign first.
fn why(input: &WorkloadInput<'_>, workload: &About, counts: &PodCounts<'_>) -> NotCreated {
    let object = input.neighbors.owner(&workload.kind, &workload.key);
    let facts = object.and_then(|object| object.facts());
    suspended(input, workload)
        .or_else(|| job_ended(object?))
        .or_else(|| paused(input, workload, facts?))
        .or_else(|| refused(input, workload))
        .or_else(|| behind(object?, facts?))
        .or_else(|| ordered(workload, facts?, counts))
        .or_else(|| rollout(input, workload, facts?))
        .or_else(|| places_held(workload, facts, counts))
        .or_else(|| lacks_object(input, workload))
        .or_else(|| by_design(input, workload))
        .unwrap_or(NotCreated::Unknown)
}

fn cause(input: &WorkloadInput<'_>, workload: &About, why: NotCreated, count: usize) -> MissingCause {
    let namespace = &workload.key.namespace;
    let (why, by, remedy) = match why {
        NotCreated::Refused(refusal, at) => with_remedy(input, workload, refusal, at, count),
        NotCreated::Suspended(suspension) => {
            // A program that holds or owns the object would suspend it again.
            let (by, remedy) = match &suspension {
                Suspension::Own(about) => (None, Remedy::Unsuspend(about.clone())),
                Suspension::Held(_, _, Some((about, _))) | Suspension::Owner(about) => (Some(about.clone()), Remedy::LookAt(about.clone())),
                Suspension::Held(about, _, None) => (None, Remedy::LookAt(about.clone())),
            };
            (NotCreated::Suspended(suspension), by, Some(remedy))
        }
        NotCreated::Paused => (NotCreated::Paused, None, Some(Remedy::Resume(workload.clone()))),
        NotCreated::Ordered(pod) => {
            let about = About::new("Pod", pod.clone());
            (NotCreated::Ordered(pod), Some(about.clone()), Some(Remedy::LookAt(about)))
        }
        NotCreated::ByDesign(owner) => (NotCreated::ByDesign(owner.clone()), Some(owner.clone()), Some(Remedy::LookAt(owner))),
        NotCreated::SetBy(about, min, max, said) => (NotCreated::SetBy(about.clone(), min, max, said), Some(about), None),
        NotCreated::PlacesHeld(pods) => {
            let first = pods.first().map(|pod| About::new("Pod", Key::new(namespace.clone(), pod.name.clone())));
            (NotCreated::PlacesHeld(pods), None, first.map(Remedy::LookAt))
        }
        why @ (NotCreated::FewEligible(_) | NotCreated::Parallelism(..)) => (why, None, None),
        why => (why, None, Some(Remedy::LookAt(workload.clone()))),
    };
    MissingCause { kind: CauseKind::NotCreated(why), count, pods: Vec::new(), by, remedy }
}

/// Returns a refusal with the object behind it and the change that ends it.
fn with_remedy(
    input: &WorkloadInput<'_>,
    workload: &About,
    refusal: Refusal,
    at: RefusedAt,
    count: usize,
) -> (NotCreated, Option<About>, Option<Remedy>) {
    let namespace = &workload.key.namespace;
    let of = |kind: &str, name: &Str| About::new(kind, Key::new(namespace.clone(), name.clone()));
    let (by, remedy) = match &refusal {
        Refusal::Quota { quota, requested, used, limited } => {
            let about = of("ResourceQuota", quota);
            match quota_room(input.neighbors, &about.key, count, requested, used, limited) {
                QuotaRoom::Enough => {
                    let remedy = Remedy::LookAt(at.about.clone().unwrap_or_else(|| workload.clone()));
                    return (NotCreated::RetriesLater(refusal, at), Some(about), Some(remedy));
                }
                QuotaRoom::Raise(raise) => (Some(about), Remedy::RaiseQuota(raise)),
                QuotaRoom::Unknown => (Some(about.clone()), Remedy::LookAt(about)),
            }
        }
        Refusal::QuotaNeeds { quota, .. } if !quota.is_empty() => {
            let about = of("ResourceQuota", quota);
            (Some(about.clone()), Remedy::LookAt(about))
        }
        Refusal::LimitRange(_) => {
            let mut ranges = input.neighbors.in_namespace(NeighborKind::LimitRange, namespace);
            let only = ranges.next().filter(|_| ranges.next().is_none()).map(|range| of("LimitRange", &range.metadata.name));
            let look = only.clone().unwrap_or_else(|| of("LimitRange", &Str::default()));
            (only, Remedy::LookAt(look))
        }
        Refusal::ServiceAccount(key) => (Some(About::new("ServiceAccount", key.clone())), Remedy::CreateServiceAccount(key.clone())),
        Refusal::PriorityClass(name) => {
            let about = About::new("PriorityClass", Key::new(Str::default(), name.clone()));
            (Some(about), Remedy::CreatePriorityClass(name.clone()))
        }
        Refusal::NamespaceTerminating | Refusal::PodSecurity(_) => {
            let about = About::new("Namespace", Key::new(Str::default(), namespace.clone()));
            (Some(about.clone()), Remedy::LookAt(about))
        }
        Refusal::WebhookDenied { webhook, .. } => {
            let about = About::new("ValidatingWebhookConfiguration", Key::new(Str::default(), webhook.clone()));
            (Some(about), Remedy::LookAt(at.about.clone().unwrap_or_else(|| workload.clone())))
        }
        Refusal::QuotaNeeds { .. } | Refusal::WebhookUnreachable { .. } | Refusal::LeaderFirst | Refusal::Other(_) => {
            (None, Remedy::LookAt(at.about.clone().unwrap_or_else(|| workload.clone())))
        }
    };
    (NotCreated::Refused(refusal, at), by, Some(remedy))
}

/// Returns the workload or the owner above or below it that is suspended.
fn suspended_part(input: &WorkloadInput<'_>, workload: &About) -> Option<About> {
    if is_suspended(input, workload) {
        return Some(workload.clone());
    }
    input.family(workload).into_iter().find(|about| is_suspended(input, about))
}

fn is_suspended(input: &WorkloadInput<'_>, about: &About) -> bool {
    let object = input.neighbors.owner(&about.kind, &about.key);
    object.is_some_and(|object| {
        object.facts().is_some_and(|facts| facts.spec.suspend && object.kind == NeighborKind::Job)
            || object.field("/spec/suspend") == Some(&serde_json::Value::Bool(true))
    })
}

/// Returns who suspends a workload: of the suspended part and its owners, the first that a program holds, or the topmost.
fn suspended(input: &WorkloadInput<'_>, workload: &About) -> Option<NotCreated> {
    let mut topmost = suspended_part(input, workload)?;
    let owners = input.above(&topmost);
    // A CronJob does not change the Jobs that it has started.
    for about in std::iter::once(topmost.clone()).chain(owners.into_iter().take_while(|owner| owner.kind != "CronJob")) {
        let object = input.neighbors.owner(&about.kind, &about.key);
        let said = input.admission(&about);
        if said.is_some() || object.is_some_and(|object| object.metadata.labels.get("kueue.x-k8s.io/queue-name").is_some()) {
            return Some(NotCreated::Suspended(Suspension::Held(about, Holder::Kueue, said)));
        }
        if !is_suspended(input, &about) {
            return Some(NotCreated::Suspended(Suspension::Owner(about)));
        }
        topmost = about;
    }
    Some(NotCreated::Suspended(Suspension::Own(topmost)))
}

/// Returns how a Job or JobSet failed.
fn job_ended(object: &Neighbor) -> Option<NotCreated> {
    if !matches!(object.kind, NeighborKind::Job | NeighborKind::JobSet) {
        return None;
    }
    let conditions = object.conditions();
    let is = |kind: &str| conditions.iter().find(|condition| condition.kind == kind && condition.status == "True");
    let condition = is("Failed").or_else(|| is("FailureTarget"))?;
    Some(NotCreated::JobEnded(condition.reason.clone(), condition.message.clone()))
}

/// A paused Deployment scales the ReplicaSets that it has, but makes none.
fn paused(input: &WorkloadInput<'_>, workload: &About, facts: &OwnerFacts) -> Option<NotCreated> {
    let lacks_sets = || input.knows_whole(NeighborKind::ReplicaSet) && input.children(workload).is_empty();
    (facts.spec.paused && workload.kind == "Deployment" && lacks_sets()).then_some(NotCreated::Paused)
}

/// Returns the newest refusal that the events and conditions of a workload and the objects below it report.
fn refused(input: &WorkloadInput<'_>, workload: &About) -> Option<NotCreated> {
    let family = input.family(workload);
    let events = family.iter().flat_map(|about| input.events(about)).filter(|event| FAILURES.contains(&event.reason.as_str()));
    if let Some(event) = events.max_by_key(|event| event.last) {
        let at = RefusedAt { about: Some(event.about.clone()), count: event.count, last: event.last };
        return Some(NotCreated::Refused(Refusal::of(&event.text), at));
    }
    let objects = family.iter().rev().filter_map(|about| Some((about, input.neighbors.owner(&about.kind, &about.key)?.facts()?)));
    let mut failures = objects.filter_map(|(about, facts)| Some((about, ended(facts, "ReplicaFailure")?)));
    let (about, condition) = failures.next()?;
    let at = RefusedAt { about: Some(about.clone()), count: 1, last: condition.since() };
    Some(NotCreated::Refused(Refusal::of(&condition.message), at))
}

fn behind(object: &Neighbor, facts: &OwnerFacts) -> Option<NotCreated> {
    let (generation, observed) = (object.metadata.generation?, facts.status.observed_generation?);
    (observed < generation).then_some(NotCreated::Behind(generation, observed))
}

/// A StatefulSet creates its pods in order, each once those before it are ready.
fn ordered(workload: &About, facts: &OwnerFacts, counts: &PodCounts<'_>) -> Option<NotCreated> {
    if workload.kind != "StatefulSet" || facts.spec.pod_management_policy == "Parallel" {
        return None;
    }
    let unready = counts.unready().filter_map(|pod| Some((ordinal(pod)?, pod.key())));
    unready.min().map(|(_, pod)| NotCreated::Ordered(pod))
}

/// Returns the number at the end of a pod's name.
fn ordinal(pod: &Pod) -> Option<u32> {
    pod.metadata.name.rsplit_once('-')?.1.parse().ok()
}

fn rollout(input: &WorkloadInput<'_>, workload: &About, facts: &OwnerFacts) -> Option<NotCreated> {
    if workload.kind != "Deployment" || !input.knows_whole(NeighborKind::ReplicaSet) {
        return None;
    }
    let sets = input.children(workload);
    let wanted: i64 = sets.iter().filter_map(|set| set.facts()).map(|facts| facts.spec.replicas.unwrap_or(1)).fold(0, i64::saturating_add);
    let late = facts.status.conditions.iter().any(|c| c.kind == "Progressing" && c.reason == "ProgressDeadlineExceeded");
    (!sets.is_empty() && wanted < facts.spec.replicas.unwrap_or(1)).then_some(NotCreated::Rollout(late))
}

/// Terminating pods hold their places in a StatefulSet, in a Job that replaces failed pods only, and in a Deployment that recreates.
fn places_held(workload: &About, facts: Option<&OwnerFacts>, counts: &PodCounts<'_>) -> Option<NotCreated> {
    let waits = match workload.kind.as_str() {
        "StatefulSet" | "DaemonSet" => true,
        "Job" => facts.is_some_and(|facts| facts.spec.pod_replacement_policy == "Failed"),
        "Deployment" | "ReplicaSet" => {
            facts.is_some_and(|facts| facts.spec.strategy.kind == "Recreate" || facts.spec.pod_replacement_policy == "TerminationComplete")
        }
        _ => false,
    };
    let pods: Vec<Key> = counts.terminating.iter().map(|pod| pod.key()).collect();
    (waits && !pods.is_empty()).then_some(NotCreated::PlacesHeld(pods))
}

/// Returns the object that pods of the template need and that does not exist.
fn lacks_object(input: &WorkloadInput<'_>, workload: &About) -> Option<NotCreated> {
    let namespace = &workload.key.namespace;
    let templates = input.family(workload);
    let spec =
        templates.iter().rev().find_map(|about| Some(&input.neighbors.owner(&about.kind, &about.key)?.facts()?.spec.template.spec))?;
    let account = Key::new(namespace.clone(), spec.service_account_name.clone());
    let lacks_account = !account.name.is_empty()
        && input.knows_whole(NeighborKind::ServiceAccount)
        && input.neighbors.in_namespace(NeighborKind::ServiceAccount, namespace).next().is_some()
        && input.neighbors.get(NeighborKind::ServiceAccount, &account).is_none();
    if lacks_account {
        return Some(NotCreated::Refused(Refusal::ServiceAccount(account), RefusedAt::default()));
    }
    let class = &spec.priority_class_name;
    let is_built_in = matches!(class.as_str(), "system-cluster-critical" | "system-node-critical");
    let classes_known = input.cluster.unknown.why(Kind::PriorityClass).is_none();
    let lacks_class = !class.is_empty() && !is_built_in && classes_known && input.cluster.priority_classes.named(class).is_none();
    lacks_class.then(|| NotCreated::Refused(Refusal::PriorityClass(class.clone()), RefusedAt::default()))
}

/// JobSet and LeaderWorkerSet create their parts in an order of their own.
fn by_design(input: &WorkloadInput<'_>, workload: &About) -> Option<NotCreated> {
    let is_one = |about: &About| matches!(about.kind.as_str(), "JobSet" | "LeaderWorkerSet");
    let owner = if is_one(workload) { Some(workload.clone()) } else { input.above(workload).into_iter().find(is_one) };
    owner.map(NotCreated::ByDesign)
}

/// Returns what lowers the number of pods that the workload wants.
fn remarks(input: &WorkloadInput<'_>, workload: &About) -> Vec<NotCreated> {
    let facts = input.neighbors.owner(&workload.kind, &workload.key).and_then(|object| object.facts());
    let mut found = Vec::new();
    if let Some(facts) = facts {
        if workload.kind == "DaemonSet" && input.cluster.unknown.why(Kind::Node).is_none() {
            let eligible = Eligible::of(input.cluster, &facts.spec.template.spec);
            found.extend((eligible.eligible < eligible.nodes).then_some(NotCreated::FewEligible(eligible)));
        }
        if workload.kind == "CronJob" && facts.spec.suspend {
            found.push(NotCreated::Suspended(Suspension::Own(workload.clone())));
        }
        if workload.kind == "Job"
            && let (Some(completions), parallelism) = (facts.spec.completions, facts.spec.parallelism.unwrap_or(1))
        {
            let left = completions.saturating_sub(facts.status.succeeded.unwrap_or(0));
            found.extend((parallelism < left).then_some(NotCreated::Parallelism(parallelism, left)));
        }
    }
    found.extend(autoscaler(input, workload));
    found
}

fn autoscaler(input: &WorkloadInput<'_>, workload: &About) -> Option<NotCreated> {
    let targets = |scaler: &&std::sync::Arc<Neighbor>| {
        let is = |field: &str, value: &str| scaler.field(field).and_then(serde_json::Value::as_str) == Some(value);
        is("/spec/scaleTargetRef/kind", &workload.kind) && is("/spec/scaleTargetRef/name", &workload.key.name)
    };
    let scaler = input.neighbors.in_namespace(NeighborKind::HorizontalPodAutoscaler, &workload.key.namespace).find(targets)?;
    let said = scaler.conditions().into_iter().find_map(|condition| match (condition.kind.as_str(), condition.status.as_str()) {
        ("ScalingLimited", "True") | ("ScalingActive" | "AbleToScale", "False") => Some(condition.message.to_string()),
        _ => None,
    });
    let about = About::new("HorizontalPodAutoscaler", scaler.metadata.key());
    Some(NotCreated::SetBy(about, scaler.number("/spec/minReplicas"), scaler.number("/spec/maxReplicas"), said))
}
