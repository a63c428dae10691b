//! When a pending pod is tried again or starts: the end of a grace period or of a backoff, a flush, or the next event of some kinds.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::moments::moment_and_span;
use super::why::binding;
use crate::cluster::{Key, Pod, Str};
use crate::framework::{ClusterEvent, PluginSet, Reason, Status};
use crate::plural::count;
use crate::session::{Keyframe, RequeueEvents};
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
            Outcome::Unschedulable => {
                let plugins = view.failure.as_ref().map(|failure| failure.plugins).unwrap_or_default();
                let profile = view.start.as_ref().map_or("", |start| start.profile.as_str());
                let parked = match input.entry.map(|entry| (&entry.place, entry.timestamp)) {
                    Some((Place::Unschedulable { .. }, since)) => Some(since),
                    _ => input.failed,
                };
                Some(Self::parked(&Parked { plugins, profile, since: parked, stay: input.longest_stay, now }, input.requeue_events))
            }
            Outcome::Scheduled | Outcome::Error => None,
        }
    }

    /// Returns when a pod that is being deleted is gone; `None` for others.
    pub fn of_ending(pod: &Pod, now: Timestamp) -> Option<Self> {
        let until = pod.metadata.deletion_timestamp?;
        let when = moment_and_span(now, until);
        let text = if until > now { format!("gone at the latest {when}") } else { format!("was to be gone {when}: something holds it") };
        Some(Self { text, at: Some(until), events: Vec::new() })
    }

    /// Returns when a pod in a queue is tried or starts, by its place alone; `None` for one that waits in no queue and is not ending.
    pub fn of_place(keyframe: &Keyframe, pod: &Pod) -> Option<Self> {
        let now = keyframe.clock;
        let plain = |text: String| Some(Self { text, at: None, events: Vec::new() });
        if let Some(ending) = Self::of_ending(pod, now) {
            return Some(ending);
        }
        let entry = keyframe.queues.entries.get(&pod.key())?;
        if let Some(gate) = keyframe.queues.group_gate(pod) {
            return plain(tried_with(&gate.pod));
        }
        if let Some(ending) = ending_victims(keyframe, pod, entry) {
            return Some(ending);
        }
        match &entry.place {
            Place::Active => {
                let active = keyframe.queues.active();
                match active.iter().position(|other| other.pod == entry.pod)? {
                    0 => plain("tried next".to_owned()),
                    before => plain(format!("tried after {} in activeQ", count(before, "pod"))),
                }
            }
            Place::Backoff { expires, .. } => Some(Self {
                text: format!("tried again when its backoff ends: {}", moment_and_span(now, *expires)),
                at: Some(*expires),
                events: Vec::new(),
            }),
            Place::Unschedulable { gated_by: Some(_), .. } if !pod.spec.scheduling_gates.is_empty() => {
                let gates: Vec<Str> = pod.spec.scheduling_gates.iter().map(|gate| gate.name.clone()).collect();
                plain(gated(&Status::rejected(Reason::SchedulingGates { gates: gates.into() }))?)
            }
            Place::Unschedulable { gated_by: Some(plugin), .. } => plain(format!("tried once {plugin} lets it into the queue")),
            Place::Unschedulable { gated_by: None, .. } => {
                let profile = pod.spec.scheduler_name.as_str();
                let stay = keyframe.emulation.behaviour().queue.leftover;
                let parked = Parked { plugins: entry.plugins, profile, since: Some(entry.timestamp), stay, now };
                Some(Self::parked(&parked, &keyframe.requeue_events))
            }
            Place::WaitingOnPermit { node } => plain(format!("starts on {node} once Permit lets it pass")),
            Place::InFlight | Place::Bound { .. } | Place::Gone => None,
        }
    }

    /// Returns when a pod that plugins rejected is tried again.
    fn parked(parked: &Parked<'_>, requeue_events: &RequeueEvents) -> Self {
        let Parked { plugins, profile, since, stay: longest_stay, now } = *parked;
        let mut events: Vec<ClusterEvent> = Vec::new();
        for event in plugins.iter().flat_map(|plugin| requeue_events.of(profile, plugin)) {
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
        let stay = SignedDuration::try_from(longest_stay).unwrap_or(SignedDuration::MAX);
        let at = since.and_then(|since| since.checked_add(stay).ok()).filter(|at| *at > now);
        let flush = match at {
            Some(at) => format!("; tried anyway by the flush after {}", moment_and_span(now, at)),
            // Longer stays than this are looked for every half a minute.
            None => {
                let minutes = longest_stay.as_secs() / 60;
                format!("; tried anyway {minutes} to {minutes}½ min after its last attempt")
            }
        };
        Self { text: format!("{waits}{flush}"), at, events: events.iter().map(ToString::to_string).collect() }
    }
}

/// A pod that plugins rejected.
#[derive(Clone, Copy)]
struct Parked<'a> {
    plugins: PluginSet,
    profile: &'a str,
    /// When it was parked, if that is known.
    since: Option<Timestamp>,
    /// How long pods stay in unschedulablePods at most.
    stay: Duration,
    now: Timestamp,
}

/// Returns when the pods that end on a pod's nominated node are gone; `None` if none of lower priority ends there.
fn ending_victims(keyframe: &Keyframe, pod: &Pod, entry: &QueueEntry) -> Option<When> {
    let nominated = if entry.nominated.is_empty() { &pod.status.nominated_node_name } else { &entry.nominated };
    let node = keyframe.snapshot.get(nominated)?;
    let is_victim = |other: &Pod| other.is_terminating() && other.priority() < pod.priority();
    let victims: Vec<&Pod> = node.pods.iter().map(|info| &*info.pod).filter(|other| is_victim(other)).collect();
    let until = victims.iter().map(|victim| victim.metadata.deletion_timestamp).max()?;
    let by = until
        .filter(|until| *until > keyframe.clock)
        .map_or_else(String::new, |until| format!(", at the latest {}", moment_and_span(keyframe.clock, until)));
    let ending = count(victims.len(), "ending pod");
    let are = if victims.len() == 1 { "is" } else { "are" };
    let text = format!("tried again when {ending} on {nominated} {are} gone{by}");
    Some(When { text, at: until, events: Vec::new() })
}

/// Says that a pod waits until another of its group is let in.
fn tried_with(other: &Key) -> String {
    format!("tried once pod {other} of its pod group is let into the queue")
}

/// Returns when PreEnqueue lets a pod in; `None` where no single change does.
fn gated(status: &Status) -> Option<String> {
    Some(match status.reasons() {
        [Reason::GroupGated { pod, .. }] => tried_with(pod),
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

#[cfg(test)]
mod tests;
