//! Judges a node's devices one by one: what keeps each from a request of the pod's claims.
//!
//! The allocator stops at the first obstacle of a device and says nothing of it. Here every device is judged as if no other
//! device of the pod's claims had been chosen.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::allocated::PoolId;
use super::allocator::Allocator;
use super::capacity::CapacityError;
use super::error::SelectorProblem;
use super::extended::NodeClaim;
use super::pools::{Pool, device_matches_node, pool_id};
use super::request::Request;
use super::state::DynamicResourcesState;
use super::{binding_conditions_enabled, capacity, counters, selector_environment, taints};
use crate::cel::{Activation, CelError};
use crate::cluster::resource::{Device, DeviceAttribute, DeviceClass, DeviceSelector, ResourceClaim, ResourceSlice};
use crate::cluster::{Cluster, Key, Str};
use crate::framework::{ClaimDevices, Context, DeviceId, DeviceVerdict, NodeDevices, NodeInfo, Obstacle, RequestDevices, SelectorFailure};
use crate::limits::engine::{JUDGED_FOR_REQUEST, JUDGED_ON_NODE};
use crate::release::Gate;

/// Limit on the devices that are listed for a request.
const LISTED: usize = 16;
/// Units of cel-go's cost that count as one device of [`JUDGED_ON_NODE`].
const COST_OF_DEVICE: u64 = 1_000;
/// Limit on the characters of an expression and of a value.
const EXPRESSION: usize = 160;
/// Limit on the characters of an error.
const ERROR: usize = 600;
/// Limit on the values of a device that are shown with a selector.
const VALUES: usize = 4;

/// A device with its slice, and its pool where that offers devices.
struct Offered<'a> {
    slice: &'a ResourceSlice,
    device: &'a Device,
    pool: Result<&'a Pool<'a>, Obstacle>,
}

/// Judges the devices of a node for the claims of a pod. `usable` returns whether an allocated claim can be used on the node.
pub(super) fn on_node(
    cx: &Context<'_>,
    state: &DynamicResourcesState,
    extended: Option<&NodeClaim>,
    node: &NodeInfo,
    usable: &dyn Fn(&ResourceClaim) -> Option<bool>,
    rejected: bool,
) -> NodeDevices {
    let claims: Vec<(Arc<ResourceClaim>, Option<bool>)> = state
        .claims
        .all()
        .iter()
        .enumerate()
        .filter_map(|(index, claim)| match extended {
            _ if claim.status.allocation.is_some() => Some((claim.clone(), usable(claim))),
            Some(extended) if state.claims.is_extended(index) => Some((extended.claim.clone(), None)),
            None if state.claims.is_extended(index) => None,
            _ => Some((claim.clone(), None)),
        })
        .collect();
    let judged = |judge: Option<&Judge<'_>>| {
        let of_claim = |(claim, usable): &(Arc<ResourceClaim>, Option<bool>)| ClaimDevices {
            claim: claim.metadata.name.clone(),
            usable_here: *usable,
            requests: judge
                .filter(|_| usable.is_none())
                .map(|judge| Request::of_claim(claim).map(|request| judge.request(request)).collect())
                .unwrap_or_default(),
            constraints: claim.spec.devices.constraints.len(),
        };
        NodeDevices { node: node.name().clone(), rejected, claims: claims.iter().map(of_claim).collect() }
    };
    let Some(allocator) = state.allocator.as_deref() else { return judged(None) };
    // An invalid node selector fails the whole attempt before any device is tried.
    let Ok(pools) = allocator.inventory.pools(&node.node, cx.emulation, &allocator.allocated) else { return judged(None) };
    judged(Some(&Judge::new(cx.cluster, allocator, node, &pools)))
}

/// A node with its devices.
struct Judge<'a> {
    allocator: &'a Allocator,
    node: &'a NodeInfo,
    devices: Vec<Offered<'a>>,
    takers: HashMap<DeviceId, Key>,
    /// Devices that may still be judged, over all requests.
    left: Cell<usize>,
}

