//! CheckServiceAffinity and ServiceAntiAffinityPriority, which only policies enable. Mirrors
//! `NewServiceAffinityPredicate` in `pkg/scheduler/algorithm/predicates/predicates.go` and `ServiceAntiAffinity` in
//! `pkg/scheduler/algorithm/priorities/selector_spreading.go`.
//!
//! kube-scheduler takes the first pod or Service in cache order, which is undefined; here it is the first by node, or
//! by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::spread::services_of;
use super::{MAX_PRIORITY, reject};
use crate::cluster::{Labels, Pod, Str};
use crate::framework::{Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, Reason, ScorePlugin, Status};

/// The argument `serviceAffinity` of a predicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CheckServiceAffinityArgs {
    /// Labels whose values are equal on all nodes of a Service's pods.
    pub labels: Vec<Str>,
}

/// Keeps the pods of a Service on nodes with equal values of some labels.
#[derive(Clone, Debug, Default)]
pub struct CheckServiceAffinity {
    args: CheckServiceAffinityArgs,
}

impl CheckServiceAffinity {
    /// Makes the predicate with its argument.
    pub fn new(args: CheckServiceAffinityArgs) -> Self {
        Self { args }
    }

    /// Returns the required label values: those of the pod's `nodeSelector`, and for other labels those of a node with
    /// a pod of the same labels.
    fn wanted(&self, cx: &Context<'_>, pod: &Pod, node: &NodeInfo) -> BTreeMap<Str, Str> {
        let selector = pod.spec.node_selector.clone().unwrap_or_default();
        let own = |label: &Str| selector.get(label).map(|value| (label.clone(), value.clone()));
        let mut wanted: BTreeMap<Str, Str> = self.args.labels.iter().filter_map(own).collect();
        if wanted.len() == self.args.labels.len() || services_of(cx, pod).next().is_none() {
            return wanted;
        }
        let is_like = |other: &Pod| {
            let labels = &other.metadata.labels;
            let all = pod.metadata.labels.iter().all(|(key, value)| labels.get(key) == Some(value));
            all && other.metadata.namespace == pod.metadata.namespace && !other.node_name.is_empty()
        };
        // A dry run changes the node, so it replaces the one in the snapshot.
        let nodes = cx.snapshot.nodes().iter().map(|n| if n.name() == node.name() { node } else { n });
        let mut found = nodes.filter(|n| n.pods.iter().any(|p| is_like(&p.pod)));
        if let Some(like) = found.next() {
            for label in &self.args.labels {
                if let Some(value) = like.node.metadata.labels.get(label) {
                    wanted.entry(label.clone()).or_insert_with(|| value.clone());
                }
            }
        }
        wanted
    }
}

impl Plugin for CheckServiceAffinity {
    plugin!(CheckServiceAffinity: filter);
}

impl FilterPlugin for CheckServiceAffinity {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let labels = &node.node.metadata.labels;
        let missing = self.wanted(cx, &pod.pod, node).into_iter().find(|(label, value)| labels.get(label) != Some(value));
        let reason = missing.map(|(label, wanted)| Reason::ServiceAffinityViolated { label, wanted });
        reject(reason.into_iter().collect(), cx.emulation.behaviour())
    }
}

/// The argument `serviceAntiAffinity` of a priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServiceAntiAffinityPriorityArgs {
    /// The label over whose values the pods of a Service are spread.
    pub label: Str,
}

/// Spreads the pods of a Service over the values of a label.
#[derive(Clone, Debug, Default)]
pub struct ServiceAntiAffinityPriority {
    args: ServiceAntiAffinityPriorityArgs,
}

impl ServiceAntiAffinityPriority {
    /// Makes the priority with its argument.
    pub fn new(args: ServiceAntiAffinityPriorityArgs) -> Self {
        Self { args }
    }
}

impl Plugin for ServiceAntiAffinityPriority {
    plugin!(ServiceAntiAffinityPriority: score);
}

impl ScorePlugin for ServiceAntiAffinityPriority {
    /// Returns the number of pods of the pod's first Service on the node.
    fn score(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let Some(selector) = services_of(cx, &pod.pod).next() else { return Ok(0) };
        let matches = |labels: &Labels| selector.iter().all(|(key, value)| labels.get(key) == Some(value));
        let counts = |p: &&Arc<PodInfo>| p.namespace() == pod.namespace() && !p.pod.is_terminating() && matches(&p.pod.metadata.labels);
        Ok(node.pods.iter().filter(counts).count() as i64)
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        let all: i64 = scores.iter().sum();
        let value = |node: &Arc<NodeInfo>| node.node.metadata.labels.get(&self.args.label).cloned();
        let mut by_value: BTreeMap<Str, i64> = BTreeMap::new();
        for (node, score) in nodes.iter().zip(scores.iter()) {
            if let Some(value) = value(node) {
                *by_value.entry(value).or_default() += score;
            }
        }
        for (node, score) in nodes.iter().zip(scores) {
            *score = match value(node) {
                None => 0,
                Some(_) if all == 0 => MAX_PRIORITY,
                Some(value) => (MAX_PRIORITY as f64 * ((all - by_value[&value]) as f64 / all as f64)) as i64,
            };
        }
        Status::success()
    }
}
