//! One turn of the scheduling loop for a pod group: the members leave the queue together, are tried together, and come back
//! or are bound together. Mirrors `scheduleOnePodGroup` and `submitPodGroupAlgorithmResult` in
//! `pkg/scheduler/schedule_one_podgroup.go`.
//!
//! Work that upstream does outside the loop happens at the end of the turn: the writes about members in their order, then the
//! condition of the PodGroup, then evictions, one member after another.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::Timestamp;

use super::binding::{Binding, PermitTimeouts, failure_cause, scheduling_failed};
use super::failure::{record_evictions, whole_second};
use super::{Failed, Write};
use crate::cluster::{Condition, Key, Object, Pod, PodGroup, Str};
use crate::framework::{
    Code, Context, GroupMismatch, GroupPreemptionRecord, NominatingInfo, PluginName, PodGroupState, QueuedPodInfo, Reason, Snapshot, Status,
};
use crate::release::{Gate, GroupRule};
use crate::scheduler::algorithm::{FitError, NO_NODES};
use crate::scheduler::decide::cycle_start;
use crate::scheduler::equivalence_cache::EquivalenceCache;
use crate::scheduler::object_id::ObjectId;
use crate::scheduler::pod_group::{GroupResult, PlaceFound, PodGroupCycle, Recheck, Turn, Verdict, World};
use crate::scheduler::{Scheduler, State};
use crate::trace::{Event, FailureCause, FailureReason, GroupEvent, GroupOutcome, GroupStart, Outcome, Place, SkipReason};

/// Work left for a member after the loop over all.
enum Rest {
    /// It is assumed, and its binding goes on, or waits for Permit plugins.
    Bind { binding: Box<Binding>, patience: PermitTimeouts, waited: bool },
    /// It came back to the queue, and this is written to it.
    Written(Option<Write>),
}

/// The end of a member's cycle.
enum Fate<'a> {
    /// It is bound to the node that it found.
    Bind(&'a PlaceFound),
    /// It comes back to the queue.
    Fail(Failed),
}

impl Scheduler {
    /// Takes the other members of a popped pod's group out of the queue, and tries them all.
    pub(in crate::scheduler) fn schedule_one_pod_group(
        &mut self,
        popped: QueuedPodInfo,
        group: Key,
        events: &mut Vec<Event>,
        turn: Turn<'_>,
    ) {
        let key = popped.key();
        let Some(state) = self.state.cache.pod_groups.get(&group) else {
            let message = format!("error while retrieving pod group state: pod group state not found for pod group {group}");
            let mut popped = popped;
            let failed = Failed { nominating: None, ..Failed::new(FailureCause::Error, message) };
            let own = self.state.handle_failure(&mut popped, failed, events);
            self.state.return_group(&[popped], false, events);
            events.push(Event::CycleFinished { pod: key, outcome: Outcome::Error });
            self.state.carry_out(own, events);
            return;
        };
        let (known, scheduled) = (state.pods(), state.scheduled_count());
        let others: Vec<_> = state.unscheduled().filter(|pod| pod.metadata.name != key.name).cloned().collect();
        let mut members = vec![popped];
        for pod in others {
            let info = self.state.with_queue(events, |queue, env| queue.pop_specific_pod(env, &pod));
            members.extend(info.map(|info| QueuedPodInfo::clone(&info)));
        }
        // Equals come by name.
        members.sort_by_cached_key(|info| {
            let since = info.initial_attempt_timestamp.unwrap_or(Timestamp::MIN);
            (Reverse(info.pod().priority()), since, info.key())
        });
        let min_count = self.state.cluster.pod_groups.get(&group).and_then(|object| object.min_count());
        let pods = members.iter().map(QueuedPodInfo::key).collect();
        let mismatch = self.state.mismatch(&group, &members);
        let start = GroupStart { group: group.clone(), popped: key, pods, min_count, scheduled, known, mismatch: mismatch.clone() };
        events.push(Event::group(GroupEvent::Started(start)));
        let outcome = match mismatch {
            Some(mismatch) => {
                let message = mismatch.to_string();
                let outcome = self.fail_all(&mut members, &message, events);
                if self.state.config.emulation.behaviour().groups.rule == GroupRule::Feasible {
                    let condition = self.state.group_condition(&group, outcome, &Status::error(message));
                    self.state.carry_out(condition, events);
                }
                outcome
            }
            None => {
                self.skip(&mut members, events);
                self.state.cache.begin_cycle(self.state.config.emulation);
                if members.is_empty() {
                    self.state.return_group(&[], false, events);
                }
                self.try_group(&group, &mut members, events, turn)
            }
        };
        events.push(Event::group(GroupEvent::Finished { group, outcome }));
        for info in &members {
            self.state.time_out_at_once(&info.key(), events);
        }
    }

