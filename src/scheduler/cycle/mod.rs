//! One turn of the scheduling loop; mirrors `scheduleOnePod` and `schedulingCycle` in `pkg/scheduler/schedule_one.go`.
//!
//! Binding and the API calls of a preemption run at the end of the turn, and their writes are announced after it;
//! upstream runs them concurrently with the loop. The binding of a pod that waits on Permit resumes when the wait ends.

mod binding;
mod failure;
mod group;
mod permit;
#[cfg(test)]
mod permit_tests;
mod recent_failures;

use std::sync::Arc;

use self::failure::record_evictions;
pub(super) use self::permit::WaitingPod;
pub(super) use self::recent_failures::{RecentFailures, are_alike, requires_by_spec_alone};
use super::algorithm::{FitError, NO_NODES, ODDS_NODES, PostFilter, SchedulePod, ScheduleResult};
use super::decide::{cycle_start, would_bind};
use super::object_id::ObjectId;
use super::pod_group::{TakeEvents, Turn};
use super::{Scheduler, State};
use crate::cluster::{Key, Kind, Object, Str};
use crate::framework::{Context, CycleState, NominatingInfo, PluginSet, PodInfo, QueuedPodInfo};
use crate::release::Gate;
use crate::trace::{Event, FailureCause, FailureReason, Outcome, PermitEnd, Place, Quiet, SkipReason, Trace};

/// A change that the scheduler writes.
pub(super) enum Write {
    /// Create or replace the object.
    Put(Object),
    /// Delete the object.
    Remove(Object),
    /// No object changes: the preemption for a pod or group waits only for this victim from here on.
    LastVictim(ObjectId, Key),
    /// No object changes: the preemption for a pod or group is over.
    PreemptionOver(ObjectId),
    /// Reject a pod that waits on Permit for this node, in the scheduler's memory.
    PreemptWaiting(Key, Str),
}

impl Write {
    /// Returns the write that leaves this object: a terminating one without finalizers, other than a pod, is deleted.
    fn of(object: Object) -> Self {
        let meta = object.meta();
        let gone = meta.deletion_timestamp.is_some() && meta.finalizers.is_empty() && object.kind() != Kind::Pod;
        if gone { Self::Remove(object) } else { Self::Put(object) }
    }
}

/// Why a cycle failed.
pub(super) struct Failed {
    pub(super) reason: FailureReason,
    pub(super) cause: FailureCause,
    pub(super) message: String,
    pub(super) unschedulable_plugins: PluginSet,
    pub(super) pending_plugins: PluginSet,
    pub(super) nominating: Option<NominatingInfo>,
    /// The pod as it was assumed, if its place becomes free for others only after it is requeued.
    pub(super) released: Option<Arc<PodInfo>>,
}

impl Failed {
    /// Returns a failure without rejecting plugins; the nomination is cleared.
    pub(super) fn new(cause: FailureCause, message: impl Into<String>) -> Self {
        let reason = match cause {
            FailureCause::NoFit | FailureCause::NoNodes | FailureCause::Rejected(_) | FailureCause::Group(_) => {
                FailureReason::Unschedulable
            }
            FailureCause::UnknownProfile(_) | FailureCause::Error => FailureReason::SchedulerError,
        };
        Self {
            reason,
            cause,
            message: message.into(),
            unschedulable_plugins: PluginSet::default(),
            pending_plugins: PluginSet::default(),
            nominating: Some(NominatingInfo::Override(Str::default())),
            released: None,
        }
    }

    /// Returns the failure of a pod that no node takes.
    pub(super) fn no_fit(error: &FitError) -> Self {
        Self {
            unschedulable_plugins: error.diagnosis.unschedulable_plugins,
            pending_plugins: error.diagnosis.pending_plugins,
            nominating: error.nominating.clone(),
            ..Self::new(FailureCause::NoFit, error.message())
        }
    }
}

impl Scheduler {
    /// Pops a pod and runs its cycle until it is bound, its failure is handled, or it waits on Permit. No effect if no
    /// pod can be popped.
    pub(super) fn schedule_one(&mut self, events: &mut Vec<Event>, after_member: TakeEvents<'_>) {
        let recent = std::mem::take(&mut self.recent_failures);
        let Some(info) = self.state.with_queue(events, |queue, env| queue.pop(env)) else { return };
        let mut info = QueuedPodInfo::clone(&info);
        let pod = info.pod().clone();
        if let Some(group) = pod.group_key().filter(|_| self.state.config.emulation.enabled(Gate::GenericWorkload)) {
            self.schedule_one_pod_group(info, group, events, Turn::Whole(after_member));
            return;
        }
        let mut writes = Vec::new();
        let outcome = if pod.is_terminating() {
            events.push(Event::CycleSkipped { pod: pod.key(), why: SkipReason::Deleting });
            self.state.with_queue(events, |queue, env| queue.leave(env, &pod, Place::Gone));
            Outcome::Error
        } else if self.state.cache.is_assumed(&pod) {
            self.state.with_queue(events, |queue, env| queue.leave(env, &pod, Place::Gone));
            return;
        } else {
            self.try_pod(&mut info, recent, &mut writes, events)
        };
        events.push(Event::CycleFinished { pod: pod.key(), outcome });
        self.state.carry_out(writes, events);
        self.state.preempting.remove(&ObjectId::of_pod(&pod));
        self.state.time_out_at_once(&pod.key(), events);
    }

