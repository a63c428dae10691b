//! Makes the overview of pending pods on its own thread, on clones that share their parts with the session.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::error::JobError;
use super::object_text::{Finding, Sources};
use crate::analysis::{Overview, SchedulerComparer, Stage, short_causes, voices_of_pods};
use crate::cluster::neighbors::Neighbors;
use crate::limits::live::{OVERVIEW_PAUSE, OVERVIEW_REST};
use crate::scheduler::StepBound;
use crate::session::Session;
use crate::workload::{WorkloadInput, short_workloads};

/// Name of the thread.
const THREAD: &str = "overview";

/// The state of a session that an overview is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MadeOf {
    branch: usize,
    revisions: usize,
    clock: Timestamp,
    /// Where the objects and events that scheduling does not read are in memory.
    neighbors: usize,
}

impl MadeOf {
    /// Returns the state at the cursor. Dry decisions do not change it.
    pub(super) fn here(session: &Session) -> Self {
        let revisions = session.revisions_that_changed();
        let neighbors = Arc::as_ptr(&session.background().neighbors).addr();
        Self { branch: session.current(), revisions, clock: session.timeline().keyframe().clock, neighbors }
    }

    /// Returns whether another state is of the same branch.
    pub(super) fn is_other_state_of_branch(self, other: Self) -> bool {
        self.branch == other.branch && self != other
    }
}

/// An overview that is being made, or is made; dropping it cancels it.
#[derive(Debug)]
pub(super) struct OverviewJob {
    pub(super) of: MadeOf,
    /// Kept, so that no others get their place in memory.
    _neighbors: Arc<Neighbors>,
    shared: Arc<Shared>,
    began: Instant,
}

#[derive(Debug, Default)]
struct Shared {
    cancelled: AtomicBool,
    /// The newest part, and when the last one came.
    newest: Mutex<(Option<Arc<Overview>>, Option<Instant>)>,
}

impl Shared {
    fn is_wanted(&self) -> bool {
        !self.cancelled.load(Ordering::Relaxed)
    }

    fn publish(&self, overview: Overview) {
        let ended = overview.stage.is_end().then(Instant::now);
        *self.newest.lock().unwrap_or_else(PoisonError::into_inner) = (Some(Arc::new(overview)), ended);
    }
}

/// Records the end of the thread even if it panics.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        let mut newest = self.0.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.1 = newest.1.or_else(|| Some(Instant::now()));
    }
}

impl OverviewJob {
    /// Starts to make the overview of the state at the cursor. After an overview of the state before, no part is published until
    /// every pod is decided, and a cause with the same pods keeps its fix until it is searched again. Decides pods as far as the bound on
    /// steps allows if it is bounded.
    pub(super) fn start(session: &Session, sources: &Sources, before: Option<Arc<Overview>>, is_bounded: bool) -> Result<Self, JobError> {
        let shared = Arc::new(Shared::default());
        let (scheduler, finding) = (session.scheduler_here().clone(), Finding::new(session, sources));
        let compared = session.is_as_seen();
        let neighbors = session.background().neighbors.clone();
        let kept = neighbors.clone();
        let (events, seen) = (session.background().events.clone(), super::live_follow::seen(session));
        let watched = Arc::clone(&shared);
        let work = move || {
            let ended = Ended(watched);
            let watched = &ended.0;
            let originals = |kind, key: &_| finding.original(kind, key);
            let pending = scheduler.state().cluster().pods.iter().filter(|pod| pod.is_pending());
            let state = scheduler.state();
            let waiting = state.cluster().pods.iter().filter(|pod| pod.is_pending()).count();
            let comparer = SchedulerComparer::new(&scheduler, &events).having_seen(seen).for_pods(waiting);
            // The words of others are about the cluster as it was read.
            let input = (compared && !neighbors.is_empty()).then(|| WorkloadInput::new(state.cluster(), &neighbors));
            let others = input.as_ref().map_or_else(BTreeMap::new, |input| voices_of_pods(pending, &scheduler, input));
            let others = Arc::new(others);
            let with_others = |overview: Overview| overview.with_others(others.clone());
            let publish = |overview: Overview| match before.as_deref() {
                Some(_) if overview.stage == Stage::Deciding => {}
                Some(before) => watched.publish(with_others(overview.keeping_fixes_of(before))),
                None => watched.publish(with_others(overview)),
            };
            let short = input.as_ref().map(|input| short_causes(&short_workloads(input, |_| true), Some(state.clock())));
            let short = short.unwrap_or_default();
            let most = if is_bounded { StepBound::allowance_of_recorded(&scheduler) } else { u64::MAX };
            Overview::make(
                &scheduler,
                (&comparer, compared),
                most,
                &short,
                finding.background(&originals),
                &|| watched.is_wanted(),
                &publish,
            );
        };
        std::thread::Builder::new().name(THREAD.to_owned()).spawn(work).map_err(JobError::Thread)?;
        Ok(Self { of: MadeOf::here(session), _neighbors: kept, shared, began: Instant::now() })
    }

    /// Returns the newest part; `None` before the first.
    pub(super) fn newest(&self) -> Option<Arc<Overview>> {
        self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    fn ended(&self) -> Option<Instant> {
        self.shared.newest.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    /// Returns whether it is being made.
    pub(super) fn runs(&self) -> bool {
        self.ended().is_none()
    }

    /// Returns whether it ended so long ago that another may be made, in proportion to its costs.
    pub(super) fn is_due_again(&self) -> bool {
        self.ended().is_some_and(|ended| ended.elapsed() >= pause_after(ended.duration_since(self.began)))
    }

    /// Stops it; its parts stay.
    pub(super) fn stop(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Returns the pause after an overview that took a time.
fn pause_after(took: Duration) -> Duration {
    OVERVIEW_PAUSE.max(took.saturating_mul(OVERVIEW_REST))
}

impl Drop for OverviewJob {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overview_of_a_cluster_that_changes_is_made_a_small_part_of_the_time() {
        assert_eq!(pause_after(Duration::from_millis(3)), OVERVIEW_PAUSE);
        assert_eq!(pause_after(Duration::from_secs(30)), Duration::from_secs(30) * OVERVIEW_REST);
        assert_eq!(pause_after(Duration::MAX), Duration::MAX);
    }
}
