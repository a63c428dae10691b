//! Tests of `property_changes`.

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
        &["UnschedulablePodUpdatePodLabel", "UnschedulablePodUpdatePodSchedulingGatesEliminated", "UnschedulablePodUpdatePodToleration"],
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
