//! The allocator's state for a whole cycle, and its result for one node; mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/allocator_incubating.go`, the variant
//! that v1.36's default feature gates select.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::allocated::Allocated;
use super::claims::selector_environment;
use super::error::{AllocatorError, PoolError};
use super::matches::Matches;
use super::pools::{DevicePos, Inventory};
use super::request::Request;
use super::result;
use super::search::{Search, Step};
use crate::cel::{CompileError, Selector};
use crate::cluster::resource::{AllocationResult, Device, DeviceClass, DeviceSelector, ResourceClaim, ResourceSlice};
use crate::cluster::{Cluster, Node, Str};
use crate::framework::{CycleState, Reason};
use crate::limits::engine::DEVICE_STEPS_PER_SECOND;
use crate::release::{Emulation, Gate};

/// Steps that count on each node for a device and a request, besides those of the search.
const STEPS_OF_DEVICE: u64 = 30;
const STEPS_OF_REQUEST: u64 = 10;
/// Steps that count for a counter that a device consumes.
const STEPS_OF_COUNTER: u64 = 8;

/// Returns the steps that the devices of a slice count for. They mostly consume alike.
fn steps_of_devices(slice: &ResourceSlice) -> u64 {
    let devices = &slice.spec.devices;
    let counters = |device: &Device| device.consumes_counters.iter().map(|of| of.counters.len() as u64).sum::<u64>();
    devices.len() as u64 * (STEPS_OF_DEVICE + STEPS_OF_COUNTER * devices.first().map_or(0, counters))
}

/// Slices, allocations and classes, shared by all nodes of a cycle.
#[derive(Debug)]
pub(super) struct Allocator {
    pub(super) inventory: Inventory,
    pub(super) allocated: Allocated,
    pub(super) classes: BTreeMap<Str, Arc<DeviceClass>>,
    pub(super) selectors: BTreeMap<Str, Result<Selector, CompileError>>,
    /// Answers of the selectors.
    pub(super) matches: Matches,
    pub(super) emulation: Emulation,
    /// Maximum number of search steps on one node; `None` for no limit.
    pub(super) budget: Option<i64>,
}

/// Why the allocation on a node failed, other than by a lack of devices.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AllocationError {
    /// This node cannot be used; others may be.
    OnNode(Reason),
    /// The search exceeded its step budget.
    TimedOut,
    /// The cycle limits the steps on a node to fewer than the step budget.
    NotDecided(i64),
    /// The claim, a class or a slice is invalid.
    Fatal(Box<AllocatorError>),
}

/// Why a branch of the search ends early.
pub(super) enum Stop {
    /// The claim would have too many devices; another alternative may need fewer.
    TooManyDevices,
    Error(AllocationError),
}

pub(super) fn fatal(error: impl Into<AllocatorError>) -> Stop {
    Stop::Error(error.into().into())
}

impl From<AllocatorError> for AllocationError {
    fn from(error: AllocatorError) -> Self {
        Self::Fatal(Box::new(error))
    }
}

impl From<PoolError> for AllocationError {
    fn from(error: PoolError) -> Self {
        AllocatorError::from(error).into()
    }
}

impl Allocator {
    /// Gathers slices, allocations and the classes and selectors of `claims`; adds `classes`.
    pub(super) fn new<'c>(
        cluster: &Cluster,
        emulation: Emulation,
        seconds: i64,
        claims: impl Iterator<Item = &'c ResourceClaim>,
        classes: impl Iterator<Item = Arc<DeviceClass>>,
    ) -> Self {
        let mut allocator = Self {
            inventory: Inventory::gather(cluster, emulation),
            allocated: Allocated::gather(cluster, emulation.enabled(Gate::DRAConsumableCapacity)),
            classes: BTreeMap::new(),
            selectors: BTreeMap::new(),
            matches: Matches::default(),
            emulation,
            budget: (seconds > 0).then(|| seconds.saturating_mul(DEVICE_STEPS_PER_SECOND)),
        };
        // A pod may name one claim many times.
        let mut known: HashSet<*const ResourceClaim> = HashSet::new();
        for request in claims.filter(|claim| known.insert(std::ptr::from_ref(*claim))).flat_map(Request::of_claim) {
            allocator.compile(request.selectors());
            let class = cluster.device_classes.named(request.class_name());
            if let Some(class) = class.filter(|class| !allocator.classes.contains_key(&class.metadata.name)) {
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
                self.selectors.insert(cel.expression.clone(), Selector::compile(&cel.expression, selector_environment(self.emulation)));
            }
        }
    }

    /// Allocates devices for all claims on one node; `None` if there are not enough.
    pub(super) fn allocate(
        &self,
        node: &Node,
        claims: &[Arc<ResourceClaim>],
        cycle: &CycleState,
    ) -> Result<Option<Vec<AllocationResult>>, AllocationError> {
        let pools = self.inventory.pools(node, self.emulation, &self.allocated)?;
        let devices: u64 = pools.iter().flat_map(|pool| &pool.slices).map(|slice| steps_of_devices(slice)).sum();
        let requests: usize = claims.iter().map(|claim| claim.spec.devices.requests.len()).sum();
        cycle.count_list_steps(devices + requests as u64 * STEPS_OF_REQUEST);
        let mut search = Search::new(self, node, claims, &pools);
        search.limit = cycle.steps_on_node().map(|steps| i64::try_from(steps).unwrap_or(i64::MAX));
        let found = search.prepare().and_then(|()| search.allocate_one(Step::default(), false, DevicePos::default()));
        cycle.spend(u64::try_from(search.steps).unwrap_or_default());
        match found {
            Ok(true) => Ok(Some(result::build(claims, &search.results, node)?)),
            Ok(false) if pools.iter().any(|p| p.invalid) => Err(AllocationError::OnNode(Reason::InvalidResourcePools)),
            Ok(false) => Ok(None),
            Err(Stop::TooManyDevices) => Err(AllocatorError::TooManyDevices.into()),
            Err(Stop::Error(error)) => Err(error),
        }
    }
}
