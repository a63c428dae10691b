//! Reserve, PreBindPreFlight and PreBind; mirrors `AssumePodVolumes`, `BindPodVolumes` and `bindAPIUpdate` of
//! `binder.go`, and `GetBindVolumeToClaim` of
//! `staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go`.
//!
//! # The wait for the binding
//! kube-scheduler writes volumes and claims and then looks every second, for at most `bindTimeoutSeconds`, whether the
//! volume controller and the provisioner have bound the claims; then it binds the pod. Neither of them is simulated:
//! PreBind hands out what the scheduler itself writes and succeeds, as if they did their part in time. The claims stay
//! unbound, with the chosen volume or node on record, so that another pod that uses them is sent to the same place.
//! Only where there is no time at all (`bindTimeoutSeconds: 0`) PreBind fails as upstream does, with
//! `binding volumes: context deadline exceeded`, and nothing is written.

use std::sync::Arc;

use super::claims::State;
use super::find::find_pod_volumes;
use super::matching::is_bound_to_claim;
use super::{VolumeBinding, no_state};
use crate::cluster::storage::{ObjectReference, PersistentVolume, PersistentVolumeClaim};
use crate::cluster::{Object, Str};
use crate::framework::{Code, Context, CycleState, NodeInfo, PodInfo, PreBindPlugin, ReservePlugin, Status};
use crate::plugins::volume_helpers::{ANN_BOUND_BY_CONTROLLER, ANN_SELECTED_NODE};

/// What Reserve sets aside for the pod on its node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reserved {
    /// The node.
    pub node: Str,
    /// Volumes for claims, smallest claim first: as they will be written, each with its claim.
    pub static_bindings: Vec<(Arc<PersistentVolume>, Arc<PersistentVolumeClaim>)>,
    /// Claims that get a volume provisioned, as they will be written.
    pub dynamic_provisions: Vec<Arc<PersistentVolumeClaim>>,
    /// What of it differs from the cluster: volumes first, then claims.
    writes: Vec<Object>,
}

impl ReservePlugin for VolumeBinding {
    fn reserve(&self, cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(State(claims)) = state.read::<State>() else { return no_state() };
        if claims.all_bound() {
            return Status::success();
        }
        let found = match find_pod_volumes(cx, claims, node) {
            Err(error) => return Status::error(error.to_string()),
            // Filter found the node to be fit, and nothing has changed since.
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

/// The volume with a reference to the claim; `None` where it has that already.
fn bind_volume_to_claim(volume: &PersistentVolume, claim: &PersistentVolumeClaim) -> Option<Arc<PersistentVolume>> {
    let meta = &claim.metadata;
    let reference = ObjectReference { namespace: meta.namespace.clone(), name: meta.name.clone(), uid: meta.uid.clone() };
    let mut changed = volume.clone();
    changed.spec.claim_ref = Some(reference);
    // The annotation is absent from volumes that a user has bound.
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

/// What was reserved on this node; `Ok(None)` where there is nothing to bind.
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
