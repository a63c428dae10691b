//! Resource slices and their pools for a node. Mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go`.
//!
//! Only the highest generation of a pool is used. A pool that lacks slices is incomplete, one whose slices contradict
//! each other is invalid; neither offers devices.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::allocated::{Allocated, PoolId, PoolUse};
use super::error::{NodeSelectorError, PoolError};
use super::taint_rules::tainted_slices;
use crate::cluster::resource::{CounterSet, Device, ResourceSlice};
use crate::cluster::{Cluster, Node, NodeSelector, SelectorError, Str};
use crate::plugins::node_affinity::required_errors;
use crate::release::{Emulation, Gate};

/// All slices by the nodes they apply to; gathered once per cycle.
#[derive(Debug, Default)]
pub(super) struct Inventory {
    on_node: HashMap<Str, Vec<Arc<ResourceSlice>>>,
    /// Slices that every node must check.
    shared: Vec<Arc<ResourceSlice>>,
    by_pool: HashMap<PoolId, Vec<Arc<ResourceSlice>>>,
    /// Checked pools by the addresses of their slices, those with devices for other nodes behind a zero. Most nodes see the same slices.
    checked: Mutex<HashMap<Vec<usize>, Arc<Checked>>>,
}

/// The contradictions between the slices of a pool, which take a look at each device.
#[derive(Debug)]
struct Checked {
    /// The first device that the slices name twice.
    duplicate: Option<Str>,
    /// Whether the slices have counter sets of one name, or devices that consume counters that no slice has.
    is_invalid: bool,
}

/// The position of a device in the pools of a node. Devices are tried in order of position.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DevicePos {
    pub(super) pool: usize,
    pub(super) slice: usize,
    pub(super) device: usize,
}

/// The slices of one pool as a node sees them.
#[derive(Debug, Default)]
pub(super) struct Pool<'a> {
    pub(super) id: PoolId,
    /// Some slices are not published yet.
    pub(super) incomplete: bool,
    /// The slices contradict each other.
    pub(super) invalid: bool,
    /// The first device that the slices name twice.
    pub(super) duplicate: Option<Str>,
    /// Slices with devices for the node, in order of name.
    pub(super) slices: Vec<&'a ResourceSlice>,
    /// Slices with devices for other nodes, which may consume the same counters.
    pub(super) elsewhere: Vec<&'a ResourceSlice>,
    /// Shared counters by the name of their set.
    pub(super) counter_sets: BTreeMap<&'a str, &'a CounterSet>,
    /// Allocated devices of the pool.
    pub(super) usage: Option<&'a PoolUse>,
}

impl Inventory {
    pub(super) fn gather(cluster: &Cluster, emulation: Emulation) -> Self {
        let mut inventory = Self::default();
        for slice in tainted_slices(cluster, emulation) {
            inventory.by_pool.entry(pool_id(&slice)).or_default().push(slice.clone());
            match slice.spec.node_name.clone().filter(|n| !n.is_empty() && slice.spec.shared_counters.is_empty()) {
                Some(node) => inventory.on_node.entry(node).or_default().push(slice),
                None => inventory.shared.push(slice),
            }
        }
        inventory
    }

    /// Returns the pools with devices for a node, by driver and name; those with binding conditions come last.
    pub(super) fn pools<'a>(&'a self, node: &Node, emulation: Emulation, allocated: &'a Allocated) -> Result<Vec<Pool<'a>>, PoolError> {
        let mut by_id: BTreeMap<PoolId, Vec<&'a ResourceSlice>> = BTreeMap::new();
        let own = self.on_node.get(node.name()).map_or(&[][..], Vec::as_slice);
        for slice in own.iter().chain(&self.shared) {
            if is_relevant(slice, node, emulation)? {
                add_slice(by_id.entry(pool_id(slice)).or_default(), slice);
            }
        }
        let (mut pools, mut with_conditions) = (Vec::new(), Vec::new());
        for (id, slices) in by_id {
            let conditions = slices.iter().any(|slice| has_binding_conditions(slice));
            let Some(mut pool) = self.pool(&id, slices, emulation) else { continue };
            pool.usage = allocated.pool(&id);
            pool.id = id;
            if conditions && (pool.duplicate.is_some() || !pool.slices.is_empty()) { &mut with_conditions } else { &mut pools }.push(pool);
        }
        pools.append(&mut with_conditions);
        Ok(pools)
    }

