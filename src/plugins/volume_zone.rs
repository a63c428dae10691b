//! VolumeZone: PreFilter, Filter. Mirrors `pkg/scheduler/framework/plugins/volumezone/volume_zone.go`, and
//! `LabelZonesToSet` of `staging/src/k8s.io/cloud-provider/volume/helpers/zones.go`.
//!
//! A node that has any zone or region label must match the zone and region labels of the volumes bound to the pod's
//! claims. Generic ephemeral volumes are not checked.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::volume_helpers::{WAIT_FOR_FIRST_CONSUMER, always, claim_class, names_claim, objects, on, queue_if};
use crate::cluster::storage::PersistentVolume;
use crate::cluster::{Pod, Str};
use crate::framework::{
    ActionType, Change, ClusterEventWithHint, Context, CycleState, EventResource, FilterPlugin, HintError, NodeInfo, Plugin, PodInfo,
    PreFilterPlugin, PreFilterResult, QueueingHint, Reason, Status, ZoneMismatch, Zones,
};
use crate::release::{Emulation, ZoneCheck};

/// Zone and region labels in order of comparison, each with the label that a node may have instead.
const TOPOLOGY_LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

/// Keeps pods to the zones of their volumes.
#[derive(Clone, Copy, Debug, Default)]
pub struct VolumeZone;

impl Plugin for VolumeZone {
    plugin!(VolumeZone: pre_filter, filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        let add_or_update = ActionType::ADD.or(ActionType::UPDATE);
        let claims = if emulation.behaviour().queue.zones_wait_for_claim_updates { add_or_update } else { ActionType::ADD };
        Some(vec![
            on(EventResource::StorageClass, ActionType::ADD, after_class_added),
            always(EventResource::Node, ActionType::ADD.or(ActionType::UPDATE_NODE_LABEL)),
            on(EventResource::PersistentVolumeClaim, claims, after_claim_change),
            on(EventResource::PersistentVolume, add_or_update, after_volume_change),
        ])
    }
}

/// The zones or regions of a volume by one label.
#[derive(Clone, Debug)]
struct VolumeTopology {
    volume: Str,
    key: &'static str,
    /// The key that a node without `key` may have instead.
    stable_key: &'static str,
    values: Zones,
}

/// Two are equal whatever the order of their labels.
impl PartialEq for VolumeTopology {
    fn eq(&self, other: &Self) -> bool {
        let values = |of: &Self| of.values.iter().map(Str::from).collect::<BTreeSet<_>>();
        (&self.volume, self.key, self.stable_key) == (&other.volume, other.key, other.stable_key) && values(self) == values(other)
    }
}

/// The zones and regions of the pod's volumes, from PreFilter for Filter, or why a Filter that looks for them rejects the pod.
#[derive(Clone, Debug)]
struct State(Result<Arc<Vec<VolumeTopology>>, Status>);

/// Returns the zone and region labels of a volume; ignores a label with an empty part.
fn topologies(volume: &PersistentVolume) -> impl Iterator<Item = VolumeTopology> {
    TOPOLOGY_LABELS.into_iter().filter_map(|(key, stable_key)| {
        let values = Zones::of(volume.metadata.labels.get(key)?);
        let usable = values.iter().all(|v| !v.is_empty());
        usable.then(|| VolumeTopology { volume: volume.metadata.name.clone(), key, stable_key, values })
    })
}

/// Returns the zones and regions of the volumes bound to the pod's claims, or why the pod is rejected.
fn pod_topologies(cx: &Context<'_>, pod: &Pod) -> Result<Vec<VolumeTopology>, Status> {
    let mut found = Vec::new();
    for source in pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()) {
        if source.claim_name.is_empty() {
            return Err(Status::rejected(Reason::ClaimWithoutName));
        }
        let Some(claim) = cx.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &source.claim_name) else {
            return Err(Status::rejected(Reason::ClaimNotFound { claim: source.claim_name.clone() }));
        };
        let volume_name = &claim.spec.volume_name;
        if volume_name.is_empty() {
            unbound(cx, &claim_class(claim))?;
            continue;
        }
        match cx.cluster.persistent_volumes.named(volume_name) {
            Some(volume) => found.extend(topologies(volume)),
            None => return Err(Status::rejected(Reason::VolumeNotFound { volume: volume_name.clone() })),
        }
    }
    Ok(found)
}

