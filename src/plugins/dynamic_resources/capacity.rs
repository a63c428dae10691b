//! Devices shared by capacity; mirrors
//! `staging/src/k8s.io/dynamic-resource-allocation/structured/internal/incubating/consumable_capacity.go`.

use crate::cluster::resource::{CapacityRequestPolicy, CapacityRequestPolicyRange, CapacityRequirements, Device, DeviceCapacity};
use crate::cluster::{Map, Quantity, Str};
use crate::release::{Emulation, Gate};

/// Whether the device has capacity for the request in addition to allocated capacity and that of this search. A request
/// for a capacity that the device does not have never fits.
pub(super) fn fits(
    device: &Device,
    request: Option<&CapacityRequirements>,
    consumed: Option<&Map<Quantity>>,
    taken: Option<&Map<Quantity>>,
    ranges: Ranges,
) -> bool {
    shortage(device, request, consumed, taken, ranges).is_none()
}

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

/// Returns the first capacity that keeps the device from the request; see [`fits`].
pub(super) fn shortage(
    device: &Device,
    request: Option<&CapacityRequirements>,
    consumed: Option<&Map<Quantity>>,
    taken: Option<&Map<Quantity>>,
    ranges: Ranges,
) -> Option<Shortage> {
    if let Some((name, amount)) = request.and_then(|r| r.requests.iter().find(|(name, _)| !device.capacity.contains_key(name))) {
        return Some(Shortage { name: name.clone(), requested: *amount, free: None, against_policy: false });
    }
    device.capacity.iter().find_map(|(name, capacity)| {
        let requested = consumption(request.and_then(|r| r.requests.get(name)).copied(), capacity, ranges);
        let of = |map: Option<&Map<Quantity>>| map.and_then(|m| m.get(name)).copied().unwrap_or_default();
        let against_policy = violates(requested, capacity.request_policy.as_ref(), ranges);
        let used = of(consumed) + of(taken);
        let is_short = against_policy || requested + used > capacity.value;
        is_short.then(|| Shortage { name: name.clone(), requested, free: Some(capacity.value - used), against_policy })
    })
}

/// Returns the amount that the request consumes of each capacity of the device.
pub(super) fn consumed_by(device: &Device, request: Option<&CapacityRequirements>, ranges: Ranges) -> Map<Quantity> {
    device
        .capacity
        .iter()
        .map(|(name, capacity)| (name.clone(), consumption(request.and_then(|r| r.requests.get(name)).copied(), capacity, ranges)))
        .collect()
}

/// Returns the requested amount, rounded up by the policy; without a request the default, or the whole capacity.
fn consumption(requested: Option<Quantity>, capacity: &DeviceCapacity, ranges: Ranges) -> Quantity {
    let policy = capacity.request_policy.as_ref();
    let Some(requested) = requested else {
        return policy.and_then(|p| p.default).unwrap_or(capacity.value);
    };
    let Some(policy) = policy else { return requested };
    match &policy.valid_range {
        Some(range) if range.min.is_some() => round_up(requested, range, ranges),
        _ => policy.valid_values.iter().copied().find(|v| requested <= *v).unwrap_or(requested),
    }
}

/// The unit in which the steps of a range are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ranges {
    /// Whole units; fractions are rounded up.
    Whole,
    /// Thousandths, where the range has a fraction and all of it can be counted so.
    Fractional,
}

impl Ranges {
    /// Returns how ranges are counted under an emulation.
    pub(super) fn of(emulation: Emulation) -> Self {
        if emulation.enabled(Gate::DRAFractionalCapacityRange) { Self::Fractional } else { Self::Whole }
    }

    /// Returns whether a range is counted in thousandths.
    fn in_thousandths(self, range: &CapacityRequestPolicyRange) -> bool {
        let mut values = [range.min, range.max, range.step].into_iter().flatten();
        let is_countable = |value: Quantity| i64::try_from(value.nanos() / NANOS_OF_THOUSANDTH).is_ok();
        self == Self::Fractional
            && values.clone().any(|value| value.nanos() % NANOS_OF_UNIT != 0)
            && values.all(is_countable)
            && range.step.is_none_or(|step| step.nanos() >= NANOS_OF_THOUSANDTH)
    }

    /// Returns an amount in the unit of a range.
    fn count(self, range: &CapacityRequestPolicyRange, amount: Quantity) -> i64 {
        if self.in_thousandths(range) { amount.milli_value() } else { amount.value() }
    }
}

const NANOS_OF_UNIT: i128 = 1_000_000_000;
const NANOS_OF_THOUSANDTH: i128 = 1_000_000;

