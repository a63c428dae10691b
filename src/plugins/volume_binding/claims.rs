//! PreFilter: classifies the pod's claims and computes everything about them that does not depend on the node. Mirrors
//! `podHasPVCs` of `volume_binding.go` and `GetPodVolumeClaims` of `binder.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::VolumeBinding;
use super::find::FindError;
use super::matching::Candidates;
use super::provision::{Classes, Provisioning};
use crate::cluster::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use crate::cluster::{NodeSelector, NodeSelectorTerm, Pod, Quantity, Str};
use crate::framework::{Context, CycleState, PodInfo, PreFilterPlugin, PreFilterResult, Reason, Status};
use crate::plugins::volume_helpers::csi_migration::{InTreePlugin, translated_affinity};
use crate::plugins::volume_helpers::{
    ANN_SELECTED_NODE, STORAGE, WAIT_FOR_FIRST_CONSUMER, claim_class, claim_of, is_fully_bound, required_affinity, volume_is_for_pod,
};
use crate::release::{EphemeralClaims, Gate, LocalVolumes};

/// The node label with the node's own name.
const LABEL_HOSTNAME: &str = "kubernetes.io/hostname";

/// State of PreFilter for the later extension points.
#[derive(Clone, Debug)]
pub(super) struct State(pub(super) Arc<Claims>);

/// The pod's claims.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// Fully bound claims, in the order of the pod's volumes.
    pub(super) bound: Vec<BoundClaim>,
    /// Claims that wait for a consumer and already have a selected node, in the order of the pod's volumes.
    pub(super) selected: Vec<(Str, DelayedClaim)>,
    /// Other claims that wait for a consumer, smaller requests first.
    pub(super) unmatched: Vec<(Candidates, DelayedClaim)>,
}

#[derive(Debug)]
pub(super) struct BoundClaim {
    pub(super) name: Str,
    /// Its volume, if it exists.
    pub(super) volume: Option<Arc<PersistentVolume>>,
    /// For an in-tree volume, its plugin and the node affinity that applies on nodes where a CSI driver has replaced
    /// it.
    pub(super) migration: Option<(InTreePlugin, Result<Option<NodeSelector>, FindError>)>,
}

/// A claim that waits for a consumer.
#[derive(Debug)]
pub(super) struct DelayedClaim {
    pub(super) claim: Arc<PersistentVolumeClaim>,
    /// The provisioning of a volume for it.
    pub(super) provisioning: Provisioning,
}

impl Claims {
    /// Whether no claim remains to be bound.
    pub(super) fn all_bound(&self) -> bool {
        self.selected.is_empty() && self.unmatched.is_empty()
    }
}

impl PreFilterPlugin for VolumeBinding {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let mut result = PreFilterResult::default();
        let status = match usable_claims(cx, &pod.pod) {
            Err(reason) => Status::rejected(reason),
            Ok(claims) if claims.is_empty() => {
                state.write(State(Arc::default()));
                Status::skip()
            }
            Ok(claims) => match sort_out(cx, claims) {
                Ok(claims) => {
                    if cx.emulation.behaviour().volumes.local_volumes == LocalVolumes::Narrow {
                        result.node_names = nodes_of_local_volumes(&claims.bound);
                    }
                    state.write(State(Arc::new(claims)));
                    Status::success()
                }
                Err(status) => status,
            },
        };
        (result, status)
    }
}

/// Returns the nodes on which all bound volumes can be used, if a volume names any; mirrors `GetEligibleNodes` of
/// releases that restrict the nodes.
fn nodes_of_local_volumes(bound: &[BoundClaim]) -> Option<BTreeSet<Str>> {
    let volumes: Option<Vec<&Arc<PersistentVolume>>> = bound.iter().map(|claim| claim.volume.as_ref()).collect();
    let named = volumes?.into_iter().map(|volume| named_nodes(volume)).filter(|names| !names.is_empty());
    named.reduce(|all, more| all.intersection(&more).cloned().collect())
}

/// Returns the nodes that a volume's affinity names by their host name; mirrors `GetLocalPersistentVolumeNodeNames`.
fn named_nodes(volume: &PersistentVolume) -> BTreeSet<Str> {
    let terms = required_affinity(volume).into_iter().flat_map(|required| &required.node_selector_terms[..]);
    let of_term = |term: &NodeSelectorTerm| {
        let by_host = term.match_expressions.iter().filter(|e| e.key == LABEL_HOSTNAME && e.operator == "In");
        let names = by_host.map(|e| e.values.iter().cloned().collect::<BTreeSet<Str>>());
        names.reduce(|all, more| all.intersection(&more).cloned().collect()).unwrap_or_default()
    };
    terms.flat_map(of_term).collect()
}

