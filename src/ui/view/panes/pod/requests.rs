//! The requests of a pod by container, and their total as the scheduler counts it.

use std::sync::Arc;

use crate::cluster::{Container, Pod, ResourceList};
use crate::framework::{PodResource, is_supported_pod_level_resource};
use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width, fit, left, right};
use crate::ui::model::list::RowId;
use crate::ui::model::page::PageRows;
use crate::ui::model::page::{Cell, cell};
use crate::ui::model::text;

/// Adds the table of requests: containers, overhead, pod-level requests, and the total that the scheduler counts.
pub(super) fn table(pod: &Pod, width: usize, rows: &mut PageRows<'_>) {
    let spec = &pod.spec;
    let names: Vec<&str> = spec.containers.iter().chain(&spec.init_containers).map(|c| c.name.as_str()).collect();
    let columns = columns(width, &names);
    rows.heading("request, as the scheduler counts it");
    rows.titles(&columns);
    let mut number = 0;
    let mut line = |name: &str, what: &str, list: &ResourceList, rows: &mut PageRows<'_>| {
        rows.cells(RowId::Line("request", number), &columns, cells(name, what, list, Role::Text, columns.len()));
        number += 1;
    };
    let of = |c: &Container| c.resources.requests.clone();
    for container in &spec.init_containers {
        let what = if container.is_restartable() { "sidecar, added" } else { "init, the most counts" };
        line(&container.name, what, &of(container), rows);
    }
    for container in &spec.containers {
        line(&container.name, "container, added", &of(container), rows);
    }
    if let Some(resources) = &spec.resources {
        let counted: ResourceList =
            resources.requests.iter().filter(|(name, _)| is_supported_pod_level_resource(name)).map(|(k, v)| (k.clone(), *v)).collect();
        line("spec.resources", "of the pod, in place of the sum", &counted, rows);
    }
    if !spec.overhead.is_empty() {
        line("spec.overhead", "added", &spec.overhead, rows);
    }
    let counted = PodResource::of(pod);
    let resource = &counted.resource;
    let mut other: Vec<String> = Vec::new();
    if resource.ephemeral_storage != 0 {
        other.push(format!("ephemeral-storage {}", text::memory(resource.ephemeral_storage)));
    }
    other.extend(resource.scalar.iter().map(|(name, amount)| format!("{name} {amount}")));
    let mut sum = vec![
        cell("effective", Role::Strong),
        cell("what a node must have free", Role::Muted),
        cell(text::cpu(resource.milli_cpu), Role::Strong),
        cell(text::memory(resource.memory), Role::Strong),
        cell(other.join(", "), Role::Strong),
    ];
    drop_counts_as(&mut sum, columns.len());
    rows.cells(RowId::Line("effective", 0), &columns, sum);
    if (counted.non_zero_cpu, counted.non_zero_memory) != (resource.milli_cpu, resource.memory) {
        let words = format!(
            "cpu {}, memory {}: where a container names none, scores assume some",
            text::cpu(counted.non_zero_cpu),
            text::memory(counted.non_zero_memory)
        );
        rows.fact("counted by scores", words, Role::Muted);
    }
    rows.fact("quality of service", qos(pod), Role::Text);
}

fn columns(width: usize, names: &[&str]) -> Arc<[Column]> {
    let known = ["effective", "spec.resources", "spec.overhead"];
    let mut columns = vec![left("NAME", fit("NAME", (width / 3).max(12) as u16, names.iter().copied().chain(known)))];
    if width >= 66 {
        columns.push(left("COUNTS AS", Width::Fixed(31)));
    }
    columns.extend([right("CPU", Width::Fixed(7)), right("MEMORY", Width::Fixed(8)), left("OTHER", Width::Rest)]);
    columns.into()
}

/// Drops the cell of the column COUNTS AS where the table is too narrow for it.
fn drop_counts_as(cells: &mut Vec<Cell>, columns: usize) {
    if columns < cells.len() {
        cells.remove(1);
    }
}

fn cells(name: &str, what: &str, list: &ResourceList, role: Role, columns: usize) -> Vec<Cell> {
    let amount = |name: &str| list.get(name).map_or_else(|| "-".to_owned(), ToString::to_string);
    let other = list.iter().filter(|(name, _)| !matches!(name.as_str(), "cpu" | "memory"));
    let other = other.map(|(name, amount)| format!("{name} {amount}")).collect::<Vec<_>>().join(", ");
    let mut cells =
        vec![cell(name, role), cell(what, Role::Muted), cell(amount("cpu"), role), cell(amount("memory"), role), cell(other, role)];
    drop_counts_as(&mut cells, columns);
    cells
}

/// Returns the quality of service class, as `ComputePodQOS` in `pkg/apis/core/v1/helper/qos/qos.go` does: only cpu and
/// memory count, and pod-level resources replace those of containers.
pub(super) fn qos(pod: &Pod) -> &'static str {
    let of_pod = pod.spec.resources.as_ref().filter(|r| counts(&r.requests) || counts(&r.limits));
    let each: Vec<_> = match of_pod {
        Some(own) => vec![own],
        None => pod.spec.containers.iter().chain(&pod.spec.init_containers).map(|c| &c.resources).collect(),
    };
    if !each.iter().any(|r| counts(&r.requests) || counts(&r.limits)) {
        return "BestEffort";
    }
    let guaranteed = |name: &str| {
        each.iter().all(|r| match (r.limits.get(name), r.requests.get(name)) {
            (Some(limit), request) => !limit.is_zero() && request.is_none_or(|request| request == limit),
            (None, _) => false,
        })
    };
    if guaranteed("cpu") && guaranteed("memory") { "Guaranteed" } else { "Burstable" }
}

fn counts(list: &ResourceList) -> bool {
    ["cpu", "memory"].iter().any(|name| list.get(name).is_some_and(|q| !q.is_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(spec: &str) -> Pod {
        serde_json::from_str(&format!(r#"{{"metadata":{{"name":"p"}},"spec":{spec}}}"#)).unwrap()
    }

    #[test]
    fn the_class_follows_from_requests_and_limits() {
        let check = |resources: &str, expected: &str| {
            assert_eq!(qos(&pod(&format!(r#"{{"containers":[{{"name":"a","resources":{resources}}}]}}"#))), expected, "{resources}");
        };
        check("{}", "BestEffort");
        check(r#"{"requests":{"cpu":"0"}}"#, "BestEffort");
        check(r#"{"requests":{"example.com/gpu":"1"}}"#, "BestEffort");
        check(r#"{"requests":{"cpu":"1"}}"#, "Burstable");
        check(r#"{"limits":{"cpu":"1","memory":"1Gi"}}"#, "Guaranteed");
        check(r#"{"requests":{"cpu":"1","memory":"1Gi"},"limits":{"cpu":"1000m","memory":"1024Mi"}}"#, "Guaranteed");
        check(r#"{"requests":{"cpu":"1"},"limits":{"cpu":"2","memory":"1Gi"}}"#, "Burstable");
        let two = r#"{"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}},{"name":"b"}]}"#;
        assert_eq!(qos(&pod(two)), "Burstable", "every container has to name both");
        let whole = r#"{"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"containers":[{"name":"a"}]}"#;
        assert_eq!(qos(&pod(whole)), "Guaranteed", "the pod's own count");
    }
}
