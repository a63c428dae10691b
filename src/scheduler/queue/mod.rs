//! The scheduling queue: where every pending pod waits, and what moves it. Mirrors
//! `pkg/scheduler/backend/queue/scheduling_queue.go`.
//!
//! There is no clock, no lock and no chance in it: the time and everything else it needs to know comes from a
//! [`QueueEnv`] with each call, and every move is recorded there as a fact. Cloning shares everything.
//!
//! Invariants: a pod is in at most one of activeQ, backoffQ, unschedulablePods, in flight and waiting on Permit; gated pods are in
//! unschedulablePods; pods in backoffQ's error heap have no rejecting plugin, all other pods in backoffQ and all parked
//! pods have one; [`SchedulingQueue::view`] is what its recorded events add up to.

mod active_queue;
mod backoff_queue;
mod flush;
mod hints;
mod in_flight;
mod moves;
mod nominator;
mod observed;
mod operations;
mod pod_group;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use imbl::OrdMap;
use jiff::Timestamp;

use self::active_queue::ActiveQueue;
use self::backoff_queue::BackoffQueue;
pub use self::hints::{HintMap, PluginEvents};
use self::in_flight::InFlight;
pub(super) use self::in_flight::pod_id;
use self::nominator::Nominator;
pub use self::observed::{InferredQueue, Observed};
use crate::cluster::{Key, Meta, Pod, Str};
use crate::framework::{Context, NominatingInfo, PluginName, PodInfo, QueuedPodInfo, Status};
use crate::release::{Emulation, Gate};
use crate::trace::{Event, MoveCause, Place, QueueMove, QueueOrder, QueuesView};

/// What the queue needs from around it, for the time of one call.
pub trait QueueEnv {
    /// The virtual time.
    fn now(&self) -> Timestamp;
    /// Sets the virtual time; only [`SchedulingQueue::advance`] does, and never back.
    fn set_now(&mut self, now: Timestamp);
    /// What queueing hints may look at.
    fn context(&self) -> Context<'_>;
    /// The newest object of a pod, if it still exists.
    fn informer_pod(&self, key: &Key) -> Option<Arc<Pod>>;
    /// Runs the `PreEnqueue` plugins of the pod's profile in order, `first` before the others, and gives the first
    /// refusal; `None` when all agree.
    fn pre_enqueue(&self, pod: &Pod, first: Option<PluginName>) -> Option<(PluginName, Status)>;
    /// Takes down a fact.
    fn record(&mut self, event: Event);
}

/// The settings of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// `podInitialBackoffSeconds`.
    pub pod_initial_backoff: Duration,
    /// `podMaxBackoffSeconds`; zero switches backoff off.
    pub pod_max_backoff: Duration,
    /// How long a pod may stay in unschedulablePods.
    pub pod_max_in_unschedulable_pods: Duration,
    /// Feature gates.
    pub emulation: Emulation,
}

impl Default for QueueConfig {
    fn default() -> Self {
        let emulation = Emulation::default();
        Self {
            pod_initial_backoff: Duration::from_secs(1),
            pod_max_backoff: Duration::from_secs(10),
            pod_max_in_unschedulable_pods: emulation.behaviour().leftover,
            emulation,
        }
    }
}

/// A pod could not come back to the queue: it is waiting there already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Pod {pod} is already present in the {queue} queue")]
pub struct AlreadyQueued {
    /// Which pod.
    pub pod: Key,
    /// `active`, `backoff` or `unschedulable`.
    pub queue: &'static str,
}

/// The three queues, the pods in flight and the nominator.
#[derive(Clone, Debug)]
pub struct SchedulingQueue {
    pub(super) config: QueueConfig,
    hints: Arc<HintMap>,
    active: ActiveQueue,
    backoff: BackoffQueue,
    /// Parked and gated pods.
    unschedulable: OrdMap<Key, Arc<QueuedPodInfo>>,
    in_flight: InFlight,
    nominator: Nominator,
    /// The next number to draw.
    sequence: u64,
    scheduling_cycle: u64,
    /// The cycle in which an event was offered last, in releases without queueing hints.
    move_request_cycle: Option<u64>,
    view: QueuesView,
}

