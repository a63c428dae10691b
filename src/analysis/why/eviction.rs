//! The result of preemption: where it makes room, its victims and violated budgets, or why it does not help.

use super::words::{list, short};
use crate::analysis::moments::moment_and_span;
use crate::analysis::odds_in_words;
use crate::framework::{Candidate, EndingVictims, PluginName, Reason, Status, Victim};
use crate::odds::Chance;
use crate::plural::count;
use crate::trace::{CycleView, DryRunView, Eviction, PreemptionView};

/// Limit on the budgets named.
const NAMED: usize = 3;

/// Returns the result of preemption as half a sentence; `None` if it did not matter.
pub(super) fn eviction(view: &CycleView) -> Option<String> {
    let ours = |(plugin, _): &&(PluginName, _)| plugin.preempts();
    let Some(preemption) = view.preemption.as_ref().filter(|p| !p.hypothetical()) else {
        let (plugin, status) = view.post_filter.last()?;
        let message = short(&status.message());
        return match () {
            // With DefaultPreemption enabled, its dry run is recorded even if it was not reached, but other plugins answer first.
            () if view.preemption.is_none() && (view.failure.is_some() || view.outcome.is_some()) => {
                Some("its profile has no preemption".to_owned())
            }
            () if view.preemption.is_none() => None,
            // Without the state of PreFilter the plugins of PostFilter fail.
            () if status.is_error() && view.pre_filter.rejected.is_some() => Some("evicting pods would not help".to_owned()),
            () if status.is_error() => Some(format!("{plugin} failed before preemption ({message})")),
            () if message.is_empty() => None,
            () => Some(format!("{plugin}: {message}")),
        };
    };
    if let Some(status) = preemption.ineligible() {
        return Some(ineligible(status, view));
    }
    if let Some((node, best)) = preemption.selected() {
        return Some(match preemption.candidate(node) {
            Some(candidate) => chosen(candidate, best.len(), view),
            None => format!("it is nominated to {node}"),
        });
    }
    let answered = view.post_filter.iter().find(ours).map(|(_, status)| status);
    if let Some(status) = answered.filter(|s| s.is_error()) {
        return Some(format!("preemption failed ({})", short(&status.message())));
    }
    // Dry runs are still under way until the plugin has answered or the attempt has ended.
    if answered.is_none() && view.failure.is_none() && view.outcome.is_none() && !preemption.potential_nodes().is_empty() {
        let done = preemption.finished_dry_runs();
        let found = count(preemption.candidate_count(), "candidate");
        return Some(format!("preemption tried on {done} of {}, {found} so far", count(preemption.potential_nodes().len(), "node")));
    }
    Some(no_help(preemption, super::cause::nodes(view)))
}

fn ineligible(status: &Status, view: &CycleView) -> String {
    if let Some(victims) = view.preemption.as_ref().and_then(PreemptionView::waits_for) {
        return format!("it {}", waits_for(victims));
    }
    let nominated = view.start.as_ref().map(|s| s.nominated.as_str()).filter(|n| !n.is_empty());
    match (status.reasons(), nominated) {
        ([Reason::PreemptionPolicyNever], _) => "its preemptionPolicy is Never, so it evicts no pod".to_owned(),
        ([Reason::TerminatingVictims], Some(node)) => format!("it waits until pods evicted for it on {node} are gone"),
        _ => format!("it may not preempt ({})", short(&status.message())),
    }
}

/// Returns that a pod waits for the end of its victims, and until when at most, without a subject.
pub(in crate::analysis) fn waits_for(victims: &EndingVictims) -> String {
    let pods = count(victims.pods.len(), "evicted pod");
    let until = match victims.until {
        None => String::new(),
        Some(until) if until > victims.now => format!(", at the latest {}", moment_and_span(victims.now, until)),
        Some(until) => format!(", overdue since {}", moment_and_span(victims.now, until)),
    };
    format!("waits for {pods} to end on {}{until}", victims.node)
}

