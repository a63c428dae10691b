//! The cycle of a pod group in one sentence.

use super::words::short;
use crate::framework::{Reason, Status};
use crate::plural::count;
use crate::trace::{GroupDecision, GroupOutcome, GroupView};

/// What became of a group, and why it waits where it does; `None` while its members are tried.
pub fn why_group(group: &GroupView) -> Option<String> {
    let outcome = group.outcome.or(group.decision.as_ref().map(|decision| decision.outcome))?;
    let sentence = match (&group.decision, outcome) {
        (None, GroupOutcome::Error) if group.start.pods.is_empty() => return None,
        (None, _) => "Not tried, because its pods name different schedulers".to_owned(),
        (Some(decision), GroupOutcome::Scheduled) => scheduled(group, decision),
        (Some(_), GroupOutcome::WaitingOnPreemption) => waiting(group),
        (Some(decision), GroupOutcome::Unschedulable) => unschedulable(group, decision),
        (Some(decision), GroupOutcome::Error) => format!("Not decided, because of an error: {}", short(&decision.status.message())),
    };
    Some(format!("{sentence}."))
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
    "Waits until the pods that its members preempt are gone".to_owned()
}

fn unschedulable(group: &GroupView, decision: &GroupDecision) -> String {
    let placed = decision.placed;
    let lacks = match decision.status.reasons().first() {
        Some(Reason::NoFeasiblePlacement) => "Waits, because no node has the label by which its pods are to be together".to_owned(),
        Some(Reason::NoPlacementAvailable { placements, .. }) if group.placements.iter().any(|tried| !tried.name.is_empty()) => {
            let most = group.placements.iter().map(|tried| tried.placed).max().unwrap_or(0);
            let all = if *placements == 1 { "the one placement that there is".to_owned() } else { format!("all {placements} placements") };
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

/// What follows the pods that would find a place.
fn needed(group: &GroupView, placed: usize) -> String {
    let verb = if placed == 1 { "finds" } else { "find" };
    match group.start.min_count {
        Some(min) if group.start.scheduled > 0 => {
            format!("{verb} a place beside the {} that {} one, and {min} must have one", group.start.scheduled, has(group.start.scheduled))
        }
        Some(min) => format!("{verb} a place, and {min} must have one at once"),
        None => format!("{verb} a place"),
    }
}

fn has(number: usize) -> &'static str {
    if number == 1 { "has" } else { "have" }
}

/// Why nothing is evicted for the group.
fn without_eviction(status: &Status) -> String {
    match status.reasons().first() {
        Some(Reason::PreemptionPolicyNever) => "it may not preempt, because of a pod with preemptionPolicy Never".to_owned(),
        Some(Reason::NoVictimsForGroup) => "nothing that runs has a lower priority".to_owned(),
        Some(Reason::GroupPreemptionConstrained) => "a group with topology constraints does not preempt".to_owned(),
        Some(Reason::GroupPreemptionUnregistered) => "nothing is evicted, as DefaultPreemption is not in the profile".to_owned(),
        _ => "evicting everything of a lower priority would not help".to_owned(),
    }
}
