//! The last report of the cluster's scheduler about a pod, and its evictions.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::cluster::{Cluster, Key, ObservedEvent, Pod, Str, Uid};

/// The cluster's scheduler's last report about a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LastReported {
    /// `Unschedulable`, `SchedulerError` or `SchedulingGated`; empty if only an event exists.
    pub reason: Str,
    /// The verbatim message.
    pub message: String,
    /// When it was written or last seen; `None` if unknown.
    pub at: Option<Timestamp>,
    /// `condition` or `event`.
    pub source: &'static str,
    /// A lower bound on the number of failed attempts.
    pub attempts: u32,
}

/// A victim of preemption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Preempted {
    pub victim: Key,
    /// The node it ran on; empty if only a condition reports the eviction.
    pub node: Str,
    /// The pod it was evicted for; `None` if that pod no longer exists.
    pub preemptor: Option<Key>,
    /// The pod that it was evicted for, if that is gone and events still name it.
    pub gone: Option<Key>,
    /// The event's name for the preemptor: its uid since 2023, `namespace/name` before; empty if only a condition reports it.
    pub by: String,
    /// When it was evicted.
    pub at: Option<Timestamp>,
    /// Whether the victim still exists and is terminating.
    pub going: bool,
}

/// FailedScheduling events, by pod.
#[derive(Clone, Debug, Default)]
pub struct SchedulerEvents {
    by_pod: BTreeMap<Key, Vec<ObservedEvent>>,
}

impl SchedulerEvents {
    /// Collects the FailedScheduling events.
    pub fn new(events: &[ObservedEvent]) -> Self {
        let mut by_pod: BTreeMap<Key, Vec<ObservedEvent>> = BTreeMap::new();
        for event in events.iter().filter(|e| e.reason == "FailedScheduling") {
            by_pod.entry(event.pod.clone()).or_default().push(event.clone());
        }
        Self { by_pod }
    }

    /// Returns the last report about a pod; `None` if there is none.
    pub fn about(&self, pod: &Pod) -> Option<LastReported> {
        let key = pod.key();
        let failed: Vec<&ObservedEvent> = self.by_pod.get(&key).into_iter().flatten().filter(|e| e.is_about(pod)).collect();
        let attempts = failed.iter().fold(0u32, |sum, e| sum.saturating_add(e.count.max(1)));
        let newest = failed.iter().max_by_key(|e| e.last.max(e.first));
        let seen = newest.and_then(|e| e.last.max(e.first));
        let condition = pod.condition("PodScheduled").filter(|c| c.status == "False");
        match (condition, newest) {
            (Some(condition), newest) => {
                // The condition keeps its time when only its message changes; the event of that message has the newer one.
                let same = newest.filter(|e| says_the_same(&e.note, &condition.message)).and(seen);
                Some(LastReported {
                    reason: condition.reason.clone(),
                    message: condition.message.to_string(),
                    at: same.max(condition.last_transition_time),
                    source: "condition",
                    attempts: u32::max(attempts, u32::from(condition.reason != "SchedulingGated")),
                })
            }
            (None, Some(event)) => {
                Some(LastReported { reason: Str::default(), message: event.note.clone(), at: seen, source: "event", attempts })
            }
            (None, None) => None,
        }
    }
}

impl LastReported {
    /// Returns whether the report has a message to the letter.
    pub fn says(&self, message: &str) -> bool {
        says_the_same(&self.message, message)
    }
}

/// Compares an event's note with a message: kube-scheduler truncates notes to 1024 characters.
pub(super) fn says_the_same(note: &str, message: &str) -> bool {
    note == message || start_of_truncated(note).is_some_and(|start| message.starts_with(start))
}

/// Returns whether an event's note may be about a message that starts so.
pub(super) fn may_start_with(note: &str, start: &str) -> bool {
    note.starts_with(start) || start_of_truncated(note).is_some_and(|note| start.starts_with(note) || note.starts_with(start))
}

