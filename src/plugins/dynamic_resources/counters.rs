//! Counters shared by the partitions of a device; mirrors `checkAvailableCounters` in
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`.
//!
//! As upstream in some releases, counters are identified by the pool's name only, without its driver.

use std::collections::BTreeMap;

use super::allocated::PoolId;
use super::pools::Pool;
use crate::cluster::resource::Device;
use crate::cluster::{Quantity, Str};

/// Amounts by counter set and counter.
type CounterSets = BTreeMap<Str, BTreeMap<Str, Quantity>>;

/// Available and consumed counters of one search, by pool.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// Whether pools of one name are kept apart by their drivers.
    by_driver: bool,
    available: BTreeMap<PoolId, CounterSets>,
    consumed: BTreeMap<PoolId, CounterSets>,
}

impl Counters {
    pub(super) fn new(by_driver: bool) -> Self {
        Self { by_driver, ..Self::default() }
    }

    fn key(&self, pool: &Pool<'_>) -> PoolId {
        let driver = if self.by_driver { pool.id.driver.clone() } else { Str::default() };
        PoolId { driver, pool: pool.id.pool.clone() }
    }

    /// Consumes the device's counters. Returns false and consumes nothing if one is too low.
    pub(super) fn consume(&mut self, pool: &Pool<'_>, device: &Device) -> bool {
        let key = self.key(pool);
        let available = self.available.entry(key.clone()).or_insert_with(|| available(pool));
        let consumed = self.consumed.entry(key).or_default();
        for consumption in &device.consumes_counters {
            let set = consumed.entry(consumption.counter_set.clone()).or_default();
            for (counter, amount) in consumption.counters.iter() {
                *set.entry(counter.clone()).or_default() += amount.value;
            }
        }
        let enough = available.iter().all(|(set, counters)| {
            let taken = consumed.get(set);
            counters.iter().all(|(counter, amount)| taken.and_then(|t| t.get(counter)).copied().unwrap_or_default() <= *amount)
        });
        if !enough {
            self.give_back(pool, device);
        }
        enough
    }

    /// Gives back the counters that the device consumed.
    pub(super) fn give_back(&mut self, pool: &Pool<'_>, device: &Device) {
        let Some(consumed) = self.consumed.get_mut(&self.key(pool)) else { return };
        for consumption in &device.consumes_counters {
            let set = consumed.entry(consumption.counter_set.clone()).or_default();
            for (counter, amount) in consumption.counters.iter() {
                let left = set.get(counter).copied().unwrap_or_default() - amount.value;
                set.insert(counter.clone(), left);
            }
        }
    }
}

/// A counter that is too low for a device.
pub(super) struct Shortage {
    pub(super) set: Str,
    pub(super) counter: Str,
    pub(super) needed: Quantity,
    /// `None` if the pool does not have the counter.
    pub(super) free: Option<Quantity>,
}

/// Returns the first counter that is too low for the device, apart from what a search consumes.
pub(super) fn shortage(pool: &Pool<'_>, device: &Device) -> Option<Shortage> {
    let available = available(pool);
    device.consumes_counters.iter().find_map(|consumption| {
        let set = available.get(&consumption.counter_set);
        consumption.counters.iter().find_map(|(counter, needed)| {
            let free = set.and_then(|set| set.get(counter)).copied();
            let is_short = free.is_none_or(|free| needed.value > free);
            let (set, counter) = (consumption.counter_set.clone(), counter.clone());
            is_short.then_some(Shortage { set, counter, needed: needed.value, free })
        })
    })
}

/// Returns the pool's counters minus those of all allocated devices, on this node or elsewhere; below zero means none
/// left.
fn available(pool: &Pool<'_>) -> CounterSets {
    let amounts = |set: &crate::cluster::resource::CounterSet| set.counters.iter().map(|(name, c)| (name.clone(), c.value)).collect();
    let mut sets: CounterSets = pool.counter_sets.values().map(|set| (set.name.clone(), amounts(set))).collect();
    let devices = pool.slices.iter().chain(&pool.elsewhere).flat_map(|s| s.spec.devices.iter());
    for device in devices.filter(|d| pool.usage.is_some_and(|u| u.is_allocated(&d.name))) {
        for consumption in &device.consumes_counters {
            let Some(set) = sets.get_mut(&consumption.counter_set) else { continue };
            for (counter, amount) in consumption.counters.iter() {
                if let Some(left) = set.get_mut(counter) {
                    *left = *left - amount.value;
                }
            }
        }
    }
    sets
}
