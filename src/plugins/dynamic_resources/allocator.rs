//! The search for devices; mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`, the variant
//! that v1.36's default feature gates select.
//!
//! Claims, their requests and the devices of a request are settled one after the other, each with the first device that
//! does; where that leads nowhere the search goes back and takes the next. Within a request devices are only tried in
//! rising order. Upstream's slips are kept: see [`Search::allocate_device`].

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::allocated::{Allocated, add_capacity};
use super::cel::Selector;
use super::constraint::Constraint;
use super::counters::Counters;
use super::pools::{DevicePos, Inventory, Pool, device_matches_node};
use super::request::{Candidate, Request};
use super::{capacity, result, taints};
use crate::cluster::resource::{AllocationResult, Device, DeviceClass, DeviceSelector, ResourceClaim, ResourceSlice};
use crate::cluster::{Cluster, Map, Node, Quantity, Str};
use crate::framework::{FeatureGates, Gate};

/// Most devices that one claim can hold; `AllocationResultsMaxSize` in `staging/src/k8s.io/api/resource/v1/types.go`.
const MAX_RESULTS: i64 = 32;
/// Steps that stand for one second of `filterTimeout`.
const STEPS_PER_SECOND: i64 = 500_000;
/// How deep the search may go; beyond what 64 claims with 32 devices each need in practice, and safe for a thread's stack.
const MAX_DEPTH: usize = 1_500;

/// Everything about devices that holds for all nodes of a cycle.
#[derive(Debug)]
pub(super) struct Allocator {
    inventory: Inventory,
    allocated: Allocated,
    classes: BTreeMap<Str, Arc<DeviceClass>>,
    selectors: BTreeMap<Str, Result<Selector, String>>,
    gates: FeatureGates,
    /// Steps that the search on one node may take.
    budget: Option<i64>,
}

/// Why no devices were found on a node, other than that there are none.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AllocationError {
    /// This node is no use, others may be.
    OnNode(String),
    /// The search took too long.
    TimedOut,
    /// The claim, a class or a slice cannot be worked with.
    Fatal(String),
}

/// What ends a branch of the search early.
enum Stop {
    /// The claim would hold too many devices; another alternative may need fewer.
    TooManyDevices,
    Error(AllocationError),
}

fn fatal(message: String) -> Stop {
    Stop::Error(AllocationError::Fatal(message))
}

impl Allocator {
    /// Gathers slices, allocations and what the requests of `claims` refer to; `classes` are looked up besides.
    pub(super) fn new<'c>(
        cluster: &Cluster,
        gates: FeatureGates,
        seconds: i64,
        claims: impl Iterator<Item = &'c ResourceClaim>,
        classes: impl Iterator<Item = Arc<DeviceClass>>,
    ) -> Self {
        let mut allocator = Self {
            inventory: Inventory::gather(cluster),
            allocated: Allocated::gather(cluster, gates.enabled(Gate::DRAConsumableCapacity)),
            classes: BTreeMap::new(),
            selectors: BTreeMap::new(),
            gates,
            budget: (seconds > 0).then(|| seconds.saturating_mul(STEPS_PER_SECOND)),
        };
        for request in claims.flat_map(Request::of_claim) {
            allocator.compile(request.selectors());
            if let Some(class) = cluster.device_classes.named(request.class_name()) {
                allocator.add_class(class.clone());
            }
        }
        classes.for_each(|class| allocator.add_class(class));
        allocator
    }

    fn add_class(&mut self, class: Arc<DeviceClass>) {
        self.compile(&class.spec.selectors);
        self.classes.insert(class.metadata.name.clone(), class);
    }

    fn compile(&mut self, selectors: &[DeviceSelector]) {
        for cel in selectors.iter().filter_map(|s| s.cel.as_ref()) {
            if !self.selectors.contains_key(&cel.expression) {
                self.selectors.insert(cel.expression.clone(), Selector::compile(&cel.expression));
            }
        }
    }

    /// Devices for all claims on one node, or `None` where there are not enough.
    pub(super) fn allocate(&self, node: &Node, claims: &[Arc<ResourceClaim>]) -> Result<Option<Vec<AllocationResult>>, AllocationError> {
        let pools = self
            .inventory
            .pools(node, self.gates, &self.allocated)
            .map_err(|e| AllocationError::Fatal(format!("gather pool information: {e}")))?;
        let mut search = Search::new(self, node, claims, &pools);
        let found = search.prepare().and_then(|()| search.allocate_one(Step::default(), false, DevicePos::default()));
        match found {
            Ok(true) => result::build(claims, &search.results, node).map(Some).map_err(AllocationError::Fatal),
            Ok(false) if pools.iter().any(|p| p.invalid) => {
                Err(AllocationError::OnNode("invalid resource pools were encountered".to_owned()))
            }
            Ok(false) => Ok(None),
            Err(Stop::TooManyDevices) => Err(AllocationError::Fatal("allocation max size exceeded".to_owned())),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}

/// A request or alternative by index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct RequestKey {
    claim: usize,
    request: usize,
    alternative: usize,
}

