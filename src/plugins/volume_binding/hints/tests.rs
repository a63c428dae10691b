use super::super::VolumeBinding;
use super::*;
use crate::framework::EventResource::{
    CSIDriver, CSINode, CSIStorageCapacity, Node, PersistentVolume, PersistentVolumeClaim, StorageClass,
};
use crate::framework::QueueingHint::{Queue, QueueSkip};
use crate::framework::{ClusterEvent, Plugin};
use crate::plugins::volume_helpers::testing::{hint, object, pod_with, pvc_volume, registered};

#[test]
fn new_drivers_count_up_to_1_31() {
    for (version, additions) in [("v1.31.14", true), ("v1.32.2", false)] {
        let event = ClusterEvent::new(CSIDriver, ActionType::ADD);
        let of_release = events(crate::release::Profile::named(version).expect("an emulated release").into());
        assert_eq!(of_release.iter().any(|e| e.event.matches(&event)), additions, "{version}");
    }
}

#[test]
fn hints() {
    let (add_or_update, node) = (1 | ActionType::UPDATE.0, 1 | ActionType::UPDATE_NODE_LABEL.0);
    assert_eq!(
        registered(&VolumeBinding::default()),
        [
            format!("storage.k8s.io/StorageClass:{add_or_update} hint"),
            format!("PersistentVolumeClaim:{add_or_update} hint"),
            format!("PersistentVolume:{add_or_update}"),
            format!("Node:{node}"),
            format!("storage.k8s.io/CSINode:{add_or_update} hint"),
            format!("storage.k8s.io/CSIDriver:{} hint", ActionType::UPDATE.0),
            format!("storage.k8s.io/CSIStorageCapacity:{add_or_update} hint"),
        ]
    );
    let pod = pod_with(&format!(r#"{},{{"name":"e","ephemeral":{{}}}},{{"csi":{{"driver":"d"}}}}"#, pvc_volume("c")));
    let named = |name: &str, rest: &str| format!(r#"{{"metadata":{{"name":"{name}","namespace":"a"}}{rest}}}"#);
    let annotated = |plugins: &str| {
        format!(r#"{{"metadata":{{"name":"n","annotations":{{"storage.alpha.kubernetes.io/migrated-plugins":"{plugins}"}}}}}}"#)
    };
    let topology =
        |zone: &str| named("s", &format!(r#","allowedTopologies":[{{"matchLabelExpressions":[{{"key":"zone","values":["{zone}"]}}]}}]"#));
    let reports = |name: &str, value: &str| named(name, &format!(r#","spec":{{"storageCapacity":{value}}}"#));
    let room = |text: &str| named("s", text);
    for (resource, kind, old, new, want) in [
        (StorageClass, "StorageClass", None, named("s", ""), Queue),
        (StorageClass, "StorageClass", Some(topology("x")), topology("x"), QueueSkip),
        (StorageClass, "StorageClass", Some(topology("x")), topology("y"), Queue),
        (PersistentVolumeClaim, "PersistentVolumeClaim", None, named("c", ""), Queue),
        (PersistentVolumeClaim, "PersistentVolumeClaim", Some(named("c", "")), named("c", ""), Queue),
        (PersistentVolumeClaim, "PersistentVolumeClaim", None, named("p-e", ""), Queue),
        (PersistentVolumeClaim, "PersistentVolumeClaim", None, named("d", ""), QueueSkip),
        (PersistentVolumeClaim, "PersistentVolumeClaim", None, r#"{"metadata":{"name":"c","namespace":"b"}}"#.into(), QueueSkip),
        (PersistentVolume, "PersistentVolume", None, named("v", ""), Queue),
        (Node, "Node", None, named("n", ""), Queue),
        (CSINode, "CSINode", None, annotated("x"), Queue),
        (CSINode, "CSINode", Some(annotated("x")), annotated("x"), QueueSkip),
        (CSINode, "CSINode", Some(annotated("x")), annotated("x,y"), Queue),
        (CSINode, "CSINode", Some(annotated("")), named("n", ""), QueueSkip),
        (CSIDriver, "CSIDriver", Some(reports("d", "true")), reports("d", "false"), Queue),
        (CSIDriver, "CSIDriver", Some(reports("d", "true")), reports("d", "null"), Queue),
        (CSIDriver, "CSIDriver", Some(reports("d", "null")), reports("d", "false"), QueueSkip),
        (CSIDriver, "CSIDriver", Some(reports("e", "true")), reports("e", "false"), QueueSkip),
        (CSIStorageCapacity, "CSIStorageCapacity", None, room(""), Queue),
        (CSIStorageCapacity, "CSIStorageCapacity", Some(room(r#","capacity":"1Gi""#)), room(r#","capacity":"2Gi""#), Queue),
        (CSIStorageCapacity, "CSIStorageCapacity", Some(room(r#","capacity":"2Gi""#)), room(r#","capacity":"2Gi""#), QueueSkip),
        (CSIStorageCapacity, "CSIStorageCapacity", Some(room("")), room(r#","capacity":"1""#), Queue),
        (CSIStorageCapacity, "CSIStorageCapacity", Some(room(r#","capacity":"1""#)), room(""), QueueSkip),
        (
            CSIStorageCapacity,
            "CSIStorageCapacity",
            Some(room(r#","capacity":"9Gi","maximumVolumeSize":"1Gi""#)),
            room(r#","capacity":"1","maximumVolumeSize":"2Gi""#),
            Queue,
        ),
    ] {
        let action = if old.is_some() { ActionType::UPDATE } else { ActionType::ADD };
        let events = VolumeBinding::default().events_to_register(Emulation::default()).unwrap();
        let event = events.into_iter().find(|e| e.event.matches(&ClusterEvent::new(resource, action))).unwrap().event.to_string();
        let (before, after) = (old.as_ref().map(|text| object(kind, text)), object(kind, &new));
        let got = hint(&VolumeBinding::default(), &event, &pod, before.as_ref(), Some(&after));
        assert_eq!(got, Some(Ok(want)), "{kind} {old:?} to {new}");
    }
}
