//! Reserve, PreBindPreFlight and PreBind; mirrors `AssumePodVolumes`, `BindPodVolumes` and `bindAPIUpdate` of
//! `binder.go`, and `GetBindVolumeToClaim` of
//! `staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go`.
//!
//! # The wait for the binding
//!
//! kube-scheduler writes volumes and claims. It then polls every second, for at most `bindTimeoutSeconds`, until the
//! volume controller and the provisioner have bound the claims, and binds the pod. Neither of them is simulated:
//! PreBind returns the scheduler's own writes and succeeds, as if they finished in time. The claims stay unbound with
//! the chosen volume or node recorded, so that another pod with the same claims gets the same place. With
//! `bindTimeoutSeconds: 0` PreBind fails as upstream does, with `binding volumes: context deadline exceeded`, and
//! writes nothing.

use std::sync::Arc;

use super::claims::State;
use super::find::find_pod_volumes;
use super::matching::is_bound_to_claim;
use super::{VolumeBinding, no_state};
use crate::cluster::storage::{ObjectReference, PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{Object, Str};
use crate::framework::{Code, Context, CycleState, NodeInfo, PodInfo, PreBindPlugin, ReservePlugin, Status};
use crate::plugins::volume_helpers::{ANN_BOUND_BY_CONTROLLER, ANN_SELECTED_NODE};

/// The volumes and claims that Reserve assumes for the pod on its node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserved {
    pub node: Str,
    /// Volumes with the claims to bind, smallest claim first, as they will be written.
    pub static_bindings: Vec<(Arc<PersistentVolume>, Arc<PersistentVolumeClaim>)>,
    /// Claims to provision, as they will be written.
    pub dynamic_provisions: Vec<Arc<PersistentVolumeClaim>>,
    /// The objects that differ from the cluster: volumes first, then claims.
    writes: Vec<Object>,
}

impl ReservePlugin for VolumeBinding {
    fn reserve(&self, cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(State(claims)) = state.read::<State>() else { return no_state() };
        if claims.all_bound() {
            return Status::success();
        }
        let found = match find_pod_volumes(cx, state, claims, node) {
            Err(error) => return Status::error(error.to_string()),
            // Filter passed the node, and nothing has changed since.
            Ok(Err(reasons)) => return Status::new(Code::Error, reasons),
            Ok(Ok(found)) => found,
        };
        let mut reserved = Reserved { node: node.name().clone(), ..Reserved::default() };
        for (volume, claim) in found.static_bindings {
            let volume = bind_volume_to_claim(&volume, &claim).map_or(volume, |changed| {
                reserved.writes.push(Object::PersistentVolume(changed.clone()));
                changed
            });
            reserved.static_bindings.push((volume, claim));
        }
        for (claim, _) in found.dynamic_provisions {
            let selected = claim.metadata.annotations.get(ANN_SELECTED_NODE) == Some(node.name());
            let claim = if selected { claim } else { Arc::new(select_node(&claim, node.name())) };
            if !selected {
                reserved.writes.push(Object::PersistentVolumeClaim(claim.clone()));
            }
            reserved.dynamic_provisions.push(claim);
        }
        state.write(reserved);
        Status::success()
    }

    fn unreserve(&self, _cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, _node: &NodeInfo) {
        if state.read::<Reserved>().is_some() {
            state.write(Reserved::default());
        }
    }
}

/// Returns the volume with a reference to the claim; `None` if it already has one.
fn bind_volume_to_claim(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> Option<Arc<PersistentVolume>> {
    let meta = &claim.metadata;
    let reference = ObjectReference { namespace: meta.namespace.clone(), name: meta.name.clone(), uid: meta.uid.clone().into() };
    let mut changed = volume.clone();
    changed.spec.claim_ref = Some(reference);
    // Volumes that a user has bound do not have the annotation.
    if !is_bound_to_claim(volume, claim) && !volume.metadata.annotations.contains_key(ANN_BOUND_BY_CONTROLLER) {
        changed.metadata.annotations.insert(ANN_BOUND_BY_CONTROLLER.into(), "yes".into());
    }
    (changed != *volume).then(|| Arc::new(changed))
}

fn select_node(claim: &PersistentVolumeClaim, node: &Str) -> PersistentVolumeClaim {
    let mut claim = claim.clone();
    claim.metadata.annotations.insert(ANN_SELECTED_NODE.into(), node.clone());
    claim
}

/// Returns the reservation on this node; `Ok(None)` if there is nothing to bind.
fn reserved<'a>(state: &'a CycleState, node: &NodeInfo) -> Result<Option<&'a Reserved>, Status> {
    let State(claims) = state.read::<State>().ok_or_else(no_state)?;
    if claims.all_bound() {
        return Ok(None);
    }
    let found = state.read::<Reserved>().filter(|r| r.node == *node.name());
    found.map(Some).ok_or_else(|| Status::error(format!("no pod volume found for node {:?}", node.name())))
}

impl PreBindPlugin for VolumeBinding {
    fn pre_bind_pre_flight(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        match reserved(state, node) {
            Ok(None) => Status::skip(),
            Ok(Some(_)) => Status::success(),
            Err(status) => status,
        }
    }

    fn pre_bind(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<Vec<Object>, Status> {
        match reserved(state, node)? {
            None => Ok(Vec::new()),
            Some(_) if self.args.bind_timeout_seconds <= 0 => Err(Status::error("binding volumes: context deadline exceeded")),
            Some(reserved) => Ok(reserved.writes.clone()),
        }
    }
}
