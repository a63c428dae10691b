//! The flushes of backoffQ and unschedulablePods, and the clock that runs them.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::backoff_queue::floor_to_second;
use super::{QueueEnv, SchedulingQueue};
use crate::cluster::Key;
use crate::framework::{Change, ClusterEvent, QueuedPodInfo};
use crate::limits::engine::IDLE_FLUSHES;
use crate::trace::Event;

/// Interval of the flush of backoffQ, at whole seconds.
const BACKOFF_FLUSH: SignedDuration = SignedDuration::from_secs(1);
/// Interval of the flush of unschedulablePods, counted from the start.
const LEFTOVER_FLUSH: SignedDuration = SignedDuration::from_secs(30);

impl SchedulingQueue {
    /// Moves every pod whose backoff is over to activeQ; `flushBackoffQCompleted`.
    pub fn flush_backoff_completed(&mut self, env: &mut dyn QueueEnv) {
        if self.backoff.first_completed(env.now()).is_none() {
            return;
        }
        let completed = self.backoff.of_any().pop_all_completed(env.now());
        self.move_completed(env, completed);
    }

    /// Moves pods that exceed the longest stay in unschedulablePods; `flushUnschedulablePodsLeftover`. Gated pods stay
    /// in most releases, but an overdue one makes pods in flight return through backoffQ.
    pub fn flush_unschedulable_leftover(&mut self, env: &mut dyn QueueEnv) {
        let now = env.now();
        let overdue: Vec<Arc<QueuedPodInfo>> = self.unschedulable.values().filter(|i| self.is_leftover(i, now)).cloned().collect();
        if !overdue.is_empty() {
            self.move_pods(env, overdue.clone(), ClusterEvent::UNSCHEDULABLE_TIMEOUT, &Change::default());
        }
        if !self.flushes_gated() {
            return;
        }
        for info in overdue.iter().filter(|info| self.is_gated(info)).collect::<Vec<_>>() {
            let key = info.key();
            if let Some(mut info) = self.unschedulable.of(&key).remove(&key) {
                Arc::make_mut(&mut info).flushed = Some(now);
                self.unschedulable.of(&key).insert(info);
            }
        }
    }

    fn flushes_gated(&self) -> bool {
        self.config.emulation.behaviour().queue.gated_pods_flushed
    }

    fn is_leftover(&self, info: &QueuedPodInfo, now: Timestamp) -> bool {
        let limit = SignedDuration::try_from(self.config.pod_max_in_unschedulable_pods).unwrap_or(SignedDuration::MAX);
        now.duration_since(since(info)) > limit
    }

    /// Advances the clock to `to` and runs every flush at its time: backoffQ at whole seconds and, after it, leftovers
    /// every 30 s since `start`, the start of the scheduler. Records each interval as [`Event::ClockMoved`]. No effect
    /// if `to` is not in the future.
    pub fn advance(&mut self, env: &mut dyn QueueEnv, start: Timestamp, to: Timestamp) {
        let mut idle = 0;
        while let Some(mut next) = self.next_flush(env.now(), start).filter(|next| *next <= to) {
            if idle >= IDLE_FLUSHES {
                // Until a pod is due that is not gated, flushes move none.
                let due = [self.next_backoff_flush(env.now()), self.next_leftover_flush(env.now(), start, false)];
                let Some(due) = due.into_iter().flatten().min().filter(|due| *due <= to) else {
                    self.pass_flushes(start, to);
                    break;
                };
                self.pass_flushes(start, due.checked_sub(SignedDuration::from_nanos(1)).unwrap_or(due));
                (next, idle) = (due, 0);
            }
            let before = self.len();
            self.move_clock(env, next);
            self.flush_backoff_completed(env);
            if next.duration_since(start).as_nanos() % LEFTOVER_FLUSH.as_nanos() == 0 {
                self.flush_unschedulable_leftover(env);
            }
            idle = if self.len() == before { idle + 1 } else { 0 };
        }
        if env.now() < to {
            self.move_clock(env, to);
        }
    }

