//! Infers where a pending pod waits from what a scheduler wrote to the API server.
//!
//! No object names the queue of a pod. Conditions, events and nominations show how the last recorded attempt ended, and
//! so in which queue it left the pod; later moves are unknown. The first matching rule applies, after `PreEnqueue` (a
//! pod that it rejects is gated for certain):
//!
//! | observed | inferred queue |
//! | --- | --- |
//! | `deletionTimestamp`, rejected by plugins | in unschedulablePods until something moves it |
//! | `deletionTimestamp` | in no queue: dropped when it was popped |
//! | Unschedulable, with texts of plugins | in unschedulablePods |
//! | Unschedulable, with texts of unknown plugins only | in activeQ: nothing can be parked without a rejector |
//! | Unschedulable with another text; `SchedulerError` | in the error backoff heap, or in activeQ when that is over |
//! | no failed attempt, and a claim with a chosen node that is not bound | in no queue: it waits in `PreBind` |
//! | anything else | in activeQ: no failed attempt is recorded |
//!
//! Without a condition about a failed attempt, the text of the newest `FailedScheduling` event is used. Events of other
//! schedulers, and of pods of the same name with another uid, are ignored.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::queue::{InferredQueue, Observed};
use super::{NO_NODES, Rejectors, binding_under_way};
use crate::cluster::{Cluster, Condition, Key, ObservedEvent, Pod};
use crate::framework::{PluginName, PluginSet};

/// Infers the queue places of pods from their conditions and events.
pub(super) struct QueuePlaceInference<'a> {
    events: BTreeMap<&'a Key, Vec<&'a ObservedEvent>>,
    /// Time of the observation.
    now: Timestamp,
    /// Longest stay in unschedulablePods.
    limit: SignedDuration,
}

/// Attempts for a pod, as recorded in events.
#[derive(Default)]
struct Attempts<'a> {
    /// Failed attempts, at least.
    failed: u32,
    /// Earliest possible time of the last failure.
    last: Option<Timestamp>,
    /// Message of the newest failure.
    note: Option<&'a str>,
    /// An event says that the pod got a node; its object does not show it.
    scheduled: bool,
}

/// How the last recorded attempt ended.
enum End {
    /// No failed attempt is recorded.
    None(String),
    /// Plugins rejected the pod.
    Rejected { rejectors: Rejectors, source: String },
    /// The attempt ended in an error.
    Error(String),
}

impl<'a> QueuePlaceInference<'a> {
    /// Groups events by pod; `now` is the time of the observation, `limit` the longest stay in unschedulablePods.
    pub(super) fn new(events: &'a [ObservedEvent], now: Timestamp, limit: SignedDuration) -> Self {
        let mut by_pod: BTreeMap<&Key, Vec<&ObservedEvent>> = BTreeMap::new();
        for event in events {
            by_pod.entry(&event.pod).or_default().push(event);
        }
        Self { events: by_pod, now, limit }
    }

    /// Infers where the pod waits if `PreEnqueue` admits it.
    pub(super) fn observe(&self, cluster: &Cluster, pod: &Pod) -> Observed {
        let attempts = self.attempts(pod);
        let condition = pod.condition("PodScheduled");
        let failure = condition.filter(|c| c.status == "False" && matches!(c.reason.as_str(), "Unschedulable" | "SchedulerError"));
        let end = match (failure, attempts.note) {
            (Some(condition), _) => end_by_condition(condition),
            (None, Some(note)) => end_by_text(note, "Unschedulable", "a FailedScheduling event, without a condition that says so"),
            (None, None) => End::None(untried(condition)),
        };
        let last = failure.and_then(|c| c.last_transition_time).max(attempts.last).map(|t| t.min(self.now));
        let known = attempts.failed.max(u32::from(!matches!(end, End::None(_))));
        let added = pod.metadata.creation_timestamp.map_or(self.now, |t| t.min(self.now));
        let mut seen = Observed {
            waits: InferredQueue::Active,
            timestamp: last.unwrap_or(added),
            attempts: known,
            plugins: PluginSet::default(),
            from: String::new(),
        };
        let mut from = conclude(end, &mut seen);
        if known > 0 {
            from.push(tried(known, last));
        }
        if pod.is_terminating() {
            let parked = seen.waits == InferredQueue::Parked;
            from.push("it is terminating, so it will be dropped when popped".to_owned());
            seen.waits = if parked { InferredQueue::Parked } else { InferredQueue::Nowhere };
        }
        if seen.waits == InferredQueue::Parked {
            from.extend(self.freed_since(&mut seen));
        }
        if let Some(binding) = binding_under_way(cluster, pod) {
            if known == 0 {
                seen.waits = InferredQueue::Nowhere;
                from.push(format!("{binding}: it waits in PreBind"));
            } else {
                from.push(format!("{binding}: it may be waiting in PreBind"));
            }
        }
        from.extend(nominated(pod, known > 0));
        if attempts.scheduled {
            from.push("an event says that it got a node: its object may be older than the event".to_owned());
        }
        from.push(unknown(seen.waits, known).to_owned());
        seen.from = from.join("; ");
        seen
    }

