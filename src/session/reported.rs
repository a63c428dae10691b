//! Attempts of the cluster's own scheduler that a recorded timeline shows: by its log, events, conditions and bindings.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::revision::{Action, Revision};
use crate::cluster::{Key, ObservedEvent, Pod, Str};
use crate::scheduler::Operation;

/// The time between two reports about one attempt, at most: clocks of machines differ, and events come late.
const NEAR: SignedDuration = SignedDuration::from_secs(5);

/// A source that reports an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum ReportedBy {
    /// The scheduler's log.
    Log,
    /// An event about the pod.
    Event,
    /// The pod's `PodScheduled` condition.
    Condition,
    /// The node of the pod.
    Binding,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReportedOutcome {
    /// The pod was bound to a node.
    Bound(Str),
    /// No node was found; the scheduler's message.
    Failed(String),
}

impl ReportedOutcome {
    /// Returns whether two reports can be about one attempt. Events end long messages with dots.
    fn is_same(&self, other: &Self) -> bool {
        let begins = |cut: &str, whole: &str| cut.strip_suffix("...").is_some_and(|start| whole.starts_with(start.trim_end()));
        match (self, other) {
            (Self::Failed(a), Self::Failed(b)) => a == b || begins(a, b) || begins(b, a),
            (a, b) => a == b,
        }
    }
}

/// An attempt of the cluster's scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportedAttempt {
    pub pod: Key,
    /// When it ended, or when its end was seen.
    pub at: Timestamp,
    /// The sources that report it.
    pub by: BTreeSet<ReportedBy>,
    /// Its end.
    pub outcome: ReportedOutcome,
}

/// An attempt with its place on a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedAttempt {
    /// The revision whose changes show its end: the scheduler decided on the state before it.
    pub revision: usize,
    pub attempt: ReportedAttempt,
}

/// Returns the attempts about a pod that revisions of a recorded timeline show, oldest first. `logged` are those in the scheduler's log.
pub fn reported_attempts(revisions: &[Arc<Revision>], pod: &Key, logged: &[ReportedAttempt]) -> Vec<PlacedAttempt> {
    let (Some(first), Some(last)) = (revisions.first(), revisions.last()) else { return Vec::new() };
    let mut found: Vec<PlacedAttempt> = Vec::new();
    let mut known = first.before.clock;
    for (number, revision) in revisions.iter().enumerate() {
        let (before, after) = (&revision.before.cluster, &revision.after.cluster);
        let (before, after) = (before.pods.get(pod), after.pods.get(pod));
        let before = before.filter(|before| after.is_none_or(|after| after.metadata.uid == before.metadata.uid));
        let clock = revision.after.clock;
        for (by, outcome) in seen(before.map(|pod| &**pod), after.map(|pod| &**pod)) {
            add(&mut found, number, ReportedAttempt { pod: pod.clone(), at: clock, by: [by].into(), outcome });
        }
        let is_about = |event: &&ObservedEvent| event.pod == *pod && after.or(before).is_none_or(|pod| event.is_about(pod));
        let mut newest = known;
        for event in events(&revision.action).filter(is_about) {
            let (Some(outcome), Some(at)) = (outcome_of(event), event.last.or(event.first)) else { continue };
            newest = newest.max(at);
            if at > known {
                add(&mut found, number, ReportedAttempt { pod: pod.clone(), at, by: [ReportedBy::Event].into(), outcome });
            }
        }
        known = newest;
    }
    for attempt in logged.iter().filter(|attempt| attempt.pod == *pod && first.before.clock < attempt.at && attempt.at <= last.after.clock)
    {
        let number = revisions.partition_point(|revision| revision.after.clock < attempt.at);
        add(&mut found, number.min(revisions.len() - 1), attempt.clone());
    }
    found.sort_by_key(|found| (found.revision, found.attempt.at));
    found
}

/// Adds a report: to an attempt nearby that another source reports with the same end, or as another attempt.
fn add(found: &mut Vec<PlacedAttempt>, revision: usize, report: ReportedAttempt) {
    let is_near = |known: &ReportedAttempt| known.at.duration_since(report.at).abs() <= NEAR;
    let same = found.iter_mut().rev().find(|known| {
        let known = &known.attempt;
        known.by.is_disjoint(&report.by) && is_near(known) && known.outcome.is_same(&report.outcome)
    });
    let Some(PlacedAttempt { attempt: known, .. }) = same else {
        return found.push(PlacedAttempt { revision, attempt: report });
    };
    // The log and events have the scheduler's own time, and events cut long messages.
    if known.by.iter().min() > report.by.iter().min() {
        known.at = report.at;
    }
    if let (ReportedOutcome::Failed(known), ReportedOutcome::Failed(other)) = (&mut known.outcome, report.outcome)
        && other.len() > known.len()
    {
        *known = other;
    }
    known.by.extend(report.by);
}

/// Returns the ends of attempts that two states of a pod show.
fn seen(before: Option<&Pod>, after: Option<&Pod>) -> Vec<(ReportedBy, ReportedOutcome)> {
    let Some(after) = after else { return Vec::new() };
    let mut found = Vec::new();
    let condition =
        after.condition("PodScheduled").filter(|condition| condition.status == "False" && condition.reason != "SchedulingGated");
    if let Some(condition) = condition
        && before.and_then(|before| before.condition("PodScheduled")) != Some(condition)
    {
        found.push((ReportedBy::Condition, ReportedOutcome::Failed(condition.message.to_string())));
    }
    // A pod that comes with a node was not bound, as far as is known.
    if before.is_some_and(|before| before.node_name.is_empty()) && !after.node_name.is_empty() {
        found.push((ReportedBy::Binding, ReportedOutcome::Bound(after.node_name.clone())));
    }
    found
}

fn events(action: &Action) -> impl Iterator<Item = &ObservedEvent> {
    let operations: &[Operation] = match action {
        Action::Apply(Operation::Batch { operations, .. }) => operations,
        Action::Apply(operation) => std::slice::from_ref(operation),
        _ => &[],
    };
    operations.iter().flat_map(|operation| if let Operation::Observe { events, .. } = operation { events.as_slice() } else { &[] })
}

fn outcome_of(event: &ObservedEvent) -> Option<ReportedOutcome> {
    match event.reason.as_str() {
        "FailedScheduling" => Some(ReportedOutcome::Failed(event.note.clone())),
        "Scheduled" => Some(ReportedOutcome::Bound(event.note.rsplit_once(" to ")?.1.into())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
