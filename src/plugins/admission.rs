//! The check of releases without queueing hints that a node can take a pod before the pod is retried; mirrors
//! `preCheckForNode` and `AdmissionCheck` in `pkg/scheduler/eventhandlers.go` and `pkg/scheduler/schedule_one.go`.

use super::helper::find_matching_untolerated_taint;
use super::node_affinity::required_node_affinity_matches;
use super::node_resources::fits;
use crate::framework::{Context, NodeInfo, PodInfo, host_ports};

/// Returns whether a node has the resources and host ports for a pod, matches its node name, selector and affinity, and
/// has no NoSchedule taint that it does not tolerate.
pub fn admits(cx: &Context<'_>, pod: &PodInfo, node: &NodeInfo) -> bool {
    let tolerations = &pod.pod.spec.tolerations;
    let taint = find_matching_untolerated_taint(&node.node.spec.taints, tolerations, |t| t.effect == "NoSchedule", cx.emulation);
    (pod.pod.node_name.is_empty() || pod.pod.node_name == *node.name())
        && fits(cx, pod, node)
        && required_node_affinity_matches(&pod.pod, &node.node)
        && !host_ports(&pod.pod, cx.emulation).any(|port| node.used_ports.conflicts(port))
        && taint.is_none()
}
