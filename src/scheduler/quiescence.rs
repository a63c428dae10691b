//! Runs a scheduler until nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Operation, Scheduler};
use crate::cluster::{Key, Kind, Str};
use crate::trace::{Event, Eviction, ObjectChange, PermitEnd};

/// Attempts of one pod without a change after which the run ends.
const MAX_TRIES: u32 = 1000;

/// State of a run until nothing changes.
///
/// Every pending pod is tried once after the last change. A change is a pod bound, evicted or deleted, or an object
/// added or deleted. Changes that can repeat in a cycle count only once after such a change: a moved nomination, a pod
/// that stops waiting on Permit, a written object other than a pod.
///
/// ```
/// use schedscope::scheduler::{Scheduler, Quiescence};
///
/// /// Runs until nothing changes; returns the number of operations.
/// fn settle(scheduler: &mut Scheduler) -> usize {
///     let (mut settling, mut operations) = (Quiescence::default(), 0);
///     while let Some(operation) = scheduler.next_operation(&settling) {
///         settling.observe(&scheduler.apply(operation));
///         operations += 1;
///     }
///     operations
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quiescence {
    /// Attempts of each pod since the last change.
    tries: BTreeMap<Key, u32>,
    /// Changes that can repeat and were counted.
    seen: BTreeSet<Change>,
}

/// A change that can repeat in a cycle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Nominated(Key, Str),
    Cleared(Key, Str),
    WaitEnded(Key, Str),
    Written(String, Key),
}

impl Quiescence {
    /// Records the events of an operation.
    pub fn observe(&mut self, events: &[Event]) {
        for event in events {
            let change = match event {
                Event::PodPopped { pod, .. } => {
                    *self.tries.entry(pod.clone()).or_default() += 1;
                    continue;
                }
                Event::PodBound { .. }
                | Event::GracePeriodEnded { .. }
                | Event::VictimEvicted { how: Eviction::Deleted | Eviction::Terminating, .. }
                | Event::ObjectChanged { change: ObjectChange::Added | ObjectChange::Deleted, .. } => {
                    self.seen.clear();
                    self.tries.clear();
                    continue;
                }
                Event::PodNominated { pod, node } => Change::Nominated(pod.clone(), node.clone()),
                Event::NominationCleared { pod, node } => Change::Cleared(pod.clone(), node.clone()),
                Event::PermitResolved { pod, node, end, .. } if *end != PermitEnd::Allowed => {
                    Change::WaitEnded(Key::clone(pod), node.clone())
                }
                // Pods are written to after every failed attempt.
                Event::ObjectChanged { kind, key, .. } if *kind != Kind::Pod => Change::Written(kind.to_string(), key.clone()),
                _ => continue,
            };
            if self.seen.insert(change) {
                self.tries.clear();
            }
        }
    }

    fn tries(&self, pod: &Key) -> u32 {
        self.tries.get(pod).copied().unwrap_or(0)
    }
}

impl Scheduler {
    /// Returns the next operation of a run until nothing changes: a turn of the scheduling loop while a pod can be
    /// popped, otherwise an advance to the next timer. `None` ends the run.
    ///
    /// Every run ends. Failed pods are tried again after their backoff or their stay in unschedulablePods, while one of
    /// them is untried since the last change; then the run ends, even where kube-scheduler would retry forever.
    pub fn next_operation(&self, settling: &Quiescence) -> Option<Operation> {
        let next = self.next_pod().map(|pod| settling.tries(&pod));
        if next == Some(0) {
            return Some(Operation::Schedule);
        }
        if !self.awaits_something(settling) {
            return None;
        }
        match next {
            Some(tries) => (tries < MAX_TRIES).then_some(Operation::Schedule),
            None => self.next_timer().map(|wake_up| Operation::AdvanceTo { time: wake_up.time }),
        }
    }

    /// Whether an untried pod, a wait on Permit or a grace period may still cause a change.
    fn awaits_something(&self, settling: &Quiescence) -> bool {
        let queue = &self.state.queue;
        // More pods wait than were tried, so that one of them was not.
        let (active, backoff, _) = queue.len();
        if active + backoff > settling.tries.len() {
            return true;
        }
        // Time does not release gated pods.
        let parked = queue.unschedulable_pods().filter(|info| !queue.is_gated(info));
        let mut waiting = queue.active_pods().chain(queue.backoff_pods()).chain(parked);
        let ended = |pod: &Key, node: &Str| settling.seen.contains(&Change::WaitEnded(Key::clone(pod), node.clone()));
        waiting.any(|info| settling.tries(&info.key()) == 0)
            || self.state.waiting.iter().any(|(pod, w)| !ended(pod, w.node()))
            || self.next_grace_period_end().is_some()
    }
}

#[cfg(test)]
mod tests;
