//! SelectorSpread: PreScore, Score. Mirrors `pkg/scheduler/framework/plugins/selectorspread/selector_spread.go` of the releases
//! that have it, and `GetZoneKey` of `component-helpers/node/topology/helpers.go`.

use std::collections::HashMap;
use std::sync::Arc;

use super::pod_topology_spread::default_selector;
use crate::cluster::{LabelSelector, Node, Str};
use crate::framework::{Context, CycleState, MAX_NODE_SCORE, NodeInfo, Plugin, PodInfo, PreScorePlugin, ScorePlugin, Status};

/// Weight of zones; nodes have the rest.
const ZONE_WEIGHTING: f64 = 2.0 / 3.0;

/// Spreads the pods of Services and of controllers over nodes and zones.
#[derive(Clone, Copy, Debug, Default)]
pub struct SelectorSpread;

/// Selects the pods of the same Services and controllers.
#[derive(Clone, Debug)]
struct State(Arc<LabelSelector>);

/// Whether the pod has spread constraints, which replace this plugin.
fn is_skipped(pod: &PodInfo) -> bool {
    !pod.pod.spec.topology_spread_constraints.is_empty()
}

/// Returns region and zone of a node; `None` if it has neither.
fn zone(node: &Node) -> Option<(Str, Str)> {
    let label = |names: [&str; 2]| names.into_iter().find_map(|name| node.metadata.labels.get(name)).cloned().unwrap_or_default();
    let zone = label(["failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"]);
    let region = label(["failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"]);
    (!zone.is_empty() || !region.is_empty()).then_some((region, zone))
}

/// Returns the score for a count: the maximum for 0, falling to 0 at `highest`; the maximum if `highest` is 0.
fn room(count: i64, highest: i64) -> f64 {
    let max = MAX_NODE_SCORE as f64;
    if highest > 0 { max * ((highest - count) as f64 / highest as f64) } else { max }
}

impl Plugin for SelectorSpread {
    plugin!(SelectorSpread: pre_score, score);
}

impl PreScorePlugin for SelectorSpread {
    fn pre_score(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        if !is_skipped(pod) {
            state.write(State(Arc::new(default_selector(cx, &pod.pod))));
        }
        Status::success()
    }
}

impl ScorePlugin for SelectorSpread {
    /// Returns the number of matching pods on the node.
    fn score(&self, _cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        if is_skipped(pod) {
            return Ok(0);
        }
        let Some(State(selector)) = state.read() else {
            return Err(Status::error("reading \"PreScoreSelectorSpread\" from cycleState: not found"));
        };
        if selector.is_empty() {
            return Ok(0);
        }
        let of_kind = node.pods.iter().filter(|p| p.namespace() == pod.namespace() && !p.pod.is_terminating());
        Ok(of_kind.filter(|p| selector.matches(&p.pod.metadata.labels)).count() as i64)
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        if is_skipped(pod) {
            return Status::success();
        }
        let highest = scores.iter().copied().max().unwrap_or(0);
        let zones: Vec<Option<(Str, Str)>> = nodes.iter().map(|n| zone(&n.node)).collect();
        let mut by_zone: HashMap<&(Str, Str), i64> = HashMap::new();
        for (zone, count) in zones.iter().zip(scores.iter()) {
            if let Some(zone) = zone {
                *by_zone.entry(zone).or_default() += count;
            }
        }
        let highest_zone = by_zone.values().copied().max().unwrap_or(0);
        for (zone, score) in zones.iter().zip(scores) {
            let mut shared = room(*score, highest);
            if let Some(count) = zone.as_ref().and_then(|zone| by_zone.get(zone)) {
                shared = shared * (1.0 - ZONE_WEIGHTING) + ZONE_WEIGHTING * room(*count, highest_zone);
            }
            *score = shared as i64;
        }
        Status::success()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{Cluster, Object};
    use crate::framework::Snapshot;
    use crate::release::Emulation;

    /// Returns the scores of a further pod of the Service on nodes in the given zones with the given number of its
    /// pods.
    fn scores(nodes: &[(&str, usize)]) -> Vec<i64> {
        use serde_json::json;
        let pod = |name: String| {
            let pod = json!({"metadata": {"name": name, "namespace": "n", "uid": name, "labels": {"app": "web"}}});
            Arc::new(PodInfo::new(Arc::new(serde_json::from_value(pod).unwrap())))
        };
        let nodes: Vec<Arc<NodeInfo>> = nodes
            .iter()
            .enumerate()
            .map(|(i, (zone, pods))| {
                let labels = if zone.is_empty() { json!({}) } else { json!({"topology.kubernetes.io/zone": zone}) };
                let node = json!({"metadata": {"name": format!("n{i}"), "labels": labels}});
                let mut info = NodeInfo::new(Arc::new(serde_json::from_value(node).unwrap()));
                (0..*pods).for_each(|j| info.add_pod(pod(format!("p{i}-{j}"))));
                Arc::new(info)
            })
            .collect();
        let service = json!({"metadata": {"name": "web", "namespace": "n"}, "spec": {"selector": {"app": "web"}}});
        let cluster: Cluster = [Object::Service(Arc::new(serde_json::from_value(service).unwrap()))].into_iter().collect();
        let snapshot = Snapshot::default();
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
        let (mut state, new) = (CycleState::default(), pod("new".into()));
        assert!(PreScorePlugin::pre_score(&SelectorSpread, &cx, &mut state, &new, &nodes).is_success());
        let mut scores = SelectorSpread.score_all(&cx, &state, &new, &nodes).unwrap();
        assert!(SelectorSpread.normalize(&cx, &state, &new, &nodes, &mut scores).is_success());
        scores
    }

    #[test]
    fn nodes_and_zones_with_fewer_pods_are_better() {
        assert_eq!(scores(&[("", 0), ("", 2), ("", 1)]), [100, 0, 50]);
        assert_eq!(scores(&[("", 0), ("", 0)]), [100, 100]);
        // a third by node, two thirds by zone
        assert_eq!(scores(&[("a", 0), ("a", 2), ("b", 1)]), [33, 0, 50]);
        assert_eq!(scores(&[("a", 1), ("", 1)]), [0, 0], "a node without a zone is ranked by itself");
    }
}
