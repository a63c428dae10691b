//! The scheduling queue: holds every pending pod and moves it. Mirrors
//! `pkg/scheduler/backend/queue/scheduling_queue.go`.
//!
//! It has no clock, locks or randomness: each call brings the time and all other inputs in a [`QueueEnv`], which
//! records every move as an event. Clones share their contents.
//!
//! Invariants: a pod is in at most one of activeQ, backoffQ, unschedulablePods, in flight and waiting on Permit; gated pods are in
//! unschedulablePods; pods in backoffQ's error heap have no rejecting plugin or belong to a group that is queued as one, all other pods
//! in backoffQ and all parked pods have one, but for pods of a group of which another one is gated; [`SchedulingQueue::view`] is what its recorded events add up to.

mod active_queue;
mod backoff_queue;
mod flush;
mod group_entry;
mod hints;
mod in_flight;
mod moves;
mod nominator;
mod observed;
mod operations;
mod pod_group;
#[cfg(test)]
mod tests;
mod unschedulable_pods;

use std::sync::Arc;
use std::time::Duration;

use imbl::OrdMap;
use jiff::Timestamp;

use self::active_queue::ActiveQueue;
use self::backoff_queue::BackoffQueue;
use self::group_entry::{Member, Passed};
pub use self::hints::{HintMap, PluginEvents};
use self::in_flight::InFlight;
pub use self::nominator::Nominated;
use self::nominator::{Journaled, NominatedPods, Nominator, Touched};
pub use self::observed::{InferredQueue, Observed, PlaceInLog, QueueInLog};
use self::unschedulable_pods::UnschedulablePods;
use crate::cluster::resource::ResourceClaim;
use crate::cluster::{Key, Meta, Pod, PodGroup, Store, Str};
use crate::framework::{Context, LastPod, NominatingInfo, PluginName, PodInfo, QueuedPodInfo, Status, hash_of};
use crate::release::{Emulation, Gate};
use crate::scheduler::object_id::ObjectId;
use crate::trace::{Event, MoveCause, Place, QueueMove, QueueOrder, QueuesView};

/// The inputs of the queue, for one call.
pub trait QueueEnv {
    /// Returns the virtual time.
    fn now(&self) -> Timestamp;
    /// Sets the virtual time; only [`SchedulingQueue::advance`] calls it, and never backwards.
    fn set_now(&mut self, now: Timestamp);
    /// Returns the context of queueing hints.
    fn context(&self) -> Context<'_>;
    /// Returns the newest object of a pod, if it exists.
    fn informer_pod(&self, key: &Key) -> Option<Arc<Pod>>;
    /// Runs the `PreEnqueue` plugins of the pod's profile in order, `first` before the others, and returns the first
    /// rejection; `None` if all pass.
    fn pre_enqueue(&self, pod: &Pod, first: Option<PluginName>) -> Option<(PluginName, Status)>;
    /// Returns what `PreEnqueue` reads besides the pod and its group; `None` where that may change by itself.
    fn pre_enqueue_inputs(&self) -> Option<PreEnqueueInputs>;
    /// Takes down a fact.
    fn record(&mut self, event: Event);
    /// Counts steps, about as those of [`crate::framework::node_steps`].
    fn count_steps(&mut self, steps: u64);
}

/// The objects that `PreEnqueue` plugins read.
#[derive(Clone, Debug)]
pub struct PreEnqueueInputs {
    /// Of GangScheduling.
    pub pod_groups: Store<PodGroup>,
    /// Of DynamicResources.
    pub resource_claims: Store<ResourceClaim>,
}

impl PreEnqueueInputs {
    /// Whether nothing was changed between the two; may be `false` where nothing was.
    pub fn is_same(&self, other: &Self) -> bool {
        self.pod_groups.is_same(&other.pod_groups) && self.resource_claims.is_same(&other.resource_claims)
    }
}

/// The settings of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// `podInitialBackoffSeconds`.
    pub pod_initial_backoff: Duration,
    /// `podMaxBackoffSeconds`; zero switches backoff off.
    pub pod_max_backoff: Duration,
    /// Longest stay in unschedulablePods.
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
            pod_max_in_unschedulable_pods: emulation.behaviour().queue.leftover,
            emulation,
        }
    }
}

/// The pod cannot return to the queue, because it is queued already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Pod {pod} is already present in the {queue} queue")]
pub struct AlreadyQueued {
    pub pod: Key,
    /// `active`, `backoff` or `unschedulable`.
    pub queue: &'static str,
}

/// The three queues, the pods in flight and the nominator.
#[derive(Clone, Debug)]
pub struct SchedulingQueue {
    pub(super) config: QueueConfig,
    hints: Arc<HintMap>,
    active: Journaled<ActiveQueue>,
    backoff: Journaled<BackoffQueue>,
    /// Parked and gated pods.
    unschedulable: Journaled<UnschedulablePods>,
    in_flight: InFlight,
    nominator: Nominator,
    nominated: NominatedPods,
    /// The next sequence number.
    sequence: u64,
    scheduling_cycle: u64,
    /// The cycle of the last event, in releases without queueing hints.
    move_request_cycle: Option<u64>,
    view: QueuesView,
    /// The group that was popped last, until it returns, where groups are queued as one.
    popped_group: Option<Key>,
    /// Its pods that came back, with their places, until it returns.
    returning: Journaled<OrdMap<Key, Member>>,
    /// The groups that passed `PreEnqueue`, where groups are queued as one.
    passed: OrdMap<Key, Passed>,
    last_pod: LastPod,
}

