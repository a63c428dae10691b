//! The events that may make a pod schedulable that VolumeBinding rejected.

use super::provision::volume_limit;
use crate::cluster::Pod;
use crate::framework::{ActionType, Change, ClusterEventWithHint, EventResource, HintError, QueueingHint};
use crate::plugins::volume_helpers::{ANN_MIGRATED_PLUGINS, always, objects, on, queue_if, uses_claim};
use crate::release::Emulation;

pub(super) fn events(emulation: Emulation) -> Vec<ClusterEventWithHint> {
    let add_or_update = ActionType::ADD.or(ActionType::UPDATE);
    let drivers = if emulation.behaviour().queue.binding_waits_for_any_driver {
        always(EventResource::CSIDriver, add_or_update)
    } else {
        on(EventResource::CSIDriver, ActionType::UPDATE, after_csi_driver_change)
    };
    vec![
        on(EventResource::StorageClass, add_or_update, after_class_change),
        on(EventResource::PersistentVolumeClaim, add_or_update, after_claim_change),
        always(EventResource::PersistentVolume, add_or_update),
        always(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
        on(EventResource::CSINode, add_or_update, after_csi_node_change),
        drivers,
        on(EventResource::CSIStorageCapacity, add_or_update, after_storage_capacity_change),
    ]
}

/// Returns Queue if a class was added, or its allowed topologies changed.
fn after_class_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = objects!(change, StorageClass)?;
    Ok(queue_if(old.is_none_or(|old| new.is_some_and(|new| new.allowed_topologies != old.allowed_topologies))))
}

/// Returns Queue if the claim is one of the pod's.
fn after_claim_change(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = objects!(change, PersistentVolumeClaim)?;
    Ok(queue_if(new.is_some_and(|claim| uses_claim(pod, &claim))))
}

/// Returns Queue if a CSINode was added, or its migrated plugins changed.
fn after_csi_node_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = objects!(change, CSINode)?;
    let Some(old) = old else { return Ok(QueueingHint::Queue) };
    let plugins =
        |node: &crate::cluster::storage::CSINode| node.metadata.annotations.get(ANN_MIGRATED_PLUGINS).cloned().unwrap_or_default();
    Ok(queue_if(new.is_some_and(|new| plugins(&new) != plugins(&old))))
}

/// Returns Queue if the driver of an inline volume of the pod stopped reporting capacity.
fn after_csi_driver_change(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (Some(old), Some(new)) = objects!(change, CSIDriver)? else { return Ok(QueueingHint::QueueSkip) };
    let stopped = old.spec.storage_capacity == Some(true) && new.spec.storage_capacity != Some(true);
    let used = || pod.spec.volumes.iter().any(|v| v.csi.as_ref().is_some_and(|s| s.driver == new.metadata.name));
    Ok(queue_if(stopped && used()))
}

/// Returns Queue if a capacity was added, or fits a larger volume.
fn after_storage_capacity_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = objects!(change, CSIStorageCapacity)?;
    let Some(old) = old else { return Ok(QueueingHint::Queue) };
    let (before, now) = (volume_limit(&old), new.and_then(|new| volume_limit(&new)));
    Ok(queue_if(now.is_some_and(|now| before.is_none_or(|before| now.value() > before.value()))))
}

#[cfg(test)]
mod tests {
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
        let topology = |zone: &str| {
            named("s", &format!(r#","allowedTopologies":[{{"matchLabelExpressions":[{{"key":"zone","values":["{zone}"]}}]}}]"#))
        };
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
}
