//! The answer about a pod in short: a sentence, the best fix with its command, and the command that takes the decision again.

use std::fmt::Write as _;

use super::object_text::{Finding, Sources};
use crate::analysis::{FixesReport, why};
use crate::cluster::{Key, Kind};
use crate::fixes::{self, Limits};
use crate::limits::engine::{GROUP_STEPS, OVERVIEW_FIX_STEPS};
use crate::session::Session;
use crate::trace::Outcome;

/// Limits of the search for the best fix, which is not shown while it runs.
const LIMITS: Limits = Limits { trials: 400, alike: 32, deletions: 8, steps: OVERVIEW_FIX_STEPS, group_steps: GROUP_STEPS };

/// Returns the answer about a pod at the cursor; `None` without such a pod.
pub(super) fn short_answer(session: &Session, sources: &Sources, key: &Key) -> Option<String> {
    let scheduler = session.scheduler_here();
    let cluster = scheduler.state().cluster();
    let pod = cluster.pods.get(key)?;
    if !pod.node_name.is_empty() {
        return Some(format!("{key} is on {}\n", pod.node_name));
    }
    let view = scheduler.view_of(pod).showing(key);
    let mut answer = format!("{key}: {}\n", why(&view));
    if view.outcome != Some(Outcome::Scheduled) {
        let finding = Finding::new(session, sources);
        let originals = |kind: Kind, key: &Key| finding.original(kind, key);
        let background = finding.background(&originals);
        let found = fixes::find(scheduler, pod, LIMITS, background, &|_| true);
        let report = FixesReport::new(&found, cluster, background.source());
        if !report.preempts.is_empty() {
            let _ = writeln!(answer, "No fix is needed: {}", report.preempts);
        }
        let title = if report.preempts.is_empty() { "Fix" } else { "Without evictions" };
        match report.fixes.first() {
            Some(fix) => {
                let last = fix.last_resort.as_ref().map_or_else(String::new, |why| format!(" (only if nothing else helps: {why})"));
                let _ = writeln!(answer, "{title}: {}: {}{last}", fix.text, fix.result);
                answer.extend(fix.kubectl.iter().map(|commands| format!("{commands}\n")));
                answer.extend(fix.no_command.iter().map(|why| format!("No command: {why}\n")));
                answer.extend(fix.template_words().map(|words| format!("{words}\n")));
            }
            None if report.preempts.is_empty() => {
                answer.push_str("No fix found\n");
                answer.extend(report.not_proposed.iter().map(|text| format!("Not proposed: {text}\n")));
            }
            None => {}
        }
    }
    let is_known = session.scheduler_as_seen().state().cluster().pods.get(key).is_some();
    if let Some(reproduction) = sources.reproduction.as_ref().filter(|_| is_known) {
        let _ = writeln!(answer, "{}", reproduction.command(key));
    }
    Some(answer)
}
