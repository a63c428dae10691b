//! InterPodAffinityPriority. Mirrors `pkg/scheduler/algorithm/priorities/interpod_affinity.go`.

use std::sync::Arc;

use serde::Deserialize;

use super::MAX_PRIORITY;
use super::inter_pod_affinity::matches;
use crate::framework::{
    AffinityTerm, Context, CycleState, FieldErrors, NodeInfo, Plugin, PodInfo, PreScorePlugin, ScorePlugin, Status, WeightedAffinityTerm,
};
use crate::plugins::inter_pod_affinity::domains::Domains;

/// The arguments of a configuration or policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct InterPodAffinityPriorityArgs {
    /// Score added to a domain for each required affinity term of an existing pod that matches the pod; 0 to 100.
    pub hard_pod_affinity_symmetric_weight: i32,
}

impl Default for InterPodAffinityPriorityArgs {
    fn default() -> Self {
        Self { hard_pod_affinity_symmetric_weight: 1 }
    }
}

impl InterPodAffinityPriorityArgs {
    /// Validates the arguments; mirrors `CreateFromKeys` in `pkg/scheduler/factory/factory.go`.
    pub fn validate(&self) -> Result<(), FieldErrors> {
        let weight = self.hard_pod_affinity_symmetric_weight;
        let mut errors = FieldErrors::default();
        if !(0..=100).contains(&weight) {
            errors.add("", format!("invalid hardPodAffinitySymmetricWeight: {weight}, must be in the range 0-100"));
        }
        errors.into_result()
    }
}

/// Prefers nodes by the preferred terms of the pod and of existing pods.
#[derive(Clone, Debug, Default)]
pub struct InterPodAffinityPriority {
    args: InterPodAffinityPriorityArgs,
}

impl InterPodAffinityPriority {
    /// Makes the priority with its arguments.
    pub fn new(args: InterPodAffinityPriorityArgs) -> Self {
        Self { args }
    }

    /// Sums weights by domain.
    fn weights(&self, cx: &Context<'_>, pod: &PodInfo) -> Domains {
        let (mut weights, pods) = (Domains::default(), cx.snapshot.pods());
        let own = pod.preferred_affinity().iter().map(|t| (t, 1)).chain(pod.preferred_anti_affinity().iter().map(|t| (t, -1)));
        for (WeightedAffinityTerm { term, weight }, sign) in own {
            let found = pods.count(term.wanted_bits(), |p| matches(term, &pod.pod, &p.pod));
            weights.add_counts(cx.snapshot, &term.topology_key, found, sign * i64::from(*weight));
        }
        for (existing, nodes) in pods.with_affinity_to(pod.bits(), false) {
            let mut add = |term: &AffinityTerm, weight: i64| {
                if matches(term, &existing.pod, &pod.pod) {
                    weights.add_counts(cx.snapshot, &term.topology_key, nodes.clone(), weight);
                }
            };
            let hard = i64::from(self.args.hard_pod_affinity_symmetric_weight);
            existing.required_affinity().iter().filter(|_| hard > 0).for_each(|term| add(term, hard));
            existing.preferred_affinity().iter().for_each(|t| add(&t.term, i64::from(t.weight)));
            existing.preferred_anti_affinity().iter().for_each(|t| add(&t.term, -i64::from(t.weight)));
        }
        weights
    }
}

#[derive(Clone, Debug)]
struct State(Arc<Domains>);

impl Plugin for InterPodAffinityPriority {
    plugin!(InterPodAffinityPriority: pre_score, score);
}

impl PreScorePlugin for InterPodAffinityPriority {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        state.write(State(Arc::new(self.weights(cx, pod))));
        Status::success()
    }
}

impl ScorePlugin for InterPodAffinityPriority {
    fn score(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let labels = &node.node.metadata.labels;
        Ok(match state.read::<State>() {
            Some(State(weights)) => weights.sum(labels),
            None => self.weights(cx, pod).sum(labels),
        })
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        // The range always includes 0.
        let lowest = scores.iter().copied().min().unwrap_or(0).min(0);
        let highest = scores.iter().copied().max().unwrap_or(0).max(0);
        for score in scores {
            let share = if highest > lowest { (*score - lowest) as f64 / (highest - lowest) as f64 } else { 0.0 };
            *score = (MAX_PRIORITY as f64 * share) as i64;
        }
        Status::success()
    }
}
