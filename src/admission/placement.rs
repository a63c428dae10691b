//! Checks of a pod's placement constraints, ports and resource names; mirrors parts of `pkg/apis/core/validation/validation.go`.

use std::collections::HashSet;

use serde_json::Value;

use super::refusal::FieldError;
use crate::cluster::{
    Container, LabelSelector, Labels, NodeSelectorTerm, Pod, PodAffinity, PodAffinityTerm, PodSpec, Quantity, Toleration,
};

/// Takes a path and an error.
type Errors<'a> = &'a mut dyn FnMut(String, String);

/// Checks what of the spec decides about nodes.
pub(super) fn validate(pod: &Pod, error: Errors<'_>) {
    let spec = &pod.spec;
    names(spec, error);
    host_ports(spec, error);
    for (key, value) in spec.node_selector.iter().flat_map(Labels::iter) {
        let problems = LabelSelector::key_errors(key).into_iter().map(|problem| (key, problem));
        for (text, problem) in problems.chain(LabelSelector::value_errors(value).into_iter().map(|problem| (value, problem))) {
            error("spec.nodeSelector".to_owned(), format!("Invalid value: \"{text}\": {problem}"));
        }
    }
    for (at, toleration) in spec.tolerations.iter().enumerate() {
        if let Some(detail) = of_toleration(toleration) {
            error(format!("spec.tolerations[{at}].operator"), detail);
        }
    }
    if let Some(affinity) = &spec.affinity {
        if let Some(nodes) = &affinity.node_affinity {
            node_affinity(nodes, error);
        }
        for (field, pods) in [("podAffinity", &affinity.pod_affinity), ("podAntiAffinity", &affinity.pod_anti_affinity)] {
            if let Some(pods) = pods {
                pod_affinity(pods, &format!("spec.affinity.{field}"), error);
            }
        }
    }
    spread(spec, error);
    if !pod.node_name.is_empty() && !spec.scheduling_gates.is_empty() {
        error("spec.nodeName".to_owned(), "Forbidden: cannot be set until all schedulingGates have been cleared".to_owned());
    }
    if let Some(policy) = spec.preemption_policy.as_deref().filter(|policy| !matches!(*policy, "Never" | "PreemptLowerPriority")) {
        let detail = format!("Unsupported value: \"{policy}\": supported values: \"Never\", \"PreemptLowerPriority\"");
        error("spec.preemptionPolicy".to_owned(), detail);
    }
}

/// Checks that no two containers have the same name.
fn names(spec: &PodSpec, error: Errors<'_>) {
    let mut seen = HashSet::new();
    for (list, containers) in [("containers", &spec.containers), ("initContainers", &spec.init_containers)] {
        for (at, container) in containers.iter().enumerate() {
            if !container.name.is_empty() && !seen.insert(&container.name) {
                error(format!("spec.{list}[{at}].name"), format!("Duplicate value: \"{}\"", container.name));
            }
        }
    }
}

/// Checks that no two ports of the containers take the same port of the host.
fn host_ports(spec: &PodSpec, error: Errors<'_>) {
    let mut seen = HashSet::new();
    for (at, container) in spec.containers.iter().enumerate() {
        for (number, port) in container.ports.iter().enumerate() {
            let Some(host_port) = port.host_port.filter(|port| *port != 0) else { continue };
            let protocol = if port.protocol.is_empty() { "TCP" } else { port.protocol.as_str() };
            if !seen.insert((protocol, &port.host_ip, host_port)) {
                let path = format!("spec.containers[{at}].ports[{number}].hostPort");
                error(path, format!("Duplicate value: \"{protocol}/{}/{host_port}\"", port.host_ip));
            }
        }
    }
}

