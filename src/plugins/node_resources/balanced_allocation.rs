//! NodeResourcesBalancedAllocation: PreScore, Score.
//!
//! Mirrors `pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go`.

use std::sync::Arc;

use super::args::NodeResourcesBalancedAllocationArgs;
use super::resource_allocation::{PreScore, Requests, ResourceAllocationScorer, Usage};
use crate::framework::{Context, CycleState, MAX_NODE_SCORE, NodeInfo, Plugin, PodInfo, PreScorePlugin, ScorePlugin, Status};
use crate::release::{BalanceScore, ResourceBehaviour};

/// Prefers nodes whose resource use the pod makes more even.
#[derive(Clone, Debug)]
pub struct NodeResourcesBalancedAllocation {
    scorer: ResourceAllocationScorer,
    /// The formula that scores a node from its usages.
    formula: fn(&[Usage]) -> i64,
    skips_best_effort: bool,
}

#[derive(Clone, Debug)]
struct State(PreScore);

impl NodeResourcesBalancedAllocation {
    /// Makes the plugin of a release with its arguments.
    pub fn new(args: NodeResourcesBalancedAllocationArgs, release: &ResourceBehaviour) -> Self {
        let NodeResourcesBalancedAllocationArgs { resources, .. } = args;
        let formula = match release.balance {
            BalanceScore::Change => balanced_resource_scorer,
            BalanceScore::Result => balance_with_pod,
            BalanceScore::Difference => difference,
        };
        let requests = if release.balance == BalanceScore::Difference { Requests::Assumed } else { Requests::Real };
        let scorer = ResourceAllocationScorer::new(&resources, requests, release);
        Self { scorer, formula, skips_best_effort: release.balance_skips_best_effort }
    }

    fn is_idle(&self, pre: &PreScore) -> bool {
        self.skips_best_effort && pre.pod_requests.iter().all(|request| *request == 0)
    }
}

impl Plugin for NodeResourcesBalancedAllocation {
    plugin!(NodeResourcesBalancedAllocation: pre_score, score);
}

impl PreScorePlugin for NodeResourcesBalancedAllocation {
    /// Skips pods that request none of the resources; otherwise they would all get the same node.
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        let pre = self.scorer.pre_score(cx, &pod.pod);
        if self.is_idle(&pre) {
            return Status::skip();
        }
        state.write(State(pre));
        Status::success()
    }
}

impl ScorePlugin for NodeResourcesBalancedAllocation {
    fn score(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        if let Some(State(pre)) = state.read() {
            return Ok(self.scorer.with_usages(pre, node, self.formula));
        }
        let pre = self.scorer.pre_score(cx, &pod.pod);
        if self.is_idle(&pre) {
            return Ok(0);
        }
        Ok(self.scorer.with_usages(&pre, node, self.formula))
    }

    fn score_all(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let computed;
        let pre = match state.read() {
            Some(State(pre)) => pre,
            None => {
                computed = self.scorer.pre_score(cx, &pod.pod);
                if self.is_idle(&computed) {
                    return Ok(vec![0; nodes.len()]);
                }
                &computed
            }
        };
        Ok(nodes.iter().map(|node| self.scorer.with_usages(pre, node, self.formula)).collect())
    }

    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

/// Scores the change of balance by the pod: 75 for none, up to 100 for better, down to 50 for worse.
fn balanced_resource_scorer(usages: &[Usage]) -> i64 {
    let with_pod = balanced_resource_score(usages, |u| u.requested);
    let without_pod = balanced_resource_score(usages, |u| u.allocated);
    (MAX_NODE_SCORE / 2).wrapping_add((MAX_NODE_SCORE / 2).wrapping_add(with_pod).wrapping_sub(without_pod) / 2)
}

/// Scores the balance with the pod.
fn balance_with_pod(usages: &[Usage]) -> i64 {
    balanced_resource_score(usages, |u| u.requested)
}

/// Scores two resources, CPU and memory: 100 for equal use, reduced by the difference; 0 if one is used up.
fn difference(usages: &[Usage]) -> i64 {
    let fraction = |u: &Usage| if u.allocatable == 0 { 1.0 } else { u.requested as f64 / u.allocatable as f64 };
    let fractions: Vec<f64> = usages.iter().map(fraction).collect();
    match fractions[..] {
        [cpu, memory] if cpu < 1.0 && memory < 1.0 => ((1.0 - (cpu - memory).abs()) * MAX_NODE_SCORE as f64) as i64,
        _ => 0,
    }
}

/// Scores 100 for equal use of all resources, reduced by their standard deviation.
fn balanced_resource_score(usages: &[Usage], amount: impl Fn(&Usage) -> i64) -> i64 {
    let fractions = || usages.iter().filter(|u| u.counts).map(|u| (amount(u) as f64 / u.allocatable as f64).min(1.0));
    let (count, total) = fractions().fold((0usize, 0.0), |(count, total), fraction| (count + 1, total + fraction));
    let deviation = match count {
        0 | 1 => 0.0,
        2 => {
            let mut pair = fractions();
            let (first, second) = (pair.next().unwrap_or(0.0), pair.next().unwrap_or(0.0));
            ((first - second) / 2.0).abs()
        }
        _ => {
            let mean = total / count as f64;
            let sum = fractions().fold(0.0, |sum, fraction| sum + (fraction - mean) * (fraction - mean));
            (sum / count as f64).sqrt()
        }
    };
    ((1.0 - deviation) * MAX_NODE_SCORE as f64) as i64
}

#[cfg(test)]
mod tests;
