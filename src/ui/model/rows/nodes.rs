//! The rows of the nodes pane: nodes one by one, or in groups with what they have free together and at most.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use strum::IntoEnumIterator as _;

use crate::cluster::Str;
use crate::framework::NodeInfo;
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::Row;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::node_ranking::NodeRanking;
use crate::ui::model::sort::Sort;
use crate::ui::model::verdict::{Class, Verdicts};

/// A row of the nodes pane.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeRow {
    /// The columns change here, from scores to reasons.
    Rejected,
    /// Nodes that share something.
    Group(Box<Group>),
    /// A node; `inside` an open group.
    Node {
        /// Its name.
        name: Str,
        /// Whether a group above it is open.
        inside: bool,
    },
}

/// Nodes that share something, and what they are together.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// What they share.
    pub key: GroupKey,
    /// Whether they are listed below.
    pub open: bool,
    /// How many.
    pub count: usize,
    /// How many have each verdict.
    pub classes: BTreeMap<Class, usize>,
    /// Free cpu of all, in thousandths of a core.
    pub cpu: i64,
    /// The most free cpu on one node.
    pub most_cpu: i64,
    /// Free memory of all, in bytes.
    pub memory: i64,
    /// The most free memory on one node.
    pub most_memory: i64,
}

impl Group {
    fn of(key: GroupKey, open: bool, nodes: &[&Arc<NodeInfo>], verdicts: &Verdicts<'_>) -> Self {
        let (most_cpu, most_memory) = (i64::MIN, i64::MIN);
        let mut group = Self { key, open, count: nodes.len(), classes: BTreeMap::new(), cpu: 0, most_cpu, memory: 0, most_memory };
        let mut classes = [0; 8];
        for node in nodes {
            let cpu = node.allocatable.milli_cpu.saturating_sub(node.requested.milli_cpu);
            let memory = node.allocatable.memory.saturating_sub(node.requested.memory);
            // What is taken beyond what there is makes no room elsewhere less.
            group.cpu = group.cpu.saturating_add(cpu.max(0));
            group.memory = group.memory.saturating_add(memory.max(0));
            group.most_cpu = group.most_cpu.max(cpu);
            group.most_memory = group.most_memory.max(memory);
            let class = match &group.key {
                GroupKey::Verdict { class, .. } => *class,
                GroupKey::Label { .. } => verdicts.class(node.name()),
            };
            classes[class as usize] += 1;
        }
        group.classes = Class::iter().map(|class| (class, classes[class as usize])).filter(|(_, n)| *n > 0).collect();
        group
    }

    /// Whether these are the nodes that have no such label.
    fn is_rest(&self) -> bool {
        matches!(self.key, GroupKey::Label { value: None, .. })
    }

    /// Thousandths of the nodes that have a verdict.
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

    fn is(&self, id: &RowId) -> bool {
        match (self, id) {
            (Self::Group(group), RowId::Group(other)) => group.key == *other,
            (Self::Node { name, .. }, RowId::Node(other)) => name == other,
            _ => false,
        }
    }
}

/// How nodes are to be listed.
pub struct NodeOptions<'a> {
    /// In groups.
    pub grouping: &'a Grouping,
    /// Groups that are open.
    pub open: &'a BTreeSet<GroupKey>,
    /// In which order; of groups by verdict, within each.
    pub order: Sort,
}

/// The nodes, worst last: those that fit by falling score, then the others by verdict, reason and name.
pub fn node_rows(timeline: &Timeline, whole: &CycleView, options: &NodeOptions<'_>, filter: &mut Fuzzy) -> Vec<NodeRow> {
    let nodes = timeline.moment().snapshot.nodes();
    let shown = nodes.iter().filter(|n| filter.keeps(n.name()));
    match (options.grouping, options.order) {
        (Grouping::Verdict, _) => by_verdict(timeline.cycle(), shown, options),
        (Grouping::Label(key), _) => by_label(timeline.cycle(), shown, key, options),
        (Grouping::None, Sort::Usual) => flat_rows(whole, shown.map(|n| n.name())),
        (Grouping::None, order) => {
            let places = NodeRanking::new(order, whole);
            let mut list: Vec<_> = shown.map(|n| (places.of(n), n.name())).collect();
            list.sort();
            list.into_iter().map(|(_, name)| NodeRow::Node { name: name.clone(), inside: false }).collect()
        }
    }
}

