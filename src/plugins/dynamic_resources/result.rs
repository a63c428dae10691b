//! Converts allocated devices to allocation results of claims.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::error::AllocatorError;
use super::search::Picked;
use crate::cluster::resource::{AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult, ResourceClaim};
use crate::cluster::{List, Node, NodeSelector, NodeSelectorTerm, Requirement, Str};

/// Builds one result per claim, in order.
pub(super) fn build(
    claims: &[Arc<ResourceClaim>],
    picked: &[Vec<Picked<'_>>],
    node: &Node,
) -> Result<Vec<AllocationResult>, AllocatorError> {
    let one = |(claim, devices): (&Arc<ResourceClaim>, &Vec<Picked<'_>>)| {
        let results = devices.iter().enumerate().map(|(i, d)| device_result(claim, i, d)).collect();
        let node_selector = node_selector(devices, node.name())
            .map_err(|terms| AllocatorError::TooManyTerms { claim: claim.metadata.name.clone(), terms })?;
        Ok(AllocationResult { devices: DeviceAllocationResult { results }, node_selector, allocation_timestamp: None })
    };
    claims.iter().zip(picked).map(one).collect()
}

fn device_result(claim: &ResourceClaim, index: usize, picked: &Picked<'_>) -> DeviceRequestAllocationResult {
    let id = &picked.pool.id;
    let share_id = || {
        let owner = if claim.metadata.uid.is_empty() { claim.metadata.key().to_string() } else { claim.metadata.uid.to_string() };
        derived_uid(&[&owner, &id.driver, &id.pool, &picked.device.name, &index.to_string()])
    };
    DeviceRequestAllocationResult {
        request: picked.request.full_name(),
        driver: id.driver.clone(),
        pool: id.pool.clone(),
        device: picked.device.name.clone(),
        admin_access: picked.request.is_admin().then_some(true),
        tolerations: picked.request.tolerations().iter().cloned().collect(),
        binding_conditions: picked.device.binding_conditions.clone(),
        binding_failure_conditions: picked.device.binding_failure_conditions.clone(),
        share_id: picked.shared.then(share_id),
        consumed_capacity: picked.consumed.clone(),
    }
}

/// Returns the node selector of an allocation: one node if any device is local to it, else that of all slices. The
/// error is the number of terms of a slice with more than one.
fn node_selector(devices: &[Picked<'_>], node: &Str) -> Result<Option<NodeSelector>, usize> {
    let mut term = NodeSelectorTerm::default();
    for picked in devices {
        let spec = &picked.slice.spec;
        let (name, selector) = if spec.per_device_node_selection.unwrap_or(false) {
            (&picked.device.node_name, &picked.device.node_selector)
        } else {
            (&spec.node_name, &spec.node_selector)
        };
        if name.is_some() || picked.device.binds_to_node.unwrap_or(false) {
            let field = Requirement { key: "metadata.name".into(), operator: "In".into(), values: vec![node.clone()].into() };
            return Ok(Some(of_term(NodeSelectorTerm { match_fields: vec![field].into(), ..NodeSelectorTerm::default() })));
        }
        match selector.as_ref().map_or(&[][..], |s| s.node_selector_terms.as_slice()) {
            [] => {}
            [only] => {
                add_new(&only.match_fields, &mut term.match_fields);
                add_new(&only.match_expressions, &mut term.match_expressions);
            }
            terms => return Err(terms.len()),
        }
    }
    Ok((!term.is_empty()).then(|| of_term(term)))
}

fn of_term(term: NodeSelectorTerm) -> NodeSelector {
    NodeSelector { node_selector_terms: vec![term].into() }
}

fn add_new(from: &[Requirement], to: &mut List<Requirement>) {
    let values = |r: &Requirement| r.values.iter().cloned().collect::<BTreeSet<_>>();
    for requirement in from {
        let known = to.iter().any(|r| r.key == requirement.key && r.operator == requirement.operator && values(r) == values(requirement));
        if !known {
            to.push(requirement.clone());
        }
    }
}

/// Derives a version 8 UUID from its parts; kube-scheduler draws a random one.
pub(super) fn derived_uid(parts: &[&str]) -> Str {
    let hash = |seed: u64| {
        let mut hash = seed;
        for byte in parts.iter().flat_map(|p| p.bytes().chain([0])) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash ^ (hash >> 29)
    };
    let (a, b) = (hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142));
    format!("{:08x}-{:04x}-8{:03x}-8{:03x}-{:012x}", a >> 32, (a >> 16) & 0xffff, a & 0xfff, b >> 52, b & 0xffff_ffff_ffff).into()
}
