//! The comparison of two branches as text.

use std::fmt::Write as _;

use crate::analysis::{Missing, capitalized};
use crate::cluster::Str;
use crate::framework::Status;
use crate::output::{Document, Words};
use crate::plural::{count, count_of};
use crate::session::{Action, Comparison, Decided, PodDifference, PodLocation, UpgradeComparison};
use crate::trace::VerdictClass;

/// Limit on node names listed in a line.
const NODES: usize = 6;
/// Limit on the pods listed that move on both branches.
const ANYWAY: usize = 20;

/// Returns a comparison of branches.
pub fn comparison(compared: &Comparison) -> Document {
    let mut doc = Document::default();
    let [a, b] = &compared.names;
    branches(&mut doc, compared);
    let at = |at: &PodLocation| location(at, compared.settled);
    if compared.is_empty() {
        doc.blank();
        match &compared.upgrade {
            None if !compared.settled && compared.decided_nothing_since() => {
                doc.paragraph("No pod was scheduled since they diverge, so nothing differs yet but the changes themselves.");
            }
            None => doc.paragraph("Nothing differs: the same placements, queues, victims and verdicts."),
            Some(upgraded) => doc.append(upgrade(upgraded)),
        }
        anyway(&mut doc, compared, a);
        return doc;
    }
    if let Some(upgraded) = &compared.upgrade {
        doc.blank();
        doc.append(upgrade(upgraded));
    }
    if !compared.pods.is_empty() {
        doc.blank();
        doc.heading(2, format!("{} elsewhere ({a} → {b})", count(compared.pods.len(), "pod")));
        for pod in &compared.pods {
            doc.item(2, Words::of_pod(&pod.pod).text(": ").words(at(&pod.at[0])).text(" → ").words(at(&pod.at[1])));
        }
    }
    for (name, evicted) in compared.names.iter().zip(&compared.evicted).filter(|(_, list)| !list.is_empty()) {
        doc.blank();
        doc.heading(2, format!("Evicted only on {name}"));
        for pod in evicted {
            doc.item(2, Words::of_pod(pod));
        }
    }
    if !compared.decisions.is_empty() {
        doc.blank();
        let n = compared.decisions.len();
        doc.heading(2, format!("{} {}", count(n, "decision"), if n == 1 { "differs" } else { "differ" }));
        for decided in &compared.decisions {
            decision(&mut doc, decided, &compared.names);
        }
    }
    reasons(&mut doc, compared);
    anyway(&mut doc, compared, a);
    doc
}

/// Adds where the branches diverge, and what was done on each since.
fn branches(doc: &mut Document, compared: &Comparison) {
    let heading = match compared.shared {
        0 => "They diverge from the start".to_owned(),
        shared => format!("They share {} and then diverge", count(shared, "revision")),
    };
    doc.heading(2, heading);
    for (name, since) in compared.names.iter().zip(&compared.since) {
        let did = match since.as_slice() {
            [] => "no more operations".to_owned(),
            [first] => action_text(first),
            [first, rest @ ..] => format!("{}, and {} more", action_text(first), rest.len()),
        };
        doc.item(2, format!("{name}: {did}"));
    }
    if compared.settled {
        doc.paragraph("Both are compared after running until nothing changes.");
    }
}

/// Adds the pods that stay pending on both branches, for reasons that differ.
fn reasons(doc: &mut Document, compared: &Comparison) {
    if compared.reasons.is_empty() {
        return;
    }
    let more = compared.reasons.len().saturating_sub(NODES);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    let all = count_of(compared.reasons.len(), "pod stays", "pods stay");
    doc.blank();
    doc.heading(2, format!("{all} pending on both, for reasons that differ"));
    let mut words = Words::default();
    for (at, pod) in compared.reasons.iter().take(NODES).enumerate() {
        words = if at == 0 { words.pod(pod) } else { words.text(", ").pod(pod) };
    }
    doc.item(2, words.text(more));
}

/// Returns where a pod is; `settled` after running until nothing changes.
fn location(at: &PodLocation, settled: bool) -> Words {
    match at {
        PodLocation::Node(node) => Words::from("on ").node(node),
        _ if settled => at.settled().into(),
        _ => at.to_string().into(),
    }
}