impl SchedulingQueue {
    /// Creates an empty queue.
    pub fn new(config: QueueConfig, hints: HintMap) -> Self {
        let windows = config.emulation.enabled(Gate::SchedulerPopFromBackoffQ);
        Self {
            config,
            hints: Arc::new(hints),
            active: Journaled::default(),
            backoff: BackoffQueue::new(
                config.pod_initial_backoff,
                config.pod_max_backoff,
                windows,
                config.emulation.behaviour().queue.backoff,
            )
            .into(),
            unschedulable: Journaled::default(),
            in_flight: InFlight::default(),
            nominator: Nominator::default(),
            nominated: NominatedPods::default(),
            sequence: 0,
            scheduling_cycle: 0,
            move_request_cycle: None,
            view: QueuesView::default(),
            popped_group: None,
            returning: Journaled::default(),
            passed: OrdMap::new(),
            last_pod: LastPod::default(),
        }
    }

    /// Returns the place of every pod: all recorded events, folded. Only the queue may record the events of
    /// [`QueuesView::apply`].
    pub fn view(&self) -> &QueuesView {
        &self.view
    }

    /// Returns the number of pods popped so far.
    pub fn scheduling_cycle(&self) -> u64 {
        self.scheduling_cycle
    }

    /// Returns the registrations of the plugins.
    pub fn hints(&self) -> &HintMap {
        &self.hints
    }

