//! The events that may help a pod that NodeResourcesFit rejected.
//!
//! Mirrors the queueing hints of `pkg/scheduler/framework/plugins/noderesources/fit.go`. They test the empty node and
//! disregard ignored resources.

use std::sync::Arc;

use super::fit::PodRequest;
use crate::cluster::resource::DeviceClass;
use crate::cluster::{Kind, Node, Object, Pod};
use crate::framework::{
    ActionType, Change, ClusterEvent, ClusterEventWithHint, Context, EventResource, HintError, PodResourcesOptions, QueueingHint, Resource,
    is_scalar_resource_name, pod_requests,
};
use crate::plugins::helper::{BeforeAfter, changed_nodes, changed_pods, node_actions};
use crate::release::{Emulation, Gate};

/// Returns the event registrations of NodeResourcesFit.
pub(super) fn events(emulation: Emulation) -> Vec<ClusterEventWithHint> {
    let mut pod_action = ActionType::DELETE;
    if emulation.enabled(Gate::InPlacePodVerticalScaling) {
        pod_action = pod_action.or(ActionType::UPDATE_POD_SCALE_DOWN);
    }
    let node_action = node_actions(emulation, ActionType::UPDATE_NODE_ALLOCATABLE);
    let mut events = vec![
        ClusterEventWithHint {
            event: ClusterEvent::new(EventResource::Pod, pod_action),
            hint: Some(Arc::new(|cx, pod, change| after_pod_event(cx.emulation, pod, change))),
        },
        ClusterEventWithHint { event: ClusterEvent::new(EventResource::Node, node_action), hint: Some(Arc::new(after_node_change)) },
    ];
    if emulation.enabled(Gate::DRAExtendedResource) {
        events.push(ClusterEventWithHint {
            event: ClusterEvent::new(EventResource::DeviceClass, ActionType::ADD.or(ActionType::UPDATE)),
            hint: Some(Arc::new(|_, pod, change| after_device_class_event(pod, change))),
        });
    }
    events
}

fn queue_if(helps: bool) -> QueueingHint {
    if helps { QueueingHint::Queue } else { QueueingHint::QueueSkip }
}

/// Returns Queue if a pod with a node was deleted, or a scale-down frees a resource that the pod requests.
fn after_pod_event(emulation: Emulation, pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    Ok(queue_if(match changed_pods(change)? {
        (Some(deleted), None) => !deleted.node_name.is_empty() || !deleted.status.nominated_node_name.is_empty(),
        (Some(old), Some(new)) => emulation.enabled(Gate::InPlacePodVerticalScaling) && scale_down_helps(emulation, pod, old, new),
        (None, _) => false,
    }))
}

fn scale_down_helps(emulation: Emulation, pod: &Pod, old: &Pod, new: &Pod) -> bool {
    if new.metadata.uid == pod.metadata.uid {
        return true;
    }
    if new.node_name.is_empty() {
        return false;
    }
    let options = PodResourcesOptions::of_resizes(emulation);
    let largest = |pod: &Pod| Resource::max_of_list(&pod_requests(pod, options));
    let (old, new) = (largest(old), largest(new));
    pod_requests(pod, options).iter().filter(|(_, amount)| !amount.is_zero()).any(|(name, _)| match name.as_str() {
        "cpu" => old.milli_cpu > new.milli_cpu,
        "memory" => old.memory > new.memory,
        "ephemeral-storage" => old.ephemeral_storage > new.ephemeral_storage,
        name => is_scalar_resource_name(name) && old.scalar(name) > new.scalar(name),
    })
}

/// Returns Queue if the pod fits the empty node, and the node is new or has more of a resource that the pod requests.
fn after_node_change(cx: &Context<'_>, pod: &Arc<Pod>, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, Some(new)) = changed_nodes(change)? else { return Ok(QueueingHint::QueueSkip) };
    let request = PodRequest::of(cx.cluster, cx.emulation, pod);
    let allocatable = |node: &Node| Resource::from_list(&node.status.allocatable);
    let now = allocatable(new);
    let fits = request.fit(0, &now, &Resource::default(), cx.emulation).is_success();
    Ok(queue_if(fits && old.is_none_or(|old| anything_requested_rose(&request, &allocatable(old), &now))))
}

fn anything_requested_rose(request: &PodRequest, old: &Resource, new: &Resource) -> bool {
    let basic = &request.basic;
    new.allowed_pod_number > old.allowed_pod_number
        || (basic.milli_cpu > 0 && new.milli_cpu > old.milli_cpu)
        || (basic.memory > 0 && new.memory > old.memory)
        || (basic.ephemeral_storage > 0 && new.ephemeral_storage > old.ephemeral_storage)
        || request.scalars.iter().any(|scalar| {
            let (old, new) = (old.scalar(&scalar.name), new.scalar(&scalar.name));
            new > old || (new <= 0 && scalar.device_backed)
        })
}

/// Returns Queue if a class was added or changed its extended resource, and the pod requests that resource.
fn after_device_class_event(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, Some(new)) = changed_classes(change)? else { return Ok(QueueingHint::QueueSkip) };
    let name = |class: &DeviceClass| class.spec.extended_resource_name.clone().unwrap_or_default();
    if old.is_some_and(|old| name(old) == name(new)) {
        return Ok(QueueingHint::QueueSkip);
    }
    let requests = pod_requests(pod, PodResourcesOptions::default());
    let implicit = || format!("deviceclass.resource.kubernetes.io/{}", new.metadata.name);
    let explicit = new.spec.extended_resource_name.as_ref();
    Ok(queue_if((old.is_none() && requests.contains_key(&implicit())) || explicit.is_some_and(|name| requests.contains_key(name))))
}

fn changed_classes(change: &Change) -> Result<BeforeAfter<'_, DeviceClass>, HintError> {
    fn class(object: &Object) -> Result<&Arc<DeviceClass>, HintError> {
        match object {
            Object::DeviceClass(class) => Ok(class),
            other => Err(HintError::OtherKind { expected: Kind::DeviceClass, got: other.kind() }),
        }
    }
    Ok((change.old.as_ref().map(class).transpose()?, change.new.as_ref().map(class).transpose()?))
}

#[cfg(test)]
mod tests;
