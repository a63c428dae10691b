//! Adds, updates, deletes, pops and requeues pods.

use std::sync::Arc;

use super::moves::{Strategy, label};
use super::{AlreadyQueued, QueueEnv, SchedulingQueue, unschedulable_place};
use crate::cluster::{Key, Object, Pod, Str};
use crate::framework::{Change, ClusterEvent, EventLabel, QueuedPodInfo, is_pod_updated, pod_scheduling_properties_change};
use crate::release::{Backoff, Gate, Parking};
use crate::trace::{Event, MoveCause, Place};

impl SchedulingQueue {
    /// Adds a new pod without a node. Replaces a queued pod of the same name.
    pub fn add(&mut self, env: &mut dyn QueueEnv, pod: Arc<Pod>) {
        self.drop_waiting(env, &pod.key(), MoveCause::Cycle);
        let parsed = self.last_pod.parse(pod, self.config.emulation);
        let info = QueuedPodInfo::of(parsed, env.now(), self.next_sequence());
        let cause = MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD);
        if self.entry_of(info.pod()).is_some() {
            self.join_group(env, info, None, cause);
        } else {
            self.move_to_active(env, Arc::new(info), None, cause, None);
        }
    }

    /// Updates a pod without a node. In flight, the change is kept for the pod's return; in activeQ and backoffQ only
    /// the object is replaced; in unschedulablePods the hints run; an unknown pod is added.
    ///
    /// Events after the first that moves the pod are ignored.
    pub fn update(&mut self, env: &mut dyn QueueEnv, old: &Arc<Pod>, new: &Arc<Pod>) {
        let events = pod_scheduling_properties_change(old, new, self.config.emulation);
        let change = Change { old: Some(Object::Pod(old.clone())), new: Some(Object::Pod(new.clone())) };
        if self.in_flight.contains(new) {
            for event in events {
                self.in_flight.keep(event, &change);
            }
            return;
        }
        let Some((mut info, place)) = self.replace_object(env, new) else {
            // An attempt past `done` no longer holds the pod's place; kube-scheduler avoids this case by dropping
            // updates of assumed pods.
            self.in_flight.finish(new);
            let info = QueuedPodInfo::new(new.clone(), env.now(), self.next_sequence(), self.config.emulation);
            if self.entry_of(new).is_some() {
                self.join_group(env, info, None, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD));
            } else {
                self.move_to_active(env, Arc::new(info), None, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_UPDATE), None);
            }
            return;
        };
        self.update_nominated_pod(env, old, new);
        if !matches!(place, Place::Unschedulable { .. }) {
            return;
        }
        if !self.config.emulation.enabled(Gate::SchedulerQueueingHints) {
            if is_pod_updated(old, new) {
                let backing_off = self.backoff.is_backing_off(&info, env.now());
                let update = MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_UPDATE);
                let waits = backing_off || self.config.emulation.behaviour().queue.backoff == Backoff::None;
                let cause = if waits { update } else { label(EventLabel::BackoffComplete) };
                self.requeue(env, info, Some(place), Strategy::AfterBackoff(None), cause);
            }
            return;
        }
        for event in events {
            let mates = self.placed_mates(env, &info);
            let strategy = self.is_entry_worth_requeuing(env, (&info, &mates), event, &change);
            let from = Some(unschedulable_place(&info));
            if self.requeue_entry(env, (info, from), mates, strategy, MoveCause::Cluster(event)) {
                return;
            }
            // PreEnqueue may have recorded another reason to stay.
            let Some(parked) = self.unschedulable.get(&new.key()) else { return };
            info = parked.clone();
        }
    }

    /// Replaces the object of a queued pod; its position changes only with its priority.
    fn replace_object(&mut self, env: &mut dyn QueueEnv, new: &Arc<Pod>) -> Option<(Arc<QueuedPodInfo>, Place)> {
        let key = new.key();
        let place = self.place(&key)?;
        let mut info = self.take(&key)?;
        self.forget_passed(new);
        let priority = info.pod().priority();
        Arc::make_mut(&mut info).update(new.clone(), self.config.emulation);
        match place {
            Place::Active => self.active.of(&key).insert(info.clone()),
            Place::Backoff { .. } => self.backoff.of(&key).insert(info.clone()),
            _ => {
                self.unschedulable.of(&key).insert(info.clone());
            }
        }
        if new.priority() != priority {
            self.record(env, Event::PriorityChanged { pod: key, priority: new.priority() });
        }
        Some((info, place))
    }

    /// Removes a pod without a node that was deleted or bound. Its attempt, if one is under way, continues.
    pub fn delete(&mut self, env: &mut dyn QueueEnv, pod: &Pod) {
        self.delete_nominated_pod_if_exists(env, pod);
        self.drop_waiting(env, &pod.key(), MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_DELETE));
    }

    pub(super) fn drop_waiting(&mut self, env: &mut dyn QueueEnv, key: &Key, cause: MoveCause) {
        let place = self.place(key);
        if let Some(info) = self.take(key) {
            self.record_move(env, &info, place, Place::Gone, cause, None);
            if cause != MoveCause::Cycle {
                self.after_loss(env, &info);
            }
        }
    }

    /// Moves pods to activeQ, past any backoff, for a plugin or a failed preemption. Pods in flight are tried again on
    /// their return; pods in activeQ and unknown ones are ignored.
    pub fn activate(&mut self, env: &mut dyn QueueEnv, pods: &[Arc<Pod>]) {
        for pod in pods {
            let key = pod.key();
            let place = self.place(&key);
            let info = self.unschedulable.get(&key).cloned().or_else(|| self.backoff.of(&key).remove(&key));
            let activated = info.is_some_and(|info| self.move_to_active(env, info, place, label(EventLabel::ForceActivate), None));
            if !activated {
                self.in_flight.keep_activation(pod);
            }
        }
    }

    /// Pops the next pod to try: the first of activeQ or, when that is empty and the gate `SchedulerPopFromBackoffQ` is
    /// on, the first rejected pod of backoffQ, even during its backoff. `None` when there is none; kube-scheduler would
    /// block.
    pub fn pop(&mut self, env: &mut dyn QueueEnv) -> Option<Arc<QueuedPodInfo>> {
        loop {
            let next = self.active.iter().next().map(|info| info.key());
            let (mut info, early) = match next {
                Some(key) => (self.active.of(&key).pop()?, false),
                None if self.pops_from_backoff() => {
                    let key = self.backoff.first_rejected()?.key();
                    (self.backoff.of(&key).pop_early()?, true)
                }
                None => return None,
            };
            let from = if early { self.backoff_place(&info) } else { Place::Active };
            let tried = Arc::make_mut(&mut info);
            tried.attempts = tried.attempts.saturating_add(1);
            if self.in_flight.contains(info.pod()) {
                // The same pod is in flight already: drop this one.
                self.record_move(env, &info, Some(from), Place::Gone, MoveCause::Cycle, None);
                continue;
            }
            self.scheduling_cycle += 1;
            self.in_flight.start(info.clone());
            self.popped_group = self.entry_of(info.pod());
            self.record(env, Event::PodPopped { pod: info.key(), attempts: info.attempts, early_from_backoff: early });
            let cause = if early { label(EventLabel::PopFromBackoffQ) } else { MoveCause::Cycle };
            self.record_move(env, &info, Some(from), Place::InFlight, cause, None);
            return Some(info);
        }
    }

    /// Stops keeping events for a popped pod. Call it when the pod can no longer be parked: after `WaitOnPermit`,
    /// before `PreBind`. [`Self::leave`] and [`Self::add_unschedulable_if_not_present`] do it too.
    pub fn done(&mut self, pod: &Pod) {
        self.in_flight.done(pod);
    }

    /// Ends the attempt of a pod that does not return: it was bound (`Place::Bound`), or it was skipped or is not
    /// requeued (`Place::Gone`; its next update requeues it).
    pub fn leave(&mut self, env: &mut dyn QueueEnv, pod: &Pod, to: Place) {
        self.in_flight.done(pod);
        let Some((info, from)) = self.in_flight.finish(pod) else { return };
        // A new pod of the same name may be queued by now; its place is unchanged.
        if self.place(&info.key()).is_none() {
            self.record_move(env, &info, Some(from), to, MoveCause::Cycle, None);
        }
    }

    /// Marks a popped pod as assumed and waiting on Permit. Events are still kept for it, since it may be rejected.
    /// [`Self::leave`] and [`Self::add_unschedulable_if_not_present`] end the wait.
    pub fn wait_on_permit(&mut self, env: &mut dyn QueueEnv, pod: &Pod, node: &Str) {
        if let Some(info) = self.in_flight.wait_on_permit(pod, node) {
            let to = Place::WaitingOnPermit { node: node.clone() };
            self.record_move(env, &info, Some(Place::InFlight), to, MoveCause::Cycle, None);
        }
    }

    /// Requeues a popped pod after a failed attempt, with its newest object and its rejecting plugins. Without any it
    /// goes to backoffQ; otherwise it is parked, unless an event since its pop may help one of these plugins.
    pub fn add_unschedulable_if_not_present(&mut self, env: &mut dyn QueueEnv, mut info: QueuedPodInfo) -> Result<(), AlreadyQueued> {
        let from = self.in_flight.finish(info.pod()).map(|(_, place)| place);
        if let Some(place) = self.place(&info.key()) {
            self.in_flight.done(info.pod());
            let queue = match place {
                Place::Active => "active",
                Place::Backoff { .. } => "backoff",
                _ => "unschedulable",
            };
            return Err(AlreadyQueued { pod: info.key(), queue });
        }
        if let Some(group) = self.entry_of(info.pod()) {
            self.in_flight.done(info.pod());
            self.keep_or_join(env, info, from, &group);
            return Ok(());
        }
        if info.rejectors().is_empty() {
            info.consecutive_errors_count = info.consecutive_errors_count.saturating_add(1);
        } else {
            info.unschedulable_count = info.unschedulable_count.saturating_add(1);
            info.consecutive_errors_count = 0;
        }
        info.timestamp = env.now();
        info.sequence = self.next_sequence();
        let pod = info.pod().clone();
        if !self.config.emulation.enabled(Gate::SchedulerQueueingHints) {
            self.add_without_hints(env, Arc::new(info), from);
            self.in_flight.done(&pod);
            return Ok(());
        }
        let strategy = self.strategy_for_in_flight_pod(env, &info);
        self.requeue(env, Arc::new(info), from, strategy, label(EventLabel::ScheduleAttemptFailure));
        self.in_flight.done(&pod);
        Ok(())
    }

    /// Requeues a tried pod without hints: to backoffQ if no plugin rejected it or an event came since it was popped;
    /// otherwise it is parked. Without backoff it goes to activeQ.
    fn add_without_hints(&mut self, env: &mut dyn QueueEnv, info: Arc<QueuedPodInfo>, from: Option<Place>) {
        let cause = label(EventLabel::ScheduleAttemptFailure);
        let moved = self.move_request_cycle.is_some_and(|cycle| cycle >= self.scheduling_cycle);
        let release = &self.config.emulation.behaviour().queue;
        if moved || release.parking == Parking::Rejected && info.rejectors().is_empty() {
            if release.backoff == Backoff::None {
                self.move_to_active(env, info, from, cause, None);
            } else {
                self.move_to_backoff(env, info, from, cause, None);
            }
        } else {
            self.park(env, &info, from, cause, None);
        }
    }

    /// Runs the hints on every event since the pod was popped.
    fn strategy_for_in_flight_pod(&mut self, env: &mut dyn QueueEnv, info: &QueuedPodInfo) -> Strategy {
        if info.rejectors().is_empty() {
            return Strategy::AfterBackoff(None);
        }
        if self.is_group_member(info.pod()) {
            return Strategy::AfterBackoff(None);
        }
        let Some(events) = self.in_flight.events_since_pop(info.pod()) else { return Strategy::AfterBackoff(None) };
        let mut strategy = Strategy::Skip;
        for kept in events {
            match self.is_pod_worth_requeuing(env, info, kept.0, &kept.1) {
                Strategy::Skip => {}
                Strategy::Immediately(plugin) => return Strategy::Immediately(plugin),
                after @ Strategy::AfterBackoff(_) => {
                    if strategy == Strategy::Skip {
                        strategy = after;
                    }
                    if info.pending_plugins.is_empty() {
                        break;
                    }
                }
            }
        }
        strategy
    }
}
