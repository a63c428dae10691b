//! Lowers requests of a pod, so that the whole pod requests a given amount.

use super::change::{Lowered, LoweredPart, RequestPlace};
use crate::cluster::{Container, Pod, Quantity, Str};
use crate::framework::{PodResourcesOptions, is_supported_pod_level_resource, pod_requests};

/// One request of a pod; `now` is in billionths.
struct Part {
    place: RequestPlace,
    quantity: Quantity,
    now: i128,
}

/// Returns a pod's request of a resource, rounded up: thousandths for cpu, else units.
pub(super) fn requested(pod: &Pod, resource: &str) -> i64 {
    amount(resource, pod_requests(pod, PodResourcesOptions::default()).get(resource).copied().unwrap_or_default())
}

/// Returns a request as [`requested`] does.
pub(super) fn amount(resource: &str, quantity: Quantity) -> i64 {
    if resource == "cpu" { quantity.milli_value() } else { quantity.value() }
}

/// Returns the billionths in one unit of a resource.
fn unit(resource: &str) -> i128 {
    if resource == "cpu" { 1_000_000 } else { 1_000_000_000 }
}

/// Lowers the requests of a pod to a total of `to`, the largest request first. Returns `None` where `to` is below the
/// overhead of its RuntimeClass, or not below the present total.
pub(super) fn lower(pod: &Pod, resource: &Str, to: i64) -> Option<Lowered> {
    lower_from(pod, resource, requested(pod, resource), to)
}

/// Does the same, given the present total.
pub(super) fn lower_from(pod: &Pod, resource: &Str, from: i64, to: i64) -> Option<Lowered> {
    if to >= from || to < 0 {
        return None;
    }
    let overhead = pod.spec.overhead.get(resource).map_or(0, |q| q.nanos());
    let target = i128::from(to) * unit(resource) - overhead;
    if target < 0 {
        return None;
    }
    let named = |c: &Container| c.name.clone();
    let part = |place, c: &Container| c.resources.requests.get(resource).map(|q| Part { place, quantity: *q, now: q.nanos() });
    let containers = pod.spec.containers.iter().enumerate().filter_map(|(i, c)| part(RequestPlace::Container(i, named(c)), c));
    let inits = || pod.spec.init_containers.iter().enumerate();
    let sidecars = inits().filter(|(_, c)| c.is_restartable()).filter_map(|(i, c)| part(RequestPlace::InitContainer(i, named(c)), c));
    let mut together: Vec<Part> = containers.chain(sidecars).collect();
    let mut excess = together.iter().map(|p| p.now).sum::<i128>() - target;
    while excess > 0 {
        let largest = together.iter_mut().max_by_key(|p| p.now).filter(|p| p.now > 0)?;
        // Round down to a whole unit.
        let left = (largest.now - excess).max(0) / unit(resource) * unit(resource);
        excess -= largest.now - left;
        largest.now = left;
    }
    let mut others = 0;
    let mut steps = Vec::new();
    for (i, container) in inits() {
        let sidecar = together.iter().find(|p| matches!(&p.place, RequestPlace::InitContainer(at, _) if *at == i));
        if container.is_restartable() {
            others += sidecar.map_or(0, |p| p.now);
        } else if let Some(mut step) = part(RequestPlace::InitContainer(i, named(container)), container) {
            let room = (target - others).max(0);
            if step.now > room {
                step.now = room / unit(resource) * unit(resource);
            }
            steps.push(step);
        }
    }
    together.extend(steps);
    let whole = pod.spec.resources.as_ref().filter(|_| is_supported_pod_level_resource(resource));
    if let Some(quantity) = whole.and_then(|r| r.requests.get(resource)) {
        together.push(Part { place: RequestPlace::Pod, quantity: *quantity, now: quantity.nanos().min(target) });
    }
    let with_limit = !matches!(resource.as_str(), "cpu" | "memory" | "ephemeral-storage");
    let parts = together.into_iter().filter(|p| p.now != p.quantity.nanos() || to == 0);
    let parts = parts.map(|p| LoweredPart {
        place: p.place,
        from: p.quantity.to_string(),
        to: (p.now > 0 || !with_limit).then(|| quantity(resource, p.now)),
        with_limit,
    });
    let lowered = Lowered { resource: resource.clone(), from, to, parts: parts.collect() };
    (!lowered.parts.is_empty()).then_some(lowered)
}

fn quantity(resource: &str, nanos: i128) -> String {
    let units = i64::try_from(nanos / unit(resource)).unwrap_or(i64::MAX);
    match resource {
        "cpu" => Quantity::milli(units),
        "memory" | "ephemeral-storage" => Quantity::bytes(units),
        _ if resource.starts_with("hugepages-") => Quantity::bytes(units),
        _ => Quantity::units(units),
    }
    .to_string()
}

#[cfg(test)]
mod tests;
