//! Resource amounts and pod requests.
//!
//! Mirrors `Resource` in `pkg/scheduler/framework/types.go`, `PodRequests` in
//! `staging/src/k8s.io/component-helpers/resource/helpers.go` and `pkg/scheduler/util/pod_resources.go`.

use serde::{Deserialize, Serialize};

use crate::cluster::{Container, ContainerStatus, Map, Pod, Quantity, ResourceList, Str};
use crate::release::{AssumedUsage, Emulation, Gate, NodeUsage, ResizeMaximum, SidecarCheck};

/// CPU request that scoring assumes if a container names none, in thousandths of a core.
pub const DEFAULT_MILLI_CPU_REQUEST: i64 = 100;
/// Memory request that scoring assumes if a container names none, in bytes.
pub const DEFAULT_MEMORY_REQUEST: i64 = 200 * 1024 * 1024;

/// Amounts in the scheduler's units: thousandths of a core, bytes, pods, whole units.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// Thousandths of a core.
    pub milli_cpu: i64,
    /// Bytes.
    pub memory: i64,
    /// Bytes.
    pub ephemeral_storage: i64,
    /// Number of pods that a node accepts; meaningful for allocatable only.
    pub allowed_pod_number: i64,
    /// Extended resources, huge pages and other scalar resources, by name.
    pub scalar: Map<i64>,
}

impl Resource {
    /// Converts exact quantities, rounding up. Omits resources that the scheduler does not count.
    pub fn from_list(list: &ResourceList) -> Self {
        let mut resource = Self::default();
        resource.add_list(list);
        resource
    }

    /// Converts as [`Self::from_list`] does, with amounts of at least 0 and without `pods`; mirrors `SetMaxResource` on
    /// an empty resource.
    pub fn max_of_list(list: &ResourceList) -> Self {
        let mut resource = Self::from_list(list);
        resource.allowed_pod_number = 0;
        for amount in [&mut resource.milli_cpu, &mut resource.memory, &mut resource.ephemeral_storage] {
            *amount = (*amount).max(0);
        }
        resource.scalar.values_mut().for_each(|amount| *amount = (*amount).max(0));
        resource
    }

    /// Adds a list, rounding each amount up.
    pub fn add_list(&mut self, list: &ResourceList) {
        for (name, quantity) in list.iter() {
            match name.as_str() {
                "cpu" => self.milli_cpu = self.milli_cpu.wrapping_add(quantity.milli_value()),
                "memory" => self.memory = self.memory.wrapping_add(quantity.value()),
                "ephemeral-storage" => self.ephemeral_storage = self.ephemeral_storage.wrapping_add(quantity.value()),
                "pods" => self.allowed_pod_number = self.allowed_pod_number.wrapping_add(quantity.value()),
                _ if is_scalar_resource_name(name) => self.add_scalar(name, quantity.value()),
                _ => {}
            }
        }
    }

    /// Adds to one scalar resource. Sums wrap around as in Go, so that every addition can be undone.
    pub fn add_scalar(&mut self, name: &Str, amount: i64) {
        let sum = self.scalar.get_or_insert(name, 0);
        *sum = sum.wrapping_add(amount);
    }

    /// Returns the amount of a scalar resource, 0 if it is not listed.
    #[inline]
    pub fn scalar(&self, name: &str) -> i64 {
        self.scalar.get(name).copied().unwrap_or(0)
    }

    /// Adds (`sign` 1) or subtracts (`sign` -1) another pod's amounts.
    #[inline]
    pub fn apply(&mut self, other: &Self, sign: i64) {
        self.milli_cpu = self.milli_cpu.wrapping_add(sign.wrapping_mul(other.milli_cpu));
        self.memory = self.memory.wrapping_add(sign.wrapping_mul(other.memory));
        self.ephemeral_storage = self.ephemeral_storage.wrapping_add(sign.wrapping_mul(other.ephemeral_storage));
        for (name, amount) in other.scalar.iter() {
            self.add_scalar(name, sign.wrapping_mul(*amount));
        }
    }
}

/// Returns whether a name is an extended resource; mirrors `IsExtendedResourceName` in
/// `pkg/apis/core/v1/helper/helpers.go`.
pub fn is_extended_resource_name(name: &str) -> bool {
    // A quota names it with this prefix, and that name must be valid.
    const PREFIX: &str = "requests.";
    let Some((domain, local)) = name.split_once('/') else { return false };
    // A name with a further slash is not qualified, so this is the only one.
    !domain.ends_with(NATIVE_DOMAIN) && !domain.starts_with(PREFIX) && is_qualified_name(domain, local, PREFIX.len())
}

