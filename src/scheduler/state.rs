//! The whole state of the scheduler, and the queue's access to it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use jiff::{SignedDuration, Timestamp};

use super::cycle::WaitingPod;
use super::event_handlers::{HandlerEnv, HandlerStep, handle_change, unscheduled_pod_added};
use super::object_id::ObjectId;
use super::observed::QueuePlaceInference;
use super::queue::{HintMap, Nominated, PlaceInLog, PreEnqueueInputs, QueueConfig, QueueEnv, SchedulingQueue};
use super::runtime::Nominations;
use super::{Cache, Config};
use crate::cluster::{Cluster, Key, Object, ObjectsByName, ObservedEvent, Pod, Str};
use crate::framework::{Change, ClusterEvent, Context, PluginName, Snapshot, Status, is_same_pod};
use crate::plugins::rejection_of_group;
use crate::release::{Emulation, Gate};
use crate::trace::{Event, ObjectChange};

/// The scheduler's memory and the objects of the API server. Clones share their contents.
#[derive(Clone, Debug)]
pub struct State {
    /// Profiles, gates, backoff.
    pub(super) config: Arc<Config>,
    /// The objects of the API server.
    pub(super) cluster: Cluster,
    /// Nodes with bound and assumed pods.
    pub(super) cache: Cache,
    pub(super) queue: SchedulingQueue,
    /// The virtual time.
    pub(super) clock: Timestamp,
    /// The initial virtual time.
    pub(super) start: Timestamp,
    /// The pods that were pending at the start, in order of arrival.
    arrivals: Arc<[Key]>,
    /// Attempts so far.
    pub(super) cycle: u64,
    /// Index into the snapshot at which the next search starts.
    pub(super) next_start_node_index: usize,
    /// Counts the pods that were scored, in releases that rotate among equal scores.
    pub(super) last_node_index: u64,
    /// Steps of all attempts so far, about.
    pub(super) steps: u64,
    /// The same of moves between queues.
    queue_steps: u64,
    /// Pods, by `pod_id`, whose victims are being evicted; names the last victim once only that one is left.
    pub(super) preempting: OrdMap<ObjectId, Option<Key>>,
    /// Pods that wait on Permit.
    pub(super) waiting: OrdMap<Key, Arc<WaitingPod>>,
    /// Pods that the end of their grace period will delete, by that time.
    pub(super) terminating: OrdSet<(Timestamp, Key)>,
}

/// Gives the queue and the handlers access to the rest of the state, for one call.
struct Env<'a> {
    config: &'a Config,
    cluster: &'a Cluster,
    cache: &'a Cache,
    snapshot: Snapshot,
    clock: &'a mut Timestamp,
    preempting: &'a OrdMap<ObjectId, Option<Key>>,
    events: &'a mut Vec<Event>,
    steps: &'a mut u64,
}

impl QueueEnv for Env<'_> {
    fn now(&self) -> Timestamp {
        *self.clock
    }
    fn set_now(&mut self, now: Timestamp) {
        *self.clock = now;
    }
    fn context(&self) -> Context<'_> {
        Context { cluster: self.cluster, snapshot: &self.snapshot, emulation: self.config.emulation, now: *self.clock }
    }
    fn informer_pod(&self, key: &Key) -> Option<Arc<Pod>> {
        self.cluster.pods.get(key).filter(|p| !p.is_terminal()).cloned()
    }
    fn pre_enqueue(&self, pod: &Pod, first: Option<PluginName>) -> Option<(PluginName, Status)> {
        let framework = self.config.profile(&pod.spec.scheduler_name)?;
        let preempting = self.is_running_preemption(pod);
        let first = first.filter(|_| self.config.emulation.behaviour().queue.gating_plugin_first);
        let status = framework.run_pre_enqueue(&self.context(), pod, preempting, first)?;
        Some((status.plugin()?, status))
    }
    fn pre_enqueue_inputs(&self) -> Option<PreEnqueueInputs> {
        // A preemption under way ends with its last victim.
        let (pod_groups, resource_claims) = (self.cluster.pod_groups.clone(), self.cluster.resource_claims.clone());
        self.preempting.is_empty().then_some(PreEnqueueInputs { pod_groups, resource_claims })
    }
    fn record(&mut self, event: Event) {
        self.events.push(event);
    }
    fn count_steps(&mut self, steps: u64) {
        *self.steps = self.steps.saturating_add(steps);
    }
}

