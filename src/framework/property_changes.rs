//! The cluster events of a pod or node update; mirrors `pkg/scheduler/framework/events.go`.

use std::collections::BTreeMap;

use super::{ActionType, ClusterEvent, EventLabel, EventResource, PodResourcesOptions, pod_requests};
use crate::cluster::{Node, Pod, PodStatus, ResourceVersion};
use crate::framework::pod_info::has_same_requests;
use crate::release::{AssignedUpdates, Emulation, EventNames, Gate, NodeUpdates};

/// Returns the events of a pod update, in kube-scheduler's order. The list is never empty: an update without a specific
/// event is a plain `Update`. The resource is `AssignedPod` if the new object has a node, else `UnschedulablePod`.
pub fn pod_scheduling_properties_change(old: &Pod, new: &Pod, emulation: Emulation) -> Vec<ClusterEvent> {
    let resource = if new.node_name.is_empty() { EventResource::UnschedulablePod } else { EventResource::AssignedPod };
    let claims_changed = old.status.resource_claim_statuses != new.status.resource_claim_statuses
        || old.status.extended_resource_claim_status != new.status.extended_resource_claim_status;
    let changes = [
        (old.metadata.labels != new.metadata.labels, ActionType::UPDATE_POD_LABEL),
        (emulation.enabled(Gate::InPlacePodVerticalScaling) && is_scaled_down(old, new, emulation), ActionType::UPDATE_POD_SCALE_DOWN),
        (!old.spec.scheduling_gates.is_empty() && new.spec.scheduling_gates.is_empty(), ActionType::UPDATE_POD_SCHEDULING_GATES_ELIMINATED),
        // The API server allows tolerations to be added only, so comparing their number is enough.
        (old.spec.tolerations.len() != new.spec.tolerations.len(), ActionType::UPDATE_POD_TOLERATION),
        (claims_changed, ActionType::UPDATE_POD_GENERATED_RESOURCE_CLAIM),
    ];
    let mut events = events(resource, changes);
    if events.is_empty() {
        events.push(ClusterEvent::new(resource, ActionType::UPDATE));
    }
    events
}

/// Returns the events of a node update, in kube-scheduler's order; empty if no property that scheduling reads changed.
pub fn node_scheduling_properties_change(old: &Node, new: &Node, emulation: Emulation) -> Vec<ClusterEvent> {
    let features_changed = emulation.enabled(Gate::NodeDeclaredFeatures) && old.status.declared_features != new.status.declared_features;
    let changes = [
        (old.unschedulable() && !new.unschedulable(), ActionType::UPDATE_NODE_TAINT),
        (old.status.allocatable != new.status.allocatable, ActionType::UPDATE_NODE_ALLOCATABLE),
        (old.metadata.labels != new.metadata.labels, ActionType::UPDATE_NODE_LABEL),
        (old.spec.taints != new.spec.taints, ActionType::UPDATE_NODE_TAINT),
        (condition_statuses(old) != condition_statuses(new), ActionType::UPDATE_NODE_CONDITION),
        (old.metadata.annotations != new.metadata.annotations, ActionType::UPDATE_NODE_ANNOTATION),
        (features_changed, ActionType::UPDATE_NODE_DECLARED_FEATURE),
    ];
    let mut events = events(EventResource::Node, changes);
    if emulation.behaviour().queue.node_updates == NodeUpdates::Any {
        return vec![ClusterEvent::new(EventResource::Node, ActionType::UPDATE)];
    }
    if emulation.behaviour().queue.node_updates == NodeUpdates::First {
        events.retain(|event| event.action != ActionType::UPDATE_NODE_ANNOTATION);
        events.truncate(1);
    }
    if names_of_their_own(emulation)
        && changes[0].0
        && let Some(lifted) = events.first_mut()
    {
        lifted.custom_label = Some(EventLabel::NodeSpecUnschedulableChange);
    }
    events
}

/// Returns the events of an update of a pod on a node, each with whether it concerns all waiting pods regardless of
/// their terms.
pub fn assigned_pod_changes(old: &Pod, new: &Pod, emulation: Emulation) -> Vec<(ClusterEvent, bool)> {
    let event = |action| ClusterEvent::new(EventResource::AssignedPod, action);
    match emulation.behaviour().queue.assigned_updates {
        AssignedUpdates::ByProperty => pod_scheduling_properties_change(old, new, emulation).into_iter().map(|e| (e, false)).collect(),
        AssignedUpdates::One => vec![(event(ActionType::UPDATE), false)],
        AssignedUpdates::LabelsAndScaleDown => {
            let mut events = Vec::new();
            if old.metadata.labels != new.metadata.labels {
                events.push((event(ActionType::UPDATE_POD_LABEL), false));
            }
            if is_scaled_down(old, new, emulation) {
                events.push((event(ActionType::UPDATE), true));
            }
            events
        }
    }
}

/// Returns whether a waiting pod changed in anything but the fields that the API server and controllers write. Releases
/// without queueing hints retry a pod on this condition. Mirrors `isPodUpdated`.
pub fn is_pod_updated(old: &Pod, new: &Pod) -> bool {
    let strip = |pod: &Pod| {
        let mut pod = pod.clone();
        pod.metadata.resource_version = ResourceVersion::default();
        pod.metadata.finalizers.clear();
        let claims = pod.status.resource_claim_statuses.clone();
        pod.status = PodStatus::default();
        (pod, claims)
    };
    strip(old) != strip(new)
}

fn names_of_their_own(emulation: Emulation) -> bool {
    matches!(emulation.behaviour().queue.event_names, EventNames::Own | EventNames::OwnWithLabels)
}

fn events(resource: EventResource, changes: impl IntoIterator<Item = (bool, ActionType)>) -> Vec<ClusterEvent> {
    changes.into_iter().filter(|(changed, _)| *changed).map(|(_, action)| ClusterEvent::new(resource, action)).collect()
}

/// Whether any request was lowered or removed.
fn is_scaled_down(old: &Pod, new: &Pod, emulation: Emulation) -> bool {
    if has_same_requests(old, new) {
        return false;
    }
    let options = PodResourcesOptions::of_resizes(emulation);
    let requests = pod_requests(new, options);
    pod_requests(old, options)
        .iter()
        .any(|(name, before)| requests.get(name).is_none_or(|after| before.milli_value() > after.milli_value()))
}

/// Returns condition statuses by type, without times, reasons and messages.
fn condition_statuses(node: &Node) -> BTreeMap<&str, &str> {
    node.status.conditions.iter().map(|c| (c.kind.as_str(), c.status.as_str())).collect()
}

#[cfg(test)]
mod tests;
