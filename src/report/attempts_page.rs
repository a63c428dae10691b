//! Attempts of the cluster's scheduler about a pod, each beside our decision, as a document.

use crate::analysis::{JudgedAttempt, JudgedAttempts};
use crate::output::{Document, Words};
use crate::plural::count;
use crate::session::ReportedOutcome;

/// Writes the attempts as items; none if there are none.
pub fn attempts_document(found: &JudgedAttempts) -> Document {
    let mut out = Document::default();
    if found.more > 0 {
        out.item(2, format!("{} are not compared", count(found.more, "older attempt")));
    }
    for JudgedAttempt { attempt, accord, words } in &found.attempts {
        let by = attempt.by.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let at = attempt.at.strftime("%Y-%m-%d %H:%M:%SZ");
        let head = match &attempt.outcome {
            ReportedOutcome::Bound(node) => Words::from(format!("{at}: bound to ")).node(node),
            ReportedOutcome::Failed(message) => Words::from(format!("{at}: {message}")),
        };
        out.item(2, head.text(format!(" ({by})")));
        let accord = accord.map_or("not known", |accord| accord.words(1));
        out.item(4, format!("{accord}: {words}"));
    }
    out
}