fn of_toleration(toleration: &Toleration) -> Option<String> {
    let operator = toleration.operator.as_str();
    match operator {
        "" | "Equal" if toleration.key.is_empty() => Some(format!(
            "Invalid value: \"{operator}\": operator must be Exists when `key` is empty, which means \"match all values and all keys\""
        )),
        "Exists" if !toleration.value.is_empty() => {
            let value = serde_json::to_string(toleration).unwrap_or_default();
            Some(format!("Invalid value: {value}: value must be empty when `operator` is 'Exists'"))
        }
        // Lt and Gt are operators of newer releases.
        "" | "Equal" | "Exists" | "Lt" | "Gt" => None,
        _ => Some(format!("Unsupported value: \"{operator}\": supported values: \"Equal\", \"Exists\"")),
    }
}

fn node_affinity(nodes: &crate::cluster::NodeAffinity, error: Errors<'_>) {
    let path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    if let Some(required) = &nodes.required {
        if required.node_selector_terms.is_empty() {
            error(path.to_owned(), "Required value: must have at least one node selector term".to_owned());
        }
        for (at, term) in required.node_selector_terms.iter().enumerate() {
            node_term(term, &format!("{path}[{at}]"), error);
        }
    }
    for (at, preferred) in nodes.preferred.iter().flatten().enumerate() {
        let path = format!("spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[{at}]");
        weight(preferred.weight, &path, error);
        node_term(&preferred.preference, &format!("{path}.preference"), error);
    }
}

fn weight(weight: i32, path: &str, error: Errors<'_>) {
    if !(1..=100).contains(&weight) {
        error(format!("{path}.weight"), format!("Invalid value: {weight}: must be in the range 1-100"));
    }
}

