//! Moves pods to activeQ and backoffQ, and selects the pods that an event concerns.

use std::sync::Arc;

use super::group_entry::Member;
use super::{QueueEnv, SchedulingQueue, unschedulable_place};
use crate::cluster::{Key, Object, Pod};
use crate::framework::{Change, ClusterEvent, EventLabel, PluginName, QueuedPodInfo, QueueingHint, hint_steps, is_same_pod};
use crate::plugins::admits;
use crate::release::{Gate, GatedPods};
use crate::scheduler::event_handlers::PodFilter;
use crate::trace::{Event, MoveCause, Place};

/// The effect of an event on a pod; mirrors `queueingStrategy`. Names the plugin whose hint returned Queue, if one did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Leave the pod where it is.
    Skip,
    /// Try it again after its backoff.
    AfterBackoff(Option<PluginName>),
    /// Try it again at once.
    Immediately(PluginName),
}

/// Steps of [`QueueEnv::count_steps`] for each pod that an event is offered to, for each that moves or passes `PreEnqueue`, and for each
/// that `PreEnqueue` rejects.
const STEPS_OF_OFFER: u64 = 40;
pub(super) const STEPS_OF_MOVE: u64 = 60;
const STEPS_OF_REJECTION: u64 = 40;

impl SchedulingQueue {
    /// Moves the parked pods that an event may help, and keeps the event for the pods in flight. With `max_priority`,
    /// moves only pods of at most that priority. An event that no plugin registered has no effect and is not kept.
    pub fn move_all_to_active_or_backoff_queue(
        &mut self,
        env: &mut dyn QueueEnv,
        event: ClusterEvent,
        change: &Change,
        max_priority: Option<i32>,
    ) {
        self.move_matching(env, event, change, |info| max_priority.is_none_or(|max| info.pod().priority() <= max));
    }

    /// As [`Self::move_all_to_active_or_backoff_queue`], for all pods but one.
    pub fn move_others_to_active_or_backoff_queue(&mut self, env: &mut dyn QueueEnv, event: ClusterEvent, change: &Change, but: &Pod) {
        self.move_matching(env, event, change, |info| !is_same_pod(info.pod(), but));
    }

    /// As [`Self::move_all_to_active_or_backoff_queue`], for one pod only; for none where it is queued with its group.
    pub(in crate::scheduler) fn move_one(&mut self, env: &mut dyn QueueEnv, event: ClusterEvent, change: &Change, pod: &Pod) {
        let alone = self.unschedulable.get(&pod.key()).cloned().filter(|_| self.entry_of(pod).is_none());
        self.move_if_of_interest(env, alone.into_iter().collect(), event, change);
    }

    /// As [`Self::move_all_to_active_or_backoff_queue`], for a pod and the other pods of its group only.
    pub(in crate::scheduler) fn move_group_of(&mut self, env: &mut dyn QueueEnv, event: ClusterEvent, change: &Change, pod: &Pod) {
        let parked = |key: &Key| self.unschedulable.get(key).cloned();
        let pods = {
            let cx = env.context();
            let group = pod.group_key().and_then(|group| cx.snapshot.pod_groups().get(&group));
            match group {
                Some(group) => group.unscheduled_keys().filter_map(parked).collect(),
                None => parked(&pod.key()).into_iter().collect(),
            }
        };
        self.move_if_of_interest(env, pods, event, change);
    }