fn no_help(preemption: &PreemptionView, nodes: usize) -> String {
    let tried = preemption.potential_nodes().len();
    let everywhere = tried >= nodes;
    let no_victims = preemption.dry_runs().all(DryRunView::is_empty);
    match (tried, no_victims) {
        (0, _) => "evicting pods would not help".to_owned(),
        (_, true) if everywhere => "there are no lower-priority pods to evict".to_owned(),
        (1, true) => "the one node considered has no lower-priority pods to evict".to_owned(),
        (n, true) => format!("the {n} nodes considered have no lower-priority pods to evict"),
        (1, false) => "even evicting every lower-priority pod would not help on the one node considered".to_owned(),
        (n, false) => format!("even evicting every lower-priority pod would not help on the {n} nodes considered"),
    }
}

fn chosen(candidate: &Candidate, equals: usize, view: &CycleView) -> String {
    let node = &candidate.node;
    let pods = victims(candidate);
    let drawn = view.preemption.as_ref().and_then(PreemptionView::odds).filter(|odds| odds.first_chance() != Chance::LastTie);
    let any = match drawn.and_then(|odds| odds_in_words(odds, node)) {
        Some(words) => format!(" ({words})"),
        None if equals > 1 => format!(" (1 of {equals} equal candidates)"),
        None => String::new(),
    };
    let ending = candidate.victims.iter().filter(|v| v.is_terminating()).count();
    let rest =
        if ending > 0 && ending < candidate.victims.len() { format!(" ({ending} of them already terminating)") } else { String::new() };
    if ending > 0 && ending == candidate.victims.len() {
        let are = if ending == 1 { "is" } else { "are" };
        return format!("it waits until {pods} on {node}, already terminating, {are} gone{any}{}", with(&budgets(candidate, view)));
    }
    if view.effects.evicted.is_empty() {
        return format!("preempting {pods} on {node}{rest}{any} makes room{}", with(&budgets(candidate, view)));
    }
    let waits = view.effects.evicted.iter().any(|(_, how)| *how == Eviction::Terminating);
    let does = format!("it preempts {pods} on {node}{rest}{any}");
    let gone = if candidate.victims.len() == 1 { "it is gone" } else { "they are gone" };
    match budgets(candidate, view) {
        Budgets::Unknown if waits => format!("{does} and waits until {gone}{}", with(&Budgets::Unknown)),
        Budgets::Known(says) if waits => format!("{does}, {says} and waits until {gone}"),
        budgets => does + &with(&budgets),
    }
}

/// The violations of budgets by the victims.
enum Budgets {
    Known(String),
    Unknown,
}

/// Returns the budgets as the end of a clause.
fn with(budgets: &Budgets) -> String {
    match budgets {
        Budgets::Known(says) => format!(" and {says}"),
        Budgets::Unknown => "; whether that violates a budget is unknown".to_owned(),
    }
}

/// Returns the number of victims and their priorities.
fn victims(candidate: &Candidate) -> String {
    let priorities = || candidate.victims.iter().map(Victim::priority);
    let pods = count(candidate.victims.len(), "pod");
    match (priorities().min(), priorities().max()) {
        (Some(low), Some(high)) if low == high => format!("{pods} of priority {high}"),
        (_, Some(high)) => format!("{pods} of priority {high} or less"),
        _ => pods,
    }
}

fn budgets(candidate: &Candidate, view: &CycleView) -> Budgets {
    let mut names: Vec<String> = candidate.victims.iter().flat_map(Victim::violates).map(|b| b.budget.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    let violating = usize::try_from(candidate.pdb_violations).unwrap_or_default();
    if violating == 0 {
        return if view.budgets_unknown() { Budgets::Unknown } else { Budgets::Known("violates no budget".to_owned()) };
    }
    let noun = if names.len() == 1 { "the budget" } else { "the budgets" };
    let more = names.len().saturating_sub(NAMED);
    let mut shown: Vec<String> = names.into_iter().take(NAMED).collect();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    let of_them = if violating < candidate.victims.len() { format!(" with {violating} of them") } else { String::new() };
    Budgets::Known(format!("violates {noun} {}{of_them}", list(&shown, "and")))
}
