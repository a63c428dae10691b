//! Devices shared by capacity; mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go`.

use crate::cluster::resource::{CapacityRequestPolicy, CapacityRequestPolicyRange, CapacityRequirements, Device, DeviceCapacity};
use crate::cluster::{Map, Quantity, Str};
use crate::release::{Emulation, Gate};

/// Whether the device has capacity for the request in addition to allocated capacity and that of this search. A request
/// for a capacity that the device does not have never fits. Fails for an amount that later releases refuse.
pub(super) fn fits(
    device: &Device,
    request: Option<&CapacityRequirements>,
    consumed: Option<&Map<Quantity>>,
    taken: Option<&Map<Quantity>>,
    ranges: Ranges,
) -> Result<bool, CapacityError> {
    Ok(shortage(device, request, consumed, taken, ranges)?.is_none())
}

/// Why a request for capacity ends the search, in kube-scheduler's words.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("capacity {:?}: {problem}", name.as_str())]
pub(super) struct CapacityError {
    pub(super) name: Str,
    pub(super) requested: Quantity,
    problem: CapacityProblem,
}

#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
enum CapacityProblem {
    #[error("capacity value is negative")]
    Negative,
    #[error("{NOT_REPRESENTABLE}: request {0} is not a representable milli value")]
    NotMilli(Quantity),
    #[error("{NOT_REPRESENTABLE}: rounding request {0} up to the next step passes the milli-value range")]
    PassesMilli(Quantity),
    #[error("{NOT_REPRESENTABLE}: request {0} exceeds MaxInt64")]
    ExceedsInt64(Quantity),
    #[error("{NOT_REPRESENTABLE}: rounding request {0} up to the next step passes MaxInt64")]
    PassesInt64(Quantity),
}

const NOT_REPRESENTABLE: &str = "capacity request cannot be represented in the device's range arithmetic";

/// A capacity that the device cannot give.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shortage {
    pub(super) name: Str,
    /// The amount with the policy's rounding.
    pub(super) requested: Quantity,
    /// `None` if the device lacks the capacity altogether.
    pub(super) free: Option<Quantity>,
    pub(super) against_policy: bool,
}

/// Returns the first capacity that keeps the device from the request; see [`fits`]. Where amounts are checked, that comes before
/// any comparison.
pub(super) fn shortage(
    device: &Device,
    request: Option<&CapacityRequirements>,
    consumed: Option<&Map<Quantity>>,
    taken: Option<&Map<Quantity>>,
    ranges: Ranges,
) -> Result<Option<Shortage>, CapacityError> {
    if let Some((name, amount)) = request.and_then(|r| r.requests.iter().find(|(name, _)| !device.capacity.contains_key(name))) {
        return Ok(Some(Shortage { name: name.clone(), requested: *amount, free: None, against_policy: false }));
    }
    let of_request = |name: &Str| request.and_then(|r| r.requests.get(name)).copied();
    if ranges.checked {
        for (name, capacity) in device.capacity.iter() {
            let amount = consumption(of_request(name), capacity, ranges);
            let requested = amount.unwrap_or_else(|_| of_request(name).unwrap_or_default());
            let negative = amount.is_ok() && requested < Quantity::default();
            if let Some(problem) = amount.err().or(negative.then_some(CapacityProblem::Negative)) {
                return Err(CapacityError { name: name.clone(), requested, problem });
            }
        }
    }
    Ok(device.capacity.iter().find_map(|(name, capacity)| {
        let requested = amount_of(of_request(name), capacity, ranges);
        let of = |map: Option<&Map<Quantity>>| map.and_then(|m| m.get(name)).copied().unwrap_or_default();
        let against_policy = violates(requested, capacity.request_policy.as_ref(), ranges);
        let used = of(consumed) + of(taken);
        let is_short = against_policy || requested + used > capacity.value;
        is_short.then(|| Shortage { name: name.clone(), requested, free: Some(capacity.value - used), against_policy })
    }))
}

/// Returns the amount that the request consumes of each capacity of the device.
pub(super) fn consumed_by(device: &Device, request: Option<&CapacityRequirements>, ranges: Ranges) -> Map<Quantity> {
    let of_request = |name: &Str| request.and_then(|r| r.requests.get(name)).copied();
    device.capacity.iter().map(|(name, capacity)| (name.clone(), amount_of(of_request(name), capacity, ranges))).collect()
}

/// Returns the amount that a request consumes, or what it asks for where that cannot be counted.
fn amount_of(requested: Option<Quantity>, capacity: &DeviceCapacity, ranges: Ranges) -> Quantity {
    consumption(requested, capacity, ranges).unwrap_or_else(|_| requested.unwrap_or_default())
}

