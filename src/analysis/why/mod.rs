//! The decision in one plain sentence, built from the record. All output takes the sentence from here.

mod cause;
mod eviction;
mod group;
mod scheduled;
mod sentence;
#[cfg(test)]
mod tests;
mod words;

use cause::{Detail, cause, cause_of_one_and_several};
use eviction::eviction;
pub(in crate::analysis) use eviction::waits_for;
pub use group::{why_group, why_group_waits};
pub(in crate::analysis) use group::{why_group_in_short, why_group_is_gated};
use scheduled::scheduled;
pub(in crate::analysis) use scheduled::{binding, waits_for_volume};
pub use sentence::Sentence;
use words::{Number, doubt, list, short};

use crate::cluster::MissingKinds;
use crate::framework::{Reason, Status};
use crate::plural::count;
use crate::trace::{AttemptFailure, CycleView, FailureCause, Outcome, SkipReason};
use crate::workload::holder_of_gate;

/// Limit on the characters of a sentence; longer ones name fewer causes.
const LONGEST: usize = 240;
/// Limit on the causes named; the others are counted.
const CAUSES: usize = 4;

/// Returns the decision in a sentence; empty while the cycle has decided nothing.
pub fn why(view: &CycleView) -> String {
    sentence(view).map_or_else(String::new, |sentence| sentence.to_string())
}

/// Returns the decision in a sentence; `None` while the cycle has decided nothing.
pub fn sentence(view: &CycleView) -> Option<Sentence> {
    let sentence = match view.outcome? {
        Outcome::Gated => Sentence::plain(gated(view.pre_enqueue.as_ref(), Number::One, true, view.missing())),
        Outcome::Error => Sentence::plain(error(view)),
        Outcome::Scheduled => Sentence::plain(scheduled(view)),
        Outcome::Unschedulable => unschedulable(view),
    };
    Some(finish(view, sentence))
}

/// Returns the sentence of a cycle that may still run: [`sentence()`] after its end, its progress before. `None` before its start.
pub fn so_far(view: &CycleView) -> Option<Sentence> {
    if view.outcome.is_some() {
        return sentence(view);
    }
    let sentence = if view.start.is_none() {
        match (&view.pre_enqueue, &view.skipped) {
            (Some(status), _) => Sentence::plain(gated(Some(status), Number::One, true, view.missing())),
            (None, Some(_)) => Sentence::plain(error(view)),
            (None, None) => return None,
        }
    } else if view.failure.is_some() && view.scoring.selected.is_some() {
        unschedulable(view)
    } else if view.scoring.selected.is_some() || view.effects.bound.is_some() {
        Sentence::plain(scheduled(view))
    } else if view.skipped.is_some() {
        Sentence::plain(error(view))
    } else if view.pre_filter.rejected.is_some() || view.preemption.is_some() || view.failure.is_some() || !view.post_filter.is_empty() {
        unschedulable(view)
    } else {
        Sentence::plain(looking(view))
    };
    Some(finish(view, sentence))
}

/// Adds the plugins that are not emulated.
fn finish(view: &CycleView, sentence: Sentence) -> Sentence {
    match &view.not_emulated[..] {
        [] => sentence,
        [(plugin, _)] => sentence.and(&format!("{} is not emulated and might decide differently", short(plugin))),
        many => sentence.and(&format!("{} plugins are not emulated and might decide differently", many.len())),
    }
}

