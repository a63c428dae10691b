//! The decision in one plain sentence, built from the record. All output takes the sentence from here.

mod cause;
mod eviction;
mod group;
mod scheduled;
#[cfg(test)]
mod tests;
mod words;

use cause::{Detail, cause, cause_of_one_and_several};
use eviction::eviction;
pub(in crate::report) use group::why_group_is_gated;
pub use group::{why_group, why_group_waits};
use scheduled::scheduled;
use words::{Number, list, short};

use crate::framework::{Reason, Status};
use crate::plural::count;
use crate::trace::{AttemptFailure, CycleView, FailureCause, Outcome, SkipReason};

/// Limit on the characters of a sentence; longer ones name fewer causes.
const LONGEST: usize = 230;
/// Limit on the causes named; the others are counted.
const CAUSES: usize = 4;

/// Returns the decision in a sentence; empty while the cycle has decided nothing.
pub fn why(view: &CycleView) -> String {
    ended(view, true)
}

/// Returns the sentence of an ended cycle; `facts` names the deciding facts of the nodes.
fn ended(view: &CycleView, facts: bool) -> String {
    let sentence = match view.outcome {
        None => return String::new(),
        Some(Outcome::Gated) => gated(view.pre_enqueue.as_ref(), Number::One),
        Some(Outcome::Error) => error(view),
        Some(Outcome::Scheduled) => scheduled(view),
        Some(Outcome::Unschedulable) => unschedulable(view, facts),
    };
    finish(view, &sentence)
}

/// Returns the sentence of a cycle that may still run: [`why`] after its end, its progress before. `None` before its start.
pub fn so_far(view: &CycleView) -> Option<String> {
    told(view, true)
}

/// Returns the sentence of [`so_far`] without the deciding facts of the nodes, for narrow places.
pub fn so_far_in_short(view: &CycleView) -> Option<String> {
    told(view, false)
}

fn told(view: &CycleView, facts: bool) -> Option<String> {
    if view.outcome.is_some() {
        return Some(ended(view, facts));
    }
    let sentence = if view.start.is_none() {
        match (&view.pre_enqueue, &view.skipped) {
            (Some(status), _) => gated(Some(status), Number::One),
            (None, Some(_)) => error(view),
            (None, None) => return None,
        }
    } else if view.failure.is_some() && view.selected.is_some() {
        unschedulable(view, facts)
    } else if view.selected.is_some() || view.bound.is_some() {
        scheduled(view)
    } else if view.skipped.is_some() {
        error(view)
    } else if view.pre_filter_rejected.is_some() || view.preemption.is_some() || view.failure.is_some() || !view.post_filter.is_empty() {
        unschedulable(view, facts)
    } else {
        looking(view)
    };
    Some(finish(view, &sentence))
}

/// Adds the plugins that are not emulated, and the full stop.
fn finish(view: &CycleView, sentence: &str) -> String {
    let more = match &view.not_emulated[..] {
        [] => String::new(),
        [(plugin, _)] => format!("; {} is not emulated and might decide differently", short(plugin)),
        many => format!("; {} plugins are not emulated and might decide differently", many.len()),
    };
    format!("{sentence}{more}.")
}

fn gated(status: Option<&Status>, number: Number) -> String {
    let Some(status) = status else { return "Held back".to_owned() };
    match status.reasons() {
        [Reason::SchedulingGates { gates }] => {
            let gates: Vec<String> = gates.iter().map(ToString::to_string).collect();
            let (noun, gone) = if gates.len() == 1 { ("gate", "it is") } else { ("gates", "they are") };
            format!("Held back by {} scheduling {noun} {} until {gone} removed", number.its(), list(&gates, "and"))
        }
        [Reason::PodGroupMissing { group }] => format!("Held back until there is a pod group named {}", short(group)),
        [Reason::GangIncomplete { pods, min_count }] => {
            let (its, needed) = (number.its(), count_of_pods(*min_count));
            format!("Held back until {its} pod group has {needed}, which must have a place at once: it has {pods}")
        }
        [Reason::GroupPreemptionInProgress] => {
            format!("Held back until the pods that are preempted for {} pod group have been evicted", number.its())
        }
        [Reason::PreemptionInProgress] => {
            let them = if number == Number::One { "it" } else { "them" };
            format!("Held back until the pods that are preempted for {them} have been evicted")
        }
        _ => format!("Held back by {}: {}", status.plugin().map_or("a plugin", |p| p.as_str()), short(&status.message())),
    }
}

fn error(view: &CycleView) -> String {
    match &view.skipped {
        Some((_, SkipReason::Deleting)) => return "Not tried, because it is being deleted".to_owned(),
        None => {}
    }
    let Some(failure) = &view.failure else { return "Not decided, and the record does not say why".to_owned() };
    if view.selected.is_some() {
        return turned_back(view);
    }
    match &failure.cause {
        FailureCause::UnknownProfile(name) => {
            format!("Not tried, because no profile has the scheduler name {}", short(&format!("{name:?}")))
        }
        _ => format!("Not decided, because of an error: {}", short(&failure.message)),
    }
}

