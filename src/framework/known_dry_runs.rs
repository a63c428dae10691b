//! Dry runs of preemption for the next pods that require the same of a node, in quiet runs. No counterpart upstream.

use std::sync::{Arc, Weak};

use super::{BudgetIndex, NodeDryRun, NodeInfo, Nodes, PluginSet};

/// The dry runs of nodes for one preemptor, which hold for others like it as long as the node is the same.
#[derive(Debug, Default)]
pub struct KnownDryRuns {
    /// The priority of the preemptors, and the filters that run for them.
    of: (i32, PluginSet),
    budgets: BudgetIndex,
    /// By position in the snapshot.
    nodes: Vec<Option<Known>>,
}

/// The dry run of a node. A node that changes is another allocation, as long as this one is referred to.
#[derive(Debug)]
struct Known {
    node: Weak<NodeInfo>,
    run: Arc<NodeDryRun>,
}

impl KnownDryRuns {
    /// Returns those of preemptors with a priority and filters under these budgets: these ones, or none if they are of others.
    #[must_use]
    pub fn of(self, of: (i32, PluginSet), budgets: &BudgetIndex) -> Self {
        if self.of == of && self.budgets.is_same(budgets) { self } else { Self { of, budgets: budgets.clone(), nodes: Vec::new() } }
    }

    /// Returns the dry run of a node as it is now; `None` if it is not known.
    #[inline]
    pub fn get(&self, position: usize, node: &Arc<NodeInfo>) -> Option<&Arc<NodeDryRun>> {
        let known = self.nodes.get(position)?.as_ref()?;
        std::ptr::eq(known.node.as_ptr(), Arc::as_ptr(node)).then_some(&known.run)
    }

    /// Keeps the dry run of a node, unless it holds for this moment alone: a pod without a start time counts as started now, which may
    /// not be later than another one's. `now` is in nanoseconds since 1970.
    pub fn learn(&mut self, position: usize, nodes: &Nodes, run: &Arc<NodeDryRun>, now: i64) {
        let Some(node) = nodes.get(position).filter(|node| node.starts_are_before(now)) else { return };
        if position >= self.nodes.len() {
            self.nodes.resize_with(nodes.len(), || None);
        }
        self.nodes[position] = Some(Known { node: Arc::downgrade(node), run: run.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::PodInfo;

    fn node(name: &str, starts: &[Option<i64>]) -> Arc<NodeInfo> {
        let object = serde_json::json!({"metadata": {"name": name}});
        let mut node = NodeInfo::new(Arc::new(serde_json::from_value(object).unwrap()));
        for (at, start) in starts.iter().enumerate() {
            let start = start.map(|seconds| jiff::Timestamp::from_second(seconds).unwrap().to_string());
            let pod = serde_json::json!({"metadata": {"name": at.to_string()}, "status": {"startTime": start}});
            node.add_pod(Arc::new(PodInfo::new(Arc::new(serde_json::from_value(pod).unwrap()))));
        }
        Arc::new(node)
    }

    #[test]
    fn a_dry_run_is_known_until_the_node_or_a_budget_changes() {
        let nodes: Nodes = [node("a", &[Some(5), None]), node("b", &[])].into_iter().collect();
        let (of, now) = ((7, PluginSet::default()), 6_000_000_000);
        let (budgets, run) = (BudgetIndex::default(), Arc::new(NodeDryRun::default()));
        let mut known = KnownDryRuns::default().of(of, &budgets);
        known.learn(0, &nodes, &run, now);
        known.learn(2, &nodes, &run, now);
        assert!(known.get(0, &nodes[0]).is_some_and(|known| Arc::ptr_eq(known, &run)));
        assert!(known.get(1, &nodes[1]).is_none() && known.get(2, &nodes[1]).is_none() && known.get(0, &nodes[1]).is_none());
        assert!(known.get(0, &node("a", &[Some(5), None])).is_none(), "it is as it was, but another one");
        let known = known.of(of, &budgets);
        assert!(known.get(0, &nodes[0]).is_some());
        assert!(known.of((8, PluginSet::default()), &budgets).get(0, &nodes[0]).is_none(), "of another priority");
    }

    #[test]
    fn a_dry_run_that_depends_on_the_time_is_not_kept() {
        let nodes: Nodes = [node("a", &[Some(5), None]), node("b", &[Some(4)])].into_iter().collect();
        let mut known = KnownDryRuns::default();
        (0..2).for_each(|at| known.learn(at, &nodes, &Arc::default(), 5_000_000_000));
        assert_eq!([0, 1].map(|at| known.get(at, &nodes[at]).is_some()), [false, true]);
    }
}
