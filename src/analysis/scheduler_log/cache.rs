//! Compares the cache that the scheduler logged on SIGUSR2 with ours, node by node.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{LogReport, Replay};
use crate::framework::{NodeInfo, Resource};
use crate::plural::count;
use crate::scheduler_log::{Amounts, CachedNode, Dump, Stamp};

/// A node of the scheduler's cache beside ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedNode {
    pub node: String,
    /// The differences; empty if both are the same.
    pub differences: Vec<CacheDifference>,
}

/// A difference between the scheduler's cache and ours.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheDifference {
    /// The dump does not have the node.
    NotInDump,
    /// The scheduler's cache does not have the node.
    NotInCache,
    /// The scheduler saw the deletion of the node, but not that of its pods.
    Deleted,
    /// Another amount is requested.
    Requested(Difference),
    /// Another amount is allocatable.
    Allocatable(Difference),
    /// Pods that only the scheduler's cache has on the node.
    OnlyThere(Vec<String>),
    /// Pods that only the dump has on the node.
    OnlyHere(Vec<String>),
}

/// An amount of a resource in the scheduler's cache and in ours.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    pub resource: String,
    /// The scheduler's amount: thousandths for cpu, else units.
    pub there: i64,
    /// Our amount.
    pub here: i64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.resource == "cpu" { "m" } else { "" };
        write!(f, "{} {}{unit} in the cache, {}{unit} in the dump", self.resource, self.there, self.here)
    }
}

impl fmt::Display for CacheDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInDump => f.write_str("not in the dump"),
            Self::NotInCache => f.write_str("not in the cache"),
            Self::Deleted => f.write_str("the node is deleted, but its pods are not"),
            Self::Requested(difference) => write!(f, "requested {difference}"),
            Self::Allocatable(difference) => write!(f, "allocatable {difference}"),
            Self::OnlyThere(pods) => write!(f, "only in the cache: {}", pods.join(", ")),
            Self::OnlyHere(pods) => write!(f, "only in the dump: {}", pods.join(", ")),
        }
    }
}

/// Returns the amounts by resource.
fn of_cache(amounts: &Amounts, with_pods: bool) -> BTreeMap<&str, i64> {
    let plain = [("cpu", amounts.milli_cpu), ("memory", amounts.memory), ("ephemeral-storage", amounts.ephemeral_storage)];
    let pods = with_pods.then_some(("pods", amounts.pods));
    plain.into_iter().chain(pods).chain(amounts.scalars.iter().map(|(name, amount)| (name.as_str(), *amount))).collect()
}

fn of_ours(resource: &Resource, with_pods: bool) -> BTreeMap<&str, i64> {
    let plain = [("cpu", resource.milli_cpu), ("memory", resource.memory), ("ephemeral-storage", resource.ephemeral_storage)];
    let pods = with_pods.then_some(("pods", resource.allowed_pod_number));
    plain.into_iter().chain(pods).chain(resource.scalar.iter().map(|(name, amount)| (name.as_str(), *amount))).collect()
}

fn differences(there: &BTreeMap<&str, i64>, here: &BTreeMap<&str, i64>) -> Vec<Difference> {
    let names: BTreeSet<&&str> = there.keys().chain(here.keys()).collect();
    let amount = |of: &BTreeMap<&str, i64>, name: &str| of.get(name).copied().unwrap_or(0);
    let found =
        names.into_iter().map(|name| Difference { resource: (*name).to_owned(), there: amount(there, name), here: amount(here, name) });
    found.filter(|difference| difference.there != difference.here).collect()
}

impl LogReport<'_> {
    /// Returns the last dump that has nodes.
    pub(super) fn last_cache(&self) -> Option<&Dump> {
        self.log.dumps.iter().rev().find(|dump| usize::from(dump.process) == self.process && !dump.nodes.is_empty())
    }

    /// Compares the last cache in the log with ours at that moment, which `replay` rebuilds; `None` if the log has none.
    pub(super) fn cache(&self, replay: &mut Replay<'_>) -> Option<(Stamp, Vec<ComparedNode>)> {
        let dump = self.last_cache()?;
        replay.until(dump.at);
        let snapshot = replay.scheduler().state().snapshot();
        let mut nodes: Vec<ComparedNode> = Vec::new();
        let mut names = BTreeSet::new();
        for cached in &dump.nodes {
            let name = self.log.names.text(cached.name);
            names.insert(name);
            let differences = match snapshot.get(name) {
                Some(ours) => self.compare_node(cached, ours),
                None if cached.deleted => vec![CacheDifference::NotInDump, CacheDifference::Deleted],
                None => vec![CacheDifference::NotInDump],
            };
            nodes.push(ComparedNode { node: name.to_owned(), differences });
        }
        for ours in snapshot.nodes() {
            if !names.contains(ours.name().as_str()) {
                nodes.push(ComparedNode { node: ours.name().to_string(), differences: vec![CacheDifference::NotInCache] });
            }
        }
        nodes.sort_by(|a, b| a.node.cmp(&b.node));
        Some((dump.at, nodes))
    }

    fn compare_node(&self, cached: &CachedNode, ours: &NodeInfo) -> Vec<CacheDifference> {
        let mut found = Vec::new();
        if cached.deleted {
            found.push(CacheDifference::Deleted);
        }
        let requested = differences(&of_cache(&cached.requested, false), &of_ours(&ours.requested, false));
        found.extend(requested.into_iter().map(CacheDifference::Requested));
        let allocatable = differences(&of_cache(&cached.allocatable, true), &of_ours(&ours.allocatable, true));
        found.extend(allocatable.into_iter().map(CacheDifference::Allocatable));
        let there: BTreeSet<String> = cached.pods.iter().map(|pod| self.log.names.text(*pod).to_owned()).collect();
        let here: BTreeSet<String> = ours.pods.iter().map(|pod| pod.pod.key().to_string()).collect();
        let only =
            |a: &BTreeSet<String>, b: &BTreeSet<String>| Some(a.difference(b).cloned().collect::<Vec<_>>()).filter(|pods| !pods.is_empty());
        found.extend(only(&there, &here).map(CacheDifference::OnlyThere));
        found.extend(only(&here, &there).map(CacheDifference::OnlyHere));
        found
    }

    /// Returns the comparison in lines: a line for all nodes that are the same, and one for each other node.
    pub(crate) fn cache_lines((at, nodes): &(Stamp, Vec<ComparedNode>), show: impl Fn(Stamp) -> String) -> Vec<String> {
        let same = nodes.iter().filter(|node| node.differences.is_empty()).count();
        let mut lines = vec![format!("the scheduler's cache at {}: {same} of {} as in the dump", show(*at), count(nodes.len(), "node"))];
        for node in nodes.iter().filter(|node| !node.differences.is_empty()) {
            let words: Vec<String> = node.differences.iter().map(ToString::to_string).collect();
            lines.push(format!("{}: {}", node.node, words.join("; ")));
        }
        lines
    }
}
