//! Preemption for the group as a whole; mirrors `runWorkloadAwarePreemption`, and `RunPodGroupPostFilterPlugins` of later releases.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{GroupResult, PodGroupCycle, Recheck, World};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{Context, CycleState, FilterRunner, GroupPreemptionRecord, PluginName, PodInfo, Reason, Snapshot, Status};
use crate::plugins::helper::pod_group_not_found;
use crate::preemption::{GroupPreemptor, GroupTrial};
use crate::release::{Gate, GroupRule};
use crate::scheduler::algorithm::PostFilter;
use crate::scheduler::runtime::Runner;
use crate::trace::{Event, GroupEvent, Quiet};

impl PodGroupCycle<'_> {
    /// Looks for victims where the group is unschedulable and preempts as one.
    pub(super) fn preempt_for_group(&mut self, result: &mut GroupResult, events: &mut Vec<Event>) {
        if !self.emulation.enabled(Gate::WorkloadAwarePreemption) || !result.status.is_rejected() {
            return;
        }
        let announces = self.emulation.behaviour().groups.rule == GroupRule::Feasible;
        if announces && !self.has_default_preemption() {
            return;
        }
        let mut record = self.find_victims();
        if announces && record.status.is_error() {
            record.status = Status::error(format!("pod group preemption: {}", record.status.message()));
        }
        let record = Arc::new(record);
        events.push(Event::group(GroupEvent::Preempted(record.clone())));
        if announces {
            result.before_preemption = Some(result.status.clone());
        }
        result.waiting_on_preemption |= record.status.is_success();
        if record.status.is_error() {
            result.status = record.status.clone();
        } else if announces {
            let found = Reason::GroupPreemption { reasons: record.status.reasons().to_vec() };
            let status = &result.status;
            result.status = status.with_reasons(status.code(), status.reasons().iter().cloned().chain([found]));
        } else if !record.status.is_success() {
            let (status, added) = (&result.status, record.status.reasons());
            result.status = status.with_reasons(status.code(), status.reasons().iter().chain(added).cloned());
        }
        result.preemption = Some(record);
    }

    fn has_default_preemption(&self) -> bool {
        self.framework.all.iter().any(|plugin| plugin.name() == PluginName::DefaultPreemption)
    }

    fn find_victims(&mut self) -> GroupPreemptionRecord {
        let refused = |status| GroupPreemptionRecord { status, ..GroupPreemptionRecord::default() };
        if !self.has_default_preemption() {
            return refused(Status::rejected(Reason::GroupPreemptionUnregistered));
        }
        let Some(group) = self.world.cluster.pod_groups.get(self.group).cloned() else {
            return refused(Status::error(format!("failed to get pod group object: {}", pod_group_not_found(&self.group.name))));
        };
        let rule = self.emulation.behaviour().groups.rule;
        if group.topology_key().is_some() && rule == GroupRule::Permit {
            return refused(Status::rejected(Reason::GroupPreemptionConstrained));
        }
        let pods: Vec<Arc<PodInfo>> = self.members.iter().map(|info| info.pod_info.clone()).collect();
        let (cluster, snapshot, now) = (self.world.cluster.clone(), self.world.cache.snapshot(), self.now);
        let cache = self.world.cache.clone();
        let record = GroupPreemptor { group: &group, pods: &pods, rule }.preempt(&cluster, &snapshot, now, self);
        self.world.cache = cache;
        record
    }

    fn snapshot_of(world: &World<'_>) -> Snapshot {
        world.cache.snapshot().with_indexes(world.indexes.clone())
    }

    /// Puts a pod back on its node or takes it off, and tells the state of each member that has a place.
    fn move_victim(&mut self, info: &Arc<PodInfo>, comes: bool) -> Result<(), Status> {
        let before = Self::snapshot_of(&self.world);
        if comes {
            self.world.cache.add_pod(info.clone());
        } else {
            self.world.cache.remove_pod(&info.pod);
        }
        let snapshot = Self::snapshot_of(&self.world);
        let Some(node) = snapshot.get(&info.pod.node_name).or_else(|| before.get(&info.pod.node_name)) else { return Ok(()) };
        let cx = Context { cluster: &self.world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
        for (at, place) in &mut self.places {
            let (member, state) = (&self.members[*at].pod_info, &mut place.cycle_state);
            let runner = Runner::new(self.framework, cx, &self.world.nominations, state);
            let status = if comes { runner.add_pod(state, member, info, node) } else { runner.remove_pod(state, member, info, node) };
            if !status.is_success() {
                return Err(Status::error(status.message()));
            }
        }
        Ok(())
    }

    /// Returns the places on each node, where each depends on its node alone and all hold without the victims.
    fn places_by_node(&mut self) -> Option<HashMap<Str, Vec<usize>>> {
        let snapshot = Self::snapshot_of(&self.world);
        let cx = Context { cluster: &self.world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
        let reserves_nothing = |state: &CycleState| {
            let mut reserve = self.framework.reserve.iter().filter(|plugin| plugin.reserve().is_some());
            reserve.all(|plugin| state.skip_filter.contains(plugin.name()))
        };
        let is_local = |state: &CycleState| {
            reserves_nothing(state) && Runner::new(self.framework, cx, &self.world.nominations, state).depends_on_its_node_alone()
        };
        if !self.places.iter().all(|(_, place)| is_local(&place.cycle_state)) || !self.places_hold() {
            return None;
        }
        let mut by_node: HashMap<Str, Vec<usize>> = HashMap::new();
        for (i, (_, place)) in self.places.iter().enumerate() {
            by_node.entry(place.node.name().clone()).or_default().push(i);
        }
        Some(by_node)
    }

    /// Returns whether some members, which are on one node, still have their places, each with the ones before it on theirs.
    fn places_on_node_hold(&self, node: &Str, places: &[usize]) -> bool {
        let snapshot = Self::snapshot_of(&self.world);
        let Some(mut node) = snapshot.get(node).cloned() else { return false };
        let cx = Context { cluster: &self.world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
        places.iter().all(|i| {
            let (at, place) = &self.places[*i];
            let info = &self.members[*at].pod_info;
            let runner = Runner::new(self.framework, cx, &self.world.nominations, &place.cycle_state);
            let fits = runner.filter_with_nominated_pods(&place.cycle_state, info, &node).is_success();
            Arc::make_mut(&mut node).add_pod(info.clone());
            fits
        })
    }

    /// Puts pods back if the members on their nodes still have their places; returns whether they do.
    fn reprieve_on_nodes(&mut self, pods: &[Arc<PodInfo>], by_node: &HashMap<Str, Vec<usize>>) -> bool {
        self.add(pods);
        let nodes: BTreeSet<&Str> = pods.iter().map(|info| &info.pod.node_name).collect();
        let hold = nodes.into_iter().all(|node| by_node.get(node).is_none_or(|places| self.places_on_node_hold(node, places)));
        if !hold {
            self.remove(pods);
        }
        hold
    }

    /// Returns whether every member still has its place, each with the ones before it on theirs.
    fn places_hold(&mut self) -> bool {
        let mut world = self.world.clone();
        let mut places = std::mem::take(&mut self.places);
        let mut reserved = 0;
        let mut hold = true;
        for (at, place) in &mut places {
            let snapshot = Self::snapshot_of(&world);
            let info = &self.members[*at];
            let Some(node) = snapshot.get(place.node.name()).cloned() else {
                hold = false;
                break;
            };
            let cx = Context { cluster: &world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
            let runner = Runner::new(self.framework, cx, &world.nominations, &place.cycle_state);
            if !runner.filter_with_nominated_pods(&place.cycle_state, &info.pod_info, &node).is_success() {
                hold = false;
                break;
            }
            let mut assumed = Pod::clone(info.pod());
            assumed.node_name = node.name().clone();
            let assumed = Arc::new(info.pod_info.like(Arc::new(assumed), self.emulation));
            place.node = node;
            world.cache.assume(assumed.clone());
            // kube-scheduler ignores the answers of Reserve here.
            let _ = self.reserve_and_permit(&mut world, &snapshot, &assumed, place, &mut Quiet);
            reserved += 1;
        }
        let snapshot = Self::snapshot_of(&world);
        let cx = Context { cluster: &world.cluster, snapshot: &snapshot, emulation: self.emulation, now: self.now };
        for (at, place) in places[..reserved].iter_mut().rev() {
            for point in self.framework.reserve.iter().rev().filter_map(|plugin| plugin.reserve()) {
                point.unreserve(&cx, &mut place.cycle_state, &self.members[*at].pod_info, &place.node);
            }
        }
        self.places = places;
        hold
    }
}

impl GroupTrial for PodGroupCycle<'_> {
    fn remove(&mut self, pods: &[Arc<PodInfo>]) {
        for info in pods {
            self.world.cache.remove_pod(&info.pod);
        }
    }

    fn add(&mut self, pods: &[Arc<PodInfo>]) {
        for info in pods {
            self.world.cache.add_pod(info.clone());
        }
    }

    fn schedule(&mut self) -> Status {
        let result = PodGroupCycle::schedule(self, PostFilter::LeaveOut, None);
        let members = result.members.into_iter().enumerate();
        self.places = members.filter_map(|(at, member)| Some((at, member.place?))).collect();
        result.status
    }

    fn places(&self) -> Vec<(Key, Str)> {
        if self.emulation.behaviour().groups.rule == GroupRule::Permit {
            return Vec::new();
        }
        self.places.iter().map(|(at, place)| (self.members[*at].key(), place.node.name().clone())).collect()
    }

    fn reprieve(&mut self, pods: &[Arc<PodInfo>]) -> Result<bool, Status> {
        if self.emulation.behaviour().groups.rule == GroupRule::Permit {
            self.add(pods);
            let fits = GroupTrial::schedule(self).is_success();
            if !fits {
                self.remove(pods);
            }
            return Ok(fits);
        }
        if matches!(self.recheck, Recheck::Open) {
            self.recheck = self.places_by_node().map_or(Recheck::All, Recheck::OnNode);
        }
        if let Recheck::OnNode(by_node) = std::mem::replace(&mut self.recheck, Recheck::All) {
            let hold = self.reprieve_on_nodes(pods, &by_node);
            self.recheck = Recheck::OnNode(by_node);
            return Ok(hold);
        }
        for info in pods {
            self.move_victim(info, true)?;
        }
        if self.places_hold() {
            return Ok(true);
        }
        for info in pods {
            self.move_victim(info, false)?;
        }
        Ok(false)
    }
}
