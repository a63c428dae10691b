//! Handles a failed attempt: requeues the pod, writes its condition and carries out a preemption. Mirrors
//! `handleSchedulingFailure` in `pkg/scheduler/schedule_one.go` and `pkg/scheduler/framework/preemption/executor.go`.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp, Unit};

use super::{Failed, Write};
use crate::cluster::{Condition, Key, Object, Pod, Str};
use crate::framework::{Change, ClusterEvent, NominatingInfo, QueuedPodInfo, Victim, is_same_pod};
use crate::release::{Gate, PreemptionCalls, VictimStatus};
use crate::scheduler::algorithm::FitError;
use crate::scheduler::object_id::ObjectId;
use crate::scheduler::{Evictions, Scheduler, State};
use crate::trace::{AttemptFailure, Event, Eviction, Place};

/// Grace period of a pod without one of its own, in seconds.
const DEFAULT_GRACE_SECONDS: i64 = 30;

impl State {
    /// Requeues the pod and returns the write of its status. If a rejected pod released its place, other pods are moved
    /// after that, so that the pod does not wake itself.
    pub(super) fn handle_failure(&mut self, info: &mut QueuedPodInfo, mut failed: Failed, events: &mut Vec<Event>) -> Option<Write> {
        let released = failed.released.take();
        let own = self.put_back(info, failed, events);
        if let Some(pod) = released {
            let change = Change { old: Some(Object::Pod(pod.pod.clone())), new: None };
            let event = ClusterEvent::ASSIGNED_POD_DELETE;
            self.with_queue(events, |queue, env| queue.move_others_to_active_or_backoff_queue(env, event, &change, &pod.pod));
        }
        own
    }

    fn put_back(&mut self, info: &mut QueuedPodInfo, failed: Failed, events: &mut Vec<Event>) -> Option<Write> {
        let Failed { reason, cause, message, unschedulable_plugins, pending_plugins, nominating, released: _ } = failed;
        info.clear_rejector_plugins();
        info.unschedulable_plugins = unschedulable_plugins;
        info.pending_plugins = pending_plugins;
        let popped = info.pod().clone();
        let known = self.cluster.pods.get(&popped.key()).filter(|p| !p.is_terminal()).cloned();
        match &known {
            Some(pod) if !is_same_pod(pod, &popped) => {
                self.with_queue(events, |queue, env| queue.leave(env, &popped, Place::Gone));
                if !self.config.emulation.behaviour().queue.recreated_pods_marked {
                    return None;
                }
                if pod.node_name.is_empty() {
                    info.update(pod.clone(), self.config.emulation);
                }
            }
            Some(pod) if pod.node_name.is_empty() => {
                info.update(pod.clone(), self.config.emulation);
                let back = info.clone();
                // An error means that an update has requeued it already; that entry stays.
                let _ = self.with_queue(events, |queue, env| queue.add_unschedulable_if_not_present(env, back));
            }
            _ => self.with_queue(events, |queue, env| queue.leave(env, &popped, Place::Gone)),
        }
        let nominating = nominating.unwrap_or(NominatingInfo::Noop);
        let pod = info.pod().clone();
        self.with_queue(events, |queue, env| queue.add_nominated_pod(env, &pod, &nominating));
        let message = Str::from(message);
        let failure = AttemptFailure { reason, cause, message: message.clone(), plugins: unschedulable_plugins };
        events.push(Event::AttemptFailed { pod: pod.key(), failure: failure.into() });

        let mut patched = Pod::clone(known.as_ref()?);
        let condition = Condition {
            kind: "PodScheduled".into(),
            status: "False".into(),
            reason: reason.to_string().into(),
            message,
            last_transition_time: Some(whole_second(self.clock)),
        };
        set_condition(&mut patched, condition);
        if let NominatingInfo::Override(node) = nominating {
            patched.status.nominated_node_name = node;
        }
        (known.as_deref() != Some(&patched)).then(|| Write::Put(Object::Pod(Arc::new(patched))))
    }
}

impl Scheduler {
    /// Collects the writes of a preemption: clears lower nominations, then marks and deletes the victims one by one.
    ///
    /// With the gate `SchedulerAsyncPreemption` they take effect after the pod is requeued; `PreEnqueue` then holds the
    /// pod until the deletion of the last victim. Without the gate they take effect here, victims first.
    pub(super) fn preempt(&mut self, error: &FitError, info: &QueuedPodInfo, writes: &mut Vec<Write>, events: &mut Vec<Event>) {
        writes.extend(error.writes.iter().cloned().map(Write::of));
        let Some(record) = error.preemption.as_ref().filter(|r| error.preempted && r.selected().is_some()) else { return };
        let mut evictions = Vec::new();
        let id = ObjectId::of_pod(info.pod());
        let queue = &self.state.config.emulation.behaviour().queue;
        let victims: Vec<Key> = if queue.terminating_victims_deleted {
            record.victims().map(Victim::key).collect()
        } else {
            record.evictions().map(Victim::key).collect()
        };
        let asynchronous = self.state.config.emulation.enabled(Gate::SchedulerAsyncPreemption);
        // The calls of an asynchronous preemption clear the nominations that there are when they begin.
        let cleared: Vec<Key> = match record.selected().filter(|_| asynchronous && !victims.is_empty()) {
            Some(node) => self.lower_nominations(info.pod(), node),
            None => record.cleared_nominations.clone(),
        };
        let cleared: Vec<Write> = cleared.iter().filter_map(|key| self.clear_nomination(key)).collect();
        for (i, key) in victims.iter().enumerate() {
            if i + 1 == victims.len() {
                // Rejecting a pod in memory takes no time, so the preemption is over when that pod's binding ends.
                let in_memory = self.state.waiting.contains_key(key);
                let id = id.clone();
                evictions.push(if in_memory { Write::PreemptionOver(id) } else { Write::LastVictim(id, key.clone()) });
            }
            self.evict(key, info.pod(), "pod", &mut evictions);
        }
        if queue.preemption_calls == PreemptionCalls::VictimsFirst {
            writes.extend(evictions.into_iter().chain(cleared));
        } else if asynchronous || queue.preemption_calls == PreemptionCalls::AfterCycle {
            if asynchronous && !victims.is_empty() {
                self.state.preempting.insert(id, None);
            }
            writes.extend(cleared.into_iter().chain(evictions));
        } else {
            record_evictions(info.key(), &evictions, events);
            self.state.carry_out(evictions, events);
            self.state.carry_out(cleared, events);
        }
    }

