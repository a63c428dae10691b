//! The rows of the nodes pane: nodes one by one, or in groups with the sum and maximum of their free resources.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::Str;
use crate::framework::Nodes;
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::model::filter::Filter;
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::Row;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::node_facts::NodeFacts;
use crate::ui::model::sort::Sort;
use crate::ui::model::verdict::{self, Class};

/// A row of the nodes pane.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeRow {
    /// The boundary between nodes with scores and nodes with reasons.
    Rejected,
    /// A group of nodes.
    Group(Box<Group>),
    Node {
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
    fn of(key: GroupKey, open: bool, nodes: &Nodes, positions: &[usize], facts: &NodeFacts) -> Self {
        let (most_cpu, most_memory) = (i64::MIN, i64::MIN);
        let mut group = Self { key, open, count: positions.len(), classes: BTreeMap::new(), cpu: 0, most_cpu, memory: 0, most_memory };
        for node in positions.iter().map(|at| &nodes[*at]) {
            let cpu = node.allocatable.milli_cpu.saturating_sub(node.requested.milli_cpu);
            let memory = node.allocatable.memory.saturating_sub(node.requested.memory);
            // An overcommitted node does not reduce the sum.
            group.cpu = group.cpu.saturating_add(cpu.max(0));
            group.memory = group.memory.saturating_add(memory.max(0));
            group.most_cpu = group.most_cpu.max(cpu);
            group.most_memory = group.most_memory.max(memory);
        }
        group.classes = verdict::counts(positions.iter().map(|at| facts.class(*at)));
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

impl Row for NodeRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Rejected => None,
            Self::Group(group) => Some(RowId::Group(group.key.clone())),
            Self::Node { name, .. } => Some(RowId::Node(name.clone())),
        }
    }

    fn is_heading(&self) -> bool {
        matches!(self, Self::Rejected)
    }

    fn things(&self) -> usize {
        match self {
            // The group counts the nodes in it.
            Self::Rejected | Self::Node { inside: true, .. } => 0,
            Self::Group(group) => group.count,
            Self::Node { inside: false, .. } => 1,
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

/// Options for listing nodes.
pub struct NodeOptions<'a> {
    pub grouping: &'a Grouping,
    pub open: &'a BTreeSet<GroupKey>,
    /// The sort order; of groups by verdict it applies within each.
    pub order: Sort,
    /// The facts of the cycle so far, by position.
    pub facts: &'a NodeFacts,
}

/// Returns the nodes, by default closest to fitting first: those that fit by falling score, then those that lack the smallest
/// part of the requests, then the others by verdict, reason and name. One by one they are in the order of the whole cycle,
/// whose facts `of_whole` returns.
pub fn node_rows<'a>(
    timeline: &Timeline,
    whole: &CycleView,
    of_whole: impl FnOnce() -> &'a NodeFacts,
    options: &NodeOptions<'_>,
    filter: &mut Filter,
) -> Vec<NodeRow> {
    let snapshot = &timeline.decided_on().snapshot;
    let nodes = snapshot.nodes();
    let facts = (!filter.is_empty() || *options.grouping == Grouping::None).then(of_whole);
    let kept = facts.filter(|_| !filter.is_empty()).map(|facts| facts.kept(whole, snapshot, filter));
    let keeps = |at: usize| kept.as_ref().is_none_or(|kept| kept[at]);
    match options.grouping {
        Grouping::None => {
            let facts = facts.unwrap_or(options.facts);
            let listed = facts.sorted(options.order, whole, snapshot);
            let shown = listed.iter().map(|at| *at as usize).filter(|at| keeps(*at));
            let has_scores = !whole.scoring.scores.is_empty() && options.order == Sort::Usual;
            flat_rows(facts, nodes, shown, has_scores)
        }
        Grouping::Verdict => by_verdict((0..nodes.len()).filter(|at| keeps(*at)), timeline, options),
        Grouping::Label(key) => by_label((0..nodes.len()).filter(|at| keeps(*at)), key, timeline, options),
    }
}

/// The fields that a filter of the nodes can name.
pub const NODE_FIELDS: &[&str] = &["node", "name", "verdict", "plugin", "reason", "taint", "zone", "label"];

/// Returns a row for each node, with a heading before the first that does not fit if those before it have scores.
fn flat_rows(facts: &NodeFacts, nodes: &Nodes, shown: impl Iterator<Item = usize>, has_scores: bool) -> Vec<NodeRow> {
    let mut rows = Vec::with_capacity(nodes.len() + 1);
    let mut above_all_fit = has_scores;
    for at in shown {
        if above_all_fit && facts.class(at) != Class::Fits {
            above_all_fit = false;
            if !rows.is_empty() {
                rows.push(NodeRow::Rejected);
            }
        }
        rows.push(NodeRow::Node { name: nodes[at].name().clone(), inside: false });
    }
    rows
}

/// A group with the positions of its nodes.
type Positions = (Group, Vec<usize>);

fn by_verdict(shown: impl Iterator<Item = usize>, timeline: &Timeline, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let (facts, nodes) = (options.facts, timeline.decided_on().snapshot.nodes());
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); facts.causes()];
    for at in shown {
        groups[facts.cause_index(at)].push(at);
    }
    let groups = groups.into_iter().enumerate().filter(|(_, positions)| !positions.is_empty()).map(|(index, positions)| {
        let (class, plugin, reason) = facts.cause(index);
        let key = GroupKey::Verdict { class: *class, plugin: *plugin, reason: reason.to_string() };
        (Group::of(key.clone(), options.open.contains(&key), nodes, &positions, facts), positions)
    });
    listed(groups.collect(), timeline, options)
}

fn by_label(shown: impl Iterator<Item = usize>, label: &Str, timeline: &Timeline, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let nodes = timeline.decided_on().snapshot.nodes();
    let mut groups: BTreeMap<Option<&Str>, Vec<usize>> = BTreeMap::new();
    for at in shown {
        groups.entry(nodes[at].node.metadata.labels.get(label.as_str())).or_default().push(at);
    }
    let mut groups: Vec<Positions> = groups
        .into_iter()
        .map(|(value, positions)| {
            let key = GroupKey::Label { key: label.clone(), value: value.cloned() };
            (Group::of(key.clone(), options.open.contains(&key), nodes, &positions, options.facts), positions)
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
    listed(groups, timeline, options)
}

/// Returns the groups, each open one with its nodes.
fn listed(groups: Vec<Positions>, timeline: &Timeline, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let snapshot = &timeline.decided_on().snapshot;
    let mut places = Vec::new();
    if groups.iter().any(|(group, _)| group.open) {
        // The nodes of a group are closest to fitting first, too.
        places = vec![0; snapshot.len()];
        for (at, place) in options.facts.sorted(options.order, timeline.cycle(), snapshot).iter().zip(0_u32..) {
            places[*at as usize] = place;
        }
    }
    let mut rows = Vec::new();
    for (group, mut positions) in groups {
        let open = group.open;
        rows.push(NodeRow::Group(Box::new(group)));
        if open {
            positions.sort_unstable_by_key(|at| places[*at]);
            rows.extend(positions.into_iter().map(|at| NodeRow::Node { name: snapshot.nodes()[at].name().clone(), inside: true }));
        }
    }
    rows
}