impl SchedulingQueue {
    /// An empty queue.
    pub fn new(config: QueueConfig, hints: HintMap) -> Self {
        let windows = config.emulation.enabled(Gate::SchedulerPopFromBackoffQ);
        Self {
            config,
            hints: Arc::new(hints),
            active: ActiveQueue::default(),
            backoff: BackoffQueue::new(
                config.pod_initial_backoff,
                config.pod_max_backoff,
                windows,
                config.emulation.behaviour().queue.backoff,
            ),
            unschedulable: OrdMap::new(),
            in_flight: InFlight::default(),
            nominator: Nominator::default(),
            sequence: 0,
            scheduling_cycle: 0,
            move_request_cycle: None,
            view: QueuesView::default(),
        }
    }

    /// Where every pod waits. It is the view of before with all recorded events folded in, so the events of
    /// [`QueuesView::apply`] are the queue's alone to record.
    pub fn view(&self) -> &QueuesView {
        &self.view
    }

    /// How many pods were popped so far.
    pub fn scheduling_cycle(&self) -> u64 {
        self.scheduling_cycle
    }

    /// Which plugins are told of which events.
    pub fn hints(&self) -> &HintMap {
        &self.hints
    }

    /// activeQ in the order it would be popped.
    pub fn active_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.active.iter()
    }

    /// backoffQ, both heaps, in order of the end of the backoff, then as activeQ.
    pub fn backoff_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.backoff.iter()
    }

    /// unschedulablePods with the gated pods, by namespace and name.
    pub fn unschedulable_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.unschedulable.values()
    }

    /// Pods that were popped and have neither come back nor left, by uid; without those that wait on Permit.
    pub fn in_flight_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.in_flight.attempts().filter(|(_, node)| node.is_none()).map(|(info, _)| info)
    }

    /// Pods that wait on Permit with the node they wait for, by uid.
    pub fn waiting_on_permit_pods(&self) -> impl Iterator<Item = (&Arc<QueuedPodInfo>, &Str)> {
        self.in_flight.attempts().filter_map(|(info, node)| Some((info, node?)))
    }

    /// The pod that [`Self::pop`] would take.
    pub fn next_to_pop(&self) -> Option<&Arc<QueuedPodInfo>> {
        self.active.iter().next().or_else(|| self.backoff.first_rejected().filter(|_| self.pops_from_backoff()))
    }

    /// How many pods are in activeQ, backoffQ and unschedulablePods.
    pub fn len(&self) -> (usize, usize, usize) {
        (self.active.len(), self.backoff.len(), self.unschedulable.len())
    }

    /// Whether no pod waits; pods in flight do not wait.
    pub fn is_empty(&self) -> bool {
        self.len() == (0, 0, 0)
    }

    /// A waiting pod by namespace and name.
    pub fn get(&self, key: &Key) -> Option<&Arc<QueuedPodInfo>> {
        self.active.get(key).or_else(|| self.unschedulable.get(key)).or_else(|| self.backoff.get(key))
    }

    /// When the backoff of a pod ends: a whole second where `SchedulerPopFromBackoffQ` is on. `None` for a pod that
    /// never has to wait.
    pub fn backoff_expiration(&self, info: &QueuedPodInfo) -> Option<Timestamp> {
        Some(self.backoff.expiration(info)).filter(|end| *end != Timestamp::MIN)
    }

    /// Whether a pod would have to wait in backoffQ at this moment.
    pub fn is_pod_backing_off(&self, info: &QueuedPodInfo, now: Timestamp) -> bool {
        self.backoff.is_backing_off(info, now)
    }

    /// The pods nominated to a node, in order of nomination, as they stand in the queue. A pod that is nominated but
    /// waits nowhere counts with nothing but its name, as it does in kube-scheduler.
    pub fn nominated_pods_for_node(&self, node: &str) -> Vec<Arc<PodInfo>> {
        let bare = |r: &nominator::PodRef| {
            let metadata = Meta { name: r.key.name.clone(), namespace: r.key.namespace.clone(), uid: r.uid.clone(), ..Meta::default() };
            Arc::new(PodInfo::new(Arc::new(Pod { metadata, ..Pod::default() })))
        };
        let info = |r: &nominator::PodRef| match self.get(&r.key) {
            Some(queued) => queued.pod_info.clone(),
            None => bare(r),
        };
        self.nominator.on_node(node).iter().map(info).collect()
    }

    /// All nominations, as pod and node, by node.
    pub fn nominations(&self) -> impl Iterator<Item = (&Key, &Str)> {
        self.nominator.iter()
    }

    /// Where a pod is nominated to, if anywhere.
    pub fn nominated_node(&self, pod: &Pod) -> Option<&Str> {
        self.nominator.node_of(pod)
    }

    /// Notes where a pod is nominated to; what the failure handler does after it has put the pod back. A node that was
    /// chosen is recorded even where the pod was nominated to it before.
    pub fn add_nominated_pod(&mut self, env: &mut dyn QueueEnv, pod: &Pod, info: &NominatingInfo) {
        let (key, before) = (pod.key(), self.nominator.node_of(pod).cloned());
        let informer = env.informer_pod(&key);
        self.change_nomination(env, pod, false, |n| n.add(pod, info, informer.as_deref()));
        if let (NominatingInfo::Override(_), Some(node)) =
            (info, self.nominator.node_of(pod).filter(|n| before.as_ref() == Some(n)).cloned())
        {
            self.record(env, Event::PodNominated { pod: key, node });
        }
    }

    /// Takes a pod's nomination away, as when it was put on a node in memory.
    pub fn delete_nominated_pod_if_exists(&mut self, env: &mut dyn QueueEnv, pod: &Pod) {
        self.change_nomination(env, pod, false, |n| n.delete(pod));
    }

    fn update_nominated_pod(&mut self, env: &mut dyn QueueEnv, old: &Pod, new: &Pod) {
        let informer = env.informer_pod(&new.key());
        self.change_nomination(env, new, true, |n| n.update(old, new, informer.as_deref()));
    }

    /// Records the change if there is one that can be seen. `by_update` says that the object lost the field, which is
    /// what a preemptor does to pods of lower priority.
    fn change_nomination(&mut self, env: &mut dyn QueueEnv, pod: &Pod, by_update: bool, change: impl FnOnce(&mut Nominator)) {
        let before = self.nominator.node_of(pod).cloned();
        change(&mut self.nominator);
        let after = self.nominator.node_of(pod).cloned();
        // The name may belong to another pod by now, which was created anew.
        let known = self.get(&pod.key()).or_else(|| self.in_flight.attempt(pod));
        if before == after || known.is_none_or(|k| pod_id(k.pod()) != pod_id(pod)) {
            return;
        }
        let event = match (before, after) {
            (Some(node), None) if by_update => Event::NominationCleared { pod: pod.key(), node },
            (_, after) => Event::PodNominated { pod: pod.key(), node: after.unwrap_or_default() },
        };
        self.record(env, event);
    }

    fn record(&mut self, env: &mut dyn QueueEnv, event: Event) {
        self.view.apply(&event);
        env.record(event);
    }

    fn record_move(
        &mut self,
        env: &mut dyn QueueEnv,
        info: &QueuedPodInfo,
        from: Option<Place>,
        to: Place,
        cause: MoveCause,
        plugin: Option<PluginName>,
    ) {
        let (pod, new) = (info.key(), from.is_none());
        let cause = match cause {
            MoveCause::Cluster(event) => MoveCause::Cluster(event.named(self.config.emulation.behaviour().queue.event_names)),
            other => other,
        };
        let order = QueueOrder { priority: info.pod().priority(), timestamp: info.timestamp, sequence: info.sequence };
        let plugins = info.rejectors();
        self.record(env, Event::QueueMoved(Box::new(QueueMove { pod, from, to, cause, plugin, order, plugins })));
        // A pod that had left the queues may still hold a nomination.
        if let Some(node) = self.nominator.node_of(info.pod()).filter(|_| new).cloned() {
            self.record(env, Event::PodNominated { pod: info.key(), node });
        }
    }

    /// Where a pod waits; `None` also while it is in flight.
    fn place(&self, key: &Key) -> Option<Place> {
        if self.active.get(key).is_some() {
            return Some(Place::Active);
        }
        if let Some(info) = self.backoff.get(key) {
            return Some(self.backoff_place(info));
        }
        self.unschedulable.get(key).map(|info| unschedulable_place(info))
    }

    fn backoff_place(&self, info: &QueuedPodInfo) -> Place {
        Place::Backoff { expires: self.backoff.expiration(info), error: info.rejectors().is_empty() }
    }

    /// Takes a pod out of whichever queue holds it.
    fn take(&mut self, key: &Key) -> Option<Arc<QueuedPodInfo>> {
        self.active.remove(key).or_else(|| self.backoff.remove(key)).or_else(|| self.unschedulable.remove(key))
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    fn pops_from_backoff(&self) -> bool {
        self.config.emulation.enabled(Gate::SchedulerPopFromBackoffQ)
    }
}

fn unschedulable_place(info: &QueuedPodInfo) -> Place {
    Place::Unschedulable { plugins: info.rejectors(), gated_by: info.gating_plugin }
}
