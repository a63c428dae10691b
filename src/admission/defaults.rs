//! Defaults that depend on the pod only; mirrors `pkg/apis/core/v1/defaults.go`.

use crate::cluster::{
    Container, LabelSelector, NO_QUANTITY, Pod, PodAffinity, PodAffinityTerm, PodSpec, Quantity, Requirement, ResourceList, Str, Toleration,
};
use crate::release::Emulation;

/// Sets the defaults that scheduling reads in a pod of a source. Only a pod without a uid lacks requests: the API server gives a
/// uid and sets the requests at the same time.
pub(crate) fn source_pod(pod: &mut Pod) {
    if pod.spec.scheduler_name.is_empty() {
        pod.spec_mut().scheduler_name = Str::interned("default-scheduler");
    }
    if pod.metadata.uid.is_empty() {
        requests(pod.spec_mut());
    }
}

/// Sets the defaults of a pod that is created.
pub(super) fn new_pod(pod: &mut Pod, emulation: Emulation) {
    let spec = pod.spec_mut();
    if spec.scheduler_name.is_empty() {
        spec.scheduler_name = Str::interned("default-scheduler");
    }
    requests(spec);
    spec.restart_policy.get_or_insert_with(|| "Always".into());
    spec.termination_grace_period_seconds.get_or_insert(30);
    if emulation.behaviour().affinity.merges_match_label_keys {
        let labels = pod.metadata.labels.clone();
        merge_match_label_keys(pod.spec_mut(), &labels);
    }
    if pod.status.phase.is_empty() {
        pod.status.phase = "Pending".into();
    }
}

/// Sets missing requests to the limits. Missing requests of the whole pod are the sum over its containers, or else its
/// limits.
fn requests(spec: &mut PodSpec) {
    for container in spec.containers.iter_mut().chain(spec.init_containers.iter_mut()) {
        let resources = &mut container.resources;
        fill(&mut resources.requests, &resources.limits);
    }
    let Some(mut resources) = spec.resources.take() else { return };
    let from_containers: ResourceList =
        container_requests(spec).iter().filter(|(name, _)| at_pod_level(name)).map(|(k, v)| (k.clone(), *v)).collect();
    fill(&mut resources.requests, &from_containers);
    let limits: ResourceList = resources.limits.iter().filter(|(name, _)| at_pod_level(name)).map(|(k, v)| (k.clone(), *v)).collect();
    fill(&mut resources.requests, &limits);
    spec.resources = Some(resources);
}

/// Amounts that are inserted one by one, and not merged.
const FEW: usize = 8;

/// Adds the amounts of resources that a list lacks.
pub(super) fn fill(requests: &mut ResourceList, from: &ResourceList) {
    let mut missing = from.iter().filter(|(name, _)| !requests.contains_key(name));
    match missing.nth(FEW) {
        None => {
            for (name, amount) in from.iter() {
                requests.get_or_insert(name, *amount);
            }
        }
        Some(_) => {
            let all = from.iter().chain(requests.iter()).map(|(name, amount)| (name.clone(), *amount));
            *requests = all.collect();
        }
    }
}

/// Returns whether the resource can be set for a whole pod.
fn at_pod_level(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")
}

/// Returns the sum of the containers' requests: regular containers and sidecars, or more if an init container needs
/// more.
fn container_requests(spec: &PodSpec) -> ResourceList {
    let add = |sum: &mut ResourceList, container: &Container| {
        for (name, amount) in container.resources.requests.iter() {
            let total = sum.get(name).copied().unwrap_or(NO_QUANTITY) + *amount;
            sum.insert(name.clone(), total);
        }
    };
    let at_least = |sum: &mut ResourceList, other: &ResourceList| {
        for (name, amount) in other.iter() {
            let most: Quantity = sum.get(name).copied().map_or(*amount, |known| known.max(*amount));
            sum.insert(name.clone(), most);
        }
    };
    let (mut sidecars, mut peak) = (ResourceList::default(), ResourceList::default());
    for container in &spec.init_containers {
        let mut now = sidecars.clone();
        add(&mut now, container);
        at_least(&mut peak, &now);
        if container.is_restartable() {
            sidecars = now;
        }
    }
    let mut total = sidecars;
    spec.containers.iter().for_each(|container| add(&mut total, container));
    at_least(&mut total, &peak);
    total
}

/// Adds the tolerations of the two taints by which the node controller evicts, as
/// `plugin/pkg/admission/defaulttolerationseconds` does. Their 300 seconds count for evictions only.
pub(super) fn tolerations(pod: &mut Pod) {
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerates = |t: &Toleration| (t.key == key || t.key.is_empty()) && (t.effect == "NoExecute" || t.effect.is_empty());
        if !pod.spec.tolerations.iter().any(tolerates) {
            let toleration = Toleration { key: key.into(), operator: "Exists".into(), effect: "NoExecute".into(), ..Toleration::default() };
            pod.spec_mut().tolerations.push(toleration);
        }
    }
}

/// Adds the pod's own values of `matchLabelKeys` and `mismatchLabelKeys` to the selectors of its affinity terms; mirrors
/// `applyMatchLabelKeysAndMismatchLabelKeys` in `pkg/registry/core/pod/strategy.go`.
fn merge_match_label_keys(spec: &mut PodSpec, labels: &crate::cluster::Labels) {
    let Some(affinity) = spec.affinity.as_mut() else { return };
    let of_pods = |affinity: &mut Option<PodAffinity>| {
        let Some(affinity) = affinity.as_mut() else { return };
        affinity.required.iter_mut().for_each(|term| merge_term(term, labels));
        affinity.preferred.iter_mut().for_each(|term| merge_term(&mut term.pod_affinity_term, labels));
    };
    of_pods(&mut affinity.pod_affinity);
    of_pods(&mut affinity.pod_anti_affinity);
}

fn merge_term(term: &mut PodAffinityTerm, labels: &crate::cluster::Labels) {
    let Some(selector) = term.label_selector.as_mut() else { return };
    let add = |keys: &[Str], operator: &str, selector: &mut LabelSelector| {
        for key in keys {
            if let Some(value) = labels.get(key) {
                let requirement = Requirement { key: key.clone(), operator: operator.into(), values: vec![value.clone()].into() };
                selector.match_expressions.push(requirement);
            }
        }
    };
    add(&term.match_label_keys, "In", selector);
    add(&term.mismatch_label_keys, "NotIn", selector);
}
