//! Changes of the cluster since a moment: a decision from before them was made on another state.
//!
//! Objects give the times of creation, binding, nomination and deletion; nodes and budgets also that of their last change,
//! if managed fields were kept. Other changes leave no time, and deleted objects leave nothing.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use strum::IntoEnumIterator as _;

use super::last_reported::{Preempted, SchedulerEvents};
use crate::cluster::{Cluster, Key, Kind, Str};

/// A change of the cluster.
#[derive(Clone, Debug)]
enum Change {
    Bound(Key, Str),
    Going(Key),
    Came(Kind, Key),
    Changed(Kind, Key),
    Nominated(Key, Str),
    Evicted(Key),
    Seen(String),
}

/// The known changes, by time.
#[derive(Clone, Debug, Default)]
pub(super) struct Changes {
    changes: Vec<(Timestamp, Change)>,
}

impl Changes {
    /// Collects the changes from objects, evictions, bindings reported by Events, and changes seen on a live cluster.
    pub(super) fn of(
        cluster: &Cluster,
        preempted: &[Preempted],
        bound: &BTreeMap<Key, Timestamp>,
        heard: &SchedulerEvents,
        seen: &[(Timestamp, String)],
    ) -> Self {
        let mut changes: Vec<(Timestamp, Change)> = seen.iter().map(|(time, words)| (*time, Change::Seen(words.clone()))).collect();
        for victim in preempted.iter().filter(|p| !p.going) {
            changes.extend(victim.at.map(|time| (time, Change::Evicted(victim.victim.clone()))));
        }
        for pod in cluster.pods.iter() {
            if let Some(time) = pod.metadata.deletion_timestamp {
                // The deletion timestamp is the end of the grace period.
                let grace = if pod.node_name.is_empty() { 0 } else { pod.spec.termination_grace_period_seconds.unwrap_or(30).max(0) };
                let asked = time.checked_sub(SignedDuration::from_secs(grace)).unwrap_or(time);
                changes.push((asked, Change::Going(pod.key())));
            }
            if pod.node_name.is_empty() {
                // It counts on the node since the attempt that nominated it.
                if !pod.status.nominated_node_name.is_empty()
                    && let Some(time) = heard.about(pod).and_then(|written| written.at)
                {
                    changes.push((time, Change::Nominated(pod.key(), pod.status.nominated_node_name.clone())));
                }
                continue;
            }
            // The kubelet sets the start time right after binding; the condition of the binding is not kept for all pods.
            if let Some(time) = pod.status.start_time.or_else(|| bound.get(&pod.key()).copied()).or(pod.metadata.creation_timestamp) {
                changes.push((time, Change::Bound(pod.key(), pod.node_name.clone())));
            }
        }
        for kind in Kind::iter().filter(|k| counts(*k)) {
            for object in cluster.objects_of(kind) {
                let created = object.meta().creation_timestamp;
                changes.extend(created.map(|time| (time, Change::Came(kind, object.key()))));
                let changed = object.meta().changed.filter(|time| created.is_none_or(|created| created < *time));
                changes.extend(changed.map(|time| (time, Change::Changed(kind, object.key()))));
            }
        }
        changes.sort_by_key(|(time, _)| *time);
        Self { changes }
    }

    /// Returns the changes since a moment, other than those of the pod itself, a line per kind of change. Objects have whole
    /// seconds, so changes within the second of the moment count too.
    pub(super) fn since(&self, moment: Timestamp, pod: &Key) -> Vec<String> {
        let second = Timestamp::from_second(moment.as_second()).unwrap_or(moment);
        let at = self.changes.partition_point(|(time, _)| *time < second);
        let (mut bound, mut going, mut came, mut evicted, mut seen) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut changed, mut nominated) = (Vec::new(), Vec::new());
        for (_, change) in &self.changes[at..] {
            match change {
                Change::Nominated(other, _) if other == pod => {}
                Change::Nominated(other, node) => nominated.push(format!("{other} to {node}")),
                Change::Changed(kind, key) => changed.push(format!("{kind} {key}")),
                Change::Bound(pod, node) => bound.push(format!("{pod} to {node}")),
                Change::Going(pod) => going.push(pod.to_string()),
                Change::Evicted(pod) => evicted.push(pod.to_string()),
                Change::Seen(words) => seen.push(words.clone()),
                Change::Came(kind, key) => came.push(format!("{kind} {key}")),
            }
        }
        let line = |one: &str, many: &str, names: Vec<String>| match &names[..] {
            [] => None,
            [name] => Some(format!("{one}: {name}")),
            [first, second] => Some(format!("2 {many}: {first}, {second}")),
            [first, second, ..] => Some(format!("{} {many}: {first}, {second} and others", names.len())),
        };
        [
            line("1 pod was bound since", "pods were bound since", bound),
            line("1 pod has started terminating since", "pods have started terminating since", going),
            line("1 pod was evicted since", "pods were evicted since", evicted),
            line("1 other pod was nominated since", "other pods were nominated since", nominated),
            line("1 object was changed since", "objects were changed since", changed),
            line("1 object was created since", "objects were created since", came),
            line("1 change was seen since", "changes were seen since", seen),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// Returns whether creating or changing an object of a kind can change a decision.
fn counts(kind: Kind) -> bool {
    !matches!(kind, Kind::Pod | Kind::PriorityClass | Kind::ReplicaSet | Kind::ReplicationController | Kind::StatefulSet | Kind::Service)
}