    /// Returns activeQ in the order of popping.
    pub fn active_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.active.iter()
    }

    /// Returns backoffQ, both heaps, in order of the end of the backoff, then as activeQ.
    pub fn backoff_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.backoff.iter()
    }

    /// Returns unschedulablePods with the gated pods, by namespace and name.
    pub fn unschedulable_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.unschedulable.values()
    }

    /// Returns the pods that were popped and have neither returned nor left, by uid; without those that wait on Permit.
    pub fn in_flight_pods(&self) -> impl Iterator<Item = &Arc<QueuedPodInfo>> {
        self.in_flight.attempts().filter(|(_, node)| node.is_none()).map(|(info, _)| info)
    }

    /// Returns the pods that wait on Permit with their node, by uid.
    pub fn waiting_on_permit_pods(&self) -> impl Iterator<Item = (&Arc<QueuedPodInfo>, &Str)> {
        self.in_flight.attempts().filter_map(|(info, node)| Some((info, node?)))
    }

    /// Returns the pod that [`Self::pop`] would take.
    pub fn next_to_pop(&self) -> Option<&Arc<QueuedPodInfo>> {
        self.active.iter().next().or_else(|| self.backoff.first_rejected().filter(|_| self.pops_from_backoff()))
    }

    /// Returns the sizes of activeQ, backoffQ and unschedulablePods.
    pub fn len(&self) -> (usize, usize, usize) {
        (self.active.len(), self.backoff.len(), self.unschedulable.len())
    }

    /// Whether the three queues are empty; pods in flight do not count.
    pub fn is_empty(&self) -> bool {
        self.len() == (0, 0, 0)
    }

    /// Returns a queued pod by namespace and name, or one that returns with its group.
    pub fn get(&self, key: &Key) -> Option<&Arc<QueuedPodInfo>> {
        self.queued(key).map(|(info, _)| info).or_else(|| self.returning.get(key).map(|(info, _)| info))
    }

    /// Returns a queued pod with its place.
    fn queued(&self, key: &Key) -> Option<(&Arc<QueuedPodInfo>, Place)> {
        let parked = self.unschedulable.get(key).map(|info| (info, unschedulable_place(info)));
        let in_backoff = || self.backoff.get(key).map(|info| (info, self.backoff_place(info)));
        parked.or_else(|| self.active.get(key).map(|info| (info, Place::Active))).or_else(in_backoff)
    }

    /// Returns the end of a pod's backoff: a whole second if `SchedulerPopFromBackoffQ` is on. `None` for a pod without
    /// backoff.
    pub fn backoff_expiration(&self, info: &QueuedPodInfo) -> Option<Timestamp> {
        Some(self.backoff.expiration(info)).filter(|end| *end != Timestamp::MIN)
    }

    /// Returns the pods nominated to a node, in order of nomination, as they are queued. A nominated pod in no queue
    /// counts with its name only, as in kube-scheduler from 1.31 on.
    pub fn nominated_pods_for_node(&self, node: &str) -> Vec<Arc<PodInfo>> {
        self.nominated_to(node, hash_of(node)).map_or_else(Vec::new, |nominated| nominated.pods().to_vec())
    }

    /// Does the same, given the hash of the node's name; `None` if no pod is nominated to it.
    pub(super) fn nominated_to(&self, node: &str, name_hash: u64) -> Option<Arc<Nominated>> {
        let bare = |r: &nominator::PodRef| {
            let metadata = Meta { name: r.key.name.clone(), namespace: r.key.namespace.clone(), uid: r.uid.clone(), ..Meta::default() };
            Arc::new(PodInfo::new(Arc::new(Pod { metadata, ..Pod::default() })))
        };
        let info = |r: &nominator::PodRef| match self.get(&r.key) {
            Some(queued) => queued.pod_info.clone(),
            None if self.config.emulation.behaviour().queue.nominated_pods_kept => {
                Arc::new(PodInfo::with_emulation(r.pod.clone(), self.config.emulation))
            }
            None => bare(r),
        };
        let pods = [self.active.journal(), self.backoff.journal(), self.unschedulable.journal(), self.returning.journal()];
        let touched = Touched { pods, nodes: self.nominator.journal() };
        self.nominated.on_node(node, name_hash, touched, || self.nominator.on_node(node).map(info).collect())
    }

    /// Returns whether a pod may be nominated to a node whose name has this hash; `false` is certain, `true` is not.
    pub fn may_be_nominated_to(&self, name_hash: u64) -> bool {
        self.nominator.may_be_on(name_hash)
    }

    /// Returns all nominations, as pod and node, by node.
    pub fn nominations(&self) -> impl Iterator<Item = (&Key, &Str)> {
        self.nominator.iter()
    }

    /// Returns whether any pod is nominated to a node.
    pub fn has_nominations(&self) -> bool {
        !self.nominator.is_empty()
    }

    /// Returns the node that a pod is nominated to, if any.
    pub fn nominated_node(&self, pod: &Pod) -> Option<&Str> {
        self.nominator.node_of(pod)
    }

    /// Registers a pod's nomination, as the failure handler does after it has requeued the pod. Records a chosen node
    /// even if the pod was nominated to it before.
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

    /// Removes a pod's nomination, as when the pod is assumed.
    pub fn delete_nominated_pod_if_exists(&mut self, env: &mut dyn QueueEnv, pod: &Pod) {
        self.change_nomination(env, pod, false, |n| n.delete(pod));
    }

    /// Follows a nomination that an update of the object names or takes away, without a record.
    pub fn follow_nomination(&mut self, old: &Pod, new: &Pod) {
        if old.status.nominated_node_name != new.status.nominated_node_name {
            self.nominator.update(old, new, Some(new));
        }
    }

    fn update_nominated_pod(&mut self, env: &mut dyn QueueEnv, old: &Pod, new: &Pod) {
        let informer = env.informer_pod(&new.key());
        self.change_nomination(env, new, true, |n| n.update(old, new, informer.as_deref()));
    }

    /// Changes a nomination, and records the change if it is visible. `by_update` says that the object lost the field,
    /// as preemption does to pods of lower priority.
    fn change_nomination(&mut self, env: &mut dyn QueueEnv, pod: &Pod, by_update: bool, change: impl FnOnce(&mut Nominator)) {
        let before = self.nominator.node_of(pod).cloned();
        change(&mut self.nominator);
        let after = self.nominator.node_of(pod).cloned();
        // The name may belong to a new pod by now.
        let known = self.get(&pod.key()).or_else(|| self.in_flight.attempt(pod));
        if before == after || known.is_none_or(|k| ObjectId::of_pod(k.pod()) != ObjectId::of_pod(pod)) {
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
        env.count_steps(moves::STEPS_OF_MOVE);
        let (pod, new) = (info.key(), from.is_none());
        let cause = match cause {
            MoveCause::Cluster(event) => MoveCause::Cluster(event.named(self.config.emulation.behaviour().queue.event_names)),
            other => other,
        };
        let order = QueueOrder { priority: info.pod().priority(), timestamp: info.timestamp, sequence: info.sequence };
        let plugins = info.rejectors();
        self.record(env, Event::QueueMoved(Box::new(QueueMove { pod, from, to, cause, plugin, order, plugins })));
        // A pod that had left the queues may still have a nomination.
        if let Some(node) = self.nominator.node_of(info.pod()).filter(|_| new).cloned() {
            self.record(env, Event::PodNominated { pod: info.key(), node });
        }
    }

    /// Returns the queue of a pod; `None` also while it is in flight.
    fn place(&self, key: &Key) -> Option<Place> {
        self.queued(key).map(|(_, place)| place)
    }

    fn backoff_place(&self, info: &QueuedPodInfo) -> Place {
        Place::Backoff { expires: self.backoff.expiration(info), error: backoff_queue::is_in_error_heap(info) }
    }

    /// Removes a pod from its queue.
    fn take(&mut self, key: &Key) -> Option<Arc<QueuedPodInfo>> {
        let queued = self.place(key)?;
        match queued {
            Place::Active => self.active.of(key).remove(key),
            Place::Backoff { .. } => self.backoff.of(key).remove(key),
            _ => self.unschedulable.of(key).remove(key),
        }
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
