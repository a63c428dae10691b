//! NodeName: Filter. Mirrors `pkg/scheduler/framework/plugins/nodename/node_name.go`.

use super::helper::node_actions;
use crate::framework::{
    ActionType, ClusterEvent, ClusterEventWithHint, Context, CycleState, EventResource, FilterPlugin, NodeInfo, Plugin, PodInfo, Reason,
    Status,
};
use crate::release::Emulation;

/// Keeps a pod with `spec.nodeName` to that node.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeName;

impl Plugin for NodeName {
    plugin!(NodeName: filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let add = ClusterEvent::new(EventResource::Node, node_actions(emulation, ActionType::NONE));
        Some(vec![ClusterEventWithHint { event: add, hint: None }])
    }
}

impl FilterPlugin for NodeName {
    fn filter(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if pod.pod.node_name.is_empty() || pod.pod.node_name == *node.name() {
            return Status::success();
        }
        Status::rejected(Reason::NodeNameMismatch { wanted: pod.pod.node_name.clone() })
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
    use std::sync::Arc;

    use super::*;
    use crate::cluster::{Cluster, Node, Pod};
    use crate::framework::Snapshot;

    #[test]
    fn only_the_named_node_passes() {
        let (cluster, snapshot) = (Cluster::default(), Snapshot::default());
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
        let mut node = Node::default();
        node.metadata.name = "a".into();
        let node = NodeInfo::new(Arc::new(node));
        for (named, passes) in [("", true), ("a", true), ("b", false)] {
            let pod = PodInfo::new(Arc::new(Pod { node_name: named.into(), ..Pod::default() }));
            let status = FilterPlugin::filter(&NodeName, &cx, &CycleState::default(), &pod, &node);
            assert_eq!(
                status,
                if passes { Status::success() } else { Status::rejected(Reason::NodeNameMismatch { wanted: named.into() }) }
            );
        }
    }
}
