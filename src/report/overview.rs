//! All pending pods at a glance, as text.

use crate::analysis::{CauseReport, Overview};
use crate::output::Lines;
use crate::plural::count;

/// Limit on the pods of a cause named in text.
const NAMED: usize = 6;

impl Overview {
    /// Returns the causes with their pods and fixes as text. Headings are not indented and end in a colon.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![count(self.pending, "pending pod")];
        for cause in &self.causes {
            let pods = cause.count();
            lines.push(String::new());
            lines.push(format!("{}:", count(pods, "pod")));
            lines.push(format!("  {}{}", cause.sentence, cause.preemption.clause(cause.helped, pods)));
            lines.push(format!("  {}", named(&cause.names())));
            lines.push(format!("  {}", cause.fix.words(pods)));
            let commands = cause.fix.found().map(|fix| fix.fix.command_lines()).unwrap_or_default();
            lines.extend(commands.into_iter().map(|command| format!("     {command}")));
        }
        lines
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
    out.blank();
    out
}