    /// Returns the pods of lower priority that are nominated to the node now; mirrors `getLowerPriorityNominatedPods`.
    fn lower_nominations(&self, preemptor: &Pod, node: &str) -> Vec<Key> {
        let nominated = self.state.queue.nominated_pods_for_node(node);
        let lower = nominated.iter().map(|info| &info.pod).filter(|pod| pod.priority() < preemptor.priority());
        lower.filter(|pod| !pod.status.nominated_node_name.is_empty()).map(|pod| pod.key()).collect()
    }

    fn clear_nomination(&self, key: &Key) -> Option<Write> {
        let mut pod = Pod::clone(self.state.cluster.pods.get(key).filter(|p| !p.status.nominated_node_name.is_empty())?);
        pod.status.nominated_node_name = Str::default();
        Some(Write::Put(Object::Pod(Arc::new(pod))))
    }

    /// Marks a victim and deletes it; if pods keep their grace period, it terminates. A victim that waits on Permit is
    /// rejected without a write. `what` names the kind of the preemptor.
    pub(super) fn evict(&self, key: &Key, preemptor: &Pod, what: &str, writes: &mut Vec<Write>) {
        if let Some(waiting) = self.state.waiting.get(key) {
            writes.push(Write::PreemptWaiting(key.clone(), waiting.node().clone()));
            return;
        }
        let Some(victim) = self.state.cluster.pods.get(key) else { return };
        let now = whole_second(self.state.clock);
        let mut marked = Pod::clone(victim);
        if self.state.config.emulation.behaviour().queue.victim_status == VictimStatus::OfPreemptor {
            marked.status = preemptor.status.clone();
        }
        let condition = Condition {
            kind: "DisruptionTarget".into(),
            status: "True".into(),
            reason: "PreemptionByScheduler".into(),
            message: format!("{}: preempting to accommodate a higher priority {what}", preemptor.spec.scheduler_name).into(),
            last_transition_time: Some(now),
        };
        if self.state.config.emulation.behaviour().queue.victims_marked {
            set_condition(&mut marked, condition);
        }
        let mut deleted = marked.clone();
        if marked != **victim {
            writes.push(Write::Put(Object::Pod(Arc::new(marked))));
        }
        let grace = deleted.spec.termination_grace_period_seconds.unwrap_or(DEFAULT_GRACE_SECONDS);
        if self.evictions != Evictions::AtOnce && victim.is_terminating() {
            // A second deletion does not extend the grace period.
        } else if self.evictions != Evictions::AtOnce && grace > 0 {
            let end = now.checked_add(SignedDuration::from_secs(grace)).unwrap_or(Timestamp::MAX);
            deleted.metadata.deletion_timestamp = Some(end);
            writes.push(Write::Put(Object::Pod(Arc::new(deleted))));
        } else {
            writes.push(Write::Remove(Object::Pod(Arc::new(deleted))));
        }
    }
}

/// Records the evicted pods.
pub(super) fn record_evictions(preemptor: Key, writes: &[Write], events: &mut Vec<Event>) {
    let preemptor = Arc::new(preemptor);
    for write in writes {
        let (pod, node, how) = match write {
            Write::Remove(Object::Pod(pod)) => (pod.key(), &pod.node_name, Eviction::Deleted),
            Write::Put(Object::Pod(pod)) if pod.is_terminating() && !pod.node_name.is_empty() => {
                (pod.key(), &pod.node_name, Eviction::Terminating)
            }
            Write::PreemptWaiting(pod, node) => (pod.clone(), node, Eviction::InMemory),
            _ => continue,
        };
        events.push(Event::VictimEvicted { pod: Box::new(pod), node: node.clone(), preemptor: preemptor.clone(), how });
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

/// Rounds down to whole seconds, the precision of API times.
pub(super) fn whole_second(time: Timestamp) -> Timestamp {
    time.round(jiff::TimestampRound::new().smallest(Unit::Second).mode(jiff::RoundMode::Floor)).unwrap_or(time)
}

#[cfg(test)]
mod tests;