    /// As [`Self::move_all_to_active_or_backoff_queue`], for the pods that a change may concern.
    pub(in crate::scheduler) fn move_concerned(&mut self, env: &mut dyn QueueEnv, event: ClusterEvent, change: &Change, whom: PodFilter) {
        match (whom, &change.new) {
            (PodFilter::MaxPriority(max), _) => self.move_all_to_active_or_backoff_queue(env, event, change, Some(max)),
            (PodFilter::Admitted, Some(Object::Node(node))) => {
                let concerned = {
                    let cx = env.context();
                    let admits =
                        |info: &&Arc<QueuedPodInfo>| cx.snapshot.get(node.name()).is_none_or(|node| admits(&cx, &info.pod_info, node));
                    self.unschedulable.values().filter(admits).cloned().collect()
                };
                self.move_if_of_interest(env, concerned, event, change);
            }
            (PodFilter::WithAffinityTerm | PodFilter::WithAffinityTermOrSpread, Some(Object::Pod(pod))) => {
                let concerned = {
                    let labels = env.context().cluster.namespaces.named(&pod.metadata.namespace).map(|n| n.metadata.labels.clone());
                    let labels = labels.unwrap_or_default();
                    let spread = |info: &QueuedPodInfo| {
                        whom == PodFilter::WithAffinityTermOrSpread
                            && info.unschedulable_plugins.contains(PluginName::PodTopologySpread)
                            && info.pod().metadata.namespace == pod.metadata.namespace
                    };
                    let terms = |info: &QueuedPodInfo| {
                        let terms = info.pod_info.terms.as_ref();
                        terms.is_some_and(|terms| terms.required_affinity.iter().any(|term| term.matches(pod, &labels)))
                    };
                    self.unschedulable.values().filter(|info| spread(info) || terms(info)).cloned().collect()
                };
                self.move_if_of_interest(env, concerned, event, change);
            }
            _ => self.move_all_to_active_or_backoff_queue(env, event, change, None),
        }
    }

    fn move_matching(&mut self, env: &mut dyn QueueEnv, event: ClusterEvent, change: &Change, asked: impl Fn(&Arc<QueuedPodInfo>) -> bool) {
        let asked = |info: &&Arc<QueuedPodInfo>| asked(info);
        if !self.hints.is_event_of_interest(&event) {
            return;
        }
        let pods: Vec<Arc<QueuedPodInfo>> = self.unschedulable.values().filter(asked).cloned().collect();
        self.move_pods(env, pods, event, change);
    }

    /// Offers an event to pods of unschedulablePods if any plugin registered it.
    fn move_if_of_interest(&mut self, env: &mut dyn QueueEnv, pods: Vec<Arc<QueuedPodInfo>>, event: ClusterEvent, change: &Change) {
        if self.hints.is_event_of_interest(&event) {
            self.move_pods(env, pods, event, change);
        }
    }

    /// Offers an event to pods of unschedulablePods.
    pub(super) fn move_pods(&mut self, env: &mut dyn QueueEnv, pods: Vec<Arc<QueuedPodInfo>>, event: ClusterEvent, change: &Change) {
        for info in self.entries(pods) {
            if self.gate_of_entry(&info).is_some_and(|gate| self.stays_gated(gate, event)) {
                continue;
            }
            let mates = self.placed_mates(env, &info);
            let strategy = self.is_entry_worth_requeuing(env, (&info, &mates), event, change);
            if strategy != Strategy::Skip {
                let from = Some(unschedulable_place(&info));
                let came = matches!(&change.new, Some(Object::Pod(pod)) if is_same_pod(pod, info.pod()));
                let (key, came) = (info.key(), came && self.entry_of(info.pod()).is_none());
                self.requeue_entry(env, (info, from.clone()), mates, strategy, MoveCause::Cluster(event));
                // A pod that is kept out as it comes hears of its own coming: kube-scheduler puts it where it is once more.
                if let Some(info) = self.unschedulable.get(&key).cloned().filter(|_| came && event == ClusterEvent::UNSCHEDULED_POD_ADD) {
                    self.record_move(env, &info, from, unschedulable_place(&info), MoveCause::Cluster(event), None);
                }
            }
        }
        if !self.config.emulation.enabled(Gate::SchedulerQueueingHints) {
            self.move_request_cycle = Some(self.scheduling_cycle);
        } else if self.in_flight.any() {
            self.in_flight.keep(event, change);
        }
    }

    /// Whether an event cannot help a pod that this plugin gates.
    fn stays_gated(&self, gate: PluginName, event: ClusterEvent) -> bool {
        let queue = &self.config.emulation.behaviour().queue;
        if event == ClusterEvent::UNSCHEDULABLE_TIMEOUT && queue.gated_pods_flushed {
            return false;
        }
        match queue.gated_pods {
            GatedPods::AsOthers => false,
            GatedPods::Stay => true,
            GatedPods::HeldByGates => gate == PluginName::SchedulingGates,
            GatedPods::AskedByGate => !self.hints.registered(gate, &event),
        }
    }

