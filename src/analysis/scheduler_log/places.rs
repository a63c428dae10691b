//! The places that a log shows, for the queues of a session, and what is new in a log that is followed.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::LogReport;
use crate::cluster::{Key, ObservedEvent};
use crate::framework::{PluginName, PluginSet};
use crate::scheduler::Rejectors;
use crate::scheduler::queue::{PlaceInLog, QueueInLog};
use crate::scheduler_log::{Attempt, Certainty, Name, Outcome, QueuedPod, Stamp};
use crate::session::LoggedAttempt;

/// How far a followed log was taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogMark {
    /// The end of the last attempt that was taken.
    last: Option<Stamp>,
}

impl LogReport<'_> {
    /// Returns the places of pods in queues; those in an attempt or being bound stay where they are shown. `None` if the log does not show them for certain, as below `-v=5`.
    pub fn queue_places(&self) -> Option<(Timestamp, Vec<PlaceInLog>)> {
        let clock = self.process().clock;
        let queues = &self.queues;
        if !matches!(queues.certainty, Certainty::Exact | Certainty::SinceBegin) {
            return None;
        }
        let until = self.at.unwrap_or(self.process().to);
        let time = clock.timestamp(until)?;
        let tries = self.tries(until);
        let last = self.last_attempts(until);
        let place = |pod: &QueuedPod, queue: QueueInLog| {
            let (namespace, name) = self.log.names.text(pod.pod).split_once('/')?;
            let attempt = last.get(&pod.pod).copied();
            let plugins = self.rejectors(pod.plugins, attempt);
            Some(PlaceInLog {
                pod: Key::new(namespace, name),
                queue,
                since: clock.timestamp(pod.since)?,
                attempts: tries.get(&pod.pod).copied().unwrap_or(0),
                plugins,
                failed: attempt.filter(|attempt| attempt.outcome != Outcome::Scheduled).and_then(|attempt| clock.timestamp(attempt.end?)),
                error: attempt.is_some_and(|attempt| attempt.outcome == Outcome::Error),
                words: format!("there since {}", clock.show(pod.since)),
            })
        };
        let list = |pods: &Option<Vec<QueuedPod>>| pods.clone().unwrap_or_default();
        let expires = |pod: &QueuedPod| QueueInLog::Backoff(pod.expires.and_then(|at| clock.timestamp(at)));
        let mut places: Vec<PlaceInLog> = Vec::new();
        places.extend(list(&queues.active).iter().filter_map(|pod| place(pod, QueueInLog::Active)));
        places.extend(list(&queues.backoff).iter().filter_map(|pod| place(pod, expires(pod))));
        places.extend(list(&queues.unschedulable).iter().filter_map(|pod| place(pod, QueueInLog::Unschedulable)));
        Some((time, places))
    }

    /// Returns the plugins that rejected a pod: those that the log lists, or else those whose reasons are in the message of its last
    /// attempt, as releases before 1.25 list none.
    pub(super) fn rejectors(&self, listed: u32, attempt: Option<&Attempt>) -> PluginSet {
        let names = self.log.plugins(listed).filter_map(|name| name.parse::<PluginName>().ok());
        let listed = names.fold(PluginSet::default(), |mut set, plugin| {
            set.insert(plugin);
            set
        });
        let message =
            attempt.filter(|attempt| listed.is_empty() && attempt.outcome == Outcome::Unschedulable).map(|attempt| attempt.message);
        message.and_then(|message| Rejectors::of(self.log.names.text(message))).map_or(listed, |found| found.plugins)
    }

    /// Returns the last attempt of each pod that ended up to a time.
    pub(super) fn last_attempts(&self, until: Stamp) -> HashMap<Name, &Attempt> {
        let ended = |attempt: &&Attempt| usize::from(attempt.process) == self.process && attempt.end.is_some_and(|end| end <= until);
        self.log.attempts.iter().filter(ended).map(|attempt| (attempt.pod, attempt)).collect()
    }

    /// Returns the number of attempts of each pod up to a time.
    fn tries(&self, until: Stamp) -> HashMap<Name, u32> {
        let mut tries = HashMap::new();
        for attempt in self.log.attempts.iter().filter(|a| usize::from(a.process) == self.process && a.at <= until) {
            *tries.entry(attempt.pod).or_default() += 1;
        }
        tries
    }

    fn ended_since(&self, mark: LogMark) -> impl Iterator<Item = &Attempt> {
        let ended = move |attempt: &&Attempt| {
            usize::from(attempt.process) == self.process && attempt.outcome != Outcome::Unfinished && attempt.end > mark.last
        };
        self.log.attempts.iter().filter(ended)
    }

    /// Returns whether attempts ended since `mark`.
    pub fn has_new_attempts(&self, mark: LogMark) -> bool {
        self.ended_since(mark).next().is_some()
    }

    /// Moves `mark` to the end of the last attempt.
    pub fn skip(&self, mark: &mut LogMark) {
        mark.last = self.ended_since(*mark).filter_map(|attempt| attempt.end).max().max(mark.last);
    }

    /// Returns the attempts that ended since `mark`, the last `limit` of them, oldest first, and how many came before
    /// these. `compare` returns our decision about the last attempt of a pod.
    pub fn new_attempts(
        &self,
        mark: &mut LogMark,
        limit: usize,
        mut compare: impl FnMut(&Key, &ObservedEvent) -> Option<String>,
    ) -> (Vec<LoggedAttempt>, usize) {
        let mut attempts: Vec<_> = self.ended_since(*mark).collect();
        attempts.sort_by_key(|attempt| attempt.end);
        let skipped = attempts.len().saturating_sub(limit);
        let mut seen = HashSet::new();
        let mut fresh = Vec::new();
        for attempt in attempts.iter().rev().take(limit) {
            let (Some(pod), Some(end)) = (self.key(attempt.pod), attempt.end) else { continue };
            let comparison = seen.insert(attempt.pod).then(|| self.said(&pod, attempt)).flatten();
            let comparison = comparison.and_then(|said| compare(&pod, &said));
            let mut events = vec![self.event(&pod, end, self.attempt_words(attempt))];
            events.extend(self.evictions(&pod, end, attempt));
            let decided = comparison.is_some();
            events.extend(comparison.map(|words| self.remark(&pod, end, format!("schedscope, on the cluster's current state: {words}"))));
            let title =
                format!("{} the cluster's scheduler: {pod} {}", self.process().clock.show(end), super::timeline::outcome(attempt.outcome));
            let at = self.process().clock.timestamp(end);
            fresh.push(LoggedAttempt {
                pod: Some(pod),
                at,
                title,
                events,
                places: Vec::new(),
                decided,
                changes: Vec::new(),
                followed: true,
            });
        }
        fresh.reverse();
        self.skip(mark);
        (fresh, skipped)
    }
}