    /// Sends all members back for the same reason, without having tried any.
    fn fail_all(&mut self, members: &mut [QueuedPodInfo], message: &str, events: &mut Vec<Event>) -> GroupOutcome {
        let snapshot = self.state.cache.snapshot();
        let mut writes = Vec::new();
        for info in &mut *members {
            self.state.cycle += 1;
            let state = &self.state;
            let emulation = state.config.emulation;
            let cx = Context { cluster: &state.cluster, snapshot: &snapshot, emulation, now: state.clock };
            events.push(Event::CycleStarted(Arc::new(cycle_start(state.cycle, &info.pod_info, &cx, &state.config))));
            let failed = Failed::new(FailureCause::Error, message);
            writes.extend(self.state.handle_failure(info, failed, events));
            events.push(Event::CycleFinished { pod: info.key(), outcome: Outcome::Error });
        }
        self.state.return_group(members, false, events);
        self.state.carry_out(writes, events);
        GroupOutcome::Error
    }

    /// Drops the members that are being deleted or have a node in memory.
    fn skip(&mut self, members: &mut Vec<QueuedPodInfo>, events: &mut Vec<Event>) {
        members.retain(|info| {
            let pod = info.pod().clone();
            let deleting = pod.is_terminating();
            if !deleting && !self.state.cache.is_assumed(&pod) {
                return true;
            }
            if deleting {
                events.push(Event::CycleSkipped { pod: pod.key(), why: SkipReason::Deleting });
            }
            self.state.with_queue(events, |queue, env| queue.leave(env, &pod, Place::Gone));
            if deleting {
                events.push(Event::CycleFinished { pod: pod.key(), outcome: Outcome::Error });
            }
            false
        });
    }

    fn try_group(&mut self, group: &Key, members: &mut [QueuedPodInfo], events: &mut Vec<Event>, mut turn: Turn<'_>) -> GroupOutcome {
        let state = &mut self.state;
        let config = state.config.clone();
        let framework = members.first().and_then(|info| config.profile(&info.pod().spec.scheduler_name));
        // Only pods of our profiles are queued.
        let Some(framework) = framework else { return GroupOutcome::Error };
        let snapshot = state.cache.snapshot();
        let mut cycle = PodGroupCycle {
            config: &config,
            asking: self.asking,
            framework,
            quiet: self.quiet,
            emulation: config.emulation,
            now: state.clock,
            sampling: self.sampling,
            group,
            members,
            first_cycle: state.cycle + 1,
            next_start_node_index: &mut state.next_start_node_index,
            last_node_index: &mut state.last_node_index,
            steps: &mut state.steps,
            world: World::new(&state.cache, &state.cluster, &state.queue),
            places: Vec::new(),
            recheck: Recheck::Open,
            turn: turn.reborrow(),
            equivalence_cache: EquivalenceCache::default(),
        };
        let mut result = cycle.run(events);
        state.cycle += members.len() as u64;
        let (outcome, status) = (result.outcome(), result.status.clone());
        let preemptions = Preemptions { members: std::mem::take(&mut result.post_filtered), group: result.preemption.clone() };
        let evicts = matches!(turn, Turn::Whole(_));
        let asynchronous = config.emulation.enabled(Gate::SchedulerAsyncPreemption);
        if asynchronous {
            self.state.hold_preemptors(group, &preemptions, members);
        } else if evicts {
            self.carry_out_preemptions(group, &preemptions, members, events);
        }
        let rests = self.state.submit(&snapshot, &result, members, events);
        self.state.return_group(members, outcome == GroupOutcome::Scheduled, events);
        self.state.finish_members(&snapshot, rests, members, events);
        let condition = self.state.group_condition(group, outcome, &status);
        self.state.carry_out(condition, events);
        if asynchronous && evicts {
            self.carry_out_preemptions(group, &preemptions, members, events);
        }
        outcome
    }

