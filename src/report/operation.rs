//! The result of one operation, as the object that `run -o json` prints for it.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pod_group::{GroupReport, victims};
use super::{Decision, OddsReport};
use crate::analysis::{Missing, ReleaseReport, run_parts};
use crate::cluster::Str;
use crate::framework::{PluginName, QueuedPodInfo};
use crate::odds::Share;
use crate::scheduler::{Scheduler, State};
use crate::trace::{CycleView, Event, Outcome, Place, PreemptionView};

/// One operation: its scheduling cycle, if it ran one, and the queues after it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OperationReport {
    /// The version of the form; see [`super::SCHEMA_VERSION`].
    pub schema_version: u32,
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
    /// The likelihood of each outcome of the cycle; `None` if nothing is left to chance.
    pub odds: Option<OddsReport>,
    /// The share of each pod that could have been popped, where several came to activeQ together.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pop_odds: BTreeMap<String, Share>,
    /// The nodes and candidates that the cycle looked at; `None` if none ran.
    pub sampling: Option<SamplingReport>,
    /// Whether the run ended here after as many steps as are allowed, so that pods in activeQ and backoffQ are not decided.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}

/// The line of a run about an operation.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum OperationLine {
    /// All of it, with the queues after it.
    Whole(Box<OperationReport>),
    /// Its changes.
    Brief(BriefOperation),
}

/// One operation: its scheduling cycle, if it ran one, and the changes of the queues.
#[derive(Clone, Debug, Serialize)]
pub struct BriefOperation {
    /// The popped pod, as `namespace/name`.
    pub popped: Option<String>,
    /// How its cycle ended.
    pub outcome: Option<Outcome>,
    /// The node it was bound to.
    pub node: Option<Str>,
    /// The message of the condition; empty for a pod that was bound.
    pub message: Option<String>,
    /// The node that the cycle nominated.
    pub nominated: Option<Str>,
    /// The victims of the cycle's preemption, most important first, including those already terminating.
    pub victims: Vec<String>,
    /// The moves to a queue, as in [`OperationReport`].
    pub moves: Vec<MoveReport>,
    /// The numbers of pods in the queues after the operation.
    pub queues: QueueLengths,
    /// As in [`OperationReport`].
    #[serde(rename = "cutShort", skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
}

impl OperationLine {
    /// Sets whether the run was cut short after the operation.
    pub fn set_cut_short(&mut self, cut_short: bool) {
        match self {
            Self::Whole(report) => report.cut_short = cut_short,
            Self::Brief(report) => report.cut_short = cut_short,
        }
    }
}

/// The numbers of pods in the three queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QueueLengths {
    /// In activeQ.
    pub active: usize,
    /// In backoffQ.
    pub backoff: usize,
    /// In unschedulablePods, gated pods included.
    pub unschedulable: usize,
}

impl BriefOperation {
    /// Reports the events of an operation and the lengths of the queues after it.
    pub fn of(events: &[Event], scheduler: &Scheduler) -> Self {
        let popped = popped(events);
        let view = popped.as_ref().map(|_| CycleView::of(events)).unwrap_or_default();
        let decision = Decision::of(&view);
        let (active, backoff, unschedulable) = scheduler.state().queue().len();
        Self {
            message: popped.as_ref().map(|_| decision.message),
            popped,
            outcome: decision.outcome,
            node: decision.node,
            victims: victims(&view),
            nominated: view.effects.nominated.filter(|node| !node.is_empty()),
            moves: moves(events),
            queues: QueueLengths { active, backoff, unschedulable },
            cut_short: false,
        }
    }
}

fn popped(events: &[Event]) -> Option<String> {
    events.iter().find_map(|event| if let Event::PodPopped { pod, .. } = event { Some(pod.to_string()) } else { None })
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
    pub pod: String,
    /// The end of its backoff, in seconds since the start of the clock, with milliseconds.
    pub expires: serde_json::Number,
}

/// A pod in unschedulablePods.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnschedulableReport {
    pub pod: String,
    /// The plugins that rejected it, by name.
    pub plugins: Vec<PluginName>,
    /// The PreEnqueue plugin that gates it, or another pod of its group where that is queued as one entry.
    pub gated_by: Option<PluginName>,
}

/// A move to a queue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MoveReport {
    pub pod: String,
    /// The event's label, as kube-scheduler logs it.
    pub event: String,
    /// `Active`, `Backoff` or `Unschedulable`.
    pub to: &'static str,
}

/// The parts of the state before an operation that its report needs.
#[derive(Clone, Debug, Default)]
pub struct BeforeOperation {
    /// The index of the node where the next search starts.
    start: usize,
    /// The pods that could be popped next, by name, if there are several: those of equal priority and timestamp in activeQ.
    next: Vec<String>,
}

