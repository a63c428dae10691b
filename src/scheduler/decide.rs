//! One pod's decision on the cluster as it stands, alone and without consequences: what `explain` asks for.

use std::sync::Arc;

use super::algorithm::{Attempt, Attempted, NO_NODES, Sampling};
use super::runtime::{Nominations, Runner};
use super::{Cache, Config};
use crate::cluster::{Cluster, Pod};
use crate::framework::{Context, CycleState, NodeFilters, PluginSet, PodInfo, PodResourcesOptions, pod_requests};
use crate::trace::{CycleStart, Event, FailureReason, Outcome};

/// What a decision is taken on.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// Profiles and gates.
    pub config: &'a Config,
    /// All objects.
    pub cluster: &'a Cluster,
    /// The nodes.
    pub cache: &'a Cache,
    /// Nominated pods.
    pub nominations: &'a dyn Nominations,
    /// How many nodes are looked at.
    pub sampling: Sampling,
    /// The virtual time.
    pub now: jiff::Timestamp,
}

/// Decides about a pending pod as if it were popped next; nothing is bound, evicted or nominated.
pub fn decide(ground: &Ground<'_>, pod: &Arc<Pod>) -> Vec<Event> {
    let snapshot = ground.cache.snapshot();
    let cx = Context { cluster: ground.cluster, snapshot: &snapshot, emulation: ground.config.emulation, now: ground.now };
    let key = pod.key();
    let mut events = Vec::new();
    let finish = |mut events: Vec<Event>, outcome| {
        events.push(Event::CycleFinished { pod: pod.key(), outcome });
        events
    };
    let fail = |reason, message: String, plugins| Event::AttemptFailed {
        pod: Box::new(pod.key()),
        reason,
        message: message.into(),
        plugins: Box::new(plugins),
    };

    let Some(framework) = ground.config.profile(&pod.spec.scheduler_name) else {
        let message = format!("profile not found for scheduler name {:?}", pod.spec.scheduler_name);
        events.push(fail(FailureReason::SchedulerError, message, PluginSet::default()));
        return finish(events, Outcome::Error);
    };
    if let Some(status) = framework.run_pre_enqueue(&cx, pod, false, None) {
        events.push(Event::PreEnqueueRejected { pod: key, status });
        return finish(events, Outcome::Gated);
    }
    let info = PodInfo::with_emulation(pod.clone(), ground.config.emulation);
    events.push(Event::CycleStarted(Arc::new(cycle_start(1, &info, &cx))));
    if pod.is_terminating() {
        let reason = format!("skip schedule deleting pod: {key}");
        events.push(Event::CycleSkipped { pod: key, reason: reason.into() });
        return finish(events, Outcome::Error);
    }
    let mut start = 0;
    let mut attempt =
        Attempt { framework, cx, nominations: ground.nominations, sampling: ground.sampling, next_start_node_index: &mut start };
    let outcome = match attempt.run(&info, &mut CycleState::default(), &mut events) {
        Attempted::Selected(_) => Outcome::Scheduled,
        Attempted::NoNodes => {
            events.push(fail(FailureReason::Unschedulable, NO_NODES.to_owned(), PluginSet::default()));
            Outcome::Unschedulable
        }
        Attempted::Error(message) => {
            events.push(fail(FailureReason::SchedulerError, message, PluginSet::default()));
            Outcome::Error
        }
        Attempted::FitError(error) => {
            events.push(fail(FailureReason::Unschedulable, error.message, error.unschedulable_plugins));
            Outcome::Unschedulable
        }
    };
    for (plugin, points) in &framework.not_emulated {
        let what = format!("it might have decided otherwise at {}", points.join(", "));
        events.push(Event::NotEmulated { plugin: plugin.as_str().into(), what: what.into() });
    }
    finish(events, outcome)
}

/// Asks every Filter plugin of the pod's profile about one node, where a cycle stops at the first that turns the pod
/// down; `None` where there is no such profile or node.
pub fn every_filter(ground: &Ground<'_>, pod: &Arc<Pod>, node: &str) -> Option<NodeFilters> {
    let snapshot = ground.cache.snapshot();
    let cx = Context { cluster: ground.cluster, snapshot: &snapshot, emulation: ground.config.emulation, now: ground.now };
    let framework = ground.config.profile(&pod.spec.scheduler_name)?;
    let node = snapshot.get(node)?;
    let info = PodInfo::with_emulation(pod.clone(), ground.config.emulation);
    let mut state = CycleState::default();
    let narrowed = framework.run_pre_filter(&cx, &mut state, &info, &mut Vec::new());
    if !narrowed.status.is_success() {
        return Some(NodeFilters { not_asked: Some(narrowed.status), ..NodeFilters::default() });
    }
    let left_out = narrowed.nodes.is_some_and(|nodes| !nodes.contains(node.name()));
    let filters = Runner::new(framework, cx, ground.nominations, &state).every_filter(&state, &info, node);
    Some(NodeFilters { left_out, ..filters })
}

/// What is known of a pod when its cycle starts.
pub(super) fn cycle_start(cycle: u64, info: &PodInfo, cx: &Context<'_>) -> CycleStart {
    let pod = &info.pod;
    let requests = pod_requests(pod, PodResourcesOptions::default());
    CycleStart {
        cycle,
        pod: pod.key(),
        priority: pod.priority(),
        profile: pod.spec.scheduler_name.clone(),
        requests: requests.iter().map(|(name, q)| (name.clone(), q.to_string())).collect(),
        nominated: pod.status.nominated_node_name.clone(),
        nodes: cx.snapshot.len(),
        budgets_unknown: cx.cluster.unknown.budgets,
    }
}