    /// Notes the flushes up to a time that find gated pods only, and leave them where they are.
    fn pass_flushes(&mut self, start: Timestamp, until: Timestamp) {
        if !self.flushes_gated() {
            return;
        }
        let limit = SignedDuration::try_from(self.config.pod_max_in_unschedulable_pods).unwrap_or(SignedDuration::MAX);
        let period = (limit.as_nanos().div_euclid(LEFTOVER_FLUSH.as_nanos()) + 1).saturating_mul(LEFTOVER_FLUSH.as_nanos());
        let gated: Vec<Arc<QueuedPodInfo>> = self.unschedulable.values().filter(|info| self.is_gated(info)).cloned().collect();
        for mut info in gated {
            let first = since(&info).checked_add(limit).ok().and_then(|overdue| flush_after(overdue, start));
            let Some(first) = first.filter(|first| *first <= until) else { continue };
            let rest = until.duration_since(first).as_nanos();
            let last = first.as_nanosecond() + rest - rest.rem_euclid(period);
            Arc::make_mut(&mut info).flushed = Timestamp::from_nanosecond(last).ok();
            self.unschedulable.of(&info.key()).insert(info);
        }
    }

    fn move_clock(&mut self, env: &mut dyn QueueEnv, to: Timestamp) {
        let event = Event::ClockMoved { from: Box::new(env.now()), to };
        env.set_now(to);
        self.record(env, event);
    }

    /// Returns the next time after `now` at which a flush has an effect.
    fn next_flush(&self, now: Timestamp, start: Timestamp) -> Option<Timestamp> {
        // In most releases gated pods are not moved, and an overdue one only affects pods in flight.
        let gated_too = self.in_flight.any() || self.flushes_gated();
        [self.next_backoff_flush(now), self.next_leftover_flush(now, start, gated_too)].into_iter().flatten().min()
    }

    fn next_backoff_flush(&self, now: Timestamp) -> Option<Timestamp> {
        let due = self.backoff.next_due()?;
        let next_second = floor_to_second(now).checked_add(BACKOFF_FLUSH).ok()?;
        let whole = floor_to_second(due);
        let due = if whole < due { whole.checked_add(BACKOFF_FLUSH).ok()? } else { whole };
        Some(due.max(next_second))
    }

    fn next_leftover_flush(&self, now: Timestamp, start: Timestamp, gated_too: bool) -> Option<Timestamp> {
        let concerned = self.unschedulable.values().filter(|info| gated_too || !self.is_gated(info));
        let oldest = concerned.map(|info| since(info)).min()?;
        let limit = SignedDuration::try_from(self.config.pod_max_in_unschedulable_pods).ok()?;
        flush_after(now.max(oldest.checked_add(limit).ok()?), start)
    }

    /// Returns the time of the next flush of backoffQ that moves a pod, and the first pod that it moves.
    pub(in crate::scheduler) fn next_backoff_complete(&self, now: Timestamp) -> Option<(Timestamp, Key)> {
        let time = self.next_backoff_flush(now)?;
        Some((time, self.backoff.first_completed(time)?.key()))
    }

    /// Returns the time of the next flush of unschedulablePods that moves a pod, and the first such pod by namespace
    /// and name.
    pub(in crate::scheduler) fn next_leftover(&self, now: Timestamp, start: Timestamp) -> Option<(Timestamp, Key)> {
        let time = self.next_leftover_flush(now, start, false)?;
        let overdue = self.unschedulable.values().find(|info| !self.is_gated(info) && self.is_leftover(info, time))?;
        Some((time, overdue.key()))
    }
}

/// Returns the time of the first flush of unschedulablePods after a time.
fn flush_after(time: Timestamp, start: Timestamp) -> Option<Timestamp> {
    let periods = time.duration_since(start).as_nanos().div_euclid(LEFTOVER_FLUSH.as_nanos()) + 1;
    Timestamp::from_nanosecond(start.as_nanosecond() + periods.max(1) * LEFTOVER_FLUSH.as_nanos()).ok()
}

/// Returns the start of the stay that the leftover flush measures.
fn since(info: &QueuedPodInfo) -> Timestamp {
    info.flushed.map_or(info.timestamp, |flushed| flushed.max(info.timestamp))
}