impl BeforeOperation {
    /// Notes the state of a scheduler before an operation.
    pub fn of(scheduler: &Scheduler) -> Self {
        let queue = scheduler.state().queue();
        let order = |info: &QueuedPodInfo| (info.pod().priority(), info.timestamp);
        let first = queue.active_pods().next().map(|info| order(info));
        let mut next: Vec<String> =
            queue.active_pods().take_while(|info| Some(order(info)) == first).map(|info| info.key().to_string()).collect();
        next.sort_unstable();
        Self { start: scheduler.state().next_start_node_index(), next: if next.len() > 1 { next } else { Vec::new() } }
    }

    /// Returns the odds of the popped pod in words; `None` if only one could be popped.
    pub fn pop_odds_in_words(&self) -> Option<String> {
        let others = self.next.len().checked_sub(1).filter(|others| *others > 0)?;
        let share = Share::new(1, self.next.len() as u64).in_words();
        let else_popped = if others == 1 { "another pod".to_owned() } else { format!("one of {others} others") };
        Some(format!("popped {share}, else {else_popped} that came to activeQ together with it"))
    }

    /// Returns the share of each pod that could be popped next, if there are several.
    fn pop_odds(&self) -> BTreeMap<String, Share> {
        self.next.iter().map(|pod| (pod.clone(), Share::new(1, self.next.len() as u64))).collect()
    }
}

/// The nodes and candidates that a cycle looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SamplingReport {
    /// The index of the node where the search started.
    pub start: usize,
    /// The index where the next one starts.
    pub next: usize,
    /// The number of nodes that were evaluated.
    pub evaluated: usize,
    /// The number of feasible nodes.
    pub feasible: usize,
    /// The feasible node that was found first; `None` if PreFilter named the nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<Str>,
    /// The one that was found last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last: Option<Str>,
    /// The number of nodes that eviction might help, and of candidates that are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dry_run: Option<[usize; 2]>,
    /// The index where the dry run started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
    /// The nodes on the shortlist, by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Vec<Str>>,
}

impl SamplingReport {
    /// Returns the report of a cycle that started its search at an index; `None` if no cycle ran.
    fn of(events: &[Event], view: &CycleView, start: usize, next: usize) -> Option<Self> {
        view.start.as_ref()?;
        let fits = |event: &Event| match event {
            Event::NodeFiltered { node, status, .. } => status.is_success().then(|| node.clone()),
            _ => None,
        };
        let found: Vec<Str> = events.iter().filter_map(fits).collect();
        let in_order = view.pre_filter.narrowed.is_none();
        let preemption = view.preemption.as_ref().filter(|p| !p.hypothetical() && !p.potential_nodes().is_empty());
        Some(Self {
            start,
            next,
            evaluated: view.filter.verdicts.len(),
            feasible: found.len(),
            first: found.first().filter(|_| in_order).cloned(),
            last: found.last().filter(|_| in_order).cloned(),
            dry_run: preemption.map(|p| [p.potential_nodes().len(), p.wanted_candidates()]),
            offset: preemption.map(PreemptionView::offset),
            candidates: preemption.map(|p| p.candidates().map(|c| c.node.clone()).collect()),
        })
    }
}

impl OperationReport {
    /// Returns the report of an operation, with the parts that only the state before it tells.
    pub fn after(before: &BeforeOperation, events: &[Event], scheduler: &Scheduler) -> Self {
        let mut report = Self::of(events, scheduler);
        if report.popped.is_some() {
            let next = scheduler.state().next_start_node_index();
            report.sampling = SamplingReport::of(events, &CycleView::of(events), before.start, next);
            report.pop_odds = before.pop_odds();
        }
        report
    }

    /// Reports the events of an operation and the state after it.
    pub fn of(events: &[Event], scheduler: &Scheduler) -> Self {
        let state = scheduler.state();
        let popped = popped(events);
        let view = popped.as_ref().map(|_| CycleView::of(events)).unwrap_or_default();
        let decision = Decision::of(&view);
        let group = GroupReport::of(&view, Some(state.cluster()));
        let of_popped = group.iter().flat_map(|group| &group.pods).find(|pod| Some(&pod.pod) == popped.as_ref());
        let best_nodes = of_popped.map_or(decision.best_nodes, |pod| pod.best_nodes.clone());
        Self {
            schema_version: super::SCHEMA_VERSION,
            message: popped.as_ref().map(|_| decision.message),
            popped,
            outcome: decision.outcome,
            node: decision.node,
            best_nodes,
            victims: victims(&view),
            group,
            nominated: view.effects.nominated.filter(|node| !node.is_empty()),
            queues: QueuesReport::of(state),
            nominations: state.nominations().into_iter().map(|(pod, node)| (pod.to_string(), node)).collect(),
            moves: moves(events),
            missing: Missing::brief(state.cluster().unknown),
            release: ReleaseReport::of(scheduler.emulated(), &run_parts(state.config())),
            odds: decision.odds,
            pop_odds: BTreeMap::new(),
            sampling: None,
            cut_short: false,
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
            .map(|i| UnschedulableReport {
                pod: i.key().to_string(),
                plugins: i.rejectors().iter().collect(),
                gated_by: i.gating_plugin.or_else(|| queue.view().group_gate(i.pod()).map(|gate| gate.plugin)),
            })
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
