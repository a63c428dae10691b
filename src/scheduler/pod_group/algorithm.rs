//! The members one after another; mirrors `podGroupSchedulingDefaultAlgorithm` and `podGroupPodSchedulingAlgorithm`.

use std::sync::Arc;

use super::{GroupResult, MemberResult, PlaceFound, PodGroupCycle, Turn, Verdict, World, unschedulable};
use crate::cluster::{Object, Pod, Str};
use crate::framework::{Code, Context, CycleState, GangCount, NominatingInfo, Placement, PodInfo, QueuedPodInfo, Reason, Snapshot, Status};
use crate::release::GroupRule;
use crate::scheduler::ScheduleError;
use crate::scheduler::algorithm::{ODDS_NODES, PostFilter, SchedulePod, ScheduleResult};
use crate::scheduler::decide::cycle_start;
use crate::trace::{Event, GroupEvent, GroupTrace, Quiet, Recorder, Trace};

/// How many members need a place.
struct Quorum {
    /// The number of a gang; `None` for other groups, of which one is enough.
    min_count: Option<i32>,
    /// The members that have a node from earlier attempts.
    placed_before: usize,
}

impl Quorum {
    fn needed(&self) -> usize {
        self.min_count.map_or(1, |count| usize::try_from(count).unwrap_or(0))
    }

    /// Returns the status of the group once too few members are left to reach the number; `None` before.
    fn out_of_reach(&self, placed: usize, remaining: usize) -> Option<Status> {
        (self.placed_before + placed + remaining < self.needed()).then(|| self.status(placed, remaining))
    }

    /// Returns the status with these members placed now and these not tried.
    fn status(&self, placed: usize, remaining: usize) -> Status {
        let scheduled = self.placed_before + placed;
        if scheduled >= self.needed() && placed > 0 {
            return Status::success();
        }
        if scheduled >= self.needed() {
            return unschedulable([Reason::NoPodSchedulable]);
        }
        let min_count = self.min_count.unwrap_or(1);
        let count = Box::new(GangCount { min_count, scheduled, remaining });
        unschedulable([if scheduled + remaining < self.needed() {
            Reason::GangUnsatisfiable(count)
        } else {
            Reason::GangUnsatisfied(count)
        }])
    }
}

/// Returns how an attempt ended, and the node where it found or would find a place.
fn verdict_and_node(result: ScheduleResult) -> (Verdict, Option<Str>) {
    match result {
        ScheduleResult::Selected { node, .. } => (Verdict::Fits, Some(node)),
        ScheduleResult::NoNodes => (Verdict::NoNodes, None),
        ScheduleResult::Error(error) => (Verdict::Error(error), None),
        ScheduleResult::FitError(error) => {
            let node = match &error.nominating {
                Some(NominatingInfo::Override(node)) if !node.is_empty() => Some(node.clone()),
                _ => None,
            };
            (Verdict::NoFit(error), node)
        }
    }
}

