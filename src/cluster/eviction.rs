//! Evictions: the rules of the eviction API about budgets, and those of a drain about pods. Mirrors
//! `pkg/registry/core/pod/storage/eviction.go` and `k8s.io/kubectl/pkg/drain/filters.go`.

use std::sync::Arc;

use super::annotations::MIRROR;
use super::{Cluster, Pod, PodDisruptionBudget};

/// Value of `unhealthyPodEvictionPolicy` that lets every unready pod go.
pub const ALWAYS_ALLOW: &str = "AlwaysAllow";

/// The effect of a pod's eviction on its budgets.
#[derive(Clone, Debug)]
pub enum Eviction<'c> {
    /// Nothing: no budget covers the pod, or none is asked.
    Free,
    /// Nothing of the only budget, which lets the unready pod go.
    Unready(&'c Arc<PodDisruptionBudget>),
    /// One disruption of the only budget, which has to allow one.
    Disrupts(&'c Arc<PodDisruptionBudget>),
    /// Several budgets cover the pod, which the API refuses.
    Several(Vec<&'c Arc<PodDisruptionBudget>>),
}

impl<'c> Eviction<'c> {
    /// Returns what the eviction of a pod takes now.
    pub fn of(cluster: &'c Cluster, pod: &Pod) -> Self {
        if needs_no_budget(pod) {
            return Self::Free;
        }
        let mut budgets: Vec<_> = evicting_budgets(cluster, pod).collect();
        match (budgets.pop(), budgets.is_empty()) {
            (None, _) => Self::Free,
            (Some(budget), true) if may_go_unready(budget, pod) => Self::Unready(budget),
            (Some(budget), true) => Self::Disrupts(budget),
            (Some(last), false) => {
                budgets.push(last);
                Self::Several(budgets)
            }
        }
    }
}

/// Returns the budgets that the eviction of a pod asks, by name.
pub fn evicting_budgets<'c, 'p>(cluster: &'c Cluster, pod: &'p Pod) -> impl Iterator<Item = &'c Arc<PodDisruptionBudget>> + use<'c, 'p> {
    cluster.pod_disruption_budgets.in_namespace(&pod.metadata.namespace).filter(move |budget| budget.covers_eviction_of(pod))
}

impl PodDisruptionBudget {
    /// Returns whether the eviction of a pod of the budget's namespace asks the budget. An empty selector covers every
    /// pod, unlike in preemption.
    pub fn covers_eviction_of(&self, pod: &Pod) -> bool {
        let selector = self.spec.selector.as_ref().filter(|selector| selector.matches(&pod.metadata.labels));
        selector.is_some_and(|selector| selector.validate().is_ok())
    }
}

/// Returns whether the eviction API deletes a pod without asking budgets: it has not begun to run, has ended, or is
/// being deleted.
pub fn needs_no_budget(pod: &Pod) -> bool {
    pod.is_terminal() || pod.status.phase == "Pending" || pod.is_terminating()
}

/// Returns whether an unready pod may go whatever its budget allows.
fn may_go_unready(budget: &PodDisruptionBudget, pod: &Pod) -> bool {
    let status = &budget.status;
    let healthy_enough = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
    pod.status.unready && (healthy_enough || budget.spec.unhealthy_pod_eviction_policy.as_deref() == Some(ALWAYS_ALLOW))
}

/// The controller of a pod, which makes it anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    /// No controller.
    None,
    /// A DaemonSet, on the same node only.
    DaemonSet,
    /// The kubelet of the node: the pod is a static pod's mirror.
    Node,
    /// A StatefulSet, under the same name.
    StatefulSet,
    /// Another workload of Kubernetes, under a new name.
    Workload,
    /// A controller that is not known, which is assumed to act as a ReplicaSet.
    Unknown,
}

impl Controller {
    /// Returns the controller of a pod. A mirror may name its node by the annotation only.
    pub fn of(pod: &Pod) -> Self {
        if pod.metadata.annotations.contains_key(MIRROR) {
            return Self::Node;
        }
        let Some(owner) = pod.metadata.controller() else { return Self::None };
        match owner.kind.as_str() {
            "DaemonSet" => Self::DaemonSet,
            "Node" => Self::Node,
            "StatefulSet" => Self::StatefulSet,
            "ReplicaSet" | "ReplicationController" | "Job" => Self::Workload,
            _ => Self::Unknown,
        }
    }
}

/// The treatment of a pod by `kubectl drain --ignore-daemonsets --delete-emptydir-data`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrainAction {
    /// Leaves it: it mirrors a static pod.
    LeavesMirror,
    /// Leaves it to its DaemonSet.
    LeavesDaemonSet,
    /// Refuses to begin without `--force`: nothing makes the pod anew.
    NeedsForce,
    Evicts,
}

impl DrainAction {
    /// Returns what a drain does with a pod. An ended pod is evicted whoever controls it.
    pub fn of(pod: &Pod) -> Self {
        match Controller::of(pod) {
            Controller::Node => Self::LeavesMirror,
            Controller::DaemonSet if !pod.is_terminal() => Self::LeavesDaemonSet,
            Controller::None if !pod.is_terminal() => Self::NeedsForce,
            _ => Self::Evicts,
        }
    }
}
