//! The cycle of a pod group in one sentence.

use super::words::{Number, short};
use super::{gated, uncapitalized};
use crate::cluster::{Cluster, Key, MissingKinds};
use crate::framework::{GroupMismatch, PluginName, PodGroupState, Reason, Status};
use crate::plural::count;
use crate::trace::{GroupDecision, GroupOutcome, GroupView, Place, QueuesView};

/// The sentence about a pod whose group has no object.
const NO_GROUP: &str = "Waits until there is a PodGroup of this name";

/// Returns the outcome of a group, and the reason if it waits, in a sentence; `None` while its members are tried.
pub fn why_group(group: &GroupView) -> Option<String> {
    why_group_in_short(group).map(|words| format!("{words}."))
}

/// Returns the sentence of [`why_group`] without its full stop, for use before more words.
pub(in crate::analysis) fn why_group_in_short(group: &GroupView) -> Option<String> {
    let outcome = group.outcome.or(group.decision.as_ref().map(|decision| decision.outcome))?;
    Some(match (&group.decision, outcome) {
        (None, GroupOutcome::Error) if group.start.pods.is_empty() => return None,
        (None, _) => not_tried(group.start.mismatch.as_ref()),
        (Some(decision), GroupOutcome::Scheduled) => scheduled(group, decision),
        (Some(_), GroupOutcome::WaitingOnPreemption) => waiting(group),
        (Some(decision), GroupOutcome::Unschedulable) => unschedulable(group, decision),
        (Some(decision), GroupOutcome::Error) => format!("Not decided, because of an error: {}", short(&decision.status.message())),
    })
}

/// Returns in one sentence why a group waits of which pods wait in the queues.
pub fn why_group_waits(cluster: &Cluster, pods: Option<&PodGroupState>, queues: &QueuesView, group: &Key) -> String {
    let Some(object) = cluster.pod_groups.get(group) else {
        return format!("{NO_GROUP}.");
    };
    let known = pods.map_or(0, PodGroupState::pods);
    let min = object.min_count().and_then(|min| usize::try_from(min).ok()).unwrap_or(0);
    if known < min {
        return format!("{}.", too_few(known, min));
    }
    let members = pods.into_iter().flat_map(PodGroupState::unscheduled).chain(pods.into_iter().flat_map(PodGroupState::assumed));
    let places: Vec<&Place> = members.filter_map(|pod| queues.entries.get(&pod.key())).map(|entry| &entry.place).collect();
    let is_gated = |place: &&Place| matches!(place, Place::Unschedulable { gated_by: Some(PluginName::DefaultPreemption), .. });
    if places.iter().any(is_gated) {
        return "Waits until the pods that are preempted for it have been evicted.".to_owned();
    }
    if places.iter().any(|place| matches!(place, Place::WaitingOnPermit { .. })) {
        return format!("Waits on Permit until {min} of its pods have a place.");
    }
    if let Some(gate) = queues.group_gates.get(group) {
        return format!("Waits until {} lets its pod {} into the queue.", gate.plugin, short(&gate.pod.to_string()));
    }
    let next = if places.iter().any(|place| matches!(place, Place::Active)) {
        "it is tried as soon as one of its pods is popped"
    } else if places.iter().any(|place| matches!(place, Place::Backoff { .. })) {
        "it is tried again when the backoff of one of its pods has ended"
    } else {
        "it is tried again when an event requeues one of its pods"
    };
    match object.scheduled_condition().filter(|condition| condition.status.as_str() == "False") {
        Some(condition) => format!("Waits since its last attempt ({}); {next}.", short(&condition.message)),
        None => format!("Waits to be tried; {next}."),
    }
}

/// Returns why a group keeps a pod out of activeQ, as a key and a sentence without its full stop; `None` for a gate of another kind.
pub(in crate::analysis) fn why_group_is_gated(gate: &Status, unknown: MissingKinds) -> Option<(&'static str, String)> {
    gate.reasons().iter().find_map(|reason| match reason {
        Reason::PodGroupMissing { .. } => Some(("missing", NO_GROUP.to_owned())),
        Reason::GangIncomplete { pods, min_count } => Some(("incomplete", too_few(*pods, usize::try_from(*min_count).unwrap_or(0)))),
        Reason::GroupGated { pod, reasons } => {
            let other = gate.with_reasons(gate.code(), reasons.iter().cloned());
            let why = uncapitalized(&gated(Some(&other), Number::One, true, unknown));
            Some(("gated", format!("Waits with its pod {}, which is {why}", short(&pod.to_string()))))
        }
        _ => None,
    })
}

