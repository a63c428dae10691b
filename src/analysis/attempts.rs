//! Attempts of the cluster's scheduler on a recorded timeline, each beside our decision on the state of its moment.

use std::sync::Arc;

use jiff::SignedDuration;

use super::agreement::SchedulerComparer;
use super::scheduler_log::{AttemptMatch, judge};
use super::why::why;
use crate::cluster::{Key, Kind, List, ObservedEvent, Pod};
use crate::limits::sessions::ATTEMPTS_COMPARED;
use crate::plural::count;
use crate::scheduler::{Operation, Scheduler};
use crate::session::{Action, PlacedAttempt, ReportedAttempt, ReportedOutcome, Session, reported_attempts};
use crate::trace::{CycleView, Outcome};

/// The time between an attempt and the events about its victims, at most.
const NEAR: SignedDuration = SignedDuration::from_secs(5);

/// An attempt beside our decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JudgedAttempt {
    pub attempt: ReportedAttempt,
    /// The relation to our decision; `None` if it is not known.
    pub accord: Option<AttemptMatch>,
    /// Our decision and the differences, or why the relation is not known.
    pub words: String,
}

/// The attempts about a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JudgedAttempts {
    /// The newest, oldest first.
    pub attempts: Vec<JudgedAttempt>,
    /// Older ones, which are not compared.
    pub more: usize,
}

impl JudgedAttempts {
    /// Compares the newest attempts about a pod on the recorded branch of a session.
    pub fn new(session: &Session, pod: &Key) -> Self {
        let branch = &session.branches()[0];
        let recorded = branch.timeline().revisions();
        let background = session.background();
        let found = reported_attempts(recorded, pod, &background.attempts);
        let more = found.len().saturating_sub(ATTEMPTS_COMPARED);
        let judge = |placed: PlacedAttempt| {
            let changes = others_changed(&recorded[placed.revision].action, pod);
            let schedulers = [placed.revision, placed.revision + 1].map(|at| branch.scheduler_at(at));
            judged(placed.attempt, schedulers, changes, &background.events)
        };
        Self { attempts: found.into_iter().skip(more).map(judge).collect(), more }
    }
}

/// Returns the number of other objects that a revision changes.
fn others_changed(action: &Action, pod: &Key) -> usize {
    let Action::Apply(Operation::Batch { operations, .. }) = action else { return 0 };
    let is_other = |operation: &&Operation| match operation {
        Operation::Create { object } | Operation::Update { object } | Operation::Delete { object } => {
            (object.kind(), &object.key()) != (Kind::Pod, pod)
        }
        _ => false,
    };
    operations.iter().filter(is_other).count()
}

fn judged(attempt: ReportedAttempt, [before, after]: [&Scheduler; 2], changes: usize, events: &[ObservedEvent]) -> JudgedAttempt {
    let not_known = |attempt, words: &str| JudgedAttempt { attempt, accord: None, words: words.to_owned() };
    let pending = |scheduler: &Scheduler| scheduler.state().cluster().pods.get(&attempt.pod).filter(|pod| pod.is_pending()).cloned();
    // A pod that comes with the report of its first attempt is in the state after alone.
    let (scheduler, pod) = match (pending(before), pending(after)) {
        (Some(pod), _) => (before, pod),
        (None, Some(pod)) => (after, pod),
        (None, None) => return not_known(attempt, "the record does not have the pod as it was before the attempt"),
    };
    if scheduler.state().config().profile(&pod.spec.scheduler_name).is_none() {
        return not_known(attempt, "it belongs to another scheduler");
    }
    let view = scheduler.view_of(&pod).showing(&pod.key());
    if view.nodes_unknown().is_some() {
        return not_known(attempt, "the nodes of that moment are not known");
    }
    let found = match &attempt.outcome {
        ReportedOutcome::Bound(node) => Some(bound(node, &view)),
        ReportedOutcome::Failed(message) => {
            let reported = after.state().cluster().pods.get(&attempt.pod);
            failed(&attempt, message, scheduler, &pod, reported, &view, events)
        }
    };
    let Some((accord, mut words)) = found else {
        return not_known(attempt, "an attempt that ended in an error, or one that is still being bound, decides nothing");
    };
    if accord == AttemptMatch::Agrees {
        return JudgedAttempt { attempt, accord: Some(accord), words };
    }
    if scheduler.state().cluster().unknown.decides_on_part() {
        return not_known(attempt, "nodes or pods of that moment are known in part");
    }
    if changes > 0 {
        words = format!("{words} The same step of the record has {}.", count(changes, "other change"));
    }
    JudgedAttempt { attempt, accord: Some(accord), words }
}

fn bound(node: &str, view: &CycleView) -> (AttemptMatch, String) {
    match (&view.scoring.selected, view.outcome) {
        (Some((ours, _, ties)), Some(Outcome::Scheduled)) if *ours == *node || ties.iter().any(|tie| *tie == *node) => {
            let of = if ties.len() > 1 { format!(", one of {} with equal scores", count(ties.len(), "node")) } else { String::new() };
            (AttemptMatch::Agrees, format!("it fits on {node}{of}."))
        }
        _ => (AttemptMatch::Differs, format!("schedscope says: {}", why(view))),
    }
}

fn failed(
    attempt: &ReportedAttempt,
    message: &str,
    scheduler: &Scheduler,
    pod: &Pod,
    reported: Option<&Arc<Pod>>,
    view: &CycleView,
    events: &[ObservedEvent],
) -> Option<(AttemptMatch, String)> {
    let mut then = pod.clone();
    then.status.conditions = List::default();
    if let Some(reported) = reported {
        then.status.nominated_node_name = reported.status.nominated_node_name.clone();
    }
    let said = ObservedEvent {
        pod: attempt.pod.clone(),
        uid: pod.metadata.uid.clone().into(),
        reason: "FailedScheduling".into(),
        note: message.to_owned(),
        controller: "".into(),
        count: 1,
        first: Some(attempt.at),
        last: Some(attempt.at),
    };
    let is_near = |event: &&ObservedEvent| {
        event.reason == "Preempted" && event.last.or(event.first).is_some_and(|at| at.duration_since(attempt.at).abs() <= NEAR)
    };
    let near: Vec<ObservedEvent> = std::iter::once(said).chain(events.iter().filter(is_near).cloned()).collect();
    judge(&SchedulerComparer::new(scheduler, &near).compare(&then, view), |_| false)
}
