//! The backtracking search for devices on one node.
//!
//! Claims, requests and devices are allocated in turn, each with the first device that satisfies it; on failure the
//! search backtracks to the next device. Within a request, devices are tried in ascending order only. Upstream's
//! mistakes are reproduced: see [`Search::allocate_device`].

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use super::allocated::{PoolUse, add_capacity};
use super::allocator::{AllocationError, Allocator, Stop, fatal};
use super::constraint::Constraint;
use super::counters::Counters;
use super::error::{AllocatorError, RequestError};
use super::pools::{DevicePos, Pool};
use super::request::{Candidate, Request};
use super::{capacity, taints};
use crate::cluster::resource::{Device, ResourceClaim, ResourceSlice};
use crate::cluster::{Map, Node, Quantity};
use crate::release::{Gate, InvalidPools};

/// Maximum number of devices of one claim; `AllocationResultsMaxSize` in `staging/src/k8s.io/api/resource/v1/types.go`.
pub(super) const MAX_RESULTS: i64 = 32;
/// Maximum depth in devices, requests and claims together. Upstream has no such limit; it protects the thread's stack.
const MAX_DEPTH: usize = 500;

/// A map by positions, which the search reads at each step.
pub(super) type Positions<K, V> = HashMap<K, V, BuildHasherDefault<PositionHasher>>;

/// Mixes indexes of pools, slices, devices and requests, which are small numbers.
#[derive(Default)]
pub(super) struct PositionHasher(u64);

impl Hasher for PositionHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_usize(usize::from(*byte));
        }
    }

    fn write_usize(&mut self, index: usize) {
        self.0 = (self.0.rotate_left(5) ^ index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A request or alternative by indexes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct RequestKey {
    pub(super) claim: usize,
    pub(super) request: usize,
    pub(super) alternative: usize,
}

/// The next device to allocate: of which request, and its number.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Step {
    pub(super) key: RequestKey,
    device: i64,
}

/// An allocated device.
#[derive(Debug)]
pub(super) struct Picked<'a> {
    pub(super) request: Request<'a>,
    pub(super) pool: &'a Pool<'a>,
    pub(super) slice: &'a ResourceSlice,
    pub(super) device: &'a Device,
    /// Whether other claims may share the device.
    pub(super) shared: bool,
    /// The parts that its allocation recorded.
    recorded: Recorded,
    pub(super) consumed: Map<Quantity>,
}

/// Parts of an allocation that a rejection or the search itself takes back.
#[derive(Clone, Copy, Debug, Default)]
struct Recorded {
    /// Whether the device consumed its counters.
    counters: bool,
    /// How many constraints of the claim know the device.
    constraints: usize,
    /// Whether the claim was noted at the device.
    claim: bool,
    /// Whether the device was shared before.
    was_shared: bool,
}

/// The search on one node.
pub(super) struct Search<'a> {
    pub(super) allocator: &'a Allocator,
    pub(super) node: &'a Node,
    pub(super) claims: &'a [Arc<ResourceClaim>],
    pub(super) pools: &'a [Pool<'a>],
    /// By claim, request and alternative.
    pub(super) candidates: Vec<Vec<Vec<Arc<Candidate<'a>>>>>,
    pub(super) constraints: Vec<Vec<Constraint<'a>>>,
    pub(super) selectable: Positions<(DevicePos, RequestKey), bool>,
    pub(super) counters: Counters,
    /// The claims to which the search has allocated each device.
    pub(super) allocating: Positions<DevicePos, BTreeSet<usize>>,
    pub(super) allocating_capacity: Positions<DevicePos, Map<Quantity>>,
    pub(super) results: Vec<Vec<Picked<'a>>>,
    pub(super) steps: i64,
    /// The steps that the cycle allows; `None` for no limit.
    pub(super) limit: Option<i64>,
    pub(super) depth: usize,
}

