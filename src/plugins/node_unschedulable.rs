//! NodeUnschedulable: Filter. Mirrors `pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go`.

use std::sync::Arc;

use super::helper::{changed_nodes, changed_pods, node_actions, tolerates};
use crate::cluster::{Pod, Taint};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, CycleState, EventResource, FilterPlugin, HintError, NodeInfo, Plugin,
    PodInfo, QueueingHint, Reason, Status,
};
use crate::release::{Emulation, NodeRegistrations};

/// Keeps pods off cordoned nodes, unless they tolerate the unschedulable taint.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeUnschedulable;

impl Plugin for NodeUnschedulable {
    plugin!(NodeUnschedulable: filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let taints = ActionType::ADD.or(ActionType::UPDATE_NODE_TAINT);
        let taints_alone = emulation.behaviour().queue.node_registrations == NodeRegistrations::AnyUpdateButUnschedulable;
        let actions = if taints_alone { taints } else { node_actions(emulation, ActionType::UPDATE_NODE_TAINT) };
        let node = ClusterEvent::new(EventResource::Node, actions);
        let pod = ClusterEvent::new(EventResource::Pod, ActionType::UPDATE_POD_TOLERATION);
        Some(vec![
            ClusterEventWithHint { event: node, hint: Some(Arc::new(|_, _, change| after_node_change(change))) },
            ClusterEventWithHint { event: pod, hint: Some(Arc::new(|cx, pod, change| after_toleration_change(cx.emulation, pod, change))) },
        ])
    }
}

/// Whether the pod tolerates the taint that the node controller adds to cordoned nodes.
pub(super) fn tolerates_unschedulable(pod: &Pod, emulation: Emulation) -> bool {
    !pod.spec.tolerations.is_empty() && {
        let taint = Taint { key: "node.kubernetes.io/unschedulable".into(), effect: "NoSchedule".into(), ..Taint::default() };
        tolerates(&pod.spec.tolerations, &taint, emulation)
    }
}

/// Returns Queue if a node was added that is not cordoned, or a node was uncordoned.
fn after_node_change(change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = changed_nodes(change)?;
    let was_closed = old.is_none_or(|n| n.unschedulable());
    Ok(if was_closed && new.is_some_and(|n| !n.unschedulable()) { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

/// Returns Queue if the pod itself now tolerates a cordon.
fn after_toleration_change(emulation: Emulation, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = changed_pods(change)?;
    let helps = new.is_some_and(|n| n.metadata.uid == pod.metadata.uid && tolerates_unschedulable(n, emulation));
    Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

impl FilterPlugin for NodeUnschedulable {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if !node.unschedulable() || tolerates_unschedulable(&pod.pod, cx.emulation) {
            return Status::success();
        }
        Status::rejected(Reason::NodeUnschedulable)
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::helper::testing::{node_change, node_info, pod, pod_change, pod_info, with_context};
    use super::*;
    use crate::cluster::Cluster;

    const CORDONED: &str = "{metadata: {name: n}, spec: {unschedulable: true}}";
    const OPEN: &str = "{metadata: {name: n}}";
    const TOLERANT: &str = "{spec: {tolerations: [{key: node.kubernetes.io/unschedulable, operator: Exists, effect: NoSchedule}]}}";
    const UNRELATED: &str = "{spec: {tolerations: [{key: other, operator: Exists}]}}";

    #[test]
    fn a_cordoned_node_takes_only_pods_that_tolerate_it() {
        for (node, pod, passes) in [
            (OPEN, "{}", true),
            (CORDONED, "{}", false),
            (CORDONED, UNRELATED, false),
            (CORDONED, TOLERANT, true),
            (CORDONED, "{spec: {tolerations: [{operator: Exists}]}}", true),
            // The taint has an empty value.
            (CORDONED, "{spec: {tolerations: [{key: node.kubernetes.io/unschedulable, value: x}]}}", false),
        ] {
            let status = with_context(&Cluster::default(), &[], |cx| {
                FilterPlugin::filter(&NodeUnschedulable, &cx, &CycleState::default(), &pod_info(pod), &node_info(node))
            });
            assert_eq!(status, if passes { Status::success() } else { Status::rejected(Reason::NodeUnschedulable) }, "{node} {pod}");
        }
    }

    #[test]
    fn an_open_node_or_a_new_toleration_queues_the_pod() {
        use QueueingHint::{Queue, QueueSkip};
        for (old, new, expected) in [
            (None, Some(OPEN), Queue),
            (None, Some(CORDONED), QueueSkip),
            (Some(CORDONED), Some(OPEN), Queue),
            (Some(OPEN), Some(OPEN), QueueSkip),
            (Some(OPEN), Some(CORDONED), QueueSkip),
        ] {
            assert_eq!(after_node_change(&node_change(old, new)), Ok(expected), "{old:?} {new:?}");
        }
        assert!(after_node_change(&pod_change(None, Some("{}"))).is_err());

        let mine = pod("{}");
        let other = "{metadata: {uid: other}, spec: {tolerations: [{operator: Exists}]}}";
        for (new, expected) in [(TOLERANT, Queue), (UNRELATED, QueueSkip), (other, QueueSkip)] {
            let hint = after_toleration_change(Emulation::default(), &mine, &pod_change(Some("{}"), Some(new)));
            assert_eq!(hint, Ok(expected), "{new}");
        }
    }
}
