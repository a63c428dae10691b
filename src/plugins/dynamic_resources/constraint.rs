//! Constraints over the devices of a claim; mirrors `constraint.go` and `matchAttributeConstraint` in
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating`.

use std::collections::BTreeMap;

use super::allocated::PoolId;
use crate::cluster::Str;
use crate::cluster::resource::{Device, DeviceAttribute, DeviceConstraint};
use crate::release::DeviceBehaviour;

/// A constraint and the devices added so far.
#[derive(Debug)]
pub(super) struct Constraint<'a> {
    /// Requests it applies to, as `request` or `request/subrequest`; all if empty.
    requests: &'a [Str],
    attribute: &'a Str,
    kind: Kind<'a>,
    devices: usize,
}

#[derive(Debug)]
enum Kind<'a> {
    /// All devices have this value; `None` before the first device.
    Match(Option<&'a DeviceAttribute>),
    /// The value of the last added device, by request. As upstream in some releases, only one value per request is kept.
    /// `by_identity`: only the attribute of one device equals itself.
    Distinct { seen: BTreeMap<&'a Str, &'a DeviceAttribute>, by_identity: bool },
    /// The values of all devices, in the order in which they were added.
    AllDistinct(Vec<&'a DeviceAttribute>),
}

/// How a release compares the values of a `distinctAttribute`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Distinctness {
    /// Equal values count as distinct.
    ByIdentity,
    /// With the value of the last device of each request.
    OfRequests,
    /// With the values of all devices.
    OfDevices,
}

impl Distinctness {
    /// Returns how the release compares.
    pub(super) fn of(release: &DeviceBehaviour) -> Self {
        match release {
            DeviceBehaviour { distinct_of_each_device: true, .. } => Self::OfDevices,
            DeviceBehaviour { all_values_distinct: true, .. } => Self::ByIdentity,
            _ => Self::OfRequests,
        }
    }
}

/// The request a device is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestName<'a> {
    pub(super) base: &'a Str,
    pub(super) sub: Option<&'a Str>,
}

impl<'a> Constraint<'a> {
    /// Makes a constraint; `None` for an unknown kind.
    pub(super) fn new(constraint: &'a DeviceConstraint, distinctness: Distinctness) -> Option<Self> {
        let (attribute, kind) = match (&constraint.match_attribute, &constraint.distinct_attribute) {
            (Some(name), _) => (name, Kind::Match(None)),
            (None, Some(name)) if distinctness == Distinctness::OfDevices => (name, Kind::AllDistinct(Vec::new())),
            (None, Some(name)) => (name, Kind::Distinct { seen: BTreeMap::new(), by_identity: distinctness == Distinctness::ByIdentity }),
            (None, None) => return None,
        };
        Some(Self { requests: &constraint.requests, attribute, kind, devices: 0 })
    }

    fn applies_to(&self, request: RequestName<'_>) -> bool {
        let full = |name: &Str| match request.sub {
            Some(sub) => name.strip_prefix(request.base.as_str()).and_then(|rest| rest.strip_prefix('/')) == Some(sub.as_str()),
            None => false,
        };
        self.requests.is_empty() || self.requests.iter().any(|name| name == request.base || full(name))
    }

    /// Adds a device if the constraint still holds with it.
    pub(super) fn add(&mut self, request: RequestName<'a>, pool: &PoolId, device: &'a Device) -> bool {
        if !self.applies_to(request) {
            return true;
        }
        let Some(attribute) = lookup(device, &pool.driver, self.attribute) else { return false };
        match &mut self.kind {
            Kind::Match(first) if self.devices == 0 => *first = Some(attribute),
            Kind::Match(first) => {
                if !first.is_some_and(|first| same_value(attribute, first)) {
                    return false;
                }
            }
            Kind::Distinct { seen, by_identity } => {
                let equal =
                    |other: &DeviceAttribute| if *by_identity { std::ptr::eq(attribute, other) } else { same_value(attribute, other) };
                // Without a value left to compare with, an attribute of unknown type passes.
                if self.devices > 0 && seen.values().any(|other| !has_value(attribute) || equal(other)) {
                    return false;
                }
                seen.insert(request.base, attribute);
            }
            Kind::AllDistinct(seen) => {
                if !seen.is_empty() && (!has_value(attribute) || seen.iter().any(|other| same_value(attribute, other))) {
                    return false;
                }
                seen.push(attribute);
            }
        }
        self.devices += 1;
        true
    }

    /// Removes a device that was added for the request.
    pub(super) fn remove(&mut self, request: RequestName<'a>) {
        if !self.applies_to(request) {
            return;
        }
        match &mut self.kind {
            Kind::Match(_) => {}
            Kind::Distinct { seen, .. } => drop(seen.remove(request.base)),
            Kind::AllDistinct(seen) => drop(seen.pop()),
        }
        self.devices = self.devices.saturating_sub(1);
    }
}

/// Returns an attribute by its full name; a name without a domain belongs to the driver's.
fn lookup<'a>(device: &'a Device, driver: &str, name: &str) -> Option<&'a DeviceAttribute> {
    device.attributes.get(name).or_else(|| match name.split_once('/') {
        Some((domain, id)) if domain == driver => device.attributes.get(id),
        _ => None,
    })
}

fn has_value(a: &DeviceAttribute) -> bool {
    a.string.is_some() || a.int.is_some() || a.bool.is_some() || a.version.is_some()
}

fn same_value(a: &DeviceAttribute, b: &DeviceAttribute) -> bool {
    match a {
        DeviceAttribute { string: Some(_), .. } => a.string == b.string,
        DeviceAttribute { int: Some(_), .. } => a.int == b.int,
        DeviceAttribute { bool: Some(_), .. } => a.bool == b.bool,
        DeviceAttribute { version: Some(_), .. } => a.version == b.version,
        _ => false,
    }
}