    /// Returns the slices that may have devices for a node, in order of name; of every generation.
    pub(super) fn slices<'a>(&'a self, node: &Node, emulation: Emulation) -> Vec<&'a ResourceSlice> {
        let own = self.on_node.get(node.name()).map_or(&[][..], Vec::as_slice);
        let all = own.iter().chain(&self.shared).map(|slice| &**slice);
        let mut slices: Vec<_> = all.filter(|slice| is_relevant(slice, node, emulation).unwrap_or(false)).collect();
        slices.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        slices
    }

    /// Returns the newest generation of a pool, and the number of its slices of a generation.
    pub(super) fn generation(&self, id: &PoolId, of: i64) -> (i64, usize) {
        let all = self.by_pool.get(id).map_or(&[][..], Vec::as_slice);
        let newest = all.iter().map(|slice| slice.spec.pool.generation).max().unwrap_or(of);
        (newest, all.iter().filter(|slice| slice.spec.pool.generation == of).count())
    }

    /// Builds a pool; `None` if a newer generation on other nodes makes it obsolete.
    fn pool<'a>(&'a self, id: &PoolId, slices: Vec<&'a ResourceSlice>, emulation: Emulation) -> Option<Pool<'a>> {
        let first = &slices.first()?.spec.pool;
        let (generation, wanted) = (first.generation, first.resource_slice_count);
        let complete = slices.len() as i64 == wanted;
        if complete || emulation.behaviour().devices.incomplete_pools_serve {
            return Some(Pool { incomplete: !complete, ..self.build_pool(slices, Vec::new(), emulation) });
        }
        let everywhere = self.by_pool.get(id).map_or(&[][..], Vec::as_slice);
        if everywhere.iter().any(|s| s.spec.pool.generation > generation) {
            return None;
        }
        let all: Vec<&ResourceSlice> = everywhere.iter().map(|s| &**s).filter(|s| s.spec.pool.generation == generation).collect();
        if all.len() as i64 != wanted {
            return Some(Pool { incomplete: true, ..Pool::default() });
        }
        Some(self.build_pool(slices, all, emulation))
    }

    /// Builds a pool from the node's slices; `all` are all slices of the pool if the node sees only some of them.
    fn build_pool<'a>(&self, mut slices: Vec<&'a ResourceSlice>, all: Vec<&'a ResourceSlice>, emulation: Emulation) -> Pool<'a> {
        slices.sort_by(|a, b| a.metadata.name.cmp(&b.metadata.name));
        if emulation.behaviour().devices.conditional_slices_last {
            slices.sort_by_key(|slice| has_binding_conditions(slice));
        }
        let partitionable = emulation.enabled(Gate::DRAPartitionableDevices);
        let mut elsewhere = if partitionable { all } else { Vec::new() };
        let seen: HashSet<&Str> = slices.iter().map(|slice| &slice.metadata.name).collect();
        elsewhere.retain(|slice| !seen.contains(&slice.metadata.name));
        let checked = self.checked(&slices, &elsewhere, partitionable);
        if checked.duplicate.is_some() || checked.is_invalid {
            return Pool { invalid: true, duplicate: checked.duplicate.clone(), ..Pool::default() };
        }
        let counter_sets = if partitionable { counter_sets(&slices).unwrap_or_default() } else { BTreeMap::new() };
        slices.retain(|slice| has_devices(slice, partitionable));
        Pool { slices, elsewhere, counter_sets, ..Pool::default() }
    }

    /// Returns what [`check`] finds, once for the same slices.
    fn checked(&self, slices: &[&ResourceSlice], elsewhere: &[&ResourceSlice], partitionable: bool) -> Arc<Checked> {
        let address = |slice: &&ResourceSlice| std::ptr::from_ref(*slice).addr();
        let places: Vec<usize> = slices.iter().map(address).chain([0]).chain(elsewhere.iter().map(address)).collect();
        if let Some(known) = self.checked.lock().unwrap_or_else(PoisonError::into_inner).get(&places) {
            return known.clone();
        }
        let made = Arc::new(check(slices, elsewhere, partitionable));
        self.checked.lock().unwrap_or_else(PoisonError::into_inner).insert(places, made.clone());
        made
    }
}

pub(super) fn pool_id(slice: &ResourceSlice) -> PoolId {
    PoolId { driver: slice.spec.driver.clone(), pool: slice.spec.pool.name.clone() }
}

