//! The eviction of a node's pods as the eviction API decides it, and what it takes of each budget.

use std::collections::BTreeMap;

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
        let mut by: Vec<&Key> = Vec::new();
        for (_, stop) in &self.stopped {
            let names = match stop {
                Stop::NoneLeft(name) => std::slice::from_ref(name),
                Stop::Several(names) => names,
            };
            for name in names {
                if !by.contains(&name) {
                    by.push(name);
                }
            }
        }
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
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;
    use crate::cluster::Object;

    fn pod(name: &str, owner: &str, more: &Value) -> Pod {
        let owners = if owner.is_empty() { json!([]) } else { json!([{ "kind": owner, "name": "o", "controller": true }]) };
        let mut pod = json!({
            "metadata": { "name": name, "namespace": "shop", "labels": { "app": name.split('-').next() }, "ownerReferences": owners },
            "spec": { "nodeName": "n" },
            "status": { "phase": "Running" }
        });
        merge(&mut pod, more);
        serde_json::from_value(pod).unwrap()
    }

    fn merge(into: &mut Value, from: &Value) {
        match (into, from) {
            (Value::Object(into), Value::Object(from)) => {
                for (key, value) in from {
                    merge(into.entry(key).or_insert(Value::Null), value);
                }
            }
            (into, from) => *into = from.clone(),
        }
    }

    fn budget(name: &str, app: &str, spec: &Value, status: &Value) -> PodDisruptionBudget {
        let mut object = json!({ "metadata": { "name": name, "namespace": "shop" }, "spec": spec, "status": status });
        let selector = if app.is_empty() { json!({}) } else { json!({ "matchLabels": { "app": app } }) };
        merge(&mut object, &json!({ "spec": { "selector": selector } }));
        serde_json::from_value(object).unwrap()
    }

    fn cluster(budgets: Vec<PodDisruptionBudget>) -> Cluster {
        let mut cluster = Cluster::default();
        for budget in budgets {
            cluster.insert(Object::PodDisruptionBudget(Arc::new(budget)));
        }
        cluster
    }

    fn allowed(n: i32) -> Value {
        json!({ "disruptionsAllowed": n })
    }

    #[test]
    fn a_budget_lets_as_many_pods_go_as_it_allows() {
        let cluster = cluster(vec![budget("search", "search", &json!({}), &allowed(1))]);
        let pods = ["search-0", "search-1", "search-2", "web-0"].map(|name| pod(name, "ReplicaSet", &json!({})));
        let result = evictions(&cluster, &pods);
        assert_eq!(result.evicted, [Key::new("shop", "search-0"), Key::new("shop", "web-0")]);
        assert_eq!(result.sentence(), "stopped by budget shop/search: 2 of 4 pods may be evicted");
        let effect = &result.budgets[&Key::new("shop", "search")];
        assert_eq!((effect.covers, effect.evicted), (3, 1));
        assert_eq!(effect.sentence(), "allows 1, covers 3 pods here: shop/search-1, shop/search-2 stay");
        let fewer = evictions(&cluster, &pods[..1]);
        assert_eq!(fewer.sentence(), "its pod may be evicted");
        assert_eq!(fewer.budgets[&Key::new("shop", "search")].sentence(), "allows 1, covers 1 pod here: 0 left after the evictions");
    }

    #[test]
    fn a_drain_leaves_daemon_sets_and_asks_no_budget_about_pods_that_do_not_run() {
        let cluster = cluster(vec![budget("all", "", &json!({}), &allowed(0))]);
        let pods = [
            pod("agent-0", "DaemonSet", &json!({})),
            pod("static-0", "Node", &json!({})),
            pod("done-0", "Job", &json!({ "status": { "phase": "Succeeded" } })),
            pod("new-0", "Job", &json!({ "status": { "phase": "Pending" } })),
            pod("ends-0", "Job", &json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } })),
        ];
        let result = evictions(&cluster, &pods);
        assert_eq!((result.left, result.evicted.len(), result.budgets.len()), (2, 3, 0));
        assert_eq!(result.sentence(), "all 3 pods may be evicted; 2 DaemonSet or static pods stay");
        let bare = evictions(&cluster, &[pod("bare-0", "", &json!({}))]);
        assert_eq!(
            bare.sentence(),
            "stopped by budget shop/all: 0 of 1 pod may be evicted; 1 pod without a controller will not be recreated",
            "an empty selector covers every pod"
        );
    }

    #[test]
    fn unready_pods_go_by_the_policy() {
        let unready = || pod("search-0", "ReplicaSet", &json!({ "status": { "conditions": [{ "type": "Ready", "status": "False" }] } }));
        let goes = |spec: &Value, status: &Value| {
            let cluster = cluster(vec![budget("search", "search", spec, status)]);
            evictions(&cluster, &[unready()]).stopped.is_empty()
        };
        let status = |healthy: i32| json!({ "disruptionsAllowed": 0, "currentHealthy": healthy, "desiredHealthy": 2 });
        assert!(goes(&json!({}), &status(2)), "the others are healthy enough");
        assert!(!goes(&json!({}), &status(1)));
        assert!(goes(&json!({ "unhealthyPodEvictionPolicy": "AlwaysAllow" }), &status(1)));
    }

    #[test]
    fn two_budgets_on_one_pod_stop_it() {
        let cluster = cluster(vec![budget("a", "web", &json!({}), &allowed(5)), budget("b", "web", &json!({}), &allowed(5))]);
        let result = evictions(&cluster, &[pod("web-0", "ReplicaSet", &json!({}))]);
        assert_eq!(result.stopped, [(Key::new("shop", "web-0"), Stop::Several(vec![Key::new("shop", "a"), Key::new("shop", "b")]))]);
        assert_eq!(result.sentence(), "stopped by budgets shop/a, shop/b: 0 of 1 pod may be evicted");
    }
}