    /// Runs the hints of the plugins that rejected the pod.
    pub(super) fn is_pod_worth_requeuing(
        &mut self,
        env: &mut dyn QueueEnv,
        info: &QueuedPodInfo,
        event: ClusterEvent,
        change: &Change,
    ) -> Strategy {
        let rejectors = info.rejectors();
        env.count_steps(STEPS_OF_OFFER);
        if rejectors.is_empty() {
            return Strategy::AfterBackoff(None);
        }
        if event.is_wildcard() {
            return match &change.new {
                Some(Object::Pod(target)) if is_same_pod(target, info.pod()) => Strategy::AfterBackoff(None),
                Some(_) => Strategy::Skip,
                None => Strategy::AfterBackoff(None),
            };
        }
        let hints = self.hints.clone();
        let registrations = hints.of(&info.pod().spec.scheduler_name, rejectors, event);
        let Some(registrations) = registrations else { return Strategy::AfterBackoff(None) };
        let mut strategy = Strategy::Skip;
        for registration in registrations {
            env.count_steps(hint_steps(info.pod()));
            let (hint, error) = match &registration.hint {
                None => (QueueingHint::Queue, None),
                Some(hint) => match hint(&env.context(), info.pod(), change) {
                    Ok(hint) => (hint, None),
                    // An extra attempt is better than a stuck pod.
                    Err(error) => (QueueingHint::Queue, Some(error)),
                },
            };
            let plugin = registration.plugin;
            let event = event.named(self.config.emulation.behaviour().queue.event_names);
            self.record(env, Event::HintAsked { pod: info.key(), plugin, event, hint, error: error.map(|e| e.to_string().into()) });
            if hint == QueueingHint::QueueSkip {
                continue;
            }
            if info.pending_plugins.contains(plugin) {
                return Strategy::Immediately(plugin);
            }
            if strategy == Strategy::Skip {
                strategy = Strategy::AfterBackoff(Some(plugin));
            }
            if info.pending_plugins.is_empty() {
                break;
            }
        }
        strategy
    }

    /// Puts a pod where a strategy says. `from` is its place: in unschedulablePods, in flight, or nowhere. Returns
    /// whether it reached activeQ or backoffQ.
    pub(super) fn requeue(
        &mut self,
        env: &mut dyn QueueEnv,
        info: Arc<QueuedPodInfo>,
        from: Option<Place>,
        strategy: Strategy,
        cause: MoveCause,
    ) -> bool {
        match strategy {
            Strategy::Skip => {
                self.park(env, &info, from, cause, None);
                false
            }
            Strategy::AfterBackoff(plugin) if self.backoff.is_backing_off(&info, env.now()) => {
                self.move_to_backoff(env, info, from, cause, plugin)
            }
            Strategy::AfterBackoff(plugin) => self.move_to_active(env, info, from, cause, plugin),
            Strategy::Immediately(plugin) => self.move_to_active(env, info, from, cause, Some(plugin)),
        }
    }

    /// Does the same for a pod and the others of its entry.
    pub(super) fn requeue_entry(
        &mut self,
        env: &mut dyn QueueEnv,
        (info, from): Member,
        mates: Vec<Member>,
        strategy: Strategy,
        cause: MoveCause,
    ) -> bool {
        let (waits, plugin) = match strategy {
            _ if mates.is_empty() => return self.requeue(env, info, from, strategy, cause),
            Strategy::Skip => return self.requeue(env, info, from, strategy, cause),
            Strategy::AfterBackoff(plugin) => (self.backoff.is_backing_off(&info, env.now()), plugin),
            Strategy::Immediately(plugin) => (false, Some(plugin)),
        };
        self.move_entry(env, std::iter::once((info, from)).chain(mates).collect(), waits, cause, plugin)
    }

