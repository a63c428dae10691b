//! What follows a failed attempt: the pod goes back to the queue, its condition is written, and a preemption is carried
//! out. Mirrors `handleSchedulingFailure` in `pkg/scheduler/schedule_one.go` and
//! `pkg/scheduler/framework/preemption/executor.go`.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp, Unit};

use super::{Failed, Write};
use crate::cluster::{Condition, Object, Pod, Str};
use crate::framework::{NominatingInfo, QueuedPodInfo, is_same_pod};
use crate::scheduler::Scheduler;
use crate::scheduler::algorithm::FitError;
use crate::trace::{Event, Eviction, Place};

/// Grace period of a pod that names none, in seconds.
const DEFAULT_GRACE_SECONDS: i64 = 30;

impl Scheduler {
    /// Puts the pod back and says what is to be written to it.
    pub(super) fn handle_failure(&mut self, info: &mut QueuedPodInfo, failed: Failed, events: &mut Vec<Event>) -> Option<Write> {
        let Failed { reason, message, unschedulable_plugins, pending_plugins, nominating } = failed;
        info.clear_rejector_plugins();
        info.unschedulable_plugins = unschedulable_plugins;
        info.pending_plugins = pending_plugins;
        let popped = info.pod().clone();
        let known = self.state.cluster.pods.get(&popped.key()).filter(|p| !p.is_terminal()).cloned();
        let state = &mut self.state;
        match &known {
            Some(pod) if !is_same_pod(pod, &popped) => {
                state.with_queue(events, |queue, env| queue.leave(env, &popped, Place::Gone));
                return None;
            }
            Some(pod) if pod.node_name.is_empty() => {
                info.update(pod.clone());
                let back = info.clone();
                // Already waiting somewhere means that an update brought it back; that one stays.
                let _ = state.with_queue(events, |queue, env| queue.add_unschedulable_if_not_present(env, back));
            }
            _ => state.with_queue(events, |queue, env| queue.leave(env, &popped, Place::Gone)),
        }
        let nominating = nominating.unwrap_or(NominatingInfo::Noop);
        let pod = info.pod().clone();
        state.with_queue(events, |queue, env| queue.add_nominated_pod(env, &pod, &nominating));
        events.push(Event::AttemptFailed { pod: pod.key(), reason, message: message.clone(), plugins: unschedulable_plugins });

        let mut patched = Pod::clone(known.as_ref()?);
        let condition = Condition {
            kind: "PodScheduled".into(),
            status: "False".into(),
            reason: reason.to_string().into(),
            message: message.into(),
            last_transition_time: Some(whole_second(self.state.clock)),
        };
        set_condition(&mut patched, condition);
        if let NominatingInfo::Override(node) = nominating {
            patched.status.nominated_node_name = node;
        }
        (known.as_deref() != Some(&patched)).then(|| Write::Put(Object::Pod(Arc::new(patched))))
    }

    /// What a preemption writes: lower nominations cleared, then the victims one by one, each marked and then deleted.
    pub(super) fn preempt(&mut self, error: &FitError, info: &QueuedPodInfo, writes: &mut Vec<Write>) {
        writes.extend(error.writes.iter().cloned().map(Write::Put));
        let Some(record) = error.preemption.as_ref().filter(|r| error.preempted && r.selected.is_some()) else { return };
        for key in &record.cleared_nominations {
            let Some(pod) = self.state.cluster.pods.get(key).filter(|p| !p.status.nominated_node_name.is_empty()) else { continue };
            let mut pod = Pod::clone(pod);
            pod.status.nominated_node_name = Str::default();
            writes.push(Write::Put(Object::Pod(Arc::new(pod))));
        }
        for key in &record.evictions {
            let Some(victim) = self.state.cluster.pods.get(key) else { continue };
            let mut marked = Pod::clone(victim);
            set_condition(
                &mut marked,
                Condition {
                    kind: "DisruptionTarget".into(),
                    status: "True".into(),
                    reason: "PreemptionByScheduler".into(),
                    message: format!("{}: preempting to accommodate a higher priority pod", info.pod().spec.scheduler_name).into(),
                    last_transition_time: Some(whole_second(self.state.clock)),
                },
            );
            let mut deleted = marked.clone();
            writes.push(Write::Put(Object::Pod(Arc::new(marked))));
            let grace = deleted.spec.termination_grace_period_seconds.unwrap_or(DEFAULT_GRACE_SECONDS);
            if self.graceful && grace > 0 {
                deleted.metadata.deletion_timestamp = whole_second(self.state.clock).checked_add(SignedDuration::from_secs(grace)).ok();
                writes.push(Write::Put(Object::Pod(Arc::new(deleted))));
            } else {
                writes.push(Write::Remove(Object::Pod(Arc::new(deleted))));
            }
        }
    }

    /// Says who is evicted and who loses a nomination, once it is known that the preemptor is nominated.
    pub(super) fn record_evictions(&self, info: &QueuedPodInfo, writes: &[Write], events: &mut Vec<Event>) {
        for write in writes {
            let (pod, how) = match write {
                Write::Remove(Object::Pod(pod)) => (pod, Eviction::Deleted),
                Write::Put(Object::Pod(pod)) if pod.is_terminating() && !pod.node_name.is_empty() => (pod, Eviction::Terminating),
                _ => continue,
            };
            events.push(Event::VictimEvicted { pod: pod.key(), node: pod.node_name.clone(), preemptor: info.key(), how });
        }
    }
}

/// Mirrors `UpdatePodCondition` in `pkg/api/v1/pod/util.go`: the time of transition changes only with the status.
pub(super) fn set_condition(pod: &mut Pod, mut condition: Condition) {
    match pod.status.conditions.iter_mut().find(|c| c.kind == condition.kind) {
        Some(old) => {
            if old.status == condition.status {
                condition.last_transition_time = old.last_transition_time;
            }
            *old = condition;
        }
        None => pod.status.conditions.push(condition),
    }
}

/// API times have whole seconds.
pub(super) fn whole_second(time: Timestamp) -> Timestamp {
    time.round(jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Floor)).unwrap_or(time)
}
