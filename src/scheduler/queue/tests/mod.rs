//! Tests of the queue as a whole, with plugins that the tests control.

mod flows;
mod groups;
mod properties;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{AlreadyQueued, HintMap, PreEnqueueInputs, QueueConfig, QueueEnv, SchedulingQueue};
use crate::cluster::{Cluster, Key, Node, Object, Pod, Str};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, EventResource, HintError, Plugin, PluginName, QueuedPodInfo,
    QueueingHint, Snapshot, Status,
};
use crate::plugins::scheduling_gates::SchedulingGates;
use crate::release::{Emulation, Gate};
use crate::trace::{Event, GroupGate, Place, QueuesView};

/// The environment of the queue: a clock, the existing pods, their rejections at `PreEnqueue`, and the recorded events.
#[derive(Clone, Debug, Default)]
struct World {
    now: Timestamp,
    cluster: Cluster,
    snapshot: Snapshot,
    /// By pod, the plugins that reject it, in profile order.
    refusals: BTreeMap<Key, Vec<PluginName>>,
    events: Vec<Event>,
    steps: u64,
}

impl QueueEnv for World {
    fn now(&self) -> Timestamp {
        self.now
    }
    fn set_now(&mut self, now: Timestamp) {
        assert!(now >= self.now, "time goes back from {} to {now}", self.now);
        self.now = now;
    }
    fn context(&self) -> Context<'_> {
        Context { cluster: &self.cluster, snapshot: &self.snapshot, emulation: Emulation::default(), now: self.now }
    }
    fn informer_pod(&self, key: &Key) -> Option<Arc<Pod>> {
        self.cluster.pods.get(key).cloned()
    }
    fn pre_enqueue(&self, pod: &Pod, first: Option<PluginName>) -> Option<(PluginName, Status)> {
        let refusing = self.refusals.get(&pod.key())?;
        let plugin = first.filter(|p| refusing.contains(p)).or_else(|| refusing.first().copied())?;
        Some((plugin, Status::unresolvable("not yet")))
    }
    fn pre_enqueue_inputs(&self) -> Option<PreEnqueueInputs> {
        let (pod_groups, resource_claims) = (self.cluster.pod_groups.clone(), self.cluster.resource_claims.clone());
        Some(PreEnqueueInputs { pod_groups, resource_claims })
    }
    fn record(&mut self, event: Event) {
        self.events.push(event);
    }
    fn count_steps(&mut self, steps: u64) {
        self.steps += steps;
    }
}

/// Fit's hint reads the new node's label `help`; `NodeName` registers for new nodes and, by the extra registration, for
/// taints.
fn hints() -> HintMap {
    let event = |resource, action| ClusterEvent::new(resource, action);
    let fit = ClusterEventWithHint {
        event: event(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_TAINT)),
        hint: Some(Arc::new(|_, _, change| match &change.new {
            Some(Object::Node(node)) => match node.metadata.labels.get("help").map(Str::as_str) {
                Some("yes") => Ok(QueueingHint::Queue),
                Some("broken") => Err(HintError::plugin("cannot tell")),
                _ => Ok(QueueingHint::QueueSkip),
            },
            _ => Ok(QueueingHint::QueueSkip),
        })),
    };
    let toleration = ClusterEventWithHint {
        event: event(EventResource::Pod, ActionType::UPDATE_POD_TOLERATION),
        hint: Some(Arc::new(|_, pod, change| match &change.new {
            Some(Object::Pod(new)) if new.metadata.uid == pod.metadata.uid => Ok(QueueingHint::Queue),
            _ => Ok(QueueingHint::QueueSkip),
        })),
    };
    let label = ClusterEventWithHint { event: event(EventResource::Pod, ActionType::UPDATE_POD_LABEL), hint: None };
    let plain_update = ClusterEventWithHint { event: event(EventResource::Pod, ActionType::UPDATE), hint: None };
    let deletion = ClusterEventWithHint { event: event(EventResource::Pod, ActionType::DELETE), hint: None };
    let never = ClusterEventWithHint {
        event: event(EventResource::Pod, ActionType::DELETE),
        hint: Some(Arc::new(|_, _, _| Ok(QueueingHint::QueueSkip))),
    };
    let node_add = ClusterEventWithHint { event: event(EventResource::Node, ActionType::ADD), hint: None };
    let profile = vec![
        (PluginName::NodeResourcesFit, Some(vec![fit])),
        (PluginName::NodeName, Some(vec![node_add])),
        (PluginName::TaintToleration, Some(vec![toleration])),
        (PluginName::InterPodAffinity, Some(vec![label])),
        (PluginName::NodeDeclaredFeatures, Some(vec![plain_update])),
        (PluginName::NodePorts, Some(vec![deletion])),
        (PluginName::SchedulingGates, SchedulingGates.events_to_register(Emulation::default())),
        (PluginName::DefaultPreemption, Some(vec![never])),
    ];
    HintMap::new(&[("s".into(), profile)], Emulation::default())
}

