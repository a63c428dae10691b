//! Dry runs of preemption for the next pods that require the same of a node. No counterpart upstream.

use std::sync::{Arc, Weak};

use super::{BudgetIndex, NodeDryRun, NodeInfo, Nodes, PluginSet, PodSums};

/// The dry runs of nodes for one preemptor, which hold for others like it as long as the node is the same.
#[derive(Debug, Default)]
pub struct KnownDryRuns {
    /// The priority of the preemptors, and the filters that end dry runs.
    of: (i32, PluginSet),
    /// The budgets as they are now.
    budgets: BudgetIndex,
    /// By position in the snapshot.
    nodes: Vec<Option<Known>>,
}

/// The dry run of a node. A node that changes is another allocation, as long as this one is referred to.
#[derive(Debug)]
struct Known {
    node: Weak<NodeInfo>,
    /// The sums of the pods nominated to it that count; `None` if there were none.
    nominated: Option<PodSums>,
    /// The budgets as they were; `None` if the filters rejected the node before any budget was read.
    budgets: Option<BudgetIndex>,
    run: Arc<NodeDryRun>,
}

impl KnownDryRuns {
    /// Returns those of preemptors with a priority and filters under these budgets: these ones, or none if they are of others.
    #[must_use]
    pub fn of(self, of: (i32, PluginSet), budgets: &BudgetIndex) -> Self {
        Self { of, budgets: budgets.clone(), nodes: if self.of == of { self.nodes } else { Vec::new() } }
    }

    /// Returns the dry run of a node as it is now, with the sums of the pods nominated to it that count; `None` if it is not known.
    #[inline]
    pub fn get(&self, position: usize, node: &Arc<NodeInfo>, nominated: Option<&PodSums>) -> Option<&Arc<NodeDryRun>> {
        let known = self.nodes.get(position)?.as_ref()?;
        let is_of_budgets = || known.budgets.as_ref().is_none_or(|budgets| budgets.is_same(&self.budgets));
        let holds = std::ptr::eq(known.node.as_ptr(), Arc::as_ptr(node)) && known.nominated.as_ref() == nominated && is_of_budgets();
        holds.then_some(&known.run)
    }

    /// Keeps the dry run of a node, unless it holds for this moment alone: a pod without a start time counts as started now, which may
    /// not be later than another one's. `now` is in nanoseconds since 1970.
    pub fn learn(&mut self, position: usize, nodes: &Nodes, nominated: Option<PodSums>, run: Arc<NodeDryRun>, now: i64) {
        let Some(node) = nodes.get(position).filter(|node| node.starts_are_before(now)) else { return };
        if position >= self.nodes.len() {
            self.nodes.resize_with(nodes.len(), || None);
        }
        let budgets = (!run.status.is_rejected()).then(|| self.budgets.clone());
        self.nodes[position] = Some(Known { node: Arc::downgrade(node), nominated, budgets, run });
    }
}

#[cfg(test)]
mod tests;
