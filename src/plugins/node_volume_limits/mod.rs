//! NodeVolumeLimits: PreFilter, Filter. Mirrors `pkg/scheduler/framework/plugins/nodevolumelimits/{csi,utils}.go`.
//!
//! A CSI driver can attach a limited number of volumes to a node. It counts each volume once: those of the pods on the
//! node, those in VolumeAttachments, and those of the incoming pod. Nodes without a CSINode and drivers without a limit
//! are possible.

mod attachable;
mod hints;
mod in_tree;
mod node_limits;

pub use in_tree::InTreeVolumeLimits;
pub(super) use in_tree::is_nitro_instance;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use self::attachable::{Failure, Owner, Wanted, collect};
use super::volume_helpers::csi_migration::InTreePlugin;
use crate::cluster::storage::CSINode;
use crate::cluster::{Pod, Str, Volume};
use crate::framework::{
    ClusterEventWithHint, Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, PreFilterPlugin, PreFilterResult, Reason, Status,
    VolumeLimit,
};
use crate::release::{CsiLimits, Emulation, Gate, MigratedPlugins, MissingClaims};

/// Keeps pods off nodes that cannot attach their volumes.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeVolumeLimits;

impl Plugin for NodeVolumeLimits {
    plugin!(NodeVolumeLimits: pre_filter, filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::events(emulation))
    }
}

/// Driver and handle, which together identify a volume.
type AttachableVolume = (Str, Str);

/// The pod's attachable volumes and other data that does not depend on the node.
#[derive(Clone, Debug)]
struct State(Arc<PodVolumes>);

#[derive(Debug)]
struct PodVolumes {
    /// Counted on nodes with a CSINode; includes in-tree volumes that a driver serves regardless of the node.
    with_csi_node: Result<BTreeSet<AttachableVolume>, Status>,
    /// Counted on nodes without a CSINode.
    without_csi_node: Result<BTreeSet<AttachableVolume>, Status>,
    /// Driver and PersistentVolume of the VolumeAttachments of each node, for the drivers of these volumes.
    attachments: HashMap<Str, Vec<(Str, Str)>>,
}

impl PodVolumes {
    fn of(cx: &Context<'_>, pod: &Pod) -> Self {
        let any = CSINode::default();
        let (with_csi_node, without_csi_node) = (Self::on_node(cx, pod, Some(&any)), Self::on_node(cx, pod, None));
        let attachments = with_csi_node.as_ref().map(|new| attachments(cx, new)).unwrap_or_default();
        Self { with_csi_node, without_csi_node, attachments }
    }

    /// Returns the pod's attachable volumes on a node with this CSINode.
    fn on_node(cx: &Context<'_>, pod: &Pod, csi_node: Option<&CSINode>) -> Result<BTreeSet<AttachableVolume>, Status> {
        let mut found = BTreeSet::new();
        match collect(cx, pod, csi_node, Owner::NewPod, Wanted::All, &mut found) {
            Ok(()) => Ok(found),
            Err(Failure::ClaimNotFound(reason)) if cx.emulation.behaviour().volumes.missing_claims == MissingClaims::Rejection => {
                Err(Status::rejected(reason))
            }
            Err(Failure::ClaimNotFound(reason) | Failure::Other(reason)) => Err(Status::error(reason)),
        }
    }
}

/// Returns the VolumeAttachments of each node for the drivers of the new volumes.
fn attachments(cx: &Context<'_>, new: &BTreeSet<AttachableVolume>) -> HashMap<Str, Vec<(Str, Str)>> {
    let mut nodes: HashMap<Str, Vec<(Str, Str)>> = HashMap::new();
    if new.is_empty() {
        return nodes;
    }
    let drivers: BTreeSet<&Str> = new.iter().map(|(driver, _)| driver).collect();
    for attachment in cx.cluster.volume_attachments.iter() {
        let spec = &attachment.spec;
        if spec.attacher.is_empty() || !drivers.contains(&spec.attacher) {
            continue;
        }
        if let Some(volume) = &spec.source.persistent_volume_name {
            nodes.entry(spec.node_name.clone()).or_default().push((spec.attacher.clone(), volume.clone()));
        }
    }
    nodes
}

impl PreFilterPlugin for NodeVolumeLimits {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let counts = |v: &Volume| v.persistent_volume_claim.is_some() || v.ephemeral.is_some() || InTreePlugin::of_volume(v).is_some();
        if !pod.pod.spec.volumes.iter().any(counts) {
            return (PreFilterResult::default(), Status::skip());
        }
        state.write(State(Arc::new(PodVolumes::of(cx, &pod.pod))));
        (PreFilterResult::default(), Status::success())
    }
}

