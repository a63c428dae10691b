//! ServiceAffinity: PreFilter, Filter, Score. Mirrors `pkg/scheduler/framework/plugins/serviceaffinity/service_affinity.go` of
//! the releases that have it.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::cluster::{Cluster, Labels, List, Pod, Service, Str};
use crate::framework::{
    Context, CycleState, FilterPlugin, MAX_NODE_SCORE, NodeInfo, Plugin, PodInfo, PreFilterPlugin, PreFilterResult, Reason, ScorePlugin,
    Status,
};
use crate::release::Emulation;

const NO_STATE: &str = "error reading \"PreFilterServiceAffinity\" from cycleState: not found";

/// `ServiceAffinityArgs` of `kubescheduler.config.k8s.io/v1beta1`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ServiceAffinityArgs {
    /// Accepted and ignored.
    pub api_version: IgnoredAny,
    /// Accepted and ignored.
    pub kind: IgnoredAny,
    /// Labels whose values are equal on all nodes of a Service's pods.
    pub affinity_labels: List<Str>,
    /// Labels over whose values the pods of a Service are spread.
    pub anti_affinity_labels_preference: List<Str>,
}

/// Keeps pods of a Service on nodes with equal labels, and spreads them over the values of others.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServiceAffinity {
    args: ServiceAffinityArgs,
}

/// State of PreFilter, which AddPod and RemovePod update.
#[derive(Clone, Debug)]
struct State {
    /// Pods of the namespace that have all labels of the pod, each with its node.
    pods: Vec<(Arc<Pod>, Str)>,
    /// Whether a Service selects the pod.
    has_service: bool,
}

/// Whether `labels` contain all of `others`.
fn has_all(labels: &Labels, others: &Labels) -> bool {
    others.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// Returns the first Service, by name, that selects the pod; upstream's order is undefined.
fn service_of<'a>(cluster: &'a Cluster, pod: &'a Pod) -> Option<&'a Arc<Service>> {
    let selects = |s: &&Arc<Service>| s.spec.selector.as_ref().is_some_and(|wanted| has_all(&pod.metadata.labels, wanted));
    cluster.services.in_namespace(&pod.metadata.namespace).find(selects)
}

impl ServiceAffinity {
    /// Makes the plugin with its arguments.
    pub fn new(args: ServiceAffinityArgs) -> Self {
        Self { args }
    }
}

impl Plugin for ServiceAffinity {
    plugin!(ServiceAffinity: pre_filter, filter, score);
}

impl PreFilterPlugin for ServiceAffinity {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        if !self.args.affinity_labels.is_empty() {
            let alike = |p: &&Arc<PodInfo>| p.namespace() == pod.namespace() && has_all(&p.pod.metadata.labels, &pod.pod.metadata.labels);
            let on_node = |node: &Arc<NodeInfo>| -> Vec<(Arc<Pod>, Str)> {
                node.pods.iter().filter(alike).map(|p| (p.pod.clone(), node.name().clone())).collect()
            };
            let pods = cx.snapshot.nodes().iter().flat_map(on_node).collect();
            state.write(State { pods, has_service: service_of(cx.cluster, &pod.pod).is_some() });
        }
        (PreFilterResult::default(), Status::success())
    }

    fn has_extensions(&self, _emulation: Emulation) -> bool {
        !self.args.affinity_labels.is_empty()
    }

    fn add_pod(&self, _cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, added: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = state.get_mut::<State>() else { return Status::error(NO_STATE) };
        if added.namespace() == pod.namespace() && has_all(&added.pod.metadata.labels, &pod.pod.metadata.labels) {
            // A nominated pod has no `spec.nodeName`, so it counts for no node.
            let on = if added.pod.node_name.is_empty() { Str::default() } else { node.name().clone() };
            state.pods.push((added.pod.clone(), on));
        }
        Status::success()
    }

    fn remove_pod(&self, _cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, removed: &PodInfo, _node: &NodeInfo) -> Status {
        let Some(state) = state.get_mut::<State>() else { return Status::error(NO_STATE) };
        let is_removed =
            |p: &Arc<Pod>| p.metadata.name == removed.pod.metadata.name && p.metadata.namespace == removed.pod.metadata.namespace;
        if let Some(at) = state.pods.iter().position(|(p, _)| is_removed(p)) {
            state.pods.remove(at);
        }
        Status::success()
    }
}

impl FilterPlugin for ServiceAffinity {
    /// Requires the label values of the pod's `nodeSelector`, and for other labels those of the node of another pod of
    /// the Service.
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let wanted = &self.args.affinity_labels;
        if wanted.is_empty() {
            return Status::success();
        }
        let Some(state) = state.read::<State>() else { return Status::error(NO_STATE) };
        let selector = pod.pod.spec.node_selector.as_ref();
        let own = |label: &Str| selector.and_then(|s| s.get(label.as_str())).cloned();
        let mut values: Vec<(&Str, Option<Str>)> = wanted.iter().map(|label| (label, own(label))).collect();
        if state.has_service && values.iter().any(|(_, value)| value.is_none()) {
            let is_there = |(p, on): &&(Arc<Pod>, Str)| *on != *node.name() || node.pods.iter().any(|other| other.key() == p.key());
            if let Some((_, on)) = state.pods.iter().find(is_there) {
                let Some(other) = cx.snapshot.get(on) else { return Status::error("node not found") };
                for (label, value) in values.iter_mut().filter(|(_, value)| value.is_none()) {
                    *value = other.node.metadata.labels.get(label.as_str()).cloned();
                }
            }
        }
        let labels = &node.node.metadata.labels;
        let differs = |label: &Str, value: &&Str| labels.get(label.as_str()) != Some(*value);
        let wrong = values.iter().find_map(|(label, value)| Some((*label, value.as_ref().filter(|value| differs(label, value))?)));
        match wrong {
            None => Status::success(),
            Some((label, wanted)) => Status::rejected(Reason::ServiceAffinityViolated { label: label.clone(), wanted: wanted.clone() }),
        }
    }
}

impl ScorePlugin for ServiceAffinity {
    /// Returns the number of the Service's pods on the node.
    fn score(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let service = service_of(cx.cluster, &pod.pod);
        let Some(selector) = service.and_then(|s| s.spec.selector.as_ref()).filter(|s| !s.is_empty()) else { return Ok(0) };
        let of_service = node.pods.iter().filter(|p| p.namespace() == pod.namespace() && !p.pod.is_terminating());
        Ok(of_service.filter(|p| has_all(&p.pod.metadata.labels, selector)).count() as i64)
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        let labels = &self.args.anti_affinity_labels_preference;
        let all: i64 = scores.iter().sum();
        let mut spread = vec![0.0; scores.len()];
        for label in labels {
            let values: Vec<Option<&Str>> = nodes.iter().map(|n| n.node.metadata.labels.get(label.as_str())).collect();
            let mut counts: HashMap<&Str, i64> = HashMap::new();
            for (value, count) in values.iter().zip(scores.iter()) {
                if let Some(value) = value {
                    *counts.entry(value).or_default() += count;
                }
            }
            for (value, spread) in values.iter().zip(&mut spread) {
                let Some(count) = value.and_then(|value| counts.get(value)) else { continue };
                let share = if all > 0 { (all - count) as f64 / all as f64 } else { 1.0 };
                *spread += MAX_NODE_SCORE as f64 * share / labels.len() as f64;
            }
        }
        for (score, spread) in scores.iter_mut().zip(spread) {
            *score = spread as i64;
        }
        Status::success()
    }
}

#[cfg(test)]
mod tests;