impl<'a> Search<'a> {
    pub(super) fn new(allocator: &'a Allocator, node: &'a Node, claims: &'a [Arc<ResourceClaim>], pools: &'a [Pool<'a>]) -> Self {
        Self {
            allocator,
            node,
            claims,
            pools,
            candidates: Vec::with_capacity(claims.len()),
            constraints: Vec::with_capacity(claims.len()),
            selectable: Positions::default(),
            counters: Counters::new(allocator.emulation.behaviour().devices.counters_by_driver),
            allocating: Positions::default(),
            allocating_capacity: Positions::default(),
            results: claims.iter().map(|_| Vec::new()).collect(),
            steps: 0,
            limit: None,
            depth: 0,
        }
    }

    pub(super) fn enabled(&self, gate: Gate) -> bool {
        self.allocator.emulation.enabled(gate)
    }

    pub(super) fn spend(&mut self) -> Result<(), Stop> {
        self.spend_steps(1)
    }

    /// Spends steps of `filterTimeout`. They are counted per node, whether or not an answer was known already.
    pub(super) fn spend_steps(&mut self, steps: i64) -> Result<(), Stop> {
        self.steps = self.steps.saturating_add(steps);
        match (self.allocator.budget, self.limit) {
            (Some(budget), _) if self.steps > budget => Err(Stop::Error(AllocationError::TimedOut)),
            (_, Some(limit)) if self.steps > limit => Err(Stop::Error(AllocationError::NotDecided(limit))),
            _ => Ok(()),
        }
    }

    /// Allocates one device and all following ones. `in_alternative` is true once the alternative is chosen; devices
    /// before `start` are skipped.
    pub(super) fn allocate_one(&mut self, step: Step, in_alternative: bool, start: DevicePos) -> Result<bool, Stop> {
        self.spend()?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Stop::Error(AllocationError::TimedOut));
        }
        let done = self.settle(step, in_alternative, start);
        self.depth -= 1;
        done
    }

    fn settle(&mut self, step: Step, in_alternative: bool, start: DevicePos) -> Result<bool, Stop> {
        let RequestKey { claim, request, alternative } = step.key;
        let Some(requests) = self.candidates.get(claim) else { return Ok(true) };
        let Some(alternatives) = requests.get(request) else {
            let next = Step { key: RequestKey { claim: claim + 1, ..RequestKey::default() }, device: 0 };
            return match self.allocate_one(next, false, DevicePos::default()) {
                // Another choice for an earlier claim may let a later one need fewer devices.
                Err(Stop::TooManyDevices) => Ok(false),
                done => done,
            };
        };
        let Some(candidate) = alternatives.get(alternative).cloned() else {
            return Err(fatal(AllocatorError::EmptyRequest { claim: self.claims[claim].metadata.key(), request }));
        };
        if !in_alternative && candidate.request.parent.is_some() {
            return self.choose_alternative(step, alternatives.len());
        }
        let all = candidate.request.wants_all();
        if all && candidate.all.is_empty() {
            return Ok(false);
        }
        if step.device >= candidate.num_devices {
            let next = Step { key: RequestKey { claim, request: request + 1, alternative: 0 }, device: 0 };
            return self.allocate_one(next, false, DevicePos::default());
        }
        if self.results[claim].len() as i64 + candidate.num_devices - step.device > MAX_RESULTS {
            return Err(Stop::TooManyDevices);
        }
        if all {
            return match usize::try_from(step.device).ok().and_then(|i| candidate.all.get(i)) {
                Some(pos) => self.try_device(step, in_alternative, &candidate, *pos, true),
                None => Ok(false),
            };
        }
        self.search_devices(step, in_alternative, &candidate, start)
    }

    /// Tries the alternatives in order until everything after them can be allocated.
    fn choose_alternative(&mut self, step: Step, alternatives: usize) -> Result<bool, Stop> {
        let mut always_too_many = true;
        for alternative in 0..alternatives {
            match self.allocate_one(Step { key: RequestKey { alternative, ..step.key }, ..step }, true, DevicePos::default()) {
                Err(Stop::TooManyDevices) => {}
                Ok(false) => always_too_many = false,
                done => return done,
            }
        }
        if always_too_many { Err(Stop::TooManyDevices) } else { Ok(false) }
    }

    /// Tries the devices from `start` on until everything after them can be allocated.
    fn search_devices(&mut self, step: Step, in_alternative: bool, candidate: &Arc<Candidate<'a>>, start: DevicePos) -> Result<bool, Stop> {
        let pools = self.pools;
        let admin = candidate.request.is_admin();
        let release = &self.allocator.emulation.behaviour().devices;
        let serves = |p: &Pool<'_>| !p.incomplete || release.incomplete_pools_serve;
        for (pool, p) in pools.iter().enumerate().skip(start.pool).filter(|(_, p)| serves(p)) {
            if let Some(device) = p.duplicate.as_ref().filter(|_| release.invalid_pools == InvalidPools::Error) {
                return Err(fatal(AllocatorError::DuplicateDevice { pool: p.id.pool.clone(), device: device.clone() }));
            }
            if p.invalid {
                continue;
            }
            let first_slice = if pool == start.pool { start.slice } else { 0 };
            for (slice, s) in p.slices.iter().enumerate().skip(first_slice) {
                let first_device = if (pool, slice) == (start.pool, start.slice) { start.device } else { 0 };
                for device in first_device..s.spec.devices.len() {
                    let pos = DevicePos { pool, slice, device };
                    self.spend()?;
                    let in_use = if admin { self.given_to(pos, step.key.claim) } else { self.in_use(pos) };
                    if in_use || !self.is_selectable(step.key, candidate, pos)? || !self.fits_capacity(candidate.request, pos)? {
                        continue;
                    }
                    if self.try_device(step, in_alternative, candidate, pos, false)? {
                        return Ok(true);
                    }
                }
            }
        }
        Ok(false)
    }

    /// Allocates the device and continues; deallocates it on failure.
    fn try_device(
        &mut self,
        step: Step,
        in_alternative: bool,
        candidate: &Arc<Candidate<'a>>,
        pos: DevicePos,
        must: bool,
    ) -> Result<bool, Stop> {
        if !self.allocate_device(step.key, candidate, pos, must)? {
            return Ok(false);
        }
        let start = if must { DevicePos::default() } else { DevicePos { device: pos.device + 1, ..pos } };
        let mut next = Step { device: step.device + 1, ..step };
        if must && self.allocator.emulation.behaviour().devices.alternatives_confused {
            // As upstream in some releases, the rest is allocated for the first alternative.
            next.key.alternative = 0;
        }
        let done = self.allocate_one(next, in_alternative, start);
        if !matches!(done, Ok(true)) {
            self.deallocate(step.key.claim, pos);
        }
        done
    }

    fn given_to(&self, pos: DevicePos, claim: usize) -> bool {
        self.allocating.get(&pos).is_some_and(|claims| claims.contains(&claim))
    }

    fn in_use(&self, pos: DevicePos) -> bool {
        let (pool, _, device) = self.device(pos);
        pool.usage.is_some_and(|u| u.is_dedicated(&device.name)) || self.allocating.get(&pos).is_some_and(|claims| !claims.is_empty())
    }

    /// Allocates a selectable device if it is free and satisfies all conditions. `must` makes a violated constraint an
    /// error, because mode `All` fails without the device.
    ///
    /// As upstream in some releases, a device that is rejected after its counters or constraints were recorded leaves them
    /// recorded.
    fn allocate_device(&mut self, key: RequestKey, candidate: &Candidate<'a>, pos: DevicePos, must: bool) -> Result<bool, Stop> {
        let (pool, slice, device) = self.device(pos);
        let request = candidate.request;
        let shared = self.enabled(Gate::DRAConsumableCapacity) && device.allow_multiple_allocations.unwrap_or(false);
        if !shared && request.is_admin() && self.given_to(pos, key.claim) {
            return Ok(false);
        }
        if !request.is_admin() && self.in_use(pos) {
            return Ok(false);
        }
        let mut recorded = Recorded::default();
        if !device.consumes_counters.is_empty() {
            match self.draw_counters(pos, shared) {
                Some(draws) => recorded.counters = draws,
                None => return Ok(false),
            }
        }
        if self.enabled(Gate::DRADeviceTaints) && taints::prevents_allocation(device, request.tolerations()) {
            return Ok(self.reject(key, candidate, pos, recorded));
        }
        let name = request.constraint_name();
        let constraints = &mut self.constraints[key.claim];
        if let Some(violated) = constraints.iter_mut().position(|c| !c.add(name, &pool.id, device)) {
            if must {
                let (driver, pool) = (pool.id.driver.clone(), pool.id.pool.clone());
                return Err(fatal(AllocatorError::Request {
                    claim: self.claims[key.claim].metadata.key(),
                    request: request.name.clone(),
                    error: RequestError::Constraint { driver, pool, device: device.name.clone() },
                }));
            }
            constraints[..violated].iter_mut().for_each(|c| c.remove(name));
            return Ok(self.reject(key, candidate, pos, recorded));
        }
        recorded.constraints = constraints.len();
        if !shared {
            recorded.claim = self.allocating.entry(pos).or_default().insert(key.claim);
        }
        if !self.fits_capacity(request, pos)? {
            return Ok(self.reject(key, candidate, pos, recorded));
        }
        let consumed = if shared {
            capacity::consumed_by(device, request.capacity(), capacity::Ranges::of(self.allocator.emulation))
        } else {
            Map::default()
        };
        if shared {
            recorded.was_shared = self.allocating_capacity.contains_key(&pos);
            add_capacity(self.allocating_capacity.entry(pos).or_default(), &consumed);
        }
        self.results[key.claim].push(Picked { request, pool, slice, device, shared, recorded, consumed });
        Ok(true)
    }

    /// Takes what a device consumes from the counters of its pool. Returns whether it takes any, which the first share of a device does;
    /// `None` if the counters do not suffice, or are not supported.
    fn draw_counters(&mut self, pos: DevicePos, shared: bool) -> Option<bool> {
        if !self.enabled(Gate::DRAPartitionableDevices) {
            return None;
        }
        let (pool, _, device) = self.device(pos);
        let records_suffice = self.allocator.emulation.behaviour().devices.shares_without_capacity_drawn;
        let has_share = |u: &PoolUse| u.consumed(&device.name).is_some() || records_suffice && u.is_allocated(&device.name);
        let drawn = pool.usage.is_some_and(has_share) || self.allocating_capacity.contains_key(&pos);
        let draws = !(shared && drawn);
        (!draws || self.counters.consume(pool, device)).then_some(draws)
    }

    /// Rejects a device: takes back what is recorded of it where the release does so. Returns false.
    fn reject(&mut self, key: RequestKey, candidate: &Candidate<'a>, pos: DevicePos, recorded: Recorded) -> bool {
        if self.allocator.emulation.behaviour().devices.rejected_devices_taken_back {
            self.take_back(key.claim, candidate.request, pos, recorded);
        }
        false
    }

    /// Takes back what is recorded of a device, apart from capacity; mirrors `rollbackDevice`.
    fn take_back(&mut self, claim: usize, request: Request<'a>, pos: DevicePos, recorded: Recorded) {
        let (pool, _, device) = self.device(pos);
        if recorded.claim
            && let Some(claims) = self.allocating.get_mut(&pos)
        {
            claims.remove(&claim);
        }
        let name = request.constraint_name();
        self.constraints[claim].iter_mut().take(recorded.constraints).for_each(|c| c.remove(name));
        if recorded.counters {
            self.counters.give_back(pool, device);
        }
    }

    /// Deallocates the last device of the claim. As upstream in some releases, a shared device keeps its consumed counters.
    fn deallocate(&mut self, claim: usize, pos: DevicePos) {
        let Some(picked) = self.results[claim].pop() else { return };
        let whole = self.allocator.emulation.behaviour().devices.rejected_devices_taken_back;
        if picked.shared && (whole || !picked.consumed.is_empty()) {
            self.give_back_capacity(pos, &picked.consumed);
            if whole && picked.recorded.was_shared {
                // Empty capacity still marks the device as shared.
                self.allocating_capacity.entry(pos).or_default();
            }
        }
        let mut recorded = picked.recorded;
        if !whole {
            let draws = self.enabled(Gate::DRAPartitionableDevices) && !picked.device.consumes_counters.is_empty();
            recorded = Recorded { counters: draws && !picked.shared, ..recorded };
        }
        self.take_back(claim, picked.request, pos, recorded);
    }

    /// Takes capacity from what the search has allocated of a device, and forgets the device if nothing is left.
    fn give_back_capacity(&mut self, pos: DevicePos, consumed: &Map<Quantity>) {
        let Some(taken) = self.allocating_capacity.get_mut(&pos) else { return };
        for (name, amount) in consumed.iter() {
            let left = taken.get(name).copied().unwrap_or_default() - *amount;
            taken.insert(name.clone(), left);
        }
        if taken.iter().all(|(_, amount)| amount.is_zero()) {
            self.allocating_capacity.remove(&pos);
        }
    }
}
