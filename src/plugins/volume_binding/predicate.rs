//! CheckVolumeBinding, the predicate before VolumeBinding. Mirrors `NewVolumeBindingPredicate` in
//! `pkg/scheduler/algorithm/predicates/predicates.go` and `FindPodVolumes` in
//! `pkg/controller/volume/persistentvolume/scheduler_binder.go` of v1.11 and v1.12.
//!
//! An invalid claim of the pod is an error on each node. Claims that wait for a consumer are bound with the pod, as in
//! VolumeBinding. v1.11 binds them first and then retries the pod; only its choice of volumes is emulated.

use std::sync::Arc;

use super::VolumeBinding;
use super::claims::{BoundClaim, Claims, DelayedClaim, State, requested, waits_for_consumer};
use super::find::find_pod_volumes;
use super::matching::Candidates;
use super::provision::Classes;
use crate::cluster::storage::PersistentVolumeClaim;
use crate::cluster::{Object, Pod, Str};
use crate::framework::{
    Code, Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, PreBindPlugin, PreFilterPlugin, PreFilterResult, Reason,
    ReservePlugin, Status,
};
use crate::plugins::volume_helpers::{ANN_SELECTED_NODE, is_fully_bound};
use crate::release::ClaimBinding;

/// Keeps pods to nodes where their claims can be bound, and binds them.
#[derive(Clone, Debug, Default)]
pub struct CheckVolumeBinding {
    binder: VolumeBinding,
}

/// The error for every node if the claims are invalid.
#[derive(Clone, Debug)]
struct Unusable(Status);

/// Classifies the pod's claims.
fn sort_out(cx: &Context<'_>, pod: &Pod) -> Result<Claims, Status> {
    let with_pod = cx.emulation.behaviour().predicates.claim_binding == ClaimBinding::WithPod;
    let (mut claims, mut delayed, mut immediate) = (Claims::default(), Vec::new(), Vec::new());
    for name in pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()).map(|source| &source.claim_name) {
        let namespace = &pod.metadata.namespace;
        let Some(claim) = cx.cluster.persistent_volume_claims.namespaced(namespace, name) else {
            let key = format!("{namespace}/{name}");
            return Err(Status::error(format!("error getting PVC {key:?}: could not find v1.PersistentVolumeClaim {key:?}")));
        };
        let is_bound = if with_pod { is_fully_bound(claim) } else { !claim.spec.volume_name.is_empty() };
        if is_bound {
            let volume = cx.cluster.persistent_volumes.named(&claim.spec.volume_name).cloned();
            claims.bound.push(BoundClaim { name: name.clone(), volume, migration: None });
            continue;
        }
        // A claim with a selected node is left to its provisioner.
        let is_provisioned = with_pod && claim.metadata.annotations.contains_key(ANN_SELECTED_NODE);
        match waits_for_consumer(cx, claim)? {
            Some(class) if claim.spec.volume_name.is_empty() && !is_provisioned => delayed.push((claim, class)),
            _ => immediate.push(name.clone()),
        }
    }
    if !immediate.is_empty() {
        return Err(Status::error(Reason::UnboundImmediateClaims { claims: immediate.into() }));
    }
    delayed.sort_by_key(|(claim, _)| requested(claim).unwrap_or_default());
    let to_match: Vec<&PersistentVolumeClaim> = delayed.iter().map(|(claim, _)| &***claim).collect();
    let candidates = Candidates::of(cx, &to_match);
    let mut classes = Classes::default();
    let waiting = delayed
        .into_iter()
        .map(|(claim, class)| DelayedClaim { claim: claim.clone(), provisioning: classes.without_capacity(class, with_pod) });
    claims.unmatched = candidates.into_iter().zip(waiting).collect();
    Ok(claims)
}

/// Returns the name of the volume of a bound claim.
fn volume_of(cx: &Context<'_>, pod: &Pod, claim: &Str) -> Str {
    let claim = cx.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, claim);
    claim.map(|claim| claim.spec.volume_name.clone()).unwrap_or_default()
}

impl Plugin for CheckVolumeBinding {
    plugin!(CheckVolumeBinding: pre_filter, filter, reserve, pre_bind);
}

impl PreFilterPlugin for CheckVolumeBinding {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let claims = sort_out(cx, &pod.pod).unwrap_or_else(|error| {
            state.write(Unusable(error));
            Claims::default()
        });
        state.write(State(Arc::new(claims)));
        (PreFilterResult::default(), Status::success())
    }
}

impl FilterPlugin for CheckVolumeBinding {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if let Some(Unusable(error)) = state.read() {
            return error.clone();
        }
        let Some(State(claims)) = state.read::<State>() else { return super::no_state() };
        match find_pod_volumes(cx, state, claims, node) {
            Ok(Ok(_)) => Status::success(),
            Ok(Err(reasons)) => {
                let missing = reasons.iter().find_map(|r| if let Reason::BoundVolumeMissing { claim } = r { claim.as_ref() } else { None });
                match missing.map(|claim| volume_of(cx, &pod.pod, claim)) {
                    Some(volume) => Status::error(format!("could not find v1.PersistentVolume {:?}", volume.as_str())),
                    None => Status::new(Code::UnschedulableAndUnresolvable, reasons),
                }
            }
            Err(error) => Status::error(error.to_string()),
        }
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

impl ReservePlugin for CheckVolumeBinding {
    fn reserve(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        ReservePlugin::reserve(&self.binder, cx, state, pod, node)
    }

    fn unreserve(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo, node: &NodeInfo) {
        self.binder.unreserve(cx, state, pod, node);
    }
}

impl PreBindPlugin for CheckVolumeBinding {
    fn pre_bind_pre_flight(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        self.binder.pre_bind_pre_flight(cx, state, pod, node)
    }

    fn pre_bind(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<Vec<Object>, Status> {
        PreBindPlugin::pre_bind(&self.binder, cx, state, pod, node)
    }
}
