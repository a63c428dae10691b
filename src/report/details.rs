//! The parts of a decision that only a page to fold has room for: every node, every candidate with its pods, and every function of the
//! tie-break.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::text::{by_class, elimination_sentences, score_text, verdict_sign, victim_rows};
use crate::cluster::Str;
use crate::framework::PluginName;
use crate::output::{Document, Words};
use crate::plural::count;
use crate::trace::{CycleView, DryRunView, Fate, PreemptionView};

/// Limit on the nodes of one reason, and on those of a function of the tie-break.
const NODES: usize = 500;
/// Limit on the candidates, and on the nodes that are none.
const CANDIDATES: usize = 100;
/// Limit on the reprieved pods of a candidate.
const REPRIEVED: usize = 50;

/// Limit on the characters of a fact: of each node, a pod may lack thousands of resources.
const FACT: usize = 1_000;

/// Returns a fact, cut where it is too long, with the number of the characters that are left out.
fn beginning(fact: &str) -> Cow<'_, str> {
    match fact.char_indices().nth(FACT) {
        None => fact.into(),
        Some((at, _)) => format!("{}… (and {} more characters)", &fact[..at], fact[at..].chars().count()).into(),
    }
}

/// Adds all nodes, by reason.
pub(super) fn nodes(doc: &mut Document, view: &CycleView) {
    for group in by_class(view) {
        let number: usize = group.facts.iter().map(|(_, nodes)| nodes.len()).sum();
        let verdict = verdict_sign(group.class);
        let plugin = group.plugin.map_or_else(String::new, |plugin: PluginName| format!(": {}", plugin.as_str()));
        let message = if group.message.is_empty() { String::new() } else { format!(": {}", group.message) };
        doc.heading(3, format!("{verdict} {}{plugin}{message} ({})", count(number, "node"), group.class.eviction()));
        let mut all = group.facts.iter().flat_map(|(fact, nodes)| nodes.iter().map(move |node| (*node, fact)));
        for (node, fact) in all.by_ref().take(NODES) {
            let words = Words::of_node(node);
            doc.item(0, fact.as_ref().map_or_else(|| words.clone(), |fact| words.clone().text(format!(": {}", beginning(fact)))));
        }
        more(doc, all.count());
    }
}

/// Adds all candidates and the other nodes of the dry run. The victims of some are listed before.
pub(super) fn preemption(doc: &mut Document, found: &PreemptionView, listed: &[&Str], budgets_unknown: bool) {
    let all = found.all_candidates().count();
    if all > 0 {
        doc.heading(2, "Candidates");
    }
    // The chosen one is the first to read.
    let mut candidates: Vec<_> = found.all_candidates().collect();
    let chosen = found.selected().map(|(node, _)| node);
    candidates.sort_by_key(|candidate| Some(&candidate.node) != chosen);
    for candidate in candidates.iter().take(CANDIDATES) {
        let end = if Some(&candidate.node) == chosen { ", nominated" } else { "" };
        let violations = match candidate.pdb_violations {
            0 if budgets_unknown => "violations unknown".to_owned(),
            0 => "no violations".to_owned(),
            some => usize::try_from(some).map_or_else(|_| some.to_string(), |some| count(some, "violation")),
        };
        let victims = count(candidate.victims.len(), "victim");
        doc.heading(3, Words::of_node(&candidate.node).text(format!(": {victims}, {violations}{end}")));
        let rows = victim_rows(candidate, budgets_unknown);
        if listed.contains(&&candidate.node) {
            doc.paragraph("Its victims are listed above.");
        } else if let Some((head, rows)) = rows.split_first() {
            doc.table(head.iter().map(String::as_str), rows.iter().cloned());
        }
        found.dry_run(&candidate.node).into_iter().for_each(|run| reprieved(doc, run));
    }
    more(doc, all.saturating_sub(CANDIDATES));
    let mut failed: BTreeMap<String, Vec<&Str>> = BTreeMap::new();
    for run in found.dry_runs() {
        if let Some(status) = run.status().filter(|status| !status.is_success()) {
            failed.entry(status.message()).or_default().push(run.node());
        }
    }
    if !failed.is_empty() {
        doc.heading(2, "Nodes that are no candidates");
    }
    for (reason, nodes) in failed {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        doc.heading(3, format!("eviction does not help on {}{reason}", count(nodes.len(), "node")));
        nodes.iter().take(NODES).for_each(|node| doc.item(0, Words::of_node(node)));
        more(doc, nodes.len().saturating_sub(NODES));
    }
    if !found.score_functions().is_empty() {
        doc.heading(2, "Tie-break");
        doc.list(elimination_sentences(found));
        for function in found.score_functions() {
            doc.heading(
                3,
                format!("{} keeps {} of {}", function.name, function.remaining.len(), count(function.scores.len(), "candidate")),
            );
            let row = |(node, score): &(Str, i64)| {
                let kept = if function.remaining.binary_search(node).is_ok() { "remains" } else { "eliminated" };
                let value = found.candidate(node).and_then(|candidate| score_text(function, candidate, budgets_unknown));
                vec![node.to_string(), value.unwrap_or_else(|| score.to_string()), kept.to_owned()]
            };
            doc.table(["Node", "Value", "Result"], function.scores.iter().take(NODES).map(row));
            more(doc, function.scores.len().saturating_sub(NODES));
        }
    }
}

/// Adds the pods that a dry run puts back.
fn reprieved(doc: &mut Document, run: DryRunView<'_>) {
    let pods = run.pods();
    let names: Vec<_> = pods.iter().filter(|(_, fate)| matches!(fate, Fate::Reprieved(_))).map(|(pod, _)| pod.key()).collect();
    if names.is_empty() {
        return;
    }
    doc.paragraph("Reprieved:");
    names.iter().take(REPRIEVED).for_each(|name| doc.item(0, Words::of_pod(name)));
    more(doc, names.len().saturating_sub(REPRIEVED));
}

/// Says how many are left out.
fn more(doc: &mut Document, number: usize) {
    if number > 0 {
        doc.paragraph(format!("And {number} more."));
    }
}
