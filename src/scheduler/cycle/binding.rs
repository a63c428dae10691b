//! From a chosen node to a bound pod: assume, Reserve, Permit, PreBind, Bind. Mirrors `assumeAndReserve`,
//! `prepareForBindingCycle`, `bindingCycle` and `handleBindingCycleError` in `pkg/scheduler/schedule_one.go`.

use std::sync::Arc;

use jiff::SignedDuration;

use super::failure::{set_condition, whole_second};
use super::{Failed, Write};
use crate::cluster::{Condition, Key, Object, Pod, Str};
use crate::framework::{
    Change, ClusterEvent, Code, Context, CycleState, NodeInfo, NodeToStatus, PermitEffects, PluginName, PluginSet, PodGroupState, PodInfo,
    QueuedPodInfo, Snapshot, Status,
};
use crate::release::Gate;
use crate::scheduler::State;
use crate::scheduler::runtime::Framework;
use crate::trace::{Event, FailureCause, Place};

/// Longest wait that a Permit plugin can set.
const MAX_PERMIT_TIMEOUT: SignedDuration = SignedDuration::from_mins(15);

/// A pod on its way to a node: the input of the binding cycle.
#[derive(Clone, Debug)]
pub(super) struct Binding {
    /// The pod as it was popped.
    pub(super) info: QueuedPodInfo,
    /// The pod as the cache has it.
    pub(super) assumed: Arc<PodInfo>,
    /// The node as the scheduling cycle saw it.
    pub(super) node: Arc<NodeInfo>,
    cycle_state: CycleState,
    /// The PreBind plugins that have work to do.
    pre_bind: PluginSet,
}

/// The Permit plugins that make a pod wait, each with its timeout, in the order of the profile.
pub(super) type PermitTimeouts = Vec<(PluginName, SignedDuration)>;

impl State {
    /// Binds the pod to a node, makes it wait on Permit, or returns why not, with its reservations released.
    pub(super) fn bind(
        &mut self,
        snapshot: &Snapshot,
        cycle_state: CycleState,
        info: &QueuedPodInfo,
        node: &Str,
        writes: &mut Vec<Write>,
        events: &mut Vec<Event>,
    ) -> Result<(), Failed> {
        let Some(node_info) = snapshot.get(node) else {
            return Err(Failed::new(FailureCause::Error, format!("node {node:?} not found")));
        };
        let (mut binding, patience, effects) = self.prepare_binding(snapshot, cycle_state, info, node_info, events)?;
        self.activate_group(effects.activate.as_ref(), events);
        self.allow_group(effects.allow.as_ref(), events);
        let waits = !patience.is_empty();
        if let Err(status) = self.begin_binding(&mut binding, snapshot, waits, waits, writes, events) {
            // Writes up to here were made while the pod was assumed.
            self.carry_out(std::mem::take(writes), events);
            let failed = Failed::new(failure_cause(&status), status.message());
            return Err(self.binding_failed(&mut binding, &status, failed, events));
        }
        if waits {
            self.wait_on_permit(binding, patience, events);
        }
        Ok(())
    }

    /// The end of the scheduling cycle: the pod is assumed on a node, Reserve and Permit run. Returns who makes the pod wait,
    /// and what that means for others.
    pub(super) fn prepare_binding(
        &mut self,
        snapshot: &Snapshot,
        cycle_state: CycleState,
        info: &QueuedPodInfo,
        node: &Arc<NodeInfo>,
        events: &mut Vec<Event>,
    ) -> Result<(Binding, PermitTimeouts, PermitEffects), Failed> {
        let mut assumed = Pod::clone(info.pod());
        assumed.node_name = node.name().clone();
        let assumed = Arc::new(info.pod_info.like(Arc::new(assumed), self.config.emulation));
        self.cache.assume(assumed.clone());
        self.with_queue(events, |queue, env| queue.delete_nominated_pod_if_exists(env, info.pod()));
        events.push(Event::PodAssumed { pod: info.key(), node: node.name().clone() });
        let mut binding = Binding { info: info.clone(), assumed, node: node.clone(), cycle_state, pre_bind: PluginSet::default() };
        // Permit plugins that count pods count this one.
        let snapshot = snapshot.clone().with_pod_groups(self.cache.pod_groups.clone());
        match self.reserve_and_permit(&mut binding, &snapshot, events) {
            Ok((patience, effects)) => Ok((binding, patience, effects)),
            Err(status) => {
                self.unreserve_and_forget(&mut binding, events);
                Err(scheduling_failed(&status))
            }
        }
    }

