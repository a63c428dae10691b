//! Small clusters for tests, with plugins scripted by the labels of the pods.

use std::sync::Arc;

use jiff::Timestamp;

use super::runtime::PluginRef;
use super::{Config, Evictions, Operation, Options, Scheduler};
pub(super) use crate::cluster::testing::object;
use crate::cluster::{Key, Kind, Object, Pod};
use crate::framework::{
    ActionType, ClusterEvent, ClusterEventWithHint, Code, Context, CycleState, EventResource, FilterPlugin, NodeInfo, PermitPlugin, Plugin,
    PluginName, PodInfo, PreBindPlugin, ReservePlugin, Status,
};
use crate::release::Emulation;
use crate::trace::{Event, MoveCause, Place};

/// A plugin whose results at Filter, Permit and PreBind are scripted by the pod's label of its name: `wait-10`,
/// `no-permit`, `error-filter`, and so on. The deletion of any pod may help the pods that it rejected.
#[derive(Clone, Copy)]
pub(super) struct ScriptedPlugin(pub(super) PluginName);

impl ScriptedPlugin {
    fn answer(self, pod: &PodInfo, point: &str) -> Status {
        match self.label(pod).split_once('-') {
            Some(("no", at)) if at == point => Status::unschedulable("told to"),
            Some(("error", at)) if at == point => Status::error("told to"),
            _ => Status::success(),
        }
    }

    fn label(self, pod: &PodInfo) -> String {
        pod.pod.metadata.labels.get(self.0.as_str()).map(ToString::to_string).unwrap_or_default()
    }
}

impl Plugin for ScriptedPlugin {
    fn name(&self) -> PluginName {
        self.0
    }
    fn filter(&self) -> Option<&dyn FilterPlugin> {
        Some(self)
    }
    fn reserve(&self) -> Option<&dyn ReservePlugin> {
        Some(self)
    }
    fn permit(&self) -> Option<&dyn PermitPlugin> {
        Some(self)
    }
    fn pre_bind(&self) -> Option<&dyn PreBindPlugin> {
        Some(self)
    }
    fn events_to_register(&self, _emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(vec![ClusterEventWithHint { event: ClusterEvent::new(EventResource::Pod, ActionType::DELETE), hint: None }])
    }
}

impl FilterPlugin for ScriptedPlugin {
    fn filter(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, _node: &NodeInfo) -> Status {
        self.answer(pod, "filter")
    }
}

impl ReservePlugin for ScriptedPlugin {
    fn reserve(&self, _cx: &Context<'_>, _state: &mut CycleState, pod: &PodInfo, _node: &NodeInfo) -> Status {
        self.answer(pod, "reserve")
    }
    fn unreserve(&self, _cx: &Context<'_>, _state: &mut CycleState, _pod: &PodInfo, _node: &NodeInfo) {}
}

impl PermitPlugin for ScriptedPlugin {
    fn permit(&self, _cx: &Context<'_>, _state: &mut CycleState, pod: &PodInfo, _node: &NodeInfo) -> (Status, u64) {
        match self.label(pod).strip_prefix("wait-").and_then(|s| s.parse().ok()) {
            Some(seconds) => (Status::new(Code::Wait, ["not yet"]), seconds),
            None => (self.answer(pod, "permit"), 0),
        }
    }
}

impl PreBindPlugin for ScriptedPlugin {
    fn pre_bind_pre_flight(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, _node: &NodeInfo) -> Status {
        if self.label(pod).ends_with("-prebind") { Status::success() } else { Status::new(Code::Skip, [""; 0]) }
    }
    fn pre_bind(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, _node: &NodeInfo) -> Result<Vec<Object>, Status> {
        let status = self.answer(pod, "prebind");
        if status.is_success() { Ok(Vec::new()) } else { Err(status) }
    }
}

/// The two scripted plugins, in the order of the profile.
pub(super) const FIRST: PluginName = PluginName::GangScheduling;
pub(super) const SECOND: PluginName = PluginName::PodGroupPodsCount;

/// A node with four CPUs.
pub(super) fn node(name: &str) -> Object {
    object(Kind::Node, &format!(r#"{{"metadata":{{"name":"{name}"}},"status":{{"allocatable":{{"cpu":"4","pods":"9"}}}}}}"#))
}

/// A pod in namespace `d`; pending if `node` is empty. Labels are `plugin=answer`, separated by spaces.
pub(super) fn pod(name: &str, priority: i32, cpu: u32, node: &str, labels: &str) -> Object {
    let labels: Vec<String> = labels.split_whitespace().filter_map(|l| l.split_once('=')).map(|(k, v)| format!(r#""{k}":"{v}""#)).collect();
    let text = format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"d","uid":"{name}","labels":{{{}}}}},"spec":{{"schedulerName":"default-scheduler",
        "priority":{priority},"nodeName":"{node}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{cpu}"}}}}}}]}},
        "status":{{"startTime":"2026-01-01T00:00:00Z"}}}}"#,
        labels.join(",")
    );
    object(Kind::Pod, &text)
}