impl Env<'_> {
    /// Mirrors `isRunningPreemption` in `pkg/scheduler/framework/preemption/executor.go`: a preemption ends when its
    /// last victim terminates, before the call that deletes it returns, so that the event is not missed.
    fn is_running_preemption(&self, pod: &Pod) -> bool {
        if self.preempting.is_empty() {
            return false;
        }
        let by_group = self.config.emulation.enabled(Gate::WorkloadAwarePreemption);
        let id = match pod.group_key().filter(|_| by_group) {
            None => ObjectId::of_pod(pod),
            Some(group) => match self.cluster.pod_groups.get(&group) {
                Some(group) => ObjectId::of_group(group),
                None => return false,
            },
        };
        match self.preempting.get(&id) {
            None => false,
            Some(None) => true,
            Some(Some(last)) => self.informer_pod(last).is_some_and(|victim| !victim.is_terminating()),
        }
    }
}

impl HandlerEnv for Env<'_> {
    fn handles_scheduler_name(&self, name: &Str) -> bool {
        self.config.profile(name).is_some()
    }
    fn is_assumed_pod(&self, pod: &Pod) -> bool {
        self.cache.is_assumed(pod)
    }
    fn emulation(&self) -> Emulation {
        self.config.emulation
    }
    fn cluster(&self) -> &Cluster {
        self.cluster
    }
}

impl Nominations for SchedulingQueue {
    fn nominated(&self, node: &str, name_hash: u64) -> Option<Arc<Nominated>> {
        self.nominated_to(node, name_hash)
    }
    fn any(&self) -> bool {
        self.has_nominations()
    }
    fn may_be_on(&self, name_hash: u64) -> bool {
        self.may_be_nominated_to(name_hash)
    }
}

impl QueueConfig {
    fn of(config: &Config) -> Self {
        Self {
            pod_initial_backoff: std::time::Duration::from_secs(config.pod_initial_backoff_seconds.unsigned_abs()),
            pod_max_backoff: std::time::Duration::from_secs(config.pod_max_backoff_seconds.unsigned_abs()),
            pod_max_in_unschedulable_pods: config.emulation.behaviour().queue.leftover,
            emulation: config.emulation,
        }
    }
}

impl State {
    /// Starts a scheduler on a cluster. Pending pods of its profiles enter the queue in the order given. Without
    /// `events` they arrive 1 ms apart, the last at `start`; with them each enters where it is inferred to wait at `start`. Pods of
    /// other schedulers enter no queue.
    pub fn new(config: Arc<Config>, objects: Vec<Object>, start: Timestamp, events: Option<&Vec<ObservedEvent>>) -> Self {
        let queue_config = QueueConfig::of(&config);
        let limit = SignedDuration::try_from(queue_config.pod_max_in_unschedulable_pods).unwrap_or(SignedDuration::MAX);
        let with_extenders = !config.extenders.list().is_empty();
        let plugins: Vec<_> = config.profiles.iter().map(|p| (p.name.clone(), p.plugin_events(config.emulation, with_extenders))).collect();
        let hints = HintMap::new(&plugins, config.emulation);
        let pods = objects.iter().filter_map(|o| if let Object::Pod(p) = o { Some(p) } else { None });
        let pending: Vec<Key> = pods.filter(|p| p.is_pending()).map(|p| p.key()).collect();
        let terminating = objects.iter().filter_map(grace_period_end).collect();
        let observer = events.map(|events| QueuePlaceInference::new(events, start, limit));
        let objects: ObjectsByName = objects.into_iter().collect();
        let cache = Cache::load(&objects, config.emulation);
        let mut state = Self {
            queue: SchedulingQueue::new(queue_config, hints),
            config,
            cluster: objects.into(),
            cache,
            clock: start,
            start,
            arrivals: pending.as_slice().into(),
            cycle: 0,
            next_start_node_index: 0,
            last_node_index: 0,
            steps: 0,
            queue_steps: 0,
            preempting: OrdMap::new(),
            waiting: OrdMap::new(),
            terminating,
        };
        // The queue's view has folded in these events already, and the trace begins at the start.
        let mut unseen = Vec::new();
        let pods = pending.iter().enumerate().filter_map(|(i, key)| Some((i, state.cluster.pods.get(key)?.clone())));
        let coming: Vec<_> = pods.filter(|(_, pod)| state.config.profile(&pod.spec.scheduler_name).is_some()).collect();
        match observer {
            Some(observer) => {
                // The scheduler has met them all.
                for (_, pod) in &coming {
                    state.track_group(&HandlerStep::QueueAdd(pod.clone()));
                }
                for (_, pod) in coming {
                    let observed = observer.observe(&state.cluster, &pod);
                    state.with_queue(&mut unseen, |queue, env| queue.place_as_observed(env, &pod, observed));
                    unseen.clear();
                }
            }
            None => {
                let mut groups = ComingGroups::of(&coming);
                let mut left = coming.len();
                for (i, pod) in coming {
                    let before = SignedDuration::from_millis(i64::try_from(pending.len() - 1 - i).unwrap_or(i64::MAX));
                    state.clock = start.checked_sub(before).unwrap_or(start);
                    left -= 1;
                    state.take_coming(&pod, groups.came(&pod), left > 0, &mut unseen);
                    unseen.clear();
                }
            }
        }
        state.clock = start;
        state
    }