impl FilterPlugin for NodeVolumeLimits {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if pod.pod.spec.volumes.is_empty() {
            return Status::success();
        }
        let volumes = match state.read::<State>() {
            Some(State(volumes)) => volumes.clone(),
            None => Arc::new(PodVolumes::of(cx, &pod.pod)),
        };
        let csi_node = cx.cluster.csi_nodes.named(node.name()).map(|n| &**n);
        // In some releases migration depends on the CSINode, so the volumes are counted for each node.
        let of_node = (cx.emulation.behaviour().volumes.counted_undeclared != MigratedPlugins::All)
            .then(|| csi_node.map(|_| PodVolumes::on_node(cx, &pod.pod, csi_node)))
            .flatten();
        let of_node = of_node.as_ref().unwrap_or(if csi_node.is_some() { &volumes.with_csi_node } else { &volumes.without_csi_node });
        let new = match of_node {
            Ok(new) => new,
            Err(status) => return status.clone(),
        };
        if new.is_empty() {
            return Status::success();
        }
        if cx.emulation.enabled(Gate::VolumeLimitScaling)
            && let Some((driver, _)) = new.iter().find(|(driver, _)| !driver_is_there(cx, driver, csi_node))
        {
            return Status::rejected(Reason::CsiDriverMissing { driver: driver.clone() });
        }
        let by_csi_node = csi_node.map(volume_limits).unwrap_or_default();
        let (limits, has_limits, attachments) = match cx.emulation.behaviour().volumes.csi_limits {
            CsiLimits::CsiNode => {
                let attachments = volumes.attachments.get(node.name()).map_or(&[][..], Vec::as_slice);
                let has_limits = !by_csi_node.is_empty();
                (by_csi_node, has_limits, attachments)
            }
            CsiLimits::NodeAndCsiNode => {
                let has_limits = !by_csi_node.is_empty() || node_limits::has_any(node);
                (node_limits::of_drivers(new, node, &by_csi_node), has_limits, &[][..])
            }
        };
        // With a limit of any driver, the claims of all pods are read, and one of them can be an error.
        if !has_limits {
            return Status::success();
        }
        match exceeds((cx, state), &limits, new, attachments, node) {
            Ok(None) => Status::success(),
            Ok(Some(limit)) => Status::rejected(Reason::MaxVolumeCountExceeded(Box::new(limit))),
            Err(status) => status,
        }
    }
}

/// Steps of [`crate::framework::node_steps`] that it takes to read the claim of a volume, its class and driver.
const STEPS_OF_VOLUME: u64 = 8;

/// Returns the first driver whose limit would be exceeded on the node.
fn exceeds(
    (cx, state): (&Context<'_>, &CycleState),
    limits: &BTreeMap<&Str, i64>,
    new: &BTreeSet<AttachableVolume>,
    attachments: &[(Str, Str)],
    node: &NodeInfo,
) -> Result<Option<VolumeLimit>, Status> {
    let csi_node = cx.cluster.csi_nodes.named(node.name()).map(|n| &**n);
    let limited: BTreeMap<&Str, i64> = new.iter().filter_map(|(driver, _)| limits.get(driver).map(|limit| (driver, *limit))).collect();
    if has_room_for_all(&limited, new, attachments, node) {
        return Ok(None);
    }
    let volumes: usize = node.pods.iter().map(|other| other.pod.spec.volumes.len()).sum();
    state.count_list_steps((volumes + attachments.len()) as u64 * STEPS_OF_VOLUME);
    let mut attached = BTreeSet::new();
    for other in &node.pods {
        // A missing claim does not count, but one that belongs to another pod is an error, as for the pod itself.
        collect(cx, &other.pod, csi_node, Owner::ExistingPod, Wanted::Drivers(&limited), &mut attached).map_err(
            |failure| match failure {
                Failure::ClaimNotFound(reason) | Failure::Other(reason) => Status::error(reason),
            },
        )?;
    }
    let handle = |name: &Str| {
        let source = cx.cluster.persistent_volumes.named(name).and_then(|v| v.spec.csi.as_ref());
        source.map(|s| s.volume_handle.clone())
    };
    let announced: BTreeSet<AttachableVolume> =
        attachments.iter().filter_map(|(driver, volume)| Some((driver.clone(), handle(volume)?))).collect();
    Ok(limited.into_iter().find_map(|(driver, limit)| {
        let of_driver = |volume: &&AttachableVolume| volume.0 == *driver;
        let current = attached.iter().chain(announced.difference(&attached)).filter(of_driver).count() as i64;
        let added = new.difference(&attached).filter(of_driver).count() as i64;
        (added > 0 && current + added > limit).then(|| VolumeLimit { driver: driver.clone(), attached: current, added, limit })
    }))
}

/// Whether every driver stays within its limit even if all claims on the node, all attachments and all new volumes were
/// different volumes of it. This saves reading the claims of most nodes. If a pod has volumes that can cause an error,
/// they are read.
fn has_room_for_all(limited: &BTreeMap<&Str, i64>, new: &BTreeSet<AttachableVolume>, attachments: &[(Str, Str)], node: &NodeInfo) -> bool {
    let most = (node.pvc_ref_counts.len() + attachments.len() + new.len()) as i64;
    let harmless = |v: &Volume| match &v.persistent_volume_claim {
        Some(source) => !source.claim_name.is_empty(),
        None => v.ephemeral.is_none() && InTreePlugin::of_volume(v).is_none(),
    };
    limited.values().all(|limit| most <= *limit) && node.pods.iter().all(|p| p.pod.spec.volumes.iter().all(harmless))
}

/// Returns the limit of each driver that has one.
fn volume_limits(node: &CSINode) -> BTreeMap<&Str, i64> {
    let limit = |d: &crate::cluster::storage::CSINodeDriver| d.allocatable.as_ref().and_then(|a| a.count).map(i64::from);
    node.spec.drivers.iter().filter_map(|d| limit(d).map(|limit| (&d.name, limit))).collect()
}

/// Whether the driver runs on the node, or is not required to.
fn driver_is_there(cx: &Context<'_>, driver: &Str, node: Option<&CSINode>) -> bool {
    let asks = cx.cluster.csi_drivers.named(driver).and_then(|d| d.spec.prevent_pod_scheduling_if_missing).unwrap_or(false);
    !asks || node.is_some_and(|n| n.spec.drivers.iter().any(|d| d.name == *driver))
}

#[cfg(test)]
mod tests;
