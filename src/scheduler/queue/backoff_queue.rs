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
mod tests {
    use super::*;
    use crate::framework::{PluginName, PluginSet};

    #[test]
    fn earlier_releases_count_attempts_and_wait_to_the_exact_time() {
        let queue = |windows, rule| BackoffQueue::new(Duration::from_secs(1), Duration::from_secs(10), windows, rule);
        let (exact, attempts, rejections) =
            (queue(false, Backoff::ExactByAttempts), queue(true, Backoff::ByAttempts), queue(true, Backoff::ByRejections));
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        let pod = std::sync::Arc::new(crate::cluster::Pod::default());
        let mut info = QueuedPodInfo::new(pod, at(500), 0, crate::release::Emulation::default());
        assert_eq!((exact.expiration(&info), attempts.expiration(&info)), (at(1500), Timestamp::MIN));
        info.attempts = 3;
        info.unschedulable_count = 1;
        assert_eq!([&exact, &attempts, &rejections].map(|q| q.expiration(&info)), [at(4500), at(4000), at(1000)]);
        assert!(exact.is_backing_off(&info, at(4499)) && !exact.is_backing_off(&info, at(4500)));
        assert!(attempts.is_backing_off(&info, at(4999)) && !attempts.is_backing_off(&info, at(5000)));
        info.gating_plugin = Some(PluginName::SchedulingGates);
        assert_eq!(exact.expiration(&info), Timestamp::MIN);
    }

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    fn queue(initial: u64, max: u64, windows: bool) -> BackoffQueue {
        BackoffQueue::new(Duration::from_secs(initial), Duration::from_secs(max), windows, Backoff::ByRejections)
    }

    fn info(name: &str, priority: i32, millis: i64, rejected: u32) -> Arc<QueuedPodInfo> {
        let text = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{{"priority":{priority}}}}}"#);
        let mut info =
            QueuedPodInfo::new(Arc::new(serde_json::from_str(&text).unwrap()), at(millis), 0, crate::release::Emulation::default());
        info.unschedulable_count = rejected;
        info.unschedulable_plugins = [PluginName::NodeName].into_iter().filter(|_| rejected > 0).collect();
        Arc::new(info)
    }

    #[test]
    fn the_delay_doubles_up_to_the_maximum_and_ends_with_a_whole_second() {
        for (count, expires) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (6, 10), (33, 10), (64, 10), (65, 10), (u32::MAX, 10)] {
            for start in [0, 999] {
                assert_eq!(queue(1, 10, true).expiration(&info("p", 0, start, count)), at(expires * 1000), "{count}");
            }
            assert_eq!(queue(1, 10, false).expiration(&info("p", 0, 999, count)), at(expires * 1000 + 999), "{count}");
        }
        assert_eq!(queue(1, 0, true).expiration(&info("p", 0, 0, 3)), Timestamp::MIN);
        assert_eq!(queue(1, u64::MAX, true).expiration(&info("p", 0, 0, 62)), floor_to_second(Timestamp::MAX));
        // 7 s fits twice into 20 s, not four times.
        assert_eq!([1, 2, 3].map(|n| queue(7, 20, true).expiration(&info("p", 0, 0, n))), [at(7000), at(14000), at(20000)]);
    }

    #[test]
    fn errors_count_before_rejections_and_nothing_means_no_wait() {
        let mut pod = (*info("p", 0, 0, 1)).clone();
        pod.consecutive_errors_count = 3;
        assert_eq!(queue(1, 10, true).expiration(&pod), at(4000));
        assert!(!queue(1, 10, true).is_backing_off(&info("p", 0, 5000, 0), at(0)));
    }

    #[test]
    fn the_last_second_still_backs_off() {
        for (windows, now, backing_off) in
            [(true, 1999, true), (true, 2000, false), (false, 1500, true), (false, 1501, false), (false, 1499, true)]
        {
            assert_eq!(queue(1, 10, windows).is_backing_off(&info("p", 0, 500, 1), at(now)), backing_off, "{windows} {now}");
        }
    }

    #[test]
    fn heads_come_by_window_then_as_in_active_queue() {
        let mut queue = queue(1, 10, true);
        for pod in
            [info("late", 9, 1200, 1), info("low", 0, 100, 1), info("high", 5, 900, 1), info("old", 5, 800, 1), info("error", 0, 0, 0)]
        {
            queue.insert(pod);
        }
        let names = |list: Vec<Arc<QueuedPodInfo>>| list.iter().map(|i| i.key().to_string()).collect::<Vec<_>>();
        assert_eq!(names(queue.iter().cloned().collect()), ["error", "old", "high", "low", "late"]);
        assert_eq!(queue.next_due(), Some(Timestamp::MIN + SignedDuration::from_secs(1)));
        assert_eq!(names(queue.clone().pop_all_completed(at(2000))), ["old", "high", "low", "error"]);
        assert_eq!(names(queue.clone().pop_all_completed(at(1999))), ["error"]);
        assert_eq!(names(std::iter::from_fn(|| queue.pop_early()).collect()), ["old", "high", "low", "late"]);
        assert_eq!(queue.len(), 1);
    }

    #[test]
    fn seconds_are_floored_before_1970_too() {
        assert_eq!(floor_to_second(at(-1)), at(-1000));
        assert_eq!(floor_to_second(at(1999)), at(1000));
    }

    #[test]
    fn a_pod_that_gains_a_rejector_changes_heaps() {
        let mut queue = queue(1, 10, true);
        queue.insert(info("p", 0, 0, 0));
        assert!(queue.clone().pop_early().is_none());
        let mut rejected = (**queue.get(&Key::new("", "p")).unwrap()).clone();
        rejected.unschedulable_plugins = PluginSet::from_iter([PluginName::NodePorts]);
        queue.insert(Arc::new(rejected));
        assert_eq!(queue.len(), 1);
        assert!(queue.pop_early().is_some());
    }
}
