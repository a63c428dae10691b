//! The events that may help a pod that VolumeBinding rejected.

use super::provision::volume_limit;
use crate::cluster::Pod;
use crate::framework::{ActionType, Change, ClusterEventWithHint, EventResource, QueueingHint};
use crate::plugins::volume_helpers::{ANN_MIGRATED_PLUGINS, always, objects, on, queue_if, uses_claim};

pub(super) fn events() -> Vec<ClusterEventWithHint> {
    let add_or_update = ActionType::ADD.or(ActionType::UPDATE);
    vec![
        on(EventResource::StorageClass, add_or_update, after_class_change),
        on(EventResource::PersistentVolumeClaim, add_or_update, after_claim_change),
        always(EventResource::PersistentVolume, add_or_update),
        always(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
        on(EventResource::CSINode, add_or_update, after_csi_node_change),
        on(EventResource::CSIDriver, ActionType::UPDATE, after_csi_driver_change),
        on(EventResource::CSIStorageCapacity, add_or_update, after_storage_capacity_change),
    ]
}

/// A class came, or allows other nodes.
fn after_class_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, String> {
    let (old, new) = objects!(change, StorageClass)?;
    Ok(queue_if(old.is_none_or(|old| new.is_some_and(|new| new.allowed_topologies != old.allowed_topologies))))
}

/// The claim is one of the pod's.
fn after_claim_change(pod: &Pod, change: &Change) -> Result<QueueingHint, String> {
    let (_, new) = objects!(change, PersistentVolumeClaim)?;
    Ok(queue_if(new.is_some_and(|claim| uses_claim(pod, &claim))))
}

/// A CSINode came, or drivers took over other plugins on it.
fn after_csi_node_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, String> {
    let (old, new) = objects!(change, CSINode)?;
    let Some(old) = old else { return Ok(QueueingHint::Queue) };
    let plugins = |node: &crate::cluster::storage::CSINode| node.metadata.annotations.get(ANN_MIGRATED_PLUGINS).cloned().unwrap_or_default();
    Ok(queue_if(new.is_some_and(|new| plugins(&new) != plugins(&old))))
}

/// The driver of an inline volume of the pod stopped to report capacity.
fn after_csi_driver_change(pod: &Pod, change: &Change) -> Result<QueueingHint, String> {
    let (Some(old), Some(new)) = objects!(change, CSIDriver)? else { return Ok(QueueingHint::QueueSkip) };
    let stopped = old.spec.storage_capacity == Some(true) && new.spec.storage_capacity != Some(true);
    let used = || pod.spec.volumes.iter().any(|v| v.csi.as_ref().is_some_and(|s| s.driver == new.metadata.name));
    Ok(queue_if(stopped && used()))
}

/// A capacity came, or has room for a larger volume.
fn after_storage_capacity_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, String> {
    let (old, new) = objects!(change, CSIStorageCapacity)?;
    let Some(old) = old else { return Ok(QueueingHint::Queue) };
    let (before, now) = (volume_limit(&old), new.and_then(|new| volume_limit(&new)));
    Ok(queue_if(now.is_some_and(|now| before.is_none_or(|before| now.value() > before.value()))))
}