    /// `recent` are the failures since anything changed.
    fn try_pod(&mut self, info: &mut QueuedPodInfo, recent: RecentFailures, writes: &mut Vec<Write>, events: &mut Vec<Event>) -> Outcome {
        let state = &mut self.state;
        state.cycle += 1;
        let config = state.config.clone();
        state.cache.begin_cycle(config.emulation);
        let snapshot = state.cache.snapshot();
        let cx = Context { cluster: &state.cluster, snapshot: &snapshot, emulation: config.emulation, now: state.clock };
        events.push(Event::CycleStarted(Arc::new(cycle_start(state.cycle, &info.pod_info, &cx, &config))));
        let Some(framework) = config.profile(&info.pod().spec.scheduler_name) else {
            // Only pods of our profiles are queued.
            return Outcome::Error;
        };
        let start = state.next_start_node_index;
        let known = if self.quiet { recent.of_pod_like(state, &info.pod_info) } else { None };
        let is_known = known.is_some();
        let keeps = self.quiet && state.cluster.device_classes.is_empty();
        let class = keeps.then(|| self.equivalence_cache.of(&config, &info.pod_info)).flatten();
        let mut cycle_state = CycleState::default();
        let extenders = config.extenders.for_cycle(self.asking);
        let mut attempt = SchedulePod {
            framework,
            cx,
            nominations: &state.queue,
            sampling: self.sampling,
            post_filter: PostFilter::Run,
            odds_nodes: ODDS_NODES,
            only_fit: false,
            extenders: extenders.as_ref(),
            extenders_look_on: config.extenders.look_at_all_nodes(),
            class,
            next_start_node_index: &mut state.next_start_node_index,
            last_node_index: &mut state.last_node_index,
            steps: &mut state.steps,
        };
        let result = if let Some(known) = known {
            #[cfg(debug_assertions)]
            recent_failures::check(&known, &mut attempt, &info.pod_info);
            ScheduleResult::FitError(known)
        } else if self.quiet {
            attempt.run(&info.pod_info, &mut cycle_state, &mut Quiet)
        } else {
            attempt.run(&info.pod_info, &mut cycle_state, &mut Trace::new(events))
        };
        events.extend(framework.not_emulated_events());
        if let ScheduleResult::Selected { node, .. } = &result {
            events.extend(would_bind(&config, info.pod(), node));
        }
        let failed = match result {
            ScheduleResult::Selected { node, .. } => match state.bind(&snapshot, cycle_state, info, &node, writes, events) {
                Ok(()) => return Outcome::Scheduled,
                Err(failed) => failed,
            },
            ScheduleResult::FitError(error) => {
                if is_known {
                    self.recent_failures = recent;
                } else if self.quiet {
                    self.recent_failures = recent.and(state, framework, &info.pod_info, &error, start);
                }
                self.preempt(&error, info, writes, events);
                Failed::no_fit(&error)
            }
            ScheduleResult::NoNodes => Failed::new(FailureCause::NoNodes, NO_NODES),
            ScheduleResult::Error(error) => Failed::new(FailureCause::Error, error.to_string()),
        };
        let outcome = match failed.reason {
            FailureReason::Unschedulable => Outcome::Unschedulable,
            FailureReason::SchedulerError => Outcome::Error,
        };
        let own = self.state.handle_failure(info, failed, events);
        // The pod's own status is written before the preemption.
        writes.splice(0..0, own);
        record_evictions(info.key(), writes, events);
        outcome
    }
}

impl State {
    /// Applies writes one by one, each with everything that follows from it.
    fn carry_out(&mut self, writes: impl IntoIterator<Item = Write>, events: &mut Vec<Event>) {
        for write in writes {
            match write {
                Write::Put(new) => self.on_api_event(self.cluster.get(new.kind(), &new.key()), Some(new), events),
                Write::Remove(old) => self.on_api_event(self.cluster.get(old.kind(), &old.key()), None, events),
                Write::LastVictim(preemptor, victim) => drop(self.preempting.insert(preemptor, Some(victim))),
                Write::PreemptionOver(preemptor) => drop(self.preempting.remove(&preemptor)),
                Write::PreemptWaiting(pod, _) => self.end_wait(&pod, PermitEnd::Preempted, None, events),
            }
        }
    }
}
