//! The decision in one plain sentence, built from the record.

use crate::framework::{BudgetViolation, Candidate};
use crate::trace::{CycleView, Outcome, PreemptionView, Selection};

/// What an operator wants to read first. Empty while the cycle has decided nothing yet.
pub fn why(view: &CycleView) -> String {
    match view.outcome {
        None => String::new(),
        Some(Outcome::Gated) => match &view.pre_enqueue {
            Some(status) => format!("Held back by {}: {}.", status.plugin().map_or("a plugin", |p| p.as_str()), status.message()),
            None => "Held back.".to_owned(),
        },
        Some(Outcome::Error) => {
            let message = view.failure.as_ref().map(|(_, m, _)| m.as_str()).or(view.skipped.as_deref()).unwrap_or("unknown");
            format!("Not tried to its end: {message}.")
        }
        Some(Outcome::Scheduled) => scheduled(view),
        Some(Outcome::Unschedulable) => unschedulable(view),
    }
}

fn scheduled(view: &CycleView) -> String {
    let Some((node, why, tied)) = &view.selected else { return "Scheduled.".to_owned() };
    let feasible = view.feasible().count();
    match why {
        Selection::NominatedNode => format!("Fits on {node}, to which it was nominated."),
        Selection::OnlyFeasibleNode => format!("Fits on {node} alone."),
        Selection::HighestScore if tied.len() > 1 => {
            format!(
                "Fits on {feasible} nodes; {} share the highest score, and any of them is right ({node} is the first by name).",
                tied.len()
            )
        }
        Selection::HighestScore => format!("Fits on {feasible} nodes; {node} has the highest score."),
    }
}

fn unschedulable(view: &CycleView) -> String {
    let mut text = cause(view);
    if let Some(preemption) = view.preemption.as_ref().filter(|p| !p.hypothetical) {
        text.push_str("; ");
        text.push_str(&eviction(preemption, view));
    }
    text.push('.');
    text
}

/// Why no node takes the pod, or what came between it and the node it was to run on.
fn cause(view: &CycleView) -> String {
    if let (Some((node, ..)), Some((_, message, _))) = (&view.selected, &view.failure) {
        return format!("Pending although it was to run on {node}: {}", message.trim_end_matches('.'));
    }
    if let Some((_, status)) = view.narrowed.as_ref().filter(|_| view.pre_filter_rejected) {
        return format!("Pending because no node is even looked at: {}", status.message());
    }
    let groups = reason_groups(view);
    match &groups[..] {
        [] => match &view.failure {
            Some((_, message, _)) => format!("Pending: {}", message.trim_end_matches('.')),
            None => "Pending".to_owned(),
        },
        [(reason, count), rest @ ..] => {
            let mut text = format!("Pending because no node takes it: {}", one_reason(*count, reason));
            for (reason, count) in rest.iter().take(2) {
                text.push_str(", ");
                text.push_str(&one_reason(*count, reason));
            }
            if rest.len() > 2 {
                text.push_str(", and more");
            }
            text
        }
    }
}

fn one_reason(count: usize, reason: &str) -> String {
    format!("{reason} on {count}")
}

/// Reasons with the number of nodes that gave them, most frequent first, then as text.
pub fn reason_groups(view: &CycleView) -> Vec<(String, usize)> {
    let mut counts: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
    for reason in view.verdicts.values().flat_map(|v| v.status.reasons()) {
        *counts.entry(reason).or_default() += 1;
    }
    let mut groups: Vec<(String, usize)> = counts.into_iter().map(|(r, n)| (r.to_owned(), n)).collect();
    groups.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    groups
}

fn eviction(preemption: &PreemptionView, view: &CycleView) -> String {
    if let Some(reason) = &preemption.ineligible {
        return format!("it may not preempt ({})", reason.trim_end_matches('.'));
    }
    let Some((node, _)) = &preemption.selected else {
        return if preemption.potential_nodes.is_empty() {
            "evicting pods cannot help on any node".to_owned()
        } else if preemption.dry_runs.values().all(|run| run.steps.is_empty()) {
            "no node has a pod of lower priority to evict".to_owned()
        } else {
            let where_it_might_help = match preemption.potential_nodes.len() {
                1 => "the one node where that might help".to_owned(),
                n => format!("any of {n} nodes"),
            };
            format!("evicting every pod of lower priority would not make room on {where_it_might_help}")
        };
    };
    let Some(candidate) = preemption.candidates.get(node) else { return format!("it is nominated to {node}") };
    let budgets = match candidate.pdb_violations {
        0 if view.budgets_unknown() => "; whether that violates a budget is unknown".to_owned(),
        0 => " and violates no budget".to_owned(),
        1 => format!(" and violates the budget {}", violated(candidate)),
        n => format!(" and violates budgets {n} times ({})", violated(candidate)),
    };
    let pods = if candidate.victims.len() == 1 { "1 pod".to_owned() } else { format!("{} pods", candidate.victims.len()) };
    if view.evicted.is_empty() {
        format!("preempting {pods} on {node} makes room{budgets}")
    } else {
        format!("it preempts {pods} on {node}{budgets}")
    }
}

fn violated(candidate: &Candidate) -> String {
    let mut names: Vec<&str> = candidate.victims.iter().flat_map(|v| &v.violates).map(|b: &BudgetViolation| b.budget.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::PluginSet;
    use crate::trace::FailureReason;

    #[test]
    fn a_pod_that_had_a_node_and_lost_it_is_not_said_to_fit_nowhere() {
        let failure = |message: &str| Some((FailureReason::Unschedulable, message.into(), PluginSet::default()));
        let mut view = CycleView { outcome: Some(Outcome::Unschedulable), failure: failure("not yet."), ..CycleView::default() };
        assert_eq!(why(&view), "Pending: not yet.");
        view.selected = Some(("n1".into(), Selection::OnlyFeasibleNode, Vec::new().into()));
        assert_eq!(why(&view), "Pending although it was to run on n1: not yet.");
    }
}
