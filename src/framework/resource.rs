//! Amounts of resources and what a pod asks for.
//!
//! Mirrors `Resource` in `pkg/scheduler/framework/types.go`, `PodRequests` in
//! `staging/src/k8s.io/component-helpers/resource/helpers.go` and `pkg/scheduler/util/pod_resources.go`.

use serde::{Deserialize, Serialize};

use crate::cluster::{Container, ContainerStatus, Map, Pod, Quantity, ResourceList, Str};

/// CPU request assumed for scoring where a container names none, in thousandths of a core.
pub const DEFAULT_MILLI_CPU_REQUEST: i64 = 100;
/// Memory request assumed for scoring where a container names none, in bytes.
pub const DEFAULT_MEMORY_REQUEST: i64 = 200 * 1024 * 1024;

/// Amounts in the units the scheduler counts in: thousandths of a core, bytes, pods, whole units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Thousandths of a core.
    pub milli_cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral_storage: i64,
    /// Pods a node takes; only meaningful for allocatable.
    pub allowed_pod_number: i64,
    /// Extended resources, huge pages and the like, by name.
    pub scalar: Map<i64>,
}

impl Resource {
    /// Converts exact quantities, rounding up; names that the scheduler does not count are left out.
    pub fn from_list(list: &ResourceList) -> Self {
        let mut resource = Self::default();
        resource.add_list(list);
        resource
    }

    /// Adds a list, rounding each amount up.
    pub fn add_list(&mut self, list: &ResourceList) {
        for (name, quantity) in list.iter() {
            match name.as_str() {
                "cpu" => self.milli_cpu = self.milli_cpu.saturating_add(quantity.milli_value()),
                "memory" => self.memory = self.memory.saturating_add(quantity.value()),
                "ephemeral-storage" => self.ephemeral_storage = self.ephemeral_storage.saturating_add(quantity.value()),
                "pods" => self.allowed_pod_number += quantity.value(),
                _ if is_scalar_resource_name(name) => self.add_scalar(name, quantity.value()),
                _ => {}
            }
        }
    }

    /// Adds to one scalar resource.
    pub fn add_scalar(&mut self, name: &Str, amount: i64) {
        let sum = self.scalar.get(name).copied().unwrap_or(0).saturating_add(amount);
        self.scalar.insert(name.clone(), sum);
    }

    /// Adds (`sign` 1) or takes away (`sign` -1) another pod's amounts.
    pub fn apply(&mut self, other: &Self, sign: i64) {
        self.milli_cpu += sign * other.milli_cpu;
        self.memory += sign * other.memory;
        self.ephemeral_storage += sign * other.ephemeral_storage;
        for (name, amount) in other.scalar.iter() {
            self.add_scalar(name, sign * amount);
        }
    }
}

/// Mirrors `IsExtendedResourceName` in `pkg/apis/core/v1/helper/helpers.go`.
pub fn is_extended_resource_name(name: &str) -> bool {
    if is_native_resource(name) || name.starts_with("requests.") {
        return false;
    }
    is_qualified_name(&format!("requests.{name}"))
}

fn is_native_resource(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Mirrors `IsScalarResourceName`: extended, huge pages, `kubernetes.io/` and attachable volumes.
pub fn is_scalar_resource_name(name: &str) -> bool {
    is_extended_resource_name(name)
        || name.starts_with("hugepages-")
        || name.contains("kubernetes.io/")
        || name.starts_with("attachable-volumes-")
}

/// Mirrors `IsQualifiedName` in `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go`.
fn is_qualified_name(name: &str) -> bool {
    let (prefix, local) = match name.split_once('/') {
        Some((_, rest)) if rest.contains('/') => return false,
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, name),
    };
    let local_ok = !local.is_empty()
        && local.len() <= 63
        && local.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && local.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && local.bytes().last().is_some_and(|b| b.is_ascii_alphanumeric());
    local_ok && prefix.is_none_or(is_dns_subdomain)
}

fn is_dns_subdomain(name: &str) -> bool {
    name.len() <= 253
        && name.split('.').all(|label| {
            !label.is_empty()
                && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        })
}

/// How to add up a pod's requests; mirrors `PodResourcesOptions`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodResourcesOptions<'a> {
    /// Take what the kubelet reports of a resize in progress into account.
    pub use_status_resources: bool,
    /// The same for pod-level resources.
    pub in_place_pod_level: bool,
    /// Leave `spec.resources` out.
    pub skip_pod_level_resources: bool,
    /// Amounts for containers that do not name a resource.
    pub non_missing_container_requests: Option<&'a ResourceList>,
}

/// What a pod asks for: sidecars and init containers, pod-level requests and overhead included.
pub fn pod_requests(pod: &Pod, options: PodResourcesOptions<'_>) -> ResourceList {
    let mut requests = aggregate_container_requests(pod, options);
    if let Some(pod_level) = pod.spec.resources.as_ref().filter(|_| !options.skip_pod_level_resources && is_pod_level_requests_set(pod)) {
        let effective = match (&pod.status.resources, options.in_place_pod_level && options.use_status_resources) {
            (Some(actuated), true) => {
                Some(effective_requests(pod, &pod_level.requests, &actuated.requests, &pod.status.allocated_resources))
            }
            _ => None,
        };
        for (name, quantity) in pod_level.requests.iter().filter(|(n, _)| is_supported_pod_level_resource(n)) {
            let amount = match &effective {
                Some(effective) => effective.get(name).copied().unwrap_or_default(),
                None => *quantity,
            };
            requests.insert(name.clone(), amount);
        }
    }
    add(&mut requests, &pod.spec.overhead);
    requests
}

