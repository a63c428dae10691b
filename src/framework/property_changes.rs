//! The cluster events of a pod or node update; mirrors `pkg/scheduler/framework/events.go`.

use std::collections::BTreeMap;

use super::{ActionType, ClusterEvent, EventLabel, EventResource, PodResourcesOptions, pod_requests};
use crate::cluster::{Node, Pod, PodStatus, ResourceVersion};
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
    let options = PodResourcesOptions {
        use_status_resources: emulation.enabled(Gate::InPlacePodVerticalScaling),
        in_place_pod_level: emulation.enabled(Gate::InPlacePodLevelResourcesVerticalScaling),
        resizes: emulation.behaviour().resizes,
        ..PodResourcesOptions::default()
    };
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
mod tests {
    use super::*;

    fn of(version: &str) -> Emulation {
        crate::release::Profile::named(version).expect("an emulated release").into()
    }

    #[test]
    fn earlier_releases_tell_of_fewer_changes() {
        let node = |text: &str| serde_json::from_str::<Node>(text).unwrap();
        let (old, new) = (
            node(r#"{"metadata":{"name":"n"},"spec":{"unschedulable":true}}"#),
            node(r#"{"metadata":{"name":"n","labels":{"a":"b"},"annotations":{"a":"b"}}}"#),
        );
        let names = |version: &str| {
            let release = of(version);
            let named = |event: ClusterEvent| event.named(release.behaviour().queue.event_names).to_string();
            node_scheduling_properties_change(&old, &new, release).into_iter().map(named).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names("v1.29.1"), "NodeSpecUnschedulableChange");
        assert_eq!(names("v1.30.1"), "NodeSpecUnschedulableChange NodeLabelChange NodeAnnotationChange");
        assert_eq!(names("v1.32.2"), "NodeUpdateNodeTaint NodeUpdateNodeLabel NodeUpdateNodeAnnotation");
        let noted = node(r#"{"metadata":{"name":"n","annotations":{"a":"c"}}}"#);
        assert!(node_scheduling_properties_change(&node("{}"), &noted, of("v1.29.1")).is_empty());

        let pod = |labels: &str, cpu: u32| {
            let text = format!(
                r#"{{"metadata":{{"name":"p","labels":{labels}}},"spec":{{"nodeName":"n","containers":[{{"resources":{{"requests":{{"cpu":{cpu}}}}}}}]}}}}"#
            );
            serde_json::from_str::<Pod>(&text).unwrap()
        };
        let old = pod("{}", 2);
        let changes = |version: &str, new: &Pod| {
            let events = assigned_pod_changes(&old, new, of(version));
            events.into_iter().map(|(event, all)| format!("{event}{}", if all { " all" } else { "" })).collect::<Vec<_>>()
        };
        assert_eq!(changes("v1.30.1", &old), ["AssignedPodUpdate"]);
        assert_eq!(changes("v1.31.1", &old), [] as [&str; 0]);
        assert_eq!(changes("v1.31.1", &pod(r#"{"a":"b"}"#, 1)), ["AssignedPodUpdatePodLabel", "AssignedPodUpdate all"]);
        assert_eq!(changes("v1.32.2", &pod("{}", 1)), ["AssignedPodUpdate"], "the gate is off");
        assert_eq!(changes("v1.33.0", &pod("{}", 1)), ["AssignedPodUpdatePodScaleDown"]);
    }

    #[test]
    fn what_others_write_to_a_pod_is_no_update() {
        let pod = |meta: &str, rest: &str| serde_json::from_str::<Pod>(&format!(r#"{{"metadata":{{{meta}}}{rest}}}"#)).unwrap();
        let old = pod(r#""name":"p""#, "");
        assert!(!is_pod_updated(&old, &pod(r#""name":"p","resourceVersion":"7","finalizers":["f"]"#, r#","status":{"phase":"Pending"}"#)));
        assert!(is_pod_updated(&old, &pod(r#""name":"p","annotations":{"a":"b"}"#, "")));
        assert!(is_pod_updated(&old, &pod(r#""name":"p""#, r#","status":{"resourceClaimStatuses":[{"name":"c"}]}"#)));
    }

    fn labels(events: &[ClusterEvent]) -> Vec<String> {
        events.iter().map(ToString::to_string).collect()
    }

    #[track_caller]
    fn check_pod(old: &str, new: &str, expected: &[&str]) {
        let read = |text: &str| serde_json::from_str::<Pod>(text).unwrap();
        assert_eq!(labels(&pod_scheduling_properties_change(&read(old), &read(new), Emulation::default())), expected);
    }

    #[track_caller]
    fn check_node(old: &str, new: &str, expected: &[&str]) {
        let read = |text: &str| serde_json::from_str::<Node>(text).unwrap();
        assert_eq!(labels(&node_scheduling_properties_change(&read(old), &read(new), Emulation::default())), expected);
    }

    #[test]
    fn each_property_of_a_pod_has_its_event_and_the_rest_is_a_plain_update() {
        let requests = |cpu: &str| format!(r#"{{"spec":{{"containers":[{{"resources":{{"requests":{cpu}}}}}]}}}}"#);
        check_pod("{}", "{}", &["UnschedulablePodUpdate"]);
        check_pod("{}", r#"{"metadata":{"annotations":{"a":"b"}},"spec":{"nodeName":"n"}}"#, &["AssignedPodUpdate"]);
        check_pod("{}", r#"{"metadata":{"labels":{"a":"b"}}}"#, &["UnschedulablePodUpdatePodLabel"]);
        check_pod("{}", r#"{"metadata":{"labels":{"a":"b"}},"spec":{"nodeName":"n"}}"#, &["AssignedPodUpdatePodLabel"]);
        check_pod(&requests(r#"{"cpu":"2"}"#), &requests(r#"{"cpu":"1"}"#), &["UnschedulablePodUpdatePodScaleDown"]);
        check_pod(&requests(r#"{"cpu":"2"}"#), &requests("{}"), &["UnschedulablePodUpdatePodScaleDown"]);
        check_pod(&requests(r#"{"cpu":"1"}"#), &requests(r#"{"cpu":"2"}"#), &["UnschedulablePodUpdate"]);
        check_pod(&requests("{}"), &requests(r#"{"cpu":"2"}"#), &["UnschedulablePodUpdate"]);
        let gates = |list: &str| format!(r#"{{"spec":{{"schedulingGates":{list}}}}}"#);
        check_pod(&gates(r#"[{"name":"a"}]"#), &gates("[]"), &["UnschedulablePodUpdatePodSchedulingGatesEliminated"]);
        check_pod(&gates(r#"[{"name":"a"},{"name":"b"}]"#), &gates(r#"[{"name":"a"}]"#), &["UnschedulablePodUpdate"]);
        check_pod("{}", r#"{"spec":{"tolerations":[{"key":"k"}]}}"#, &["UnschedulablePodUpdatePodToleration"]);
        let claim = r#"{"status":{"resourceClaimStatuses":[{"name":"a","resourceClaimName":"b"}]}}"#;
        check_pod("{}", claim, &["UnschedulablePodUpdatePodGeneratedResourceClaim"]);
        let extended = r#"{"status":{"extendedResourceClaimStatus":{"resourceClaimName":"b"}}}"#;
        check_pod("{}", extended, &["UnschedulablePodUpdatePodGeneratedResourceClaim"]);
    }

    #[test]
    fn several_pod_changes_come_in_order() {
        let old = r#"{"spec":{"schedulingGates":[{"name":"g"}]}}"#;
        let new = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"tolerations":[{"key":"k"}]}}"#;
        check_pod(
            old,
            new,
            &[
                "UnschedulablePodUpdatePodLabel",
                "UnschedulablePodUpdatePodSchedulingGatesEliminated",
                "UnschedulablePodUpdatePodToleration",
            ],
        );
    }

    #[test]
    fn each_property_of_a_node_has_its_event_in_order() {
        let cordoned = r#"{"spec":{"unschedulable":true,"taints":[{"key":"node.kubernetes.io/unschedulable","effect":"NoSchedule"}]}}"#;
        check_node(cordoned, "{}", &["NodeUpdateNodeTaint", "NodeUpdateNodeTaint"]);
        check_node("{}", cordoned, &["NodeUpdateNodeTaint"]);
        check_node("{}", r#"{"spec":{"unschedulable":true}}"#, &[]);
        check_node(r#"{"status":{"allocatable":{"cpu":"1"}}}"#, r#"{"status":{"allocatable":{"cpu":"1000m"}}}"#, &[]);
        check_node("{}", r#"{"status":{"capacity":{"cpu":"1"},"images":[{"names":["a"]}]}}"#, &[]);
        let all = r#"{"metadata":{"labels":{"a":"b"},"annotations":{"c":"d"}},"spec":{"taints":[{"key":"k"}]},
            "status":{"allocatable":{"cpu":"1"},"conditions":[{"type":"Ready","status":"True"}],"declaredFeatures":["F"]}}"#;
        let events = ["Allocatable", "Label", "Taint", "Condition", "Annotation", "DeclaredFeature"].map(|e| format!("NodeUpdateNode{e}"));
        check_node("{}", all, &events.each_ref().map(String::as_str));
        let condition = |reason: &str| format!(r#"{{"status":{{"conditions":[{{"type":"Ready","status":"True","reason":"{reason}"}}]}}}}"#);
        check_node(&condition("a"), &condition("b"), &[]);
    }

    #[test]
    fn declared_features_count_only_with_their_gate() {
        let mut emulation = Emulation::default();
        emulation.set(Gate::NodeDeclaredFeatures, false);
        let new = serde_json::from_str::<Node>(r#"{"status":{"declaredFeatures":["F"]}}"#).unwrap();
        assert_eq!(node_scheduling_properties_change(&Node::default(), &new, emulation), []);
    }
}
