//! Pods that were waiting before the start: they enter the queue at their inferred place.

use std::sync::Arc;

use jiff::Timestamp;

use super::{QueueEnv, SchedulingQueue};
use crate::cluster::Pod;
use crate::framework::{ClusterEvent, NominatingInfo, PluginSet, QueuedPodInfo};
use crate::trace::{Event, InferredPlace, MoveCause, Place, QueueOrder};

/// The inferred queue of a pod that `PreEnqueue` admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InferredQueue {
    /// activeQ: to be tried.
    Active,
    /// unschedulablePods: rejected by plugins.
    Parked,
    /// The error heap of backoffQ, or activeQ if the backoff is over: the attempt ended in an error.
    AfterError,
    /// No queue. A nomination of the pod still counts.
    Nowhere,
}

/// The inferred state of a pending pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// Its queue.
    pub waits: InferredQueue,
    /// Time of its arrival in the queue, or of its return after the last known attempt; not in the future.
    pub timestamp: Timestamp,
    /// Known attempts; all are assumed to have ended as the last one did.
    pub attempts: u32,
    /// The plugins that rejected it; never empty for a parked pod.
    pub plugins: PluginSet,
    /// The evidence, and the facts that remain unknown.
    pub from: String,
}

impl SchedulingQueue {
    /// Places a pod that has been waiting. Runs `PreEnqueue`: a rejected pod is gated for certain, which is recorded as
    /// a move; any other place is recorded as [`Event::PlaceInferred`]. Registers the pod's nomination as for a new
    /// pod, so in most releases not for a gated one. Replaces a queued pod of the same name.
    pub fn place_as_observed(&mut self, env: &mut dyn QueueEnv, pod: &Arc<Pod>, observed: Observed) {
        let Observed { waits, timestamp, attempts, plugins, from } = observed;
        self.drop_waiting(env, &pod.key(), MoveCause::Cycle);
        let mut info = Arc::new(QueuedPodInfo::new(pod.clone(), timestamp, self.next_sequence(), self.config.emulation));
        if !self.passes_pre_enqueue(env, &mut info) {
            self.park(env, &info, None, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD), None);
            self.nominate_gated(env, &info);
            return;
        }
        let known = Arc::make_mut(&mut info);
        known.attempts = attempts;
        known.initial_attempt_timestamp = Some(timestamp);
        match waits {
            InferredQueue::Active => known.unschedulable_count = attempts,
            InferredQueue::Parked => {
                known.unschedulable_plugins = plugins;
                known.unschedulable_count = attempts.max(1);
            }
            InferredQueue::AfterError => known.consecutive_errors_count = attempts.max(1),
            InferredQueue::Nowhere => {}
        }
        let waits = match waits {
            // A member never parks after an attempt: its backoff may still last.
            InferredQueue::Parked if self.is_group_member(pod) => InferredQueue::AfterError,
            waits => waits,
        };
        let place = match waits {
            InferredQueue::Parked if !plugins.is_empty() => Some(super::unschedulable_place(&info)),
            InferredQueue::AfterError if self.backoff.is_backing_off(&info, env.now()) => Some(self.backoff_place(&info)),
            InferredQueue::Active | InferredQueue::Parked | InferredQueue::AfterError => Some(Place::Active),
            InferredQueue::Nowhere => None,
        };
        match &place {
            Some(Place::Unschedulable { .. }) => drop(self.unschedulable.insert(info.key(), info.clone())),
            Some(Place::Backoff { .. }) => self.backoff.insert(info.clone()),
            Some(_) => self.active.insert(info.clone()),
            None => {}
        }
        if let Some(place) = place {
            let order = QueueOrder { priority: pod.priority(), timestamp, sequence: info.sequence };
            let inferred = InferredPlace { pod: info.key(), place, order, attempts, plugins: info.rejectors(), from };
            self.record(env, Event::PlaceInferred(Box::new(inferred)));
        }
        self.add_nominated_pod(env, pod, &NominatingInfo::Noop);
    }
}
