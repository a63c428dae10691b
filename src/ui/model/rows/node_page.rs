//! The rows of a node's page that are about the node itself: resources, conditions, pods by owner, labels.

use std::collections::BTreeMap;

use super::NodePaneRow;
use crate::cluster::{Condition, Str};
use crate::framework::{NodeInfo, Resource};
use crate::ui::model::grouping::zone_of;
use crate::ui::model::text;

/// The heading of the table of resources.
pub const RESOURCES: &str = "resources                    allocatable    requested         free";
/// The heading of the table of owners.
pub const OWNERS: &str = "pods by owner                                   pods      cpu     memory";

/// Returns the zone of a node, with its region if a label names it.
pub fn zone(node: &NodeInfo) -> Option<String> {
    let zone = zone_of(&node.node)?;
    let labels = &node.node.metadata.labels;
    let region = labels.get("topology.kubernetes.io/region").or_else(|| labels.get("failure-domain.beta.kubernetes.io/region"));
    Some(region.map_or_else(|| zone.to_string(), |region| format!("{zone}, region {region}")))
}

/// Returns what a node has of each resource, what its pods request, and what is left: cpu, memory, ephemeral storage, pods, then the
/// others by name.
pub fn resources(node: &NodeInfo) -> Vec<NodePaneRow> {
    let (all, used) = (&node.allocatable, &node.requested);
    let plain = |amount: i64| amount.to_string();
    let mut rows = Vec::new();
    let mut add = |name: &str, allocatable: i64, requested: i64, form: &dyn Fn(i64) -> String| {
        let free = allocatable.saturating_sub(requested);
        let line = format!("{name:<26} {:>12} {:>12} {:>12}", form(allocatable), form(requested), form(free));
        rows.push(NodePaneRow::Line { kind: "resource", index: rows.len(), warns: free < 0, text: line });
    };
    add("cpu", all.milli_cpu, used.milli_cpu, &text::cpu);
    add("memory", all.memory, used.memory, &text::memory);
    if all.ephemeral_storage != 0 || used.ephemeral_storage != 0 {
        add("ephemeral-storage", all.ephemeral_storage, used.ephemeral_storage, &text::memory);
    }
    add("pods", all.allowed_pod_number, i64::try_from(node.pods.len()).unwrap_or(i64::MAX), &plain);
    let amount = |resource: &Resource, name: &Str| resource.scalar.get(name.as_str()).copied().unwrap_or(0);
    let mut others: Vec<&Str> = all.scalar.iter().chain(used.scalar.iter()).map(|(name, _)| name).collect();
    others.sort();
    others.dedup();
    for name in others {
        let form: &dyn Fn(i64) -> String = if name.starts_with("hugepages-") { &text::memory } else { &plain };
        add(name, amount(all, name), amount(used, name), form);
    }
    rows
}

/// Returns the conditions, those that keep pods away first; a note where the source has none.
pub fn conditions(node: &NodeInfo, now: jiff::Timestamp) -> Vec<NodePaneRow> {
    let is_bad = |condition: &Condition| match condition.kind.as_str() {
        "Ready" => condition.status != "True",
        "MemoryPressure" | "DiskPressure" | "PIDPressure" | "NetworkUnavailable" => condition.status != "False",
        // The meaning of others is not known.
        _ => false,
    };
    let mut all: Vec<&Condition> = node.node.status.conditions.iter().collect();
    if all.is_empty() {
        return vec![NodePaneRow::Note("unknown: the source states none")];
    }
    all.sort_by_key(|condition| (!is_bad(condition), condition.kind != "Ready"));
    let line = |(index, condition): (usize, &Condition)| {
        let since = condition.last_transition_time.map_or_else(String::new, |at| format!(" since {}", text::moment(now, at)));
        let why = [condition.reason.as_str(), condition.message.as_str()];
        let why = why.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(": ");
        let gap = if why.is_empty() { "" } else { "  " };
        let text = format!("{}={}{since}{gap}{why}", condition.kind, condition.status);
        NodePaneRow::Line { kind: "condition", index, warns: is_bad(condition), text }
    };
    all.into_iter().enumerate().map(line).collect()
}

/// Returns the worst of the conditions that keep pods away; `None` where the source states none of them.
pub fn unhealthy(node: &NodeInfo, now: jiff::Timestamp) -> Option<String> {
    match conditions(node, now).into_iter().next() {
        Some(NodePaneRow::Line { warns: true, text, .. }) => Some(text),
        _ => None,
    }
}

/// The pods of an owner on a node.
#[derive(Default)]
struct Owned {
    pods: usize,
    cpu: i64,
    memory: i64,
}

/// Returns the owners of a node's pods with what their pods request, most cpu first.
pub fn owners(node: &NodeInfo) -> Vec<NodePaneRow> {
    let mut owners: BTreeMap<String, Owned> = BTreeMap::new();
    for info in &node.pods {
        let namespace = &info.pod.metadata.namespace;
        let name = match info.pod.owner().map(|owner| owner.workload) {
            Some((kind, _)) if kind == "Node" => "static pods".to_owned(),
            Some((kind, name)) => format!("{kind} {namespace}/{name}"),
            None => "no owner".to_owned(),
        };
        let owned = owners.entry(name).or_default();
        owned.pods += 1;
        owned.cpu = owned.cpu.saturating_add(info.resource.resource.milli_cpu);
        owned.memory = owned.memory.saturating_add(info.resource.resource.memory);
    }
    let mut owners: Vec<(String, Owned)> = owners.into_iter().collect();
    owners.sort_by_key(|(_, owned)| std::cmp::Reverse(owned.cpu));
    let line = |(index, (name, owned)): (usize, (String, Owned))| {
        let name = text::clip_middle(&name, 44, "..").into_owned();
        let pad = " ".repeat(44_usize.saturating_sub(text::width(&name)));
        let text = format!("{name}{pad} {:>5} {:>8} {:>10}", owned.pods, text::cpu(owned.cpu), text::memory(owned.memory));
        NodePaneRow::Line { kind: "owner", index, warns: false, text }
    };
    owners.into_iter().enumerate().map(line).collect()
}

/// Returns the labels, one a row, by name.
pub fn labels(node: &NodeInfo) -> Vec<NodePaneRow> {
    let mut labels: Vec<String> = node.node.metadata.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    labels.sort();
    let line = |(index, text): (usize, String)| NodePaneRow::Line { kind: "label", index, warns: false, text };
    labels.into_iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests;
