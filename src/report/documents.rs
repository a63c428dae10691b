//! Answers about many pods as documents.

use super::WhatIfReport;
use crate::analysis::{Agreements, CauseReport};
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