    /// Adds a pod that was pending before the start. `of_group` says whether more pods of its group are to come, `more` whether any are.
    ///
    /// A pod that comes offers an event to all parked pods, each of which is gated here. The event changes nothing for those of other
    /// groups, and nothing for those of its own group until enough of its pods are there, so that it is left to the last pod of
    /// each: the steps would grow with the square of the pods.
    fn take_coming(&mut self, pod: &Arc<Pod>, of_group: bool, more: bool, events: &mut Vec<Event>) {
        let is_kept_out = |state: &Self| {
            let group = pod.group_key()?;
            Some(rejection_of_group(&state.cluster, &state.cache.pod_groups, &group).is_some())
        };
        let was_kept_out = is_kept_out(self);
        for step in add_pod(self.config.emulation, pod.clone()) {
            match step {
                HandlerStep::Move { event, change, .. } if of_group && is_kept_out(self) == was_kept_out => {
                    self.with_queue(events, |queue, env| queue.move_one(env, event, &change, pod));
                }
                HandlerStep::Move { event, change, .. } if more => {
                    self.with_queue(events, |queue, env| queue.move_group_of(env, event, &change, pod));
                }
                step => self.handle(step, events),
            }
        }
    }

    /// Infers the places of pending pods again; see [`super::Operation::Observe`].
    pub(super) fn observe(&mut self, time: Timestamp, pods: &[Key], seen: &[ObservedEvent], events: &mut Vec<Event>) {
        let start = self.start;
        self.with_queue(events, |queue, env| queue.advance(env, start, time));
        let limit = SignedDuration::try_from(self.queue.config.pod_max_in_unschedulable_pods).unwrap_or(SignedDuration::MAX);
        let observer = QueuePlaceInference::new(seen, self.clock.max(time), limit);
        for key in pods {
            let Some(pod) = self.cluster.pods.get(key).cloned() else { continue };
            if !pod.is_pending() || self.config.profile(&pod.spec.scheduler_name).is_none() {
                continue;
            }
            let observed = observer.observe(&self.cluster, &pod);
            self.with_queue(events, |queue, env| queue.place_as_observed(env, &pod, observed));
        }
    }

    /// Places pending pods where the scheduler's log shows them; see [`super::Operation::TakeLog`].
    pub(super) fn observe_log(&mut self, time: Timestamp, places: &[PlaceInLog], events: &mut Vec<Event>) {
        let start = self.start;
        self.with_queue(events, |queue, env| queue.advance(env, start, time));
        for logged in places {
            let Some(pod) = self.cluster.pods.get(&logged.pod).cloned() else { continue };
            if pod.is_pending() && self.config.profile(&pod.spec.scheduler_name).is_some() {
                self.with_queue(events, |queue, env| queue.place_as_logged(env, &pod, logged));
            }
        }
    }

    /// Returns the objects of the API server.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Returns the nodes as the next cycle would read them.
    pub fn snapshot(&self) -> Snapshot {
        self.cache.snapshot()
    }

    pub fn queue(&self) -> &SchedulingQueue {
        &self.queue
    }

    /// Returns the virtual time.
    pub fn clock(&self) -> Timestamp {
        self.clock
    }