/// A queue in its environment; every operation checks the invariants, and the view against the recorded events.
#[derive(Clone, Debug)]
struct Fixture {
    queue: SchedulingQueue,
    world: World,
    /// The fold of the events of all operations so far.
    folded: QueuesView,
    popped: BTreeMap<Key, QueuedPodInfo>,
}

impl Fixture {
    fn new() -> Self {
        Self::with_emulation(&[])
    }

    /// Makes the queue of a release.
    fn of(version: &str) -> Self {
        let emulation = crate::release::Profile::named(version).expect("an emulated release").into();
        let queue = SchedulingQueue::new(QueueConfig { emulation, ..QueueConfig::default() }, hints());
        Self { queue, world: World::default(), folded: QueuesView::default(), popped: BTreeMap::new() }
    }

    fn with_emulation(off: &[Gate]) -> Self {
        let mut config = QueueConfig::default();
        for gate in off {
            config.emulation.set(*gate, false);
        }
        let queue = SchedulingQueue::new(config, hints());
        Self { queue, world: World::default(), folded: QueuesView::default(), popped: BTreeMap::new() }
    }

    /// Runs one operation and checks the invariants.
    fn run<T>(&mut self, operation: impl FnOnce(&mut SchedulingQueue, &mut World) -> T) -> T {
        self.world.events.clear();
        let result = operation(&mut self.queue, &mut self.world);
        for event in &self.world.events {
            self.folded.apply(event);
        }
        self.check();
        result
    }

    fn check(&self) {
        assert_eq!(&self.folded, self.queue.view(), "recorded events and view differ");
        let queue = &self.queue;
        let active = queue.active_pods().map(|i| (i, Place::Active));
        let backoff = queue.backoff_pods().map(|i| (i, queue.backoff_place(i)));
        let unschedulable = queue.unschedulable_pods().map(|i| (i, super::unschedulable_place(i)));
        let in_flight = queue.in_flight_pods().map(|i| (i, Place::InFlight));
        let mut places: BTreeMap<Key, (Place, &QueuedPodInfo)> = BTreeMap::new();
        for (info, place) in active.chain(backoff).chain(unschedulable).chain(in_flight) {
            let parked = matches!(place, Place::Unschedulable { .. });
            assert!(!parked || !info.rejectors().is_empty() || info.group_size > 0, "{} is parked without a reason", info.key());
            assert!(parked || !info.gated(), "{} is gated", info.key());
            assert!(places.insert(info.key(), (place, info)).is_none(), "{} is in two places", info.key());
        }
        let mut gates: BTreeMap<Key, Arc<GroupGate>> = BTreeMap::new();
        for info in queue.unschedulable_pods() {
            if let (Some(group), Some(plugin)) = (queue.entry_of(info.pod()), info.gating_plugin) {
                let gate = GroupGate { pod: info.key(), plugin };
                let first = gates.entry(group).or_insert_with(|| Arc::new(gate.clone()));
                if gate.pod < first.pod {
                    *first = Arc::new(gate);
                }
            }
        }
        assert!(queue.view().group_gates.iter().eq(gates.iter()), "{:?} and not {gates:?}", queue.view().group_gates);
        let seen: Vec<&Key> = self.queue.view().entries.keys().collect();
        assert_eq!(seen, places.keys().collect::<Vec<_>>());
        for (key, (place, info)) in places {
            let entry = &self.queue.view().entries[&key];
            assert_eq!((&entry.place, entry.attempts), (&place, info.attempts), "{key}");
            assert_eq!(entry.nominated, self.queue.nominated_node(info.pod()).cloned().unwrap_or_default(), "{key}");
            assert_eq!((entry.priority, entry.timestamp, entry.sequence), (info.pod().priority(), info.timestamp, info.sequence), "{key}");
            if place != Place::InFlight {
                assert_eq!(entry.plugins, info.rejectors(), "{key}");
            }
        }
    }

