//! Pods that were waiting before the start: they enter the queue at their inferred place.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{QueueEnv, SchedulingQueue};
use crate::cluster::{Key, Pod};
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
    /// backoffQ.
    Backoff,
    /// No queue. A nomination of the pod still counts.
    Nowhere,
}

/// The inferred state of a pending pod.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
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

/// A queue in which the scheduler's log shows a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QueueInLog {
    /// activeQ.
    Active,
    /// backoffQ, with the calculated end of the backoff if the log has what that needs.
    Backoff(Option<Timestamp>),
    /// unschedulablePods.
    Unschedulable,
}

/// The place of a pending pod by the scheduler's log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceInLog {
    pub pod: Key,
    pub queue: QueueInLog,
    /// Since when it is there.
    pub since: Timestamp,
    /// Its attempts in the log.
    pub attempts: u32,
    /// The plugins that rejected it last.
    pub plugins: PluginSet,
    /// When its last attempt failed; `None` if the log has no failed attempt.
    #[serde(default)]
    pub failed: Option<Timestamp>,
    /// Whether its last attempt ended in an error.
    #[serde(default)]
    pub error: bool,
    /// The line of the log, in words.
    pub words: String,
}

impl SchedulingQueue {
    /// Places a pod where the scheduler's log shows it; see [`Self::place_as_observed`].
    pub fn place_as_logged(&mut self, env: &mut dyn QueueEnv, pod: &Arc<Pod>, logged: &PlaceInLog) {
        let (waits, expires) = match logged.queue {
            QueueInLog::Active => (InferredQueue::Active, None),
            QueueInLog::Backoff(expires) => (InferredQueue::Backoff, expires),
            QueueInLog::Unschedulable => (InferredQueue::Parked, None),
        };
        let attempts = logged.attempts.max(u32::from(waits != InferredQueue::Active));
        // The base of the backoff is the failure, which came before the move.
        let is_backoff = matches!(logged.queue, QueueInLog::Backoff(_));
        let mut timestamp = logged.failed.filter(|failed| is_backoff && *failed <= logged.since).unwrap_or(logged.since);
        if let Some(expires) = expires {
            let mut info = QueuedPodInfo::new(pod.clone(), expires, 0, self.config.emulation);
            info.attempts = attempts;
            count(&mut info, attempts, logged.plugins);
            let length = self.backoff_expiration(&info).map(|end| end.duration_since(expires)).unwrap_or_default();
            timestamp = expires.checked_sub(length).unwrap_or(expires);
        }
        let observed = Observed { waits, timestamp, attempts, plugins: logged.plugins, from: logged.words.clone() };
        self.put_waiting(env, pod, observed, true);
    }

    /// Places a pod that has been waiting. Runs `PreEnqueue`: a rejected pod is gated for certain, which is recorded as
    /// a move; any other place is recorded as [`Event::PlaceInferred`]. Registers the pod's nomination as for a new
    /// pod, so in most releases not for a gated one. Replaces a queued pod of the same name.
    pub fn place_as_observed(&mut self, env: &mut dyn QueueEnv, pod: &Arc<Pod>, observed: Observed) {
        self.put_waiting(env, pod, observed, false);
    }

    fn put_waiting(&mut self, env: &mut dyn QueueEnv, pod: &Arc<Pod>, observed: Observed, from_log: bool) {
        let Observed { waits, timestamp, attempts, plugins, from } = observed;
        self.drop_waiting(env, &pod.key(), MoveCause::Cycle);
        let mut info = Arc::new(QueuedPodInfo::new(pod.clone(), timestamp, self.next_sequence(), self.config.emulation));
        let passes = self.passes_pre_enqueue(env, &mut info);
        if !passes || self.is_gated(&info) {
            let cause = MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD);
            self.park(env, &info, None, cause, None);
            self.nominate_gated(env, &info);
            if !passes {
                self.gate_mates(env, &info, cause);
            }
            self.record_group_gate(env, pod);
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
            InferredQueue::Backoff => count(known, attempts, plugins),
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
            InferredQueue::Backoff => Some(self.backoff_place(&info)),
            // The scheduler knows a rejector that this release does not have.
            InferredQueue::Parked if from_log => Some(super::unschedulable_place(&info)),
            InferredQueue::Active | InferredQueue::Parked | InferredQueue::AfterError => Some(Place::Active),
            InferredQueue::Nowhere => None,
        };
        match &place {
            Some(Place::Unschedulable { .. }) => self.unschedulable.of(&info.key()).insert(info.clone()),
            Some(Place::Backoff { .. }) => self.backoff.of(&info.key()).insert(info.clone()),
            Some(_) => self.active.of(&info.key()).insert(info.clone()),
            None => {}
        }
        if let Some(place) = place {
            let order = QueueOrder { priority: pod.priority(), timestamp, sequence: info.sequence };
            let inferred = InferredPlace { pod: info.key(), place, order, attempts, plugins: info.rejectors(), from, from_log };
            self.record(env, Event::PlaceInferred(Box::new(inferred)));
        }
        self.add_nominated_pod(env, pod, &NominatingInfo::Noop);
    }
}

/// Counts the failures of a pod in backoffQ.
fn count(info: &mut QueuedPodInfo, attempts: u32, plugins: PluginSet) {
    if plugins.is_empty() {
        info.consecutive_errors_count = attempts.max(1);
    } else {
        info.unschedulable_plugins = plugins;
        info.unschedulable_count = attempts.max(1);
    }
}
