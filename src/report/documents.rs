//! Answers about many pods as Markdown documents.

use super::{WhatIfReport, body};
use crate::analysis::{Agreements, CauseReport};
use crate::output::{Lines, Markdown, Text};
use crate::plural::count;

/// Limit on the pods of a cause that a document names.
const NAMED: usize = 20;

/// Returns the pending pods with their causes, each with its fix and commands.
pub(super) fn pending(found: &Agreements, more: &Lines) -> Text {
    let mut doc = Markdown::default();
    doc.heading(1, "Pending pods");
    let lines = found.text().into_vec();
    let mut rest = lines.into_iter();
    doc.paragraph(&rest.next().unwrap_or_default());
    if !found.causes.is_empty() {
        let row = |cause: &CauseReport| {
            let preemption = cause.preemption_words();
            vec![cause.count().to_string(), cause.sentence.clone(), preemption, cause.fix_words().to_owned()]
        };
        doc.heading(2, "Causes");
        doc.table(&["Pods", "Cause", "Preemption", "Fix"], found.causes.iter().map(row));
        for cause in &found.causes {
            doc.heading(3, &format!("{}: {}", count(cause.count(), "pod"), cause.sentence));
            let names = cause.names();
            let more = names.len().saturating_sub(NAMED);
            let more = (more > 0).then(|| format!("and {more} more"));
            doc.list(names.iter().take(NAMED).map(String::as_str).chain(more.as_deref()));
            let commands = cause.fix.as_ref().map(|fix| fix.fix.command_lines()).unwrap_or_default();
            if !commands.is_empty() {
                doc.paragraph(cause.fix_words());
                doc.code(&commands.into_iter().collect());
            }
        }
    }
    let rest: Vec<String> = rest.chain(more.iter().map(str::to_owned)).collect();
    body(&mut doc, &rest);
    doc.finish()
}

/// Returns the answers of what-ifs.
pub(super) fn what_if(found: &WhatIfReport, more: &Lines) -> Text {
    let mut doc = Markdown::default();
    doc.heading(1, "What if");
    let lines: Vec<String> = found.text().into_vec().into_iter().chain(more.iter().map(str::to_owned)).collect();
    body(&mut doc, &lines);
    doc.finish()
}
