//! A pod that has, or had, a node: why it is there, what evicted it, and whether the scheduler would decide so again.

use jiff::Timestamp;
use serde::Serialize;

use super::voices_lines;
use crate::analysis::VoiceReport;
use crate::cluster::Str;
use crate::output::Lines;

/// A pod with a node, as `explain POD -o json` prints it; with `--evicted`, one that was evicted.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PlacedReport {
    /// The pod.
    pub pod: Str,
    /// Its namespace.
    pub namespace: Str,
    /// Its node; null for a pod that is gone or has none.
    pub node: Option<Str>,
    /// Whether it is being deleted there.
    #[serde(skip)]
    pub ends: bool,
    /// When it was bound, if an event says so.
    pub bound: Option<Timestamp>,
    /// Why it is there, as far as the source shows, a sentence each.
    pub why: Vec<String>,
    /// Today's decision about a pod like it without it; null for a pod that is gone.
    pub again: Option<AgainReport>,
    /// Its evictions, newest first; null where they were not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evictions: Option<Vec<EvictionReport>>,
    /// The words of others, newest first.
    pub others: Vec<VoiceReport>,
    /// The clock of the source.
    #[serde(skip)]
    pub now: Option<Timestamp>,
}

/// Today's decision about a pod that has a node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AgainReport {
    /// Whether it would land on its node: `true`, `false`, or null where several nodes are equal.
    pub same: Option<bool>,
    /// The node that it would get; null if none.
    pub node: Option<Str>,
    /// The nodes that are equal.
    pub tied: Vec<Str>,
    /// The decision in a sentence.
    pub why: String,
}

/// An eviction.
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
        self.evictions_text(&mut out);
        if !self.why.is_empty() {
            section(&mut out, "WHY HERE", self.why.iter().cloned().collect());
        }
        if let Some(again) = &self.again {
            section(&mut out, "AGAIN", again.text(self.node.as_ref()));
        }
        if !self.others.is_empty() {
            section(&mut out, "OTHERS", voices_lines(&self.others, self.now));
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

impl AgainReport {
    fn text(&self, here: Option<&Str>) -> Lines {
        let first = match (self.same, &self.node) {
            (Some(true), _) => "It would land on the same node again.".to_owned(),
            (Some(false), Some(node)) => format!("It would land on {node} now."),
            (None, _) => format!(
                "{} nodes are equal, {} among them; kube-scheduler picks one at random.",
                self.tied.len(),
                here.map_or("", Str::as_str)
            ),
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
