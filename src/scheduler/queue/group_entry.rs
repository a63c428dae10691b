//! A pod group as one entry of the queue, in releases that queue it so: its pods are in one place, with one backoff, and move
//! together. Mirrors `QueuedPodGroupInfo` in `pkg/scheduler/framework/types.go` and its part of
//! `pkg/scheduler/backend/queue/scheduling_queue.go`.
//!
//! Each pod keeps an entry of its own here, and the pods of a group have equal timestamps and counts. A group has no rejecting
//! plugins of its own, so that it waits in backoffQ's error heap, from which an idle scheduler does not pop.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::moves::{Strategy, label};
use super::{QueueEnv, SchedulingQueue};
use crate::cluster::{Key, Pod};
use crate::framework::{Change, ClusterEvent, EventLabel, NominatingInfo, PluginName, PodGroupState, QueuedPodInfo};
use crate::release::Gate;
use crate::trace::{MoveCause, Place};

/// A pod with its place, which is `None` for one that comes.
type Member = (Arc<QueuedPodInfo>, Option<Place>);

impl SchedulingQueue {
    /// Returns the group with which a pod is queued as one entry; `None` for a pod that is queued by itself.
    pub(super) fn entry_of(&self, pod: &Pod) -> Option<Key> {
        let emulation = self.config.emulation;
        let as_one = emulation.behaviour().queue.groups_queued_as_one && emulation.enabled(Gate::GenericWorkload);
        if as_one { pod.group_key() } else { None }
    }

    /// Returns the pods of a group that are in a queue, by name.
    fn queued_members(&self, env: &dyn QueueEnv, group: &Key) -> Vec<Member> {
        let cx = env.context();
        let pods = cx.snapshot.pod_groups().get(group).into_iter().flat_map(PodGroupState::unscheduled);
        let queued = |key: Key| Some((self.queued(&key)?.clone(), self.place(&key)));
        pods.filter_map(|pod| queued(pod.key())).collect()
    }

    /// Returns the other queued pods of the group of a pod.
    fn mates(&self, env: &dyn QueueEnv, info: &QueuedPodInfo) -> Vec<Member> {
        let Some(group) = self.entry_of(info.pod()) else { return Vec::new() };
        let key = info.key();
        self.queued_members(env, &group).into_iter().filter(|(mate, _)| mate.key() != key).collect()
    }

    /// Adds a pod to its group where that is queued, or queues the group by this pod; mirrors `addPodGroupMember`.
    pub(super) fn join_group(&mut self, env: &mut dyn QueueEnv, mut info: QueuedPodInfo, from: Option<Place>, cause: MoveCause) {
        let mates = self.mates(env, &info);
        let Some((first, place)) = mates.first().cloned() else {
            info.group_size = 1;
            (info.unschedulable_count, info.consecutive_errors_count) = (0, 0);
            self.move_entry(env, vec![(Arc::new(info), from)], false, cause, None);
            return;
        };
        (info.timestamp, info.flushed, info.group_size) = (first.timestamp, first.flushed, first.group_size.max(1));
        (info.unschedulable_count, info.consecutive_errors_count) = (first.unschedulable_count, first.consecutive_errors_count);
        let info = Arc::new(info);
        if matches!(place, Some(Place::Unschedulable { .. })) {
            self.park(env, &info, from, cause, None);
            self.nominate_gated(env, &info);
            return;
        }
        let waits = matches!(place, Some(Place::Backoff { .. })) && self.backoff.is_backing_off(&first, env.now());
        let members = std::iter::once((info, from)).chain(mates).collect();
        self.move_entry(env, members, waits, cause, None);
    }

    /// Moves a pod with its group to activeQ, or to backoffQ. Returns whether they got there.
    pub(super) fn move_with_group(
        &mut self,
        env: &mut dyn QueueEnv,
        info: Arc<QueuedPodInfo>,
        from: Option<Place>,
        to_backoff: bool,
        (cause, plugin): (MoveCause, Option<PluginName>),
    ) -> bool {
        let mates = self.mates(env, &info);
        self.move_entry(env, std::iter::once((info, from)).chain(mates).collect(), to_backoff, cause, plugin)
    }

    /// Moves all pods of a group. A `PreEnqueue` plugin that rejects one of them puts all into unschedulablePods.
    fn move_entry(
        &mut self,
        env: &mut dyn QueueEnv,
        mut members: Vec<Member>,
        to_backoff: bool,
        cause: MoveCause,
        plugin: Option<PluginName>,
    ) -> bool {
        let in_backoff = |from: &Option<Place>| matches!(from, Some(Place::Backoff { .. } | Place::Active));
        // `PreEnqueue` ran on the way into backoffQ. The loss of a pod is no such move.
        let is_flush = cause == label(EventLabel::BackoffComplete) || cause == label(EventLabel::ForceActivate);
        let asked_already = is_flush && self.pops_from_backoff() && !to_backoff && members.iter().all(|(_, from)| in_backoff(from));
        let mut gated = false;
        if !asked_already && (!to_backoff || self.pops_from_backoff()) {
            for (info, _) in &mut members {
                gated |= !self.passes_pre_enqueue(env, info);
            }
        }
        let now = env.now();
        for (mut info, from) in members {
            let key = info.key();
            if gated {
                if !matches!(from, Some(Place::Unschedulable { .. })) {
                    self.take(&key);
                }
                let came = from.is_none();
                self.park(env, &info, from, cause, plugin);
                if came {
                    self.nominate_gated(env, &info);
                }
                continue;
            }
            self.take(&key);
            let to = if to_backoff {
                self.backoff.insert(info.clone());
                self.backoff_place(&info)
            } else {
                Arc::make_mut(&mut info).initial_attempt_timestamp.get_or_insert(now);
                self.active.insert(info.clone());
                Place::Active
            };
            let came = from.is_none();
            if from.as_ref() != Some(&to) {
                self.record_move(env, &info, from, to, cause, plugin);
            }
            if came {
                self.add_nominated_pod(env, info.pod(), &NominatingInfo::Noop);
            }
        }
        !gated
    }