/// The end of the domains of Kubernetes' own resources.
const NATIVE_DOMAIN: &str = "kubernetes.io";

/// Returns whether a name is an extended resource, huge pages, `kubernetes.io/` or attachable volumes; mirrors
/// `IsScalarResourceName`.
pub fn is_scalar_resource_name(name: &str) -> bool {
    is_extended_resource_name(name)
        || name.starts_with("hugepages-")
        || name.starts_with("attachable-volumes-")
        || name.match_indices('/').any(|(at, _)| name[..at].ends_with(NATIVE_DOMAIN))
}

/// Returns whether a domain and a local name are a qualified name, with `more` characters before the domain; mirrors
/// `IsQualifiedName` in `staging/src/k8s.io/apimachinery/pkg/util/validation/validation.go`.
fn is_qualified_name(domain: &str, local: &str, more: usize) -> bool {
    let (domain, local) = (domain.as_bytes(), local.as_bytes());
    let ends = |end: Option<&u8>| end.is_some_and(u8::is_ascii_alphanumeric);
    let local_ok = local.len() <= 63
        && local.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && ends(local.first())
        && ends(local.last());
    local_ok && domain.len() + more <= 253 && is_dns_subdomain(domain)
}

fn is_dns_subdomain(name: &[u8]) -> bool {
    let is_end = |end: Option<&u8>| end.is_some_and(|b| *b != b'-');
    name.split(|b| *b == b'.').all(|label| {
        is_end(label.first()) && is_end(label.last()) && label.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
    })
}

/// Options for summing a pod's requests; mirrors `PodResourcesOptions`.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodResourcesOptions<'a> {
    /// Whether to use the kubelet's status of a resize in progress.
    pub use_status_resources: bool,
    /// Whether to do the same for pod-level resources.
    pub in_place_pod_level: bool,
    /// Whether the larger amount of a resize is taken for each container or for the pod.
    pub resizes: ResizeMaximum,
    /// Whether init containers cannot be sidecars: the API of the release has no `restartPolicy` for them.
    pub sidecars_unknown: bool,
    /// Whether to ignore `spec.resources`.
    pub skip_pod_level_resources: bool,
    /// Default amounts for containers that do not name a resource.
    pub non_missing_container_requests: Option<&'a ResourceList>,
}

impl PodResourcesOptions<'_> {
    /// Returns the options that count a resize in progress as the release and its gates do.
    pub fn of_resizes(emulation: Emulation) -> Self {
        Self {
            use_status_resources: emulation.enabled(Gate::InPlacePodVerticalScaling),
            in_place_pod_level: emulation.enabled(Gate::InPlacePodLevelResourcesVerticalScaling),
            resizes: emulation.behaviour().resources.resizes,
            ..Self::default()
        }
    }

    fn is_sidecar(self, container: &Container) -> bool {
        !self.sidecars_unknown && container.is_restartable()
    }
}

/// Sums a pod's requests, including sidecars, init containers, pod-level requests and overhead.
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

/// Whether pod-level requests name a supported resource.
pub fn is_pod_level_requests_set(pod: &Pod) -> bool {
    pod.spec.resources.as_ref().is_some_and(|r| r.requests.keys().any(|n| is_supported_pod_level_resource(n)))
}

