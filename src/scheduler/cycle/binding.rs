//! From a chosen node to a bound pod: assume, Reserve, Permit, PreBind, Bind. Mirrors `assumeAndReserve`,
//! `bindingCycle` and `handleBindingCycleError` in `pkg/scheduler/schedule_one.go`.

use std::sync::Arc;

use super::failure::{set_condition, whole_second};
use super::{Failed, Write};
use crate::cluster::{Condition, Object, Pod, Str};
use crate::framework::{
    Change, ClusterEvent, Context, CycleState, Gate, NodeInfo, NodeToStatus, PluginSet, PodInfo, QueuedPodInfo, Snapshot, Status,
};
use crate::scheduler::Scheduler;
use crate::scheduler::runtime::Framework;
use crate::trace::{Event, FailureReason, Place};

impl Scheduler {
    /// Binds the pod to a node, or says why not; what was set aside is then given back.
    #[allow(clippy::too_many_arguments, reason = "these are the parts of one cycle, used only here")]
    pub(super) fn bind(
        &mut self,
        framework: &Framework,
        snapshot: &Snapshot,
        cycle_state: &mut CycleState,
        info: &QueuedPodInfo,
        node: &Str,
        writes: &mut Vec<Write>,
        events: &mut Vec<Event>,
    ) -> Result<(), Failed> {
        let Some(node_info) = snapshot.get(node) else {
            return Err(Failed::new(FailureReason::SchedulerError, format!("node {node:?} not found")));
        };
        let mut assumed = Pod::clone(info.pod());
        assumed.node_name = node.clone();
        let assumed = Arc::new(PodInfo::with_gates(Arc::new(assumed), self.state.config.gates));
        self.state.cache.assume(assumed.clone());
        self.state.with_queue(events, |queue, env| queue.delete_nominated_pod_if_exists(env, info.pod()));
        events.push(Event::PodAssumed { pod: info.key(), node: node.clone() });

        let mut cycle = Binding { framework, snapshot, cycle_state, pod: &assumed, node: node_info, scheduler: self };
        if let Err((status, binding)) = cycle.run(writes, events) {
            cycle.unreserve(events);
            return Err(self.binding_failed(&assumed, node, &status, binding, events));
        }
        self.write_binding(&assumed, writes, events);
        Ok(())
    }

    /// The pod is forgotten. A failure after the scheduling cycle is as good as a pod that went away, for the others.
    fn binding_failed(&mut self, assumed: &PodInfo, node: &Str, status: &Status, binding: bool, events: &mut Vec<Event>) -> Failed {
        let forgotten = self.state.cache.forget(&assumed.pod);
        if let Some(pod) = forgotten.filter(|_| binding) {
            let change = Change { old: Some(Object::Pod(pod.pod.clone())), new: None };
            self.state.move_all(ClusterEvent::ASSIGNED_POD_DELETE, &change, None, events);
        }
        if !status.is_rejected() || binding {
            let reason = if status.is_rejected() { FailureReason::Unschedulable } else { FailureReason::SchedulerError };
            return Failed::new(reason, status.message());
        }
        let mut statuses = NodeToStatus::default();
        statuses.set(node.clone(), status.clone());
        let mut failed = Failed::new(FailureReason::Unschedulable, statuses.fit_error(1, "", ""));
        failed.unschedulable_plugins = status.plugin().into_iter().collect::<PluginSet>();
        failed
    }

    fn write_binding(&mut self, assumed: &PodInfo, writes: &mut Vec<Write>, events: &mut Vec<Event>) {
        let key = assumed.key();
        // What PreBind wrote to the pod itself stays.
        let written = writes.iter().rev().find_map(|w| match w {
            Write::Put(Object::Pod(pod)) if pod.key() == key => Some(pod),
            _ => None,
        });
        let known = written.or_else(|| self.state.cluster.pods.get(&key));
        let mut bound = known.map_or_else(|| Pod::clone(&assumed.pod), |p| Pod::clone(p));
        bound.node_name = assumed.pod.node_name.clone();
        let now = whole_second(self.state.clock);
        let condition =
            Condition { kind: "PodScheduled".into(), status: "True".into(), last_transition_time: Some(now), ..Condition::default() };
        set_condition(&mut bound, condition);
        bound.status.start_time = Some(now);
        if self.state.config.gates.enabled(Gate::ClearingNominatedNodeNameAfterBinding) {
            bound.status.nominated_node_name = Str::default();
        }
        events.push(Event::PodBound { pod: key, node: bound.node_name.clone() });
        let node = bound.node_name.clone();
        self.state.with_queue(events, |queue, env| queue.leave(env, &assumed.pod, Place::Bound { node }));
        writes.push(Write::Put(Object::Pod(Arc::new(bound))));
    }
}