    /// The binding cycle up to the wait on Permit or, for a pod that waits no longer, to its end. `announced` says whether
    /// the pod was made to wait.
    pub(super) fn begin_binding(
        &mut self,
        binding: &mut Binding,
        snapshot: &Snapshot,
        announced: bool,
        waits: bool,
        writes: &mut Vec<Write>,
        events: &mut Vec<Event>,
    ) -> Result<(), Status> {
        self.pre_flight(binding, snapshot)?;
        self.announce_node(binding, announced, writes);
        if waits { Ok(()) } else { self.finish_binding(binding, writes, events) }
    }

    /// A plugin wants pods tried again.
    pub(super) fn activate(&mut self, pods: &[Arc<Pod>], events: &mut Vec<Event>) {
        if !pods.is_empty() {
            self.with_queue(events, |queue, env| queue.activate(env, pods));
        }
    }

    /// A plugin wants the pods of a group that have no place tried again.
    pub(super) fn activate_group(&mut self, group: Option<&Key>, events: &mut Vec<Event>) {
        let state = group.and_then(|group| self.cache.pod_groups.get(group));
        let pods: Vec<Arc<Pod>> = state.into_iter().flat_map(PodGroupState::unscheduled).cloned().collect();
        self.activate(&pods, events);
    }

    /// A plugin lets the pods of a group that wait on Permit go.
    pub(super) fn allow_group(&mut self, group: Option<&Key>, events: &mut Vec<Event>) {
        let state = group.and_then(|group| self.cache.pod_groups.get(group));
        let waits = |pod: &Key| self.waiting.contains_key(pod);
        let pods: Vec<Key> = state.into_iter().flat_map(PodGroupState::assumed).map(|pod| pod.key()).filter(waits).collect();
        for pod in pods {
            self.allow(&pod, events);
        }
    }

    /// Runs Reserve and Permit; returns the plugins that make the pod wait, and the effects on other pods.
    fn reserve_and_permit(
        &self,
        binding: &mut Binding,
        snapshot: &Snapshot,
        events: &mut Vec<Event>,
    ) -> Result<(PermitTimeouts, PermitEffects), Status> {
        let Binding { assumed, node, cycle_state, .. } = binding;
        let cx = self.context(snapshot);
        let Some(framework) = self.framework_of(assumed) else { return Ok(Default::default()) };
        for plugin in &framework.reserve {
            let Some(point) = plugin.reserve() else { continue };
            let status = point.reserve(&cx, cycle_state, assumed, node);
            events.push(Event::Reserved { plugin: plugin.name(), status: status.clone() });
            if status.is_rejected() {
                return Err(status.answered_by(plugin.name(), self.config.emulation.release()));
            }
            if !status.is_success() {
                return Err(Status::error(format!("running Reserve plugin \"{}\": {}", plugin.name(), status.message())));
            }
        }
        let (mut patience, mut effects) = (PermitTimeouts::new(), PermitEffects::default());
        for plugin in &framework.permit {
            let Some(point) = plugin.permit() else { continue };
            let (status, timeout) = point.permit(&cx, cycle_state, assumed, node);
            events.push(Event::Permitted { plugin: plugin.name(), status: status.clone() });
            let PermitEffects { activate, allow } = point.effects(&cx, assumed, &status);
            effects = PermitEffects { activate: effects.activate.or(activate), allow: effects.allow.or(allow) };
            match status.code() {
                Code::Success => {}
                Code::Wait => {
                    let timeout = SignedDuration::from_secs(i64::try_from(timeout).unwrap_or(i64::MAX)).min(MAX_PERMIT_TIMEOUT);
                    patience.push((plugin.name(), timeout));
                }
                _ if status.is_rejected() => return Err(status.answered_by(plugin.name(), self.config.emulation.release())),
                _ => return Err(Status::error(format!("running Permit plugin \"{}\": {}", plugin.name(), status.message()))),
            }
        }
        Ok((patience, effects))
    }

