//! A workload's funnel and causes, and the words of others, as text.

use jiff::Timestamp;

use super::overview::named;
use crate::analysis::workload::{ago, lost};
use crate::analysis::{VoiceReport, WorkloadCause, WorkloadReport};
use crate::output::Lines;

/// Limit on the voices shown in text.
const SHOWN: usize = 12;

impl WorkloadReport {
    /// Returns the report as text.
    pub fn text(&self) -> Lines {
        let mut out = Lines::default();
        out.line(format_args!("{} in namespace {}", self.workload, self.workload.key.namespace));
        out.push(self.why.as_str());
        out.blank();
        out.push("PODS");
        let rows = self.rows();
        let width = rows.iter().map(|(_, n)| n.len()).max().unwrap_or(0);
        for (name, n) in rows {
            out.line(format_args!("  {name:<14}  {n:>width$}"));
        }
        self.causes_text(&mut out);
        if !self.others.is_empty() {
            out.blank();
            out.push("OTHERS");
            out.extend(voices_lines(&self.others, self.others_left_out, self.now).indented(2));
        }
        if !self.missing_kinds.is_empty() {
            out.blank();
            out.push("UNKNOWN");
            for unknown in &self.missing_kinds {
                out.line(format_args!("  {}", unknown.sentence()));
            }
        }
        out
    }

    /// Returns the numbers with their names; `?` for one that is unknown.
    pub(super) fn rows(&self) -> [(&'static str, String); 7] {
        let numbers = [
            ("wanted", self.desired),
            ("created", self.created),
            ("gated", self.gated),
            ("without a node", self.unscheduled),
            ("bound", self.bound),
            ("ready", self.ready),
            ("missing", self.missing),
        ];
        numbers.map(|(name, number)| (name, number.map_or_else(|| "?".to_owned(), |number| number.to_string())))
    }

    fn causes_text(&self, out: &mut Lines) {
        let (remarks, causes): (Vec<&WorkloadCause>, Vec<&WorkloadCause>) = self.causes.iter().partition(|cause| cause.lost() == 0);
        for (heading, causes) in [("CAUSES", causes), ("REMARKS", remarks)] {
            if causes.is_empty() {
                continue;
            }
            out.blank();
            out.push(heading);
            for cause in causes {
                let begin = if cause.lost() > 0 { format!("{}: ", lost(cause.stage, cause.lost())) } else { String::new() };
                out.line(format_args!("  {begin}{}", cause.sentence));
                if !cause.pods.is_empty() {
                    out.line(format_args!("    {}", named(&cause.pods)));
                }
                if !cause.fix_words.is_empty() {
                    out.line(format_args!("    {}", cause.fix_words));
                }
                for command in cause.commands() {
                    out.line(format_args!("       {command}"));
                }
            }
        }
    }
}

/// Returns voices as lines, newest first. `left_out` is the number of others.
pub fn voices_lines(voices: &[VoiceReport], left_out: usize, now: Option<Timestamp>) -> Lines {
    let mut out = Lines::default();
    for VoiceReport { voice, means } in voices.iter().take(SHOWN) {
        let age = ago(voice.last, now).map_or_else(String::new, |age| format!(", {age}"));
        let times = if voice.count > 1 { format!(", {} times", voice.count) } else { String::new() };
        let speaker = if voice.speaker.is_empty() { "unknown" } else { voice.speaker.as_str() };
        let reason = if voice.reason.is_empty() { "without a reason" } else { voice.reason.as_str() };
        out.line(format_args!("{speaker} on {}{age}{times}: {reason}", voice.about));
        out.line(format_args!("  {}", voice.text));
        if let Some(means) = means {
            out.line(format_args!("  {means}"));
        }
    }
    let more = voices.len().saturating_sub(SHOWN) + left_out;
    if more > 0 {
        out.line(format_args!("and {more} more"));
    }
    out
}
