//! LimitRanges: defaults and bounds; mirrors `plugin/pkg/admission/limitranger/admission.go`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::Refusal;
use super::defaults::fill;
use super::refusal::{Bound, Found, LimitBreach};
use crate::cluster::{Container, Key, Pod, Quantity, ResourceList, Str};
use crate::limits::engine::{ADMITTED_POD_BYTES, BREACHES_LISTED};

/// Bytes of a resource and its amount, at least.
const BYTES_OF_AMOUNT: usize = 8;

/// A LimitRange with the defaults that the API server sets in it.
#[derive(Clone, Debug)]
pub(super) struct LimitRange {
    key: Key,
    items: Vec<Item>,
    defaults: Defaults,
}

/// Requests and limits that containers get where they name none.
#[derive(Clone, Debug, Default)]
pub(super) struct Defaults {
    requests: ResourceList,
    limits: ResourceList,
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
    /// Reads a LimitRange.
    pub(super) fn read(object: &Value, key: &Key) -> serde_json::Result<Self> {
        let mut items = Wire::deserialize(object)?.spec.limits;
        for item in items.iter_mut().filter(|item| item.of == "Container") {
            fill(&mut item.default, &item.max);
            fill(&mut item.default_request, &item.default);
            fill(&mut item.default_request, &item.min);
        }
        // Of several items the last counts.
        let all = |list: fn(&Item) -> &ResourceList| -> ResourceList {
            let lists = items.iter().filter(|item| item.of == "Container").map(list);
            lists.flat_map(ResourceList::iter).map(|(name, amount)| (name.clone(), *amount)).collect()
        };
        let defaults = Defaults { requests: all(|item| &item.default_request), limits: all(|item| &item.default) };
        Ok(Self { key: key.clone(), items, defaults })
    }

    /// Checks the bounds of containers and of the pod. Of the violated bounds the first [`BREACHES_LISTED`] are listed.
    fn check(&self, pod: &Pod, amounts: &Amounts) -> Result<(), Refusal> {
        let mut breaches = Breaches::default();
        for item in self.items.iter().filter(|item| !item.passes(amounts)) {
            if item.of == "Container" {
                for container in containers(pod) {
                    item.check(&container.resources.requests, &container.resources.limits, &mut breaches);
                }
            } else if item.of == "Pod" {
                item.check(&amounts.of_pod.0, &amounts.of_pod.1, &mut breaches);
            }
        }
        let Breaches { listed, left_out, .. } = breaches;
        if listed.is_empty() { Ok(()) } else { Err(Refusal::LimitRange { range: self.key.clone(), breaches: listed, left_out }) }
    }
}

fn containers(pod: &Pod) -> impl Iterator<Item = &Container> {
    pod.spec.containers.iter().chain(pod.spec.init_containers.iter())
}

impl Defaults {
    /// Puts together the defaults of the LimitRanges of a namespace, by name: the first that has a resource sets it.
    pub(super) fn of<'a>(ranges: impl Iterator<Item = &'a Arc<LimitRange>>) -> Self {
        let ranges: Vec<_> = ranges.collect();
        let all = |list: fn(&Self) -> &ResourceList| -> ResourceList {
            let lists = ranges.iter().rev().map(|range| list(&range.defaults));
            lists.flat_map(ResourceList::iter).map(|(name, amount)| (name.clone(), *amount)).collect()
        };
        Self { requests: all(|defaults| &defaults.requests), limits: all(|defaults| &defaults.limits) }
    }

    /// Sets missing limits and requests of the containers.
    ///
    /// # Errors
    /// When the pod becomes larger than an API server stores.
    pub(super) fn set(&self, pod: &mut Pod) -> Result<(), Refusal> {
        let Self { requests, limits } = self;
        if requests.is_empty() && limits.is_empty() {
            return Ok(());
        }
        let spec = pod.spec_mut();
        let mut bytes = 0;
        for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
            for (into, from) in [(&mut container.resources.limits, limits), (&mut container.resources.requests, requests)] {
                let before = into.len();
                fill(into, from);
                bytes += (into.len() - before) * BYTES_OF_AMOUNT;
            }
            if bytes > ADMITTED_POD_BYTES {
                return Err(Refusal::TooLarge);
            }
        }
        Ok(())
    }
}

/// Checks a pod against the LimitRanges of its namespace.
///
/// # Errors
/// When it violates a bound: those of the first LimitRange with any.
pub(super) fn check(ranges: &[Arc<LimitRange>], pod: &Pod) -> Result<(), Refusal> {
    if ranges.is_empty() {
        return Ok(());
    }
    let amounts = Amounts::of(pod);
    ranges.iter().try_for_each(|range| range.check(pod, &amounts))
}

