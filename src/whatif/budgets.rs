//! PodDisruptionBudgets as the disruption controller keeps them; mirrors `pkg/controller/disruption/disruption.go`.
//!
//! An eviction takes one disruption of the budget. Once the replacement has a node, it is assumed to become ready, and
//! the budget gets the disruption back.

use std::collections::BTreeMap;

use super::answer::Block;
use crate::cluster::{Cluster, Eviction, Key, Pod, PodDisruptionBudget, evicting_budgets, needs_no_budget};
use crate::controllers::Draft;

/// The disruptions that budgets will get back.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    owed: Vec<Owed>,
    /// Disruptions beyond what was allowed, of budgets whose status does not say how many pods are healthy.
    overdrawn: BTreeMap<Key, i32>,
}

/// A pod that counted in budgets, and the one in its place.
#[derive(Debug)]
struct Owed {
    budgets: Vec<Key>,
    replacement: Key,
}

impl Ledger {
    /// Takes a disruption for the eviction of a pod, or returns what blocks it.
    pub(super) fn evict(&mut self, draft: &mut Draft, pod: &Pod, replacement: Option<&Key>) -> Result<(), Block> {
        let cluster = draft.cluster().clone();
        let budget = match Eviction::of(&cluster, pod) {
            Eviction::Free => return Ok(()),
            Eviction::Unready(budget) => {
                self.owe(vec![budget.metadata.key()], replacement);
                return Ok(());
            }
            Eviction::Disrupts(budget) => budget,
            Eviction::Several(budgets) => return Err(Block::Several(budgets.iter().map(|b| b.metadata.key()).collect())),
        };
        let status = &budget.status;
        if status.disruptions_allowed <= 0 {
            return Err(Block::exhausted(budget));
        }
        self.take(draft, budget, pod);
        self.owe(vec![budget.metadata.key()], replacement);
        Ok(())
    }

    /// Takes the disruption of a pod that is lost, whatever its budgets allow.
    pub(super) fn lose(&mut self, draft: &mut Draft, pod: &Pod, replacement: Option<&Key>) {
        if needs_no_budget(pod) {
            return;
        }
        let budgets: Vec<_> = evicting_budgets(draft.cluster(), pod).cloned().collect();
        for budget in &budgets {
            self.take(draft, budget, pod);
        }
        if !budgets.is_empty() {
            self.owe(budgets.iter().map(|b| b.metadata.key()).collect(), replacement);
        }
    }

    /// Records that a replacement is not made, so that nothing gives its disruption back.
    pub(super) fn withdraw(&mut self, replacement: &Key) {
        self.owed.retain(|owed| owed.replacement != *replacement);
    }

    fn owe(&mut self, budgets: Vec<Key>, replacement: Option<&Key>) {
        self.owed.extend(replacement.map(|replacement| Owed { budgets, replacement: replacement.clone() }));
    }

    /// Counts one healthy pod less.
    fn take(&mut self, draft: &mut Draft, budget: &PodDisruptionBudget, pod: &Pod) {
        if pod.status.unready {
            return;
        }
        let mut budget = budget.clone();
        let status = &mut budget.status;
        if status.disruptions_allowed > 0 {
            status.disruptions_allowed -= 1;
        } else if !knows_health(&budget) {
            *self.overdrawn.entry(budget.metadata.key()).or_default() += 1;
        }
        budget.status.current_healthy = (budget.status.current_healthy - 1).max(0);
        draft.put_budget(budget);
    }

    /// Gives disruptions back for replacements that have a node, and forgets those that are gone. Returns whether a
    /// budget changed.
    pub(super) fn give_back(&mut self, draft: &mut Draft) -> bool {
        let mut given = false;
        for Owed { budgets, replacement } in std::mem::take(&mut self.owed) {
            match draft.cluster().pods.get(&replacement) {
                Some(pod) if pod.node_name.is_empty() => self.owed.push(Owed { budgets, replacement }),
                Some(_) => {
                    for key in &budgets {
                        let Some(budget) = draft.cluster().pod_disruption_budgets.get(key) else { continue };
                        let budget = self.with_one_more(PodDisruptionBudget::clone(budget));
                        draft.put_budget(budget);
                        given = true;
                    }
                }
                None => {}
            }
        }
        given
    }

    /// Counts one healthy pod more.
    fn with_one_more(&mut self, mut budget: PodDisruptionBudget) -> PodDisruptionBudget {
        if knows_health(&budget) {
            let status = &mut budget.status;
            status.current_healthy = status.current_healthy.saturating_add(1);
            if status.current_healthy > status.desired_healthy {
                status.disruptions_allowed = status.disruptions_allowed.saturating_add(1);
            }
            return budget;
        }
        match self.overdrawn.get_mut(&budget.metadata.key()) {
            Some(debt) if *debt > 0 => *debt -= 1,
            _ => budget.status.disruptions_allowed = budget.status.disruptions_allowed.saturating_add(1),
        }
        budget
    }

    /// Returns whether every replacement that a budget waits for has a node.
    pub(super) fn is_settled(&self, cluster: &Cluster) -> bool {
        self.owed.iter().all(|owed| cluster.pods.get(&owed.replacement).is_none_or(|pod| !pod.node_name.is_empty()))
    }

    /// Returns the replacements without a node that a budget waits for.
    pub(super) fn awaited(&self, budget: &Key) -> Vec<Key> {
        self.owed.iter().filter(|owed| owed.budgets.contains(budget)).map(|owed| owed.replacement.clone()).collect()
    }
}

/// Returns whether the status says how many pods are healthy, and how many must be.
fn knows_health(budget: &PodDisruptionBudget) -> bool {
    budget.status.desired_healthy > 0 || budget.status.current_healthy > 0
}