impl PodGroupCycle<'_> {
    /// Tries the members on the nodes of a placement, or on all. Nothing stays of it but the nominations.
    pub(super) fn try_members(
        &mut self,
        placement: Option<&Placement>,
        post_filter: PostFilter,
        events: Option<&mut Vec<Event>>,
    ) -> GroupResult {
        let mut world = self.world.clone();
        let result = match events {
            Some(events) if self.quiet => self.try_all(&mut world, placement, post_filter, &mut GroupTrace::new(events)),
            Some(events) => self.try_all(&mut world, placement, post_filter, &mut Trace::new(events)),
            None => self.try_all(&mut world, placement, post_filter, &mut Quiet),
        };
        self.world.nominations = world.nominations;
        for (info, member) in self.members.iter().zip(&result.members).rev() {
            if member.place.is_some() {
                self.world.nominations.restore(info.pod(), &self.world.cluster);
            }
        }
        result
    }

    fn try_all(
        &mut self,
        world: &mut World<'_>,
        placement: Option<&Placement>,
        post_filter: PostFilter,
        recorder: &mut impl Recorder,
    ) -> GroupResult {
        let mut result = GroupResult::of(unschedulable([]));
        let mut requires_preemption = false;
        let mut placed = 0;
        let quorum = self.quorum(world);
        let post_filter = if quorum.is_some() { PostFilter::LeaveOut } else { post_filter };
        for (i, info) in self.members.iter().enumerate() {
            if let Some(status) = quorum.as_ref().and_then(|quorum| quorum.out_of_reach(placed, self.members.len() - i)) {
                result.status = status;
                break;
            }
            let mut member = self.try_member(world, i, info, placement, post_filter, recorder);
            if recorder.events().is_none()
                && let Verdict::NoFit(error) = &mut member.verdict
            {
                // Only the selected dry run is read, and many members would keep many.
                error.preemption = error.preemption.take().map(|record| Arc::new(record.selected_alone()));
            }
            if placement.is_none()
                && let (Turn::Decision(after_member) | Turn::Whole(after_member), Some(events)) = (&mut self.turn, recorder.events())
            {
                after_member(events);
            }
            if let Verdict::NoFit(error) = &member.verdict
                && post_filter == PostFilter::Run
                && (error.preempted || !error.writes.is_empty())
            {
                result.post_filtered.push((i, error.clone()));
            }
            let error = if let Verdict::Error(error) = &member.verdict { Some(error.to_string()) } else { None };
            if let Some(place) = &member.place {
                placed += 1;
                requires_preemption |= member.requires_preemption();
                if quorum.is_none() && place.permit.is_success() {
                    result.waiting_on_preemption = requires_preemption;
                    result.status = if requires_preemption { unschedulable([Reason::GroupAwaitsPreemption]) } else { Status::success() };
                }
            }
            result.members.push(member);
            if let Some(error) = error {
                result.status = Status::error(format!("failed to schedule other pod from a pod group: {error}"));
                result.waiting_on_preemption = false;
                break;
            }
        }
        if let Some(quorum) = quorum.filter(|_| result.status.is_rejected()) {
            result.status = quorum.status(result.placed(), self.members.len() - result.members.len());
        }
        self.unreserve(world, &mut result);
        result
    }

    /// Returns how many members need a place, in releases that count them instead of asking Permit plugins.
    fn quorum(&self, world: &World<'_>) -> Option<Quorum> {
        if self.emulation.behaviour().groups.rule != GroupRule::Feasible {
            return None;
        }
        let min_count = world.cluster.pod_groups.get(self.group).and_then(|group| group.min_count());
        let placed_before = world.cache.pod_groups.get(self.group).map_or(0, crate::framework::PodGroupState::scheduled_count);
        Some(Quorum { min_count, placed_before })
    }

    fn try_member(
        &mut self,
        world: &mut World<'_>,
        i: usize,
        info: &QueuedPodInfo,
        placement: Option<&Placement>,
        post_filter: PostFilter,
        recorder: &mut impl Recorder,
    ) -> MemberResult {
        let snapshot = world.cache.snapshot().with_indexes(world.indexes.clone());
        let snapshot = if let Some(placement) = placement { snapshot.with_placement(&placement.nodes) } else { snapshot };
        let cx = Context { cluster: &world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
        recorder
            .record_of_group(|| Event::CycleStarted(Arc::new(cycle_start(self.first_cycle + i as u64, &info.pod_info, &cx, self.config))));
        let mut cycle_state = CycleState::default();
        let extenders = self.config.extenders.for_cycle(self.asking);
        let keeps = world.cluster.device_classes.is_empty();
        let class = keeps.then(|| self.equivalence_cache.of(self.config, &info.pod_info)).flatten();
        let mut attempt = SchedulePod {
            framework: self.framework,
            cx,
            nominations: &world.nominations,
            sampling: self.sampling,
            odds_nodes: ODDS_NODES,
            only_fit: false,
            extenders: extenders.as_ref(),
            extenders_look_on: self.config.extenders.look_at_all_nodes(),
            post_filter,
            class,
            next_start_node_index: self.next_start_node_index,
            last_node_index: self.last_node_index,
            steps: self.steps,
        };
        let result = attempt.run(&info.pod_info, &mut cycle_state, recorder);
        if let Some(events) = recorder.events() {
            events.extend(self.framework.not_emulated_events());
        }
        let nowhere = |verdict| MemberResult { verdict, place: None };
        let (verdict, node) = verdict_and_node(result);
        let Some(node) = node else { return nowhere(verdict) };
        let Some(node) = snapshot.get(&node).cloned() else {
            let status = Status::error(format!("nodeinfo not found for node name {node:?}"));
            return nowhere(Verdict::Error(ScheduleError::Place(status)));
        };
        let assumed = Pod { node_name: node.name().clone(), ..Pod::clone(info.pod()) };
        let assumed = Arc::new(info.pod_info.like(Arc::new(assumed), self.emulation));
        let before = world.clone();
        world.cache.assume(assumed.clone());
        world.nominations.delete(info.pod());
        let mut place = PlaceFound { node, cycle_state, permit: Status::success() };
        match self.reserve_and_permit(world, &snapshot, &assumed, &mut place, recorder) {
            Ok(permit) => place.permit = permit,
            Err(status) => {
                *world = before;
                world.nominations.restore(info.pod(), &world.cluster);
                let verdict = if status.is_rejected() { Verdict::Rejected(status) } else { Verdict::Error(ScheduleError::Place(status)) };
                return nowhere(verdict);
            }
        }
        recorder.record_of_group(|| {
            let (pod, node) = (info.key(), place.node.name().clone());
            Event::group(GroupEvent::MemberPlaced { pod, node })
        });
        MemberResult { verdict, place: Some(place) }
    }

    /// Runs Reserve and Permit on copies. Later members see the objects that plugins would write at binding, as they see
    /// the plugins' reservations in kube-scheduler.
    pub(super) fn reserve_and_permit(
        &self,
        world: &mut World<'_>,
        snapshot: &Snapshot,
        assumed: &PodInfo,
        place: &mut PlaceFound,
        recorder: &mut impl Recorder,
    ) -> Result<Status, Status> {
        let snapshot = snapshot.clone().with_pod_groups(world.cache.pod_groups.clone());
        let mut written: Vec<Object> = Vec::new();
        let permit = {
            let cx = Context { cluster: &world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
            let PlaceFound { node, cycle_state, .. } = place;
            for plugin in &self.framework.reserve {
                let Some(point) = plugin.reserve() else { continue };
                let status = point.reserve(&cx, cycle_state, assumed, node);
                if status.is_rejected() {
                    return Err(status.answered_by(plugin.name(), self.emulation.release()));
                }
                if !status.is_success() {
                    return Err(Status::error(format!("running Reserve plugin \"{}\": {}", plugin.name(), status.message())));
                }
            }
            for point in self.framework.pre_bind.iter().filter_map(|plugin| plugin.pre_bind()) {
                if point.pre_bind_pre_flight(&cx, cycle_state, assumed, node).is_success() {
                    written.extend(point.pre_bind(&cx, cycle_state, assumed, node).unwrap_or_default());
                }
            }
            let mut waits: Option<Status> = None;
            for plugin in &self.framework.permit {
                let Some(point) = plugin.permit() else { continue };
                let (status, _) = point.permit(&cx, cycle_state, assumed, node);
                recorder.record(|| Event::Permitted { plugin: plugin.name(), status: status.clone() });
                match status.code() {
                    Code::Success => {}
                    Code::Wait => waits = Some(status),
                    _ if status.is_rejected() => return Err(status.answered_by(plugin.name(), self.emulation.release())),
                    _ => return Err(Status::error(format!("running Permit plugin \"{}\": {}", plugin.name(), status.message()))),
                }
            }
            waits.map_or_else(Status::success, |status| {
                Status::new(Code::Wait, status.reasons().iter().cloned().chain([Reason::PermitWaits]))
            })
        };
        for object in written.into_iter().filter(|object| !matches!(object, Object::Pod(_))) {
            world.cluster.insert(object);
        }
        Ok(permit)
    }

    /// Gives back what was reserved, last member first.
    fn unreserve(&self, world: &World<'_>, result: &mut GroupResult) {
        let snapshot = world.cache.snapshot();
        let cx = Context { cluster: &world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
        for (info, member) in self.members.iter().zip(&mut result.members).rev() {
            let Some(PlaceFound { node, cycle_state, .. }) = &mut member.place else { continue };
            for point in self.framework.reserve.iter().rev().filter_map(|plugin| plugin.reserve()) {
                point.unreserve(&cx, cycle_state, &info.pod_info, node);
            }
        }
    }
}
