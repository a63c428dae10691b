//! Timers: flushes of the queue, ends of grace periods and Permit deadlines, each at its time.
//!
//! Timers of one instant run in this order: flushes (backoffQ, then unschedulablePods), ends of grace periods, Permit
//! deadlines. The last two are ordered by due time, then by namespace and name, so overdue ones run first. A timer is
//! overdue if operations took the clock past it, or if it was due before the start.

use std::fmt;

use jiff::Timestamp;

use super::{Evictions, Scheduler};
use crate::cluster::Key;
use crate::framework::PluginName;
use crate::trace::Event;

/// The next timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// When it fires; now, if it is overdue.
    pub time: Timestamp,
    /// Its effect; more timers may fire at the same time.
    pub what: TimerKind,
}

/// The effect of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimerKind {
    /// The backoff of a pod ends.
    BackoffComplete { pod: Key },
    /// A pod reaches its longest stay in unschedulablePods.
    UnschedulableTimeout { pod: Key },
    /// The grace period of a terminating pod ends.
    GracePeriodEnds { pod: Key },
    /// The wait of a pod for a Permit plugin times out.
    PermitDeadline { pod: Key, plugin: PluginName },
}

impl TimerKind {
    /// Returns the affected pod.
    pub fn pod(&self) -> &Key {
        match self {
            Self::BackoffComplete { pod }
            | Self::UnschedulableTimeout { pod }
            | Self::GracePeriodEnds { pod }
            | Self::PermitDeadline { pod, .. } => pod,
        }
    }
}

impl fmt::Display for TimerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BackoffComplete { pod } => write!(f, "the backoff of {pod} ends"),
            Self::UnschedulableTimeout { pod } => write!(f, "{pod} has been in unschedulablePods for too long"),
            Self::GracePeriodEnds { pod } => write!(f, "the grace period of {pod} ends"),
            Self::PermitDeadline { pod, plugin } => write!(f, "the wait of {pod} for {plugin} times out"),
        }
    }
}

/// Describes the effect; see [`TimerKind`].
impl fmt::Display for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

impl Scheduler {
    /// Returns the next timer: `AdvanceTo` an earlier time changes only the clock, `AdvanceTo` its time runs it. `None`
    /// if time alone changes nothing.
    pub fn next_timer(&self) -> Option<Timer> {
        let (queue, now) = (&self.state.queue, self.state.clock);
        let backoff = queue.next_backoff_complete(now).map(|(time, pod)| Timer { time, what: TimerKind::BackoffComplete { pod } });
        let leftover =
            queue.next_leftover(now, self.state.start).map(|(time, pod)| Timer { time, what: TimerKind::UnschedulableTimeout { pod } });
        // Of several at one time, the first in this order wins.
        [backoff, leftover, self.next_grace_period_end(), self.next_deadline()].into_iter().flatten().min_by_key(|w| w.time)
    }

    pub(super) fn next_grace_period_end(&self) -> Option<Timer> {
        let (due, pod) = self.state.terminating.get_min().filter(|_| self.evictions == Evictions::AfterGracePeriod)?;
        Some(Timer { time: self.state.clock.max(*due), what: TimerKind::GracePeriodEnds { pod: pod.clone() } })
    }

    fn next_deadline(&self) -> Option<Timer> {
        let deadlines = self.state.waiting.iter().filter_map(|(pod, w)| w.deadline().map(|(due, plugin)| (due, pod, plugin)));
        let (due, pod, plugin) = deadlines.min_by_key(|(due, pod, _)| (*due, *pod))?;
        Some(Timer { time: self.state.clock.max(due), what: TimerKind::PermitDeadline { pod: pod.clone(), plugin } })
    }

    /// Advances the clock to `to` and runs the timers on the way; no effect if `to` is past.
    pub(super) fn advance(&mut self, to: Timestamp, events: &mut Vec<Event>) {
        let start = self.state.start;
        loop {
            let timers = [self.next_grace_period_end(), self.next_deadline()];
            let Some(next) = timers.into_iter().flatten().min_by_key(|w| w.time).filter(|w| w.time <= to) else { break };
            self.state.with_queue(events, |queue, env| queue.advance(env, start, next.time));
            match next.what {
                TimerKind::PermitDeadline { pod, .. } => self.state.time_out(&pod, events),
                _ => self.state.end_grace_period(events),
            }
        }
        self.state.with_queue(events, |queue, env| queue.advance(env, start, to));
    }
}

#[cfg(test)]
mod tests;
