//! Runs a scheduler until nothing changes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Operation, Scheduler, State};
use crate::cluster::{Key, Kind, Pod, Str};
use crate::framework::{PodInfo, node_steps};
use crate::limits::engine::{
    RUN_BYTES_OF_OBJECT, RUN_SMALL, RUN_STEPS, RUN_STEPS_OF_BYTE, RUN_STEPS_OF_ENTRY, RUN_STEPS_OF_OBJECT, RUN_STEPS_OF_PAIR,
    RUN_STEPS_OF_RECORDED,
};
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

/// The bound on the steps of a run, by [`State::steps`]; see [`RUN_STEPS`].
#[derive(Clone, Copy, Debug)]
pub struct StepBound {
    /// The steps of the scheduler at which the run ends.
    end: u64,
    is_reached: bool,
}

impl StepBound {
    /// Bounds a run from here on by the size of the cluster.
    pub fn of(scheduler: &Scheduler) -> Self {
        Self::after(scheduler.state(), Self::allowance(scheduler))
    }

    /// Bounds a run from here on.
    pub fn after(state: &State, steps: u64) -> Self {
        Self { end: state.steps().saturating_add(steps), is_reached: false }
    }

    /// Bounds a run from here on whose operations are written; each counts with [`Self::spend_on_written`].
    pub fn of_written(scheduler: &Scheduler) -> Self {
        Self::after(scheduler.state(), Self::allowance_of_recorded(scheduler))
    }

    /// Returns the number of steps that are allowed for recorded decisions on a cluster of this size, of which each step counts
    /// [`RUN_STEPS_OF_RECORDED`].
    pub fn allowance_of_recorded(scheduler: &Scheduler) -> u64 {
        let bytes = scheduler.source_length();
        (Self::allowance(scheduler) / 2).saturating_add(bytes.saturating_mul(RUN_STEPS_OF_BYTE))
    }

    /// Returns how many of these steps a recorded decision about a pod takes, about.
    pub fn steps_of_recorded(scheduler: &Scheduler, pod: &Arc<Pod>) -> u64 {
        Self::steps_of_decision(scheduler, pod).saturating_mul(RUN_STEPS_OF_RECORDED)
    }

    /// Returns how many steps a decision about a pod takes that is not recorded, about.
    pub fn steps_of_decision(scheduler: &Scheduler, pod: &Arc<Pod>) -> u64 {
        let (state, snapshot) = (scheduler.state(), scheduler.state().snapshot());
        let of_node = node_steps(&PodInfo::with_emulation(pod.clone(), state.config().emulation), &snapshot);
        (snapshot.len().max(1) as u64).saturating_mul(of_node)
    }

    /// Counts an operation that began at a number of steps, and is written, with this many pods in the queues.
    pub fn spend_on_written(&mut self, before: u64, state: &State, entries: usize) {
        let recorded = state.steps().saturating_sub(before).saturating_mul(RUN_STEPS_OF_RECORDED - 1);
        self.spend(recorded.saturating_add((entries as u64).saturating_mul(RUN_STEPS_OF_ENTRY)));
    }

    /// Returns whether steps are left for a further operation of any kind; the run ends here if not.
    pub fn allows_any(&mut self, state: &State) -> bool {
        self.is_reached |= state.steps() >= self.end;
        !self.is_reached
    }

    /// Returns the number of steps that are allowed for a cluster of this size.
    pub fn allowance(scheduler: &Scheduler) -> u64 {
        let cluster = scheduler.state().cluster();
        steps_allowed(cluster.nodes.len() + cluster.pods.len(), scheduler.options().source_bytes)
    }

    /// Returns the bound on each of two runs that share the steps that are left.
    #[must_use]
    pub fn halved(self, state: &State) -> Self {
        Self { end: state.steps().saturating_add(self.end.saturating_sub(state.steps()) / 2), ..self }
    }

    /// Returns the bound of a run that ends here.
    #[must_use]
    pub fn reached(self) -> Self {
        Self { is_reached: true, ..self }
    }

    /// Returns the same for a scheduler that starts anew with what is left.
    #[must_use]
    pub fn restarted(self, before: &State, after: &State) -> Self {
        Self { is_reached: self.is_reached, ..Self::after(after, self.end.saturating_sub(before.steps())) }
    }

    /// Returns how many steps the scheduler took beyond the bound.
    pub fn steps_beyond(&self, state: &State) -> u64 {
        state.steps().saturating_sub(self.end)
    }

    /// Counts steps of other decisions.
    pub fn spend(&mut self, steps: u64) {
        self.end = self.end.saturating_sub(steps);
    }

    /// Returns whether an operation may be applied. A turn of the scheduling loop ends the run if no steps are left; time passes.
    pub fn allows(&mut self, state: &State, operation: &Operation) -> bool {
        self.is_reached |= matches!(operation, Operation::Schedule) && state.steps() >= self.end;
        !self.is_reached
    }

    /// Returns the next operation of a run, as [`Scheduler::next_operation`] does, while steps are left.
    pub fn next_operation(&mut self, scheduler: &Scheduler, settling: &Quiescence) -> Option<Operation> {
        scheduler.next_operation(settling).filter(|operation| self.allows(scheduler.state(), operation))
    }

    /// Returns whether a run ended here, with pods that are not decided.
    pub fn is_reached(&self) -> bool {
        self.is_reached
    }
}

/// Bytes of a node or pod of a source of unknown length.
const USUAL_LENGTH: u64 = 3_000;

/// Returns how many steps a run may take on a cluster with this many nodes and pods, of a source of this length.
fn steps_allowed(objects: usize, bytes: Option<u64>) -> u64 {
    let long = bytes.map_or(usize::MAX, |bytes| usize::try_from(bytes / RUN_BYTES_OF_OBJECT).unwrap_or(usize::MAX));
    let objects = objects.min(long);
    let of_pairs = RUN_STEPS_OF_PAIR.saturating_mul(objects.saturating_sub(RUN_SMALL) as u64);
    RUN_STEPS.saturating_add((objects as u64).saturating_mul(RUN_STEPS_OF_OBJECT.saturating_add(of_pairs)))
}

impl Scheduler {
    /// Returns the length of the source, unpacked, in bytes, or about that of its nodes and pods where it is unknown.
    pub fn source_length(&self) -> u64 {
        let cluster = self.state().cluster();
        let usual = (cluster.nodes.len() + cluster.pods.len()) as u64 * USUAL_LENGTH;
        self.options().source_bytes.unwrap_or(usual)
    }

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