/// Whether pod-level requests name a resource that can be set there.
pub fn is_pod_level_requests_set(pod: &Pod) -> bool {
    pod.spec.resources.as_ref().is_some_and(|r| r.requests.keys().any(|n| is_supported_pod_level_resource(n)))
}

/// The resources that can be asked for at pod level.
pub fn is_supported_pod_level_resource(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

/// The containers' part of [`pod_requests`]; mirrors `AggregateContainerRequests`.
pub fn aggregate_container_requests(pod: &Pod, options: PodResourcesOptions<'_>) -> ResourceList {
    let mut requests = ResourceList::default();
    for container in &pod.spec.containers {
        let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
        add(&mut requests, &container_requests(pod, container, statuses, options, true));
    }
    let mut restartable = ResourceList::default();
    let mut init = ResourceList::default();
    for container in &pod.spec.init_containers {
        let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
        let mut amount = container_requests(pod, container, statuses, options, container.is_restartable());
        if container.is_restartable() {
            add(&mut requests, &amount);
            add(&mut restartable, &amount);
            amount = restartable.clone();
        } else {
            add(&mut amount, &restartable);
        }
        max(&mut init, &amount);
    }
    max(&mut requests, &init);
    requests
}

fn container_requests<'a>(
    pod: &Pod,
    container: &Container,
    statuses: impl Iterator<Item = &'a ContainerStatus>,
    options: PodResourcesOptions<'_>,
    resizable: bool,
) -> ResourceList {
    let mut requests = container.resources.requests.clone();
    if options.use_status_resources && resizable {
        // Of several statuses with one name the last counts, as in a Go map.
        let status = statuses.filter(|s| s.name == container.name).last();
        if let Some((status, actuated)) = status.and_then(|s| s.resources.as_ref().map(|r| (s, r))) {
            requests = effective_requests(pod, &requests, &actuated.requests, &status.allocated_resources);
        }
    }
    if let Some(defaults) = options.non_missing_container_requests {
        for (name, quantity) in defaults.iter() {
            if !requests.contains_key(name) {
                requests.insert(name.clone(), *quantity);
            }
        }
    }
    requests
}

fn effective_requests(pod: &Pod, spec: &ResourceList, actuated: &ResourceList, allocated: &ResourceList) -> ResourceList {
    let infeasible = pod.condition("PodResizePending").is_some_and(|c| c.reason == "Infeasible");
    let mut requests = if infeasible { ResourceList::default() } else { spec.clone() };
    max(&mut requests, actuated);
    max(&mut requests, allocated);
    requests
}

fn add(sum: &mut ResourceList, more: &ResourceList) {
    for (name, quantity) in more.iter() {
        let total = sum.get(name).copied().unwrap_or_default() + *quantity;
        sum.insert(name.clone(), total);
    }
}

fn max(sum: &mut ResourceList, other: &ResourceList) {
    for (name, quantity) in other.iter() {
        if sum.get(name).is_none_or(|q| quantity > q) {
            sum.insert(name.clone(), *quantity);
        }
    }
}

/// What a pod occupies once it is on a node; mirrors `PodInfo.calculateResource` in `pkg/scheduler/framework/types.go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodResource {
    /// Exact requests, resize status included.
    pub resource: Resource,
    /// CPU with defaults for containers that name none, in thousandths of a core.
    pub non_zero_cpu: i64,
    /// Memory with defaults, in bytes.
    pub non_zero_memory: i64,
}

impl PodResource {
    /// Adds up a pod.
    pub fn of(pod: &Pod) -> Self {
        let base = PodResourcesOptions { use_status_resources: true, in_place_pod_level: true, ..PodResourcesOptions::default() };
        let requests = pod_requests(pod, base);
        let defaults = non_missing_container_requests(pod, &requests);
        let non_zero = pod_requests(pod, PodResourcesOptions { non_missing_container_requests: Some(&defaults), ..base });
        Self {
            resource: Resource::from_list(&requests),
            non_zero_cpu: non_zero.get("cpu").map_or(0, |q| q.milli_value()),
            non_zero_memory: non_zero.get("memory").map_or(0, |q| q.value()),
        }
    }
}

/// The defaults that apply to containers of a pod: with pod-level requests only for what nobody names.
fn non_missing_container_requests(pod: &Pod, requests: &ResourceList) -> ResourceList {
    let all: ResourceList = [("cpu", Quantity::milli(DEFAULT_MILLI_CPU_REQUEST)), ("memory", Quantity::bytes(DEFAULT_MEMORY_REQUEST))]
        .into_iter()
        .filter(|(name, _)| !is_pod_level_requests_set(pod) || !requests.contains_key(name))
        .collect();
    all
}
