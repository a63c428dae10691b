//! The rows of the node pane: what a cycle says about a node, what the node is, and its pods.

use std::cmp::Reverse;

use super::{node_page, taint};
use crate::analysis::{BudgetEvictions, NextVictim, budgets_unknown_because, by_importance, evictions};
use crate::cluster::{Cluster, Key, Pod, Str};
use crate::framework::{NodeFilters, NodeInfo};
use crate::report::node_devices;
use crate::session::Keyframe;
use crate::trace::CycleView;
use crate::ui::model::filter::Filter;
use crate::ui::model::list::{Row, RowId};
use crate::ui::model::sort::Sort;
use crate::ui::model::text;
use crate::ui::model::verdict::{Class, Verdicts};

/// A row of the node pane.
#[derive(Clone, Debug, PartialEq)]
pub enum NodePaneRow {
    /// A heading.
    Heading(&'static str),
    /// A fact: its name and text.
    Fact(&'static str, String),
    /// A score of the node, by the plugin's index.
    Score(usize),
    /// A Filter plugin's answer, by its index.
    Filter(usize),
    /// A step of the dry run, by its index.
    Step(usize),
    /// A line about the node's devices: its index, whether it says that a device suits, and the text.
    Device(usize, bool, String),
    /// A line about the node: its kind, its index among those of the kind, whether it is a warning, and the text.
    #[allow(missing_docs, reason = "said above")]
    Line { kind: &'static str, index: usize, warns: bool, text: String },
    /// The effect of evicting the node's pods on a budget: the budget's index and a sentence.
    Budget(usize, String),
    /// A pod on the node.
    Pod(Key),
    /// A note in place of rows.
    Note(&'static str),
}

impl Row for NodePaneRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Pod(key) => Some(RowId::Pod(key.clone())),
            Self::Fact(name, _) => Some(RowId::Line(name, 0)),
            Self::Score(i) => Some(RowId::Line("score", *i)),
            Self::Filter(i) => Some(RowId::Line("filter", *i)),
            Self::Step(i) => Some(RowId::Line("step", *i)),
            Self::Device(i, ..) => Some(RowId::Line("device", *i)),
            Self::Budget(i, _) => Some(RowId::Line("budget", *i)),
            Self::Line { kind, index, .. } => Some(RowId::Line(kind, *index)),
            Self::Heading(_) | Self::Note(_) => None,
        }
    }

    fn is_heading(&self) -> bool {
        matches!(self, Self::Heading(_) | Self::Note(_))
    }

    fn things(&self) -> usize {
        usize::from(matches!(self, Self::Pod(_)))
    }
}

/// Returns the rows of a node: verdict, scores, dry run, all Filter plugins, and its pods, least important first.
pub fn node_pane_rows(
    node: &NodeInfo,
    keyframe: &Keyframe,
    cycle: &CycleView,
    filters: Option<&NodeFilters>,
    order: Sort,
    filter: &mut Filter,
) -> Vec<NodePaneRow> {
    let mut rows = facts(node, keyframe, cycle, filters);
    let (drain, budgets) = drain(node, &keyframe.cluster);
    rows.push(NodePaneRow::Fact("drain", drain));
    rows.push(NodePaneRow::Fact("next victim", next_victim(node, keyframe, cycle)));
    rows.extend(of_the_cycle(node.name(), cycle));
    if let Some(filters) = filters {
        rows.extend(filter_rows(filters));
    }
    rows.push(NodePaneRow::Heading(node_page::RESOURCES));
    rows.extend(node_page::resources(node));
    rows.push(NodePaneRow::Heading("conditions"));
    rows.extend(node_page::conditions(node, keyframe.clock));
    let labels = node_page::labels(node);
    if !labels.is_empty() {
        rows.push(NodePaneRow::Heading("labels"));
        rows.extend(labels);
    }
    if !node.pods.is_empty() {
        rows.push(NodePaneRow::Heading(node_page::OWNERS));
        rows.extend(node_page::owners(node));
    }
    if !budgets.is_empty() {
        rows.push(NodePaneRow::Heading("budgets, if its pods are evicted"));
        rows.extend(budgets);
    }
    rows.push(NodePaneRow::Heading("pods on the node"));
    rows.extend(pods(node, keyframe, order, filter));
    rows
}

/// Returns the verdict on the node with its reason, and what keeps pods away from it.
fn facts(node: &NodeInfo, keyframe: &Keyframe, cycle: &CycleView, filters: Option<&NodeFilters>) -> Vec<NodePaneRow> {
    let name = node.name();
    let verdict = Verdicts::new(cycle).of(name);
    let mut rows = Vec::new();
    let by = verdict.plugin.map(|p| format!("{p}: ")).unwrap_or_default();
    let candidate = cycle.preemption.as_ref().and_then(|p| p.candidate(name)).filter(|_| verdict.class == Class::Unschedulable);
    let words = candidate.map_or_else(
        || verdict.class.phrase().to_owned(),
        |c| {
            let dropped = cycle.preemption.as_ref().is_some_and(|p| p.is_dropped(name));
            let but = if dropped { ", but an extender drops the candidate" } else { "" };
            format!("unschedulable: evicting {} makes room{but}", text::count(c.victims.len(), "pod"))
        },
    );
    rows.push(NodePaneRow::Fact("verdict", words));
    if !verdict.reason().is_empty() {
        rows.push(NodePaneRow::Fact("because", format!("{by}{}", verdict.reason_with_fact())));
    }
    let also = filters.map(|f| f.rejections().skip(1).map(|(p, s)| format!("{p}: {}", s.message_with_fact())).collect::<Vec<_>>());
    if let Some(also) = also.filter(|also| !also.is_empty()) {
        rows.push(NodePaneRow::Fact("would also fail", also.join("; ")));
    }
    if node.node.unschedulable() {
        rows.push(NodePaneRow::Fact("cordoned", "spec.unschedulable is true".to_owned()));
    }
    let taints = node.node.spec.taints.iter().map(taint);
    let taints = taints.collect::<Vec<_>>().join(", ");
    if !taints.is_empty() {
        rows.push(NodePaneRow::Fact("taints", taints));
    }
    if let Some(words) = node_page::unhealthy(node, keyframe.clock) {
        rows.push(NodePaneRow::Fact("unhealthy", words));
    }
    if let Some(zone) = node_page::zone(node) {
        rows.push(NodePaneRow::Fact("zone", zone));
    }
    rows
}

/// Returns the node's scores and its dry run.
fn of_the_cycle(name: &Str, cycle: &CycleView) -> Vec<NodePaneRow> {
    let mut rows = Vec::new();
    if let Some(score) = cycle.scoring.scores.get(name) {
        rows.push(NodePaneRow::Heading("scores"));
        rows.extend((0..score.plugins.len()).map(NodePaneRow::Score));
        for (index, given) in cycle.extenders.scores_of(name).iter().filter(|(index, _)| cycle.extenders.scoring().contains(index)) {
            rows.push(NodePaneRow::Fact("extender", format!("extenders[{index}]  weighted {given}")));
        }
    }
    if let Some(status) = cycle.extenders.statuses.get(name).filter(|_| Verdicts::new(cycle).of(name).class == Class::Fits) {
        // It is left among the nodes that fit, all the same.
        rows.push(NodePaneRow::Fact("an extender says", status.to_string()));
    }
    if let Some(run) = cycle.preemption.as_ref().and_then(|p| p.dry_run(name)) {
        rows.push(NodePaneRow::Heading("dry run, in order"));
        rows.extend((0..run.len()).map(NodePaneRow::Step));
        if let Some(status) = run.status().filter(|s| !s.is_success()) {
            rows.push(NodePaneRow::Fact("no candidate", status.message()));
        }
    }
    rows
}

/// Returns the pods on the node that the filter keeps.
fn pods(node: &NodeInfo, keyframe: &Keyframe, order: Sort, filter: &mut Filter) -> Vec<NodePaneRow> {
    let mut pods: Vec<_> = match order {
        Sort::Usual => by_importance(&keyframe.context(), node),
        _ => node.pods.clone(),
    };
    pods.retain(|p| filter.keeps_pod(&p.key()));
    match order {
        // As a dry run would evict them, were there no budgets.
        Sort::Usual => pods.reverse(),
        Sort::Priority => pods.sort_by_cached_key(|p| (Reverse(p.pod.priority()), p.key())),
        Sort::Name => pods.sort_by_cached_key(|p| p.key()),
        Sort::Request => pods.sort_by_cached_key(|p| (Reverse(p.resource.resource.milli_cpu), p.key())),
        _ => pods.sort_by_cached_key(|p| (p.pod.priority(), p.key())),
    }
    if pods.is_empty() {
        return vec![NodePaneRow::Note(if filter.is_empty() { "none" } else { "none matches the filter" })];
    }
    pods.into_iter().map(|p| NodePaneRow::Pod(p.key())).collect()
}

/// Returns which pod of the node preemption evicts first for the pod of the cycle, or without one, for any.
fn next_victim(node: &NodeInfo, keyframe: &Keyframe, cycle: &CycleView) -> String {
    let preemptor = cycle.start.as_ref().and_then(|start| keyframe.cluster.pods.get(&start.pod));
    let found = NextVictim::on(&keyframe.context(), node, preemptor.map(|pod| &**pod));
    let unknown = if keyframe.cluster.unknown.budgets { "; budgets are unknown" } else { "" };
    found.map_or_else(|none| none.sentence(), |next| format!("{}{unknown}", next.sentence()))
}

/// Returns what budgets say to the eviction of all pods on the node: in one sentence, and a row for each budget, those that stop
/// it first.
fn drain(node: &NodeInfo, cluster: &Cluster) -> (String, Vec<NodePaneRow>) {
    if cluster.unknown.budgets {
        return (format!("? unknown: {}", budgets_unknown_because(cluster.unknown)), Vec::new());
    }
    let mut pods: Vec<&Pod> = node.pods.iter().map(|info| &*info.pod).collect();
    pods.sort_by_cached_key(|pod| pod.key());
    let result = evictions(cluster, pods);
    let mut budgets: Vec<_> = result.budgets.iter().collect();
    budgets.sort_by_key(|(_, budget)| budget.stopped.is_empty());
    let row = |(i, (key, budget)): (usize, (&Key, &BudgetEvictions))| NodePaneRow::Budget(i, format!("{key} {}", budget.sentence()));
    (result.sentence(), budgets.into_iter().enumerate().map(row).collect())
}

/// Returns the answers of all Filter plugins, with the nominated pods that were counted, and what they say about the node's devices.
fn filter_rows(filters: &NodeFilters) -> Vec<NodePaneRow> {
    let mut rows = vec![NodePaneRow::Heading("all filters (on this cycle's snapshot)")];
    if let Some(status) = &filters.not_asked {
        let by = status.plugin().map(|p| format!("{p}: ")).unwrap_or_default();
        rows.push(NodePaneRow::Fact("no filter runs", format!("{by}{}", status.message())));
    }
    if filters.left_out {
        rows.push(NodePaneRow::Fact("left out", "PreFilter excluded this node: no filter runs on it".to_owned()));
    }
    if !filters.nominated.is_empty() {
        let names = filters.nominated.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let how = match () {
            () if filters.with_nominated => "as if they ran here",
            () if filters.rejections().next().is_some() => "all pass with them here; these are without",
            () => "passes with and without them",
        };
        rows.push(NodePaneRow::Fact("nominated pods counted", format!("{names}: {how}")));
    }
    rows.extend((0..filters.answers.len()).map(NodePaneRow::Filter));
    if let Some(devices) = &filters.devices {
        rows.push(NodePaneRow::Heading("devices"));
        let lines = node_devices(devices).into_iter().enumerate();
        rows.extend(lines.map(|(i, line)| NodePaneRow::Device(i, line.suits, format!("{:1$}{2}", "", 2 * line.depth, line.words))));
    }
    rows
}