    /// Asks the PreBind plugins which of them have work to do.
    fn pre_flight(&self, binding: &mut Binding, snapshot: &Snapshot) -> Result<(), Status> {
        let cx = self.context(snapshot);
        let Some(framework) = self.framework_of(&binding.assumed) else { return Ok(()) };
        for plugin in &framework.pre_bind {
            let Some(point) = plugin.pre_bind() else { continue };
            let status = point.pre_bind_pre_flight(&cx, &binding.cycle_state, &binding.assumed, &binding.node);
            if status.is_success() {
                binding.pre_bind.insert(plugin.name());
            } else if !status.is_skip() {
                return Err(Status::error(format!("running PreBindPreFlight \"{}\": {}", plugin.name(), status.message())));
            }
        }
        Ok(())
    }

    /// Announces the chosen node in the pod's status if the binding takes time.
    fn announce_node(&self, binding: &Binding, waits: bool, writes: &mut Vec<Write>) {
        let announces = (waits || !binding.pre_bind.is_empty()) && self.config.emulation.enabled(Gate::NominatedNodeNameForExpectation);
        let node = binding.node.name();
        let known = self.cluster.pods.get(&binding.info.key()).filter(|p| announces && p.status.nominated_node_name != *node);
        if let Some(pod) = known {
            let mut pod = Pod::clone(pod);
            pod.status.nominated_node_name = node.clone();
            writes.push(Write::Put(Object::Pod(Arc::new(pod))));
        }
    }

    /// Runs PreBind and Bind, after the wait on Permit.
    pub(super) fn finish_binding(&mut self, binding: &mut Binding, writes: &mut Vec<Write>, events: &mut Vec<Event>) -> Result<(), Status> {
        self.queue.done(&binding.assumed.pod);
        let snapshot = self.cache.snapshot();
        let cx = self.context(&snapshot);
        let framework = self.framework_of(&binding.assumed);
        for plugin in framework.iter().flat_map(|f| &f.pre_bind).filter(|p| binding.pre_bind.contains(p.name())) {
            let Some(point) = plugin.pre_bind() else { continue };
            let name = plugin.name();
            let result = point.pre_bind(&cx, &binding.cycle_state, &binding.assumed, &binding.node);
            let (status, written) = match result {
                Ok(objects) => (Status::success(), objects),
                Err(status) => (status, Vec::new()),
            };
            let keys = written.iter().map(|o| (o.kind(), o.key())).collect();
            events.push(Event::PreBound { plugin: name, status: status.clone(), writes: keys });
            writes.extend(written.into_iter().map(Write::Put));
            if status.is_rejected() {
                return Err(status.answered_by(name, self.config.emulation.release()));
            }
            if !status.is_success() {
                return Err(Status::error(format!("running PreBind plugin \"{name}\": {}", status.message())));
            }
        }
        self.write_binding(&binding.assumed, writes, events)
    }

