//! The result of one operation, as the object that `run -o json` prints for it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pod_group::{GroupReport, victims};
use super::{Decision, Missing, ReleaseReport, run_parts};
use crate::cluster::Str;
use crate::framework::PluginName;
use crate::scheduler::{Scheduler, State};
use crate::trace::{CycleView, Event, Outcome, Place};

/// One operation: its scheduling cycle, if it ran one, and the queues after it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationReport {
    /// The popped pod, as `namespace/name`.
    pub popped: Option<String>,
    /// How its cycle ended.
    pub outcome: Option<Outcome>,
    /// The node it was bound to.
    pub node: Option<Str>,
    /// The nodes that share the highest score.
    pub best_nodes: Vec<Str>,
    /// The message of the condition; empty for a pod that was bound.
    pub message: Option<String>,
    /// The node that the cycle nominated.
    pub nominated: Option<Str>,
    /// The victims of the cycle's preemption, most important first, including those already terminating.
    pub victims: Vec<String>,
    /// The cycle of the popped pod's group, where it was tried with one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupReport>,
    /// The queues after the operation.
    pub queues: QueuesReport,
    /// All nominations: node by pod.
    pub nominations: BTreeMap<String, Str>,
    /// The moves to a queue, in order; those of the same cause and moment are sorted by pod.
    pub moves: Vec<MoveReport>,
    /// The kinds that are unknown, or known in part.
    pub missing: Vec<Missing>,
    /// The emulated release.
    pub release: ReleaseReport,
}

/// The three queues.
#[derive(Clone, Debug, Serialize)]
pub struct QueuesReport {
    /// activeQ in pop order.
    pub active: Vec<String>,
    /// backoffQ by the end of the backoff, then in pop order.
    pub backoff: Vec<BackoffReport>,
    /// unschedulablePods by name, gated pods included.
    pub unschedulable: Vec<UnschedulableReport>,
}

/// A pod in backoffQ.
#[derive(Clone, Debug, Serialize)]
pub struct BackoffReport {
    /// The pod.
    pub pod: String,
    /// The end of its backoff, in seconds since the start of the clock, with milliseconds.
    pub expires: serde_json::Number,
}

/// A pod in unschedulablePods.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnschedulableReport {
    /// The pod.
    pub pod: String,
    /// The plugins that rejected it, by name.
    pub plugins: Vec<PluginName>,
    /// The PreEnqueue plugin that gates it.
    pub gated_by: Option<PluginName>,
}

/// A move to a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveReport {
    /// The pod.
    pub pod: String,
    /// The event's label, as kube-scheduler logs it.
    pub event: String,
    /// `Active`, `Backoff` or `Unschedulable`.
    pub to: &'static str,
}

impl OperationReport {
    /// Reports the events of an operation and the state after it.
    pub fn of(events: &[Event], scheduler: &Scheduler) -> Self {
        let state = scheduler.state();
        let popped = events.iter().find_map(|e| if let Event::PodPopped { pod, .. } = e { Some(pod.to_string()) } else { None });
        let view = popped.as_ref().map(|_| CycleView::of(events)).unwrap_or_default();
        let decision = Decision::of(&view);
        let group = GroupReport::of(&view, Some(state.cluster()));
        let of_popped = group.iter().flat_map(|group| &group.pods).find(|pod| Some(&pod.pod) == popped.as_ref());
        let best_nodes = of_popped.map_or(decision.best_nodes, |pod| pod.best_nodes.clone());
        Self {
            message: popped.as_ref().map(|_| decision.message),
            popped,
            outcome: decision.outcome,
            node: decision.node,
            best_nodes,
            victims: victims(&view),
            group,
            nominated: view.nominated.filter(|node| !node.is_empty()),
            queues: QueuesReport::of(state),
            nominations: state.nominations().into_iter().map(|(pod, node)| (pod.to_string(), node)).collect(),
            moves: moves(events),
            missing: Missing::brief(state.cluster().unknown),
            release: ReleaseReport::of(scheduler.emulated(), &run_parts(state.config())),
        }
    }
}

impl QueuesReport {
    /// Reports the queues of a state.
    pub fn of(state: &State) -> Self {
        let queue = state.queue();
        let expires = |info| {
            let millis = queue.backoff_expiration(info).map_or(0, |end| end.duration_since(state.start()).as_millis());
            let whole = (millis % 1000 == 0).then_some((millis / 1000) as i64);
            let number = whole.map_or_else(|| serde_json::Number::from_f64(millis as f64 / 1000.0), |seconds| Some(seconds.into()));
            number.unwrap_or_else(|| 0.into())
        };
        let mut unschedulable: Vec<UnschedulableReport> = queue
            .unschedulable_pods()
            .map(|i| UnschedulableReport { pod: i.key().to_string(), plugins: i.rejectors().iter().collect(), gated_by: i.gating_plugin })
            .collect();
        unschedulable.sort_by(|a, b| a.pod.cmp(&b.pod));
        Self {
            active: queue.active_pods().map(|i| i.key().to_string()).collect(),
            backoff: queue.backoff_pods().map(|i| BackoffReport { pod: i.key().to_string(), expires: expires(i) }).collect(),
            unschedulable,
        }
    }
}

/// Returns the moves to a queue. A flush, or a change of one object, is one moment.
fn moves(events: &[Event]) -> Vec<MoveReport> {
    let mut all: Vec<MoveReport> = Vec::new();
    let mut start = 0;
    for event in events {
        let Event::QueueMoved(moved) = event else {
            if matches!(event, Event::ClockMoved { .. } | Event::ObjectChanged { .. }) {
                start = all.len();
            }
            continue;
        };
        let to = match moved.to {
            Place::Active => "Active",
            Place::Backoff { .. } => "Backoff",
            Place::Unschedulable { .. } => "Unschedulable",
            Place::InFlight | Place::WaitingOnPermit { .. } | Place::Bound { .. } | Place::Gone => continue,
        };
        let report = MoveReport { pod: moved.pod.to_string(), event: moved.cause.to_string(), to };
        if all.get(start).is_some_and(|first| first.event != report.event) {
            start = all.len();
        }
        let at = start + all[start..].partition_point(|m| m.pod <= report.pod);
        all.insert(at, report);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Key;
    use crate::framework::{EventLabel, PluginSet};
    use crate::trace::{MoveCause, QueueMove, QueueOrder};
    use jiff::Timestamp;

    fn moved(pod: &str, to: Place, label: EventLabel) -> Event {
        let (cause, order) = (MoveCause::Label(label), QueueOrder::default());
        let plugins = PluginSet::default();
        Event::QueueMoved(Box::new(QueueMove { pod: Key::new("", pod), from: None, to, cause, plugin: None, order, plugins }))
    }

    #[test]
    fn moves_of_one_moment_and_cause_come_by_pod() {
        use EventLabel::{BackoffComplete as Done, UnschedulableTimeout as Timeout};
        let tick = Event::ClockMoved { from: Box::new(Timestamp::UNIX_EPOCH), to: Timestamp::UNIX_EPOCH };
        let events = [
            moved("b", Place::Active, Done),
            moved("x", Place::InFlight, Done),
            moved("a", Place::Active, Done),
            moved("d", Place::Active, Timeout),
            moved("c", Place::Active, Timeout),
            tick,
            moved("f", Place::Active, Timeout),
            moved("e", Place::Active, Timeout),
            moved("a", Place::Active, Done),
        ];
        assert_eq!(moves(&events).iter().map(|m| m.pod.as_str()).collect::<String>(), "abcdefa");
    }
}