/// Says that a group has fewer pods than must have a place.
fn too_few(known: usize, min: usize) -> String {
    let missing = min.saturating_sub(known);
    let more = if missing == 1 { "one more pod".to_owned() } else { format!("{missing} more pods") };
    format!("Waits for {more}: it has {known}, and {min} must have a place at once")
}

/// Says why the pods of a group are not tried.
fn not_tried(mismatch: Option<&GroupMismatch>) -> String {
    match mismatch {
        Some(GroupMismatch::Priorities(pod, group)) => {
            format!("Not tried, because a pod has priority {pod} and the group has priority {group}")
        }
        Some(GroupMismatch::Policies(..)) => "Not tried, because its pods have different preemption policies".to_owned(),
        Some(GroupMismatch::Schedulers(..)) | None => "Not tried, because its pods name different schedulers".to_owned(),
    }
}

fn scheduled(group: &GroupView, decision: &GroupDecision) -> String {
    let (placed, tried) = (decision.placed, group.start.pods.len());
    let place = group.placements.iter().find(|tried| tried.chosen && !tried.name.is_empty());
    let among = place.map_or_else(String::new, |place| format!(" in {}", short(&place.name)));
    if placed == tried {
        return format!("Scheduled{among}: {} found a place", if tried == 1 { "its pod".to_owned() } else { format!("all {tried} pods") });
    }
    let enough = group.start.min_count.map_or_else(String::new, |min| format!(", and {min} are enough"));
    format!("Scheduled{among}: {placed} of {tried} pods found a place{enough}")
}

fn waiting(group: &GroupView) -> String {
    let for_group = group.preemption.iter().filter(|record| record.status.is_success()).flat_map(|record| record.victims()).count();
    if for_group > 0 {
        return format!("Waits until the {} evicted for it {} gone", pods(for_group), are(for_group));
    }
    let ongoing = |status: &Status| matches!(status.reasons().first(), Some(Reason::GroupPreemptionOngoing));
    if group.preemption.as_ref().is_some_and(|record| ongoing(&record.status)) {
        return "Waits until the pods that were evicted for it before are gone".to_owned();
    }
    "Waits until the pods that its members preempt are gone".to_owned()
}

fn unschedulable(group: &GroupView, decision: &GroupDecision) -> String {
    let placed = decision.placed;
    let lacks = match decision.status.reasons().first() {
        Some(Reason::NoFeasiblePlacement) => "Waits, because no node has the topology label that its pods must share".to_owned(),
        Some(Reason::NoPlacementAvailable { placements, .. }) if group.placements.iter().any(|tried| !tried.name.is_empty()) => {
            let most = group.placements.iter().map(|tried| tried.placed).max().unwrap_or(0);
            let all = if *placements == 1 { "the only placement".to_owned() } else { format!("all {placements} placements") };
            format!("Waits, because {all} are too small: at most {} {}", pods(most), needed(group, most))
        }
        _ if placed == 0 => "Waits, because none of its pods finds a place".to_owned(),
        _ => format!("Waits, because only {} {}", pods(placed), needed(group, placed)),
    };
    match group.preemption.as_ref().map(|record| &record.status) {
        Some(status) => format!("{lacks}; {}", without_eviction(status)),
        None => lacks,
    }
}

fn pods(number: usize) -> String {
    count(number, "pod")
}

fn are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Returns the words after the number of pods that would find a place.
fn needed(group: &GroupView, placed: usize) -> String {
    let verb = if placed == 1 { "finds" } else { "find" };
    match group.start.min_count {
        Some(min) if group.start.scheduled > 0 => {
            format!(
                "{verb} a place in addition to the {} that {} one, and {min} must have one",
                group.start.scheduled,
                has(group.start.scheduled)
            )
        }
        Some(min) => format!("{verb} a place, and {min} must have one at once"),
        None => format!("{verb} a place"),
    }
}

fn has(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// Returns why nothing is evicted for the group.
fn without_eviction(status: &Status) -> String {
    match status.reasons().first() {
        Some(Reason::PreemptionPolicyNever) => "it may not preempt, because of a pod with preemptionPolicy Never".to_owned(),
        Some(Reason::NoVictimsForGroup) => "no running pod has a lower priority".to_owned(),
        Some(Reason::GroupPreemptionConstrained) => "a group with topology constraints does not preempt".to_owned(),
        Some(Reason::GroupPreemptionUnregistered) => "nothing is evicted, because DefaultPreemption is not in the profile".to_owned(),
        _ => "even evicting every lower-priority pod would not help".to_owned(),
    }
}