fn gated(status: Option<&Status>, number: Number, whole: bool, unknown: MissingKinds) -> String {
    let Some(status) = status else { return "Held back".to_owned() };
    match status.reasons() {
        [Reason::SchedulingGates { gates }] => {
            let mut holders = gates.iter().map(|gate| holder_of_gate(gate));
            let first = holders.next().flatten();
            let holder = first.filter(|first| holders.all(|other| other == Some(*first)));
            let (noun, it, is) = if gates.len() == 1 { ("gate", "it", "is") } else { ("gates", "they", "are") };
            let end = match (holder, gates.len()) {
                (Some(holder), 1) => format!("{holder} removes it"),
                (Some(holder), _) => format!("{holder} removes them"),
                (None, _) => format!("{it} {is} removed"),
            };
            let gates: Vec<String> = gates.iter().map(ToString::to_string).collect();
            let end = if whole { format!(" until {end}") } else { String::new() };
            format!("Held back by {} scheduling {noun} {}{end}", number.its(), list(&gates, "and"))
        }
        [Reason::PodGroupMissing { group }] => {
            format!("Held back until there is a pod group named {}{}", short(group), doubt(status, unknown))
        }
        [Reason::GangIncomplete { pods, min_count }] => {
            let (its, needed) = (number.its(), count(usize::try_from(*min_count).unwrap_or_default(), "pod"));
            format!("Held back until {its} pod group has {needed}, which must have a place at once: it has {pods}")
        }
        [Reason::GroupGated { pod, reasons }] => {
            let other = status.with_reasons(status.code(), reasons.iter().cloned());
            let why = uncapitalized(&gated(Some(&other), Number::One, whole, unknown));
            format!("Held back with {} pod group, of which pod {} is {why}", number.its(), short(&pod.to_string()))
        }
        [Reason::GroupPreemptionInProgress] => {
            format!("Held back until the pods that are preempted for {} pod group have been evicted", number.its())
        }
        [Reason::PreemptionInProgress] => {
            let them = if number == Number::One { "it" } else { "them" };
            format!("Held back until the pods that are preempted for {them} have been evicted")
        }
        _ => format!(
            "Held back by {}: {}",
            status.plugin().map_or("a plugin", |p| p.as_str()),
            short(&status.message()) + &doubt(status, unknown)
        ),
    }
}

/// Returns the clause about a pod whose scheduler is none of those that are emulated, with the profile that is meant if the name is a typo.
pub(in crate::analysis) fn no_profile(name: &str, meant: Option<&str>) -> String {
    let question = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
    format!("no profile has the scheduler name {}{question}", short(&format!("{name:?}")))
}

fn error(view: &CycleView) -> String {
    match &view.skipped {
        Some((_, SkipReason::Deleting)) => return "Not tried, because it is being deleted".to_owned(),
        None => {}
    }
    let Some(failure) = &view.failure else { return "Not decided, and the record does not say why".to_owned() };
    if view.scoring.selected.is_some() {
        return turned_back(view);
    }
    match &failure.cause {
        FailureCause::UnknownProfile(name) => format!("Not tried, because {}", no_profile(name, view.findings.meant_profile.as_deref())),
        _ if view.nodes_unknown().is_some() => format!("Not decided: {}", short(&failure.message)),
        _ => format!("Not decided, because of an error: {}", short(&failure.message)),
    }
}

/// Returns the sentence of a pod that was rejected after its node was selected.
fn turned_back(view: &CycleView) -> String {
    let node = view.scoring.selected.as_ref().map_or("a node", |(node, ..)| node.as_str());
    let Some(failure) = &view.failure else { return format!("Was to run on {node}") };
    let reason = match &failure.cause {
        FailureCause::Rejected(status) => status.message(),
        _ => failure.message.to_string(),
    };
    let by: Vec<String> = failure.plugins.iter().map(|p| p.to_string()).collect();
    let by = if by.is_empty() { String::new() } else { format!("{}: ", list(&by, "and")) };
    format!("Pending although it was to run on {node}: {by}{}", short(&reason))
}

/// Returns the sentence of a pod whose group is not scheduled.
fn with_group(view: &CycleView, status: &Status) -> String {
    let awaits = status.reasons().iter().any(|reason| matches!(reason, Reason::GroupAwaitsPreemption));
    let whole = if awaits { "its pod group waits until victims are gone" } else { "its pod group is not scheduled" };
    match &view.scoring.selected {
        Some((node, ..)) => format!("Pending although it was to run on {node}: {whole}"),
        None => format!("Pending because {whole}"),
    }
}