    fn attempts(&self, pod: &Pod) -> Attempts<'a> {
        let key = pod.key();
        let mut found = Attempts::default();
        let mut newest = None;
        for event in self.events.get(&key).into_iter().flatten() {
            if !event.is_about(pod) {
                continue;
            }
            match event.reason.as_str() {
                "Scheduled" => found.scheduled = true,
                "FailedScheduling" => {
                    found.failed = found.failed.saturating_add(event.count.max(1));
                    let last = event.last.max(event.first);
                    found.last = found.last.max(last);
                    if found.note.is_none() || last > newest {
                        (found.note, newest) = (Some(event.note.as_str()), last);
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Limits how long ago a pod was parked. A parked pod is tried again after `limit`; one whose last recorded attempt
    /// is older counts as parked exactly that long ago, so the next flush takes it.
    fn freed_since(&self, seen: &mut Observed) -> Option<String> {
        let earliest = self.now.checked_sub(self.limit).unwrap_or(Timestamp::MIN);
        if seen.timestamp >= earliest {
            return None;
        }
        seen.timestamp = earliest;
        let minutes = self.limit.as_secs() / 60;
        Some(format!(
            "pods stay in unschedulablePods for {minutes} min at most, so its last attempt was later: it is taken to have been there for {minutes} min, and the next flush moves it"
        ))
    }
}

fn end_by_condition(condition: &Condition) -> End {
    let source = format!("PodScheduled is False, {}", condition.reason);
    end_by_text(&condition.message, &condition.reason, &source)
}

/// An event carries no reason; the text of a rejection identifies it.
fn end_by_text(text: &str, reason: &str, source: &str) -> End {
    if reason == "SchedulerError" {
        return End::Error(format!("{source}: the last recorded attempt ended in an error"));
    }
    if text == NO_NODES {
        return End::Error(format!("{source}: there were no nodes, which counts as an error"));
    }
    match Rejectors::of(text) {
        Some(rejectors) => End::Rejected { rejectors, source: source.to_owned() },
        None => End::Error(format!("{source}, with a message that is not a rejection by plugins, so it counts as an error")),
    }
}

/// Explains why a pod without a recorded failure counts as untried.
fn untried(condition: Option<&Condition>) -> String {
    let none = "no failed attempt is recorded";
    match condition {
        None => format!("no PodScheduled condition: {none}"),
        Some(c) if c.reason == "SchedulingGated" => {
            format!("it was gated at creation, has no gates now, and {none} since")
        }
        Some(c) if c.status == "True" => {
            format!("PodScheduled is True although it has no node, which kube-scheduler does not write: {none}")
        }
        Some(c) => format!("PodScheduled is {}, {:?}, which kube-scheduler does not write: {none}", c.status, c.reason.as_str()),
    }
}

/// Sets the queue and the plugins that the end of an attempt implies; returns the explanation.
fn conclude(end: End, seen: &mut Observed) -> Vec<String> {
    match end {
        End::None(why) => vec![why],
        End::Error(why) => {
            seen.waits = InferredQueue::AfterError;
            vec![why, "it is in backoffQ, or in activeQ if its backoff is over".to_owned()]
        }
        End::Rejected { rejectors: Rejectors { plugins, unknown }, source } => {
            seen.plugins = plugins;
            let names: Vec<&str> = plugins.iter().map(PluginName::as_str).collect();
            let strange = unknown.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ");
            let of_whom = "of an out-of-tree plugin or of another version";
            if names.is_empty() {
                let why = if strange.is_empty() {
                    "rejected without a reason".to_owned()
                } else {
                    format!("rejected with a message {of_whom} ({strange})")
                };
                let active =
                    "no rejecting plugin is known, without which no pod is in unschedulablePods, so it is inferred to be in activeQ";
                return vec![format!("{source}: {why}"), active.to_owned()];
            }
            seen.waits = InferredQueue::Parked;
            let mut why = vec![format!("{source}: rejected by {}, so assumed in unschedulablePods", names.join(", "))];
            if !strange.is_empty() {
                why.push(format!("also with a message {of_whom} ({strange}), which is ignored"));
            }
            why
        }
    }
}

fn tried(attempts: u32, last: Option<Timestamp>) -> String {
    let times = if attempts == 1 { "time" } else { "times" };
    match last {
        Some(last) => format!("tried at least {attempts} {times}, at {last} or later"),
        None => format!("tried at least {attempts} {times}, at an unknown time"),
    }
}

fn nominated(pod: &Pod, tried: bool) -> Option<String> {
    let node = &pod.status.nominated_node_name;
    if node.is_empty() {
        return None;
    }
    let why = if tried {
        "its victims may still be terminating, and until their deletion is seen it may be gated by DefaultPreemption"
    } else {
        "its binding may be under way, or another component nominated it"
    };
    Some(format!("nominated to {node}: {why}"))
}

fn unknown(waits: InferredQueue, tried: u32) -> &'static str {
    match (waits, tried) {
        (InferredQueue::Parked, _) => "unknown: whether it has moved to backoffQ or activeQ since, and all its counters",
        (InferredQueue::AfterError | InferredQueue::Backoff, _) => "unknown: when its backoff ends, and all its counters",
        (InferredQueue::Active, 0) => "unknown: whether an attempt is under way",
        (InferredQueue::Active, _) => "unknown: its actual queue, and all its counters",
        (InferredQueue::Nowhere, _) => "unknown: whether it is still in a queue",
    }
}

#[cfg(test)]
mod tests;
