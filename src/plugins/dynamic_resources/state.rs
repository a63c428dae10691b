//! What the plugin remembers in a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::allocator::Allocator;
use super::claims::ClaimStore;
use super::extended::{ExtendedResource, NodeClaim};
use crate::cluster::Str;
use crate::cluster::resource::AllocationResult;

/// State from PreFilter on. Clones share what Filter finds, as upstream's do.
#[derive(Clone, Default)]
pub(super) struct DynamicResourcesState {
    /// Empty where the plugin has nothing to do for the pod.
    pub(super) claims: ClaimStore,
    /// Extended resources that the pod asks for.
    pub(super) extended: Arc<Vec<ExtendedResource>>,
    /// `None` where every claim is allocated.
    pub(super) allocator: Option<Arc<Allocator>>,
    /// By claim: what Reserve has set aside for it.
    pub(super) reserved: Vec<Option<AllocationResult>>,
    pub(super) found: Arc<Mutex<Found>>,
}

/// What Filter has found.
#[derive(Default)]
pub(super) struct Found {
    /// Claims that are allocated, but not usable on some node; the index is that of the claim.
    pub(super) unavailable: BTreeSet<usize>,
    /// Devices by node.
    pub(super) nodes: BTreeMap<Str, NodeAllocation>,
}

/// The devices a node would give.
#[derive(Clone, Default)]
pub(super) struct NodeAllocation {
    /// One for each claim without an allocation.
    pub(super) results: Vec<AllocationResult>,
    /// The claim for extended resources as this node needs it.
    pub(super) extended: Option<NodeClaim>,
}

impl DynamicResourcesState {
    /// What Filter has found so far.
    pub(super) fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
