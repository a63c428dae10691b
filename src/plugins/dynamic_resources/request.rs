//! Requests of the allocator: a whole request or one alternative of a prioritized list.

use std::sync::Arc;

use super::constraint::RequestName;
use super::pools::DevicePos;
use crate::cluster::resource::{
    CapacityRequirements, DeviceClass, DeviceRequest, DeviceSelector, DeviceSubRequest, ExactDeviceRequest, ResourceClaim,
};
use crate::cluster::{Str, Toleration};

/// A request, or one alternative of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request<'a> {
    pub(super) name: &'a Str,
    /// The request that contains this alternative.
    pub(super) parent: Option<&'a Str>,
    pub(super) spec: Spec<'a>,
}

/// The requested devices.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spec<'a> {
    Exact(&'a ExactDeviceRequest),
    Sub(&'a DeviceSubRequest),
}

/// A request with its devices on one node.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) request: Request<'a>,
    pub(super) class: &'a Arc<DeviceClass>,
    /// The number of devices to allocate.
    pub(super) num_devices: i64,
    /// For mode `All`: the devices.
    pub(super) all: Vec<DevicePos>,
}

impl<'a> Request<'a> {
    /// Returns the alternatives of a request: itself, or those of its list. Empty for an unknown kind of request.
    pub(super) fn alternatives(request: &'a DeviceRequest) -> Vec<Self> {
        if request.first_available.is_empty() {
            let exact = request.exactly.as_ref();
            return exact.map(|e| Self { name: &request.name, parent: None, spec: Spec::Exact(e) }).into_iter().collect();
        }
        let sub = |sub: &'a DeviceSubRequest| Self { name: &sub.name, parent: Some(&request.name), spec: Spec::Sub(sub) };
        request.first_available.iter().map(sub).collect()
    }

    /// Returns all requests of a claim with all their alternatives, in order.
    pub(super) fn of_claim(claim: &'a ResourceClaim) -> impl Iterator<Item = Self> {
        claim.spec.devices.requests.iter().flat_map(Self::alternatives)
    }

    /// Returns the name in results and messages: `request` or `request/alternative`.
    pub(super) fn full_name(&self) -> Str {
        match self.parent {
            Some(parent) => format!("{parent}/{}", self.name).into(),
            None => self.name.clone(),
        }
    }

    /// Returns the name for matching constraints.
    pub(super) fn constraint_name(&self) -> RequestName<'a> {
        match self.parent {
            Some(parent) => RequestName { base: parent, sub: Some(self.name) },
            None => RequestName { base: self.name, sub: None },
        }
    }

    pub(super) fn class_name(&self) -> &'a Str {
        match self.spec {
            Spec::Exact(e) => &e.device_class_name,
            Spec::Sub(s) => &s.device_class_name,
        }
    }

    pub(super) fn selectors(&self) -> &'a [DeviceSelector] {
        match self.spec {
            Spec::Exact(e) => &e.selectors,
            Spec::Sub(s) => &s.selectors,
        }
    }

    pub(super) fn mode(&self) -> &'a Str {
        match self.spec {
            Spec::Exact(e) => &e.allocation_mode,
            Spec::Sub(s) => &s.allocation_mode,
        }
    }

    pub(super) fn wants_all(&self) -> bool {
        self.mode() == "All"
    }

    pub(super) fn count(&self) -> i64 {
        match self.spec {
            Spec::Exact(e) => e.count,
            Spec::Sub(s) => s.count,
        }
    }

    /// Returns `adminAccess` as written; alternatives cannot have it.
    pub(super) fn admin_access(&self) -> Option<bool> {
        match self.spec {
            Spec::Exact(e) => e.admin_access,
            Spec::Sub(_) => None,
        }
    }

    pub(super) fn is_admin(&self) -> bool {
        self.admin_access().unwrap_or(false)
    }

    pub(super) fn tolerations(&self) -> &'a [Toleration] {
        match self.spec {
            Spec::Exact(e) => &e.tolerations,
            Spec::Sub(s) => &s.tolerations,
        }
    }

    pub(super) fn capacity(&self) -> Option<&'a CapacityRequirements> {
        match self.spec {
            Spec::Exact(e) => e.capacity.as_ref(),
            Spec::Sub(s) => s.capacity.as_ref(),
        }
    }
}
