//! Facts of the nodes at the cursor.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use crate::framework::{NodeInfo, Snapshot};
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::GroupKey;
use crate::ui::model::node_facts::{NodeFacts, NodeOrders};
use crate::ui::model::rows::NodeRow;
use crate::ui::model::sort::Sort;
use crate::ui::model::verdict::Class;

/// Facts of all nodes, for the cycle up to the cursor.
#[derive(Clone, Debug, Default)]
pub struct ClusterNodes {
    /// The nodes.
    of: Option<Snapshot>,
    /// Their free and allocatable resources.
    pub totals: Totals,
    /// Orders and labels of the nodes.
    pub orders: Arc<NodeOrders>,
    /// The facts of the nodes so far.
    pub facts: NodeFacts,
    /// The number of nodes that had scores when the facts were read.
    pub(super) scored: Option<usize>,
    /// The facts of the nodes in the whole cycle; made when they are listed one by one.
    pub(super) whole_facts: OnceLock<NodeFacts>,
    /// Rank and number of tied nodes, by total score.
    pub ranks: BTreeMap<i64, (usize, usize)>,
    /// The number of nodes with each verdict.
    pub counts: BTreeMap<Class, usize>,
    pub grouping: Grouping,
    /// Lists without a filter, by grouping, sort order and open groups.
    lists: Vec<(NodeListKey, Arc<Vec<NodeRow>>)>,
}

/// The input of a list of nodes without a filter, besides the cycle.
pub type NodeListKey = (Grouping, Sort, BTreeSet<GroupKey>);

/// Limit on the lists of nodes that are kept.
pub(super) const NODE_LISTS: usize = 12;

/// Free and allocatable resources of all nodes: cpu in thousandths of a core, memory in bytes. A node that is overcommitted
/// counts as having none free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Free and allocatable cpu.
    pub cpu: (i64, i64),
    /// Free and allocatable memory.
    pub memory: (i64, i64),
}

impl Totals {
    fn add(&mut self, node: &NodeInfo) {
        let (all, used) = (&node.allocatable, &node.requested);
        let add = |sum: &mut (i64, i64), all: i64, used: i64| {
            *sum = (sum.0.saturating_add(all.saturating_sub(used).max(0)), sum.1.saturating_add(all));
        };
        add(&mut self.cpu, all.milli_cpu, used.milli_cpu);
        add(&mut self.memory, all.memory, used.memory);
    }
}

impl ClusterNodes {
    /// Returns whether these are the nodes of a snapshot.
    pub(super) fn are_of(&self, snapshot: &Snapshot) -> bool {
        self.of.as_ref().is_some_and(|of| of.nodes().is_same(snapshot.nodes()))
    }

    /// Takes the nodes of a snapshot.
    pub(super) fn take(&mut self, snapshot: &Snapshot) {
        self.of = Some(snapshot.clone());
        self.orders = Arc::default();
        self.totals = Totals::default();
        for node in snapshot.nodes() {
            self.totals.add(node);
        }
    }

    /// Drops the lists that facts of another point of the cycle change: all of them, unless the cycle `is_same` and they have no groups.
    pub(super) fn drop_lists(&mut self, is_same: bool) {
        self.lists.retain(|((grouping, ..), _)| is_same && *grouping == Grouping::None);
    }

    /// Returns a list that is kept.
    pub(super) fn list(&self, key: &NodeListKey) -> Option<Arc<Vec<NodeRow>>> {
        self.lists.iter().find(|(of, _)| of == key).map(|(_, rows)| rows.clone())
    }

    /// Keeps a list; drops the oldest if there are too many.
    pub(super) fn keep(&mut self, key: NodeListKey, rows: Arc<Vec<NodeRow>>) {
        if self.lists.len() == NODE_LISTS {
            self.lists.remove(0);
        }
        self.lists.push((key, rows));
    }
}