fn node_term(term: &NodeSelectorTerm, path: &str, error: Errors<'_>) {
    for (at, requirement) in term.match_expressions.iter().enumerate() {
        let path = format!("{path}.matchExpressions[{at}]");
        let (operator, values) = (requirement.operator.as_str(), requirement.values.len());
        match operator {
            "In" | "NotIn" if values == 0 => {
                error(format!("{path}.values"), "Required value: must be specified when `operator` is 'In' or 'NotIn'".to_owned());
            }
            "Exists" | "DoesNotExist" if values > 0 => {
                let detail = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
                error(format!("{path}.values"), detail.to_owned());
            }
            "Gt" | "Lt" if values != 1 => {
                let detail = "Required value: must be specified single value when `operator` is 'Lt' or 'Gt'";
                error(format!("{path}.values"), detail.to_owned());
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
            _ => error(format!("{path}.operator"), format!("Invalid value: \"{operator}\": not a valid selector operator")),
        }
        for problem in LabelSelector::key_errors(&requirement.key) {
            error(format!("{path}.key"), format!("Invalid value: \"{}\": {problem}", requirement.key));
        }
    }
}

fn pod_affinity(pods: &PodAffinity, path: &str, error: Errors<'_>) {
    for (at, term) in pods.required.iter().enumerate() {
        pod_term(term, &format!("{path}.requiredDuringSchedulingIgnoredDuringExecution[{at}]"), error);
    }
    for (at, preferred) in pods.preferred.iter().enumerate() {
        let path = format!("{path}.preferredDuringSchedulingIgnoredDuringExecution[{at}]");
        weight(preferred.weight, &path, error);
        pod_term(&preferred.pod_affinity_term, &format!("{path}.podAffinityTerm"), error);
    }
}

fn pod_term(term: &PodAffinityTerm, path: &str, error: Errors<'_>) {
    if term.topology_key.is_empty() {
        error(format!("{path}.topologyKey"), "Required value: can not be empty".to_owned());
    }
    for problem in LabelSelector::key_errors(&term.topology_key) {
        error(format!("{path}.topologyKey"), format!("Invalid value: \"{}\": {problem}", term.topology_key));
    }
}

fn spread(spec: &PodSpec, error: Errors<'_>) {
    let mut last: std::collections::HashMap<_, usize> = std::collections::HashMap::new();
    for (at, constraint) in spec.topology_spread_constraints.iter().enumerate() {
        let path = |at: usize| format!("spec.topologySpreadConstraints[{at}]");
        let pair = (&constraint.topology_key, &constraint.when_unsatisfiable);
        if let Some(before) = last.insert(pair, at) {
            let detail = format!("Duplicate value: \"{{{}, {}}}\"", pair.0, pair.1);
            error(format!("{}.{{topologyKey, whenUnsatisfiable}}", path(before)), detail);
        }
        let Some(domains) = constraint.min_domains else { continue };
        if domains <= 0 {
            error(format!("{}.minDomains", path(at)), format!("Invalid value: {domains}: must be greater than zero"));
        }
        if constraint.when_unsatisfiable != "DoNotSchedule" {
            let detail = format!(
                "Invalid value: {domains}: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}",
                constraint.when_unsatisfiable
            );
            error(format!("{}.minDomains", path(at)), detail);
        }
    }
}

/// Checks the names of resources, and that those which nodes cannot overcommit have a limit like the request; mirrors
/// `ValidateContainerResourceRequirements`.
pub(super) fn resources(container: &Container, path: &str, error: Errors<'_>) {
    let (requests, limits) = (&container.resources.requests, &container.resources.limits);
    for (list, amounts) in [("limits", limits), ("requests", requests)] {
        for name in amounts.keys().filter(|name| !name.contains('/') && !is_of_containers(name)) {
            for problem in ["must be a standard resource type or fully qualified", "must be a standard resource for containers"] {
                error(format!("{path}.resources.{list}[{name}]"), format!("Invalid value: \"{name}\": {problem}"));
            }
        }
    }
    let mut lacks_limit = false;
    for (name, amount) in requests.iter().filter(|(name, _)| !is_overcommitted(name)) {
        match limits.get(name) {
            None => lacks_limit = true,
            Some(limit) if limit != amount => {
                let detail = format!("Invalid value: \"{amount}\": must be equal to {name} limit of {limit}");
                error(format!("{path}.resources.requests"), detail);
            }
            Some(_) => {}
        }
    }
    if lacks_limit {
        error(format!("{path}.resources.limits"), "Required value: Limit must be set for non overcommitable resources".to_owned());
    }
    let has = |is_meant: &dyn Fn(&str) -> bool| requests.iter().chain(limits.iter()).any(|(name, _): (_, &Quantity)| is_meant(name));
    if has(&|name| name.starts_with("hugepages-")) && !has(&|name| matches!(name, "cpu" | "memory")) {
        error(format!("{path}.resources"), "Forbidden: HugePages require cpu or memory".to_owned());
    }
}

fn is_of_containers(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
}

/// Returns whether requests may be lower than limits; mirrors `IsOvercommitAllowed`.
pub(super) fn is_overcommitted(name: &str) -> bool {
    (!name.contains('/') || name.contains("kubernetes.io/")) && !name.starts_with("hugepages-")
}

/// Returns the errors of mounts of volumes that a template, or a pod, has not.
pub(super) fn mounts(template: &Value) -> Vec<FieldError> {
    let list = |of: &Value, field: &str| of.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let spec = template.get("spec").unwrap_or(&Value::Null);
    let name = |of: &Value| of.get("name").and_then(Value::as_str).map(str::to_owned);
    let volumes: HashSet<String> = list(spec, "volumes").iter().filter_map(name).collect();
    let mut errors = Vec::new();
    for field in ["containers", "initContainers"] {
        for (at, container) in list(spec, field).iter().enumerate() {
            for (number, mount) in list(container, "volumeMounts").iter().enumerate() {
                if let Some(name) = name(mount).filter(|name| !volumes.contains(name)) {
                    let path = format!("spec.{field}[{at}].volumeMounts[{number}].name");
                    errors.push(FieldError { path, detail: format!("Not found: \"{name}\"") });
                }
            }
        }
    }
    errors
}
