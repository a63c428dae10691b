//! Preparation of the search: validates claims and counts their devices. Also matches devices with selectors.

use std::sync::Arc;

use super::allocator::{Stop, fatal};
use super::constraint::{Constraint, Distinctness};
use super::error::{AllocatorError, RequestError, SelectorOwner, SelectorProblem};
use super::pools::{DevicePos, Pool, device_matches_node};
use super::request::{Candidate, Request};
use super::search::{MAX_RESULTS, RequestKey, Search};
use super::{binding_conditions_enabled, capacity, selector_environment};
use crate::cel::{Activation, CelError};
use crate::cluster::resource::{Device, DeviceRequest, DeviceSelector, ResourceClaim, ResourceSlice};
use crate::release::Gate;

/// Units of cel-go's cost that take the time of one search step; measured at about 240 ns each.
const COST_PER_STEP: u64 = 1;

impl<'a> Search<'a> {
    /// Validates every claim and counts its devices.
    pub(super) fn prepare(&mut self) -> Result<(), Stop> {
        let release = &self.allocator.emulation.behaviour().devices;
        for (index, claim) in self.claims.iter().enumerate() {
            let mut least = 0i64;
            let mut requests = Vec::with_capacity(claim.spec.devices.requests.len());
            for (request_index, request) in claim.spec.devices.requests.iter().enumerate() {
                self.check_features(claim, request)?;
                let mut alternatives = Vec::new();
                for (alternative, request) in Request::alternatives(request).into_iter().enumerate() {
                    // As upstream in some releases, which devices match is noted for the alternative before.
                    let alternative = if release.alternatives_confused { alternative.saturating_sub(1) } else { alternative };
                    let key = RequestKey { claim: index, request: request_index, alternative };
                    alternatives.push(Arc::new(self.candidate(claim, request, key)?));
                }
                least = least.saturating_add(alternatives.iter().map(|c| c.num_devices).min().unwrap_or(0));
                requests.push(alternatives);
            }
            if least > MAX_RESULTS {
                return Err(fatal(AllocatorError::TooManyRequested { claim: claim.metadata.key(), devices: least }));
            }
            self.candidates.push(requests);
            let constraints = claim.spec.devices.constraints.iter().enumerate().map(|(i, constraint)| {
                let unknown = || fatal(AllocatorError::EmptyConstraint { claim: claim.metadata.key(), constraint: i });
                let known = constraint.match_attribute.is_some() || !self.ignores_capacity();
                Constraint::new(constraint, Distinctness::of(release)).filter(|_| known).ok_or_else(unknown)
            });
            self.constraints.push(constraints.collect::<Result<_, _>>()?);
        }
        Ok(())
    }

    /// Whether the stable allocator runs, which has neither consumable capacity nor its constraints.
    fn ignores_capacity(&self) -> bool {
        let later = [Gate::DRAConsumableCapacity, Gate::DRADeviceBindingConditions, Gate::DRADeviceTaints, Gate::DRAPartitionableDevices];
        self.allocator.emulation.behaviour().devices.has_stable_allocator && !later.into_iter().any(|gate| self.enabled(gate))
    }

    fn check_features(&self, claim: &ResourceClaim, request: &DeviceRequest) -> Result<(), Stop> {
        let key = || claim.metadata.key();
        let fail = |error| fatal(AllocatorError::Request { claim: key(), request: request.name.clone(), error });
        if !self.enabled(Gate::DRAPrioritizedList) && !request.first_available.is_empty() {
            return Err(fail(RequestError::SubrequestsDisabled));
        }
        if self.enabled(Gate::DRAConsumableCapacity) || self.ignores_capacity() {
            return Ok(());
        }
        if request.exactly.as_ref().is_some_and(|e| e.capacity.is_some()) {
            return Err(fail(RequestError::CapacityDisabled));
        }
        match request.first_available.iter().find(|s| s.capacity.is_some()) {
            Some(_) if self.allocator.emulation.behaviour().devices.capacity_of_whole_request => Err(fail(RequestError::CapacityDisabled)),
            Some(sub) => Err(fatal(AllocatorError::SubrequestCapacity { claim: key(), subrequest: sub.name.clone() })),
            None => Ok(()),
        }
    }

