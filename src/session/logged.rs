//! Puts the attempts in the log of the cluster's own scheduler on the timeline, before the dump.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::recording::Session;
use super::revision::{Action, Keyframe, Revision};
use crate::cluster::Key;
use crate::scheduler::Operation;
use crate::trace::{Event, LoggedEvent, Place, QueueEntry, RecordedEvents};

/// Place of a pod by the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LoggedPlace {
    /// In a queue, or in an attempt.
    Known(Place),
    /// Pending in an unknown queue, with the reason.
    Unknown(String),
    /// No longer pending.
    Gone,
}

/// One attempt of the cluster's scheduler, with its events since the attempt before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoggedAttempt {
    /// Key of the pod; `None` for the end of the log, where the dump's own state follows.
    pub pod: Option<Key>,
    /// End of the attempt; `None` where the log does not state the year.
    pub at: Option<Timestamp>,
    /// Title of the revision.
    pub title: String,
    /// Events in order; an attempt without any is not added.
    pub events: Vec<LoggedEvent>,
    /// Places that changed since the attempt before.
    pub places: Vec<(Key, LoggedPlace)>,
    /// Whether to add the dry decision about the pod, on the objects of the attempt, for comparison.
    pub decided: bool,
    /// The operations that lead from the objects of the attempt before, or from the dump, to those of this attempt.
    #[serde(default)]
    pub changes: Vec<Operation>,
    /// Whether the attempt was followed as it happened: the queues are those of the session then.
    #[serde(default)]
    pub followed: bool,
}

impl Session {
    /// Adds an attempt of the cluster's scheduler at the end of this branch, with the queues that the log has for the
    /// attempt's end and the objects of that moment. At the end of the log the state is that of the dump again. Returns
    /// false for an attempt without events.
    pub fn log(&mut self, attempt: LoggedAttempt) -> bool {
        if attempt.events.is_empty() {
            return false;
        }
        let was = self.scheduler().clone();
        let mut scheduler = was.clone();
        for operation in &attempt.changes {
            scheduler.apply(operation.clone());
        }
        if attempt.pod.is_none() {
            scheduler = self.branch().before_log().unwrap_or(&was).clone();
        }
        let now = Keyframe::of(&scheduler, &self.timeline().end().requeue_events);
        let last = self.timeline().revisions().last().filter(|revision| revision.is_logged());
        let mut before = match last {
            // The queues of a live cluster hold what the log tells.
            _ if attempt.followed => now.clone(),
            Some(revision) => Keyframe { queues: revision.after.queues.clone(), ..now.clone() },
            None => Keyframe { queues: crate::trace::QueuesView::default(), ..now.clone() },
        };
        before.clock = attempt.at.unwrap_or(before.clock);
        let mut after = before.clone();
        for (pod, place) in &attempt.places {
            // The log has no priorities; an object that is gone leaves the one that was known before.
            let known = before.cluster.pods.get(pod).map(|pod| pod.priority());
            let priority = known.or_else(|| Some(after.queues.entries.get(pod)?.priority)).unwrap_or(0);
            let entry = |place: Place| QueueEntry { timestamp: before.clock, priority, ..QueueEntry::at(pod.clone(), place) };
            match place {
                LoggedPlace::Known(place) => {
                    after.queues.entries.insert(pod.clone(), Arc::new(entry(place.clone())));
                }
                LoggedPlace::Unknown(why) => {
                    let entry = QueueEntry { inferred: Some(why.clone()), ..entry(Place::Active) };
                    after.queues.entries.insert(pod.clone(), Arc::new(entry));
                }
                LoggedPlace::Gone => {
                    after.queues.entries.remove(pod);
                }
            }
        }
        // A log has no queues per event, so the whole revision shows those at its end.
        before.queues = after.queues.clone();
        if attempt.pod.is_none() {
            (before, after) = (now.clone(), now);
        }
        let mut events: Vec<Event> = attempt.events.iter().cloned().map(|event| Event::Logged(Arc::new(event))).collect();
        if attempt.decided
            && let Some(pod) = attempt.pod.as_ref().and_then(|pod| scheduler.state().cluster().pods.get(pod))
        {
            events.extend(scheduler.explain(pod));
        }
        let (title, events) = (attempt.title.clone(), Arc::new(RecordedEvents::new(events, &before.snapshot)));
        let (action, odds_over_starts) = (Action::Logged(Box::new(attempt)), OnceLock::new());
        self.branch_mut().push(Revision { action, title, events, before, after, scheduler: was, odds_over_starts }, scheduler);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Emulation;
    use crate::scheduler::{Config, Options, Scheduler};
    use crate::session::Cursor;

    fn attempt(pod: Option<&str>, places: Vec<(Key, LoggedPlace)>) -> LoggedAttempt {
        let key = Key::new("shop", pod.unwrap_or("none"));
        let event = LoggedEvent { pod: key.clone(), at: "10:00:00".into(), words: "fits no node".into(), is_ours: false };
        LoggedAttempt {
            pod: pod.map(|_| key),
            at: None,
            title: "logged".into(),
            events: vec![event],
            places,
            decided: true,
            changes: Vec::new(),
            followed: false,
        }
    }

    #[test]
    fn queues_are_those_of_the_log_until_the_dump() {
        let mut session = Session::new(Scheduler::new(Config::defaults(Emulation::default()), Vec::new(), Options::default()), "nothing");
        let (a, b) = (Key::new("shop", "a"), Key::new("shop", "b"));
        let active = |key: &Key| (key.clone(), LoggedPlace::Known(Place::Active));
        assert!(session.log(attempt(Some("a"), vec![active(&a), (b.clone(), LoggedPlace::Unknown("not told".into()))])));
        assert!(session.log(attempt(Some("a"), vec![(a.clone(), LoggedPlace::Gone)])));
        assert!(session.log(attempt(None, Vec::new())));
        assert!(!session.log(LoggedAttempt { events: Vec::new(), ..attempt(None, Vec::new()) }));
        let waiting = |session: &Session| -> Vec<(String, bool)> {
            let entries = &session.timeline().keyframe().queues.entries;
            entries.iter().map(|(key, entry)| (key.name.to_string(), entry.inferred.is_some())).collect()
        };
        let mut seen = Vec::new();
        for revision in 0..3 {
            session.timeline_mut().seek(Cursor { revision, event: 1 });
            seen.push(waiting(&session));
        }
        assert_eq!(seen, [vec![("a".into(), false), ("b".into(), true)], vec![("b".into(), true)], vec![]]);
        // Saving and loading keep it.
        let mut file = Vec::new();
        session.save(&mut file).unwrap();
        let again = Session::load(file.as_slice()).unwrap();
        assert_eq!(again.timeline().revisions().len(), 3);
        assert_eq!(again.timeline().revisions()[0].after.queues, session.timeline().revisions()[0].after.queues);
    }
}