/// Adds the pods that move without the changes too.
fn anyway(doc: &mut Document, compared: &Comparison, without: &str) {
    if compared.anyway.is_empty() {
        return;
    }
    let all = compared.anyway.len();
    doc.blank();
    doc.heading(2, format!("{} on both, with or without the changes since {without}", count_of(all, "pod moves", "pods move")));
    for PodDifference { pod, at } in compared.anyway.iter().take(ANYWAY) {
        doc.item(2, Words::of_pod(pod).text(": ").words(location(&at[0], false)).text(" → ").words(location(&at[1], true)));
    }
    if all > ANYWAY {
        doc.item(2, format!("and {} more", all - ANYWAY));
    }
}

/// Returns the differences of two releases about pending pods, like those of [`comparison`].
pub fn upgrade(compared: &UpgradeComparison) -> Document {
    let UpgradeComparison { versions, pods, otherwise, other_reasons, unknown } = compared;
    let [from, to] = versions;
    let heading = |n: usize, rest: &str| {
        let verb = if n == 1 { "is" } else { "are" };
        format!("{n} of {} {verb} {rest}", count(*pods, "pending pod"))
    };
    let mut doc = Document::default();
    if *pods == 0 {
        let unknown = Missing::all(*unknown).iter().find_map(Missing::leaves_pending_unknown);
        let none = unknown.map_or_else(|| "No pod is pending".to_owned(), |unknown| format!("{}; none is known", capitalized(&unknown)));
        doc.paragraph(format!("{none}, so there is nothing to compare for kube-scheduler {from} and {to}."));
        return doc;
    }
    if otherwise.is_empty() {
        let all = if *pods == 1 { "the only pending pod".to_owned() } else { format!("all {}", count(*pods, "pending pod")) };
        doc.paragraph(format!("Outcome, node and victims of {all} are the same for kube-scheduler {from} and {to}."));
    } else {
        doc.heading(2, heading(otherwise.len(), &format!("decided differently by kube-scheduler {to} than by {from}")));
        for decided in otherwise {
            decision(&mut doc, decided, versions);
        }
    }
    if !other_reasons.is_empty() {
        doc.blank();
        doc.heading(2, heading(other_reasons.len(), "decided the same way, for different reasons"));
        for decided in other_reasons {
            decision(&mut doc, decided, versions);
        }
    }
    doc
}

/// Returns an operation in words.
fn action_text((action, title): &(Action, String)) -> String {
    match action {
        Action::Explain(pod) => format!("dry decision about {pod}"),
        _ => title.clone(),
    }
}

fn decision(doc: &mut Document, decided: &Decided, names: &[String; 2]) {
    doc.item(2, Words::of_pod(&decided.pod));
    for (i, name) in names.iter().enumerate() {
        let mut line = format!("{name}: {}", decided.outcomes[i].as_deref().unwrap_or("not tried since"));
        if let Some((node, victims)) = &decided.victims[i] {
            let victims: Vec<String> = victims.iter().map(ToString::to_string).collect();
            let _ = write!(line, " Preemption: {node}, evicting {}", victims.join(", "));
        }
        doc.item(4, line);
    }
    for change in &decided.verdicts {
        let [from, to] = change.verdicts.each_ref().map(|v| verdict(v.as_ref(), change.is_of_code()));
        let mut nodes: Vec<&str> = change.nodes.iter().take(NODES).map(Str::as_str).collect();
        if change.nodes.len() > NODES {
            nodes.push("…");
        }
        doc.item(4, format!("{}: {from} → {to} ({})", count(change.nodes.len(), "node"), nodes.join(", ")));
    }
    for change in &decided.scores {
        let [from, to] = change.scores.map(|score| score.map_or_else(|| "none".to_owned(), |score| score.to_string()));
        doc.item(4, Words::from("score of ").node(&change.node).text(format!(" by {}: {from} → {to}", change.plugin)));
    }
}

fn verdict(status: Option<&Status>, with_help: bool) -> String {
    match status {
        None => "not evaluated".to_owned(),
        Some(status) if status.is_success() => "fits".to_owned(),
        Some(status) if with_help => format!("{}, {}", status.message(), VerdictClass::of(status).eviction()),
        Some(status) => status.message(),
    }
}

#[cfg(test)]
mod tests;
