//! TaintToleration: Filter, PreScore, Score. Mirrors `pkg/scheduler/framework/plugins/tainttoleration/taint_toleration.go`.

use std::sync::Arc;

use super::helper::{changed_nodes, changed_pods, default_normalize_score, find_untolerated_taint, node_actions, tolerates};
use crate::cluster::{Pod, Toleration};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, CycleState, EventResource, FilterPlugin, HintError, NodeInfo, Plugin,
    PodInfo, PreScorePlugin, QueueingHint, Reason, ScorePlugin, Status,
};
use crate::release::Emulation;

const PREFER_NO_SCHEDULE: &str = "PreferNoSchedule";

/// Keeps pods off nodes whose taints they do not tolerate, and prefers nodes with fewer PreferNoSchedule taints.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaintToleration;

/// The tolerations that apply to PreferNoSchedule taints.
#[derive(Clone, Debug)]
struct PreScoreState(Vec<Toleration>);

impl Plugin for TaintToleration {
    plugin!(TaintToleration: filter, pre_score, score);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let node = ClusterEvent::new(EventResource::Node, node_actions(emulation, ActionType::UPDATE_NODE_TAINT));
        let pod = ClusterEvent::new(EventResource::Pod, ActionType::UPDATE_POD_TOLERATION);
        Some(vec![
            ClusterEventWithHint { event: node, hint: Some(Arc::new(|cx, pod, change| after_node_change(cx.emulation, pod, change))) },
            ClusterEventWithHint { event: pod, hint: Some(Arc::new(|_, pod, change| after_toleration_change(pod, change))) },
        ])
    }
}

/// Returns Queue if the pod tolerates the node now and the node is new or was not tolerated before.
fn after_node_change(emulation: Emulation, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = changed_nodes(change)?;
    let untolerated = |node: &crate::cluster::Node| find_untolerated_taint(&node.spec.taints, &pod.spec.tolerations, emulation).is_some();
    let helps = old.is_none_or(|n| untolerated(n)) && new.is_some_and(|n| !untolerated(n));
    Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

/// Returns Queue if the pod's own tolerations changed.
fn after_toleration_change(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = changed_pods(change)?;
    Ok(if new.is_some_and(|n| n.metadata.uid == pod.metadata.uid) { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

impl FilterPlugin for TaintToleration {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        match find_untolerated_taint(node.taints(), &pod.pod.spec.tolerations, cx.emulation) {
            None => Status::success(),
            Some(taint) => Status::rejected(Reason::UntoleratedTaint { taint: taint.clone() }),
        }
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

impl PreScorePlugin for TaintToleration {
    fn pre_score(&self, _cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, _nodes: &[Arc<NodeInfo>]) -> Status {
        let counts = |t: &&Toleration| t.effect.is_empty() || t.effect == PREFER_NO_SCHEDULE;
        state.write(PreScoreState(pod.pod.spec.tolerations.iter().filter(counts).cloned().collect()));
        Status::success()
    }
}

/// Returns the tolerations that PreScore kept.
fn tolerations(state: &CycleState) -> Result<&[Toleration], Status> {
    let Some(PreScoreState(tolerations)) = state.read() else {
        return Err(Status::error("failed to read \"PreScoreTaintToleration\" from cycleState: not found"));
    };
    Ok(tolerations)
}

/// Returns the number of PreferNoSchedule taints that no toleration tolerates.
fn intolerable(cx: &Context<'_>, tolerations: &[Toleration], node: &NodeInfo) -> i64 {
    let soft = node.taints().iter().filter(|t| t.effect == PREFER_NO_SCHEDULE);
    soft.filter(|t| !tolerates(tolerations, t, cx.emulation)).count() as i64
}

impl ScorePlugin for TaintToleration {
    /// Returns the number of PreferNoSchedule taints that the pod does not tolerate.
    fn score(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        Ok(intolerable(cx, tolerations(state)?, node))
    }

    fn score_all(&self, cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, nodes: &[Arc<NodeInfo>]) -> Result<Vec<i64>, Status> {
        let tolerations = tolerations(state)?;
        Ok(nodes.iter().map(|node| intolerable(cx, tolerations, node)).collect())
    }

    fn normalize(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, _nodes: &[Arc<NodeInfo>], scores: &mut [i64]) -> Status {
        default_normalize_score(true, scores);
        Status::success()
    }

    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
