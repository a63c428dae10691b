//! The passing of time: flushes of the queue, ends of grace periods and Permit deadlines, each at its time.
//!
//! What falls on one moment happens in this order: flushes (backoffQ, then unschedulablePods), ends of grace periods,
//! Permit deadlines. The last two go by the time at which they were due and then by namespace and name, so that what is
//! overdue, because operations took the clock past it or because it was when the scheduler started, comes first.

use std::fmt;

use jiff::Timestamp;

use super::{Evictions, Scheduler};
use crate::cluster::Key;
use crate::framework::PluginName;
use crate::trace::Event;

/// The next moment at which the passing of time does something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WakeUp {
    /// When; at the earliest now, for what is overdue.
    pub time: Timestamp,
    /// What happens then; more may happen at the same moment.
    pub what: Wake,
}

/// What the passing of time does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wake {
    /// A pod's backoff is over.
    BackoffComplete {
        /// The pod.
        pod: Key,
    },
    /// A pod has been in unschedulablePods for too long.
    UnschedulableTimeout {
        /// The pod.
        pod: Key,
    },
    /// A terminating pod is gone.
    GracePeriodEnds {
        /// The pod.
        pod: Key,
    },
    /// A Permit plugin's patience with a pod ends.
    PermitDeadline {
        /// The pod.
        pod: Key,
        /// The plugin.
        plugin: PluginName,
    },
}

impl Wake {
    /// The pod that it happens to.
    pub fn pod(&self) -> &Key {
        match self {
            Self::BackoffComplete { pod }
            | Self::UnschedulableTimeout { pod }
            | Self::GracePeriodEnds { pod }
            | Self::PermitDeadline { pod, .. } => pod,
        }
    }
}

impl fmt::Display for Wake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BackoffComplete { pod } => write!(f, "the backoff of {pod} ends"),
            Self::UnschedulableTimeout { pod } => write!(f, "{pod} has been in unschedulablePods for too long"),
            Self::GracePeriodEnds { pod } => write!(f, "the grace period of {pod} ends"),
            Self::PermitDeadline { pod, plugin } => write!(f, "the wait of {pod} for {plugin} times out"),
        }
    }
}

/// What happens; see [`Wake`].
impl fmt::Display for WakeUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.what.fmt(f)
    }
}

impl Scheduler {
    /// The next moment at which the passing of time does something, and what: `AdvanceTo` any moment before it changes
    /// nothing but the clock, and to this moment does it. `None` where time alone changes nothing any more.
    pub fn next_wake_up(&self) -> Option<WakeUp> {
        let (queue, now) = (&self.state.queue, self.state.clock);
        let backoff = queue.next_backoff_complete(now).map(|(time, pod)| WakeUp { time, what: Wake::BackoffComplete { pod } });
        let leftover =
            queue.next_leftover(now, self.state.start).map(|(time, pod)| WakeUp { time, what: Wake::UnschedulableTimeout { pod } });
        // Of those at one moment, the first.
        [backoff, leftover, self.next_grace_period_end(), self.next_deadline()].into_iter().flatten().min_by_key(|w| w.time)
    }

    pub(super) fn next_grace_period_end(&self) -> Option<WakeUp> {
        let (due, pod) = self.state.terminating.get_min().filter(|_| self.evictions == Evictions::AfterGracePeriod)?;
        Some(WakeUp { time: self.state.clock.max(*due), what: Wake::GracePeriodEnds { pod: pod.clone() } })
    }

    fn next_deadline(&self) -> Option<WakeUp> {
        let deadlines = self.state.waiting.iter().filter_map(|(pod, w)| w.deadline().map(|(due, plugin)| (due, pod, plugin)));
        let (due, pod, plugin) = deadlines.min_by_key(|(due, pod, _)| (*due, *pod))?;
        Some(WakeUp { time: self.state.clock.max(due), what: Wake::PermitDeadline { pod: pod.clone(), plugin } })
    }

    /// Lets time pass until `to`, with everything on the way; nothing happens where `to` is past.
    pub(super) fn advance(&mut self, to: Timestamp, events: &mut Vec<Event>) {
        let start = self.state.start;
        loop {
            let timers = [self.next_grace_period_end(), self.next_deadline()];
            let Some(next) = timers.into_iter().flatten().min_by_key(|w| w.time).filter(|w| w.time <= to) else { break };
            self.state.with_queue(events, |queue, env| queue.advance(env, start, next.time));
            match next.what {
                Wake::PermitDeadline { pod, .. } => self.state.time_out(&pod, events),
                _ => self.state.end_grace_period(events),
            }
        }
        self.state.with_queue(events, |queue, env| queue.advance(env, start, to));
    }
}