    /// Returns about how many steps all attempts and moves between queues so far took, by [`crate::framework::node_steps`]. Only differences say something.
    pub fn steps(&self) -> u64 {
        self.steps.saturating_add(self.queue_steps)
    }

    /// Returns the index of the node where the next search starts.
    pub fn next_start_node_index(&self) -> usize {
        self.next_start_node_index
    }

    /// Returns the initial virtual time.
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// Returns the pods that were pending at the start, in order of arrival.
    pub fn arrivals(&self) -> &[Key] {
        &self.arrivals
    }

    /// Returns profiles, gates and backoff.
    pub fn config(&self) -> &Arc<Config> {
        &self.config
    }

    /// Returns the nominations in the scheduler's memory, by pod.
    pub fn nominations(&self) -> BTreeMap<Key, Str> {
        self.queue.nominations().filter(|(_, node)| !node.is_empty()).map(|(pod, node)| (pod.clone(), node.clone())).collect()
    }

    /// Calls the queue with access to the rest of the state.
    pub(super) fn with_queue<R>(&mut self, events: &mut Vec<Event>, act: impl FnOnce(&mut SchedulingQueue, &mut dyn QueueEnv) -> R) -> R {
        let mut env = Env {
            config: &self.config,
            cluster: &self.cluster,
            cache: &self.cache,
            snapshot: self.cache.snapshot(),
            clock: &mut self.clock,
            preempting: &self.preempting,
            events,
            steps: &mut self.queue_steps,
        };
        act(&mut self.queue, &mut env)
    }

    /// Applies an addition, update or deletion of an object to the cluster, and runs the event handlers.
    #[allow(clippy::needless_pass_by_value, reason = "the new object goes into the cluster")]
    pub(super) fn on_api_event(&mut self, old: Option<Object>, new: Option<Object>, events: &mut Vec<Event>) {
        let Some(object) = new.as_ref().or(old.as_ref()) else { return };
        let change = match (&old, &new) {
            (None, _) => ObjectChange::Added,
            (_, None) => ObjectChange::Deleted,
            _ => ObjectChange::Updated,
        };
        events.push(Event::ObjectChanged { kind: object.kind(), key: object.key(), change });
        let steps = self.take_object(old.as_ref(), new.as_ref());
        for step in steps {
            self.handle(step, events);
        }
        // Ends the wait of a pod that was bound elsewhere and then deleted, or replaced by another of its name.
        // kube-scheduler would let it wait until its deadline.
        let stays = |old: &Pod| matches!(&new, Some(Object::Pod(new)) if is_same_pod(old, new));
        if let Some(Object::Pod(pod)) = old.as_ref().filter(|o| matches!(o, Object::Pod(p) if !stays(p))) {
            self.reject_removed(&pod.key(), events);
        }
    }

    /// Applies a change of an object to the cluster, and returns the steps for cache and queue.
    pub(super) fn take_object(&mut self, old: Option<&Object>, new: Option<&Object>) -> Vec<HandlerStep> {
        let Some(object) = new.or(old) else { return Vec::new() };
        if let Some(end) = old.and_then(grace_period_end) {
            self.terminating.remove(&end);
        }
        self.terminating.extend(new.and_then(grace_period_end));
        match (new, object) {
            (Some(Object::PodDisruptionBudget(budget)), _) => self.cache.budgets.insert(budget),
            (None, Object::PodDisruptionBudget(budget)) => self.cache.budgets.remove(&budget.metadata.key()),
            _ => {}
        }
        match new {
            Some(object) => drop(self.cluster.insert(object.clone())),
            None => drop(self.cluster.remove(object.kind(), &object.key())),
        }
        let mut clock = self.clock;
        let env = Env {
            config: &self.config,
            cluster: &self.cluster,
            cache: &self.cache,
            snapshot: Snapshot::default(),
            clock: &mut clock,
            preempting: &self.preempting,
            events: &mut Vec::new(),
            steps: &mut 0,
        };
        handle_change(&env, old, new)
    }

    /// Deletes the pod whose grace period ends first.
    pub(super) fn end_grace_period(&mut self, events: &mut Vec<Event>) {
        let Some((_, key)) = self.terminating.remove_min() else { return };
        let Some(pod) = self.cluster.pods.get(&key).cloned() else { return };
        events.push(Event::GracePeriodEnded { pod: pod.key(), node: pod.node_name.clone() });
        self.on_api_event(Some(Object::Pod(pod)), None, events);
    }