fn is_relevant(slice: &ResourceSlice, node: &Node, emulation: Emulation) -> Result<bool, PoolError> {
    let spec = &slice.spec;
    let counters_apart = !spec.shared_counters.is_empty() && !emulation.behaviour().devices.counter_slices_as_others;
    if !emulation.enabled(Gate::DRAPartitionableDevices) && (spec.per_device_node_selection.is_some() || counters_apart) {
        return Ok(false);
    }
    if counters_apart {
        return Ok(true);
    }
    let named = spec.node_name.as_ref().is_some_and(|n| !n.is_empty());
    if named || spec.all_nodes.unwrap_or(false) || spec.node_selector.is_some() {
        return node_matches(node, spec.node_name.as_ref(), spec.all_nodes, spec.node_selector.as_ref())
            .map_err(|error| PoolError::Slice { slice: slice.metadata.name.clone(), error });
    }
    if spec.per_device_node_selection.unwrap_or(false) {
        for device in &spec.devices {
            let failed = |error| PoolError::Device { device: device.name.clone(), slice: slice.metadata.name.clone(), error };
            if device_matches_node(device, node).map_err(failed)? {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Whether a device with its own node selection can be used on a node.
pub(super) fn device_matches_node(device: &Device, node: &Node) -> Result<bool, NodeSelectorError> {
    node_matches(node, device.node_name.as_ref(), device.all_nodes, device.node_selector.as_ref())
}

fn node_matches(node: &Node, name: Option<&Str>, all: Option<bool>, selector: Option<&NodeSelector>) -> Result<bool, NodeSelectorError> {
    if let Some(name) = name.filter(|n| !n.is_empty()) {
        return Ok(name == node.name());
    }
    if all.unwrap_or(false) {
        return Ok(true);
    }
    let Some(selector) = selector else { return Ok(false) };
    if let Some(error) = selector_error(selector) {
        return Err(NodeSelectorError(error));
    }
    Ok(selector.matches(&node.metadata.labels, Some(node.name())))
}

/// Returns the errors of an invalid node selector as one; mirrors `NewNodeSelector`.
pub(super) fn selector_error(selector: &NodeSelector) -> Option<SelectorError> {
    SelectorError::aggregate(required_errors(selector, ""))
}

/// Adds a slice, keeping only those of the highest generation.
fn add_slice<'a>(slices: &mut Vec<&'a ResourceSlice>, slice: &'a ResourceSlice) {
    let current = slices.first().map_or(i64::MIN, |s| s.spec.pool.generation);
    if slice.spec.pool.generation > current {
        slices.clear();
    }
    if slice.spec.pool.generation >= current {
        slices.push(slice);
    }
}

/// Checks the devices of a pool's slices; `elsewhere` are those with devices for other nodes only.
fn check(slices: &[&ResourceSlice], elsewhere: &[&ResourceSlice], partitionable: bool) -> Checked {
    let mut names = HashSet::new();
    let devices = slices.iter().filter(|slice| has_devices(slice, partitionable)).flat_map(|slice| slice.spec.devices.iter());
    let duplicate = devices.into_iter().find(|device| !names.insert(&device.name)).map(|twice| twice.name.clone());
    let mut is_invalid = false;
    if partitionable {
        let sets = counter_sets(slices);
        is_invalid = sets.is_none_or(|sets| slices.iter().chain(elsewhere).any(|slice| !counters_exist(slice, &sets)));
    }
    Checked { duplicate, is_invalid }
}

/// Whether a slice is one of devices, and not of counters.
fn has_devices(slice: &ResourceSlice, partitionable: bool) -> bool {
    !partitionable || slice.spec.shared_counters.is_empty()
}

/// Returns the shared counters by the name of their set; `None` if two have one name.
fn counter_sets<'a>(slices: &[&'a ResourceSlice]) -> Option<BTreeMap<&'a str, &'a CounterSet>> {
    let mut sets = BTreeMap::new();
    let all = slices.iter().flat_map(|slice| slice.spec.shared_counters.iter());
    all.into_iter().all(|set| sets.insert(set.name.as_str(), set).is_none()).then_some(sets)
}

/// Whether an allocation of one of the slice's devices may wait for a condition before the pod is bound.
fn has_binding_conditions(slice: &ResourceSlice) -> bool {
    slice.spec.devices.iter().any(|device| !device.binding_conditions.is_empty())
}

/// Whether the counters that the devices consume exist.
fn counters_exist(slice: &ResourceSlice, sets: &BTreeMap<&str, &CounterSet>) -> bool {
    slice.spec.devices.iter().flat_map(|d| d.consumes_counters.iter()).all(|consumption| {
        let set = sets.get(consumption.counter_set.as_str());
        // Both are sorted, and equal names mostly share their text.
        set.is_some_and(|set| {
            let mut known = set.counters.keys();
            consumption.counters.keys().all(|name| known.any(|other| other == name))
        })
    })
}
