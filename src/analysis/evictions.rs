//! The eviction of a node's pods as the eviction API decides it, and what it takes of each budget.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::{Cluster, DrainAction, Eviction, Key, Pod, PodDisruptionBudget};
use crate::plural::{count, count_of};

/// The eviction of all pods of a node. No replacement becomes ready meanwhile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeEvictions {
    /// The pods that may be evicted.
    pub evicted: Vec<Key>,
    /// Pods of DaemonSets and static pods, which a drain leaves.
    pub left: usize,
    /// Pods without a controller: `kubectl drain` wants `--force` for them.
    pub bare: Vec<Key>,
    /// The pods that may not be evicted, and why.
    pub stopped: Vec<(Key, Stop)>,
    /// The budgets that cover any of the pods, by namespace and name.
    pub budgets: BTreeMap<Key, BudgetEvictions>,
}

/// Why a pod may not be evicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The budget allows no more disruptions.
    NoneLeft(Key),
    /// Several budgets cover the pod, which the eviction API refuses.
    Several(Vec<Key>),
}

/// The effect of the evictions on one budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetEvictions {
    /// The disruptions that it allows at first.
    pub allowed: i32,
    /// The number of pods on the node that it covers.
    pub covers: usize,
    /// How many of them may be evicted.
    pub evicted: usize,
    /// Those that may not be evicted because of it.
    pub stopped: Vec<Key>,
}

/// Evicts pods one after another, in the order given.
pub fn evictions<'p>(cluster: &Cluster, pods: impl IntoIterator<Item = &'p Pod>) -> NodeEvictions {
    let mut result = NodeEvictions::default();
    for pod in pods {
        match DrainAction::of(pod) {
            DrainAction::LeavesMirror | DrainAction::LeavesDaemonSet => {
                result.left += 1;
                continue;
            }
            DrainAction::NeedsForce => result.bare.push(pod.key()),
            DrainAction::Evicts => {}
        }
        result.evict(cluster, pod);
    }
    result
}

impl NodeEvictions {
    fn evict(&mut self, cluster: &Cluster, pod: &Pod) {
        let key = pod.key();
        match Eviction::of(cluster, pod) {
            Eviction::Free => self.evicted.push(key),
            Eviction::Unready(budget) => {
                self.cover(budget);
                self.evicted.push(key);
            }
            Eviction::Disrupts(budget) => {
                let entry = self.cover(budget);
                if i64::from(entry.allowed) > entry.evicted as i64 {
                    entry.evicted += 1;
                    self.evicted.push(key);
                } else {
                    entry.stopped.push(key.clone());
                    self.stopped.push((key, Stop::NoneLeft(budget.metadata.key())));
                }
            }
            Eviction::Several(budgets) => {
                for budget in &budgets {
                    self.cover(budget).stopped.push(key.clone());
                }
                self.stopped.push((key, Stop::Several(budgets.iter().map(|budget| budget.metadata.key()).collect())));
            }
        }
    }

    /// Counts a pod that a budget covers.
    fn cover(&mut self, budget: &PodDisruptionBudget) -> &mut BudgetEvictions {
        let entry = self.budgets.entry(budget.metadata.key()).or_default();
        entry.allowed = budget.status.disruptions_allowed;
        entry.covers += 1;
        entry
    }

    /// Returns the result in one sentence without a full stop.
    pub fn sentence(&self) -> String {
        let all = self.evicted.len() + self.stopped.len();
        let left = if self.left == 0 {
            String::new()
        } else {
            format!("; {}", count_of(self.left, "DaemonSet or static pod stays", "DaemonSet or static pods stay"))
        };
        let bare = match self.bare.len() {
            0 => String::new(),
            n => format!("; {} without a controller will not be recreated", count(n, "pod")),
        };
        if all == 0 {
            return format!("no pods to evict{left}");
        }
        if self.stopped.is_empty() {
            let pods = if all == 1 { "its pod".to_owned() } else { format!("all {all} pods") };
            return format!("{pods} may be evicted{left}{bare}");
        }
        let names = self.stopped.iter().flat_map(|(_, stop)| match stop {
            Stop::NoneLeft(name) => std::slice::from_ref(name),
            Stop::Several(names) => names,
        });
        let mut seen = BTreeSet::new();
        let by: Vec<&Key> = names.filter(|name| seen.insert(*name)).collect();
        let names: Vec<String> = by.iter().take(3).map(ToString::to_string).collect();
        format!(
            "stopped by {} {}{}: {} of {} may be evicted{left}{bare}",
            if by.len() == 1 { "budget" } else { "budgets" },
            names.join(", "),
            and_more(by.len() - names.len()),
            self.evicted.len(),
            count(all, "pod"),
        )
    }
}

impl BudgetEvictions {
    /// Returns the effect in one sentence without a full stop: `allows 1, covers 2 of the pods: shop/search-1 stays`.
    pub fn sentence(&self) -> String {
        let names: Vec<String> = self.stopped.iter().take(3).map(ToString::to_string).collect();
        let more = and_more(self.stopped.len() - names.len());
        let left = i64::from(self.allowed) - self.evicted as i64;
        let result = match self.stopped.len() {
            0 => format!("{} left after the evictions", left.max(0)),
            1 => format!("{} stays", names.join(", ")),
            _ => format!("{}{more} stay", names.join(", ")),
        };
        format!("allows {}, covers {} here: {result}", self.allowed, count(self.covers, "pod"))
    }
}

fn and_more(n: usize) -> String {
    if n == 0 { String::new() } else { format!(" and {n} more") }
}

#[cfg(test)]
mod tests;
