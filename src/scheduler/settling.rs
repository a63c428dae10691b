//! Running on until nothing changes any more.

use std::collections::{BTreeMap, BTreeSet};

use super::{Operation, Scheduler};
use crate::cluster::{Key, Kind, Str};
use crate::trace::{Event, Eviction, ObjectChange, PermitEnd};

/// How often one pod may be tried without anything changing, before the run is given up.
const MAX_TRIES: u32 = 1000;

/// What a run until nothing changes any more remembers.
///
/// Every waiting pod is tried until it has been tried once since the last change; a pod that is bound, evicted or gone
/// is a change, and so is an object that comes or goes. What could go round in circles counts only the first time since
/// the last of these: a nomination that moves, a pod that stops waiting on Permit, an object other than a pod that is
/// written.
///
/// ```
/// use schedscope::scheduler::{Scheduler, Settling};
///
/// /// Runs until nothing changes any more; says how many operations that took.
/// fn settle(scheduler: &mut Scheduler) -> usize {
///     let (mut settling, mut operations) = (Settling::default(), 0);
///     while let Some(operation) = scheduler.next_operation(&settling) {
///         settling.observe(&scheduler.apply(operation));
///         operations += 1;
///     }
///     operations
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settling {
    /// How often each pod was tried since the last change.
    tries: BTreeMap<Key, u32>,
    /// The changes that could go round in circles and have counted already.
    seen: BTreeSet<Change>,
}

/// A change that could go round in circles.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    Nominated(Key, Str),
    Cleared(Key, Str),
    WaitEnded(Key, Str),
    Written(String, Key),
}

impl Settling {
    /// Takes note of what an operation did.
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
                Event::PermitResolved { pod, node, end, .. } if *end != PermitEnd::Allowed => Change::WaitEnded(pod.clone(), node.clone()),
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
    /// The next thing to do in a run until nothing changes any more: a turn of the scheduling loop while a pod can be
    /// popped, else as much time as passes until something happens by itself. `None` when the run is over.
    ///
    /// It always comes to an end. Pods that failed are tried again when their backoff or their time in
    /// unschedulablePods is over, as long as one of them has not been tried since the last change; then the run is over,
    /// also where kube-scheduler would go on trying the same for ever.
    pub fn next_operation(&self, settling: &Settling) -> Option<Operation> {
        let next = self.next_pod().map(|pod| settling.tries(&pod));
        if next == Some(0) {
            return Some(Operation::Schedule);
        }
        if !self.awaits_something(settling) {
            return None;
        }
        match next {
            Some(tries) => (tries < MAX_TRIES).then_some(Operation::Schedule),
            None => self.next_wake_up().map(|wake_up| Operation::AdvanceTo { time: wake_up.time }),
        }
    }

    /// Whether something is still to happen that may make a difference.
    fn awaits_something(&self, settling: &Settling) -> bool {
        let queue = &self.state.queue;
        // Gated pods do not wait for the time to pass.
        let parked = queue.unschedulable_pods().filter(|info| !info.gated());
        let mut waiting = queue.active_pods().chain(queue.backoff_pods()).chain(parked);
        let ended = |pod: &Key, node: &Str| settling.seen.contains(&Change::WaitEnded(pod.clone(), node.clone()));
        waiting.any(|info| settling.tries(&info.key()) == 0)
            || self.state.waiting.iter().any(|(pod, w)| !ended(pod, w.node()))
            || self.next_grace_period_end().is_some()
    }
}
