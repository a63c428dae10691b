//! NodePreferAvoidPods: Score. Mirrors `pkg/scheduler/framework/plugins/nodepreferavoidpods/node_prefer_avoid_pods.go` of the
//! releases that have it.

use crate::cluster::{Node, PREFER_AVOID_PODS, avoided_controllers};
use crate::framework::{Context, CycleState, MAX_NODE_SCORE, NodeInfo, Plugin, PodInfo, ScorePlugin, Status};

/// Prefers nodes that do not ask to avoid the pods of the pod's controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodePreferAvoidPods;

impl Plugin for NodePreferAvoidPods {
    plugin!(NodePreferAvoidPods: score);
}

impl ScorePlugin for NodePreferAvoidPods {
    /// Returns 0 if the node asks to avoid the pods of the pod's ReplicationController or ReplicaSet, else the maximum.
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        Ok(if is_avoided(pod, &node.node) { 0 } else { MAX_NODE_SCORE })
    }
}

/// Returns whether a node's annotation lists the ReplicationController or ReplicaSet of a pod.
pub(super) fn is_avoided(pod: &PodInfo, node: &Node) -> bool {
    let controller = pod.pod.metadata.controller().filter(|c| matches!(c.kind.as_str(), "ReplicationController" | "ReplicaSet"));
    controller.is_some_and(|controller| {
        let avoided = node.metadata.annotations.get(PREFER_AVOID_PODS).map(|text| avoided_controllers(text)).unwrap_or_default();
        avoided.iter().any(|c| c.kind == controller.kind && c.uid == controller.uid)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cluster::Cluster;
    use crate::framework::Snapshot;
    use crate::release::Emulation;

    fn score(owner: &str, annotation: &str) -> i64 {
        let pod = serde_json::json!({"metadata": {"name": "p", "namespace": "n", "uid": "p", "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": owner, "name": "web", "uid": "u", "controller": true}]}});
        let node = serde_json::json!({"metadata": {"name": "a", "annotations": {PREFER_AVOID_PODS: annotation}}});
        let pod = PodInfo::new(Arc::new(serde_json::from_value(pod).unwrap()));
        let node = NodeInfo::new(Arc::new(serde_json::from_value(node).unwrap()));
        let (cluster, snapshot) = (Cluster::default(), Snapshot::default());
        let cx = Context { cluster: &cluster, snapshot: &snapshot, emulation: Emulation::default(), now: jiff::Timestamp::UNIX_EPOCH };
        ScorePlugin::score(&NodePreferAvoidPods, &cx, &CycleState::default(), &pod, &node).unwrap()
    }

    #[test]
    fn a_node_is_spared_the_pods_of_the_controllers_that_it_names() {
        let asks = |kind: &str, uid: &str| {
            format!(r#"{{"preferAvoidPods":[{{"podSignature":{{"podController":{{"kind":"{kind}","uid":"{uid}"}}}}}}]}}"#)
        };
        assert_eq!(score("ReplicaSet", &asks("ReplicaSet", "u")), 0);
        assert_eq!(score("ReplicaSet", &asks("ReplicaSet", "other")), MAX_NODE_SCORE);
        assert_eq!(score("ReplicaSet", &asks("ReplicationController", "u")), MAX_NODE_SCORE);
        assert_eq!(score("StatefulSet", &asks("StatefulSet", "u")), MAX_NODE_SCORE, "only two kinds of controllers are spared");
        assert_eq!(score("ReplicaSet", "no JSON"), MAX_NODE_SCORE);
    }
}
