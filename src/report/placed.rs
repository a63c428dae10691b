//! A pod that has, or had, a node: why it is there, what evicted it, and whether the scheduler would decide so again.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::voices_lines;
use crate::analysis::{Missing, Preempted, VoiceReport, When, preempted};
use crate::cluster::{Key, ObservedEvent, Pod, Str};
use crate::output::{Document, Lines, Words};
use crate::scheduler::Scheduler;
use crate::trace::PreemptionView;

/// A pod with a node, as `explain POD -o json` prints it; with `--evicted`, one that was evicted.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedReport {
    pub pod: Str,
    pub namespace: Str,
    /// Its node; null for a pod that is gone or has none.
    pub node: Option<Str>,
    /// Whether it is being deleted there.
    #[serde(skip)]
    pub ends: bool,
    /// When it is gone, if it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<When>,
    /// When it was bound, if an event says so.
    pub bound: Option<Timestamp>,
    /// Why it is there, as far as the source shows, a sentence each.
    pub why: Vec<String>,
    /// Today's decision about a pod like it without it; null for a pod that is gone.
    pub again: Option<AgainReport>,
    /// Its evictions, newest first; null where they were not asked for, unless it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evictions: Option<Vec<EvictionReport>>,
    /// The words of others, newest first.
    pub others: Vec<VoiceReport>,
    /// The number of words that are left out, because there are too many about one object.
    #[serde(skip_serializing_if = "crate::analysis::is_zero")]
    pub others_left_out: usize,
    /// The kinds that are unknown, or known in part.
    pub missing: Vec<Missing>,
    /// The clock of the source.
    #[serde(skip)]
    pub now: Option<Timestamp>,
}

/// Today's decision about a pod that has a node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgainReport {
    /// Whether it would land on its node: `true`, `false`, or null where several nodes are equal, or its node is unknown.
    pub same: Option<bool>,
    /// Whether its node is one that the source may lack.
    #[serde(skip)]
    pub here_unknown: bool,
    /// The node that it would get; null if none.
    pub node: Option<Str>,
    /// The nodes that are equal.
    pub tied: Vec<Str>,
    /// The decision in a sentence.
    pub why: String,
}

#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvictionReport {
    /// The component that evicted it.
    pub speaker: Str,
    /// When, if known.
    pub at: Option<Timestamp>,
    /// The node that it ran on; null if unknown.
    pub node: Option<Str>,
    /// The pod that it was evicted for; null for other evictions, and if that pod is gone.
    pub preemptor: Option<String>,
    /// The eviction in a sentence.
    pub sentence: String,
    /// Why it and not another, and whether it would happen again, a sentence each.
    pub why: Vec<String>,
}

impl PlacedReport {
    /// Returns the report as text.
    pub fn text(&self) -> Lines {
        let mut out = Lines::default();
        match (&self.node, &self.evictions) {
            (Some(node), _) if self.ends => out.line(format_args!("{}/{} is being deleted on {node}", self.namespace, self.pod)),
            (Some(node), _) => out.line(format_args!("{}/{} is on {node}", self.namespace, self.pod)),
            (None, Some(_)) => out.line(format_args!("{}/{} has no node", self.namespace, self.pod)),
            (None, None) => {}
        }
        if let Some(when) = &self.when {
            section(&mut out, "WHEN", when.text.clone().into());
        }
        self.evictions_text(&mut out);
        if !self.why.is_empty() {
            section(&mut out, "WHY HERE", self.why.iter().cloned().collect());
        }
        if let Some(again) = &self.again {
            section(&mut out, "AGAIN", again.text(self.node.as_ref()));
        }
        if !self.others.is_empty() {
            section(&mut out, "OTHERS", voices_lines(&self.others, self.others_left_out, self.now));
        }
        out
    }

    fn evictions_text(&self, out: &mut Lines) {
        let Some(evictions) = &self.evictions else { return };
        let mut lines = Lines::default();
        for eviction in evictions {
            lines.push(eviction.sentence.as_str());
            lines.extend(eviction.why.iter().cloned().collect::<Lines>().indented(2));
        }
        if evictions.is_empty() {
            lines.push("The source shows no eviction of this pod; events expire after an hour by default.");
        }
        section(out, "EVICTIONS", lines);
    }
}

