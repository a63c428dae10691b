//! ResourceQuotas: the scope, the usage of a pod, the amounts left; mirrors `pkg/quota/v1/evaluator/core/pods.go` and
//! `staging/src/k8s.io/apiserver/pkg/admission/plugin/resourcequota/controller.go`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::refusal::QuotaAmount;
use super::{NewPod, Refusal};
use crate::cluster::{Cluster, Container, Key, List, Pod, PodAffinityTerm, Quantity, ResourceList, Str};
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
    values: List<Str>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    hard: ResourceList,
    used: ResourceList,
}

impl Quota {
    /// Reads a quota; `None` if its fields have other types.
    pub(super) fn read(object: &Value, key: &Key) -> Option<Self> {
        let Wire { spec, status } = Wire::deserialize(object).ok()?;
        let mut scopes: Vec<Scope> = spec.scope_selector.match_expressions;
        scopes.extend(spec.scopes.into_iter().map(|name| Scope { name, operator: "Exists".into(), values: List::default() }));
        let used = (!status.hard.is_empty()).then_some(status.used);
        Some(Self { key: key.clone(), hard: spec.hard, used, scopes })
    }

    pub(super) fn key(&self) -> Key {
        self.key.clone()
    }

    /// Returns whether the quota counts a pod: it limits something of pods, and the pod is in all of its scopes.
    pub(super) fn covers(&self, new: &NewPod) -> bool {
        self.hard.keys().any(|name| is_of_pods(name)) && self.scopes.iter().all(|scope| scope.holds(new))
    }

    /// Refuses a pod with containers that lack a request or limit which the quota names.
    pub(super) fn check_named(&self, pod: &Pod) -> Result<(), Refusal> {
        let mut missing: BTreeMap<Str, Vec<Str>> = BTreeMap::new();
        for container in pod.spec.containers.iter().chain(pod.spec.init_containers.iter()) {
            for resource in self.hard.keys().filter(|name| NEEDED.contains(&name.as_str()) && !names(container, name)) {
                let containers = missing.entry(resource.clone()).or_default();
                if !containers.contains(&container.name) {
                    containers.push(container.name.clone());
                }
            }
        }
        for containers in missing.values_mut() {
            containers.sort();
        }
        let missing: Vec<_> = missing.into_iter().collect();
        if missing.is_empty() { Ok(()) } else { Err(Refusal::QuotaNeeds { quota: self.key.clone(), missing }) }
    }

    /// Returns the usage: that of the status, or the sum over the pods of the cluster.
    pub(super) fn used(&self, cluster: &Cluster, emulation: Emulation) -> ResourceList {
        if let Some(used) = &self.used {
            return used.clone();
        }
        let mut used = ResourceList::default();
        for pod in cluster.pods.in_namespace(&self.key.namespace) {
            let known = NewPod::of(Pod::clone(pod));
            if self.covers(&known) {
                self.add(&usage(pod, emulation), &mut used);
            }
        }
        used
    }

    /// Refuses a usage of which too little is left.
    pub(super) fn check_amounts(&self, usage: &ResourceList, used: &ResourceList) -> Result<(), Refusal> {
        let exceeded = self.hard.iter().filter_map(|(resource, hard)| {
            let requested = usage.get(resource).copied()?;
            let used = used.get(resource).copied().unwrap_or_default();
            // A pod that needs none of a resource may exceed it.
            let is_exceeded = !requested.is_zero() && used + requested > *hard;
            is_exceeded.then(|| QuotaAmount { resource: resource.clone(), requested, used, hard: *hard })
        });
        let mut amounts: Vec<QuotaAmount> = exceeded.collect();
        amounts.sort_by(|a, b| a.resource.cmp(&b.resource));
        if amounts.is_empty() { Ok(()) } else { Err(Refusal::QuotaExceeded { quota: self.key.clone(), amounts }) }
    }

    pub(super) fn add(&self, usage: &ResourceList, used: &mut ResourceList) {
        for resource in self.hard.keys() {
            if let Some(amount) = usage.get(resource) {
                let sum = used.get(resource).copied().unwrap_or_default() + *amount;
                used.insert(resource.clone(), sum);
            }
        }
    }

    pub(super) fn subtract(&self, usage: &ResourceList, used: &mut ResourceList) {
        for resource in self.hard.keys() {
            if let (Some(amount), Some(known)) = (usage.get(resource), used.get(resource).copied()) {
                used.insert(resource.clone(), if known < *amount { Quantity::units(0) } else { known - *amount });
            }
        }
    }
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
                    "In" => !class.is_empty() && self.values.contains(class),
                    "NotIn" => !self.values.contains(class),
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
    let mut twin = Pod { metadata: pod.metadata.clone(), spec: pod.spec.clone(), ..Pod::default() };
    let spec = twin.spec_mut();
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
        container.resources.requests = std::mem::take(&mut container.resources.limits);
    }
    if let Some(resources) = &mut spec.resources {
        resources.requests = std::mem::take(&mut resources.limits);
    }
    let overhead = std::mem::take(&mut spec.overhead);
    let mut limits = pod_requests(&twin, PodResourcesOptions { use_status_resources: false, ..options });
    for (name, amount) in overhead.iter() {
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