    pub(super) fn handle(&mut self, step: HandlerStep, events: &mut Vec<Event>) {
        self.track_group(&step);
        match step {
            HandlerStep::CacheAddNode(node) => self.cache.add_nodes([node]),
            HandlerStep::CacheUpdateNode { new, .. } => self.cache.update_node(&new),
            HandlerStep::CacheRemoveNode(node) => self.cache.remove_node(node.name()),
            HandlerStep::CacheAddPod(pod) => {
                // The API server's object replaces an assumed pod, whatever its node.
                let emulation = self.config.emulation;
                let info = match self.cache.forget(&pod) {
                    Some(assumed) => Arc::new(assumed.like(pod, emulation)),
                    None => self.cache.last_pod.parse(pod, emulation),
                };
                self.cache.add_pod(info);
            }
            HandlerStep::CacheUpdatePod { old, new } => {
                self.cache.remove_pod(&old);
                let info = self.cache.last_pod.parse(new, self.config.emulation);
                self.cache.add_pod(info);
            }
            HandlerStep::CacheRemovePod(pod) => drop(self.cache.remove_pod(&pod)),
            HandlerStep::QueueAdd(pod) => self.with_queue(events, |queue, env| queue.add(env, pod)),
            HandlerStep::QueueUpdate { old, new } => self.with_queue(events, |queue, env| queue.update(env, &old, &new)),
            HandlerStep::QueueDelete(pod) => self.with_queue(events, |queue, env| queue.delete(env, &pod)),
            HandlerStep::AssumedPodDeleted(pod) => {
                let key = pod.key();
                let waits = self.waiting.get(&key).is_some_and(|w| w.is(&pod));
                let assumed = if waits { self.cache.assumed(&pod).cloned() } else { self.cache.forget(&pod) };
                if let Some(assumed) = assumed {
                    let change = Change { old: Some(Object::Pod(assumed.pod.clone())), new: None };
                    self.move_all(ClusterEvent::ASSIGNED_POD_DELETE, &change, None, events);
                }
                if waits {
                    // Its binding learns of the deletion concurrently with the handler, and so after it.
                    self.reject_removed(&key, events);
                }
            }
            HandlerStep::Move { event, change, whom } => {
                self.with_queue(events, |queue, env| queue.move_concerned(env, event, &change, whom));
            }
        }
    }

    pub(super) fn move_all(&mut self, event: ClusterEvent, change: &Change, max_priority: Option<i32>, events: &mut Vec<Event>) {
        self.with_queue(events, |queue, env| queue.move_all_to_active_or_backoff_queue(env, event, change, max_priority));
    }
}

/// How many pods of each pod group are still to come at the start.
struct ComingGroups(HashMap<Key, usize>);

impl ComingGroups {
    fn of(pods: &[(usize, Arc<Pod>)]) -> Self {
        let mut coming = HashMap::new();
        for group in pods.iter().filter_map(|(_, pod)| pod.group_key()) {
            *coming.entry(group).or_default() += 1;
        }
        Self(coming)
    }

    /// Counts a pod that comes, and returns whether more pods of its group are to come.
    fn came(&mut self, pod: &Pod) -> bool {
        let Some(coming) = pod.group_key().and_then(|group| self.0.get_mut(&group)) else { return false };
        *coming -= 1;
        *coming > 0
    }
}

/// Returns the steps for a new pod without a node.
fn add_pod(emulation: Emulation, pod: Arc<Pod>) -> impl Iterator<Item = HandlerStep> {
    let announced = emulation.enabled(Gate::GangScheduling).then(|| unscheduled_pod_added(&pod));
    std::iter::once(HandlerStep::QueueAdd(pod)).chain(announced)
}

/// Returns when a terminating pod will be deleted by itself; `None` for everything else. A pod without a node has no
/// kubelet to stop it; one with finalizers waits for their removal.
fn grace_period_end(object: &Object) -> Option<(Timestamp, Key)> {
    let Object::Pod(pod) = object else { return None };
    let time = pod.metadata.deletion_timestamp.filter(|_| !pod.node_name.is_empty() && pod.metadata.finalizers.is_empty())?;
    Some((time, pod.key()))
}