/// Whether a resource can be requested at pod level.
pub fn is_supported_pod_level_resource(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

/// Sums the requests of the containers for [`pod_requests`]; mirrors `AggregateContainerRequests`.
pub fn aggregate_container_requests(pod: &Pod, options: PodResourcesOptions<'_>) -> ResourceList {
    if options.use_status_resources && options.resizes == ResizeMaximum::OfPod {
        return larger_sum(pod, options);
    }
    sum_of_containers(pod, options, |container, init| {
        let statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
        container_requests(pod, container, statuses, options, !init || options.is_sidecar(container))
    })
}

/// Returns the largest of three sums over the containers: of the desired requests, unless they are infeasible, of the allocated
/// ones and of the actuated ones.
fn larger_sum(pod: &Pod, options: PodResourcesOptions<'_>) -> ResourceList {
    let infeasible = is_resize_infeasible(pod);
    let sum = |of: fn(Option<&ContainerStatus>) -> Option<ResourceList>, desired_too: bool| {
        sum_of_containers(pod, options, |container, _| {
            let mut statuses = pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
            let status = statuses.find(|s| s.name == container.name);
            let desired = || if desired_too { container.resources.requests.clone() } else { ResourceList::default() };
            with_defaults(of(status).unwrap_or_else(desired), options)
        })
    };
    let mut requests = if infeasible { ResourceList::default() } else { sum(|_| None, true) };
    let of_pod = pod.status.resources.as_ref().filter(|r| options.in_place_pod_level && !r.requests.is_empty());
    match of_pod.filter(|_| !pod.status.allocated_resources.is_empty()) {
        Some(actuated) => {
            max(&mut requests, &actuated.requests);
            max(&mut requests, &pod.status.allocated_resources);
        }
        None => {
            max(&mut requests, &sum(actuated_requests, !infeasible));
            max(&mut requests, &sum(allocated_requests, !infeasible));
        }
    }
    requests
}

fn allocated_requests(status: Option<&ContainerStatus>) -> Option<ResourceList> {
    status.map(|s| &s.allocated_resources).filter(|allocated| !allocated.is_empty()).cloned()
}

/// Returns the actuated requests, or the allocated ones where the kubelet reports none.
fn actuated_requests(status: Option<&ContainerStatus>) -> Option<ResourceList> {
    let actuated = status.and_then(|s| s.resources.as_ref()).map(|r| &r.requests).filter(|requests| !requests.is_empty());
    actuated.cloned().or_else(|| allocated_requests(status))
}

/// Sums an amount over the containers, as they run together. The function gets each container, and whether it is an init container.
fn sum_of_containers(pod: &Pod, options: PodResourcesOptions<'_>, amount_of: impl Fn(&Container, bool) -> ResourceList) -> ResourceList {
    let mut requests = ResourceList::default();
    for container in &pod.spec.containers {
        let amount = amount_of(container, false);
        if requests.is_empty() {
            requests = amount;
        } else {
            add(&mut requests, &amount);
        }
    }
    let mut restartable = ResourceList::default();
    let mut init = ResourceList::default();
    for container in &pod.spec.init_containers {
        let mut amount = amount_of(container, true);
        if options.is_sidecar(container) {
            add(&mut requests, &amount);
            add(&mut restartable, &amount);
        }
        // Of the other resources, the sidecars so far ask for what counts already.
        for (name, amount) in amount.iter_mut() {
            let of_sidecars = restartable.get(name).copied().unwrap_or_default();
            *amount = if options.is_sidecar(container) { of_sidecars } else { *amount + of_sidecars };
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
    with_defaults(requests, options)
}

fn with_defaults(mut requests: ResourceList, options: PodResourcesOptions<'_>) -> ResourceList {
    if let Some(defaults) = options.non_missing_container_requests {
        for (name, quantity) in defaults.iter() {
            if !requests.contains_key(name) {
                requests.insert(name.clone(), *quantity);
            }
        }
    }
    requests
}

fn is_resize_infeasible(pod: &Pod) -> bool {
    pod.condition("PodResizePending").is_some_and(|c| c.reason == "Infeasible")
}

fn effective_requests(pod: &Pod, spec: &ResourceList, actuated: &ResourceList, allocated: &ResourceList) -> ResourceList {
    let mut requests = if is_resize_infeasible(pod) { ResourceList::default() } else { spec.clone() };
    max(&mut requests, actuated);
    max(&mut requests, allocated);
    requests
}

fn add(sum: &mut ResourceList, more: &ResourceList) {
    if sum.is_empty() {
        sum.clone_from(more);
        return;
    }
    for (name, quantity) in more.iter() {
        *sum.get_or_insert(name, Quantity::default()) += *quantity;
    }
}

fn max(sum: &mut ResourceList, other: &ResourceList) {
    for (name, quantity) in other.iter() {
        if sum.get(name).is_none_or(|q| quantity > q) {
            sum.insert(name.clone(), *quantity);
        }
    }
}

/// The resources that a pod occupies on its node; mirrors `PodInfo.calculateResource` in
/// `pkg/scheduler/framework/types.go`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodResource {
    /// Exact requests, including the resize status.
    pub resource: Resource,
    /// CPU with defaults for containers that name none, in thousandths of a core.
    pub non_zero_cpu: i64,
    /// Memory with defaults, in bytes.
    pub non_zero_memory: i64,
}

impl PodResource {
    /// Computes the resources of a pod, with all gates at their defaults.
    pub fn of(pod: &Pod) -> Self {
        Self::with_emulation(pod, Emulation::default())
    }

    /// Computes the resources of a pod under a release and its gates.
    pub fn with_emulation(pod: &Pod, emulation: Emulation) -> Self {
        if emulation.behaviour().resources.node_usage == NodeUsage::Containers {
            return Self::of_containers(pod);
        }
        let pod_level = emulation.enabled(Gate::PodLevelResources);
        let base = PodResourcesOptions {
            sidecars_unknown: emulation.behaviour().resources.sidecars_refused_in == SidecarCheck::Unknown,
            skip_pod_level_resources: !pod_level,
            ..PodResourcesOptions::of_resizes(emulation)
        };
        let requests = pod_requests(pod, base);
        if emulation.behaviour().resources.assumed_usage == AssumedUsage::PerPhase {
            let (non_zero_cpu, non_zero_memory) = usage_per_phase(pod, base);
            return Self { resource: Resource::from_list(&requests), non_zero_cpu, non_zero_memory };
        }
        let mut defaults = default_container_requests();
        if pod_level && is_pod_level_requests_set(pod) {
            // Defaults then apply only to resources that neither the pod nor any container names.
            for name in requests.keys() {
                defaults.remove(name);
            }
        }
        let non_zero = pod_requests(pod, PodResourcesOptions { non_missing_container_requests: Some(&defaults), ..base });
        Self {
            resource: Resource::from_list(&requests),
            non_zero_cpu: non_zero.get("cpu").map_or(0, |q| q.milli_value()),
            non_zero_memory: non_zero.get("memory").map_or(0, |q| q.value()),
        }
    }
}

impl PodResource {
    /// Sums the containers only; mirrors `calculateResource` of releases with [`NodeUsage::Containers`].
    fn of_containers(pod: &Pod) -> Self {
        let mut usage = Self::default();
        for container in &pod.spec.containers {
            let requests = &container.resources.requests;
            usage.resource.add_list(requests);
            let cpu = requests.get("cpu").map_or(DEFAULT_MILLI_CPU_REQUEST, |q| q.milli_value());
            let memory = requests.get("memory").map_or(DEFAULT_MEMORY_REQUEST, |q| q.value());
            usage.non_zero_cpu = usage.non_zero_cpu.wrapping_add(cpu);
            usage.non_zero_memory = usage.non_zero_memory.wrapping_add(memory);
        }
        usage
    }
}

/// Returns CPU (thousandths of a core) and memory (bytes) with defaults for containers and init phases that name none.
/// The result is the larger of the sum over containers and the largest phase, plus overhead. A phase is an init
/// container plus the sidecars started before it, or the sidecars up to one. Mirrors `calculateResource` of releases
/// with [`AssumedUsage::PerPhase`].
fn usage_per_phase(pod: &Pod, options: PodResourcesOptions<'_>) -> (i64, i64) {
    let with_defaults = |requests: &ResourceList| {
        let cpu = requests.get("cpu").map_or(DEFAULT_MILLI_CPU_REQUEST, |q| q.milli_value());
        (cpu, requests.get("memory").map_or(DEFAULT_MEMORY_REQUEST, |q| q.value()))
    };
    let (mut cpu, mut memory) = (0i64, 0i64);
    let statuses = || pod.status.container_statuses.iter().chain(&pod.status.init_container_statuses);
    for container in &pod.spec.containers {
        let more = with_defaults(&container_requests(pod, container, statuses(), options, true));
        (cpu, memory) = (cpu.wrapping_add(more.0), memory.wrapping_add(more.1));
    }
    let mut restartable = ResourceList::default();
    for container in &pod.spec.init_containers {
        let phase = container_requests(pod, container, statuses(), options, options.is_sidecar(container));
        let is_sidecar = options.is_sidecar(container);
        if is_sidecar {
            add(&mut restartable, &phase);
        }
        // Only these two count.
        let phase = ["cpu", "memory"].into_iter().filter_map(|name| {
            let (own, of_sidecars) = (phase.get(name).filter(|_| !is_sidecar), restartable.get(name));
            let sum =
                own.into_iter().chain(of_sidecars).fold(None, |sum: Option<Quantity>, more| Some(sum.map_or(*more, |sum| sum + *more)));
            Some((name, sum?))
        });
        let phase = with_defaults(&phase.collect());
        (cpu, memory) = (cpu.max(phase.0), memory.max(phase.1));
    }
    let overhead = &pod.spec.overhead;
    let overhead = (overhead.get("cpu").map_or(0, |q| q.milli_value()), overhead.get("memory").map_or(0, |q| q.value()));
    (cpu.wrapping_add(overhead.0), memory.wrapping_add(overhead.1))
}

/// Returns the requests that scoring assumes for a container that names neither CPU nor memory.
pub fn default_container_requests() -> ResourceList {
    [("cpu", Quantity::milli(DEFAULT_MILLI_CPU_REQUEST)), ("memory", Quantity::bytes(DEFAULT_MEMORY_REQUEST))].into_iter().collect()
}

#[cfg(test)]
mod tests;
