//! The events that may make a pod schedulable that VolumeRestrictions rejected.

use std::collections::HashSet;

use super::disk_in_use;
use crate::cluster::{Pod, Str};
use crate::framework::{ActionType, Change, ClusterEventWithHint, EventResource, HintError, QueueingHint};
use crate::plugins::volume_helpers::{always, names_claim, objects, on, queue_if};
use crate::release::Emulation;

pub(super) fn events(emulation: Emulation) -> Vec<ClusterEventWithHint> {
    let updates = emulation.behaviour().queue.restrictions_wait_for_claim_updates;
    let claims = if updates { ActionType::ADD.or(ActionType::UPDATE) } else { ActionType::ADD };
    vec![
        on(EventResource::Pod, ActionType::DELETE, after_pod_deleted),
        always(EventResource::Node, ActionType::ADD),
        on(EventResource::PersistentVolumeClaim, claims, after_claim_added),
    ]
}

/// Returns Queue if the deleted pod used a disk or a claim of this pod. The access mode of the claim is not checked.
fn after_pod_deleted(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, _) = objects!(change, Pod)?;
    Ok(queue_if(old.is_some_and(|deleted| {
        fn claims(pod: &Pod) -> impl Iterator<Item = &Str> {
            pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()).map(|s| &s.claim_name)
        }
        let shares_claim = || {
            let of_deleted: HashSet<&Str> = claims(&deleted).collect();
            claims(pod).any(|claim| of_deleted.contains(claim))
        };
        deleted.metadata.namespace == pod.metadata.namespace
            && (disk_in_use(pod, &std::iter::once(&*deleted), &mut 0).is_some() || shares_claim())
    })))
}

/// Returns Queue if the pod names the claim.
fn after_claim_added(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = objects!(change, PersistentVolumeClaim)?;
    Ok(queue_if(new.is_some_and(|claim| names_claim(pod, &claim))))
}