/// Returns the sentence of a pod that was rejected after its node was selected.
fn turned_back(view: &CycleView) -> String {
    let node = view.selected.as_ref().map_or("a node", |(node, ..)| node.as_str());
    let Some(failure) = &view.failure else { return format!("Was to run on {node}") };
    let reason = match &failure.cause {
        FailureCause::Rejected(status) => status.message(),
        _ => failure.message.to_string(),
    };
    let by: Vec<String> = failure.plugins.iter().map(|p| p.to_string()).collect();
    let by = if by.is_empty() { String::new() } else { format!("{}: ", list(&by, "and")) };
    format!("Pending although it was to run on {node}: {by}{}", short(&reason))
}

fn count_of_pods(number: i32) -> String {
    if number == 1 { "1 pod".to_owned() } else { format!("{number} pods") }
}

/// Returns the sentence of a pod whose group is not scheduled.
fn with_group(view: &CycleView, status: &Status) -> String {
    let awaits = status.reasons().iter().any(|reason| matches!(reason, Reason::GroupAwaitsPreemption));
    let whole = if awaits { "its pod group waits until victims are gone" } else { "its pod group is not scheduled" };
    match &view.selected {
        Some((node, ..)) => format!("Pending although it was to run on {node}: {whole}"),
        None => format!("Pending because {whole}"),
    }
}

fn unschedulable(view: &CycleView, facts: bool) -> String {
    if let Some(AttemptFailure { cause: FailureCause::Group(status), .. }) = view.failure.as_deref() {
        return with_group(view, status);
    }
    if view.selected.is_some() && view.failure.is_some() {
        return turned_back(view);
    }
    let then = eviction(view).map_or_else(String::new, |then| format!("; {then}"));
    let with = |detail| Some(format!("Pending because {}{then}", cause(view, detail)?));
    let least = Detail { causes: 1, notes: false, facts: false, amounts: true };
    let all = Detail { causes: CAUSES, notes: true, facts: true, amounts: true };
    let fewer = |notes| (1..=CAUSES).rev().map(move |causes| Detail { causes, notes, facts: false, amounts: true });
    let details = facts.then_some(all).into_iter().chain([true, false].into_iter().flat_map(fewer));
    let sentence = details.filter_map(with).find(|s| s.chars().count() <= LONGEST).or_else(|| with(least));
    sentence.unwrap_or_else(|| match view.failure.as_deref() {
        Some(AttemptFailure { cause: FailureCause::NoNodes, .. }) => "Pending because there are no nodes".to_owned(),
        Some(failure) => format!("Pending: {}", short(&failure.message)),
        None => "Pending".to_owned(),
    })
}

/// Returns why the pod waits, in words that pods with other requests can share, as half a sentence: as it is said of one pod, and of
/// several. Empty for a pod that fits.
pub(super) fn in_common(view: &CycleView) -> (String, String) {
    let alike = |words: String| (words.clone(), words);
    let shared = Detail { causes: CAUSES, notes: false, facts: false, amounts: false };
    match view.outcome {
        None | Some(Outcome::Scheduled) => alike(String::new()),
        Some(Outcome::Gated) => {
            let said = |pods| uncapitalized(&gated(view.pre_enqueue.as_ref(), pods));
            (said(Number::One), said(Number::Several))
        }
        Some(Outcome::Error) if matches!(view.skipped, Some((_, SkipReason::Deleting))) => {
            ("not tried, because it is being deleted".to_owned(), "not tried, because they are being deleted".to_owned())
        }
        Some(Outcome::Error) => alike(uncapitalized(&error(view))),
        Some(Outcome::Unschedulable) if view.selected.is_some() && view.failure.is_some() => alike(uncapitalized(&turned_back(view))),
        Some(Outcome::Unschedulable) => cause_of_one_and_several(view, shared).unwrap_or_else(|| {
            alike(match view.failure.as_deref() {
                Some(AttemptFailure { cause: FailureCause::NoNodes, .. }) => "there are no nodes".to_owned(),
                Some(failure) => short(&failure.message),
                None => "no reason is recorded".to_owned(),
            })
        }),
    }
}

fn uncapitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_lowercase(), letters.as_str()))
}

/// Returns the progress of the search for a node.
fn looking(view: &CycleView) -> String {
    let (nodes, fit) = (cause::nodes(view), view.feasible().count());
    match view.verdicts.len() {
        0 if nodes == 1 => "The node is not evaluated yet".to_owned(),
        0 => format!("None of the {} is evaluated yet", count(nodes, "node")),
        looked if fit == 0 => format!("Evaluated {looked} of {}: none fits so far", count(nodes, "node")),
        looked => format!("Evaluated {looked} of {}: {fit} {}", count(nodes, "node"), if fit == 1 { "fits" } else { "fit" }),
    }
}