impl<'a> Judge<'a> {
    fn new(cluster: &Cluster, allocator: &'a Allocator, node: &'a NodeInfo, pools: &'a [Pool<'a>]) -> Self {
        let mut devices = Vec::new();
        let mut seen = HashSet::new();
        for pool in pools {
            for slice in &pool.slices {
                seen.insert(&slice.metadata.name);
                devices.extend(slice.spec.devices.iter().map(|device| Offered { slice, device, pool: Ok(pool) }));
            }
        }
        for slice in allocator.inventory.slices(&node.node, allocator.emulation) {
            if !seen.contains(&slice.metadata.name) && !slice.spec.devices.is_empty() {
                let why = why_not_offered(allocator, slice, pools);
                devices.extend(slice.spec.devices.iter().map(|device| Offered { slice, device, pool: Err(why.clone()) }));
            }
        }
        Self { allocator, node, devices, takers: takers(cluster), left: Cell::new(JUDGED_ON_NODE) }
    }

    /// Judges the devices for one request, or one alternative of it.
    fn request(&self, request: Request<'_>) -> RequestDevices {
        let class = self.allocator.classes.get(request.class_name());
        let mut found = RequestDevices {
            request: request.full_name(),
            class: request.class_name().clone(),
            wanted: (!request.wants_all()).then(|| request.count()),
            suitable: 0,
            devices: Vec::new(),
            more: BTreeMap::new(),
            not_judged: self.devices.len(),
        };
        for offered in self.devices.iter().take(JUDGED_FOR_REQUEST) {
            if self.left.get() == 0 {
                break;
            }
            self.left.set(self.left.get() - 1);
            found.not_judged -= 1;
            let obstacles = self.obstacles(request, class, offered);
            let verdict = DeviceVerdict { id: id_of(offered), obstacles };
            found.suitable += usize::from(verdict.obstacles.is_empty());
            if found.devices.len() < LISTED {
                found.devices.push(verdict);
            } else {
                *found.more.entry(verdict.against()).or_default() += 1;
            }
        }
        found
    }

    /// Returns what speaks against a device, in the order of the allocator.
    fn obstacles(&self, request: Request<'_>, class: Option<&Arc<DeviceClass>>, offered: &Offered<'_>) -> Vec<Obstacle> {
        let (device, slice) = (offered.device, offered.slice);
        let pool = match &offered.pool {
            Ok(pool) => pool,
            Err(why) => return vec![why.clone()],
        };
        if pool.incomplete && !self.allocator.emulation.behaviour().devices.incomplete_pools_serve {
            return vec![self.incomplete(slice)];
        }
        if pool.invalid {
            return vec![Obstacle::PoolInvalid { duplicate: pool.duplicate.clone() }];
        }
        let enabled = |gate| self.allocator.emulation.enabled(gate);
        let mut obstacles = Vec::new();
        if !request.is_admin() && pool.usage.is_some_and(|usage| usage.is_dedicated(&device.name)) {
            obstacles.push(Obstacle::Taken { claim: self.takers.get(&id_of(offered)).cloned() });
        }
        if !binding_conditions_enabled(self.allocator.emulation) && !device.binding_conditions.is_empty() {
            obstacles.push(Obstacle::BindingConditions);
        }
        let activation = Activation::new(&pool.id.driver, device, selector_environment(self.allocator.emulation));
        let of_class = class.and_then(|class| self.selector(Some(&class.metadata.name), &class.spec.selectors, &activation));
        let selector = of_class.or_else(|| self.selector(None, request.selectors(), &activation));
        obstacles.extend(selector.map(Obstacle::Selector));
        if slice.spec.per_device_node_selection.unwrap_or(false) && !device_matches_node(device, &self.node.node).unwrap_or(false) {
            obstacles.push(Obstacle::OtherNode);
        }
        let consumed = pool.usage.and_then(|usage| usage.consumed(&device.name));
        if enabled(Gate::DRAConsumableCapacity) {
            let ranges = capacity::Ranges::of(self.allocator.emulation);
            let short = capacity::shortage(device, request.capacity(), consumed, None, ranges);
            // An amount that ends the search is against every policy.
            let short = short.unwrap_or_else(|CapacityError { name, requested, .. }| {
                let free = device.capacity.get(&name).map(|capacity| capacity.value);
                Some(capacity::Shortage { name, requested, free, against_policy: true })
            });
            if let Some(capacity::Shortage { name, requested, free, against_policy }) = short {
                obstacles.push(Obstacle::Capacity { name, requested, free, against_policy });
            }
        }
        if !device.consumes_counters.is_empty() {
            let shared = enabled(Gate::DRAConsumableCapacity) && device.allow_multiple_allocations.unwrap_or(false);
            let records_suffice = self.allocator.emulation.behaviour().devices.shares_without_capacity_drawn;
            let drawn = consumed.is_some() || records_suffice && pool.usage.is_some_and(|u| u.is_allocated(&device.name));
            if !enabled(Gate::DRAPartitionableDevices) {
                obstacles.push(Obstacle::CountersDisabled);
            } else if !(shared && drawn)
                && let Some(short) = counters::shortage(pool, device)
            {
                let counters::Shortage { set, counter, needed, free } = short;
                obstacles.push(Obstacle::Counter { counter_set: set, counter, needed, free });
            }
        }
        if enabled(Gate::DRADeviceTaints)
            && let Some(taint) = taints::untolerated(device, request.tolerations())
        {
            obstacles.push(Obstacle::Tainted { key: taint.key.clone(), value: taint.value.clone(), effect: taint.effect.clone() });
        }
        obstacles
    }

    fn incomplete(&self, slice: &ResourceSlice) -> Obstacle {
        let (_, slices) = self.allocator.inventory.generation(&pool_id(slice), slice.spec.pool.generation);
        Obstacle::PoolIncomplete { slices, expected: slice.spec.pool.resource_slice_count }
    }

    /// Returns the first selector of a class or request that does not select the device.
    fn selector(&self, class: Option<&Str>, selectors: &[DeviceSelector], activation: &Activation<'_>) -> Option<SelectorFailure> {
        selectors.iter().enumerate().find_map(|(index, selector)| {
            let expression = selector.cel.as_ref().map_or("", |cel| cel.expression.as_str());
            let compiled = selector.cel.as_ref().and_then(|cel| self.allocator.selectors.get(&cel.expression));
            let error = match compiled {
                Some(Ok(selector)) => {
                    let (verdict, cost) = self.allocator.matches.of(selector, activation);
                    self.left.set(self.left.get().saturating_sub(usize::try_from(cost / COST_OF_DEVICE).unwrap_or(usize::MAX)));
                    match verdict {
                        Ok(true) => return None,
                        Ok(false) => None,
                        Err(error) => Some(CelError::from(error).to_string()),
                    }
                }
                Some(Err(error)) => Some(CelError::from(error.clone()).to_string()),
                None => Some(SelectorProblem::Empty.to_string()),
            };
            Some(SelectorFailure {
                class: class.cloned(),
                index,
                expression: shortened(expression, EXPRESSION),
                error: error.map(|error| shortened(&error, ERROR)),
                values: mentioned(expression, activation.device()),
            })
        })
    }
}

