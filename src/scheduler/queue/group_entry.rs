//! A pod group as one entry of the queue, in releases that queue it so: its pods are in one place, with one backoff, and move
//! together. Mirrors `QueuedPodGroupInfo` in `pkg/scheduler/framework/types.go` and its part of
//! `pkg/scheduler/backend/queue/scheduling_queue.go`.
//!
//! Each pod keeps an entry of its own here, and the pods of a group have equal timestamps and counts. A group has no rejecting
//! plugins of its own, so that it waits in backoffQ's error heap, from which an idle scheduler does not pop.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::moves::{Strategy, label};
use super::{PreEnqueueInputs, QueueEnv, SchedulingQueue};
use crate::cluster::{Key, Pod};
use crate::framework::{Change, ClusterEvent, EventLabel, NominatingInfo, PluginName, PodGroupState, QueuedPodInfo, Status};
use crate::release::Gate;
use crate::trace::{Event, GroupGate, MoveCause, Place};

/// A pod with its place, which is `None` for one that comes.
pub(super) type Member = (Arc<QueuedPodInfo>, Option<Place>);

/// A group whose queued pods all passed `PreEnqueue`, and what decided that. They pass again while that is the same.
#[derive(Clone, Debug)]
pub(super) struct Passed {
    /// How many pods of the group were known. More cannot gate it.
    pods: usize,
    inputs: PreEnqueueInputs,
}

impl SchedulingQueue {
    /// Returns the group with which a pod is queued as one entry; `None` for a pod that is queued by itself.
    pub(super) fn entry_of(&self, pod: &Pod) -> Option<Key> {
        let emulation = self.config.emulation;
        let as_one = emulation.behaviour().queue.groups_queued_as_one && emulation.enabled(Gate::GenericWorkload);
        if as_one { pod.group_key() } else { None }
    }

