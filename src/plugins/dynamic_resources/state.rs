//! The plugin's state within a cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::allocator::Allocator;
use super::claims::ClaimStore;
use super::extended::{ExtendedResource, NodeClaim};
use crate::cluster::Str;
use crate::cluster::resource::AllocationResult;

/// State from PreFilter on. As upstream, clones share the results of Filter.
#[derive(Clone, Default)]
pub(super) struct DynamicResourcesState {
    /// Empty if the plugin has nothing to do for the pod.
    pub(super) claims: ClaimStore,
    /// Extended resources that the pod requests.
    pub(super) extended: Arc<Vec<ExtendedResource>>,
    /// `None` if every claim is allocated.
    pub(super) allocator: Option<Arc<Allocator>>,
    /// The result that Reserve has recorded for each claim.
    pub(super) reserved: Vec<Option<AllocationResult>>,
    pub(super) found: Arc<Mutex<Found>>,
}

/// Results of Filter.
#[derive(Default)]
pub(super) struct Found {
    /// Indexes of claims that are allocated, but not usable on some node.
    pub(super) unavailable: BTreeSet<usize>,
    /// Devices by node.
    pub(super) nodes: BTreeMap<Str, NodeAllocation>,
}

/// The devices that a node offers.
#[derive(Clone, Default)]
pub(super) struct NodeAllocation {
    /// One for each claim without an allocation.
    pub(super) results: Vec<AllocationResult>,
    /// The claim for extended resources on this node.
    pub(super) extended: Option<NodeClaim>,
}

impl DynamicResourcesState {
    /// Locks the results of Filter so far.
    pub(super) fn found(&self) -> MutexGuard<'_, Found> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