/// Returns the requested amount, rounded up by the policy; without a request the default, or the whole capacity.
fn consumption(requested: Option<Quantity>, capacity: &DeviceCapacity, ranges: Ranges) -> Result<Quantity, CapacityProblem> {
    let policy = capacity.request_policy.as_ref();
    let Some(requested) = requested else {
        return Ok(policy.and_then(|p| p.default).unwrap_or(capacity.value));
    };
    let Some(policy) = policy else { return Ok(requested) };
    match &policy.valid_range {
        Some(range) if range.min.is_some() => round_up(requested, range, ranges),
        _ => Ok(policy.valid_values.iter().copied().find(|v| requested <= *v).unwrap_or(requested)),
    }
}

/// How amounts in the ranges of policies are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ranges {
    /// In thousandths, where all of a range can be counted so. In whole units otherwise, and fractions are rounded up.
    pub(super) thousandths: bool,
    /// Whether negative amounts, and those that cannot be counted in 64 bits, are errors.
    pub(super) checked: bool,
}

impl Ranges {
    /// Returns how ranges are counted under an emulation.
    pub(super) fn of(emulation: Emulation) -> Self {
        let checked = emulation.behaviour().devices.capacity_requests_checked;
        Self { thousandths: emulation.enabled(Gate::DRAFractionalCapacityRange), checked }
    }

    /// Returns whether a range is counted in thousandths.
    fn in_thousandths(self, range: &CapacityRequestPolicyRange) -> bool {
        self.thousandths
            && [range.min, range.max, range.step].into_iter().flatten().all(is_milli)
            && range.step.is_none_or(|step| step.nanos() >= NANOS_OF_THOUSANDTH)
    }

    /// Returns an amount in the unit of a range.
    fn count(self, range: &CapacityRequestPolicyRange, amount: Quantity) -> i64 {
        if self.in_thousandths(range) { amount.milli_value() } else { amount.value() }
    }
}

const NANOS_OF_UNIT: i128 = 1_000_000_000;
const NANOS_OF_THOUSANDTH: i128 = 1_000_000;

/// Returns whether an amount is a number of thousandths that fits 64 bits; mirrors `safeMilliValue`.
fn is_milli(amount: Quantity) -> bool {
    amount.nanos() % NANOS_OF_THOUSANDTH == 0 && i64::try_from(amount.nanos() / NANOS_OF_THOUSANDTH).is_ok()
}

fn round_up(requested: Quantity, range: &CapacityRequestPolicyRange, ranges: Ranges) -> Result<Quantity, CapacityProblem> {
    let min = range.min.unwrap_or_default();
    if requested < min {
        return Ok(min);
    }
    let count = |amount| ranges.count(range, amount);
    let Some(step) = range.step.map(count).filter(|s| *s > 0) else { return Ok(requested) };
    let in_thousandths = ranges.in_thousandths(range);
    if ranges.checked && in_thousandths && !is_milli(requested) {
        return Err(CapacityProblem::NotMilli(requested));
    }
    if ranges.checked && !in_thousandths && requested.nanos() > i128::from(i64::MAX) * NANOS_OF_UNIT {
        return Err(CapacityProblem::ExceedsInt64(requested));
    }
    let over = count(requested).saturating_sub(count(min));
    let steps = over / step + i64::from(over % step != 0);
    let rounded = i128::from(count(min)) + i128::from(step) * i128::from(steps);
    let Ok(rounded) = i64::try_from(rounded) else {
        return match in_thousandths {
            true if ranges.checked => Err(CapacityProblem::PassesMilli(requested)),
            false if ranges.checked => Err(CapacityProblem::PassesInt64(requested)),
            _ => Ok(Quantity::bytes(i64::MAX)),
        };
    };
    Ok(match (in_thousandths, rounded % 1000) {
        (true, 0) => Quantity::units(rounded / 1000),
        (true, _) => Quantity::milli(rounded),
        (false, _) => Quantity::bytes(rounded),
    })
}

fn violates(amount: Quantity, policy: Option<&CapacityRequestPolicy>, ranges: Ranges) -> bool {
    let Some(policy) = policy else { return false };
    if policy.default == Some(amount) {
        return false;
    }
    match &policy.valid_range {
        Some(range) => {
            if ranges.in_thousandths(range) && range.step.is_some() && !is_milli(amount) {
                return true;
            }
            let count = |amount| ranges.count(range, amount);
            let off_step = range.step.map(count).filter(|s| *s > 0).is_some_and(|step| {
                let over = count(amount).saturating_sub(count(range.min.unwrap_or_default()));
                over % step != 0
            });
            range.max.is_some_and(|max| amount > max) || off_step
        }
        None => !policy.valid_values.is_empty() && !policy.valid_values.contains(&amount),
    }
}

#[cfg(test)]
mod tests;