impl EvictionReport {
    /// Reports a preemption that an event or a condition records.
    pub fn of_preemption(eviction: &Preempted, scheduler: &Scheduler) -> Self {
        let cluster = scheduler.state().cluster();
        let named = eviction.preemptor.as_ref().or(eviction.gone.as_ref());
        let by = named.map_or_else(|| eviction.by.clone(), Key::to_string);
        let at = eviction.at.map_or_else(String::new, |at| format!(" at {at}"));
        let place = if eviction.node.is_empty() { String::new() } else { format!(" on {}", eviction.node) };
        let whom = if by.is_empty() { "a pod that the source does not name".to_owned() } else { by };
        let mut why = Vec::new();
        let preemptor = eviction.preemptor.as_ref().and_then(|key| cluster.pods.get(key));
        if let (Some(victim), Some(preemptor)) = (cluster.pods.get(&eviction.victim), preemptor) {
            why.push(format!("Its priority {} is below {}, that of {}.", victim.priority(), preemptor.priority(), preemptor.key()));
        }
        if let Some(preemptor) = preemptor {
            why.push(today(&eviction.victim, preemptor, scheduler));
        }
        Self {
            speaker: preemptor.map_or_else(Str::default, |pod| pod.spec.scheduler_name.clone()),
            at: eviction.at,
            node: Some(eviction.node.clone()).filter(|node| !node.is_empty()),
            preemptor: eviction.preemptor.as_ref().map(Key::to_string),
            sentence: format!("{whom} preempted it{place}{at}."),
            why,
        }
    }
}

/// Returns whether the preemptor would evict the victim today.
fn today(victim: &Key, preemptor: &Arc<Pod>, scheduler: &Scheduler) -> String {
    let by = preemptor.key();
    if !preemptor.node_name.is_empty() {
        return format!("{by} runs on {} now, and needs no room any more.", preemptor.node_name);
    }
    let view = scheduler.view_of(preemptor);
    if let Some(victims) = view.preemption.as_ref().and_then(PreemptionView::waits_for) {
        return format!("{by} waits for the pods evicted for it on {} to end.", victims.node);
    }
    let candidate = view.preemption.as_ref().and_then(|found| found.candidate(found.selected()?.0));
    match candidate {
        None => format!("{by} would preempt no pod today."),
        Some(candidate) if candidate.victims.iter().any(|v| v.key() == *victim) => format!("{by} would preempt it again today."),
        Some(candidate) => {
            let names = candidate.victims.iter().map(|v| v.key().to_string()).collect::<Vec<_>>().join(", ");
            format!("{by} would preempt others today: {names}.")
        }
    }
}

/// Returns the preemptions of a pod that events and conditions record, the newest first, with when the pod is gone; `None` without
/// one.
pub fn recorded_preemptions(pod: &Key, scheduler: &Scheduler, events: &[ObservedEvent]) -> Option<Document> {
    let cluster = scheduler.state().cluster();
    let of_pod: Vec<Preempted> = preempted(cluster, events).into_iter().filter(|eviction| eviction.victim == *pod).collect();
    let mut out = Document::default();
    for eviction in of_pod.iter().rev() {
        let report = EvictionReport::of_preemption(eviction, scheduler);
        out.item(0, report.sentence);
        report.why.into_iter().for_each(|why| out.item(2, why));
        if let Some(by) = &eviction.preemptor {
            out.item(2, Words::from("see ").pod(by));
        }
    }
    if let Some(when) = cluster.pods.get(pod).and_then(|pod: &Arc<Pod>| When::of_ending(pod, scheduler.state().clock())) {
        out.item(0, when.text);
    }
    (!of_pod.is_empty()).then_some(out)
}

impl AgainReport {
    fn text(&self, here: Option<&Str>) -> Lines {
        let here = here.map_or("", Str::as_str);
        let first = match (self.same, &self.node) {
            (_, Some(node)) if self.here_unknown => {
                format!(
                    "The source does not have {here}, so whether it would land there again is unknown; of the nodes that are known it would get {node}."
                )
            }
            (_, None) if self.here_unknown => {
                format!("The source does not have {here}, so whether it would land there again is unknown.")
            }
            (Some(true), _) => "It would land on the same node again.".to_owned(),
            (Some(false), Some(node)) => format!("It would land on {node} now."),
            (None, _) => format!("{} nodes are equal, {} among them; kube-scheduler picks one at random.", self.tied.len(), here),
            (Some(false), None) => "It would find no node now.".to_owned(),
        };
        let mut out: Lines = first.into();
        out.push(self.why.as_str());
        out
    }
}

fn section(out: &mut Lines, heading: &str, lines: Lines) {
    if !out.is_empty() {
        out.blank();
    }
    out.push(heading);
    out.extend(lines.indented(2));
}