/// Checks a claim without a volume: it passes if its class waits for the first consumer.
fn unbound(cx: &Context<'_>, class_name: &Str) -> Result<(), Status> {
    if class_name.is_empty() {
        return Err(Status::rejected(Reason::ClaimWithoutVolumeAndClass));
    }
    let Some(class) = cx.cluster.storage_classes.named(class_name) else {
        return Err(Status::rejected(Reason::StorageClassNotFound { class: class_name.clone() }));
    };
    match class.volume_binding_mode.as_deref() {
        None => Err(Status::rejected(Reason::BindingModeUnset { class: class_name.clone() })),
        Some(WAIT_FOR_FIRST_CONSUMER) => Ok(()),
        Some(_) => Err(Status::rejected(Reason::VolumeWithoutName)),
    }
}

impl PreFilterPlugin for VolumeZone {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let found = pod_topologies(cx, &pod.pod).map(Arc::new);
        if cx.emulation.behaviour().volumes.zones_looked_up_in == ZoneCheck::Filter {
            // Each Filter would find the same.
            state.write(State(found));
            return (PreFilterResult::default(), Status::success());
        }
        let status = match found {
            Err(status) => status,
            Ok(found) if found.is_empty() => Status::skip(),
            Ok(found) => {
                state.write(State(Ok(found)));
                Status::success()
            }
        };
        (PreFilterResult::default(), status)
    }
}

impl FilterPlugin for VolumeZone {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if pod.pod.spec.volumes.is_empty() {
            return Status::success();
        }
        let labels = &node.node.metadata.labels;
        let has_zone = || TOPOLOGY_LABELS.iter().any(|(key, _)| labels.contains_key(key));
        if cx.emulation.behaviour().volumes.zones_looked_up_in == ZoneCheck::Filter && !has_zone() {
            return Status::success();
        }
        let found = match state.read::<State>() {
            Some(State(found)) => found.clone(),
            // Upstream reads the claims again if PreFilter did not run, as when a profile enables Filter only.
            None => pod_topologies(cx, &pod.pod).map(Arc::new),
        };
        let found = match found {
            Ok(found) => found,
            Err(status) => return status,
        };
        if !has_zone() {
            return Status::success();
        }
        let translated = cx.emulation.behaviour().volumes.beta_zones_translated;
        let on_node = |t: &VolumeTopology| labels.get(t.key).or_else(|| labels.get(t.stable_key).filter(|_| translated));
        match found.iter().find(|t| !on_node(t).is_some_and(|v| t.values.iter().any(|value| value == v.as_str()))) {
            None => Status::success(),
            Some(t) => Status::rejected(Reason::VolumeZoneConflict(Box::new(ZoneMismatch {
                volume: t.volume.clone(),
                key: t.key.into(),
                values: t.values.clone(),
                found: on_node(t).cloned(),
            }))),
        }
    }
}

/// Returns Queue if a class that waits for the first consumer was added.
fn after_class_added(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = objects!(change, StorageClass)?;
    Ok(queue_if(new.is_some_and(|class| class.volume_binding_mode.as_deref() == Some(WAIT_FOR_FIRST_CONSUMER))))
}

/// Returns Queue if the pod names the claim.
fn after_claim_change(pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (_, new) = objects!(change, PersistentVolumeClaim)?;
    Ok(queue_if(new.is_some_and(|claim| names_claim(pod, &claim))))
}

/// Returns Queue if a volume was added or its zone changed.
fn after_volume_change(_pod: &Pod, change: &Change) -> Result<QueueingHint, HintError> {
    let (old, new) = objects!(change, PersistentVolume)?;
    Ok(queue_if(match (old, new) {
        (Some(old), Some(new)) => !topologies(&old).eq(topologies(&new)),
        _ => true,
    }))
}

#[cfg(test)]
mod tests;