/// The amounts of a pod, as far as bounds depend on them.
struct Amounts {
    containers: usize,
    /// Of the containers, by resource.
    of_containers: HashMap<Str, Extremes>,
    /// Requests and limits of the pod.
    of_pod: (ResourceList, ResourceList),
}

/// The extreme amounts of a resource over the containers that name it.
#[derive(Default)]
struct Extremes {
    requests: Option<Extreme>,
    limits: Option<Extreme>,
}

struct Extreme {
    containers: usize,
    least: Quantity,
    most: Quantity,
}

impl Extreme {
    fn add(this: &mut Option<Self>, amount: Quantity) {
        let known = this.get_or_insert(Self { containers: 0, least: amount, most: amount });
        known.containers += 1;
        known.least = known.least.min(amount);
        known.most = known.most.max(amount);
    }
}

impl Amounts {
    fn of(pod: &Pod) -> Self {
        let mut of_containers: HashMap<Str, Extremes> = HashMap::new();
        for container in containers(pod) {
            for (name, amount) in container.resources.requests.iter() {
                Extreme::add(&mut of_containers.entry(name.clone()).or_default().requests, *amount);
            }
            for (name, amount) in container.resources.limits.iter() {
                Extreme::add(&mut of_containers.entry(name.clone()).or_default().limits, *amount);
            }
        }
        let of_pod = (sum(pod, |c| &c.resources.requests), sum(pod, |c| &c.resources.limits));
        Self { containers: containers(pod).count(), of_containers, of_pod }
    }
}

/// Violated bounds, each once.
#[derive(Default)]
struct Breaches {
    listed: Vec<LimitBreach>,
    texts: HashSet<String>,
    left_out: bool,
}

impl Breaches {
    fn is_full(&self) -> bool {
        self.left_out
    }

    fn add(&mut self, breach: LimitBreach) {
        if self.listed.len() < BREACHES_LISTED {
            // Containers that violate a bound alike are one.
            if self.texts.insert(breach.to_string()) {
                self.listed.push(breach);
            }
        } else {
            self.left_out |= !self.texts.contains(&breach.to_string());
        }
    }
}

impl Item {
    /// Returns whether no container is near a bound: each violates none that the extremes of all satisfy. False where it is unknown.
    fn passes(&self, amounts: &Amounts) -> bool {
        if self.of != "Container" {
            return self.of != "Pod";
        }
        let all = |extreme: &Option<Extreme>, holds: &dyn Fn(&Extreme) -> bool| {
            extreme.as_ref().is_some_and(|extreme| extreme.containers == amounts.containers && holds(extreme))
        };
        let none_or = |extreme: &Option<Extreme>, holds: &dyn Fn(&Extreme) -> bool| extreme.as_ref().is_none_or(holds);
        let of = |name: &Str| amounts.of_containers.get(name);
        let is_above = |(name, least): (&Str, &Quantity)| {
            of(name).is_some_and(|of| all(&of.requests, &|e| e.least >= *least) && none_or(&of.limits, &|e| e.least >= *least))
        };
        let is_below = |(name, most): (&Str, &Quantity)| {
            of(name).is_some_and(|of| all(&of.limits, &|e| e.most <= *most) && none_or(&of.requests, &|e| e.most <= *most))
        };
        let is_within = |(name, most): (&Str, &Quantity)| {
            of(name).is_some_and(|of| {
                let (Some(requests), Some(limits)) = (&of.requests, &of.limits) else { return false };
                let both = requests.containers == amounts.containers && limits.containers == amounts.containers;
                both && beyond_ratio(*most, Some(requests.least), Some(limits.most)).is_none() && !limits.least.is_zero()
            })
        };
        amounts.containers == 0
            || self.min.iter().all(is_above) && self.max.iter().all(is_below) && self.max_limit_request_ratio.iter().all(is_within)
    }

    fn check(&self, requests: &ResourceList, limits: &ResourceList, breaches: &mut Breaches) {
        for (bound, list) in [(Bound::Minimum, &self.min), (Bound::Maximum, &self.max), (Bound::Ratio, &self.max_limit_request_ratio)] {
            for (resource, enforced) in list.iter() {
                let (request, limit) = (requests.get(resource).copied(), limits.get(resource).copied());
                let found = match bound {
                    Bound::Minimum => below(*enforced, request, limit),
                    Bound::Maximum => above(*enforced, request, limit),
                    Bound::Ratio => beyond_ratio(*enforced, request, limit),
                };
                if let Some(found) = found {
                    breaches.add(LimitBreach { resource: resource.clone(), of: self.of.clone(), bound, enforced: *enforced, found });
                }
                if breaches.is_full() {
                    return;
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