/// Returns the part of a truncated note that its message has; `None` for a note that is whole.
fn start_of_truncated(note: &str) -> Option<&str> {
    note.strip_suffix("...").filter(|_| note.len() >= 1020).map(str::trim_end)
}

/// Returns the victims of preemption that conditions and events report, oldest first.
pub fn preempted(cluster: &Cluster, events: &[ObservedEvent]) -> Vec<Preempted> {
    let mut by_uid: BTreeMap<&Uid, Key> = BTreeMap::new();
    let wanted = events.iter().filter(|e| e.reason == "Preempted");
    let preemptions: Vec<(&ObservedEvent, &str, &str)> =
        wanted.filter_map(|e| by_and_node(&e.note).map(|(by, node)| (e, by, node))).collect();
    // Events about a pod that is gone still name it.
    let mut gone_by_uid: BTreeMap<&str, &Key> = BTreeMap::new();
    if !preemptions.is_empty() {
        for event in events.iter().filter(|event| !event.uid.is_empty()) {
            gone_by_uid.entry(event.uid.as_str()).or_insert(&event.pod);
        }
        by_uid.extend(cluster.pods.iter().filter(|p| !p.metadata.uid.is_empty()).map(|p| (&p.metadata.uid, p.key())));
    }
    let mut found = Vec::new();
    let mut preempted = HashSet::new();
    for (event, by, node) in preemptions {
        let by_name = by.split_once('/').map(|(namespace, name)| Key::new(namespace, name));
        let preemptor = by_uid.get(&Uid::from(by)).cloned().or(by_name.filter(|key| cluster.pods.get(key).is_some()));
        let gone = if preemptor.is_none() { gone_by_uid.get(by).map(|pod| Key::clone(pod)) } else { None };
        let victim = cluster.pods.get(&event.pod).filter(|p| event.uid.is_empty() || p.metadata.uid == event.uid);
        if victim.is_some() {
            preempted.insert(&event.pod);
        }
        found.push(Preempted {
            victim: event.pod.clone(),
            node: node.into(),
            preemptor,
            gone,
            by: by.to_owned(),
            at: event.last.or(event.first),
            going: victim.is_some_and(|p| p.is_terminating()),
        });
    }
    for pod in cluster.pods.iter() {
        let target = pod
            .status
            .conditions
            .iter()
            .find(|c| c.kind == "DisruptionTarget" && c.reason == "PreemptionByScheduler" && c.status == "True");
        let Some(condition) = target else { continue };
        if preempted.contains(&pod.key()) {
            continue;
        }
        found.push(Preempted {
            victim: pod.key(),
            node: pod.node_name.clone(),
            preemptor: None,
            gone: None,
            by: String::new(),
            at: condition.last_transition_time,
            going: pod.is_terminating(),
        });
    }
    found.sort_by(|a, b| (a.at, &a.victim).cmp(&(b.at, &b.victim)));
    found
}

/// Parses `Preempted by pod <uid> on node <node>`, or `Preempted by <namespace>/<name> on node <node>` of before 2023.
fn by_and_node(note: &str) -> Option<(&str, &str)> {
    let rest = note.strip_prefix("Preempted by ")?;
    let (by, node) = rest.split_once(" on node ")?;
    let by = ["pod ", "podgroup "].iter().find_map(|word| by.strip_prefix(word)).unwrap_or(by);
    Some((by, node.split(' ').next().unwrap_or(node).trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_notes_are_compared_as_far_as_they_go() {
        let message = format!("0/3 nodes are available: {}. preemption: 0/3 nodes are available.", "3 Insufficient cpu ".repeat(60));
        let note = format!("{}...", &message[..1021]);
        let (base, _) = message.split_once(" preemption").unwrap();
        for note in [message.as_str(), &note] {
            assert!(says_the_same(note, &message) && may_start_with(note, base) && may_start_with(note, &message));
            assert!(!may_start_with(note, "0/2 nodes are available:"));
        }
        assert!(
            !says_the_same(&message, base)
                && !may_start_with("0/3 nodes...", &message)
                && !may_start_with("", base)
                && may_start_with(&message, "")
        );
    }
}
