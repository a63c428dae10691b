//! Sentences about scheduled pods: the node, and why it won.

use jiff::Timestamp;

use super::cause::{nodes, of_nodes};
use super::words::list;
use crate::analysis::moments::moment_and_span;
use crate::analysis::odds_in_words;
use crate::cluster::Str;
use crate::framework::{ExtenderOutcome, PluginName};
use crate::plural::count;
use crate::trace::{BindingUnderWay, CycleView, NodeScore, Selection};

/// Returns the node and why it was selected.
pub(super) fn scheduled(view: &CycleView) -> String {
    let Some((node, why, tied)) = &view.scoring.selected else {
        return match &view.effects.bound {
            Some(node) => format!("Runs on {node}"),
            None => "Scheduled, and the record does not say where".to_owned(),
        };
    };
    if let Some(binding) = binding(view) {
        return waits_for_volume(binding, view.start.as_ref().and_then(|start| start.time));
    }
    let (total, looked) = (nodes(view), view.filter.verdicts.len());
    let sentence = match why {
        Selection::NominatedNode => format!("Fits on {node}, where it was nominated, so no other node was tried"),
        // Some profiles score nothing: the search ends at the first feasible node.
        Selection::OnlyFeasibleNode if view.filter.stopped.is_some() || looked < total && view.pre_filter.narrowed.is_none() => {
            format!("Fits on {node}, the first that was found to fit: {looked} of {} were evaluated", count(total, "node"))
        }
        Selection::OnlyFeasibleNode if total == 1 => format!("Fits on {node}, the only node"),
        Selection::OnlyFeasibleNode => format!("Fits on {node}, the only one of {} that fits", count(total, "node")),
        Selection::HighestScore | Selection::Turn => {
            let fit = view.feasible().count();
            let on = match view.filter.stopped {
                Some((looked, ..)) if view.findings.odds_over_starts.is_none() => {
                    format!("Fits on {fit} of the {looked} nodes that were evaluated (which ones depends on where the search starts)")
                }
                Some((looked, ..)) => format!("Fits on {fit} of the {looked} nodes that were evaluated"),
                None => format!("Fits on {}", of_nodes(fit, total)),
            };
            let score = view.scoring.scores.get(node).map(|s| s.total);
            let (with, of) = score.map_or_else(Default::default, |s| (format!(" with {s}"), format!(" of {s}")));
            if *why == Selection::Turn {
                format!("{on}; {} tie for the highest score{of} and are picked in turn; it is the turn of {node}", tied.len())
            } else if tied.len() > 1 {
                format!("{on}; {} tie for the highest score{of}, and any of them may win ({node} is the first by name)", tied.len())
            } else {
                format!("{on}; {node} scores highest{with}{}", score.map_or_else(String::new, |s| ahead(view, node, s)))
            }
        }
    };
    let over_starts = view.findings.odds_over_starts.as_ref().and_then(|odds| odds_in_words(odds, node));
    let sentence = over_starts
        .map_or_else(|| sentence.clone(), |words| format!("{sentence}; over all starting nodes of the search {node} is picked {words}"));
    let binder = view.extenders.calls.iter().find(|call| matches!(call.outcome, ExtenderOutcome::WouldBind(_)));
    let sentence = binder.map_or_else(|| sentence.clone(), |call| format!("{sentence}; would be bound by {}", call.extender));
    let waits: Vec<String> = view.effects.permit_waits.iter().map(ToString::to_string).collect();
    if waits.is_empty() { sentence } else { format!("{sentence}; it waits there until {} allows it", list(&waits, "and")) }
}

/// Returns the claim that is being bound for the node that was selected; `None` if there is none.
pub(in crate::analysis) fn binding(view: &CycleView) -> Option<&BindingUnderWay> {
    let (node, ..) = view.scoring.selected.as_ref()?;
    view.start.as_ref()?.binding.as_ref().filter(|binding| binding.node == *node)
}

/// Returns that a pod has its node, and which volume it waits for.
pub(in crate::analysis) fn waits_for_volume(binding: &BindingUnderWay, now: Option<Timestamp>) -> String {
    let BindingUnderWay { claim, node, provisioner, since } = binding;
    let since = match (since, now) {
        (Some(since), Some(now)) => format!(" since {}", moment_and_span(now, *since)),
        (Some(since), None) => format!(" since {since}"),
        (None, _) => String::new(),
    };
    let waits = if provisioner.is_empty() { format!("a volume for {claim}") } else { format!("{provisioner} to provision {claim}") };
    format!("Chosen for {node}{since}, waits for {waits}")
}

/// Returns the winner's lead over the next best, and the one Score plugin that accounts for it, if there is one.
fn ahead(view: &CycleView, winner: &Str, best: i64) -> String {
    let others = || view.scoring.scores.iter().filter(|(node, _)| *node != winner);
    let Some(second) = others().map(|(_, s)| s.total).max().filter(|second| *second < best) else { return String::new() };
    let next: Vec<(&Str, &NodeScore)> = others().filter(|(_, s)| s.total == second).map(|(n, s)| (n, &**s)).collect();
    let name = match next[..] {
        [(name, _)] => name.to_string(),
        _ => format!("{} others", next.len()),
    };
    let lead = best - second;
    let given = |node: &Str| view.extenders.scores_of(node).values().fold(0, |sum: i64, score| sum.wrapping_add(*score));
    let by_extenders = next.iter().any(|(node, _)| given(winner) > given(node));
    let owed = view.scoring.scores.get(winner).filter(|_| !by_extenders).and_then(|won| owed_to(won, &next));
    let by = match owed {
        Some(plugin) => format!(", thanks to {plugin}"),
        None if next.iter().all(|(node, score)| given(winner) - given(node) >= best - score.total) && by_extenders => {
            ", thanks to extenders".to_owned()
        }
        None => String::new(),
    };
    format!(", {lead} ahead of {name}{by}")
}

/// Returns the only plugin that scores the winner higher, if it is the same one for all others.
fn owed_to(won: &NodeScore, next: &[(&Str, &NodeScore)]) -> Option<PluginName> {
    let favours = |other: &NodeScore| {
        let theirs = |plugin| other.plugins.iter().find(|p| p.plugin == plugin).map_or(0, |p| p.weighted);
        let mut better = won.plugins.iter().filter(|p| p.weighted > theirs(p.plugin)).map(|p| p.plugin);
        let first = better.next();
        first.filter(|_| better.next().is_none())
    };
    let (first, rest) = next.split_first()?;
    let plugin = favours(first.1)?;
    rest.iter().all(|(_, other)| favours(other) == Some(plugin)).then_some(plugin)
}
