//! Ranks of nodes by how close they are to fitting.

use std::cmp::Reverse;

use crate::cluster::{Quantity, Str};
use crate::framework::{NodeInfo, PluginName};
use crate::trace::{CycleStart, CycleView};
use crate::ui::model::verdict::Class;

/// How far a node is from fitting, least first: it fits, it lacks resources, it fails for a reason that eviction might
/// resolve, or for one that it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Fits,
    /// The largest missing share of a requested resource, in millionths.
    Lacks(i64),
    Otherwise(Class),
}

/// The rank of a node in the order of the closest first; lower ranks come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeRank(Distance, Reverse<Option<i64>>);

/// Ranks nodes by how close they are to fitting. Parses the pod's requests once.
pub struct NodeRanking {
    wanted: PodRequests,
}

impl NodeRanking {
    /// Prepares ranks for the pod of a cycle.
    pub fn new(cycle: &CycleView) -> Self {
        Self { wanted: PodRequests::of(cycle) }
    }

    /// Returns the rank of a node with a verdict of this class by this plugin, and with this total score.
    pub fn of(&self, node: &NodeInfo, class: Class, plugin: Option<PluginName>, total: Option<i64>) -> NodeRank {
        let distance = match (class, plugin) {
            (Class::Fits, _) => Distance::Fits,
            (Class::Unschedulable | Class::Unresolvable, Some(plugin)) if plugin.compares_requests() => {
                Distance::Lacks(self.wanted.share(node))
            }
            (class, _) => Distance::Otherwise(class),
        };
        NodeRank(distance, Reverse(total))
    }
}

/// The requests of a pod: cpu in thousandths, others in units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodRequests(Vec<(Str, i64)>);

impl PodRequests {
    /// Returns the requests of a cycle's pod, including one pod slot. Skips amounts that cannot be parsed.
    pub fn of(cycle: &CycleView) -> Self {
        cycle.start.as_ref().map_or_else(Self::default, |start| Self::at(start))
    }

    fn at(start: &CycleStart) -> Self {
        let amount = |name: &Str, text: &str| {
            let wanted = text.parse::<Quantity>().ok()?;
            let wanted = if name.as_str() == "cpu" { wanted.milli_value() } else { wanted.value() };
            (wanted > 0).then(|| (name.clone(), wanted))
        };
        let asked = start.requests.iter().filter_map(|(name, text)| amount(name, text));
        Self(asked.chain([("pods".into(), 1)]).collect())
    }

    /// Returns the resources that a node lacks: name, missing amount, requested amount.
    fn missing<'a>(&'a self, node: &'a NodeInfo) -> impl Iterator<Item = (&'a str, i64, i64)> {
        let (used, all) = (&node.requested, &node.allocatable);
        self.0.iter().filter_map(move |(name, wanted)| {
            let free = match name.as_str() {
                "cpu" => all.milli_cpu.saturating_sub(used.milli_cpu),
                "memory" => all.memory.saturating_sub(used.memory),
                "ephemeral-storage" => all.ephemeral_storage.saturating_sub(used.ephemeral_storage),
                "pods" => all.allowed_pod_number.saturating_sub(i64::try_from(node.pods.len()).unwrap_or(i64::MAX)),
                other => all.scalar(other).saturating_sub(used.scalar(other)),
            };
            (*wanted > free).then(|| (name.as_str(), wanted.saturating_sub(free), *wanted))
        })
    }

    /// Returns the largest missing share of any requested resource, in millionths.
    pub fn share(&self, node: &NodeInfo) -> i64 {
        let part = |missing: i64, wanted: i64| match missing.checked_mul(1_000_000) {
            Some(millionths) => millionths / wanted.max(1),
            None => i64::try_from(i128::from(missing) * 1_000_000 / i128::from(wanted.max(1))).unwrap_or(i64::MAX),
        };
        self.missing(node).map(|(_, missing, wanted)| part(missing, wanted)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
