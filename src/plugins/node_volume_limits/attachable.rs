//! The attachable volumes of a pod and their CSI drivers; mirrors `filterAttachableVolumes`.

use std::collections::{BTreeMap, BTreeSet};

use super::AttachableVolume;
use crate::cluster::storage::{CSINode, PersistentVolumeClaim};
use crate::cluster::{Key, Pod, Str};
use crate::framework::{Context, Reason};
use crate::plugins::volume_helpers::csi_migration::{InTreePlugin, InlineVolumeError, inline_handle, volume_handle};
use crate::plugins::volume_helpers::{claim_class, claim_of, volume_is_for_pod};
use crate::release::{EphemeralClaims, MissingClaims};

/// Why a pod's volumes cannot be counted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// A claim does not exist.
    ClaimNotFound(Reason),
    /// Any other reason.
    Other(Reason),
}

/// The pod whose volumes are counted. Claims must exist only for the incoming pod.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owner {
    NewPod,
    ExistingPod,
}

/// The volumes to collect.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    All,
    Drivers(&'a BTreeMap<&'a Str, i64>),
}

/// Adds the pod's attachable volumes to `found`. In-tree volumes count for their CSI driver if the node has a CSINode.
pub(super) fn collect(
    cx: &Context<'_>,
    pod: &Pod,
    csi_node: Option<&CSINode>,
    owner: Owner,
    wanted: Wanted<'_>,
    found: &mut BTreeSet<AttachableVolume>,
) -> Result<(), Failure> {
    let release = &cx.emulation.behaviour().volumes;
    for volume in &pod.spec.volumes {
        let attachable = match claim_of(pod, volume) {
            Some(named) if named.ephemeral && !ephemeral_counts(cx) => None,
            None if !release.inline_volumes_counted => None,
            None => match InTreePlugin::of_volume(volume).filter(|p| p.counts_as_csi(csi_node, release)) {
                None => None,
                Some(plugin) => {
                    let handle = inline_handle(volume)
                        .map_err(|error| Failure::Other(InlineVolumeError { volume: volume.name.clone(), error }.to_string().into()))?;
                    Some((plugin.driver().into(), handle))
                }
            },
            Some(claim) if claim.name.is_empty() => return Err(Failure::Other(Reason::ClaimWithoutName)),
            Some(named) => match cx.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &named.name) {
                None if owner == Owner::ExistingPod || release.missing_claims == MissingClaims::PassedOver => None,
                None => {
                    let claim = Key::new(pod.metadata.namespace.clone(), named.name);
                    return Err(Failure::ClaimNotFound(Reason::ClaimLookupFailed { claim }));
                }
                Some(claim) => {
                    if named.ephemeral {
                        volume_is_for_pod(pod, claim).map_err(Failure::Other)?;
                    }
                    of_claim(cx, claim, csi_node)
                }
            },
        };
        let keep = |driver: &Str| match wanted {
            Wanted::All => true,
            Wanted::Drivers(drivers) => drivers.contains_key(driver),
        };
        found.extend(attachable.filter(|(driver, _)| keep(driver)));
    }
    Ok(())
}

/// Whether volumes count whose claims are created for the pod.
pub(super) fn ephemeral_counts(cx: &Context<'_>) -> bool {
    cx.emulation.behaviour().volumes.ephemeral_claims == EphemeralClaims::Awaited
}

/// Returns driver and handle of a claim's volume; `None` if no driver attaches it. Mirrors `getCSIDriverInfo`.
fn of_claim(cx: &Context<'_>, claim: &PersistentVolumeClaim, csi_node: Option<&CSINode>) -> Option<AttachableVolume> {
    let volume = Some(&claim.spec.volume_name).filter(|n| !n.is_empty()).and_then(|n| cx.cluster.persistent_volumes.named(n));
    let Some(volume) = volume else { return of_class(cx, claim, csi_node) };
    let (driver, handle) = if let Some(source) = &volume.spec.csi {
        (source.driver.clone(), source.volume_handle.clone())
    } else {
        let release = &cx.emulation.behaviour().volumes;
        let plugin = InTreePlugin::of_persistent_volume(volume).filter(|p| p.counts_as_csi(csi_node, release))?;
        (plugin.driver().into(), volume_handle(volume).ok()?)
    };
    (!driver.is_empty() && !handle.is_empty()).then_some((driver, handle))
}

/// Returns the driver of a claim without a volume, by its class; mirrors `getCSIDriverInfoFromSC`. The handle is a
/// placeholder for the volume, with a first character that no real handle has; upstream uses a random text.
fn of_class(cx: &Context<'_>, claim: &PersistentVolumeClaim, csi_node: Option<&CSINode>) -> Option<AttachableVolume> {
    let name = claim_class(claim);
    let class = Some(&name).filter(|n| !n.is_empty()).and_then(|n| cx.cluster.storage_classes.named(n))?;
    let driver = match InTreePlugin::by_name(&class.provisioner) {
        None => class.provisioner.clone(),
        Some(plugin) if plugin.counts_as_csi(csi_node, &cx.emulation.behaviour().volumes) => plugin.driver().into(),
        Some(_) => return None,
    };
    let handle = format!("\0{}/{}", claim.metadata.namespace, claim.metadata.name);
    (!driver.is_empty()).then(|| (driver, handle.into()))
}