    fn object(name: &str, priority: i32, extra: &str) -> Arc<Pod> {
        let text = format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"d","uid":"u-{name}"}},"spec":{{"schedulerName":"s","priority":{priority}}}{extra}}}"#
        );
        Arc::new(serde_json::from_str(&text).unwrap())
    }

    fn key(name: &str) -> Key {
        Key::new("d", name)
    }

    fn pod(&self, name: &str) -> Arc<Pod> {
        self.world.cluster.pods.get(&Self::key(name)).unwrap().clone()
    }

    fn add_pod(&mut self, pod: &Arc<Pod>) {
        self.world.cluster.insert(Object::Pod(pod.clone()));
        self.run(|q, w| q.add(w, pod.clone()));
    }

    fn add(&mut self, name: &str, priority: i32) -> &mut Self {
        self.add_pod(&Self::object(name, priority, ""));
        self
    }

    /// Changes a pod, as announced by the API server.
    fn update(&mut self, name: &str, change: impl FnOnce(&mut Pod)) {
        let old = self.pod(name);
        let mut new = (*old).clone();
        change(&mut new);
        let new = Arc::new(new);
        self.world.cluster.insert(Object::Pod(new.clone()));
        self.run(|q, w| q.update(w, &old, &new));
    }

    fn delete(&mut self, name: &str) {
        let pod = self.pod(name);
        self.world.cluster.pods.remove(&Self::key(name));
        self.run(|q, w| q.delete(w, &pod));
    }

    fn pop(&mut self) -> Option<String> {
        let info = self.run(|q, w| q.pop(w))?;
        let key = info.key();
        self.popped.insert(key.clone(), (*info).clone());
        Some(key.name.to_string())
    }

    /// Runs the failure handler for the pod popped under that name.
    fn fail(&mut self, name: &str, plugins: &[PluginName]) {
        self.try_fail(name, plugins, &[]).unwrap();
    }

    fn try_fail(&mut self, name: &str, plugins: &[PluginName], pending: &[PluginName]) -> Result<(), AlreadyQueued> {
        let mut info = self.popped.remove(&Self::key(name)).unwrap();
        info.clear_rejector_plugins();
        info.unschedulable_plugins = plugins.iter().copied().collect();
        info.pending_plugins = pending.iter().copied().collect();
        info.update(self.pod(name), Emulation::default());
        self.run(|q, w| q.add_unschedulable_if_not_present(w, info))
    }

    fn leave(&mut self, name: &str, to: Place) {
        let info = self.popped.remove(&Self::key(name)).unwrap();
        self.run(|q, w| q.leave(w, info.pod(), to));
    }

    /// Adds a node whose label `help` has this value.
    fn node(&mut self, help: &str) {
        self.move_all(ClusterEvent::new(EventResource::Node, ActionType::ADD), help, None);
    }

    fn move_all(&mut self, event: ClusterEvent, help: &str, max_priority: Option<i32>) {
        let node: Node = serde_json::from_str(&format!(r#"{{"metadata":{{"labels":{{"help":"{help}"}}}}}}"#)).unwrap();
        let change = Change { old: None, new: Some(Object::Node(Arc::new(node))) };
        self.run(|q, w| q.move_all_to_active_or_backoff_queue(w, event, &change, max_priority));
    }

    fn activate(&mut self, name: &str) {
        let pod = self.pod(name);
        self.run(|q, w| q.activate(w, &[pod]));
    }

    fn advance(&mut self, millis: i64) {
        let to = self.world.now + SignedDuration::from_millis(millis);
        self.run(|q, w| q.advance(w, Timestamp::UNIX_EPOCH, to));
        assert_eq!(self.world.now, to);
    }

    /// Returns a fixture with one pod, popped and parked with these rejectors.
    fn parked(plugins: &[PluginName]) -> Self {
        let mut f = Self::new();
        f.add("p", 0).pop();
        f.fail("p", plugins);
        f
    }

    /// Returns the place of a pod in one word.
    fn place(&self, name: &str) -> String {
        let Some(entry) = self.queue.view().entries.get(&Self::key(name)) else { return "gone".into() };
        match &entry.place {
            Place::Active => "active".into(),
            Place::Backoff { expires, error } => format!("{} {}", if *error { "error" } else { "backoff" }, expires.as_second()),
            Place::Unschedulable { gated_by: Some(plugin), .. } => format!("gated by {plugin}"),
            Place::Unschedulable { .. } => "parked".into(),
            Place::InFlight => "in flight".into(),
            Place::WaitingOnPermit { .. } => "permit".into(),
            Place::Bound { .. } | Place::Gone => unreachable!("not kept in the view"),
        }
    }

    /// Returns the pods of activeQ in order.
    fn active(&self) -> Vec<String> {
        self.queue.active_pods().map(|i| i.key().name.to_string()).collect()
    }

    /// Returns the moves of the last operation, as `pod to place (cause)`.
    fn moves(&self) -> Vec<String> {
        let text = |m: &crate::trace::QueueMove| {
            let place = match m.to {
                Place::Active => "active",
                Place::Backoff { .. } => "backoff",
                Place::Unschedulable { .. } => "unschedulable",
                Place::InFlight => "attempt",
                Place::WaitingOnPermit { .. } => "permit",
                Place::Bound { .. } => "node",
                Place::Gone => "nowhere",
            };
            format!("{} to {place} ({})", m.pod.name, m.cause)
        };
        self.world.events.iter().filter_map(|e| if let Event::QueueMoved(m) = e { Some(text(m)) } else { None }).collect()
    }
}