    /// Runs Bind; the API server refuses it for a pod that was bound elsewhere during the wait.
    fn write_binding(&mut self, assumed: &PodInfo, writes: &mut Vec<Write>, events: &mut Vec<Event>) -> Result<(), Status> {
        let key = assumed.key();
        // Keep the changes that PreBind wrote to the pod.
        let written = writes.iter().rev().find_map(|w| match w {
            Write::Put(Object::Pod(pod)) if pod.key() == key => Some(pod),
            _ => None,
        });
        let known = written.or_else(|| self.cluster.pods.get(&key));
        if let Some(pod) = known.filter(|p| !p.node_name.is_empty()) {
            let name = &key.name;
            return Err(Status::error(format!(
                "running Bind plugin \"{}\": Operation cannot be fulfilled on pods/binding \"{name}\": pod {name} is already assigned to node \
                 \"{}\"",
                PluginName::DefaultBinder,
                pod.node_name
            )));
        }
        let mut bound = known.map_or_else(|| Pod::clone(&assumed.pod), |p| Pod::clone(p));
        bound.node_name = assumed.pod.node_name.clone();
        let now = whole_second(self.clock);
        let condition =
            Condition { kind: "PodScheduled".into(), status: "True".into(), last_transition_time: Some(now), ..Condition::default() };
        set_condition(&mut bound, condition);
        bound.status.start_time = Some(now);
        if self.config.emulation.enabled(Gate::ClearingNominatedNodeNameAfterBinding) {
            bound.status.nominated_node_name = Str::default();
        }
        events.push(Event::PodBound { pod: key, node: bound.node_name.clone() });
        let node = bound.node_name.clone();
        self.with_queue(events, |queue, env| queue.leave(env, &assumed.pod, Place::Bound { node }));
        writes.push(Write::Put(Object::Pod(Arc::new(bound))));
        Ok(())
    }

    /// Handles a failure after the scheduling cycle. For other pods it equals the deletion of a pod: they are moved
    /// before the pod is requeued or, if it was rejected, after that.
    pub(super) fn binding_failed(&mut self, binding: &mut Binding, status: &Status, mut failed: Failed, events: &mut Vec<Event>) -> Failed {
        let forgotten = self.unreserve_and_forget(binding, events);
        if status.is_rejected() {
            failed.released = forgotten;
        } else if let Some(pod) = forgotten {
            let change = Change { old: Some(Object::Pod(pod.pod.clone())), new: None };
            self.move_all(ClusterEvent::ASSIGNED_POD_DELETE, &change, None, events);
        }
        failed
    }

    /// Unreserves the pod and removes it from its node in the cache; returns it as it was assumed.
    fn unreserve_and_forget(&mut self, binding: &mut Binding, events: &mut Vec<Event>) -> Option<Arc<PodInfo>> {
        let Binding { assumed, node, cycle_state, .. } = binding;
        let snapshot = self.cache.snapshot();
        let cx = self.context(&snapshot);
        for plugin in self.framework_of(assumed).iter().flat_map(|f| f.reserve.iter().rev()) {
            if let Some(point) = plugin.reserve() {
                point.unreserve(&cx, cycle_state, assumed, node);
            }
        }
        events.push(Event::Unreserved { pod: assumed.key(), node: node.name().clone() });
        self.cache.forget(&assumed.pod)
    }

    fn framework_of(&self, pod: &PodInfo) -> Option<&Framework> {
        self.config.profile(&pod.pod.spec.scheduler_name)
    }

    fn context<'a>(&'a self, snapshot: &'a Snapshot) -> Context<'a> {
        Context { cluster: &self.cluster, snapshot, emulation: self.config.emulation, now: self.clock }
    }
}

/// Returns why the binding cycle failed.
pub(super) fn failure_cause(status: &Status) -> FailureCause {
    if status.is_rejected() { FailureCause::Rejected(status.clone()) } else { FailureCause::Error }
}

/// Returns why Reserve or Permit ended the scheduling cycle.
pub(super) fn scheduling_failed(status: &Status) -> Failed {
    if status.is_rejected() { rejected(status) } else { Failed::new(FailureCause::Error, status.message()) }
}

/// Returns a rejection on the only node left; the plugin of the status is the rejector.
pub(super) fn rejected(status: &Status) -> Failed {
    let mut statuses = NodeToStatus::default();
    statuses.set(0, status.clone());
    let mut failed = Failed::new(FailureCause::Rejected(status.clone()), statuses.fit_error(1, "", ""));
    failed.unschedulable_plugins = status.plugin().map_or(PluginSet::NAMELESS, |plugin| [plugin].into_iter().collect());
    if status.code() == Code::Pending {
        failed.pending_plugins = failed.unschedulable_plugins;
    }
    failed
}