/// Returns the claims of the pod's volumes, or the error of the first unusable one.
fn usable_claims<'a>(cx: &Context<'a>, pod: &Pod) -> Result<Vec<&'a Arc<PersistentVolumeClaim>>, Reason> {
    let mut claims = Vec::new();
    let release = &cx.emulation.behaviour().volumes;
    let made_for_pods = cx.emulation.enabled(Gate::GenericEphemeralVolume);
    for named in pod.spec.volumes.iter().filter_map(|v| claim_of(pod, v)).filter(|named| !named.ephemeral || made_for_pods) {
        let name = &named.name;
        let Some(claim) = cx.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, name) else {
            return Err(if named.ephemeral && release.ephemeral_claims == EphemeralClaims::Awaited {
                Reason::EphemeralClaimPending { claim: name.clone() }
            } else {
                Reason::ClaimNotFound { claim: name.clone() }
            });
        };
        if claim.status.phase == "Lost" && release.lost_claims_reject {
            return Err(Reason::ClaimLost { claim: name.clone(), volume: claim.spec.volume_name.clone() });
        }
        if claim.metadata.deletion_timestamp.is_some() {
            return Err(Reason::ClaimDeleting { claim: name.clone() });
        }
        if named.ephemeral {
            volume_is_for_pod(pod, claim).map_err(|reason| match release.ephemeral_claims {
                EphemeralClaims::Awaited => reason,
                EphemeralClaims::AsOthers => Reason::ClaimNotMadeForPod { claim: name.clone() },
            })?;
        }
        claims.push(claim);
    }
    Ok(claims)
}

fn sort_out(cx: &Context<'_>, all: Vec<&Arc<PersistentVolumeClaim>>) -> Result<Claims, Status> {
    let mut claims = Claims::default();
    let mut delayed = Vec::new();
    let mut immediate = Vec::new();
    for claim in all {
        if is_fully_bound(claim) {
            claims.bound.push(bound_claim(cx, claim));
            continue;
        }
        match waits_for_consumer(cx, claim)? {
            Some(class) if claim.spec.volume_name.is_empty() => delayed.push((claim, class)),
            _ => immediate.push(claim.metadata.name.clone()),
        }
    }
    if !immediate.is_empty() {
        return Err(Status::rejected(Reason::UnboundImmediateClaims { claims: immediate.into() }));
    }
    let (mut to_match, mut classes) = (Vec::new(), Classes::default());
    for (claim, class) in delayed {
        let waiting = DelayedClaim { claim: claim.clone(), provisioning: classes.provisioning(cx, claim, class) };
        match claim.metadata.annotations.get(ANN_SELECTED_NODE) {
            Some(node) => claims.selected.push((node.clone(), waiting)),
            None => to_match.push(waiting),
        }
    }
    to_match.sort_by_key(|waiting| requested(&waiting.claim).unwrap_or_default());
    let candidates = Candidates::of(cx, &to_match.iter().map(|waiting| &*waiting.claim).collect::<Vec<_>>());
    claims.unmatched = candidates.into_iter().zip(to_match).collect();
    Ok(claims)
}

/// Returns the size that a claim requests.
pub(super) fn requested(claim: &PersistentVolumeClaim) -> Option<Quantity> {
    claim.spec.resources.requests.get(STORAGE).copied()
}

fn bound_claim(cx: &Context<'_>, claim: &PersistentVolumeClaim) -> BoundClaim {
    let volume = cx.cluster.persistent_volumes.named(&claim.spec.volume_name).cloned();
    let migration = volume.as_ref().and_then(|v| {
        let plugin = InTreePlugin::of_persistent_volume(v)?;
        Some((plugin, translated_affinity(plugin, v).map_err(FindError::Translation)))
    });
    BoundClaim { name: claim.metadata.name.clone(), volume, migration }
}

/// Returns the claim's class if it waits for the first consumer; mirrors `IsDelayBindingMode`.
pub(super) fn waits_for_consumer<'a>(cx: &Context<'a>, claim: &PersistentVolumeClaim) -> Result<Option<&'a Arc<StorageClass>>, Status> {
    let name = claim_class(claim);
    if name.is_empty() {
        return Ok(None);
    }
    let Some(class) = cx.cluster.storage_classes.named(&name) else { return Ok(None) };
    match class.volume_binding_mode.as_deref() {
        None => Err(Status::error(format!("VolumeBindingMode not set for StorageClass {name:?}"))),
        Some(mode) => Ok((mode == WAIT_FOR_FIRST_CONSUMER).then_some(class)),
    }
}
