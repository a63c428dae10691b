//! All pending pods at a glance, as documents.

use std::collections::BTreeSet;

use crate::analysis::{Cause, CauseReport, Overview, Stage, unknown_policies_text};
use crate::cluster::Key;
use crate::output::{Document, Lines, Words};
use crate::plural::count;

/// Limit on the pods of a cause named in text.
const NAMED: usize = 6;

impl Overview {
    /// Returns the causes with their pods and fixes.
    pub fn document(&self) -> Document {
        let mut doc = Document::default();
        doc.paragraph(count(self.pending, "pending pod"));
        let left = self.pending.saturating_sub(self.pods.len());
        if left > 0 {
            doc.paragraph(not_decided(left, self.stage));
        }
        for cause in &self.causes {
            let pods = cause.count();
            doc.blank();
            doc.heading(2, count(pods, "pod"));
            doc.item(2, format!("{}{}", cause.sentence, cause.preemption.clause(cause.helped, pods)));
            doc.item(2, named_pods(cause));
            doc.item(2, cause.fix_words());
            doc.code(5, cause.fix.found().map(|fix| fix.fix.commands()).unwrap_or_default());
            cause.fix.found().and_then(|fix| fix.fix.template_words()).into_iter().for_each(|words| doc.item(2, words));
            let unknown = cause.fix.found().and_then(|fix| unknown_policies_text(&fix.unknown_policies));
            if let Some(words) = unknown {
                doc.item(2, words);
            }
        }
        doc
    }
}

/// Returns that a number of pods is not decided, and why.
fn not_decided(pods: usize, stage: Stage) -> String {
    let are = if pods == 1 { "is" } else { "are" };
    let why = match stage {
        Stage::OutOfSteps => ": the others took all steps",
        Stage::Stopped => ": it was stopped",
        Stage::Deciding | Stage::Searching(..) | Stage::Complete => " so far",
    };
    format!("{pods} {are} not decided{why}")
}

/// Returns the first pods of a cause, or its workloads, and how many more there are.
fn named_pods(cause: &Cause) -> Words {
    if !cause.workloads.is_empty() {
        return named(&cause.names()).into();
    }
    let pods: &[Key] = &cause.pods;
    let mut words = Words::default();
    for (at, pod) in pods.iter().take(NAMED).enumerate() {
        words = if at == 0 { words.pod(pod) } else { words.text(", ").pod(pod) };
    }
    match pods.len().saturating_sub(NAMED) {
        0 => words,
        more => words.text(format!(" and {more} more")),
    }
}

/// Returns the first names, and the number of the others.
pub(super) fn named(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", "))
}

/// Returns the causes as text; empty without causes.
pub fn causes_text(causes: &[CauseReport]) -> Lines {
    let mut out = Lines::default();
    if causes.is_empty() {
        return out;
    }
    out.blank();
    out.push("CAUSES");
    for cause in causes {
        let preemption = cause.preemption.clause(cause.helped, cause.pods.len());
        out.line(format_args!("  {}: {}{preemption}", count(cause.count(), "pod"), cause.sentence));
        out.line(format_args!("    {}", named(&cause.names())));
        out.line(format_args!("    {}", cause.fix_words()));
    }
    let unknown: BTreeSet<&String> = causes.iter().filter_map(|cause| cause.fix.as_ref()).flat_map(|fix| &fix.unknown_policies).collect();
    if let Some(words) = unknown_policies_text(unknown) {
        out.line(format_args!("  {words}"));
    }
    out.blank();
    out
}
