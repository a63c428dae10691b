//! Which devices the cluster's claims hold, gathered once in a cycle. Mirrors
//! `pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go` and `GatherAllocatedState` in `dra_manager.go`.
//!
//! Allocations in flight do not occur here: a binding ends in the cycle that began it.

use std::collections::{HashMap, HashSet};

use crate::cluster::resource::DeviceRequestAllocationResult;
use crate::cluster::{Cluster, Map, Quantity, Str};

/// A pool by driver and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PoolId {
    pub(super) driver: Str,
    pub(super) pool: Str,
}

/// What is taken in one pool, by device name.
#[derive(Debug, Default)]
pub(super) struct PoolUse {
    /// Devices that one claim has for itself.
    dedicated: HashSet<Str>,
    /// Devices that claims share.
    shared: HashSet<Str>,
    /// How much of them is consumed.
    capacity: HashMap<Str, Map<Quantity>>,
}

impl PoolUse {
    /// Whether a claim has the device for itself.
    pub(super) fn is_dedicated(&self, device: &str) -> bool {
        self.dedicated.contains(device)
    }

    /// Whether any claim has the device or a share of it.
    pub(super) fn is_allocated(&self, device: &str) -> bool {
        self.dedicated.contains(device) || self.shared.contains(device) || self.capacity.contains_key(device)
    }

    /// What claims consume of a shared device.
    pub(super) fn consumed(&self, device: &str) -> Option<&Map<Quantity>> {
        self.capacity.get(device)
    }
}

/// What is taken in every pool.
#[derive(Debug, Default)]
pub(super) struct Allocated(HashMap<PoolId, PoolUse>);

impl Allocated {
    /// Goes through all claims; without consumable capacity a share counts as the whole device.
    pub(super) fn gather(cluster: &Cluster, consumable_capacity: bool) -> Self {
        let mut allocated = Self::default();
        for claim in cluster.resource_claims.iter() {
            for result in claim.status.allocation.iter().flat_map(|a| a.devices.results.iter()) {
                // With admin access a device is looked at, not used.
                if !result.admin_access.unwrap_or(false) {
                    allocated.add(result, consumable_capacity);
                }
            }
        }
        allocated
    }

    fn add(&mut self, result: &DeviceRequestAllocationResult, consumable_capacity: bool) {
        let id = PoolId { driver: result.driver.clone(), pool: result.pool.clone() };
        let pool = self.0.entry(id).or_default();
        if !consumable_capacity || result.share_id.is_none() {
            pool.dedicated.insert(result.device.clone());
            return;
        }
        pool.shared.insert(result.device.clone());
        if !result.consumed_capacity.is_empty() {
            add_capacity(pool.capacity.entry(result.device.clone()).or_default(), &result.consumed_capacity);
        }
    }

    /// What is taken in one pool.
    pub(super) fn pool(&self, id: &PoolId) -> Option<&PoolUse> {
        self.0.get(id)
    }
}

/// Adds amounts by name.
pub(super) fn add_capacity(sum: &mut Map<Quantity>, more: &Map<Quantity>) {
    for (name, amount) in more.iter() {
        let total = sum.get(name).map_or(*amount, |q| *q + *amount);
        sum.insert(name.clone(), total);
    }
}