    /// Evicts for one member after another, then for the group as a whole.
    fn carry_out_preemptions(&mut self, group: &Key, preemptions: &Preemptions, members: &[QueuedPodInfo], events: &mut Vec<Event>) {
        for (i, error) in &preemptions.members {
            let Some(info) = members.get(*i) else { continue };
            let mut writes = Vec::new();
            self.preempt(error, info, &mut writes, events);
            record_evictions(info.key(), &writes, events);
            self.state.carry_out(writes, events);
            self.state.preempting.remove(&ObjectId::of_pod(info.pod()));
        }
        let Some(object) = self.state.cluster.pod_groups.get(group) else { return };
        let id = ObjectId::of_group(object);
        let victims: Vec<Key> = preemptions.group_victims().collect();
        let Some(first) = members.first() else { return };
        let mut writes = Vec::new();
        for (i, key) in victims.iter().enumerate() {
            if i + 1 == victims.len() {
                let in_memory = self.state.waiting.contains_key(key);
                let id = id.clone();
                writes.push(if in_memory { Write::PreemptionOver(id) } else { Write::LastVictim(id, key.clone()) });
            }
            self.evict(key, first.pod(), "podgroup", &mut writes);
        }
        record_evictions(group.clone(), &writes, events);
        self.state.carry_out(writes, events);
        self.state.preempting.remove(&id);
    }
}

/// The preemptions of one cycle.
struct Preemptions {
    /// Members by place in the order, with what PostFilter found.
    members: Vec<(usize, Box<FitError>)>,
    /// That of the group as a whole.
    group: Option<Arc<GroupPreemptionRecord>>,
}

impl Preemptions {
    /// The victims of the group that are not being deleted already.
    fn group_victims(&self) -> impl Iterator<Item = Key> {
        self.group.iter().flat_map(|record| record.victims()).filter(|info| !info.pod.is_terminating()).map(|info| info.key())
    }
}

impl State {
    /// From here on, members whose victims are still to go are kept out of activeQ and backoffQ.
    fn hold_preemptors(&mut self, group: &Key, preemptions: &Preemptions, members: &[QueuedPodInfo]) {
        for (i, error) in &preemptions.members {
            let record = error.preemption.as_ref().filter(|record| error.preempted && record.selected().is_some());
            if let Some(info) = members.get(*i).filter(|_| record.is_some_and(|record| record.evictions().next().is_some())) {
                self.preempting.insert(ObjectId::of_pod(info.pod()), None);
            }
        }
        if let Some(object) = self.cluster.pod_groups.get(group).filter(|_| preemptions.group_victims().next().is_some()) {
            let id = ObjectId::of_group(object);
            self.preempting.insert(id, None);
        }
    }

    /// Requeues the members that failed as one, in releases that queue a group so.
    fn return_group(&mut self, members: &[QueuedPodInfo], placed: bool, events: &mut Vec<Event>) {
        let order: Vec<Key> = members.iter().map(QueuedPodInfo::key).collect();
        self.with_queue(events, |queue, env| queue.return_group(env, &order, placed));
    }

    /// Assumes the members that are to be bound, and puts the others back into the queue.
    fn submit(&mut self, snapshot: &Snapshot, result: &GroupResult, members: &mut [QueuedPodInfo], events: &mut Vec<Event>) -> Vec<Rest> {
        let mut rests: Vec<Rest> = Vec::with_capacity(members.len());
        // Each member that waits activates all that have no place yet. Where these are in flight, once is enough.
        let (mut are_activated, mut left) = (false, members.len());
        // How many were let go. Those that come later do not wait.
        let mut let_go = 0;
        for (i, info) in members.iter_mut().enumerate() {
            left -= 1;
            events.push(Event::group(GroupEvent::MemberResumed { pod: info.key() }));
            let failed = match fate(result, i) {
                Fate::Fail(failed) => nominated_by_group(failed, result, &info.key()),
                Fate::Bind(place) => match self.prepare_binding(snapshot, place.cycle_state.clone(), info, &place.node, events) {
                    Err(failed) => failed,
                    Ok((binding, patience, effects)) => {
                        let state = effects.activate.as_ref().and_then(|group| self.cache.pod_groups.get(group));
                        let without_place = state.map_or(0, PodGroupState::unscheduled_count);
                        if !are_activated || without_place > left {
                            self.activate_group(effects.activate.as_ref(), events);
                        }
                        are_activated = effects.allow.is_none() && (are_activated || without_place > 0);
                        if let Some(group) = &effects.allow {
                            // Those of this cycle, and those of an earlier one.
                            self.let_go(group, &mut rests[let_go..]);
                            if let_go == 0 {
                                self.allow_group(Some(group), events);
                            }
                            let_go = rests.len();
                        }
                        let waited = !patience.is_empty();
                        rests.push(Rest::Bind { binding: Box::new(binding), patience, waited });
                        continue;
                    }
                },
            };
            are_activated = false;
            let outcome = outcome_of(&failed);
            let own = self.handle_failure(info, failed, events);
            events.push(Event::CycleFinished { pod: info.key(), outcome });
            rests.push(Rest::Written(own));
        }
        rests
    }

