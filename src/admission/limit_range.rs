//! LimitRanges: defaults and bounds; mirrors `plugin/pkg/admission/limitranger/admission.go`.

use serde::Deserialize;
use serde_json::Value;

use super::Refusal;
use super::defaults::fill;
use super::refusal::{Bound, Found, LimitBreach};
use crate::cluster::{Container, Key, Pod, Quantity, ResourceList, Str};

/// A LimitRange with the defaults that the API server sets in it.
#[derive(Clone, Debug)]
pub(super) struct LimitRange {
    key: Key,
    items: Vec<Item>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Wire {
    spec: Spec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Spec {
    limits: Vec<Item>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Item {
    #[serde(rename = "type")]
    of: Str,
    max: ResourceList,
    min: ResourceList,
    default: ResourceList,
    default_request: ResourceList,
    max_limit_request_ratio: ResourceList,
}

impl LimitRange {
    /// Reads a LimitRange; `None` if its fields have other types.
    pub(super) fn read(object: &Value, key: &Key) -> Option<Self> {
        let mut items = Wire::deserialize(object).ok()?.spec.limits;
        for item in items.iter_mut().filter(|item| item.of == "Container") {
            fill(&mut item.default, &item.max);
            fill(&mut item.default_request, &item.default);
            fill(&mut item.default_request, &item.min);
        }
        Some(Self { key: key.clone(), items })
    }

    /// Sets missing limits and requests of the containers.
    pub(super) fn set_defaults(&self, pod: &mut Pod) {
        let (mut requests, mut limits) = (ResourceList::default(), ResourceList::default());
        for item in self.items.iter().filter(|item| item.of == "Container") {
            // Of several items the last counts.
            for (into, from) in [(&mut requests, &item.default_request), (&mut limits, &item.default)] {
                for (name, amount) in from.iter() {
                    into.insert(name.clone(), *amount);
                }
            }
        }
        if requests.is_empty() && limits.is_empty() {
            return;
        }
        let spec = pod.spec_mut();
        for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
            fill(&mut container.resources.limits, &limits);
            fill(&mut container.resources.requests, &requests);
        }
    }

    /// Checks the bounds of containers and of the pod.
    pub(super) fn check(&self, pod: &Pod) -> Result<(), Refusal> {
        let mut breaches = Vec::new();
        for item in &self.items {
            if item.of == "Container" {
                for container in pod.spec.containers.iter().chain(pod.spec.init_containers.iter()) {
                    item.check(&container.resources.requests, &container.resources.limits, &mut breaches);
                }
            } else if item.of == "Pod" {
                let of = |list: fn(&Container) -> &ResourceList| sum(pod, list);
                item.check(&of(|c| &c.resources.requests), &of(|c| &c.resources.limits), &mut breaches);
            }
        }
        if breaches.is_empty() { Ok(()) } else { Err(Refusal::LimitRange { range: self.key.clone(), breaches }) }
    }
}

impl Item {
    fn check(&self, requests: &ResourceList, limits: &ResourceList, breaches: &mut Vec<LimitBreach>) {
        for (bound, list) in [(Bound::Minimum, &self.min), (Bound::Maximum, &self.max), (Bound::Ratio, &self.max_limit_request_ratio)] {
            for (resource, enforced) in list.iter() {
                let (request, limit) = (requests.get(resource).copied(), limits.get(resource).copied());
                let found = match bound {
                    Bound::Minimum => below(*enforced, request, limit),
                    Bound::Maximum => above(*enforced, request, limit),
                    Bound::Ratio => beyond_ratio(*enforced, request, limit),
                };
                if let Some(found) = found {
                    breaches.push(LimitBreach { resource: resource.clone(), of: self.of.clone(), bound, enforced: *enforced, found });
                }
            }
        }
    }
}

fn below(least: Quantity, request: Option<Quantity>, limit: Option<Quantity>) -> Option<Found> {
    let Some(request) = request else { return Some(Found::NoRequest) };
    if request < least {
        return Some(Found::Request(request));
    }
    limit.filter(|limit| *limit < least).map(Found::Limit)
}

fn above(most: Quantity, request: Option<Quantity>, limit: Option<Quantity>) -> Option<Found> {
    let Some(limit) = limit else { return Some(Found::NoLimit) };
    if limit > most {
        return Some(Found::Limit(limit));
    }
    request.filter(|request| *request > most).map(Found::Request)
}

#[allow(clippy::cast_precision_loss, reason = "the API server computes the ratio in floating point too")]
fn beyond_ratio(most: Quantity, request: Option<Quantity>, limit: Option<Quantity>) -> Option<Found> {
    let Some(request) = request.filter(|request| !request.is_zero()) else { return Some(Found::NoRequest) };
    let Some(limit) = limit.filter(|limit| !limit.is_zero()) else { return Some(Found::NoLimit) };
    let ratio = limit.nanos() as f64 / request.nanos() as f64;
    (ratio > most.nanos() as f64 / Quantity::units(1).nanos() as f64).then_some(Found::Ratio(ratio))
}

/// Returns the amounts of a pod: the sum over its containers, or more if an init container needs more. A resource that a
/// container lacks counts for the others only where all name it, as upstream's `sum` does.
fn sum(pod: &Pod, list: fn(&Container) -> &ResourceList) -> ResourceList {
    let mut total = ResourceList::default();
    let Some(first) = pod.spec.containers.first() else { return total };
    for name in list(first).keys() {
        let amounts: Option<Vec<Quantity>> = pod.spec.containers.iter().map(|container| list(container).get(name).copied()).collect();
        if let Some(amounts) = amounts {
            total.insert(name.clone(), amounts.into_iter().fold(Quantity::units(0), |sum, amount| sum + amount));
        }
    }
    for (name, amount) in pod.spec.init_containers.iter().flat_map(|container| list(container).iter()) {
        if total.get(name).is_none_or(|known| known < amount) {
            total.insert(name.clone(), *amount);
        }
    }
    total
}
