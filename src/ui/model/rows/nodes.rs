//! The rows of the nodes pane: nodes one by one, or in groups with the sum and maximum of their free resources.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::Str;
use crate::framework::{NodeInfo, taint_text};
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::Row;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::node_ranking::NodeRanking;
use crate::ui::model::sort::Sort;
use crate::ui::model::verdict::{self, Class, Verdicts};

/// A row of the nodes pane.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeRow {
    /// The boundary between nodes with scores and nodes with reasons.
    Rejected,
    /// A group of nodes.
    Group(Box<Group>),
    /// A node.
    Node {
        /// Its name.
        name: Str,
        /// Whether it is in an open group.
        inside: bool,
    },
}

/// A group of nodes, with its totals.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The identity of the group.
    pub key: GroupKey,
    /// Whether its nodes are listed.
    pub open: bool,
    /// The number of nodes.
    pub count: usize,
    /// The number of nodes with each verdict.
    pub classes: BTreeMap<Class, usize>,
    /// The sum of free cpu, in thousandths of a core.
    pub cpu: i64,
    /// The most free cpu of one node, in thousandths of a core.
    pub most_cpu: i64,
    /// The sum of free memory, in bytes.
    pub memory: i64,
    /// The most free memory of one node, in bytes.
    pub most_memory: i64,
}

impl Group {
    fn of(key: GroupKey, open: bool, nodes: &[Positioned<'_>], all: &[Class]) -> Self {
        let (most_cpu, most_memory) = (i64::MIN, i64::MIN);
        let mut group = Self { key, open, count: nodes.len(), classes: BTreeMap::new(), cpu: 0, most_cpu, memory: 0, most_memory };
        for (_, node) in nodes {
            let cpu = node.allocatable.milli_cpu.saturating_sub(node.requested.milli_cpu);
            let memory = node.allocatable.memory.saturating_sub(node.requested.memory);
            // An overcommitted node does not reduce the sum.
            group.cpu = group.cpu.saturating_add(cpu.max(0));
            group.memory = group.memory.saturating_add(memory.max(0));
            group.most_cpu = group.most_cpu.max(cpu);
            group.most_memory = group.most_memory.max(memory);
        }
        group.classes = match &group.key {
            GroupKey::Verdict { class, .. } => BTreeMap::from([(*class, nodes.len())]),
            GroupKey::Label { .. } => verdict::counts(nodes.iter().map(|(at, _)| all[*at])),
        };
        group
    }

    /// Returns whether this is the group of nodes without the label.
    fn is_rest(&self) -> bool {
        matches!(self.key, GroupKey::Label { value: None, .. })
    }

    /// Returns the share of nodes with a verdict, in thousandths.
    fn share(&self, class: Class) -> usize {
        self.classes.get(&class).map_or(0, |n| n * 1000 / self.count.max(1))
    }
}

impl NodeRow {
    /// Returns the number of nodes that the row is about; none for a node in an open group, which the group counts.
    pub fn nodes(&self) -> usize {
        match self {
            Self::Rejected | Self::Node { inside: true, .. } => 0,
            Self::Group(group) => group.count,
            Self::Node { inside: false, .. } => 1,
        }
    }
}

impl Row for NodeRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Rejected => None,
            Self::Group(group) => Some(RowId::Group(group.key.clone())),
            Self::Node { name, .. } => Some(RowId::Node(name.clone())),
        }
    }

    fn is(&self, id: &RowId) -> bool {
        match (self, id) {
            (Self::Group(group), RowId::Group(other)) => group.key == *other,
            (Self::Node { name, .. }, RowId::Node(other)) => name == other,
            _ => false,
        }
    }
}

/// A node with its position in the snapshot.
type Positioned<'a> = (usize, &'a Arc<NodeInfo>);

/// Options for listing nodes.
pub struct NodeOptions<'a> {
    /// The grouping.
    pub grouping: &'a Grouping,
    /// The open groups.
    pub open: &'a BTreeSet<GroupKey>,
    /// The sort order; of groups by verdict it applies within each.
    pub order: Sort,
    /// The classes of the verdicts so far, by position.
    pub classes: &'a [Class],
}

/// Returns the nodes, by default closest to fitting first: those that fit by falling score, then those that lack the smallest
/// part of the requests, then the others by verdict, reason and name.
pub fn node_rows(timeline: &Timeline, whole: &CycleView, options: &NodeOptions<'_>, filter: &mut Filter) -> Vec<NodeRow> {
    let nodes = timeline.decided_on().snapshot.nodes();
    let verdicts = Verdicts::new(whole);
    let shown = nodes.iter().enumerate().filter(|(_, n)| filter.is_empty() || keeps_node(&verdicts, n, filter));
    match (options.grouping, options.order) {
        (Grouping::Verdict, _) => by_verdict(timeline.cycle(), shown, options),
        (Grouping::Label(key), _) => by_label(timeline.cycle(), shown, key, options),
        (Grouping::None, Sort::Usual) => flat_rows(whole, shown.map(|(_, node)| node)),
        (Grouping::None, order) => {
            let places = NodeRanking::new(order, whole);
            let reason = |n: &NodeInfo| {
                let verdict = verdicts.of(n.name());
                (order == Sort::Verdict).then_some((verdict.class, verdict.plugin, verdict.reason))
            };
            let mut list: Vec<_> = shown.map(|(_, n)| (places.of(n), reason(n), n.name())).collect();
            list.sort();
            list.into_iter().map(|(.., name)| NodeRow::Node { name: name.clone(), inside: false }).collect()
        }
    }
}