    /// GangScheduling allows members that wait.
    fn let_go(&self, group: &Key, rests: &mut [Rest]) {
        let Some(state) = self.cache.pod_groups.get(group) else { return };
        for rest in rests {
            if let Rest::Bind { binding, patience, .. } = rest
                && state.is_assumed(&binding.info.key())
            {
                patience.retain(|(plugin, _)| *plugin != PluginName::GangScheduling);
            }
        }
    }

    /// Carries on with each member in turn: its binding, or what is written to it.
    fn finish_members(&mut self, snapshot: &Snapshot, rests: Vec<Rest>, members: &mut [QueuedPodInfo], events: &mut Vec<Event>) {
        for (rest, info) in rests.into_iter().zip(members) {
            match rest {
                Rest::Written(own) => self.carry_out(own, events),
                Rest::Bind { mut binding, patience, waited } => {
                    let pod = info.key();
                    events.push(Event::group(GroupEvent::MemberResumed { pod: pod.clone() }));
                    let (mut writes, waits) = (Vec::new(), !patience.is_empty());
                    let begun = self.begin_binding(&mut binding, snapshot, waited, waits, &mut writes, events);
                    let Err(status) = begun else {
                        if waits {
                            self.wait_on_permit(*binding, patience, events);
                        }
                        events.push(Event::CycleFinished { pod, outcome: Outcome::Scheduled });
                        self.carry_out(writes, events);
                        continue;
                    };
                    self.carry_out(writes, events);
                    let failed = Failed::new(failure_cause(&status), status.message());
                    let failed = self.binding_failed(&mut binding, &status, failed, events);
                    let outcome = outcome_of(&failed);
                    let own = self.handle_failure(info, failed, events);
                    events.push(Event::CycleFinished { pod, outcome });
                    self.carry_out(own, events);
                }
            }
        }
    }

    /// Why the members cannot be tried together. Mirrors `validatePodGroup`; earlier releases compare only the schedulers of the
    /// members that wait.
    fn mismatch(&self, group: &Key, members: &[QueuedPodInfo]) -> Option<GroupMismatch> {
        let first = members.first()?.pod();
        let (scheduler, policy) = (&first.spec.scheduler_name, preemption_policy(first));
        let waiting = members.iter().map(QueuedPodInfo::pod);
        let other_scheduler = |pod: &Pod| {
            let name = &pod.spec.scheduler_name;
            (name != scheduler).then(|| GroupMismatch::Schedulers(name.clone(), scheduler.clone()))
        };
        if self.config.emulation.behaviour().groups.rule == GroupRule::Permit {
            return waiting.into_iter().find_map(|pod| other_scheduler(pod));
        }
        let priority = self.cluster.pod_groups.get(group).map_or(0, |group| group.priority());
        let scheduled = self.cache.pod_groups.get(group).into_iter().flat_map(PodGroupState::scheduled);
        waiting.chain(scheduled).find_map(|pod| {
            let other_priority = || (pod.priority() != priority).then(|| GroupMismatch::Priorities(pod.priority(), priority));
            let other_policy = || {
                let own = preemption_policy(pod);
                (own != policy).then(|| GroupMismatch::Policies(own, policy.clone()))
            };
            other_scheduler(pod).or_else(other_priority).or_else(other_policy)
        })
    }

