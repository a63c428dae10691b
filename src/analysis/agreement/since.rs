//! Changes of the cluster since a moment: a decision from before them was made on another state.
//!
//! Objects give the times of creation, binding, nomination and deletion; nodes and budgets also that of their last change,
//! if managed fields were kept. Other changes leave no time, and deleted objects leave nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use strum::IntoEnumIterator as _;

use super::last_reported::{Preempted, SchedulerEvents};
use crate::cluster::{Cluster, Key, Kind, Object, Pod, Str};

/// A change seen on a live cluster. Objects do not have its time.
#[derive(Clone, Debug)]
pub struct SeenChange {
    /// When it was seen.
    pub at: Timestamp,
    pub before: Object,
    /// The object after it; `None` if it was deleted.
    pub after: Option<Object>,
}

/// A change of the cluster.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// A pod was bound to its node.
    Bound(Arc<Pod>),
    /// A pod was nominated to a node.
    Nominated(Arc<Pod>),
    /// A pod began to terminate; it holds its place until it is gone.
    Going(Arc<Pod>),
    /// A pod ended: it takes no room any more.
    Ended(Arc<Pod>),
    /// A pod was evicted and is gone; its spec is not known.
    Evicted { victim: Key, node: Str },
    /// An object was created.
    Came(Object),
    /// A Node's labels or spec, or a PodDisruptionBudget, were changed.
    Changed(Object),
    /// A change of a live cluster.
    Seen(SeenChange),
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
        scheduler_events: &SchedulerEvents,
        seen: &[SeenChange],
    ) -> Self {
        let mut changes: Vec<(Timestamp, Change)> = seen.iter().map(|seen| (seen.at, Change::Seen(seen.clone()))).collect();
        for gone in preempted.iter().filter(|p| !p.going) {
            let change = || Change::Evicted { victim: gone.victim.clone(), node: gone.node.clone() };
            changes.extend(gone.at.map(|time| (time, change())));
        }
        for pod in cluster.pods.iter() {
            if let Some(asked) = deletion_asked(pod) {
                changes.push((asked, Change::Going(pod.clone())));
            }
            if pod.node_name.is_empty() {
                // It counts on the node since the attempt that nominated it.
                if !pod.status.nominated_node_name.is_empty()
                    && let Some(time) = scheduler_events.about(pod).and_then(|written| written.at)
                {
                    changes.push((time, Change::Nominated(pod.clone())));
                }
                continue;
            }
            // A pod that has ended takes no place.
            if pod.is_terminal() {
                changes.extend(ended(pod).map(|time| (time, Change::Ended(pod.clone()))));
                continue;
            }
            // The kubelet sets the start time right after binding; the condition of the binding is not kept for all pods.
            if let Some(time) = pod.status.start_time.or_else(|| bound.get(&pod.key()).copied()).or(pod.metadata.creation_timestamp) {
                changes.push((time, Change::Bound(pod.clone())));
            }
        }
        for kind in Kind::iter().filter(|k| counts(*k)) {
            for object in cluster.objects_of(kind) {
                let created = object.meta().creation_timestamp;
                let changed = object.meta().changed.filter(|time| created.is_none_or(|created| created < *time));
                changes.extend(created.map(|time| (time, Change::Came(object.clone()))));
                changes.extend(changed.map(|time| (time, Change::Changed(object))));
            }
        }
        changes.sort_by_key(|(time, _)| *time);
        Self { changes }
    }

    /// Returns the changes since a moment, other than the nomination of the pod itself. Objects have whole seconds, so changes
    /// within the second of the moment count too.
    pub(super) fn since<'a>(&'a self, moment: Timestamp, pod: &Key) -> Vec<&'a Change> {
        let second = Timestamp::from_second(moment.as_second()).unwrap_or(moment);
        let at = self.changes.partition_point(|(time, _)| *time < second);
        let is_own = |change: &Change| matches!(change, Change::Nominated(other) if other.key() == *pod);
        // A pod that came and ended since changes nothing.
        let was_not_there = |change: &Change| matches!(change, Change::Ended(pod) if started(pod).is_none_or(|time| time >= second));
        self.changes[at..].iter().map(|(_, change)| change).filter(|change| !is_own(change) && !was_not_there(change)).collect()
    }
}

/// Returns when a pod ended: the kubelet says then that it is not ready any more. `None` if no condition says so.
fn ended(pod: &Pod) -> Option<Timestamp> {
    pod.condition("Ready").filter(|condition| condition.status == "False").and_then(|condition| condition.last_transition_time)
}

/// Returns when a pod started on its node, or was created; `None` if the source does not say.
fn started(pod: &Pod) -> Option<Timestamp> {
    pod.status.start_time.or(pod.metadata.creation_timestamp)
}

/// Returns when a pod was asked to terminate; the deletion timestamp is the end of its grace period.
fn deletion_asked(pod: &Pod) -> Option<Timestamp> {
    let end = pod.metadata.deletion_timestamp?;
    let grace = if pod.node_name.is_empty() { 0 } else { pod.spec.termination_grace_period_seconds.unwrap_or(30).max(0) };
    Some(end.checked_sub(SignedDuration::from_secs(grace)).unwrap_or(end))
}

/// Returns changes in words, a line for each kind of change.
pub(super) fn lines(changes: &[&Change]) -> Vec<String> {
    let (mut bound, mut going, mut came, mut evicted, mut seen) = (Vec::new(), Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ended = Vec::new();
    let (mut changed, mut nominated) = (Vec::new(), Vec::new());
    for change in changes {
        match change {
            Change::Nominated(pod) => nominated.push(format!("{} to {}", pod.key(), pod.status.nominated_node_name)),
            Change::Bound(pod) => bound.push(format!("{} to {}", pod.key(), pod.node_name)),
            Change::Going(pod) => going.push(pod.key().to_string()),
            Change::Ended(pod) => ended.push(format!("{} on {}", pod.key(), pod.node_name)),
            Change::Evicted { victim, .. } => evicted.push(victim.to_string()),
            Change::Changed(object) => changed.push(format!("{} {}", object.kind(), object.key())),
            Change::Came(object) => came.push(format!("{} {}", object.kind(), object.key())),
            Change::Seen(SeenChange { before, after, .. }) => {
                let did = if after.is_some() { "changed" } else { "was deleted" };
                seen.push(format!("{} {} {did}", before.kind(), before.key()));
            }
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
        line("1 pod ended since", "pods ended since", ended),
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

/// Returns the names of the nodes that changes made and removed.
pub(super) fn new_and_gone_nodes(changes: &[&Change]) -> (BTreeSet<Str>, BTreeSet<Str>) {
    let (mut new, mut gone) = (BTreeSet::new(), BTreeSet::new());
    for change in changes {
        match change {
            Change::Came(Object::Node(node)) => new.insert(node.metadata.name.clone()),
            Change::Seen(SeenChange { before: Object::Node(node), after: None, .. }) => gone.insert(node.metadata.name.clone()),
            _ => false,
        };
    }
    (new, gone)
}

/// Returns whether creating or changing an object of a kind can change a decision.
pub fn counts(kind: Kind) -> bool {
    !matches!(kind, Kind::Pod | Kind::PriorityClass | Kind::ReplicaSet | Kind::ReplicationController | Kind::StatefulSet | Kind::Service)
}
