//! Attempts and moves of a log in sentences.

use std::fmt::Write as _;

use super::LogReport;
use crate::plural::count;
use crate::scheduler_log::{Attempt, Cause, Change, Outcome, Place};

const QUEUE_NAMES: [(Place, &str); 3] =
    [(Place::Active, "activeQ"), (Place::Backoff, "backoffQ"), (Place::Unschedulable, "unschedulablePods")];

pub(crate) fn queue_name(place: Place) -> &'static str {
    QUEUE_NAMES.iter().find(|(of, _)| *of == place).map_or("", |(_, name)| name)
}

impl LogReport<'_> {
    /// Returns an attempt in one sentence.
    pub fn attempt_words(&self, attempt: &Attempt) -> String {
        let text = |name| self.log.names.text(name);
        let pod = text(attempt.pod);
        let mut words = match attempt.outcome {
            Outcome::Scheduled => {
                let nodes = attempt.nodes.map_or_else(String::new, |(evaluated, feasible)| {
                    format!(" ({} evaluated, {feasible} feasible)", count(evaluated as usize, "node"))
                });
                format!("{pod} was bound to {}{nodes}", text(attempt.node))
            }
            Outcome::Unschedulable if attempt.message.is_empty() => format!("{pod} fits no node: no nodes are registered"),
            Outcome::Unschedulable => format!("{pod} fits no node: {}", text(attempt.message)),
            Outcome::Error => format!("{pod} failed with an error: {}", text(attempt.message)),
            Outcome::Unfinished if !attempt.node.is_empty() => {
                format!("{pod} was being bound to {}; the outcome is not logged", text(attempt.node))
            }
            Outcome::Unfinished => format!("{pod} was tried; the outcome is not logged"),
        };
        if !attempt.victims.is_empty() {
            let victims: Vec<&str> = attempt.victims.iter().map(|victim| text(*victim)).collect();
            let _ = write!(words, "; it preempts {} on {}", victims.join(", "), text(attempt.preemption_node));
        } else if !attempt.preemption_node.is_empty() {
            let _ = write!(words, "; it preempts on {}", text(attempt.preemption_node));
        }
        if !attempt.nominated.is_empty() {
            let _ = write!(words, "; nominated to {}", text(attempt.nominated));
        }
        if let Some(requeued) = attempt.requeued {
            let plugins: Vec<&str> = requeued.plugins.map(|set| self.log.plugins(set).collect()).unwrap_or_default();
            let by = if plugins.is_empty() { String::new() } else { format!(", rejected by {}", plugins.join(", ")) };
            let _ = write!(words, "; moved to {}{by}", queue_name(requeued.place));
        }
        words
    }

    /// Returns a move in one sentence.
    pub fn change_words(&self, change: &Change) -> String {
        let text = |name| self.log.names.text(name);
        let pod = text(change.pod);
        let gate = if change.gated_by.is_empty() { String::new() } else { format!(", gated by {}", text(change.gated_by)) };
        match change.cause {
            Cause::Moved(event) => format!("{pod} moved to {} by {}{gate}", queue_name(change.place), text(event)),
            Cause::Gated => format!("{pod} is gated by {}", text(change.gated_by)),
            Cause::Added => format!("{pod} is new"),
            Cause::Popped => format!("{pod} was popped"),
            Cause::Failed => format!("{pod} failed"),
            Cause::Permit if change.place == Place::WaitingOnPermit => format!("{pod} waits on Permit"),
            Cause::Permit => format!("{pod} passed Permit"),
            Cause::Bound => format!("{pod} was bound"),
            Cause::Deleted => format!("{pod} was deleted"),
            Cause::Dropped => format!("{pod} was not requeued"),
            Cause::Dumped if change.place == Place::Gone => format!("{pod} is in no queue of the dump"),
            Cause::Dumped => format!("{pod} is in {} of the dump", queue_name(change.place)),
        }
    }
}

/// Returns whether a change has its own line in the story; others are part of an attempt's line.
pub(crate) fn is_shown<'a>(change: &Change, text: &impl Fn(crate::scheduler_log::Name) -> &'a str) -> bool {
    match change.cause {
        Cause::Moved(event) => text(event) != "ScheduleAttemptFailure",
        Cause::Gated | Cause::Deleted | Cause::Dropped | Cause::Permit => true,
        Cause::Added | Cause::Popped | Cause::Failed | Cause::Bound | Cause::Dumped => false,
    }
}
