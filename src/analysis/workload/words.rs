//! Causes of missing pods in words.

use jiff::Timestamp;

use super::remedy::{NextStep, in_cores, next_step};
use super::{UnknownKind, WorkloadCause, WorkloadFix};
use crate::analysis::missing::missing_clause;
use crate::analysis::moments::span;
use crate::cluster::neighbors::{About, NeighborKind};
use crate::cluster::{Kind, Str};
use crate::plural::{count, count_of};
use crate::workload::{CauseKind, Eligible, MissingCause, NotCreated, OpenKind, OpenOf, Refusal, RefusedAt, Suspension};

/// Returns a cause with its words.
pub(super) fn cause(cause: &MissingCause, workload: &About, now: Option<Timestamp>) -> WorkloadCause {
    let (fix, fix_words) = match cause.remedy.as_ref().map(next_step) {
        Some(NextStep::Change(report)) => {
            let words = format!("fix: {}", report.text);
            (Some(WorkloadFix::Remedy(report)), words)
        }
        Some(NextStep::LookAt(command)) => (None, format!("see: {command}")),
        None => (None, String::new()),
    };
    WorkloadCause {
        cause: cause.key(),
        stage: cause.stage(),
        sentence: cause_sentence(cause, workload, now),
        count: cause.count,
        pods: cause.pods.iter().map(ToString::to_string).collect(),
        by: cause.by.clone(),
        fix,
        fix_words,
    }
}

/// Returns a cause as the rest of a sentence, without the number of pods.
fn cause_sentence(cause: &MissingCause, workload: &About, now: Option<Timestamp>) -> String {
    match &cause.kind {
        CauseKind::NotCreated(why) => not_created(why, workload, now),
        CauseKind::Gated(gates, holder, said) => {
            let gates = gates.iter().map(Str::as_str).collect::<Vec<_>>().join(", ");
            let holder = holder.map_or_else(String::new, |holder| format!(" of {holder}"));
            let said = said.as_ref().filter(|said| !said.is_empty()).map_or_else(String::new, |said| format!(", which says: {said}"));
            format!("held by the scheduling gate {gates}{holder}{said}")
        }
        CauseKind::NotReady => "bound, and the kubelet reports no readiness yet (not analysed)".to_owned(),
    }
}

fn not_created(why: &NotCreated, workload: &About, now: Option<Timestamp>) -> String {
    match why {
        NotCreated::Refused(refusal, at) => format!("{}{}", refused(refusal), age_words(at, now)),
        NotCreated::RetriesLater(refusal, at) => {
            let was = refused(refusal);
            format!("{was}{}; it has room now, and the controller tries again with a growing pause", age_words(at, now))
        }
        NotCreated::Paused => "the Deployment is paused, and has no ReplicaSet yet".to_owned(),
        NotCreated::Suspended(suspension) => suspended(suspension),
        NotCreated::Ordered(pod) => format!("the StatefulSet creates its pods in order, and {} is not ready", pod.name),
        NotCreated::Rollout(late) => {
            let late = if *late { "; its progress deadline has passed" } else { "" };
            format!("the rollout keeps its ReplicaSets below the wanted number (maxSurge, maxUnavailable){late}")
        }
        NotCreated::Behind(generation, observed) => {
            format!("the controller is behind: it has acted on generation {observed} of the spec, and {generation} is the newest")
        }
        NotCreated::JobEnded(reason, message) => {
            let reason = if reason.is_empty() { "no reason given" } else { reason.as_str() };
            let message = if message.is_empty() { String::new() } else { format!(": {message}") };
            let kind = if workload.kind == "JobSet" { "JobSet" } else { "Job" };
            format!("the {kind} has failed and creates no more pods ({reason}{message})")
        }
        NotCreated::PlacesHeld(pods) => {
            let first = pods.first().map_or_else(String::new, |pod| format!(" ({}{})", pod.name, crate::plural::and_more(pods.len())));
            format!("{} the place of the new{first}", count_of(pods.len(), "terminating pod holds", "terminating pods hold"))
        }
        NotCreated::ByDesign(owner) => format!("{owner} creates its parts in an order of its own"),
        NotCreated::Unknown => "no object or event in the source says why".to_owned(),
        NotCreated::FewEligible(found) => few_eligible(found),
        NotCreated::Parallelism(parallelism, left) => {
            format!("the Job runs {} at once, and has {left} left to complete", count(usize::try_from(*parallelism).unwrap_or(0), "pod"))
        }
        NotCreated::SetBy(scaler, min, max, said) => {
            let of = |n: &Option<i64>| n.map_or_else(|| "?".to_owned(), |n| n.to_string());
            let said = said.as_ref().map_or_else(String::new, |said| format!("; it says: {said}"));
            format!(
                "{scaler} sets the number of replicas, from {} to {}{said}",
                min.map_or_else(|| "1".to_owned(), |n| n.to_string()),
                of(max)
            )
        }
    }
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Quota { quota, requested, used, limited } => {
            let amount = |amounts: &[(Str, Str)], resource: &Str| {
                let found = amounts.iter().find(|(name, _)| name == resource);
                found.map_or_else(|| "?".to_owned(), |(_, amount)| in_cores(resource, amount))
            };
            let each = requested.iter().map(|(resource, of_pod)| {
                let amount_of_pod = in_cores(resource, of_pod);
                format!("{resource} {} of {} used, and a pod asks for {amount_of_pod}", amount(used, resource), amount(limited, resource))
            });
            format!("the quota {quota} refuses the next one ({})", each.collect::<Vec<_>>().join("; "))
        }
        Refusal::QuotaNeeds { quota, fields } => {
            let quota = if quota.is_empty() { "a quota".to_owned() } else { format!("the quota {quota}") };
            format!("{quota} demands that its template sets {fields}")
        }
        Refusal::LimitRange(text) => format!("a LimitRange refuses the template: {text}"),
        Refusal::ServiceAccount(key) => format!("the service account {} does not exist", key.name),
        Refusal::PriorityClass(name) => format!("the priority class {name} does not exist"),
        Refusal::PodSecurity(text) => format!("Pod Security Admission refuses the template: it violates {text}"),
        Refusal::LeaderFirst => "JobSet creates the followers once their leader has a node".to_owned(),
        Refusal::WebhookDenied { webhook, message } => {
            let message = if message.is_empty() { String::new() } else { format!(": {message}") };
            format!("the admission webhook {webhook} refuses it{message}")
        }
        Refusal::WebhookUnreachable { webhook, message } => format!("the admission webhook {webhook} cannot be reached: {message}"),
        Refusal::NamespaceTerminating => "the namespace is being deleted, and takes no new pod".to_owned(),
        Refusal::Other(text) => format!("the API server refuses it: {text}"),
    }
}