fn flat_rows<'a>(whole: &CycleView, nodes: impl Iterator<Item = &'a Str>) -> Vec<NodeRow> {
    let verdicts = Verdicts::new(whole);
    let mut list: Vec<_> = nodes
        .map(|name| {
            let verdict = verdicts.of(name);
            (verdict.class, Reverse(whole.scores.get(name).map(|s| s.total)), verdict.plugin, verdict.reason, name)
        })
        .collect();
    list.sort();
    let split = if whole.scores.is_empty() { None } else { list.iter().position(|(class, ..)| *class != Class::Fits).filter(|at| *at > 0) };
    let mut rows = Vec::with_capacity(list.len() + 1);
    for (i, (.., name)) in list.into_iter().enumerate() {
        if split == Some(i) {
            rows.push(NodeRow::Rejected);
        }
        rows.push(NodeRow::Node { name: name.clone(), inside: false });
    }
    rows
}

fn by_verdict<'a>(cycle: &CycleView, nodes: impl Iterator<Item = &'a Arc<NodeInfo>>, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let verdicts = Verdicts::new(cycle);
    let mut groups: BTreeMap<_, Vec<&Arc<NodeInfo>>> = BTreeMap::new();
    for node in nodes {
        let v = verdicts.of(node.name());
        groups.entry((v.class, v.plugin, v.reason)).or_default().push(node);
    }
    let groups = groups.into_iter().map(|((class, plugin, reason), nodes)| {
        let key = GroupKey::Verdict { class, plugin, reason: reason.into_owned() };
        (Group::of(key.clone(), options.open.contains(&key), &nodes, &verdicts), nodes)
    });
    listed(groups.collect(), cycle, options.order)
}

fn by_label<'a>(cycle: &CycleView, nodes: impl Iterator<Item = &'a Arc<NodeInfo>>, label: &Str, options: &NodeOptions<'_>) -> Vec<NodeRow> {
    let verdicts = Verdicts::new(cycle);
    let mut groups: BTreeMap<Option<&Str>, Vec<&Arc<NodeInfo>>> = BTreeMap::new();
    for node in nodes {
        groups.entry(node.node.metadata.labels.get(label.as_str())).or_default().push(node);
    }
    let places = NodeRanking::new(options.order, cycle);
    let mut groups: Vec<(Group, Vec<&Arc<NodeInfo>>)> = groups
        .into_iter()
        .map(|(value, nodes)| {
            let key = GroupKey::Label { key: label.clone(), value: value.cloned() };
            (Group::of(key.clone(), options.open.contains(&key), &nodes, &verdicts), nodes)
        })
        .collect();
    // Sorting is stable: what is equal stays by value.
    match options.order {
        Sort::Usual => groups.sort_by_key(|(group, _)| {
            let share = |class| Reverse(group.share(class));
            (share(Class::Fits), share(Class::Unschedulable), share(Class::Unresolvable), group.is_rest())
        }),
        Sort::FreeCpu => groups.sort_by_key(|(group, _)| Reverse(group.most_cpu)),
        Sort::Closest => groups.sort_by_cached_key(|(_, nodes)| nodes.iter().map(|n| places.of(n)).min()),
        // Nodes without the label stand last.
        _ => groups.sort_by_key(|(group, _)| group.is_rest()),
    }
    listed(groups, cycle, options.order)
}

/// Groups with the nodes of those that are open.
fn listed(groups: Vec<(Group, Vec<&Arc<NodeInfo>>)>, cycle: &CycleView, order: Sort) -> Vec<NodeRow> {
    let (places, verdicts) = (NodeRanking::new(order, cycle), Verdicts::new(cycle));
    let mut rows = Vec::new();
    for (group, mut nodes) in groups {
        let open = group.open;
        rows.push(NodeRow::Group(Box::new(group)));
        if open {
            nodes.sort_by_cached_key(|node| {
                let usual =
                    (order == Sort::Usual).then(|| (verdicts.class(node.name()), Reverse(cycle.scores.get(node.name()).map(|s| s.total))));
                (places.of(node), usual, node.name())
            });
            rows.extend(nodes.into_iter().map(|node| NodeRow::Node { name: node.name().clone(), inside: true }));
        }
    }
    rows
}
