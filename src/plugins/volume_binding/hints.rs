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
mod tests;
