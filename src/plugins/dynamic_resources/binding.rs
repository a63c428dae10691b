//! Reserve and PreBind: reserve devices in memory, then write them into the claims.
//!
//! A cycle completes its binding before the next one starts, so other pods never see an allocation in flight. Waiting
//! for binding conditions takes no time either: devices without a condition yet are assumed to become ready, and only a
//! condition that has already failed fails the binding.

use std::sync::Arc;

use super::claims::{consumer, has_binding_conditions, is_ready_for_binding, is_reserved_for, is_timed_out};
use super::error::BindError;
use super::extended::{is_special_name, name_claim};
use super::state::{DynamicResourcesState, NodeAllocation};
use super::{DynamicResources, STATE_ABSENT, binding_conditions_enabled, whole_second};
use crate::cluster::resource::ResourceClaim;
use crate::cluster::{ExtendedResourceClaimStatus, Object, Pod, Str};
use crate::framework::{Context, CycleState, NodeInfo, PodInfo, PreBindPlugin, ReservePlugin, Status};
use crate::release::Gate;

/// Keeps an allocated claim from being deleted while it is in use.
const FINALIZER: &str = "resource.kubernetes.io/delete-protection";

impl ReservePlugin for DynamicResources {
    fn reserve(&self, _cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let Some(state) = state.get_mut::<DynamicResourcesState>() else { return Status::error(STATE_ABSENT) };
        let pending: Vec<usize> = state.claims.to_allocate().map(|(index, _)| index).collect();
        if pending.is_empty() || state.allocator.is_none() {
            return Status::success();
        }
        let results = state.found().nodes.get(node.name()).map(|n| n.results.clone()).unwrap_or_default();
        if results.is_empty() {
            // Nothing is reserved if device plugins serve the extended resources and there is no other claim.
            let only_extended = pending.iter().all(|index| state.claims.is_extended(*index));
            return if only_extended { Status::success() } else { Status::error("claim allocation not found for node") };
        }
        if results.len() != pending.len() {
            let (have, want) = (results.len(), pending.len());
            return Status::error(format!("internal error, have {have} allocations, {want} claims to allocate, want {want} claims"));
        }
        state.reserved = vec![None; state.claims.all().len()];
        for (index, result) in pending.into_iter().zip(results) {
            state.reserved[index] = Some(result);
        }
        Status::success()
    }

    fn unreserve(&self, _cx: &Context<'_>, state: &mut CycleState, _pod: &PodInfo, _node: &NodeInfo) {
        if let Some(state) = state.get_mut::<DynamicResourcesState>() {
            state.reserved.clear();
        }
    }
}

impl PreBindPlugin for DynamicResources {
    fn pre_bind_pre_flight(&self, _cx: &Context<'_>, state: &CycleState, _pod: &PodInfo, _node: &NodeInfo) -> Status {
        match state.read::<DynamicResourcesState>() {
            None => Status::error(STATE_ABSENT),
            Some(state) if state.claims.is_empty() => Status::skip(),
            Some(_) => Status::success(),
        }
    }

    fn pre_bind(&self, cx: &Context<'_>, state: &CycleState, pod: &PodInfo, node: &NodeInfo) -> Result<Vec<Object>, Status> {
        let state = state.read::<DynamicResourcesState>().ok_or_else(|| Status::error(STATE_ABSENT))?;
        let allocation = state.found().nodes.get(node.name()).cloned().unwrap_or_default();
        let failed = |error: BindError| Status::error(error.to_string());
        let mut writes = Vec::new();
        let mut claims = Vec::with_capacity(state.claims.all().len());
        for (index, claim) in state.claims.all().iter().enumerate() {
            if is_reserved_for(claim, &pod.pod) {
                claims.push(claim.clone());
                continue;
            }
            if let Some(claim) = bind_claim(cx, state, index, &pod.pod, &allocation, node.name()).map_err(failed)? {
                writes.push(Object::ResourceClaim(claim.clone()));
                if state.claims.is_extended(index) {
                    writes.push(record_extended(cx, &pod.pod, &claim, &allocation, node.name()).map_err(failed)?);
                }
                claims.push(claim);
            }
        }
        if binding_conditions_enabled(cx.emulation) {
            self.check_devices(cx, &claims).map_err(failed)?;
        }
        Ok(writes)
    }
}