fn round_up(requested: Quantity, range: &CapacityRequestPolicyRange, ranges: Ranges) -> Quantity {
    let min = range.min.unwrap_or_default();
    if requested < min {
        return min;
    }
    let count = |amount| ranges.count(range, amount);
    let Some(step) = range.step.map(count).filter(|s| *s > 0) else { return requested };
    let over = count(requested).saturating_sub(count(min));
    let steps = over / step + i64::from(over % step != 0);
    let rounded = count(min).saturating_add(step.saturating_mul(steps));
    match (ranges.in_thousandths(range), rounded % 1000) {
        (true, 0) => Quantity::units(rounded / 1000),
        (true, _) => Quantity::milli(rounded),
        (false, _) => Quantity::bytes(rounded),
    }
}

fn violates(amount: Quantity, policy: Option<&CapacityRequestPolicy>, ranges: Ranges) -> bool {
    let Some(policy) = policy else { return false };
    if policy.default == Some(amount) {
        return false;
    }
    match &policy.valid_range {
        Some(range) => {
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
mod tests {
    use super::*;

    fn device(policy: &str) -> Device {
        serde_json::from_str(&format!(r#"{{"name":"d","capacity":{{"memory":{{"value":"10Gi"{policy}}}}}}}"#)).unwrap()
    }

    fn amounts(text: &str) -> Map<Quantity> {
        serde_json::from_str(&format!("{{{text}}}")).unwrap()
    }

    #[test]
    fn requests_are_rounded_by_the_policy_and_must_fit() {
        let range = r#","requestPolicy":{"default":"1Gi","validRange":{"min":"2Gi","max":"8Gi","step":"2Gi"}}"#;
        let values = r#","requestPolicy":{"default":"3Gi","validValues":["3Gi","6Gi"]}"#;
        for (policy, request, consumed, expected) in [
            // Without a policy: the whole capacity, or the request.
            ("", "", "", Some("10Gi")),
            ("", "", r#""memory":"1""#, None),
            ("", r#""memory":"4Gi""#, r#""memory":"6Gi""#, Some("4Gi")),
            ("", r#""memory":"4Gi""#, r#""memory":"7Gi""#, None),
            ("", r#""memory":"11Gi""#, "", None),
            ("", r#""cores":"1""#, "", None),
            // A range rounds up to its minimum and its steps.
            (range, "", "", Some("1Gi")),
            (range, r#""memory":"1""#, "", Some("2Gi")),
            (range, r#""memory":"3Gi""#, "", Some("4Gi")),
            (range, r#""memory":"9Gi""#, "", None),
            // Values round up to the next one; nothing fits beyond the last.
            (values, "", "", Some("3Gi")),
            (values, r#""memory":"4Gi""#, "", Some("6Gi")),
            (values, r#""memory":"7Gi""#, "", None),
        ] {
            let device = device(policy);
            let request = CapacityRequirements { requests: amounts(request) };
            let consumed = amounts(consumed);
            let case = format!("{policy} {request:?} {consumed:?}");
            assert_eq!(fits(&device, Some(&request), Some(&consumed), None, Ranges::Whole), expected.is_some(), "{case}");
            assert_eq!(fits(&device, Some(&request), None, Some(&consumed), Ranges::Whole), expected.is_some(), "{case}");
            if let Some(expected) = expected {
                assert_eq!(consumed_by(&device, Some(&request), Ranges::Whole).get("memory"), Some(&expected.parse().unwrap()), "{case}");
            }
        }
    }

    #[test]
    fn fractions_of_a_range_count_in_thousandths_where_the_release_does() {
        let range = r#","requestPolicy":{"default":"1","validRange":{"min":"500m","max":"4","step":"250m"}}"#;
        let whole = r#","requestPolicy":{"default":"1","validRange":{"min":"1","max":"4","step":"2"}}"#;
        for (policy, request, as_whole, as_fraction) in
            [(range, "600m", "1", "750m"), (range, "900m", "1", "1"), (range, "100m", "500m", "500m"), (whole, "1500m", "3", "3")]
        {
            let device = device(policy);
            let request = CapacityRequirements { requests: amounts(&format!(r#""memory":"{request}""#)) };
            let of = |ranges| consumed_by(&device, Some(&request), ranges).get("memory").copied();
            assert_eq!(of(Ranges::Whole), Some(as_whole.parse().unwrap()), "{policy} {request:?}");
            assert_eq!(of(Ranges::Fractional), Some(as_fraction.parse().unwrap()), "{policy} {request:?}");
            assert!(fits(&device, Some(&request), None, None, Ranges::Fractional), "{policy} {request:?}");
        }
    }
}
