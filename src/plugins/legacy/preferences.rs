//! NodeAffinityPriority, NodePreferAvoidPodsPriority, ImageLocalityPriority and EqualPriority. Mirrors
//! `pkg/scheduler/algorithm/priorities/{node_affinity,node_prefer_avoid_pods,image_locality}.go` and
//! `EqualPriorityMap` in `pkg/scheduler/core/generic_scheduler.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{MAX_PRIORITY, normalize, pods_without_node};
use crate::cluster::{NodeSelectorTerm, PreferredSchedulingTerm, Str};
use crate::framework::{Context, CycleState, NodeInfo, Plugin, PodInfo, ScorePlugin, Status, hash_of};
use crate::plugins::image_locality::normalized_image_name;
use crate::plugins::node_affinity::PreferredTerms;
use crate::plugins::node_prefer_avoid_pods::is_avoided;
use crate::release::ImageScore;

/// Prefers nodes that match the pod's preferred node affinity.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeAffinityPriority;

impl Plugin for NodeAffinityPriority {
    plugin!(NodeAffinityPriority: score);
}

impl NodeAffinityPriority {
    /// Returns the preferred terms of a pod. Fields are ignored, and a term without expressions matches nothing.
    fn terms(pod: &PodInfo) -> Result<PreferredTerms, Status> {
        let affinity = pod.pod.spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
        let preferred = affinity.and_then(|a| a.preferred.as_ref());
        let mut terms = Vec::new();
        for term in preferred.into_iter().flat_map(|terms| terms.iter()).filter(|t| t.weight != 0) {
            let by_labels =
                NodeSelectorTerm { match_expressions: term.preference.match_expressions.clone(), ..NodeSelectorTerm::default() };
            if let Some(error) = by_labels.error() {
                return Err(Status::error(error.to_string()));
            }
            if !by_labels.is_empty() {
                terms.push(PreferredSchedulingTerm { weight: term.weight, preference: by_labels });
            }
        }
        Ok(PreferredTerms::new(terms))
    }
}

impl ScorePlugin for NodeAffinityPriority {
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        Ok(Self::terms(pod)?.score(&node.node))
    }

    fn score_all(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let terms = Self::terms(pod)?;
        Ok(nodes.iter().map(|node| terms.score(&node.node)).collect())
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        normalize(scores, false);
        Status::success()
    }
}

/// Avoids nodes whose annotation lists the pod's controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodePreferAvoidPodsPriority;

impl Plugin for NodePreferAvoidPodsPriority {
    plugin!(NodePreferAvoidPodsPriority: score);
}

impl ScorePlugin for NodePreferAvoidPodsPriority {
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        Ok(if is_avoided(pod, &node.node) { 0 } else { MAX_PRIORITY })
    }
}

/// Prefers nodes that already have the pod's images.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageLocalityPriority;

const MB: i64 = 1024 * 1024;
/// Images below this sum, in bytes, score 0.
const MIN_THRESHOLD: i64 = 23 * MB;
/// Maximum bytes that count.
const MAX_THRESHOLD: i64 = 1000 * MB;

impl Plugin for ImageLocalityPriority {
    plugin!(ImageLocalityPriority: score);
}

impl ScorePlugin for ImageLocalityPriority {
    fn score(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        Ok(Self::score_of(cx, pod, node, number_of_nodes(cx)))
    }

    fn score_all(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let number = number_of_nodes(cx);
        Ok(nodes.iter().map(|node| Self::score_of(cx, pod, node, number)).collect())
    }
}

/// Returns the number of nodes, including missing nodes that pods name.
fn number_of_nodes(cx: &Context<'_>) -> usize {
    let named: BTreeSet<&Str> = pods_without_node(cx).map(|pod| &pod.node_name).collect();
    cx.snapshot.len() + named.len()
}

impl ImageLocalityPriority {
    fn score_of(cx: &Context<'_>, pod: &PodInfo, node: &NodeInfo, number: usize) -> i64 {
        let spread = cx.emulation.behaviour().predicates.image_score == ImageScore::Spread;
        let size = |container: &crate::cluster::Container| {
            let name = normalized_image_name(&container.image);
            if spread {
                let state = cx.snapshot.images().get(&name).filter(|_| node.has_image(&name, hash_of(&name)))?;
                return Some((state.size as f64 * (state.num_nodes as f64 / number as f64)) as i64);
            }
            // The last image with the name counts.
            node.node.status.images.iter().rfind(|i| i.names.iter().any(|n| *n == *name)).and_then(|i| i.size_bytes)
        };
        let sum = pod.pod.spec.containers.iter().filter_map(size).fold(0i64, i64::wrapping_add);
        let scaled = |sum: i64| MAX_PRIORITY * (sum - MIN_THRESHOLD) / (MAX_THRESHOLD - MIN_THRESHOLD);
        match sum {
            sum if spread => scaled(sum.clamp(MIN_THRESHOLD, MAX_THRESHOLD)),
            sum if sum < MIN_THRESHOLD => 0,
            sum if sum >= MAX_THRESHOLD => MAX_PRIORITY,
            sum => scaled(sum) + 1,
        }
    }
}

/// Scores all nodes equally.
#[derive(Clone, Copy, Debug, Default)]
pub struct EqualPriority;

impl Plugin for EqualPriority {
    plugin!(EqualPriority: score);
}

impl ScorePlugin for EqualPriority {
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Result<i64, Status> {
        Ok(1)
    }
}
