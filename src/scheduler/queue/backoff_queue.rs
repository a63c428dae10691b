//! backoffQ: pods that wait before they are tried again; mirrors `pkg/scheduler/backend/queue/backoff_queue.go`.

use std::sync::Arc;
use std::time::Duration;

use imbl::{HashMap, OrdMap};
use jiff::{SignedDuration, Timestamp};

use super::active_queue::{PodOrder, pod_order};
use crate::cluster::Key;
use crate::framework::QueuedPodInfo;
use crate::release::Backoff;

type BackoffOrder = (Timestamp, PodOrder);

/// Two heaps by the end of the backoff: one for pods that plugins rejected, which an idle scheduler may pop early, and
/// one for pods whose attempt ended in an error.
///
/// Equal ends are ordered as in activeQ; kube-scheduler leaves their order open in the error heap.
#[derive(Clone, Debug)]
pub(super) struct BackoffQueue {
    pods: OrdMap<BackoffOrder, Arc<QueuedPodInfo>>,
    errors: OrdMap<BackoffOrder, Arc<QueuedPodInfo>>,
    index: HashMap<Key, (BackoffOrder, bool)>,
    initial: Duration,
    max: Duration,
    /// Whether times are rounded to whole seconds, as under the gate `SchedulerPopFromBackoffQ`.
    windows: bool,
    rule: Backoff,
}

impl BackoffQueue {
    pub(super) fn new(initial: Duration, max: Duration, windows: bool, rule: Backoff) -> Self {
        Self { pods: OrdMap::new(), errors: OrdMap::new(), index: HashMap::new(), initial, max, windows, rule }
    }

    /// Returns the end of a pod's backoff, a whole second with ordering windows; the minimum timestamp for a pod
    /// without backoff.
    pub(super) fn expiration(&self, info: &QueuedPodInfo) -> Timestamp {
        let count = match self.rule {
            Backoff::ByRejections if info.consecutive_errors_count > 0 => info.consecutive_errors_count,
            Backoff::ByRejections => info.unschedulable_count,
            Backoff::ByAttempts | Backoff::ExactByAttempts | Backoff::None => info.attempts,
        };
        let waits = match self.rule {
            Backoff::None => false,
            Backoff::ExactByAttempts => !info.gated(),
            Backoff::ByAttempts | Backoff::ByRejections => count > 0,
        };
        if self.max.is_zero() || !waits {
            return Timestamp::MIN;
        }
        let end =
            i128::try_from(self.delay(count, info.group_size)).ok().and_then(|delay| info.timestamp.as_nanosecond().checked_add(delay));
        self.align(end.and_then(|end| Timestamp::from_nanosecond(end).ok()).unwrap_or(Timestamp::MAX))
    }

    /// Returns the backoff in nanoseconds: the initial one for the first time, then doubled each time, up to the
    /// maximum. That of a group grows with the square root of its size.
    fn delay(&self, count: u32, group_size: u32) -> u128 {
        let (initial, mut max, shift) = (self.initial.as_nanos(), self.max.as_nanos(), count.saturating_sub(1));
        if group_size > 1 {
            max = (max as f64 * f64::from(group_size).sqrt()) as u128;
        }
        if initial > max.checked_shr(shift).unwrap_or(0) { max } else { initial << shift.min(u128::BITS - 1) }
    }

    /// Whether a pod's backoff lasts beyond `now`; a window that has just begun still counts.
    pub(super) fn is_backing_off(&self, info: &QueuedPodInfo, now: Timestamp) -> bool {
        let (end, now) = (self.expiration(info), self.align(now));
        end > now || end == now && self.rule != Backoff::ExactByAttempts
    }

    /// Returns the first time at which a flush would move a pod.
    pub(super) fn next_due(&self) -> Option<Timestamp> {
        let first = [&self.pods, &self.errors].into_iter().filter_map(|heap| Some(heap.get_min()?.0.0)).min()?;
        let step = match self.rule {
            Backoff::ExactByAttempts => SignedDuration::ZERO,
            _ if self.windows => SignedDuration::from_secs(1),
            _ => SignedDuration::from_nanos(1),
        };
        Some(first.checked_add(step).unwrap_or(Timestamp::MAX))
    }

    fn align(&self, time: Timestamp) -> Timestamp {
        if self.windows { floor_to_second(time) } else { time }
    }

    /// Adds a pod; replaces one of the same name. Without a rejecting plugin it goes to the error heap.
    pub(super) fn insert(&mut self, info: Arc<QueuedPodInfo>) {
        let key = info.key();
        self.remove(&key);
        let (order, error) = ((self.expiration(&info), pod_order(&info)), is_in_error_heap(&info));
        self.index.insert(key, (order, error));
        if error { &mut self.errors } else { &mut self.pods }.insert(order, info);
    }

    pub(super) fn remove(&mut self, key: &Key) -> Option<Arc<QueuedPodInfo>> {
        let (order, error) = self.index.remove(key)?;
        if error { &mut self.errors } else { &mut self.pods }.remove(&order)
    }

    pub(super) fn get(&self, key: &Key) -> Option<&Arc<QueuedPodInfo>> {
        let (order, error) = self.index.get(key)?;
        if *error { &self.errors } else { &self.pods }.get(order)
    }

    /// Returns the first pod that plugins rejected.
    pub(super) fn first_rejected(&self) -> Option<&Arc<QueuedPodInfo>> {
        self.pods.get_min().map(|(_, info)| info)
    }

    /// Returns the first pod that a flush at `now` would move.
    pub(super) fn first_completed(&self, now: Timestamp) -> Option<&Arc<QueuedPodInfo>> {
        let heads = [&self.pods, &self.errors].into_iter().filter_map(|heap| heap.get_min());
        heads.map(|(_, info)| info).find(|info| !self.is_backing_off(info, now))
    }

    /// Pops the first pod that plugins rejected, even during its backoff; never one from the error heap.
    pub(super) fn pop_early(&mut self) -> Option<Arc<QueuedPodInfo>> {
        let key = self.first_rejected()?.key();
        self.remove(&key)
    }

    /// Pops all pods whose backoff is over: rejected pods first, then those that failed with an error.
    pub(super) fn pop_all_completed(&mut self, now: Timestamp) -> Vec<Arc<QueuedPodInfo>> {
        let mut completed = Vec::new();
        for error in [false, true] {
            loop {
                let heap = if error { &self.errors } else { &self.pods };
                let Some((_, info)) = heap.get_min().filter(|(_, info)| !self.is_backing_off(info, now)) else { break };
                let key = info.key();
                completed.extend(self.remove(&key));
            }
        }
        completed
    }

    /// Returns the pods of both heaps in order of the end of the backoff.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        let mut all: Vec<_> = self.pods.iter().chain(self.errors.iter()).collect();
        all.sort_by_key(|(order, _)| **order);
        all.into_iter().map(|(_, info)| info)
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }
}

/// Whether a pod in backoffQ is in the heap of errors: no plugin rejected it, or it is queued with its group, which has none.
pub(super) fn is_in_error_heap(info: &QueuedPodInfo) -> bool {
    info.group_size > 0 || info.rejectors().is_empty()
}

/// Returns the start of the second that contains `time`.
pub(super) fn floor_to_second(time: Timestamp) -> Timestamp {
    let fraction = time.as_nanosecond().rem_euclid(1_000_000_000);
    Timestamp::from_nanosecond(time.as_nanosecond() - fraction).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests;
