//! `PreScore` and Score of `InterPodAffinity`; mirrors `pkg/scheduler/framework/plugins/interpodaffinity/scoring.go`.

use std::sync::Arc;

use super::domains::Domains;
use super::filtering::{STEPS_OF_COUNT, STEPS_OF_TERM};
use super::{InterPodAffinity, merge_namespaces, namespace_labels};
use crate::cluster::Labels;
use crate::framework::{AffinityTerm, Context, CycleState, MAX_NODE_SCORE, NodeInfo, PodInfo, PreScorePlugin, ScorePlugin, Status};
use crate::release::{AffinityRange, IdleScores};

const NO_STATE: &str = "failed to read \"PreScoreInterPodAffinity\" from cycleState: not found";

/// Sums of weights by domain.
#[derive(Clone, Debug)]
struct PreScoreState {
    topology_score: Arc<Domains>,
}

/// Sums the weights of the incoming pod's preferred terms that match existing pods, and of existing pods' terms that
/// match it.
fn topology_score(cx: &Context<'_>, state: &CycleState, pod: &PodInfo, has_preferences: bool, hard_pod_affinity_weight: i32) -> Domains {
    let mut scores = Domains::default();
    let pods = cx.snapshot.pods();
    let affinity = pod.preferred_affinity().iter().map(|t| (t, 1));
    let anti_affinity = pod.preferred_anti_affinity().iter().map(|t| (t, -1));
    let unknown = Labels::default();
    let mut steps = 0;
    for (own, sign) in affinity.chain(anti_affinity) {
        let term = merge_namespaces(cx.cluster, cx.emulation, &own.term);
        let matching = pods.count(term.wanted_bits(), |p| term.matches(&p.pod, &unknown));
        steps += matching.len() as u64 * STEPS_OF_COUNT;
        scores.add_counts(cx.snapshot, &term.topology_key, matching, sign * i64::from(own.weight));
    }
    let namespace_labels = namespace_labels(cx.cluster, &pod.pod.metadata.namespace);
    // A pod with preferences is compared with the pods of all nodes, others with those of the listed nodes.
    for (existing, nodes) in pods.with_affinity_to(pod.bits(), !has_preferences) {
        let terms = existing.required_affinity().len() + existing.preferred_affinity().len() + existing.preferred_anti_affinity().len();
        steps += terms as u64 * STEPS_OF_TERM;
        let mut add = |term: &AffinityTerm, weight: i64| {
            if term.matches(&pod.pod, &namespace_labels) {
                steps += nodes.clone().count() as u64 * STEPS_OF_COUNT;
                scores.add_counts(cx.snapshot, &term.topology_key, nodes.clone(), weight);
            }
        };
        if hard_pod_affinity_weight > 0 {
            for term in existing.required_affinity() {
                add(term, i64::from(hard_pod_affinity_weight));
            }
        }
        for theirs in existing.preferred_affinity() {
            add(&theirs.term, i64::from(theirs.weight));
        }
        for theirs in existing.preferred_anti_affinity() {
            add(&theirs.term, -i64::from(theirs.weight));
        }
    }
    state.count_list_steps(steps);
    scores
}

impl PreScorePlugin for InterPodAffinity {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        let affinity = pod.pod.spec.affinity.as_ref();
        let stanzas = affinity.iter().flat_map(|a| [&a.pod_affinity, &a.pod_anti_affinity]).flatten();
        let has_preferences = stanzas.into_iter().any(|a| !a.preferred.is_empty());
        let keeps_idle = cx.emulation.behaviour().cycle.idle_scores == IdleScores::Kept;
        if self.args.ignore_preferred_terms_of_existing_pods && !has_preferences {
            if !keeps_idle {
                return Status::skip();
            }
            state.write(PreScoreState { topology_score: Arc::default() });
            return Status::success();
        }
        if let Some(error) = pod.parse_error() {
            return Status::error(format!("failed to parse pod: {error}"));
        }
        let topology_score = topology_score(cx, state, pod, has_preferences, self.args.hard_pod_affinity_weight);
        if topology_score.is_empty() && !keeps_idle {
            return Status::skip();
        }
        state.write(PreScoreState { topology_score: Arc::new(topology_score) });
        Status::success()
    }
}

impl ScorePlugin for InterPodAffinity {
    fn score(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let state = state.read::<PreScoreState>().ok_or_else(|| Status::error(NO_STATE))?;
        Ok(state.topology_score.sum(&node.node.metadata.labels))
    }

    fn normalize(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        if state.read::<PreScoreState>().is_none() {
            return Status::error(NO_STATE);
        }
        normalize_in_range(cx.emulation.behaviour().affinity.range, scores);
        Status::success()
    }
}

/// Scales raw scores of InterPodAffinity to 0..=100 between their lowest and highest.
pub fn normalize_in_range(range: AffinityRange, scores: &mut [i64]) {
    let mut lowest = scores.iter().copied().min().unwrap_or(0);
    let mut highest = scores.iter().copied().max().unwrap_or(0);
    if range == AffinityRange::WithZero {
        (lowest, highest) = (lowest.min(0), highest.max(0));
    }
    let spread = highest - lowest;
    for score in scores {
        // Upstream divides before scaling and then truncates: 29 of 100 gives 28.
        let share = if spread > 0 { (*score - lowest) as f64 / spread as f64 } else { 0.0 };
        *score = (MAX_NODE_SCORE as f64 * share) as i64;
    }
}

#[cfg(test)]
mod tests;
