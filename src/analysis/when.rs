//! When a pending pod is tried again or starts: the end of a grace period or of a backoff, a flush, or the next event of some kinds.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::moments::moment_and_span;
use super::why::binding;
use crate::framework::{ClusterEvent, Reason, Status};
use crate::plural::count;
use crate::session::RequeueEvents;
use crate::trace::{CycleView, Outcome, Place, PreemptionView, QueueEntry};

/// Limit on the kinds of events that the text names.
const EVENTS_NAMED: usize = 4;

/// When a pending pod is tried again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct When {
    /// In words, one line.
    pub text: String,
    /// The latest time, if one is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// The labels of the events that may move it before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
}

/// The facts that decide when a pod is tried.
pub struct WhenInput<'a> {
    /// The decision about it.
    pub view: &'a CycleView,
    /// Its place in the queues, where that is observed; `None` where the queues are fresh.
    pub entry: Option<&'a QueueEntry>,
    /// The events that move pods, by profile and plugin.
    pub requeue_events: &'a RequeueEvents,
    /// When its last attempt failed, if that is known.
    pub failed: Option<Timestamp>,
    /// How long pods stay in unschedulablePods at most.
    pub longest_stay: Duration,
    /// The time.
    pub now: Timestamp,
}

impl When {
    /// Returns when a pod is tried; `None` for one that fits, which is tried as soon as it is popped, and for errors.
    pub fn of(input: &WhenInput<'_>) -> Option<Self> {
        let plain = |text: String| Some(Self { text, at: None, events: Vec::new() });
        let WhenInput { view, now, .. } = *input;
        if let Some(binding) = binding(view) {
            return plain(format!("starts on {} once {} is provisioned", binding.node, binding.claim));
        }
        if let Some(victims) = view.preemption.as_ref().and_then(PreemptionView::waits_for) {
            let by = victims
                .until
                .filter(|until| *until > now)
                .map_or_else(String::new, |until| format!(", at the latest {}", moment_and_span(now, until)));
            let text = format!("tried again when the pods evicted for it on {} are gone{by}", victims.node);
            return Some(Self { text, at: victims.until, events: Vec::new() });
        }
        if let Some(Place::Backoff { expires, .. }) = input.entry.map(|entry| &entry.place).filter(|_| view.outcome != Some(Outcome::Gated))
        {
            return Some(Self {
                text: format!("tried again when its backoff ends: {}", moment_and_span(now, *expires)),
                at: Some(*expires),
                events: Vec::new(),
            });
        }
        match view.outcome? {
            Outcome::Gated => plain(gated(view.pre_enqueue.as_ref()?)?),
            Outcome::Unschedulable => Some(Self::parked(input)),
            Outcome::Scheduled | Outcome::Error => None,
        }
    }

    /// Returns when a pod that plugins rejected is tried again.
    fn parked(input: &WhenInput<'_>) -> Self {
        let WhenInput { view, now, .. } = *input;
        let plugins = view.failure.as_ref().map(|failure| failure.plugins).unwrap_or_default();
        let profile = view.start.as_ref().map_or("", |start| start.profile.as_str());
        let mut events: Vec<ClusterEvent> = Vec::new();
        for event in plugins.iter().flat_map(|plugin| input.requeue_events.of(profile, plugin)) {
            if !events.contains(event) {
                events.push(*event);
            }
        }
        let words: Vec<String> = events.iter().filter_map(ClusterEvent::words).collect();
        let more = words.len().saturating_sub(EVENTS_NAMED);
        let more = if more > 0 { format!(", or {} of events", count(more, "other kind")) } else { String::new() };
        let waits = if words.is_empty() {
            "waits, and no event moves it".to_owned()
        } else {
            format!("waits until {}{more}", words[..words.len().min(EVENTS_NAMED)].join(", "))
        };
        let stay = SignedDuration::try_from(input.longest_stay).unwrap_or(SignedDuration::MAX);
        let parked = match input.entry.map(|entry| (&entry.place, entry.timestamp)) {
            Some((Place::Unschedulable { .. }, since)) => Some(since),
            _ => input.failed,
        };
        let at = parked.and_then(|since| since.checked_add(stay).ok()).filter(|at| *at > now);
        let flush = match at {
            Some(at) => format!("; tried anyway by the flush after {}", moment_and_span(now, at)),
            None => format!("; tried anyway {} min after its last attempt", input.longest_stay.as_secs() / 60),
        };
        Self { text: format!("{waits}{flush}"), at, events: events.iter().map(ToString::to_string).collect() }
    }
}

/// Returns when PreEnqueue lets a pod in; `None` where no single change does.
fn gated(status: &Status) -> Option<String> {
    Some(match status.reasons() {
        [Reason::SchedulingGates { gates }] => {
            let gates: Vec<String> = gates.iter().map(ToString::to_string).collect();
            format!(
                "tried once {} removed: {}",
                if gates.len() == 1 { "its scheduling gate is" } else { "its scheduling gates are" },
                gates.join(", ")
            )
        }
        [Reason::PodGroupMissing { group }] => format!("tried once there is a pod group {group}"),
        [Reason::GangIncomplete { min_count, .. }] => format!("tried once its pod group has {min_count} pods"),
        [Reason::PreemptionInProgress | Reason::GroupPreemptionInProgress] => "tried once the pods preempted for it are gone".to_owned(),
        _ => return None,
    })
}