    /// Moves a pod to activeQ. Returns whether it got there: a `PreEnqueue` plugin may put it into unschedulablePods.
    pub(super) fn move_to_active(
        &mut self,
        env: &mut dyn QueueEnv,
        mut info: Arc<QueuedPodInfo>,
        from: Option<Place>,
        cause: MoveCause,
        plugin: Option<PluginName>,
    ) -> bool {
        if self.entry_of(info.pod()).is_some() {
            return self.move_with_group(env, info, from, false, (cause, plugin));
        }
        // `PreEnqueue` ran on the way into backoffQ, unless the gate is off.
        let asked_already = self.pops_from_backoff() && matches!(from, Some(Place::Backoff { .. }));
        if !asked_already && !self.passes_pre_enqueue(env, &mut info) {
            self.park(env, &info, from, cause, plugin);
            if cause == MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD) {
                self.nominate_gated(env, &info);
            }
            return false;
        }
        let now = env.now();
        Arc::make_mut(&mut info).initial_attempt_timestamp.get_or_insert(now);
        self.take(&info.key());
        self.active.of(&info.key()).insert(info.clone());
        self.record_move(env, &info, from, Place::Active, cause, plugin);
        if matches!(cause, MoveCause::Cluster(ClusterEvent::UNSCHEDULED_POD_ADD | ClusterEvent::UNSCHEDULED_POD_UPDATE)) {
            self.add_nominated_pod(env, info.pod(), &crate::framework::NominatingInfo::Noop);
        }
        true
    }

    /// Registers the nomination of a gated pod, in releases that count it.
    pub(super) fn nominate_gated(&mut self, env: &mut dyn QueueEnv, info: &QueuedPodInfo) {
        if self.config.emulation.behaviour().queue.gated_pods_nominate {
            self.add_nominated_pod(env, info.pod(), &crate::framework::NominatingInfo::Noop);
        }
    }

    /// Moves a pod to backoffQ. Returns whether it got there.
    pub(super) fn move_to_backoff(
        &mut self,
        env: &mut dyn QueueEnv,
        mut info: Arc<QueuedPodInfo>,
        from: Option<Place>,
        cause: MoveCause,
        plugin: Option<PluginName>,
    ) -> bool {
        if self.entry_of(info.pod()).is_some() {
            return self.move_with_group(env, info, from, true, (cause, plugin));
        }
        if self.pops_from_backoff() && !self.passes_pre_enqueue(env, &mut info) {
            self.park(env, &info, from, cause, plugin);
            return false;
        }
        self.take(&info.key());
        self.backoff.of(&info.key()).insert(info.clone());
        let to = self.backoff_place(&info);
        self.record_move(env, &info, from, to, cause, plugin);
        true
    }

    /// Puts a pod into unschedulablePods; no move if it is there already.
    pub(super) fn park(
        &mut self,
        env: &mut dyn QueueEnv,
        info: &Arc<QueuedPodInfo>,
        from: Option<Place>,
        cause: MoveCause,
        plugin: Option<PluginName>,
    ) {
        let key = info.key();
        if self.unschedulable.get(&key).is_none_or(|known| !Arc::ptr_eq(known, info)) {
            self.unschedulable.of(&key).insert(info.clone());
        }
        if !matches!(from, Some(Place::Unschedulable { .. })) {
            self.record_move(env, info, from, unschedulable_place(info), cause, plugin);
        }
    }

    /// Runs `PreEnqueue`, the plugin that gated the pod last first. A rejection makes that plugin a rejector.
    pub(super) fn passes_pre_enqueue(&mut self, env: &mut dyn QueueEnv, info: &mut Arc<QueuedPodInfo>) -> bool {
        match env.pre_enqueue(info.pod(), info.gating_plugin) {
            None => {
                env.count_steps(STEPS_OF_MOVE);
                if info.gated() {
                    Arc::make_mut(info).gating_plugin = None;
                }
                true
            }
            Some((plugin, status)) => {
                env.count_steps(STEPS_OF_REJECTION);
                if info.gating_plugin != Some(plugin) || !info.unschedulable_plugins.contains(plugin) {
                    let info = Arc::make_mut(info);
                    info.gating_plugin = Some(plugin);
                    info.unschedulable_plugins.insert(plugin);
                }
                self.record(env, Event::PreEnqueueRejected { pod: info.key(), status: status.with_plugin(plugin) });
                false
            }
        }
    }
}

/// Returns the cause of a queue move that is not a cluster event.
pub(super) fn label(label: EventLabel) -> MoveCause {
    MoveCause::Label(label)
}
