//! Tests of `hints`.

use super::*;
use crate::cluster::Cluster;
use crate::framework::QueueingHint::{Queue, QueueSkip};
use crate::plugins::helper::testing::{node_change, pod, pod_change, with_context};

fn requesting(requests: &str) -> Arc<Pod> {
    pod(&format!("{{spec: {{containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}}}"))
}

#[test]
fn registrations_follow_the_gates() {
    let mut emulation = Emulation::default();
    let shown = |emulation| events(emulation).iter().map(|e| (e.event.resource, e.event.action)).collect::<Vec<_>>();
    let node = (EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_ALLOCATABLE));
    let class = (EventResource::DeviceClass, ActionType::ADD.or(ActionType::UPDATE));
    assert_eq!(shown(emulation), [(EventResource::Pod, ActionType::DELETE.or(ActionType::UPDATE_POD_SCALE_DOWN)), node, class]);
    emulation.set(Gate::InPlacePodVerticalScaling, false);
    emulation.set(Gate::DRAExtendedResource, false);
    assert_eq!(shown(emulation), [(EventResource::Pod, ActionType::DELETE), node]);
    assert_eq!(after_pod_event(emulation, &requesting("cpu: 1"), &pod_change(Some("{}"), Some("{}"))), Ok(QueueSkip));
}

#[test]
fn a_deleted_or_smaller_pod_queues_the_pod() {
    let other = |rest: &str, requests: &str| {
        format!("{{metadata: {{uid: other}}, spec: {{{rest} containers: [{{name: c, resources: {{requests: {{{requests}}}}}}}]}}}}")
    };
    let placed = |requests: &str| other("nodeName: n,", requests);
    let mine = requesting("cpu: 1, memory: 0, example.com/x: 1, ephemeral-storage: 1, strange: 1");
    for (old, new, expected) in [
        (placed(""), None, Queue),
        (other("", ""), None, QueueSkip),
        ("{status: {nominatedNodeName: n}}".to_owned(), None, Queue),
        ("{}".to_owned(), Some("{}".to_owned()), Queue),
        (other("", "cpu: 2"), Some(other("", "cpu: 1")), QueueSkip),
        (placed("cpu: 2"), Some(placed("cpu: 1")), Queue),
        (placed("cpu: 1"), Some(placed("cpu: 2")), QueueSkip),
        (placed("memory: 2"), Some(placed("memory: 1")), QueueSkip),
        (placed("ephemeral-storage: 2"), Some(placed("ephemeral-storage: 1")), Queue),
        (placed("example.com/x: 2"), Some(placed("")), Queue),
        (placed("example.com/y: 2"), Some(placed("")), QueueSkip),
        (placed("strange: 2"), Some(placed("")), QueueSkip),
    ] {
        let hint = after_pod_event(Emulation::default(), &mine, &pod_change(Some(&old), new.as_deref()));
        assert_eq!(hint, Ok(expected), "{old} {new:?}");
    }
    assert!(after_pod_event(Emulation::default(), &mine, &node_change(Some("{}"), None)).is_err());
    assert_eq!(after_pod_event(Emulation::default(), &mine, &pod_change(None, Some("{}"))), Ok(QueueSkip));
}

#[test]
fn a_node_with_more_of_what_the_pod_requests_queues_it() {
    let node = |allocatable: &str| format!("{{status: {{allocatable: {{{allocatable}}}}}}}");
    let mut cluster = Cluster::default();
    let class = "{metadata: {name: c}, spec: {extendedResourceName: example.com/dev}}";
    cluster.insert(Object::DeviceClass(Arc::new(serde_yaml::from_str(class).unwrap())));
    for (requests, old, new, expected) in [
        ("cpu: 1", None, "pods: 1, cpu: 1", Queue),
        ("cpu: 1", None, "cpu: 1", QueueSkip),
        ("cpu: 1", None, "pods: 1, cpu: 500m", QueueSkip),
        ("cpu: 1", Some("pods: 1, cpu: 1"), "pods: 1, cpu: 2", Queue),
        ("cpu: 1", Some("pods: 1, cpu: 2"), "pods: 1, cpu: 1", QueueSkip),
        ("cpu: 1", Some("pods: 1, cpu: 1"), "pods: 1, cpu: 1, memory: 1", QueueSkip),
        ("cpu: 1", Some("pods: 1, cpu: 1"), "pods: 2, cpu: 1", Queue),
        ("memory: 1", Some("pods: 1, memory: 1"), "pods: 1, memory: 2", Queue),
        ("ephemeral-storage: 1", Some("pods: 1, ephemeral-storage: 1"), "pods: 1, ephemeral-storage: 2", Queue),
        ("example.com/x: 1", Some("pods: 1, example.com/x: 1"), "pods: 1, example.com/x: 2", Queue),
        ("example.com/x: 1", Some("pods: 1, example.com/x: 2"), "pods: 1, example.com/x: 2", QueueSkip),
        ("example.com/dev: 1", Some("pods: 1"), "pods: 1", Queue),
        ("", Some("pods: 1"), "pods: 1, cpu: 1", QueueSkip),
    ] {
        let change = node_change(old.map(node).as_deref(), Some(&node(new)));
        let hint = with_context(&cluster, &[], |cx| after_node_change(&cx, &requesting(requests), &change));
        assert_eq!(hint, Ok(expected), "{requests}: {old:?} {new}");
    }
    with_context(&cluster, &[], |cx| assert!(after_node_change(&cx, &requesting(""), &pod_change(None, Some("{}"))).is_err()));
}

#[test]
fn a_class_that_serves_a_requested_resource_queues_the_pod() {
    let class = |name: &str, resource: &str| {
        let yaml = format!("{{metadata: {{name: {name}}}, spec: {{extendedResourceName: {resource}}}}}");
        Object::DeviceClass(Arc::new(serde_yaml::from_str(&yaml).unwrap()))
    };
    let mine = requesting("example.com/x: 1, deviceclass.resource.kubernetes.io/c: 1");
    for (old, new, expected) in [
        (None, class("a", "example.com/x"), Queue),
        (None, class("a", "example.com/y"), QueueSkip),
        (None, class("a", "null"), QueueSkip),
        (None, class("c", "null"), Queue),
        (Some(class("c", "null")), class("c", "example.com/y"), QueueSkip),
        (Some(class("a", "example.com/y")), class("a", "example.com/x"), Queue),
        (Some(class("a", "example.com/x")), class("a", "example.com/x"), QueueSkip),
    ] {
        let change = Change { old, new: Some(new) };
        assert_eq!(after_device_class_event(&mine, &change), Ok(expected), "{change:?}");
    }
    assert!(after_device_class_event(&mine, &pod_change(None, Some("{}"))).is_err());
}
