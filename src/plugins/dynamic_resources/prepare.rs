//! Before the search: every claim is checked and what it needs is counted. Also which device a request selects.

use std::sync::Arc;

use super::allocator::{Stop, fatal};
use super::constraint::Constraint;
use super::pools::{DevicePos, Pool, device_matches_node};
use super::request::{Candidate, Request};
use super::search::{MAX_RESULTS, RequestKey, Search};
use super::{binding_conditions_enabled, capacity};
use crate::cluster::Str;
use crate::cluster::resource::{Device, DeviceRequest, DeviceSelector, ResourceClaim, ResourceSlice};
use crate::release::Gate;

impl<'a> Search<'a> {
    /// Checks every claim and counts what it needs.
    pub(super) fn prepare(&mut self) -> Result<(), Stop> {
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

    fn check_features(&self, claim: &ResourceClaim, request: &DeviceRequest) -> Result<(), Stop> {
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

    pub(super) fn device(&self, pos: DevicePos) -> (&'a Pool<'a>, &'a ResourceSlice, &'a Device) {
        let pool = &self.pools[pos.pool];
        let slice = pool.slices[pos.slice];
        (pool, slice, &slice.spec.devices[pos.device])
    }

    /// Whether the device satisfies the selectors of class and request, and may be used on the node.
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

    pub(super) fn fits_capacity(&self, request: Request<'a>, pos: DevicePos) -> bool {
        let (pool, _, device) = self.device(pos);
        let consumed = pool.usage.and_then(|u| u.consumed(&device.name));
        !self.enabled(Gate::DRAConsumableCapacity)
            || capacity::fits(device, request.capacity(), consumed, self.allocating_capacity.get(&pos))
    }
}
