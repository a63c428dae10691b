//! NodePorts: PreFilter, Filter. Mirrors `pkg/scheduler/framework/plugins/nodeports/node_ports.go`.

use std::sync::Arc;

use super::helper::{changed_pods, node_actions};
use crate::cluster::{ContainerPort, HostPorts, Pod};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, CycleState, EventResource, FilterPlugin, HintError, NodeInfo, Plugin,
    PodInfo, PortConflict, PreFilterPlugin, PreFilterResult, QueueingHint, Reason, Status, host_ports,
};
use crate::release::Emulation;

/// Keeps pods off nodes where one of their host ports is in use.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodePorts;

/// The pod's host ports.
#[derive(Clone, Debug)]
struct PreFilterState(Vec<ContainerPort>);

impl Plugin for NodePorts {
    plugin!(NodePorts: pre_filter, filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let delete = ClusterEvent::new(EventResource::Pod, ActionType::DELETE);
        let add = ClusterEvent::new(EventResource::Node, node_actions(emulation, ActionType::NONE));
        Some(vec![
            ClusterEventWithHint { event: delete, hint: Some(Arc::new(|cx, pod, change| after_pod_deleted(cx.emulation, pod, change))) },
            ClusterEventWithHint { event: add, hint: None },
        ])
    }
}

/// Returns Queue if the deleted pod used, or was nominated to use, a host port of the pod.
fn after_pod_deleted(emulation: Emulation, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (Some(deleted), _) = changed_pods(change)? else { return Ok(QueueingHint::QueueSkip) };
    if deleted.node_name.is_empty() && deleted.status.nominated_node_name.is_empty() {
        return Ok(QueueingHint::QueueSkip);
    }
    let freed: HostPorts = host_ports(deleted, emulation).collect();
    let helps = host_ports(pod, emulation).any(|port| freed.conflicts(port));
    Ok(if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip })
}

impl PreFilterPlugin for NodePorts {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let ports: Vec<ContainerPort> = host_ports(&pod.pod, cx.emulation).cloned().collect();
        if ports.is_empty() {
            return (PreFilterResult::default(), Status::skip());
        }
        state.write(PreFilterState(ports));
        (PreFilterResult::default(), Status::success())
    }
}

impl FilterPlugin for NodePorts {
    fn filter(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(PreFilterState(wanted)) = state.read() else {
            return Status::error("reading \"PreFilterNodePorts\" from cycleState: not found");
        };
        match wanted.iter().find(|port| node.used_ports.conflicts(port)) {
            Some(port) => Status::rejected(Reason::HostPortConflict(Box::new(conflict(port, node)))),
            None => Status::success(),
        }
    }
    fn depends_on_node_alone(&self) -> bool {
        true
    }
}

/// Names the pod that uses the port.
pub(super) fn conflict(port: &ContainerPort, node: &NodeInfo) -> PortConflict {
    let has = |pod: &&Arc<PodInfo>| pod.host_ports().conflicts(port);
    PortConflict {
        port: port.host_port.unwrap_or_default(),
        protocol: if port.protocol.is_empty() { "TCP".into() } else { port.protocol.clone() },
        host_ip: port.host_ip.clone(),
        with: node.pods.iter().find(has).map(|pod| pod.key()),
    }
}

#[cfg(test)]
mod tests;
