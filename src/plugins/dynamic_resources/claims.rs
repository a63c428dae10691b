//! A pod's resource claims: their names, existence and owners, and whether an allocated one is ready. Mirrors
//! `claims.go` of the plugin and `staging/src/k8s.io/dynamic-resource-allocation/resourceclaim/resourceclaim.go`.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::error::BindError;
use super::extended::is_special_name;
use crate::cel::Environment;
use crate::cluster::resource::{AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaim, ResourceClaimConsumerReference};
use crate::cluster::{Cluster, Key, Pod, PodResourceClaim, Str};
use crate::framework::Reason;
use crate::release::{DeviceSelectors, Emulation};

/// The pod's claims in the order of the spec, then the claim for its extended resources.
#[derive(Clone, Default)]
pub(super) struct ClaimStore {
    list: Vec<Arc<ResourceClaim>>,
    num_user: usize,
}

impl ClaimStore {
    pub(super) fn new(mut list: Vec<Arc<ResourceClaim>>, extended: Option<Arc<ResourceClaim>>) -> Self {
        let num_user = list.len();
        list.extend(extended);
        Self { list, num_user }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn all(&self) -> &[Arc<ResourceClaim>] {
        &self.list
    }

    /// Whether the pod's spec names no claims.
    pub(super) fn no_user_claim(&self) -> bool {
        self.num_user == 0
    }

    pub(super) fn extended(&self) -> Option<&Arc<ResourceClaim>> {
        self.list.get(self.num_user)
    }

    /// Whether the claim at an index is the one for extended resources.
    pub(super) fn is_extended(&self, index: usize) -> bool {
        index == self.num_user
    }

    /// Returns the claim for extended resources if an earlier cycle left it behind.
    pub(super) fn stale_extended(&self) -> Option<&Arc<ResourceClaim>> {
        self.extended().filter(|c| !is_special_name(&c.metadata.name))
    }

    /// Returns the claims without an allocation, with their index.
    pub(super) fn to_allocate(&self) -> impl Iterator<Item = (usize, &Arc<ResourceClaim>)> {
        self.list.iter().enumerate().filter(|(_, c)| c.status.allocation.is_none())
    }
}

/// Returns the claims that a pod's spec names; the error is the reason for rejecting the pod.
pub(super) fn pod_claims(cluster: &Cluster, pod: &Pod) -> Result<Vec<Arc<ResourceClaim>>, Reason> {
    let mut claims = Vec::with_capacity(pod.spec.resource_claims.len());
    for reference in &pod.spec.resource_claims {
        let Some((name, generated)) = claim_name(pod, reference)? else { continue };
        let claim = cluster.resource_claims.namespaced(&pod.metadata.namespace, name);
        let claim = claim.ok_or_else(|| Reason::ResourceClaimNotFound { claim: Key::new(pod.metadata.namespace.clone(), name.clone()) })?;
        if claim.metadata.deletion_timestamp.is_some() {
            return Err(Reason::ResourceClaimDeleting { claim: claim.metadata.name.clone() });
        }
        if generated && claim.metadata.controller().is_none_or(|owner| owner.uid != pod.metadata.uid) {
            return Err(Reason::ResourceClaimNotOwned { claim: claim.metadata.key(), pod: pod.key() });
        }
        claims.push(claim.clone());
    }
    Ok(claims)
}

/// Returns the name of the claim and whether it was generated from a template; `None` if none is needed.
fn claim_name<'a>(pod: &'a Pod, reference: &'a PodResourceClaim) -> Result<Option<(&'a Str, bool)>, Reason> {
    if let Some(name) = &reference.resource_claim_name {
        return Ok(Some((name, false)));
    }
    if reference.resource_claim_template_name.is_none() {
        return Err(Reason::ResourceClaimUnspecified { pod: pod.key(), name: reference.name.clone() });
    }
    match pod.status.resource_claim_statuses.iter().find(|s| s.name == reference.name) {
        Some(status) => Ok(status.resource_claim_name.as_ref().map(|name| (name, true))),
        None => Err(Reason::ResourceClaimNotCreated { pod: pod.key() }),
    }
}

pub(super) fn is_reserved_for(claim: &ResourceClaim, pod: &Pod) -> bool {
    claim.status.reserved_for.iter().any(|consumer| consumer.uid == pod.metadata.uid)
}

pub(super) fn consumer(pod: &Pod) -> ResourceClaimConsumerReference {
    ResourceClaimConsumerReference {
        api_group: Str::default(),
        resource: "pods".into(),
        name: pod.metadata.name.clone(),
        uid: pod.metadata.uid.clone().into(),
    }
}

/// Whether all binding conditions of the claim's devices hold; an error if one has failed.
pub(super) fn is_ready_for_binding(claim: &ResourceClaim) -> Result<bool, BindError> {
    let Some(allocation) = &claim.status.allocation else { return Ok(false) };
    for result in allocation.devices.results.iter().filter(|r| !r.binding_conditions.is_empty()) {
        let Some(device) = device_status(claim, result) else { return Ok(false) };
        let condition = |kind: &Str| device.conditions.iter().find(|c| c.kind == *kind);
        if let Some(failure) = result.binding_failure_conditions.iter().filter_map(condition).find(|c| c.status == "True") {
            let (reason, message) = (failure.reason.clone(), failure.message.clone());
            return Err(BindError::Failed { claim: claim.metadata.name.clone(), reason, message });
        }
        if !result.binding_conditions.iter().all(|kind| condition(kind).is_some_and(|c| c.status == "True")) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn device_status<'a>(claim: &'a ResourceClaim, result: &DeviceRequestAllocationResult) -> Option<&'a AllocatedDeviceStatus> {
    claim.status.devices.iter().find(|d| d.device == result.device && d.driver == result.driver && d.pool == result.pool)
}

/// Whether the timeout for the claim's devices to become ready has passed.
pub(super) fn is_timed_out(claim: &ResourceClaim, timeout: SignedDuration, now: Timestamp) -> bool {
    let Some(allocation) = &claim.status.allocation else { return false };
    let waits = allocation.devices.results.iter().any(|r| !r.binding_conditions.is_empty());
    waits && allocation.allocation_timestamp.is_some_and(|since| now.duration_since(since) > timeout)
}

/// Whether any device of the claim has binding conditions.
pub(super) fn has_binding_conditions(claim: &ResourceClaim) -> bool {
    claim.status.allocation.as_ref().is_some_and(|a| a.devices.results.iter().any(|r| !r.binding_conditions.is_empty()))
}

/// Returns the CEL environment of device selectors in a release. Up to 1.36 list attributes need `DRAListTypeAttributes`, which is
/// off and cannot be turned on, because its effect on constraints is not emulated; later, selectors read them without it.
pub(crate) fn selector_environment(emulation: Emulation) -> Environment {
    let DeviceSelectors { includes, multiple_allocations, list_functions, list_attributes } = emulation.behaviour().devices.selectors;
    Environment { list_attributes, multiple_allocations, includes, list_functions }
}
