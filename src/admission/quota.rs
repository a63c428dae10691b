//! ResourceQuotas: the scope, the usage of a pod, the amounts left; mirrors `pkg/quota/v1/evaluator/core/pods.go` and
//! `staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go`.

use serde::Deserialize;
use serde_json::Value;

use super::{NewPod, Refusal};
use crate::cluster::{Container, Key, Pod, PodAffinityTerm, PodSpec, Quantity, ResourceList, Str};
use crate::framework::{PodResourcesOptions, is_extended_resource_name, pod_requests};
use crate::release::{Emulation, Gate};

/// Resources of a quota that every container must name, if the quota names them.
const NEEDED: [&str; 6] = ["cpu", "limits.cpu", "limits.memory", "memory", "requests.cpu", "requests.memory"];

/// A ResourceQuota.
#[derive(Clone, Debug)]
pub(super) struct Quota {
    key: Key,
    hard: ResourceList,
    /// `status.used`; `None` where no controller has written it.
    used: Option<ResourceList>,
    scopes: Vec<Scope>,
    /// Whether it limits something of pods.
    is_of_pods: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Wire {
    spec: Spec,
    status: Status,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    hard: ResourceList,
    scopes: Vec<Str>,
    scope_selector: ScopeSelector,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScopeSelector {
    match_expressions: Vec<Scope>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Scope {
    #[serde(rename = "scopeName")]
    name: Str,
    operator: Str,
    /// Sorted.
    values: Vec<Str>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    hard: ResourceList,
    used: ResourceList,
}

impl Quota {
    /// Reads a quota.
    pub(super) fn read(object: &Value, key: &Key) -> serde_json::Result<Self> {
        let Wire { spec, status } = Wire::deserialize(object)?;
        let mut scopes: Vec<Scope> = spec.scope_selector.match_expressions;
        scopes.extend(spec.scopes.into_iter().map(|name| Scope { name, operator: "Exists".into(), values: Vec::new() }));
        let used = (!status.hard.is_empty()).then_some(status.used);
        for scope in &mut scopes {
            scope.values.sort();
        }
        let is_of_pods = spec.hard.keys().any(|name| is_of_pods(name));
        Ok(Self { key: key.clone(), hard: spec.hard, used, scopes, is_of_pods })
    }

    pub(super) fn key(&self) -> &Key {
        &self.key
    }

    /// Returns whether the quota counts a pod: it limits something of pods, and the pod is in all of its scopes.
    pub(super) fn covers(&self, new: &NewPod) -> bool {
        self.is_of_pods && self.scopes.iter().all(|scope| scope.holds(new))
    }

    /// Returns the limits.
    pub(super) fn hard(&self) -> &ResourceList {
        &self.hard
    }

    /// Returns the usage that a controller has written.
    pub(super) fn used(&self) -> Option<&ResourceList> {
        self.used.as_ref()
    }

    /// Refuses a pod with containers that lack a request or limit which the quota names.
    pub(super) fn check_named(&self, lacking: &[(&'static str, Vec<Str>)]) -> Result<(), Refusal> {
        let named = lacking.iter().filter(|(resource, _)| self.hard.contains_key(resource));
        let missing: Vec<_> = named.map(|(resource, containers)| (Str::from(*resource), containers.clone())).collect();
        if missing.is_empty() { Ok(()) } else { Err(Refusal::QuotaNeeds { quota: self.key.clone(), missing }) }
    }
}

/// Returns the containers of a pod that lack each of the resources that a quota may need, by name, both sorted.
pub(super) fn containers_lacking(pod: &Pod) -> Vec<(&'static str, Vec<Str>)> {
    let containers = || pod.spec.containers.iter().chain(pod.spec.init_containers.iter());
    let of = |resource: &'static str| {
        let mut lacking: Vec<Str> = containers().filter(|container| !names(container, resource)).map(|c| c.name.clone()).collect();
        lacking.sort();
        lacking.dedup();
        (!lacking.is_empty()).then_some((resource, lacking))
    };
    NEEDED.into_iter().filter_map(of).collect()
}

impl Scope {
    fn holds(&self, new: &NewPod) -> bool {
        let pod = &new.pod;
        match self.name.as_str() {
            "Terminating" => new.has_deadline,
            "NotTerminating" => !new.has_deadline,
            "BestEffort" => is_best_effort(pod),
            "NotBestEffort" => !is_best_effort(pod),
            "PriorityClass" => {
                let class = &pod.spec.priority_class_name;
                match self.operator.as_str() {
                    "Exists" => !class.is_empty(),
                    "DoesNotExist" => class.is_empty(),
                    "In" => !class.is_empty() && self.values.binary_search(class).is_ok(),
                    "NotIn" => self.values.binary_search(class).is_err(),
                    _ => false,
                }
            }
            "CrossNamespacePodAffinity" => has_cross_namespace_affinity(pod),
            _ => false,
        }
    }
}

/// Returns whether a quota's resource limits something of pods.
fn is_of_pods(name: &str) -> bool {
    matches!(
        name,
        "count/pods"
            | "pods"
            | "cpu"
            | "memory"
            | "ephemeral-storage"
            | "requests.cpu"
            | "requests.memory"
            | "requests.ephemeral-storage"
            | "limits.cpu"
            | "limits.memory"
            | "limits.ephemeral-storage"
    ) || name.starts_with("hugepages-")
        || name.strip_prefix("requests.").is_some_and(|rest| rest.starts_with("hugepages-") || is_extended_resource_name(rest))
}

/// Returns whether a container names what a quota limits.
fn names(container: &Container, resource: &str) -> bool {
    let (list, name) = match resource.split_once('.') {
        Some(("limits", name)) => (&container.resources.limits, name),
        Some(("requests", name)) => (&container.resources.requests, name),
        _ => (&container.resources.requests, resource),
    };
    list.contains_key(name)
}

/// Returns what a pod uses of quotas. A pod that has ended uses `count/pods` only.
pub(super) fn usage(pod: &Pod, emulation: Emulation) -> ResourceList {
    let mut usage = ResourceList::default();
    usage.insert("count/pods".into(), Quantity::units(1));
    if pod.is_terminal() {
        return usage;
    }
    usage.insert("pods".into(), Quantity::units(1));
    let options = PodResourcesOptions {
        skip_pod_level_resources: !emulation.enabled(Gate::PodLevelResources),
        use_status_resources: emulation.enabled(Gate::InPlacePodVerticalScaling),
        ..PodResourcesOptions::default()
    };
    for (name, amount) in pod_requests(pod, options).iter() {
        let is_plain = matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if is_plain {
            usage.insert(name.clone(), *amount);
        }
        if is_plain || is_extended_resource_name(name) {
            usage.insert(format!("requests.{name}").into(), *amount);
        }
    }
    for (name, amount) in limits(pod, options).iter() {
        if matches!(name.as_str(), "cpu" | "memory" | "ephemeral-storage") {
            usage.insert(format!("limits.{name}").into(), *amount);
        }
    }
    usage
}

/// Returns the limits of a pod, summed as its requests are. The overhead counts for limits that are given.
fn limits(pod: &Pod, options: PodResourcesOptions<'_>) -> ResourceList {
    let mut spec = PodSpec::default();
    spec.containers.clone_from(&pod.spec.containers);
    spec.init_containers.clone_from(&pod.spec.init_containers);
    spec.resources.clone_from(&pod.spec.resources);
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
        container.resources.requests = std::mem::take(&mut container.resources.limits);
    }
    if let Some(resources) = &mut spec.resources {
        resources.requests = std::mem::take(&mut resources.limits);
    }
    let twin = Pod { spec: spec.into(), ..Pod::default() };
    let mut limits = pod_requests(&twin, PodResourcesOptions { use_status_resources: false, ..options });
    for (name, amount) in pod.spec.overhead.iter() {
        if let Some(known) = limits.get(name).copied() {
            limits.insert(name.clone(), known + *amount);
        }
    }
    limits
}

/// Returns whether no container requests or limits CPU or memory.
fn is_best_effort(pod: &Pod) -> bool {
    let lists = |resources: &crate::cluster::ResourceRequirements| {
        [&resources.requests, &resources.limits]
            .iter()
            .any(|list| ["cpu", "memory"].iter().any(|name| list.get(name).is_some_and(|q| !q.is_zero())))
    };
    let containers = pod.spec.containers.iter().chain(pod.spec.init_containers.iter());
    !containers.map(|container| &container.resources).chain(pod.spec.resources.as_ref()).any(lists)
}

fn has_cross_namespace_affinity(pod: &Pod) -> bool {
    let crosses = |term: &PodAffinityTerm| !term.namespaces.is_empty() || term.namespace_selector.is_some();
    let Some(affinity) = &pod.spec.affinity else { return false };
    [&affinity.pod_affinity, &affinity.pod_anti_affinity]
        .into_iter()
        .flatten()
        .any(|of_pods| of_pods.required.iter().any(crosses) || of_pods.preferred.iter().any(|term| crosses(&term.pod_affinity_term)))
}
