//! Fixes of equal nodes, of which one is shown for all.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::change::Change;
use super::{Fix, FixOutcome};
use crate::cluster::{Cluster, Controller, Node, Str};
use crate::framework::NodeInfo;
use crate::scheduler::Scheduler;

/// Steps per power of ten to which amounts are rounded: nodes of one shape differ by what their kernels keep.
const STEPS: i64 = 50;

/// Marks every fix that does the same as one before it with an equal node.
pub(super) fn mark(scheduler: &Scheduler, fixes: &mut [Fix]) {
    if fixes.iter().filter(|fix| node_of(fix).is_some()).nth(1).is_none() {
        return;
    }
    let (snapshot, cluster) = (scheduler.state().snapshot(), scheduler.state().cluster());
    let mut seen: Vec<(String, usize)> = Vec::new();
    for (at, fix) in fixes.iter_mut().enumerate() {
        let Some((what, info)) = node_of(fix).and_then(|(what, node)| Some((what, snapshot.get(node)?))) else { continue };
        let outcome = if fix.outcome == FixOutcome::Scheduled { "" } else { "preempts" };
        let key = format!("{what} {outcome} {} {}", fix.last_resort.is_some(), shape(cluster, info));
        match seen.iter().find(|(known, _)| *known == key) {
            Some((_, first)) => fix.equals = Some(*first),
            None => seen.push((key, at)),
        }
    }
}

/// Returns what a fix does with the node that it is about; `None` for a fix that is not about one node alone.
fn node_of(fix: &Fix) -> Option<(String, &Str)> {
    let mut nodes = fix.changes.iter().filter(|change| !matches!(change, Change::Pod(_)));
    match nodes.next()? {
        Change::Node(node, change) if fix.changes.len() == 1 => Some((format!("{change:?}"), node)),
        Change::Create { like: Some(like), .. } => Some(("add".to_owned(), like)),
        _ => None,
    }
}

/// Returns what makes nodes equal to an owner: labels but those of places and of one node, taints, roughly their size, and the pods of
/// DaemonSets.
fn shape(cluster: &Cluster, info: &NodeInfo) -> String {
    let node: &Node = &info.node;
    let is_of_place = |key: &str| {
        key == "kubernetes.io/hostname"
            || key.ends_with("kubernetes.io/zone")
            || key.ends_with("kubernetes.io/region")
            || key.starts_with("topology.")
    };
    let is_shared = |key: &Str, value: &Str| {
        *value != *node.name() && cluster.nodes.iter().filter(|other| other.metadata.labels.get(key) == Some(value)).nth(1).is_some()
    };
    let mut text = String::new();
    for (key, value) in node.metadata.labels.iter().filter(|(key, value)| !is_of_place(key) && is_shared(key, value)) {
        let _ = write!(text, "{key}={value} ");
    }
    let taints: BTreeSet<String> = node.spec.taints.iter().map(|taint| format!("{taint:?}")).collect();
    let _ = write!(text, "{taints:?} ");
    for (resource, amount) in node.status.allocatable.iter() {
        let amount = if resource == "cpu" { amount.milli_value() } else { amount.value() };
        let step = (10_i64.saturating_pow(amount.max(1).ilog10()) / STEPS).max(1);
        let _ = write!(text, "{resource}={} ", (amount + step / 2) / step * step);
    }
    let daemons: BTreeSet<&Str> = info
        .pods
        .iter()
        .filter(|pod| Controller::of(&pod.pod) == Controller::DaemonSet)
        .filter_map(|pod| Some(&pod.pod.metadata.controller()?.name))
        .collect();
    let _ = write!(text, "{daemons:?}");
    text
}
