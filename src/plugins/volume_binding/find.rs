//! What becomes of the pod's claims on one node; mirrors `FindPodVolumes` of `binder.go`.

use std::sync::Arc;

use super::claims::{BoundClaim, Claims, DelayedClaim};
use super::provision::Verdict;
use super::{ERR_REASON_BIND_CONFLICT, ERR_REASON_NODE_CONFLICT, ERR_REASON_NOT_ENOUGH_SPACE, ERR_REASON_PV_NOT_EXIST};
use crate::cluster::storage::{CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{Key, SelectorError};
use crate::framework::{Context, NodeInfo};
use crate::plugins::volume_helpers::csi_migration::MigrationError;
use crate::plugins::volume_helpers::{node_affinity_holds, required_affinity};

/// What is to be done for the claims that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct PodVolumes {
    /// Claims, each with the volume it gets.
    pub(super) static_bindings: Vec<(Arc<PersistentVolume>, Arc<PersistentVolumeClaim>)>,
    /// Claims that get a volume made, with the capacity it comes from where that is known.
    pub(super) dynamic_provisions: Vec<(Arc<PersistentVolumeClaim>, Option<Arc<CSIStorageCapacity>>)>,
}

/// Why a claim cannot be matched with a node at all, in kube-scheduler's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(super) enum FindError {
    /// The in-tree volume of a bound claim has no CSI form.
    #[error("could not translate pv: {0}")]
    Translation(MigrationError),
    /// The selector of a claim that waits cannot be used.
    #[error("error creating internal label selector for claim: {}/{}: {error}", claim.namespace, claim.name)]
    Selector { claim: Key, error: SelectorError },
}

/// The reasons why a node will not do, in upstream's order.
pub(super) type Reasons = Vec<&'static str>;

/// What is to be done on the node, or why it will not do.
///
/// # Errors
/// Objects that cannot be read.
pub(super) fn find_pod_volumes(cx: &Context<'_>, claims: &Claims, node: &NodeInfo) -> Result<Result<PodVolumes, Reasons>, FindError> {
    let bound = check_bound_claims(cx, &claims.bound, node)?;
    let waiting = check_delayed_claims(claims, node)?;
    let mut volumes = PodVolumes::default();
    let mut reasons = Vec::new();
    // Reasons stand in this order: node conflict, bind conflict, space, missing volume.
    reasons.extend((bound == Err(ERR_REASON_NODE_CONFLICT)).then_some(ERR_REASON_NODE_CONFLICT));
    match waiting {
        Ok(found) => volumes = found,
        Err(reason) => reasons.push(reason),
    }
    reasons.extend((bound == Err(ERR_REASON_PV_NOT_EXIST)).then_some(ERR_REASON_PV_NOT_EXIST));
    Ok(if reasons.is_empty() { Ok(volumes) } else { Err(reasons) })
}

/// The first bound claim whose volume is missing or cannot be used on the node decides.
fn check_bound_claims(cx: &Context<'_>, claims: &[BoundClaim], node: &NodeInfo) -> Result<Result<(), &'static str>, FindError> {
    let labels = &node.node.metadata.labels;
    for claim in claims {
        let Some(volume) = &claim.volume else { return Ok(Err(ERR_REASON_PV_NOT_EXIST)) };
        let migrated = claim.migration.as_ref().filter(|(plugin, _)| {
            let csi_node = cx.cluster.csi_nodes.named(node.name());
            plugin.is_migrated_on(csi_node.map(|n| &**n))
        });
        let required = match migrated {
            None => required_affinity(volume),
            Some((_, translated)) => translated.as_ref().map_err(FindError::clone)?.as_ref(),
        };
        if !node_affinity_holds(required, labels) {
            return Ok(Err(ERR_REASON_NODE_CONFLICT));
        }
    }
    Ok(Ok(()))
}

/// Matches the claims that wait with volumes, and provisions for the rest and for those that had the node selected.
fn check_delayed_claims(claims: &Claims, node: &NodeInfo) -> Result<Result<PodVolumes, &'static str>, FindError> {
    let labels = &node.node.metadata.labels;
    if claims.selected.iter().any(|(selected, _)| selected != node.name()) {
        return Ok(Err(ERR_REASON_BIND_CONFLICT));
    }
    let mut found = PodVolumes::default();
    let mut chosen: Vec<Arc<PersistentVolume>> = Vec::new();
    let mut to_provision: Vec<&DelayedClaim> = claims.selected.iter().map(|(_, waiting)| waiting).collect();
    for (candidates, waiting) in &claims.unmatched {
        match candidates.matching(labels, &chosen)? {
            Some(volume) => {
                chosen.push(volume.clone());
                found.static_bindings.push((volume.clone(), waiting.claim.clone()));
            }
            None => to_provision.push(waiting),
        }
    }
    for waiting in to_provision {
        match waiting.provisioning.on(labels) {
            Verdict::Possible(capacity) => found.dynamic_provisions.push((waiting.claim.clone(), capacity.cloned())),
            Verdict::Unsupported => return Ok(Err(ERR_REASON_BIND_CONFLICT)),
            Verdict::NotEnoughSpace => return Ok(Err(ERR_REASON_NOT_ENOUGH_SPACE)),
        }
    }
    Ok(Ok(found))
}