    /// Returns the other queued pods of the group of a pod with their places, by name; none for a pod that is queued by itself.
    fn mates<'a>(&'a self, env: &'a dyn QueueEnv, info: &QueuedPodInfo) -> impl Iterator<Item = (&'a Arc<QueuedPodInfo>, Place)> + use<'a> {
        let cx = env.context();
        let state = self.entry_of(info.pod()).and_then(|group| cx.snapshot.pod_groups().get(&group));
        let group = state.map(|state| (state, info.key()));
        let others = |(state, own): (&'a PodGroupState, Key)| state.unscheduled_keys().filter(move |mate| **mate != own);
        group.into_iter().flat_map(others).filter_map(|mate| self.queued(mate))
    }

    /// Returns the same as a list.
    pub(super) fn placed_mates(&self, env: &dyn QueueEnv, info: &QueuedPodInfo) -> Vec<Member> {
        self.mates(env, info).map(|(mate, place)| (mate.clone(), Some(place))).collect()
    }

    /// Adds a pod to its group where that is queued, or queues the group by this pod; mirrors `addPodGroupMember`.
    pub(super) fn join_group(&mut self, env: &mut dyn QueueEnv, mut info: QueuedPodInfo, from: Option<Place>, cause: MoveCause) {
        let Some((first, place)) = self.mates(env, &info).next().map(|(first, place)| (first.clone(), place)) else {
            info.group_size = 1;
            (info.unschedulable_count, info.consecutive_errors_count) = (0, 0);
            self.move_entry(env, vec![(Arc::new(info), from)], false, cause, None);
            return;
        };
        (info.timestamp, info.flushed, info.group_size) = (first.timestamp, first.flushed, first.group_size.max(1));
        (info.unschedulable_count, info.consecutive_errors_count) = (first.unschedulable_count, first.consecutive_errors_count);
        let mut info = Arc::new(info);
        if matches!(place, Place::Unschedulable { .. }) {
            self.park(env, &info, from, cause, None);
            self.record_group_gate(env, info.pod());
            self.nominate_gated(env, &info);
            return;
        }
        let waits = matches!(place, Place::Backoff { .. }) && self.backoff.is_backing_off(&first, env.now());
        let stays = waits || place == Place::Active;
        let alone = stays && self.pass_as_before(env, &info);
        if alone && (self.is_unasked(waits) || self.passes_pre_enqueue(env, &mut info)) {
            self.put_member(env, info, from, waits, cause, None);
            return;
        }
        let mates = self.placed_mates(env, &info);
        let members = std::iter::once((info, from)).chain(mates).collect();
        if alone {
            self.gate_entry(env, members, cause, None);
        } else {
            self.move_entry(env, members, waits, cause, None);
        }
    }

    /// Whether the queued pods of the group of a pod passed `PreEnqueue` and nothing changed for them since.
    fn pass_as_before(&self, env: &dyn QueueEnv, info: &QueuedPodInfo) -> bool {
        let Some(group) = info.pod().group_key() else { return false };
        let Some(passed) = self.passed.get(&group) else { return false };
        passed.pods <= known_pods(env, &group) && env.pre_enqueue_inputs().is_some_and(|inputs| inputs.is_same(&passed.inputs))
    }

    /// Whether `PreEnqueue` does not run on the way of a pod.
    fn is_unasked(&self, to_backoff: bool) -> bool {
        to_backoff && !self.pops_from_backoff()
    }

    /// Forgets that the group of a pod passed `PreEnqueue`, because one of its pods changed.
    pub(super) fn forget_passed(&mut self, pod: &Pod) {
        if let Some(group) = pod.group_key() {
            self.passed.remove(&group);
        }
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
        let mates = self.placed_mates(env, &info);
        self.move_entry(env, std::iter::once((info, from)).chain(mates).collect(), to_backoff, cause, plugin)
    }

    /// Moves pods to activeQ that backoffQ let go, each with its group.
    pub(super) fn move_completed(&mut self, env: &mut dyn QueueEnv, completed: Vec<Arc<QueuedPodInfo>>) {
        let cause = label(EventLabel::BackoffComplete);
        let mut groups: BTreeMap<Key, Vec<Member>> = BTreeMap::new();
        for info in &completed {
            if let Some(group) = self.entry_of(info.pod()) {
                groups.entry(group).or_default().push((info.clone(), Some(self.backoff_place(info))));
            }
        }
        for info in completed {
            match self.entry_of(info.pod()) {
                None => {
                    let from = self.backoff_place(&info);
                    self.move_to_active(env, info, Some(from), cause, None);
                }
                Some(group) => {
                    if let Some(mut members) = groups.remove(&group) {
                        members.extend(self.placed_mates(env, &info));
                        self.move_entry(env, members, false, cause, None);
                    }
                }
            }
        }
    }

    /// Moves all pods of a group. A `PreEnqueue` plugin that rejects one of them puts all into unschedulablePods.
    pub(super) fn move_entry(
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
        if !asked_already && !self.is_unasked(to_backoff) {
            let mut gated = false;
            for (info, _) in &mut members {
                gated |= !self.passes_pre_enqueue(env, info);
            }
            if gated {
                self.gate_entry(env, members, cause, plugin);
                return false;
            }
            if let (Some(group), Some(inputs)) = (members.first().and_then(|(info, _)| info.pod().group_key()), env.pre_enqueue_inputs()) {
                self.passed.insert(group.clone(), Passed { pods: known_pods(env, &group), inputs });
            }
        }
        let first = members.first().map(|(info, _)| info.pod().clone());
        for (info, from) in members {
            self.put_member(env, info, from, to_backoff, cause, plugin);
        }
        if let Some(first) = first {
            self.record_group_gate(env, &first);
        }
        true
    }

    /// Puts a pod of a group into activeQ, or into backoffQ.
    fn put_member(
        &mut self,
        env: &mut dyn QueueEnv,
        mut info: Arc<QueuedPodInfo>,
        from: Option<Place>,
        to_backoff: bool,
        cause: MoveCause,
        plugin: Option<PluginName>,
    ) {
        self.take(&info.key());
        let to = if to_backoff {
            self.backoff.of(&info.key()).insert(info.clone());
            self.backoff_place(&info)
        } else {
            let now = env.now();
            Arc::make_mut(&mut info).initial_attempt_timestamp.get_or_insert(now);
            self.active.of(&info.key()).insert(info.clone());
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

    /// Puts the other queued pods of the group of a gated pod into unschedulablePods, where it is queued as one.
    pub(super) fn gate_mates(&mut self, env: &mut dyn QueueEnv, info: &QueuedPodInfo, cause: MoveCause) {
        let first = self.mates(env, info).next();
        if first.is_some_and(|(_, place)| !matches!(place, Place::Unschedulable { .. })) {
            let mates = self.placed_mates(env, info);
            self.gate_entry(env, mates, cause, None);
        }
    }

    /// Puts all pods of a group into unschedulablePods, because one of them is gated.
    fn gate_entry(&mut self, env: &mut dyn QueueEnv, members: Vec<Member>, cause: MoveCause, plugin: Option<PluginName>) {
        let first = members.first().map(|(info, _)| info.pod().clone());
        if let Some(first) = &first {
            self.forget_passed(first);
        }
        for (info, from) in members {
            if !matches!(from, Some(Place::Unschedulable { .. })) {
                self.take(&info.key());
            }
            let came = from.is_none();
            self.park(env, &info, from, cause, plugin);
            if came {
                self.nominate_gated(env, &info);
            }
        }
        if let Some(first) = first {
            self.record_group_gate(env, &first);
        }
    }

    /// Returns the best effect of an event on a pod and the others of its entry; mirrors `isEntityWorthRequeuing`.
    pub(super) fn is_entry_worth_requeuing(
        &mut self,
        env: &mut dyn QueueEnv,
        (info, mates): (&QueuedPodInfo, &[Member]),
        event: ClusterEvent,
        change: &Change,
    ) -> Strategy {
        let mut best = self.is_pod_worth_requeuing(env, info, event, change);
        for (mate, _) in mates {
            if matches!(best, Strategy::Immediately(_)) {
                break;
            }
            let other = self.is_pod_worth_requeuing(env, mate, event, change);
            if best == Strategy::Skip || matches!(other, Strategy::Immediately(_)) {
                best = other;
            }
        }
        best
    }

    /// Returns the plugin that gates a pod, or another pod of its group.
    pub(super) fn gate_of_entry(&self, info: &QueuedPodInfo) -> Option<PluginName> {
        info.gating_plugin.or_else(|| self.unschedulable.gate_of(&self.entry_of(info.pod())?))
    }

    /// Whether a plugin gates a pod, or another pod of its group.
    pub(in crate::scheduler) fn is_gated(&self, info: &QueuedPodInfo) -> bool {
        self.gate_of_entry(info).is_some()
    }

    /// Whether a pod, or another pod of its group where that is queued as one, is gated.
    pub(in crate::scheduler) fn has_gated_group(&self, pod: &Pod) -> bool {
        self.entry_of(pod).is_some_and(|group| self.unschedulable.first_gated(&group).is_some())
    }

    /// Returns the first pod by name that `PreEnqueue` still rejects of those `which` gate the group of a pod, and why, where the
    /// group is queued as one.
    pub(in crate::scheduler) fn rejected_with_group(
        &self,
        env: &dyn QueueEnv,
        pod: &Pod,
        which: impl Fn(&Pod) -> bool,
    ) -> Option<(Arc<Pod>, Status)> {
        let group = self.entry_of(pod)?;
        self.unschedulable.gated(&group).filter(|info| which(info.pod())).find_map(|info| {
            let (plugin, status) = env.pre_enqueue(info.pod(), info.gating_plugin)?;
            Some((info.pod().clone(), status.with_plugin(plugin)))
        })
    }

    /// Records which pod gates the group of a pod, if that has changed.
    pub(super) fn record_group_gate(&mut self, env: &mut dyn QueueEnv, pod: &Pod) {
        let Some(group) = self.entry_of(pod) else { return };
        let first = self.unschedulable.first_gated(&group);
        let gate = first.and_then(|info| Some(Arc::new(GroupGate { pod: info.key(), plugin: info.gating_plugin? })));
        if self.view.group_gates.get(&group) != gate.as_ref() {
            self.record(env, Event::GroupGateChanged { group, gate });
        }
    }

    /// Returns one pod of each entry among pods.
    pub(super) fn entries(&self, pods: Vec<Arc<QueuedPodInfo>>) -> Vec<Arc<QueuedPodInfo>> {
        let mut seen: HashSet<Key> = HashSet::new();
        pods.into_iter().filter(|info| self.entry_of(info.pod()).is_none_or(|group| seen.insert(group))).collect()
    }

    /// Keeps a pod of the group that was popped until the group returns, or adds one that comes later to its group; mirrors
    /// `addUnschedulablePodGroupMember`.
    pub(super) fn keep_or_join(&mut self, env: &mut dyn QueueEnv, info: QueuedPodInfo, from: Option<Place>, group: &Key) {
        if self.popped_group.as_ref() == Some(group) {
            let key = info.key();
            self.returning.of(&key).insert(key, (Arc::new(info), from));
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
        let mut returning = std::mem::take(self.returning.of_any());
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
        self.record_group_gate(env, lost.pod());
        let mates = self.placed_mates(env, lost);
        let Some((first, place)) = mates.first() else { return };
        let waits = match place {
            Some(Place::Active) => false,
            Some(Place::Backoff { .. }) => self.backoff.is_backing_off(first, env.now()),
            _ => return,
        };
        self.move_entry(env, mates, waits, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_DELETE), None);
    }
}

/// Returns how many pods of a group are known.
fn known_pods(env: &dyn QueueEnv, group: &Key) -> usize {
    env.context().snapshot.pod_groups().get(group).map_or(0, PodGroupState::pods)
}
