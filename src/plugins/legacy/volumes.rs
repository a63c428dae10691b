//! NoDiskConflict and NoVolumeZoneConflict. Mirrors the functions of these names in
//! `pkg/scheduler/algorithm/predicates/predicates.go`, and `LabelZonesToSet` in `pkg/volume/util/util.go`.

use super::reject;
use crate::cluster::Pod;
use crate::framework::{Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, Reason, Status, ZoneMismatch, Zones};
use crate::plugins::volume_helpers::{WAIT_FOR_FIRST_CONSUMER, claim_class};
use crate::plugins::volume_restrictions::disk_in_use_on;

/// Keeps pods from sharing disks that cannot be shared.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDiskConflict;

impl Plugin for NoDiskConflict {
    plugin!(NoDiskConflict: filter);
}

impl FilterPlugin for NoDiskConflict {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let disk = disk_in_use_on(state, pod, node);
        reject(disk.map(|disk| Reason::DiskConflict(Box::new(disk))).into_iter().collect(), cx.emulation.behaviour())
    }
}

/// Zone and region labels in order of comparison.
const ZONE_LABELS: [&str; 2] = ["failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"];

/// Keeps pods to the zones of their volumes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoVolumeZoneConflict;

impl Plugin for NoVolumeZoneConflict {
    plugin!(NoVolumeZoneConflict: filter);
}

impl FilterPlugin for NoVolumeZoneConflict {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        let labels = &node.node.metadata.labels;
        if pod.pod.spec.volumes.is_empty() || !ZONE_LABELS.iter().any(|key| labels.contains_key(key)) {
            return Status::success();
        }
        match mismatch(cx, &pod.pod, node) {
            Err(status) => status,
            Ok(zone) => reject(zone.map(|zone| Reason::VolumeZoneConflict(Box::new(zone))).into_iter().collect(), cx.emulation.behaviour()),
        }
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

/// Returns the first zone or region of a volume that differs from the node's.
fn mismatch(cx: &Context<'_>, pod: &Pod, node: &NodeInfo) -> Result<Option<ZoneMismatch>, Status> {
    for source in pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()) {
        let name = &source.claim_name;
        if name.is_empty() {
            return Err(Status::error(Reason::ClaimWithoutName));
        }
        let Some(claim) = cx.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, name) else {
            return Err(Status::error(Reason::ClaimNotFound { claim: name.clone() }));
        };
        if claim.spec.volume_name.is_empty() {
            let class = claim_class(claim);
            match cx.cluster.storage_classes.named(&class).filter(|_| !class.is_empty()).map(|c| c.volume_binding_mode.as_deref()) {
                Some(None) => return Err(Status::error(Reason::BindingModeUnset { class })),
                Some(Some(WAIT_FOR_FIRST_CONSUMER)) => continue,
                _ => return Err(Status::error(format!("PersistentVolumeClaim is not bound: {:?}", name.as_str()))),
            }
        }
        let Some(volume) = cx.cluster.persistent_volumes.named(&claim.spec.volume_name) else {
            return Err(Status::error(Reason::VolumeNotFound { volume: claim.spec.volume_name.clone() }));
        };
        for key in ZONE_LABELS {
            let Some(value) = volume.metadata.labels.get(key) else { continue };
            let values = Zones::of(value);
            let found = node.node.metadata.labels.get(key).cloned();
            // Upstream ignores a label with an empty part.
            let usable = values.iter().all(|v| !v.is_empty());
            if usable && !found.as_ref().is_some_and(|found| values.iter().any(|v| v == found.as_str())) {
                return Ok(Some(ZoneMismatch { volume: volume.metadata.name.clone(), key: key.into(), values, found }));
            }
        }
    }
    Ok(None)
}
