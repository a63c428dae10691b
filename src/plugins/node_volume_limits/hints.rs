//! The events that may make a pod schedulable that NodeVolumeLimits rejected.

use crate::cluster::storage::CSINode;
use crate::cluster::{Pod, Str};
use crate::framework::{ActionType, Change, ClusterEventWithHint, EventResource, HintError, QueueingHint};
use crate::plugins::volume_helpers::csi_migration::{InTreePlugin, InlineVolumeError, inline_handle};
use crate::plugins::volume_helpers::{always, objects, on, queue_if, uses_claim};
use crate::release::{CsiLimits, Emulation};

pub(super) fn events(emulation: Emulation) -> Vec<ClusterEventWithHint> {
    let release = emulation.behaviour();
    let mut events = vec![always(EventResource::CSINode, ActionType::ADD), on(EventResource::Pod, ActionType::DELETE, after_pod_deleted)];
    if release.queue.limits_wait_for_csi_node_updates {
        events.insert(1, on(EventResource::CSINode, ActionType::UPDATE, after_csi_node_updated));
    }
    if release.queue.limits_wait_for_claims {
        events.push(on(EventResource::PersistentVolumeClaim, ActionType::ADD, after_claim_added));
    }
    if release.volumes.csi_limits == CsiLimits::CsiNode {
        events.push(on(EventResource::VolumeAttachment, ActionType::DELETE, after_attachment_deleted));
    }
    events
}

/// Returns the events of the plugins that count volumes of in-tree plugins.
pub(super) fn in_tree_events() -> Vec<ClusterEventWithHint> {
    vec![always(EventResource::Node, ActionType::ADD), always(EventResource::Pod, ActionType::DELETE)]
}

/// Returns Queue if the limit of some driver was raised; no limit counts as 0.
fn after_csi_node_updated(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = objects!(change, CSINode)?;
    let limits = |node: &CSINode| -> Vec<(Str, i32)> {
        let count = |d: &crate::cluster::storage::CSINodeDriver| d.allocatable.as_ref().and_then(|a| a.count).unwrap_or(0);
        node.spec.drivers.iter().map(|d| (d.name.clone(), count(d))).collect()
    };
    let (old, new) = (old.as_deref().map(limits).unwrap_or_default(), new.as_deref().map(limits).unwrap_or_default());
    // The last entry of a driver that is listed twice counts.
    let before = |driver: &Str| old.iter().rfind(|(name, _)| name == driver).map_or(0, |(_, count)| *count);
    Ok(queue_if(new.iter().any(|(driver, count)| *count > before(driver))))
}

/// Returns Queue if the deleted pod had a node and a volume that may have been attached.
fn after_pod_deleted(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, _) = objects!(change, Pod)?;
    Ok(queue_if(old.is_some_and(|deleted| {
        let placed = !deleted.node_name.is_empty() || !deleted.status.nominated_node_name.is_empty();
        let mut volumes = deleted.spec.volumes.iter();
        placed && volumes.any(|v| v.persistent_volume_claim.is_some() || v.ephemeral.is_some() || InTreePlugin::of_volume(v).is_some())
    })))
}

/// Returns Queue if the claim is one of the pod's.
fn after_claim_added(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = objects!(change, PersistentVolumeClaim)?;
    Ok(queue_if(new.is_some_and(|claim| uses_claim(pod, &claim))))
}

/// Returns Queue if the pod has any claim, or an inline volume for the driver of the deleted attachment.
fn after_attachment_deleted(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, _) = objects!(change, VolumeAttachment)?;
    let Some(attachment) = old else { return Ok(QueueingHint::QueueSkip) };
    for volume in &pod.spec.volumes {
        if volume.persistent_volume_claim.is_some() {
            return Ok(QueueingHint::Queue);
        }
        let Some(plugin) = InTreePlugin::of_volume(volume) else { continue };
        inline_handle(volume).map_err(|error| HintError::plugin(InlineVolumeError { volume: volume.name.clone(), error }))?;
        if attachment.spec.attacher == plugin.driver() {
            return Ok(QueueingHint::Queue);
        }
    }
    Ok(QueueingHint::QueueSkip)
}