    /// The condition of the PodGroup, where it changes; once true it stays so. Mirrors `updatePodGroupCondition`.
    fn group_condition(&self, group: &Key, outcome: GroupOutcome, status: &Status) -> Option<Write> {
        let known = self.cluster.pod_groups.get(group)?;
        let (value, reason) = match outcome {
            GroupOutcome::Scheduled => ("True", "Scheduled"),
            GroupOutcome::WaitingOnPreemption | GroupOutcome::Unschedulable => ("False", "Unschedulable"),
            GroupOutcome::Error => ("False", "SchedulerError"),
        };
        let kind = match self.config.emulation.behaviour().groups.rule {
            GroupRule::Permit => PodGroup::SCHEDULED,
            GroupRule::Feasible => PodGroup::INITIALLY_SCHEDULED,
        };
        let old = known.condition(kind);
        if old.is_some_and(|old| old.status == "True") && value != "True" {
            return None;
        }
        let since = old.filter(|old| old.status == value).map_or(Some(whole_second(self.clock)), |old| old.last_transition_time);
        let condition = Condition {
            kind: kind.into(),
            status: value.into(),
            reason: reason.into(),
            message: status.message().into(),
            last_transition_time: since,
        };
        let mut changed = PodGroup::clone(known);
        match changed.status.conditions.iter_mut().find(|old| old.kind == condition.kind) {
            Some(old) => *old = condition,
            None => changed.status.conditions.push(condition),
        }
        (changed != **known).then(|| Write::Put(Object::PodGroup(Arc::new(changed))))
    }
}

/// Returns the preemption policy of a pod; one without counts as the default.
fn preemption_policy(pod: &Pod) -> Str {
    pod.spec.preemption_policy.clone().unwrap_or_else(|| "PreemptLowerPriority".into())
}

fn outcome_of(failed: &Failed) -> Outcome {
    match failed.reason {
        FailureReason::Unschedulable => Outcome::Unschedulable,
        FailureReason::SchedulerError => Outcome::Error,
    }
}

/// Returns the end of a member's cycle from the results of the attempts.
fn fate(result: &GroupResult, i: usize) -> Fate<'_> {
    let of_group = |nominating| Failed { nominating, ..Failed::new(FailureCause::Group(result.status.clone()), result.status.message()) };
    let Some(member) = result.members.get(i) else {
        // This member was not reached; it ends as the group does before preemption.
        if result.status.is_error() {
            return Fate::Fail(group_error(&result.status));
        }
        let status = result.before_preemption.clone().unwrap_or_else(|| result.status.clone());
        let message = status.message();
        return Fate::Fail(Failed { nominating: None, ..Failed::new(FailureCause::Group(status), message) });
    };
    let own_error = if let Verdict::Error(error) = &member.verdict { Some(error.to_string()) } else { None };
    if result.status.is_error() {
        return Fate::Fail(own_error.map_or_else(|| group_error(&result.status), |message| Failed::new(FailureCause::Error, message)));
    }
    let waits = result.waiting_on_preemption;
    if let Some(place) = &member.place {
        let fits = !member.requires_preemption();
        if fits && result.status.is_success() {
            return Fate::Bind(place);
        }
        if fits && waits {
            // Where the group preempts by the places that it found without the victims, these are nominated instead.
            let found = result.before_preemption.is_none().then(|| NominatingInfo::Override(place.node.name().clone()));
            return Fate::Fail(of_group(found));
        }
        if result.before_preemption.is_some() && fits {
            return Fate::Fail(of_group(Some(NominatingInfo::Override(Str::default()))));
        }
        if fits || !waits {
            if place.permit.is_success() {
                return Fate::Fail(of_group(None));
            }
            let reasons = std::iter::once(Reason::GroupUnschedulable).chain(place.permit.reasons().iter().cloned());
            let status = Status::new(Code::Unschedulable, reasons);
            let message = status.message();
            return Fate::Fail(Failed::new(FailureCause::Group(status), message));
        }
    }
    Fate::Fail(match &member.verdict {
        Verdict::NoFit(error) => Failed::no_fit(error),
        Verdict::NoNodes => Failed::new(FailureCause::NoNodes, NO_NODES),
        Verdict::Rejected(status) => scheduling_failed(status),
        Verdict::Fits | Verdict::Error(_) => group_error(&result.status),
    })
}

/// Nominates a member to the node that preemption for the group found for it.
fn nominated_by_group(failed: Failed, result: &GroupResult, pod: &Key) -> Failed {
    let record = result.preemption.as_ref().filter(|_| result.waiting_on_preemption);
    let node = record.and_then(|record| record.nominated.iter().find(|(of, _)| of == pod));
    match node {
        Some((_, node)) => Failed { nominating: Some(NominatingInfo::Override(node.clone())), ..failed },
        None => failed,
    }
}

fn group_error(status: &Status) -> Failed {
    Failed::new(FailureCause::Error, status.message())
}