fn id_of(offered: &Offered<'_>) -> DeviceId {
    let PoolId { driver, pool } = pool_id(offered.slice);
    DeviceId { driver, pool, device: offered.device.name.clone() }
}

/// Returns why a slice that the node sees is in no pool that offers devices.
fn why_not_offered(allocator: &Allocator, slice: &ResourceSlice, pools: &[Pool<'_>]) -> Obstacle {
    let id = pool_id(slice);
    let generation = slice.spec.pool.generation;
    let (newest, slices) = allocator.inventory.generation(&id, generation);
    if newest > generation {
        return Obstacle::OldGeneration { generation, newest };
    }
    match pools.iter().find(|pool| pool.id == id && pool.invalid) {
        Some(pool) => Obstacle::PoolInvalid { duplicate: pool.duplicate.clone() },
        None => Obstacle::PoolIncomplete { slices, expected: slice.spec.pool.resource_slice_count },
    }
}

/// Returns the claims that hold devices for themselves.
fn takers(cluster: &Cluster) -> HashMap<DeviceId, Key> {
    let mut takers = HashMap::new();
    for claim in cluster.resource_claims.iter() {
        let results = claim.status.allocation.iter().flat_map(|allocation| allocation.devices.results.iter());
        for result in results.filter(|result| !result.admin_access.unwrap_or(false)) {
            let id = DeviceId { driver: result.driver.clone(), pool: result.pool.clone(), device: result.device.clone() };
            takers.entry(id).or_insert_with(|| claim.metadata.key());
        }
    }
    takers
}

/// Returns a text in one line of a limited length.
fn shortened(text: &str, limit: usize) -> String {
    let mut short = String::new();
    let (mut length, mut gap) = (0, false);
    for c in text.trim().chars() {
        if c.is_whitespace() {
            gap = true;
            continue;
        }
        if length + usize::from(gap) >= limit {
            short.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            short.push(' ');
            length += 1;
        }
        short.push(c);
        length += 1;
    }
    short
}

/// Returns the device's attributes and capacities whose names the expression mentions.
fn mentioned(expression: &str, device: &Device) -> Vec<(Str, String)> {
    let words: HashSet<&str> = expression.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').collect();
    let is_mentioned = |name: &Str| words.contains(name.rsplit('/').next().unwrap_or_default());
    let attributes = device.attributes.iter().filter(|(name, _)| is_mentioned(name)).map(|(name, value)| (name.clone(), value_of(value)));
    let capacities = device.capacity.iter().filter(|(name, _)| is_mentioned(name));
    let capacities = capacities.map(|(name, capacity)| (name.clone(), capacity.value.to_string()));
    attributes.chain(capacities).take(VALUES).collect()
}

/// Returns an attribute's value as CEL writes it.
fn value_of(attribute: &DeviceAttribute) -> String {
    let text = match attribute {
        DeviceAttribute { int: Some(int), .. } => int.to_string(),
        DeviceAttribute { bool: Some(bool), .. } => bool.to_string(),
        DeviceAttribute { string: Some(string), .. } => format!("{:?}", string.as_str()),
        DeviceAttribute { version: Some(version), .. } => format!("version {version}"),
        _ => "a list or nothing".to_owned(),
    };
    shortened(&text, EXPRESSION)
}
