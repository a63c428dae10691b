//! Checks the pod's claims on one node; mirrors `FindPodVolumes` of `binder.go`.

use std::sync::Arc;

use super::claims::{BoundClaim, Claims, DelayedClaim};
use super::matching::Chosen;
use super::provision::{ClassesOnNode, Verdict};
use crate::cluster::storage::{CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{Key, SelectorError};
use crate::framework::{Context, CycleState, NodeInfo, Reason};
use crate::plugins::volume_helpers::csi_migration::MigrationError;
use crate::plugins::volume_helpers::{node_affinity_holds, required_affinity};

/// The bindings and provisions for the waiting claims on one node.
#[derive(Clone, Debug, Default)]
pub(super) struct PodVolumes {
    /// Claims with the existing volume to bind.
    pub(super) static_bindings: Vec<(Arc<PersistentVolume>, Arc<PersistentVolumeClaim>)>,
    /// Claims to provision, with the capacity they use if it is known.
    pub(super) dynamic_provisions: Vec<(Arc<PersistentVolumeClaim>, Option<Arc<CSIStorageCapacity>>)>,
}

/// Why a claim cannot be checked on a node, in kube-scheduler's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum FindError {
    /// The in-tree volume of a bound claim cannot be translated to CSI.
    #[error("could not translate pv: {0}")]
    Translation(MigrationError),
    /// The selector of a waiting claim is invalid.
    #[error("error creating internal label selector for claim: {}/{}: {error}", claim.namespace, claim.name)]
    Selector { claim: Key, error: SelectorError },
    /// A waiting claim names an attributes class, and the feature gate for it is disabled.
    #[error(
        "unsupported volumeAttributesClassName is set on claim {}/{} when the feature-gate VolumeAttributesClass is disabled",
        claim.namespace, claim.name
    )]
    AttributesClass { claim: Key },
}

/// The reasons for rejecting a node, in upstream's order.
pub(super) type Reasons = Vec<Reason>;

/// Returns the bindings for the node, or the reasons for rejecting it.
///
/// # Errors
///
/// If an object is invalid.
pub(super) fn find_pod_volumes(
    cx: &Context<'_>,
    state: &CycleState,
    claims: &Claims,
    node: &NodeInfo,
) -> Result<Result<PodVolumes, Reasons>, FindError> {
    let bound = check_bound_claims(cx, &claims.bound, node)?;
    let waiting = check_delayed_claims(state, claims, node)?;
    let mut volumes = PodVolumes::default();
    // Order of reasons: node conflict, bind conflict, space, missing volume.
    let (missing, mut reasons): (Vec<Reason>, Vec<Reason>) =
        bound.err().into_iter().partition(|r| matches!(r, Reason::BoundVolumeMissing { .. }));
    match waiting {
        Ok(found) => volumes = found,
        Err(reason) => reasons.push(reason),
    }
    reasons.extend(missing);
    Ok(if reasons.is_empty() { Ok(volumes) } else { Err(reasons) })
}

/// Checks the volumes of bound claims; the first one that is missing or cannot be used on the node decides.
fn check_bound_claims(cx: &Context<'_>, claims: &[BoundClaim], node: &NodeInfo) -> Result<Result<(), Reason>, FindError> {
    let labels = &node.node.metadata.labels;
    for claim in claims {
        let Some(volume) = &claim.volume else { return Ok(Err(Reason::BoundVolumeMissing { claim: Some(claim.name.clone()) })) };
        let migrated = claim.migration.as_ref().filter(|(plugin, _)| {
            let csi_node = cx.cluster.csi_nodes.named(node.name());
            plugin.is_migrated_on(csi_node.map(|n| &**n), cx.emulation.behaviour().volumes.migrated_plugins)
        });
        let required = match migrated {
            None => required_affinity(volume),
            Some((_, translated)) => translated.as_ref().map_err(FindError::clone)?.as_ref(),
        };
        if !node_affinity_holds(required, labels) {
            return Ok(Err(Reason::VolumeNodeAffinityConflict { volume: Some(volume.metadata.name.clone()) }));
        }
    }
    Ok(Ok(()))
}

/// Matches the waiting claims with volumes, and provisions the rest and those with a selected node.
fn check_delayed_claims(state: &CycleState, claims: &Claims, node: &NodeInfo) -> Result<Result<PodVolumes, Reason>, FindError> {
    let labels = &node.node.metadata.labels;
    let claim = |waiting: &DelayedClaim| Some(waiting.claim.metadata.name.clone());
    if let Some((selected, waiting)) = claims.selected.iter().find(|(selected, _)| selected != node.name()) {
        return Ok(Err(Reason::NoVolumeToBind { claim: claim(waiting), chosen: Some(selected.clone()) }));
    }
    let mut found = PodVolumes::default();
    let mut chosen = Chosen::default();
    let mut to_provision: Vec<&DelayedClaim> = claims.selected.iter().map(|(_, waiting)| waiting).collect();
    for (candidates, waiting) in &claims.unmatched {
        match candidates.choose(labels, &mut chosen)? {
            Some(volume) => found.static_bindings.push((volume.clone(), waiting.claim.clone())),
            None => to_provision.push(waiting),
        }
    }
    let mut classes = ClassesOnNode::default();
    let rejected = to_provision.into_iter().find_map(|waiting| match classes.verdict(&waiting.provisioning, labels) {
        Verdict::Possible(capacity) => {
            found.dynamic_provisions.push((waiting.claim.clone(), capacity.cloned()));
            None
        }
        Verdict::Unsupported => Some(Reason::NoVolumeToBind { claim: claim(waiting), chosen: None }),
        Verdict::NotEnoughSpace => Some(Reason::NotEnoughStorage { claim: claim(waiting) }),
    });
    state.spend(chosen.steps() + classes.steps());
    Ok(rejected.map_or(Ok(found), Err))
}
