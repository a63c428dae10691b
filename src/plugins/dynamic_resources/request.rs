//! Requests as the allocator works with them: whole requests and the alternatives of a prioritized list alike.

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
    /// The request that lists this alternative.
    pub(super) parent: Option<&'a Str>,
    pub(super) spec: Spec<'a>,
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spec<'a> {
    Exact(&'a ExactDeviceRequest),
    Sub(&'a DeviceSubRequest),
}

/// A request with what one node has for it.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) request: Request<'a>,
    pub(super) class: &'a Arc<DeviceClass>,
    /// How many devices are needed.
    pub(super) num_devices: i64,
    /// For mode `All`: which.
    pub(super) all: Vec<DevicePos>,
}

impl<'a> Request<'a> {
    /// The alternatives of a request: itself, or those of its list. Empty for a kind of request that is not known.
    pub(super) fn alternatives(request: &'a DeviceRequest) -> Vec<Self> {
        if request.first_available.is_empty() {
            let exact = request.exactly.as_ref();
            return exact.map(|e| Self { name: &request.name, parent: None, spec: Spec::Exact(e) }).into_iter().collect();
        }
        let sub = |sub: &'a DeviceSubRequest| Self { name: &sub.name, parent: Some(&request.name), spec: Spec::Sub(sub) };
        request.first_available.iter().map(sub).collect()
    }

    /// All requests of a claim with all their alternatives, in order.
    pub(super) fn of_claim(claim: &'a ResourceClaim) -> impl Iterator<Item = Self> {
        claim.spec.devices.requests.iter().flat_map(Self::alternatives)
    }

    /// The name as results and messages give it: `request` or `request/alternative`.
    pub(super) fn full_name(&self) -> Str {
        match self.parent {
            Some(parent) => format!("{parent}/{}", self.name).into(),
            None => self.name.clone(),
        }
    }

    /// The name as constraints see it.
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

    /// `adminAccess` as written; alternatives cannot have it.
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