/// Returns whether a filter keeps a node: by its name, verdict, plugin, reason with the deciding fact, taints and labels.
fn keeps_node(verdicts: &Verdicts<'_>, node: &NodeInfo, filter: &mut Filter) -> bool {
    let verdict = verdicts.of(node.name());
    let (fact, reason) = (verdict.in_row(), verdict.reason.as_ref());
    let taints: Vec<String> = node.node.spec.taints.iter().map(taint_text).collect();
    let mut facts = vec![Fact::name("node", node.name()), Fact::name("name", node.name()), Fact::prose("verdict", verdict.class.word())];
    facts.extend(verdict.plugin.map(|plugin| Fact::prose("plugin", plugin.as_str())));
    facts.extend([Fact::prose("reason", &fact), Fact::prose("reason", reason)]);
    facts.extend(taints.iter().map(|taint| Fact::prose("taint", taint)));
    facts.extend(node.node.metadata.labels.iter().map(|(key, value)| Fact::label(key, value)));
    filter.keeps(&facts)
}

fn flat_rows<'a>(whole: &CycleView, nodes: impl Iterator<Item = &'a Arc<NodeInfo>>) -> Vec<NodeRow> {
    let (verdicts, places) = (Verdicts::new(whole), NodeRanking::new(Sort::Closest, whole));
    let mut list: Vec<_> = nodes
        .map(|node| {
            let verdict = verdicts.of(node.name());
            (places.of_verdict(node, &verdict), verdict.plugin, verdict.reason, node.name(), verdict.class)
        })
        .collect();
    list.sort();
    let split = if whole.scores.is_empty() { None } else { list.iter().position(|(.., class)| *class != Class::Fits).filter(|at| *at > 0) };
    let mut rows = Vec::with_capacity(list.len() + 1);
    for (i, (.., name, _)) in list.into_iter().enumerate() {
        if split == Some(i) {
            rows.push(NodeRow::Rejected);
        }
        rows.push(NodeRow::Node { name: name.clone(), inside: false });
    }
    rows
}

fn by_verdict<'a>(cycle: &CycleView, nodes: impl Iterator<Item = Positioned<'a>>, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let verdicts = Verdicts::new(cycle);
    let mut groups: BTreeMap<_, Vec<Positioned<'_>>> = BTreeMap::new();
    for (at, node) in nodes {
        let v = verdicts.of(node.name());
        groups.entry((v.class, v.plugin, v.reason)).or_default().push((at, node));
    }
    let groups = groups.into_iter().map(|((class, plugin, reason), nodes)| {
        let key = GroupKey::Verdict { class, plugin, reason: reason.into_owned() };
        (Group::of(key.clone(), options.open.contains(&key), &nodes, options.classes), nodes)
    });
    listed(groups.collect(), cycle, options.order)
}

fn by_label<'a>(cycle: &CycleView, nodes: impl Iterator<Item = Positioned<'a>>, label: &Str, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let mut groups: BTreeMap<Option<&Str>, Vec<Positioned<'_>>> = BTreeMap::new();
    for (at, node) in nodes {
        groups.entry(node.node.metadata.labels.get(label.as_str())).or_default().push((at, node));
    }
    let mut groups: Vec<(Group, Vec<Positioned<'_>>)> = groups
        .into_iter()
        .map(|(value, nodes)| {
            let key = GroupKey::Label { key: label.clone(), value: value.cloned() };
            (Group::of(key.clone(), options.open.contains(&key), &nodes, options.classes), nodes)
        })
        .collect();
    // The sort is stable: equal groups stay sorted by value.
    match options.order {
        Sort::Usual => groups.sort_by_key(|(group, _)| {
            let share = |class| Reverse(group.share(class));
            (share(Class::Fits), share(Class::Unschedulable), share(Class::Unresolvable), group.is_rest())
        }),
        Sort::FreeCpu => groups.sort_by_key(|(group, _)| Reverse(group.most_cpu)),
        // Nodes without the label come last.
        _ => groups.sort_by_key(|(group, _)| group.is_rest()),
    }
    listed(groups, cycle, options.order)
}

/// Returns the groups, each open one with its nodes.
fn listed(groups: Vec<(Group, Vec<Positioned<'_>>)>, cycle: &CycleView, order: Sort) -> Vec<NodeRow> {
    // The nodes of a group are closest to fitting first, too.
    let places = NodeRanking::new(if order == Sort::Usual { Sort::Closest } else { order }, cycle);
    let mut rows = Vec::new();
    for (group, mut nodes) in groups {
        let open = group.open;
        rows.push(NodeRow::Group(Box::new(group)));
        if open {
            nodes.sort_by_cached_key(|(_, node)| (places.of(node), node.name()));
            rows.extend(nodes.into_iter().map(|(_, node)| NodeRow::Node { name: node.name().clone(), inside: true }));
        }
    }
    rows
}
