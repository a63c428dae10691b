//! VolumeRestrictions: PreFilter, Filter. Mirrors
//! `pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go`.
//!
//! Two pods on a node cannot use the same inline disk, unless its kind allows it read-only. A claim with access mode
//! ReadWriteOncePod can be used by one pod in the whole cluster.

mod disks;
mod hints;

use std::collections::BTreeSet;
use std::sync::Arc;

use self::disks::disk_in_use;
pub(crate) use self::disks::needs_restrictions_check;
use crate::cluster::{Key, Pod, Str};
use crate::framework::{
    ClusterEventWithHint, Context, CycleState, DiskInUse, FilterPlugin, NodeInfo, Plugin, PodInfo, PreFilterPlugin, PreFilterResult,
    Reason, Status,
};
use crate::release::{ClaimsInUse, Emulation, Gate};

/// Disks of pods that are compared in a step of [`crate::framework::node_steps`].
const DISKS_OF_A_STEP: usize = 4;
const READ_WRITE_ONCE_POD: &str = "ReadWriteOncePod";

/// Keeps pods from sharing volumes that cannot be shared.
#[derive(Clone, Copy, Debug, Default)]
pub struct VolumeRestrictions;

impl Plugin for VolumeRestrictions {
    plugin!(VolumeRestrictions: pre_filter, filter);

    fn events_to_register(&self, emulation: Emulation) -> Option<Vec<ClusterEventWithHint>> {
        Some(hints::events(emulation))
    }
}

/// State of PreFilter, which AddPod and RemovePod update.
#[derive(Clone, Debug)]
struct State {
    /// Names of the pod's claims with access mode ReadWriteOncePod.
    read_write_once_pod_claims: Arc<BTreeSet<Str>>,
    /// Number of uses of these claims by pods on nodes.
    conflicting_ref_count: i64,
}

impl State {
    /// Counts a pod's uses. As upstream, only names are compared, so a pod of another namespace counts if its claim has
    /// the same name.
    fn references(&self, pod: &Pod) -> i64 {
        let claims = pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref());
        claims.filter(|c| self.read_write_once_pod_claims.contains(&c.claim_name)).count() as i64
    }
}

impl PreFilterPlugin for VolumeRestrictions {
    fn pre_filter(&self, cx: &Context<'_>, state: &mut CycleState, pod: &PodInfo) -> (PreFilterResult, Status) {
        let checks_claims = cx.emulation.enabled(Gate::ReadWriteOncePod);
        let claims = match checks_claims.then(|| read_write_once_pod_claims(cx, &pod.pod)).transpose() {
            Ok(claims) => claims.unwrap_or_default(),
            Err(status) => return (PreFilterResult::default(), status),
        };
        let in_use = |claim: &&Str| {
            let key = Key { namespace: pod.pod.metadata.namespace.clone(), name: (*claim).clone() };
            cx.snapshot.is_claim_used(&key)
        };
        let conflicting_ref_count = claims.iter().filter(in_use).count() as i64;
        if conflicting_ref_count > 0 && cx.emulation.behaviour().volumes.claims_in_use == ClaimsInUse::PreFilter {
            return (PreFilterResult::default(), Status::unresolvable(Reason::ReadWriteOncePodConflict { claim: only(&claims) }));
        }
        if conflicting_ref_count == 0 && !pod.pod.spec.volumes.iter().any(needs_restrictions_check) {
            return (PreFilterResult::default(), Status::skip());
        }
        state.write(State { read_write_once_pod_claims: Arc::new(claims), conflicting_ref_count });
        (PreFilterResult::default(), Status::success())
    }

    fn has_extensions(&self, emulation: Emulation) -> bool {
        emulation.behaviour().volumes.claims_in_use == ClaimsInUse::Filter
    }

    fn add_pod(&self, cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, added: &PodInfo, _node: &NodeInfo) -> Status {
        update(cx, state, &added.pod, 1)
    }

    fn remove_pod(&self, cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, removed: &PodInfo, _node: &NodeInfo) -> Status {
        update(cx, state, &removed.pod, -1)
    }
}

fn update(cx: &Context<'_>, state: &mut CycleState, pod: &Pod, sign: i64) -> Status {
    if !cx.emulation.enabled(Gate::ReadWriteOncePod) {
        return Status::success();
    }
    let Some(references) = state.read::<State>().map(|s| s.references(pod)) else { return no_state() };
    // Skipping pods without such claims avoids a copy of the state.
    if references != 0
        && let Some(state) = state.get_mut::<State>()
    {
        state.conflicting_ref_count += sign * references;
    }
    Status::success()
}

/// Returns the first inline disk of the pod that a pod of the node uses.
pub(super) fn disk_in_use_on(state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Option<DiskInUse> {
    let mut looked_at = 0;
    let disk = disk_in_use(&pod.pod, &node.pods.iter().map(|p| &*p.pod), &mut looked_at);
    state.count_list_steps((looked_at / DISKS_OF_A_STEP) as u64);
    disk
}

fn filter_checks_claims(emulation: Emulation) -> bool {
    emulation.enabled(Gate::ReadWriteOncePod) && emulation.behaviour().volumes.claims_in_use == ClaimsInUse::Filter
}

fn no_state() -> Status {
    Status::error("cannot read \"PreFilterVolumeRestrictions\" from cycleState")
}

fn read_write_once_pod_claims(cx: &Context<'_>, pod: &Pod) -> Result<BTreeSet<Str>, Status> {
    let mut claims = BTreeSet::new();
    for source in pod.spec.volumes.iter().filter_map(|v| v.persistent_volume_claim.as_ref()) {
        let Some(claim) = cx.cluster.persistent_volume_claims.namespaced(&pod.metadata.namespace, &source.claim_name) else {
            return Err(Status::rejected(Reason::ClaimNotFound { claim: source.claim_name.clone() }));
        };
        if claim.spec.access_modes.iter().any(|mode| mode == READ_WRITE_ONCE_POD) {
            claims.insert(claim.metadata.name.clone());
        }
    }
    Ok(claims)
}

/// Returns the claim if there is only one. Of several, the count does not tell which is in use.
fn only(claims: &BTreeSet<Str>) -> Option<Str> {
    let mut claims = claims.iter();
    claims.next().filter(|_| claims.next().is_none()).cloned()
}

impl FilterPlugin for VolumeRestrictions {
    fn filter(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Status {
        if let Some(disk) = disk_in_use_on(state, pod, node) {
            return Status::rejected(Reason::DiskConflict(Box::new(disk)));
        }
        if !filter_checks_claims(cx.emulation) {
            return Status::success();
        }
        match state.read::<State>() {
            None => no_state(),
            Some(state) if state.conflicting_ref_count > 0 => {
                Status::rejected(Reason::ReadWriteOncePodConflict { claim: only(&state.read_write_once_pod_claims) })
            }
            Some(_) => Status::success(),
        }
    }
}

#[cfg(test)]
mod tests;
