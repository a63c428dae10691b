//! Devices allocated to the cluster's claims, gathered once per cycle. Mirrors
//! `pkg/scheduler/framework/plugins/dynamicresources/allocateddevices.go` and `GatherAllocatedState` in
//! `dra_manager.go`.
//!
//! There are no allocations in flight: a binding completes in the cycle that started it.

use std::collections::{HashMap, HashSet};

use crate::cluster::resource::DeviceRequestAllocationResult;
use crate::cluster::{Cluster, Map, Quantity, Str};

/// A pool by driver and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PoolId {
    pub(super) driver: Str,
    pub(super) pool: Str,
}

/// Allocated devices of one pool, by name.
#[derive(Debug, Default)]
pub(super) struct PoolUse {
    /// Devices allocated to one claim exclusively.
    dedicated: HashSet<Str>,
    /// Devices that claims share.
    shared: HashSet<Str>,
    /// Consumed capacity of shared devices.
    capacity: HashMap<Str, Map<Quantity>>,
}

impl PoolUse {
    /// Whether the device is allocated exclusively.
    pub(super) fn is_dedicated(&self, device: &str) -> bool {
        self.dedicated.contains(device)
    }

    /// Whether the device is allocated, exclusively or shared.
    pub(super) fn is_allocated(&self, device: &str) -> bool {
        self.dedicated.contains(device) || self.shared.contains(device) || self.capacity.contains_key(device)
    }

    /// Returns the consumed capacity of a shared device.
    pub(super) fn consumed(&self, device: &str) -> Option<&Map<Quantity>> {
        self.capacity.get(device)
    }
}

/// Allocated devices by pool.
#[derive(Debug, Default)]
pub(super) struct Allocated(HashMap<PoolId, PoolUse>);

impl Allocated {
    /// Gathers the allocations of all claims; without consumable capacity a share counts as the whole device.
    pub(super) fn gather(cluster: &Cluster, consumable_capacity: bool) -> Self {
        let mut allocated = Self::default();
        for claim in cluster.resource_claims.iter() {
            for result in claim.status.allocation.iter().flat_map(|a| a.devices.results.iter()) {
                // Admin access does not allocate the device.
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

    /// Returns the allocated devices of one pool.
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
