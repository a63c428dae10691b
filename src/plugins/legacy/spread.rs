//! SelectorSpreadPriority and ServiceSpreadingPriority. Mirrors `SelectorSpread` in
//! `pkg/scheduler/algorithm/priorities/selector_spreading.go`, `getSelectors` in `metadata.go` there, and the listers of
//! `pkg/scheduler/algorithm/listers.go`.

use std::collections::HashMap;
use std::sync::Arc;

use super::MAX_PRIORITY;
use crate::cluster::{LabelSelector, Labels, Node, Pod, Workload};
use crate::framework::{Context, CycleState, NodeInfo, Plugin, PluginName, PodInfo, PreScorePlugin, ScorePlugin, Status};

/// Weight of zones; nodes have the rest.
const ZONE_WEIGHTING: f64 = 2.0 / 3.0;

/// Spreads the pods of Services and controllers over nodes and zones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectorSpreadPriority {
    /// SelectorSpreadPriority: Services, ReplicationControllers, ReplicaSets and StatefulSets.
    All,
    /// ServiceSpreadingPriority: Services.
    Services,
}

/// A selector of one of the objects that the pod belongs to.
#[derive(Clone, Debug)]
enum Selector {
    Map(Labels),
    Expressions(LabelSelector),
}

impl Selector {
    fn matches(&self, labels: &Labels) -> bool {
        match self {
            Self::Map(wanted) => matches(wanted, labels),
            Self::Expressions(selector) => selector.matches(labels),
        }
    }
}

fn matches(wanted: &Labels, labels: &Labels) -> bool {
    wanted.iter().all(|(key, value)| labels.get(key) == Some(value))
}

/// Returns the selectors of the Services that select the pod, by name; mirrors `GetPodServices`.
pub(super) fn services_of<'a>(cx: &Context<'a>, pod: &'a Pod) -> impl Iterator<Item = &'a Labels> {
    let services = cx.cluster.services.in_namespace(&pod.metadata.namespace);
    services.filter_map(|service| service.spec.selector.as_ref()).filter(|selector| matches(selector, &pod.metadata.labels))
}

/// Returns the selectors of workloads that select the pod; empty if one of them is invalid.
fn workloads_of<'a>(workloads: impl Iterator<Item = &'a Arc<Workload>>, pod: &Pod) -> Vec<Selector> {
    let mut found = Vec::new();
    for selector in workloads.filter_map(|w| w.spec.selector.as_ref()) {
        if selector.validate().is_err() {
            return Vec::new();
        }
        if !selector.is_empty() && selector.matches(&pod.metadata.labels) {
            found.push(Selector::Expressions(selector.clone()));
        }
    }
    found
}

impl SelectorSpreadPriority {
    fn selectors(self, cx: &Context<'_>, pod: &Pod) -> Vec<Selector> {
        let mut selectors: Vec<Selector> = services_of(cx, pod).cloned().map(Selector::Map).collect();
        // Upstream looks up no controllers for a pod without labels.
        if self == Self::Services || pod.metadata.labels.is_empty() {
            return selectors;
        }
        let namespace = &pod.metadata.namespace;
        let controllers = cx.cluster.replication_controllers.in_namespace(namespace).filter_map(|c| c.spec.selector.as_ref());
        selectors.extend(controllers.filter(|s| !s.is_empty() && matches(s, &pod.metadata.labels)).cloned().map(Selector::Map));
        selectors.extend(workloads_of(cx.cluster.replica_sets.in_namespace(namespace), pod));
        selectors.extend(workloads_of(cx.cluster.stateful_sets.in_namespace(namespace), pod));
        selectors
    }
}

/// Number of matching pods on each node of the snapshot.
#[derive(Clone, Debug)]
struct State(Arc<HashMap<usize, i64>>);

fn counts(cx: &Context<'_>, pod: &PodInfo, selectors: &[Selector]) -> HashMap<usize, i64> {
    if selectors.is_empty() {
        return HashMap::new();
    }
    let chosen = |p: &PodInfo| {
        let pod_labels = &p.pod.metadata.labels;
        p.namespace() == pod.namespace() && !p.pod.is_terminating() && selectors.iter().any(|s| s.matches(pod_labels))
    };
    cx.snapshot.pods().count(crate::framework::LabelBloom::namespace(pod.namespace()), chosen).into_iter().collect()
}

impl Plugin for SelectorSpreadPriority {
    fn name(&self) -> PluginName {
        match self {
            Self::All => PluginName::SelectorSpreadPriority,
            Self::Services => PluginName::ServiceSpreadingPriority,
        }
    }
    fn pre_score(&self) -> Option<&dyn PreScorePlugin> {
        Some(self)
    }
    fn score(&self) -> Option<&dyn ScorePlugin> {
        Some(self)
    }
}

impl PreScorePlugin for SelectorSpreadPriority {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        state.write(State(Arc::new(counts(cx, pod, &self.selectors(cx, &pod.pod)))));
        Status::success()
    }
}

/// Returns region and zone of a node; `None` if it has neither. Mirrors `GetZoneKey` in `pkg/util/node/node.go`.
fn zone(node: &Node) -> Option<(&str, &str)> {
    let label = |key: &str| node.metadata.labels.get(key).map_or("", |v| v.as_str());
    let zone = (label("failure-domain.beta.kubernetes.io/region"), label("failure-domain.beta.kubernetes.io/zone"));
    (zone != ("", "")).then_some(zone)
}

impl ScorePlugin for SelectorSpreadPriority {
    fn score(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let Some(State(counts)) = state.read() else { return Err(Status::error("not found")) };
        Ok(cx.snapshot.position(node.name()).and_then(|at| counts.get(&at)).copied().unwrap_or(0))
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        let mut by_zone: HashMap<(&str, &str), i64> = HashMap::new();
        for (node, count) in nodes.iter().zip(scores.iter()) {
            if let Some(zone) = zone(&node.node) {
                *by_zone.entry(zone).or_default() += count;
            }
        }
        let highest = scores.iter().copied().max().unwrap_or(0);
        let highest_zone = by_zone.values().copied().max().unwrap_or(0);
        let share = |count: i64, highest: i64| {
            if highest > 0 { MAX_PRIORITY as f64 * ((highest - count) as f64 / highest as f64) } else { MAX_PRIORITY as f64 }
        };
        for (node, score) in nodes.iter().zip(scores) {
            let mut spread = share(*score, highest);
            if let Some(zone) = zone(&node.node) {
                spread = spread * (1.0 - ZONE_WEIGHTING) + ZONE_WEIGHTING * share(by_zone[&zone], highest_zone);
            }
            *score = spread as i64;
        }
        Status::success()
    }
}