/// One binding under way.
struct Binding<'a> {
    framework: &'a Framework,
    snapshot: &'a Snapshot,
    cycle_state: &'a mut CycleState,
    pod: &'a PodInfo,
    node: &'a NodeInfo,
    scheduler: &'a mut Scheduler,
}

impl Binding<'_> {
    /// Runs Reserve, Permit and PreBind. The error says whether it came after the scheduling cycle.
    fn run(&mut self, writes: &mut Vec<Write>, events: &mut Vec<Event>) -> Result<(), (Status, bool)> {
        let config = self.scheduler.state.config.clone();
        let cluster = self.scheduler.state.cluster.clone();
        let cx = Context { cluster: &cluster, snapshot: self.snapshot, gates: config.gates, now: self.scheduler.state.clock };
        for plugin in &self.framework.reserve {
            let Some(point) = plugin.reserve() else { continue };
            let status = point.reserve(&cx, self.cycle_state, self.pod, self.node);
            events.push(Event::Reserved { plugin: plugin.name(), status: status.clone() });
            if status.is_rejected() {
                return Err((status.with_plugin(plugin.name()), false));
            }
            if !status.is_success() {
                return Err((Status::error(format!("running Reserve plugin \"{}\": {}", plugin.name(), status.message())), false));
            }
        }
        for plugin in &self.framework.permit {
            let Some(point) = plugin.permit() else { continue };
            let (status, _timeout) = point.permit(&cx, self.cycle_state, self.pod, self.node);
            events.push(Event::Permitted { plugin: plugin.name(), status: status.clone() });
            if status.is_rejected() {
                return Err((status.with_plugin(plugin.name()), false));
            }
            if status.is_error() {
                return Err((Status::error(format!("running Permit plugin \"{}\": {}", plugin.name(), status.message())), false));
            }
        }
        let mut at_work = Vec::new();
        for plugin in &self.framework.pre_bind {
            let Some(point) = plugin.pre_bind() else { continue };
            let status = point.pre_bind_pre_flight(&cx, self.cycle_state, self.pod, self.node);
            if status.is_success() {
                at_work.push((plugin.name(), point));
            } else if !status.is_skip() {
                let text = format!("running PreBindPreFlight \"{}\": {}", plugin.name(), status.message());
                return Err((Status::error(text), true));
            }
        }
        let announces = !at_work.is_empty() && config.gates.enabled(Gate::NominatedNodeNameForExpectation);
        let known = cluster.pods.get(&self.pod.key()).filter(|p| announces && p.status.nominated_node_name != *self.node.name());
        if let Some(pod) = known {
            let mut pod = Pod::clone(pod);
            pod.status.nominated_node_name = self.node.name().clone();
            writes.push(Write::Put(Object::Pod(Arc::new(pod))));
        }
        self.scheduler.state.queue.done(&self.pod.pod);
        for (name, point) in at_work {
            let result = point.pre_bind(&cx, self.cycle_state, self.pod, self.node);
            let (status, written) = match result {
                Ok(objects) => (Status::success(), objects),
                Err(status) => (status, Vec::new()),
            };
            let keys = written.iter().map(|o| (o.kind(), o.key())).collect();
            events.push(Event::PreBound { plugin: name, status: status.clone(), writes: keys });
            writes.extend(written.into_iter().map(Write::Put));
            if !status.is_success() {
                return Err((Status::error(format!("running PreBind plugin \"{name}\": {}", status.message())), true));
            }
        }
        Ok(())
    }

    fn unreserve(&mut self, events: &mut Vec<Event>) {
        let config = self.scheduler.state.config.clone();
        let cluster = self.scheduler.state.cluster.clone();
        let cx = Context { cluster: &cluster, snapshot: self.snapshot, gates: config.gates, now: self.scheduler.state.clock };
        for plugin in self.framework.reserve.iter().rev() {
            if let Some(point) = plugin.reserve() {
                point.unreserve(&cx, self.cycle_state, self.pod, self.node);
            }
        }
        events.push(Event::Unreserved { pod: self.pod.key(), node: self.node.name().clone() });
    }
}