impl DynamicResources {
    /// Fails if a device's binding has failed or timed out since its allocation.
    fn check_devices(&self, cx: &Context<'_>, claims: &[Arc<ResourceClaim>]) -> Result<(), BindError> {
        if !claims.iter().any(|c| has_binding_conditions(c)) {
            return Ok(());
        }
        for claim in claims {
            if !is_ready_for_binding(claim)? {
                if is_timed_out(claim, self.args.binding_timeout(), cx.now) {
                    return Err(BindError::Timeout { claim: claim.metadata.name.clone() });
                }
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Returns the claim with its allocation and the pod as a consumer; `None` if nothing changes.
fn bind_claim(
    cx: &Context<'_>,
    state: &DynamicResourcesState,
    index: usize,
    pod: &Pod,
    node: &NodeAllocation,
    node_name: &Str,
) -> Result<Option<Arc<ResourceClaim>>, BindError> {
    let known = &state.claims.all()[index];
    let reserved = state.reserved.get(index).cloned().flatten();
    let mut claim = if state.claims.is_extended(index) && is_special_name(&known.metadata.name) {
        if reserved.is_none() {
            return Ok(None);
        }
        let prepared = node.extended.as_ref().ok_or_else(|| BindError::NoExtendedClaim { node: node_name.clone() })?;
        let mut claim = ResourceClaim::clone(&prepared.claim);
        name_claim(&mut claim, pod);
        claim.metadata.creation_timestamp = Some(whole_second(cx.now));
        claim
    } else {
        let current = cx.cluster.resource_claims.get(&known.metadata.key()).filter(|c| c.metadata.uid == known.metadata.uid);
        let current = current.ok_or_else(|| {
            let doing = if reserved.is_some() { "add finalizer" } else { "add reservation" };
            BindError::ClaimNotFound { doing, claim: known.metadata.key() }
        })?;
        ResourceClaim::clone(current)
    };
    let key = claim.metadata.key();
    if claim.metadata.deletion_timestamp.is_some() {
        return Err(BindError::Deleted { claim: key });
    }
    if let Some(reserved) = reserved {
        if claim.status.allocation.is_some() {
            return Err(BindError::Allocated { claim: key });
        }
        if !claim.metadata.finalizers.iter().any(|f| f == FINALIZER) {
            claim.metadata.finalizers.push(FINALIZER.into());
        }
        claim.status.allocation = Some(reserved);
    }
    claim.status.reserved_for.push(consumer(pod));
    if binding_conditions_enabled(cx.emulation) {
        let Some(allocation) = &mut claim.status.allocation else {
            return Err(BindError::Deallocated { claim: key });
        };
        allocation.allocation_timestamp.get_or_insert(whole_second(cx.now));
    }
    Ok(Some(Arc::new(claim)))
}

/// Returns the pod from the API server with its extended resource claim in the status.
fn record_extended(
    cx: &Context<'_>,
    pod: &Pod,
    claim: &ResourceClaim,
    allocation: &NodeAllocation,
    node: &Str,
) -> Result<Object, BindError> {
    let mappings = allocation.extended.as_ref().map_or_else(Vec::new, |extended| extended.mappings(pod));
    if mappings.is_empty() {
        return Err(BindError::NoMappings { pod: pod.key() });
    }
    let mut pod = cx.cluster.pods.get(&pod.key()).map_or_else(|| pod.clone(), |known| Pod::clone(known));
    if cx.emulation.enabled(Gate::NominatedNodeNameForExpectation) {
        pod.status.nominated_node_name = node.clone();
    }
    pod.status.extended_resource_claim_status =
        Some(ExtendedResourceClaimStatus { resource_claim_name: claim.metadata.name.clone(), request_mappings: mappings.into() });
    Ok(Object::Pod(Arc::new(pod)))
}
