//! The attempts of a log as revisions of a timeline.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::cache::ComparedNode;
use super::{LogReport, Moment, Replay};
use crate::cluster::{Key, ObservedEvent};
use crate::framework::PluginName;
use crate::scheduler::Scheduler;
use crate::scheduler_log::{Attempt, Cause, Certainty, Change, Name, Outcome, Place, Stamp};
use crate::session::{LoggedAttempt, LoggedPlace, ReportedAttempt, ReportedBy, ReportedOutcome};
use crate::trace::{self, LoggedEvent};

/// Limit on the attempts that are searched for the one that led to a place.
const ATTEMPTS_SEARCHED: usize = 4096;

/// An attempt with its time and its index in the log.
type EndedAttempt<'l> = (Stamp, usize, &'l Attempt);

/// Returns the moments of all attempts but the first `skipped`, by index, and how many of these are too many to be compared. Cycles run
/// one after another, so the order of their begins is that of the decisions.
fn moments(attempts: &[EndedAttempt<'_>], skipped: usize, replay: &mut Replay<'_>) -> (HashMap<usize, Moment>, usize) {
    let comparable = replay.comparable(attempts[skipped..].iter().map(|(.., attempt)| *attempt));
    let decided = attempts.len() - comparable;
    let compared: HashSet<usize> = attempts[decided..].iter().map(|(_, number, _)| *number).collect();
    let wanted: HashSet<usize> = attempts[skipped..].iter().map(|(_, number, _)| *number).collect();
    let mut by_begin: Vec<&EndedAttempt<'_>> = attempts.iter().collect();
    by_begin.sort_by_key(|(_, number, attempt)| (attempt.at, *number));
    let at = |(_, number, attempt): &EndedAttempt<'_>| (*number, replay.at(attempt, compared.contains(number)));
    (by_begin.into_iter().map(at).filter(|(number, _)| wanted.contains(number)).collect(), decided - skipped)
}

impl LogReport<'_> {
    /// Returns the last attempts of the scheduler, at most `limit`, oldest first, and the end of its log, each with our
    /// decision on the objects of that moment where the dump and the log show them.
    pub fn timeline(&self, limit: usize, scheduler: &Scheduler, taken: Option<Timestamp>) -> Vec<LoggedAttempt> {
        let process = u16::try_from(self.process).unwrap_or(u16::MAX);
        let ours = |of: u16| of == process;
        let mut attempts: Vec<EndedAttempt<'_>> = Vec::new();
        let ends = self.requeued_at();
        for (number, attempt) in self.log.attempts.iter().enumerate().filter(|(_, attempt)| ours(attempt.process)) {
            let end = attempt.end.unwrap_or(attempt.at);
            attempts.push((ends.get(&number).copied().unwrap_or(end), number, attempt));
        }
        attempts.sort_by_key(|(at, ..)| *at);
        let skipped = attempts.len().saturating_sub(limit);
        let mut replay = Replay::new(self, scheduler, taken);
        let (mut moments, left_out) = moments(&attempts, skipped, &mut replay);
        let mut changes = self.log.changes.iter().filter(|change| ours(change.process)).peekable();
        let mut revisions = Vec::new();
        let mut shown: Option<Moment> = None;
        for (number, (at, index, attempt)) in attempts.iter().enumerate() {
            let (mut events, mut places) = (Vec::new(), HashMap::new());
            self.take_changes(&mut changes, Some(*at), &mut events, &mut places);
            if number < skipped {
                continue;
            }
            if number == skipped && skipped > 0 {
                // The places remain; the events before the limit are dropped.
                events.clear();
            }
            let Some((pod, moment)) = self.key(attempt.pod).zip(moments.remove(index)) else { continue };
            events.push(self.event(&pod, *at, self.attempt_words(attempt)));
            events.extend(self.evictions(&pod, *at, attempt));
            let compared = match &moment.comparison {
                Some(comparison) => format!("schedscope, on the cluster's state at that time: {}", comparison.words),
                None if number < skipped + left_out => "no comparison: those of newer attempts took all steps".to_owned(),
                None => "no comparison: the cluster's state at that time is unknown".to_owned(),
            };
            events.push(self.remark(&pod, *at, compared));
            revisions.push(LoggedAttempt {
                title: format!("{} the cluster's scheduler: {pod} {}", self.process().clock.show(*at), outcome(attempt.outcome)),
                pod: Some(pod),
                at: self.process().clock.timestamp(*at),
                events,
                places: sorted(places),
                decided: moment.comparison.is_some(),
                changes: replay.between(shown.as_ref(), &moment),
                followed: false,
            });
            shown = Some(moment);
        }
        if let Some(last) = revisions.last().map(|last| last.pod.clone()) {
            let (mut events, mut places) = (Vec::new(), HashMap::new());
            self.take_changes(&mut changes, None, &mut events, &mut places);
            if let Some(pod) = events.last().map(|event| event.pod.clone()).or(last) {
                let cache = self.cache(&mut Replay::new(self, scheduler, taken));
                revisions.push(self.end(&pod, cache.as_ref(), events, places));
            }
        }
        revisions
    }

    /// Returns the end of the log, after the changes since the last attempt, which are about `pod` last.
    fn end(
        &self,
        pod: &Key,
        cache: Option<&(Stamp, Vec<ComparedNode>)>,
        mut events: Vec<LoggedEvent>,
        places: HashMap<Key, LoggedPlace>,
    ) -> LoggedAttempt {
        let (to, clock) = (self.process().to, self.process().clock);
        if let Some(cache) = cache {
            let lines = Self::cache_lines(cache, |at| clock.show(at));
            events.extend(lines.into_iter().map(|line| self.remark(pod, cache.0, line)));
        }
        events.push(self.remark(pod, to, "the log ends; from here on schedscope decides, on the objects of the dump".to_owned()));
        LoggedAttempt {
            pod: None,
            at: clock.timestamp(to),
            title: format!("{} the scheduler's log ends", clock.show(to)),
            events,
            places: sorted(places),
            decided: false,
            changes: Vec::new(),
            followed: false,
        }
    }

    /// Returns the ended attempts of the scheduler whose time is known, for a timeline that shows the states of their moments.
    pub fn reported(&self) -> Vec<ReportedAttempt> {
        let ours = self.log.attempts.iter().filter(|attempt| usize::from(attempt.process) == self.process);
        let reported = ours.filter_map(|attempt| {
            let text = |name| self.log.names.text(name);
            let outcome = match attempt.outcome {
                Outcome::Scheduled => ReportedOutcome::Bound(text(attempt.node).into()),
                Outcome::Unschedulable | Outcome::Error => ReportedOutcome::Failed(text(attempt.message).to_owned()),
                Outcome::Unfinished => return None,
            };
            let at = self.process().clock.timestamp(attempt.end?)?;
            Some(ReportedAttempt { pod: self.key(attempt.pod)?, at, by: [ReportedBy::Log].into(), outcome })
        });
        reported.collect()
    }

    /// Returns when the pods of failed attempts were requeued, by the attempt's index.
    fn requeued_at(&self) -> HashMap<usize, Stamp> {
        let mut open: HashMap<(u16, Name), usize> = HashMap::new();
        let mut found = HashMap::new();
        let mut attempts = self.log.attempts.iter().enumerate().peekable();
        for change in &self.log.changes {
            while let Some((number, attempt)) = attempts.next_if(|(_, attempt)| attempt.at <= change.at) {
                open.insert((attempt.process, attempt.pod), number);
            }
            if let Cause::Moved(event) = change.cause
                && self.log.names.text(event) == "ScheduleAttemptFailure"
                && let Some(number) = open.get(&(change.process, change.pod))
            {
                found.entry(*number).or_insert(change.at);
            }
        }
        found
    }

    /// Takes the changes up to a time, as events and as the resulting places.
    fn take_changes<'c>(
        &self,
        changes: &mut std::iter::Peekable<impl Iterator<Item = &'c Change>>,
        until: Option<Stamp>,
        events: &mut Vec<LoggedEvent>,
        places: &mut HashMap<Key, LoggedPlace>,
    ) {
        while let Some(change) = changes.next_if(|change| until.is_none_or(|until| change.at <= until)) {
            let Some(pod) = self.key(change.pod) else { continue };
            if super::is_shown(change, &|name| self.log.names.text(name)) {
                events.push(self.event(&pod, change.at, self.change_words(change)));
            }
            places.insert(pod, self.place(change));
        }
    }

    /// Returns the place after a change, or why the log does not show it.
    fn place(&self, change: &Change) -> LoggedPlace {
        let plugins = self.rejectors(change.plugins, None);
        let gate = self.log.names.text(change.gated_by).parse::<PluginName>().ok();
        let exact = matches!(self.queues.certainty, Certainty::Exact | Certainty::SinceBegin);
        let not_shown = |why: &str| LoggedPlace::Unknown(format!("the scheduler's log does not show {why}"));
        match change.place {
            Place::Gone => LoggedPlace::Gone,
            Place::InFlight | Place::WaitingOnPermit if change.cause != Cause::Failed => LoggedPlace::Known(trace::Place::InFlight),
            Place::Unschedulable if exact => LoggedPlace::Known(trace::Place::Unschedulable { plugins, gated_by: gate }),
            Place::Unschedulable => not_shown("whether it has moved since it was parked"),
            Place::Active if exact => LoggedPlace::Known(trace::Place::Active),
            Place::Backoff if exact => match change.expires.and_then(|at| self.process().clock.timestamp(at)) {
                Some(expires) => LoggedPlace::Known(trace::Place::Backoff { expires, error: self.ended_in_error(change) }),
                None => not_shown("when its backoff ends"),
            },
            _ => not_shown("its queue"),
        }
    }

    /// Returns whether a pod goes to backoffQ because of an error. A rejection whose plugins are not listed is none.
    fn ended_in_error(&self, change: &Change) -> bool {
        let before = self.log.attempts.partition_point(|attempt| attempt.at <= change.at);
        let attempts = self.log.attempts[..before].iter().rev().take(ATTEMPTS_SEARCHED);
        let last = attempts.into_iter().find(|attempt| attempt.pod == change.pod && attempt.process == change.process);
        change.plugins == 0 && last.is_none_or(|attempt| attempt.outcome != Outcome::Unschedulable)
    }

    /// Returns the message of a failed attempt as the Event that the scheduler would write.
    pub(super) fn said(&self, pod: &Key, attempt: &Attempt) -> Option<ObservedEvent> {
        let failed = matches!(attempt.outcome, Outcome::Unschedulable | Outcome::Error) && !attempt.message.is_empty();
        let at = attempt.end.and_then(|end| self.process().clock.timestamp(end));
        failed.then(|| ObservedEvent {
            pod: pod.clone(),
            uid: "".into(),
            reason: "FailedScheduling".into(),
            note: self.log.names.text(attempt.message).to_owned(),
            controller: "".into(),
            count: 1,
            first: at,
            last: at,
        })
    }

    /// Returns an event for each victim of an attempt's preemption.
    pub(super) fn evictions(&self, preemptor: &Key, at: Stamp, attempt: &Attempt) -> Vec<LoggedEvent> {
        let node = self.log.names.text(attempt.preemption_node);
        let victims = attempt.victims.iter().filter_map(|victim| self.key(*victim));
        victims.map(|victim| self.event(&victim, at, format!("{victim} is preempted on {node} for {preemptor}"))).collect()
    }

    pub(super) fn event(&self, pod: &Key, at: Stamp, words: String) -> LoggedEvent {
        LoggedEvent { pod: pod.clone(), at: self.process().clock.show(at), words, is_ours: false }
    }

    pub(super) fn remark(&self, pod: &Key, at: Stamp, words: String) -> LoggedEvent {
        LoggedEvent { is_ours: true, ..self.event(pod, at, words) }
    }

    pub(super) fn key(&self, name: Name) -> Option<Key> {
        let (namespace, name) = self.log.names.text(name).split_once('/')?;
        Some(Key::new(namespace, name))
    }
}

pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Scheduled => "was bound",
        Outcome::Unschedulable => "fits no node",
        Outcome::Error => "failed with an error",
        Outcome::Unfinished => "was tried",
    }
}

fn sorted(places: HashMap<Key, LoggedPlace>) -> Vec<(Key, LoggedPlace)> {
    let mut places: Vec<_> = places.into_iter().collect();
    places.sort_by(|(a, _), (b, _)| a.cmp(b));
    places
}
