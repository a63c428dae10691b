//! The answers about all pending pods, what-ifs, a workload and two dumps, as documents.

use super::{WhatIfReport, voices_lines};
use crate::analysis::workload::lost;
use crate::analysis::{Agreements, CauseReport, DumpDiff, UnknownKind, WorkloadCause, WorkloadReport, capitalized, unknown_policies_text};
use crate::output::Document;
use crate::plural::count;

/// Limit on the pods of a cause that a document names.
const NAMED: usize = 20;

/// Returns the pending pods with their causes, each with its fix and commands.
pub(super) fn pending(found: &Agreements, more: Document) -> Document {
    let mut doc = Document::default();
    doc.heading(1, "Pending pods");
    doc.paragraph(found.summary());
    if !found.causes.is_empty() {
        let row = |cause: &CauseReport| {
            let preemption = cause.preemption_words();
            vec![cause.count().to_string(), cause.sentence.clone(), preemption, cause.fix_words().to_owned()]
        };
        doc.heading(2, "Causes");
        doc.table(["Pods", "Cause", "Preemption", "Fix"], found.causes.iter().map(row));
        for cause in &found.causes {
            doc.heading(3, format!("{}: {}", count(cause.count(), "pod"), cause.sentence));
            let names = cause.names();
            let more = names.len().saturating_sub(NAMED);
            let more = (more > 0).then(|| format!("and {more} more"));
            doc.list(names.iter().take(NAMED).map(String::as_str).chain(more.as_deref()));
            let commands = cause.fix.as_ref().map(|fix| fix.fix.commands()).unwrap_or_default();
            if !commands.is_empty() {
                doc.paragraph(cause.fix_words());
                doc.code(0, commands);
            }
            let unknown = cause.fix.as_ref().and_then(|fix| unknown_policies_text(&fix.unknown_policies));
            if let Some(words) = unknown {
                doc.paragraph(format!("{}.", capitalized(&words)));
            }
        }
    }
    doc.append(found.details());
    doc.append(more);
    doc
}

/// Returns the answers of what-ifs.
pub(super) fn what_if(found: &WhatIfReport, more: Document) -> Document {
    let mut doc = Document::default();
    doc.heading(1, "What if");
    doc.append(found.document());
    doc.append(more);
    doc
}

/// Returns a workload's page with its heading.
pub(super) fn workload(found: &WorkloadReport, more: Document) -> Document {
    let mut doc = Document::default();
    doc.heading(1, format!("{} in namespace {}", found.workload, found.workload.key.namespace));
    doc.append(workload_document(found));
    doc.append(more);
    doc
}

/// Returns a workload: why it is short, its pods, the causes of the missing ones, and the words of others.
pub fn workload_document(found: &WorkloadReport) -> Document {
    let mut doc = Document::default();
    doc.paragraph(found.why.as_str());
    doc.blank();
    doc.heading(2, "Pods");
    doc.table(["Pods", "Number"], found.rows().map(|(name, number)| vec![name.to_owned(), number]));
    let (remarks, causes): (Vec<&WorkloadCause>, Vec<&WorkloadCause>) = found.causes.iter().partition(|cause| cause.lost() == 0);
    for (heading, causes) in [("Causes", causes), ("Remarks", remarks)] {
        if causes.is_empty() {
            continue;
        }
        doc.blank();
        doc.heading(2, heading);
        for cause in causes {
            let begin = if cause.lost() > 0 { format!("{}: ", lost(cause.stage, cause.lost())) } else { String::new() };
            doc.paragraph(format!("{begin}{}", cause.sentence));
            if !cause.fix_words.is_empty() {
                doc.paragraph(cause.fix_words.as_str());
            }
            doc.code(3, cause.commands());
            // The pods come last: they may be many.
            cause.pods.iter().take(NAMED).for_each(|pod| doc.item(2, pod.as_str()));
            let more = cause.pods.len().saturating_sub(NAMED);
            if more > 0 {
                doc.item(2, format!("and {more} more"));
            }
        }
    }
    if !found.others.is_empty() {
        doc.blank();
        doc.heading(2, "Words of others");
        doc.code(0, voices_lines(&found.others, found.others_left_out, found.now));
    }
    if !found.missing_kinds.is_empty() {
        doc.blank();
        doc.heading(2, "Unknowns");
        doc.list(found.missing_kinds.iter().map(UnknownKind::sentence));
    }
    doc
}

/// Returns the differences of two states.
pub(super) fn diff(found: &DumpDiff, more: Document) -> Document {
    let mut doc = Document::default();
    doc.heading(1, "Differences");
    doc.append(found.document());
    doc.append(more);
    doc
}