fn suspended(suspension: &Suspension) -> String {
    match suspension {
        Suspension::Own(about) if about.kind == "CronJob" => "the CronJob is suspended and starts no Job".to_owned(),
        Suspension::Own(about) => format!("the {} is suspended", about.kind),
        Suspension::Held(about, holder, said) => {
            let said =
                said.as_ref().filter(|(_, said)| !said.is_empty()).map_or_else(String::new, |(_, said)| format!(", which says: {said}"));
            format!("the {} is suspended by {holder}{said}", about.kind)
        }
        Suspension::Owner(owner) => format!("it is suspended, and its owner {owner} decides when it runs"),
    }
}

/// Returns when a refusal was last said.
fn age_words(at: &RefusedAt, now: Option<Timestamp>) -> String {
    let (Some(now), Some(last)) = (now, at.last) else { return String::new() };
    let times = if at.count > 1 { format!("{} times, ", at.count) } else { String::new() };
    format!(" ({times}last {} ago)", span(last, now))
}

fn few_eligible(found: &Eligible) -> String {
    let Eligible { nodes, eligible, unselected, tainted } = *found;
    let mut why = Vec::new();
    if unselected > 0 {
        why.push(count_of(unselected, "is left out by its node selector or affinity", "are left out by its node selector or affinity"));
    }
    if tainted > 0 {
        why.push(count_of(tainted, "has a taint that it does not tolerate", "have taints that it does not tolerate"));
    }
    format!("the DaemonSet runs on {eligible} of {}: {}", count(nodes, "node"), why.join(", "))
}

/// Returns a kind that leaves an answer open, with what is unknown because of it.
pub(super) fn open(OpenKind { kind, why }: OpenKind) -> UnknownKind {
    let (kind, plural, effect) = match kind {
        OpenOf::Pods => ("Pod", Kind::Pod.plural(), "how many of its pods exist is unknown."),
        OpenOf::Nodes => ("Node", Kind::Node.plural(), "where its pods fit is unknown."),
        OpenOf::Between(kind) => (<&str>::from(kind), kind.plural(), "which pods are its own is unknown."),
    };
    UnknownKind { kind, why, clause: missing_clause(&plural, why), effect }
}

/// Returns what is unknown of a workload without a kind.
pub(super) fn effect(kind: NeighborKind, workload: &About) -> &'static str {
    match kind {
        NeighborKind::ReplicaSet | NeighborKind::Job if workload.kind == <&str>::from(kind) => "how many pods are wanted is unknown.",
        NeighborKind::Deployment
        | NeighborKind::ReplicationController
        | NeighborKind::StatefulSet
        | NeighborKind::DaemonSet
        | NeighborKind::JobSet
        | NeighborKind::LeaderWorkerSet => "how many pods are wanted is unknown.",
        NeighborKind::ReplicaSet | NeighborKind::Job => "conditions about pods that were refused are unknown.",
        NeighborKind::CronJob => "whether it is suspended is unknown.",
        NeighborKind::HorizontalPodAutoscaler => "whether an autoscaler sets the number of replicas is unknown.",
        NeighborKind::ResourceQuota => "room in quotas is known from messages only.",
        NeighborKind::LimitRange => "limits of the namespace are known from messages only.",
        NeighborKind::ServiceAccount => "whether the service account exists is known from messages only.",
        _ => "what it says is unknown.",
    }
}