    /// Validates a request and counts its devices; mirrors `validateDeviceRequest`.
    fn candidate(&mut self, claim: &ResourceClaim, request: Request<'a>, key: RequestKey) -> Result<Candidate<'a>, Stop> {
        let fail = |error| fatal(AllocatorError::Request { claim: claim.metadata.key(), request: request.name.clone(), error });
        if let Some(i) = request.selectors().iter().position(|s| s.cel.is_none()) {
            return Err(fail(RequestError::EmptySelector(i)));
        }
        if !self.enabled(Gate::DRAAdminAccess) && request.admin_access().is_some() {
            return Err(fail(RequestError::AdminAccessDisabled));
        }
        if request.class_name().is_empty() {
            return Err(fail(RequestError::NoClassName));
        }
        let Some(class) = self.allocator.classes.get(request.class_name()) else {
            return Err(fail(RequestError::ClassNotFound { class: request.class_name().clone() }));
        };
        let mut candidate = Candidate { request, class, num_devices: request.count(), all: Vec::new() };
        match request.mode().as_str() {
            "ExactCount" => {}
            "All" => {
                self.collect_all(&mut candidate, key, &fail)?;
                candidate.num_devices = candidate.all.len() as i64;
            }
            mode => return Err(fail(RequestError::CountMode(mode.into()))),
        }
        Ok(candidate)
    }

    /// Collects the devices for mode `All`. Every pool must be complete and valid.
    fn collect_all(&mut self, candidate: &mut Candidate<'a>, key: RequestKey, fail: &dyn Fn(RequestError) -> Stop) -> Result<(), Stop> {
        let pools = self.pools;
        let mut lacks_capacity = false;
        for (pool, p) in pools.iter().enumerate() {
            let (driver, name) = (&p.id.driver, &p.id.pool);
            if p.incomplete {
                return Err(fail(RequestError::PoolIncomplete { driver: driver.clone(), pool: name.clone() }));
            }
            if p.invalid {
                return Err(fail(RequestError::PoolInvalid { driver: driver.clone(), pool: name.clone() }));
            }
            for (slice, s) in p.slices.iter().enumerate() {
                for device in 0..s.spec.devices.len() {
                    let pos = DevicePos { pool, slice, device };
                    if !self.is_selectable(key, candidate, pos)? {
                        continue;
                    }
                    if self.fits_capacity(candidate.request, pos)? {
                        candidate.all.push(pos);
                    } else {
                        lacks_capacity = true;
                    }
                }
            }
        }
        if lacks_capacity && self.allocator.emulation.behaviour().devices.all_devices_need_capacity {
            // A request for all devices fails where it has none.
            candidate.all.clear();
        }
        Ok(())
    }

    pub(super) fn device(&self, pos: DevicePos) -> (&'a Pool<'a>, &'a ResourceSlice, &'a Device) {
        let pool = &self.pools[pos.pool];
        let slice = pool.slices[pos.slice];
        (pool, slice, &slice.spec.devices[pos.device])
    }

    /// Whether the device matches the selectors of class and request, and can be used on the node.
    pub(super) fn is_selectable(&mut self, key: RequestKey, candidate: &Candidate<'a>, pos: DevicePos) -> Result<bool, Stop> {
        let (pool, slice, device) = self.device(pos);
        if !binding_conditions_enabled(self.allocator.emulation) && !device.binding_conditions.is_empty() {
            return Ok(false);
        }
        if let Some(known) = self.selectable.get(&(pos, key)) {
            return Ok(*known);
        }
        self.spend()?;
        let claim = &self.claims[key.claim];
        let class = candidate.class;
        let of_class = || SelectorOwner::Class(class.metadata.name.clone());
        let of_claim = || SelectorOwner::Claim(claim.metadata.key());
        let activation = Activation::new(&pool.id.driver, device, selector_environment(self.allocator.emulation));
        let mut selectable = self.selectors_match(&class.spec.selectors, pool, &activation, &of_class)?
            && self.selectors_match(candidate.request.selectors(), pool, &activation, &of_claim)?;
        if selectable && slice.spec.per_device_node_selection.unwrap_or(false) {
            selectable = device_matches_node(device, self.node).map_err(fatal)?;
        }
        self.selectable.insert((pos, key), selectable);
        Ok(selectable)
    }

    fn selectors_match(
        &mut self,
        selectors: &[DeviceSelector],
        pool: &Pool<'a>,
        activation: &Activation<'_>,
        owner: &dyn Fn() -> SelectorOwner,
    ) -> Result<bool, Stop> {
        let names_device = self.allocator.emulation.behaviour().devices.selector_errors_name_device;
        for (i, selector) in selectors.iter().enumerate() {
            let fail = |error: SelectorProblem| fatal(AllocatorError::Selector { owner: owner(), selector: i, error });
            let compiled = selector.cel.as_ref().and_then(|cel| self.allocator.selectors.get(&cel.expression));
            let matches = match compiled {
                Some(Ok(selector)) => {
                    let (verdict, cost) = self.allocator.matches.of(selector, activation);
                    // An error ends the search, so that the time before it does not matter.
                    let matches = verdict.map_err(|error| {
                        if !names_device {
                            return fail(CelError::from(error).into());
                        }
                        let (driver, pool, device) = (pool.id.driver.clone(), pool.id.pool.clone(), activation.device().name.clone());
                        fatal(AllocatorError::Evaluation { owner: owner(), selector: i, driver, pool, device, error })
                    })?;
                    self.spend_steps(i64::try_from(cost / COST_PER_STEP).unwrap_or(i64::MAX))?;
                    matches
                }
                Some(Err(error)) => return Err(fail(CelError::from(error.clone()).into())),
                None => return Err(fail(SelectorProblem::Empty)),
            };
            if !matches {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(super) fn fits_capacity(&self, request: Request<'a>, pos: DevicePos) -> Result<bool, Stop> {
        if !self.enabled(Gate::DRAConsumableCapacity) {
            return Ok(true);
        }
        let (pool, _, device) = self.device(pos);
        let consumed = pool.usage.and_then(|u| u.consumed(&device.name));
        let ranges = capacity::Ranges::of(self.allocator.emulation);
        capacity::fits(device, request.capacity(), consumed, self.allocating_capacity.get(&pos), ranges)
            .map_err(|error| fatal(AllocatorError::Capacity(error)))
    }
}