pub(super) fn key(name: &str) -> Key {
    Key::new("d", name)
}

/// Returns the pod's object with a change.
pub(super) fn changed(scheduler: &Scheduler, name: &str, change: impl FnOnce(&mut Pod)) -> Object {
    let mut pod = Pod::clone(&scheduler.state().cluster().pods.get(&key(name)).unwrap().clone());
    change(&mut pod);
    Object::Pod(Arc::new(pod))
}

/// Returns midnight plus `seconds`.
pub(super) fn at(seconds: i64) -> Timestamp {
    "2026-11-20T00:00:00Z".parse::<Timestamp>().unwrap() + jiff::SignedDuration::from_secs(seconds)
}

/// Returns a scheduler started at midnight, with the two scripted plugins last in its profile.
pub(super) fn scheduler_with(emulation: Emulation, evictions: Evictions, objects: Vec<Object>) -> Scheduler {
    let mut config = Config::defaults(emulation);
    let profile = &mut config.profiles[0];
    for plugin_name in [FIRST, SECOND] {
        let plugin: PluginRef = Arc::new(ScriptedPlugin(plugin_name));
        for point in [&mut profile.filter, &mut profile.reserve, &mut profile.permit, &mut profile.pre_bind, &mut profile.all] {
            point.push(plugin.clone());
        }
    }
    Scheduler::new(config, objects, Options { start: at(0), evictions, ..Options::default() })
}

pub(super) fn scheduler(evictions: Evictions, objects: Vec<Object>) -> Scheduler {
    scheduler_with(Emulation::default(), evictions, objects)
}

/// Applies an operation and describes its events. Checks that the events show the place of every pod, and that every
/// pod is in one place.
#[track_caller]
pub(super) fn apply(scheduler: &mut Scheduler, operation: Operation) -> Vec<String> {
    let mut view = scheduler.state().queue().view().clone();
    let before = scheduler.state().clock();
    let events = scheduler.apply(operation);
    for event in &events {
        view.apply(event);
    }
    assert_eq!(&view, scheduler.state().queue().view(), "the events say where every pod is");
    assert!(before <= scheduler.state().clock());
    check_places(scheduler);
    events.iter().filter_map(words).collect()
}

#[track_caller]
fn check_places(scheduler: &Scheduler) {
    let (state, queue) = (scheduler.state(), scheduler.state().queue());
    assert_eq!(queue.in_flight_pods().count(), 0, "nothing is left in flight between operations");
    let queued = queue.active_pods().chain(queue.backoff_pods()).chain(queue.unschedulable_pods());
    let mut places: Vec<Key> = queued.map(|i| i.key()).collect();
    for (info, node) in queue.waiting_on_permit_pods() {
        assert_eq!(state.waiting[&info.key()].node(), node);
        places.push(info.key());
    }
    assert_eq!(queue.waiting_on_permit_pods().count(), state.waiting.len());
    places.sort();
    assert!(places.iter().eq(queue.view().entries.keys()), "{places:?}");
}

fn words(event: &Event) -> Option<String> {
    Some(match event {
        Event::QueueMoved(m) => {
            let place = match &m.to {
                Place::Active => "active".to_owned(),
                Place::Backoff { error: true, .. } => "error backoff".to_owned(),
                Place::Backoff { .. } => "backoff".to_owned(),
                Place::Unschedulable { .. } => "parked".to_owned(),
                Place::InFlight => return None,
                Place::WaitingOnPermit { node } => format!("waits for {node}"),
                Place::Bound { node } => format!("bound to {node}"),
                Place::Gone => "gone".to_owned(),
            };
            let cause = if m.cause == MoveCause::Cycle { String::new() } else { format!(" by {}", m.cause) };
            format!("{} {place}{cause}", m.pod.name)
        }
        Event::PermitResolved { pod, end, plugin, message, .. } => {
            let by = plugin.map_or(String::new(), |p| format!(" by {p}"));
            format!("{} {end}{by}: {message}", pod.name)
        }
        Event::AttemptFailed { pod, failure } => format!("{} {}: {}", pod.name, failure.reason, failure.message),
        Event::VictimEvicted { pod, how, .. } => format!("{} evicted {how}", pod.name),
        Event::GracePeriodEnded { pod, .. } => format!("{} ended", pod.name),
        Event::Unreserved { pod, .. } => format!("{} unreserved", pod.name),
        Event::PreEnqueueRejected { pod, .. } => format!("{} gated", pod.name),
        Event::CycleFinished { pod, outcome } => format!("{} {outcome}", pod.name),
        _ => return None,
    })
}