/// Which device of which request comes next.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    key: RequestKey,
    device: i64,
}

/// A device the search has settled on.
#[derive(Debug)]
pub(super) struct Picked<'a> {
    pub(super) request: Request<'a>,
    pub(super) pool: &'a Pool<'a>,
    pub(super) slice: &'a ResourceSlice,
    pub(super) device: &'a Device,
    /// Whether other claims may use the device too.
    pub(super) shared: bool,
    pub(super) consumed: Map<Quantity>,
}

/// The search on one node.
struct Search<'a> {
    allocator: &'a Allocator,
    node: &'a Node,
    claims: &'a [Arc<ResourceClaim>],
    pools: &'a [Pool<'a>],
    /// By claim, request and alternative.
    candidates: Vec<Vec<Vec<Arc<Candidate<'a>>>>>,
    constraints: Vec<Vec<Constraint<'a>>>,
    selectable: HashMap<(DevicePos, RequestKey), bool>,
    counters: Counters,
    /// Which claims the search gives a device to.
    allocating: HashMap<DevicePos, BTreeSet<usize>>,
    allocating_capacity: HashMap<DevicePos, Map<Quantity>>,
    results: Vec<Vec<Picked<'a>>>,
    steps: i64,
    depth: usize,
}

impl<'a> Search<'a> {
    fn new(allocator: &'a Allocator, node: &'a Node, claims: &'a [Arc<ResourceClaim>], pools: &'a [Pool<'a>]) -> Self {
        Self {
            allocator,
            node,
            claims,
            pools,
            candidates: Vec::with_capacity(claims.len()),
            constraints: Vec::with_capacity(claims.len()),
            selectable: HashMap::new(),
            counters: Counters::default(),
            allocating: HashMap::new(),
            allocating_capacity: HashMap::new(),
            results: claims.iter().map(|_| Vec::new()).collect(),
            steps: 0,
            depth: 0,
        }
    }

    fn enabled(&self, gate: Gate) -> bool {
        self.allocator.gates.enabled(gate)
    }

    fn spend(&mut self) -> Result<(), Stop> {
        self.steps += 1;
        match self.allocator.budget {
            Some(budget) if self.steps > budget => Err(Stop::Error(AllocationError::TimedOut)),
            _ => Ok(()),
        }
    }

    /// Checks every claim and counts what it needs.
    fn prepare(&mut self) -> Result<(), Stop> {
        for (index, claim) in self.claims.iter().enumerate() {
            let mut least = 0i64;
            let mut requests = Vec::with_capacity(claim.spec.devices.requests.len());
            for (request_index, request) in claim.spec.devices.requests.iter().enumerate() {
                self.check_features(claim, request)?;
                let mut alternatives = Vec::new();
                for (alternative, request) in Request::alternatives(request).into_iter().enumerate() {
                    let key = RequestKey { claim: index, request: request_index, alternative };
                    alternatives.push(Arc::new(self.candidate(claim, request, key)?));
                }
                least = least.saturating_add(alternatives.iter().map(|c| c.num_devices).min().unwrap_or(0));
                requests.push(alternatives);
            }
            if least > MAX_RESULTS {
                let key = claim.metadata.key();
                return Err(fatal(format!("claim {key}: number of requested devices {least} exceeds the claim limit of {MAX_RESULTS}")));
            }
            self.candidates.push(requests);
            let constraints = claim.spec.devices.constraints.iter().enumerate().map(|(i, constraint)| {
                let unknown =
                    || fatal(format!("claim {}, constraint #{i}: empty constraint (unsupported constraint type?)", claim.metadata.key()));
                Constraint::new(constraint).ok_or_else(unknown)
            });
            self.constraints.push(constraints.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    fn check_features(&self, claim: &ResourceClaim, request: &crate::cluster::resource::DeviceRequest) -> Result<(), Stop> {
        let key = claim.metadata.key();
        if !self.enabled(Gate::DRAPrioritizedList) && !request.first_available.is_empty() {
            return Err(fatal(format!(
                "claim {key}, request {}: has subrequests, but the DRAPrioritizedList feature is disabled",
                request.name
            )));
        }
        if self.enabled(Gate::DRAConsumableCapacity) {
            return Ok(());
        }
        let disabled = "has capacity requests, but the DRAConsumableCapacity feature is disabled";
        if request.exactly.as_ref().is_some_and(|e| e.capacity.is_some()) {
            return Err(fatal(format!("claim {key}, request {}: {disabled}", request.name)));
        }
        match request.first_available.iter().find(|s| s.capacity.is_some()) {
            Some(sub) => Err(fatal(format!("claim {key}, subrequest {}: {disabled}", sub.name))),
            None => Ok(()),
        }
    }

    /// Mirrors `validateDeviceRequest`.
    fn candidate(&mut self, claim: &ResourceClaim, request: Request<'a>, key: RequestKey) -> Result<Candidate<'a>, Stop> {
        let fail = |what: String| fatal(format!("claim {}, request {}{what}", claim.metadata.key(), request.name));
        if let Some(i) = request.selectors().iter().position(|s| s.cel.is_none()) {
            return Err(fail(format!(", selector #{i}: CEL expression empty (unsupported selector type?)")));
        }
        if !self.enabled(Gate::DRAAdminAccess) && request.admin_access().is_some() {
            return Err(fail(": admin access is requested, but the feature is disabled".to_owned()));
        }
        if request.class_name().is_empty() {
            return Err(fail(": missing device class name (unsupported request type?)".to_owned()));
        }
        let Some(class) = self.allocator.classes.get(request.class_name()) else {
            let name = request.class_name();
            return Err(fail(format!(
                ": could not retrieve device class {name}: deviceclass.resource.k8s.io {:?} not found",
                name.as_str()
            )));
        };
        let mut candidate = Candidate { request, class, num_devices: request.count(), all: Vec::new() };
        match request.mode().as_str() {
            "ExactCount" => {}
            "All" => {
                self.collect_all(&mut candidate, key, &fail)?;
                candidate.num_devices = candidate.all.len() as i64;
            }
            mode => return Err(fail(format!(": unsupported count mode {mode}"))),
        }
        Ok(candidate)
    }

    /// Finds out how many "all" are. That needs every pool to be complete and valid.
    fn collect_all(&mut self, candidate: &mut Candidate<'a>, key: RequestKey, fail: &dyn Fn(String) -> Stop) -> Result<(), Stop> {
        let pools = self.pools;
        for (pool, p) in pools.iter().enumerate() {
            let name = format!("{}/{}", p.id.driver, p.id.pool);
            if p.incomplete {
                return Err(fail(format!(": asks for all devices, but resource pool {name} is currently being updated")));
            }
            if p.invalid {
                return Err(fail(format!(": asks for all devices, but resource pool {name} is currently invalid")));
            }
            for (slice, s) in p.slices.iter().enumerate() {
                for device in 0..s.spec.devices.len() {
                    let pos = DevicePos { pool, slice, device };
                    if self.is_selectable(key, candidate, pos)? && self.fits_capacity(candidate.request, pos) {
                        candidate.all.push(pos);
                    }
                }
            }
        }
        Ok(())
    }

    fn device(&self, pos: DevicePos) -> (&'a Pool<'a>, &'a ResourceSlice, &'a Device) {
        let pool = &self.pools[pos.pool];
        let slice = pool.slices[pos.slice];
        (pool, slice, &slice.spec.devices[pos.device])
    }

    /// Whether the device satisfies the selectors of class and request, and may be used on the node.
    fn is_selectable(&mut self, key: RequestKey, candidate: &Candidate<'a>, pos: DevicePos) -> Result<bool, Stop> {
        let (pool, slice, device) = self.device(pos);
        if !self.binding_conditions_enabled() && !device.binding_conditions.is_empty() {
            return Ok(false);
        }
        if let Some(known) = self.selectable.get(&(pos, key)) {
            return Ok(*known);
        }
        self.spend()?;
        let claim = &self.claims[key.claim];
        let class = candidate.class;
        let of_class = || format!("class {}", class.metadata.name);
        let of_claim = || format!("claim {}", claim.metadata.key());
        let mut selectable = self.selectors_match(&class.spec.selectors, &pool.id.driver, device, &of_class)?
            && self.selectors_match(candidate.request.selectors(), &pool.id.driver, device, &of_claim)?;
        if selectable && slice.spec.per_device_node_selection.unwrap_or(false) {
            selectable = device_matches_node(device, self.node).map_err(fatal)?;
        }
        self.selectable.insert((pos, key), selectable);
        Ok(selectable)
    }

    fn binding_conditions_enabled(&self) -> bool {
        self.enabled(Gate::DRADeviceBindingConditions) && self.enabled(Gate::DRAResourceClaimDeviceStatus)
    }

    fn selectors_match(
        &self,
        selectors: &[DeviceSelector],
        driver: &Str,
        device: &Device,
        owner: &dyn Fn() -> String,
    ) -> Result<bool, Stop> {
        for (i, selector) in selectors.iter().enumerate() {
            let fail = |what: &str| fatal(format!("{}: selector #{i}: {what}", owner()));
            let compiled = selector.cel.as_ref().and_then(|cel| self.allocator.selectors.get(&cel.expression));
            let matches = match compiled {
                Some(Ok(selector)) => selector.matches(driver, device).map_err(|e| fail(&format!("CEL runtime error: {e}")))?,
                Some(Err(error)) => return Err(fail(&format!("CEL compile error: {error}"))),
                None => return Err(fail("CEL expression empty (unsupported selector type?)")),
            };
            if !matches {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn fits_capacity(&self, request: Request<'a>, pos: DevicePos) -> bool {
        let (pool, _, device) = self.device(pos);
        let consumed = pool.usage.and_then(|u| u.consumed(&device.name));
        !self.enabled(Gate::DRAConsumableCapacity)
            || capacity::fits(device, request.capacity(), consumed, self.allocating_capacity.get(&pos))
    }

    /// Settles one device and everything after it. `in_alternative` tells that the alternative is chosen already;
    /// devices before `start` are left out.
    fn allocate_one(&mut self, step: Step, in_alternative: bool, start: DevicePos) -> Result<bool, Stop> {
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
                // Another choice in an earlier claim may let a later one get by with fewer devices.
                Err(Stop::TooManyDevices) => Ok(false),
                done => done,
            };
        };
        let Some(candidate) = alternatives.get(alternative).cloned() else {
            return Err(fatal(format!("claim {}: request #{request} asks for nothing", self.claims[claim].metadata.key())));
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

    /// The first alternative with which everything else works out.
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

    /// The first device, from `start` on, with which everything else works out.
    fn search_devices(&mut self, step: Step, in_alternative: bool, candidate: &Arc<Candidate<'a>>, start: DevicePos) -> Result<bool, Stop> {
        let pools = self.pools;
        let admin = candidate.request.is_admin();
        for (pool, p) in pools.iter().enumerate().skip(start.pool).filter(|(_, p)| !p.incomplete && !p.invalid) {
            let first_slice = if pool == start.pool { start.slice } else { 0 };
            for (slice, s) in p.slices.iter().enumerate().skip(first_slice) {
                let first_device = if (pool, slice) == (start.pool, start.slice) { start.device } else { 0 };
                for device in first_device..s.spec.devices.len() {
                    let pos = DevicePos { pool, slice, device };
                    self.spend()?;
                    let in_use = if admin { self.given_to(pos, step.key.claim) } else { self.in_use(pos) };
                    if in_use || !self.is_selectable(step.key, candidate, pos)? || !self.fits_capacity(candidate.request, pos) {
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

    /// Takes the device and goes on; gives it back where that fails.
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
        let done = self.allocate_one(Step { device: step.device + 1, ..step }, in_alternative, start);
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

    /// Takes a selectable device if it is free and everything about it holds. `must` makes a violated constraint an
    /// error: whoever asks for all devices gives up without this one.
    ///
    /// As upstream, a device that turns out too small only after its constraints were recorded leaves them recorded.
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
        if !device.consumes_counters.is_empty() {
            if !self.enabled(Gate::DRAPartitionableDevices) {
                return Ok(false);
            }
            // The first share of a device has drawn its counters.
            let drawn = pool.usage.is_some_and(|u| u.consumed(&device.name).is_some()) || self.allocating_capacity.contains_key(&pos);
            if !(shared && drawn) && !self.counters.consume(pool, device) {
                return Ok(false);
            }
        }
        if self.enabled(Gate::DRADeviceTaints) && taints::prevents_allocation(device, request.tolerations()) {
            return Ok(false);
        }
        let name = request.constraint_name();
        let constraints = &mut self.constraints[key.claim];
        if let Some(violated) = constraints.iter_mut().position(|c| !c.add(name, &pool.id, device)) {
            if must {
                return Err(fatal(format!(
                    "claim {}, request {}: cannot add device {}/{}/{} because a claim constraint would not be satisfied",
                    self.claims[key.claim].metadata.key(),
                    request.name,
                    pool.id.driver,
                    pool.id.pool,
                    device.name
                )));
            }
            constraints[..violated].iter_mut().for_each(|c| c.remove(name));
            return Ok(false);
        }
        let claims = self.allocating.entry(pos).or_default();
        if !shared {
            claims.insert(key.claim);
        }
        if !self.fits_capacity(request, pos) {
            return Ok(false);
        }
        let consumed = if shared { capacity::consumed_by(device, request.capacity()) } else { Map::default() };
        if shared {
            add_capacity(self.allocating_capacity.entry(pos).or_default(), &consumed);
        }
        self.results[key.claim].push(Picked { request, pool, slice, device, shared, consumed });
        Ok(true)
    }

    /// Gives back the device taken last for the claim. As upstream, a shared device keeps the counters it drew.
    fn deallocate(&mut self, claim: usize, pos: DevicePos) {
        let Some(picked) = self.results[claim].pop() else { return };
        let name = picked.request.constraint_name();
        self.constraints[claim].iter_mut().for_each(|c| c.remove(name));
        if let Some(claims) = self.allocating.get_mut(&pos) {
            claims.remove(&claim);
        }
        if !picked.shared {
            if self.enabled(Gate::DRAPartitionableDevices) && !picked.device.consumes_counters.is_empty() {
                self.counters.give_back(picked.pool, picked.device);
            }
        } else if !picked.consumed.is_empty()
            && let Some(taken) = self.allocating_capacity.get_mut(&pos)
        {
            for (name, amount) in picked.consumed.iter() {
                let left = taken.get(name).copied().unwrap_or_default() - *amount;
                taken.insert(name.clone(), left);
            }
            if taken.iter().all(|(_, amount)| amount.is_zero()) {
                self.allocating_capacity.remove(&pos);
            }
        }
    }
}