fn unschedulable(view: &CycleView) -> Sentence {
    if let Some(AttemptFailure { cause: FailureCause::Group(status), .. }) = view.failure.as_deref() {
        return Sentence::plain(with_group(view, status));
    }
    if view.scoring.selected.is_some() && view.failure.is_some() {
        return Sentence::plain(turned_back(view));
    }
    let then = eviction(view);
    let cause = cause(view);
    let sentence = |detail| Some(Sentence::pending(vec![cause(detail)?], then.clone()));
    let all = Detail { causes: CAUSES, notes: true, facts: true, nominated: true, brief: false };
    let fewer = |notes| (1..=CAUSES).rev().map(move |causes| Detail { causes, notes, facts: false, ..all });
    let mut details = std::iter::once(all).chain([true, false].into_iter().flat_map(fewer));
    let fits = |detail: &Detail| sentence(*detail).is_none_or(|sentence| sentence.to_string().chars().count() <= LONGEST);
    let fullest = details.find(fits).unwrap_or(Detail { causes: 1, notes: false, facts: false, ..all });
    let shorter = [fullest, Detail { facts: false, ..fullest }, Detail { facts: false, notes: false, nominated: false, ..fullest }];
    let causes: Vec<String> = shorter.into_iter().filter_map(cause).collect();
    if !causes.is_empty() {
        return Sentence::pending(causes, then);
    }
    match view.failure.as_deref() {
        Some(AttemptFailure { cause: FailureCause::NoNodes, .. }) => Sentence::pending(vec!["there are no nodes".to_owned()], None),
        Some(failure) => Sentence::plain(format!("Pending: {}", short(&failure.message))),
        None => Sentence::plain("Pending".to_owned()),
    }
}

/// Returns why the pod waits, in words that pods with other requests can share, as half a sentence: as it is said of one pod, and of
/// several. Empty for a pod that fits. The second value says the same in ever fewer words, for narrow screens.
pub(super) fn in_common(view: &CycleView) -> ((String, String), Vec<(String, String)>) {
    let alike = |words: String| (words.clone(), words);
    let shared = Detail { causes: CAUSES, notes: false, facts: false, nominated: true, brief: false };
    let shorter = [2, 1].map(|causes| Detail { causes, nominated: false, brief: true, ..shared });
    let words = match view.outcome {
        None | Some(Outcome::Scheduled) => alike(String::new()),
        Some(Outcome::Gated) => {
            let said = |pods, whole| uncapitalized(&gated(view.pre_enqueue.as_ref(), pods, whole, view.missing()));
            let both = |whole| (said(Number::One, whole), said(Number::Several, whole));
            return (both(true), vec![both(false)]);
        }
        Some(Outcome::Error) if matches!(view.skipped, Some((_, SkipReason::Deleting))) => {
            ("not tried, because it is being deleted".to_owned(), "not tried, because they are being deleted".to_owned())
        }
        Some(Outcome::Error) => alike(uncapitalized(&error(view))),
        Some(Outcome::Unschedulable) if view.scoring.selected.is_some() && view.failure.is_some() => {
            alike(uncapitalized(&turned_back(view)))
        }
        Some(Outcome::Unschedulable) => {
            let details = [shared, Detail { nominated: false, ..shared }].into_iter().chain(shorter);
            if let Some(mut all) = cause_of_one_and_several(view, details) {
                all.dedup();
                return (all.remove(0), all);
            }
            alike(match view.failure.as_deref() {
                Some(AttemptFailure { cause: FailureCause::NoNodes, .. }) => "there are no nodes".to_owned(),
                Some(failure) => short(&failure.message),
                None => "no reason is recorded".to_owned(),
            })
        }
    };
    (words, Vec::new())
}

pub(in crate::analysis) fn uncapitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}", first.to_lowercase(), letters.as_str()))
}

/// Returns the progress of the search for a node.
fn looking(view: &CycleView) -> String {
    let (nodes, fit) = (cause::nodes(view), view.feasible().count());
    match view.filter.verdicts.len() {
        0 if nodes == 1 => "The node is not evaluated yet".to_owned(),
        0 => format!("None of the {} is evaluated yet", count(nodes, "node")),
        looked if fit == 0 => format!("Evaluated {looked} of {}: none fits so far", count(nodes, "node")),
        looked => format!("Evaluated {looked} of {}: {fit} {}", count(nodes, "node"), if fit == 1 { "fits" } else { "fit" }),
    }
}