    /// Returns the best effect of an event on the pods of an entry; mirrors `isEntityWorthRequeuing`.
    pub(super) fn is_entry_worth_requeuing(
        &mut self,
        env: &mut dyn QueueEnv,
        info: &QueuedPodInfo,
        event: ClusterEvent,
        change: &Change,
    ) -> Strategy {
        let mut best = self.is_pod_worth_requeuing(env, info, event, change);
        for (mate, _) in self.mates(env, info) {
            if matches!(best, Strategy::Immediately(_)) {
                break;
            }
            let other = self.is_pod_worth_requeuing(env, &mate, event, change);
            if best == Strategy::Skip || matches!(other, Strategy::Immediately(_)) {
                best = other;
            }
        }
        best
    }

    /// Returns the plugin that gates a pod, or another pod of its group.
    pub(super) fn gate_of_entry(&self, env: &dyn QueueEnv, info: &QueuedPodInfo) -> Option<PluginName> {
        info.gating_plugin.or_else(|| self.mates(env, info).iter().find_map(|(mate, _)| mate.gating_plugin))
    }

    /// Returns one pod of each entry among pods.
    pub(super) fn entries(&self, pods: Vec<Arc<QueuedPodInfo>>) -> Vec<Arc<QueuedPodInfo>> {
        let mut seen: BTreeSet<Key> = BTreeSet::new();
        pods.into_iter().filter(|info| self.entry_of(info.pod()).is_none_or(|group| seen.insert(group))).collect()
    }

    /// Keeps a pod of the group that was popped until the group returns, or adds one that comes later to its group; mirrors
    /// `addUnschedulablePodGroupMember`.
    pub(super) fn keep_or_join(&mut self, env: &mut dyn QueueEnv, info: QueuedPodInfo, from: Option<Place>, group: &Key) {
        if self.popped_group.as_ref() == Some(group) {
            self.returning.insert(info.key(), (Arc::new(info), from));
            return;
        }
        let mut info = info;
        info.timestamp = env.now();
        info.sequence = self.next_sequence();
        self.join_group(env, info, from, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD));
    }

    /// Requeues the popped group with the pods that are left, in this order; mirrors `AddAttemptedPodGroupIfNeeded`. After an
    /// attempt that placed the group they keep their time and go to activeQ; otherwise the backoff begins.
    pub(in crate::scheduler) fn return_group(&mut self, env: &mut dyn QueueEnv, order: &[Key], placed: bool) {
        self.popped_group = None;
        let mut returning = std::mem::take(&mut self.returning);
        let mut members: Vec<Member> = order.iter().filter_map(|key| returning.remove(key)).collect();
        members.extend(returning.into_iter().map(|(_, member)| member));
        let Some(errors) = members.iter().map(|(info, _)| info.consecutive_errors_count).max() else { return };
        let rejections = members.iter().map(|(info, _)| info.unschedulable_count).max().unwrap_or(0);
        let failed = members.iter().any(|(info, _)| info.rejectors().is_empty());
        let (size, now) = (u32::try_from(members.len()).unwrap_or(u32::MAX), env.now());
        for (info, _) in &mut members {
            let info = Arc::make_mut(info);
            info.group_size = size;
            (info.unschedulable_count, info.consecutive_errors_count) = match (placed, failed) {
                (true, _) => (rejections, errors),
                (false, true) => (rejections, errors.saturating_add(1)),
                (false, false) => (rejections.saturating_add(1), 0),
            };
            if !placed {
                info.timestamp = now;
                info.sequence = self.next_sequence();
            }
        }
        let waits = !placed && members.first().is_some_and(|(info, _)| self.backoff.is_backing_off(info, now));
        self.move_entry(env, members, waits, label(EventLabel::ScheduleAttemptFailure), None);
    }

    /// Lets the rest of a group be asked again after it lost a pod that waited in activeQ or backoffQ.
    pub(super) fn after_loss(&mut self, env: &mut dyn QueueEnv, lost: &QueuedPodInfo) {
        let mates = self.mates(env, lost);
        let Some((first, place)) = mates.first() else { return };
        let waits = match place {
            Some(Place::Active) => false,
            Some(Place::Backoff { .. }) => self.backoff.is_backing_off(first, env.now()),
            _ => return,
        };
        self.move_entry(env, mates, waits, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_DELETE), None);
    }
}
