//! All pending pods at a glance, as text.

use crate::analysis::{CauseReport, Overview};
use crate::cluster::Key;
use crate::output::Lines;
use crate::plural::count;

/// Limit on the pods of a cause named in text.
const NAMED: usize = 6;

impl Overview {
    /// Returns the causes with their pods and fixes as text. Headings are not indented and end in a colon.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![count(self.pending, "pending pod")];
        for cause in &self.causes {
            let pods = cause.pods.len();
            lines.push(String::new());
            lines.push(format!("{}:", count(pods, "pod")));
            lines.push(format!("  {}{}", cause.sentence, cause.preemption.clause(cause.helped, pods)));
            let named: Vec<String> = cause.pods.iter().take(NAMED).map(Key::to_string).collect();
            let more = pods.saturating_sub(NAMED);
            lines.push(format!("  {}{}", named.join(", "), if more == 0 { String::new() } else { format!(" and {more} more") }));
            lines.push(format!("  {}", cause.fix.words(pods)));
            let commands = cause.fix.found().map(|fix| fix.fix.command_lines()).unwrap_or_default();
            lines.extend(commands.into_iter().map(|command| format!("     {command}")));
        }
        lines
    }
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
        out.line(format_args!("  {}: {}{preemption}", count(cause.pods.len(), "pod"), cause.sentence));
        let shown = cause.pods.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = cause.pods.len().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        out.line(format_args!("    {shown}{more}"));
        out.line(format_args!("    {}", cause.fix_words()));
    }
    out.blank();
    out
}
