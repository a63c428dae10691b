//! In which order a list stands: each pane's own, or one that the reader chose.

use std::cmp::Reverse;

use crate::cluster::{Quantity, Str};
use crate::framework::NodeInfo;
use crate::trace::{CycleStart, CycleView};
use crate::ui::action::Pane;
use crate::ui::facts::{Class, Verdicts};

/// An order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Order {
    /// The pane's own: the queue's order, nodes from best to worst, candidates from the one that wins.
    #[default]
    Usual,
    /// By name.
    Name,
    /// The highest priority first.
    Priority,
    /// The most attempts first.
    Attempts,
    /// The most free cpu first.
    FreeCpu,
    /// Nodes that fit, then those that lack the smallest part of what the pod asks for.
    Closest,
    /// The fewest victims first.
    Victims,
    /// The fewest violated budgets first.
    Violations,
}

impl Order {
    /// The orders of a pane's list, its own first; none where there is no list to sort.
    pub fn of(pane: Pane) -> &'static [Self] {
        match pane {
            Pane::Queues => &[Self::Usual, Self::Priority, Self::Name, Self::Attempts],
            Pane::Nodes => &[Self::Usual, Self::Name, Self::FreeCpu, Self::Closest],
            Pane::Preemption => &[Self::Usual, Self::Name, Self::Victims, Self::Violations],
            Pane::NodeDetail | Pane::Steps | Pane::Message | Pane::PodDetail | Pane::Candidate | Pane::Budgets => &[],
        }
    }

    /// The next order of a pane.
    #[must_use]
    pub fn next(self, pane: Pane) -> Self {
        let all = Self::of(pane);
        let at = all.iter().position(|order| *order == self).map_or(0, |at| at + 1);
        all.get(at % all.len().max(1)).copied().unwrap_or_default()
    }

    /// In a few words, as a pane's title says it.
    pub fn words(self, pane: Pane) -> &'static str {
        match (self, pane) {
            (Self::Usual, Pane::Queues) => "in queue order",
            (Self::Usual, Pane::Preemption) => "winner first",
            (Self::Usual, _) => "worst last",
            (Self::Name, _) => "by name",
            (Self::Priority, _) => "by priority",
            (Self::Attempts, _) => "by attempts",
            (Self::FreeCpu, _) => "by free cpu",
            (Self::Closest, _) => "closest to fitting",
            (Self::Victims, _) => "fewest victims",
            (Self::Violations, _) => "fewest violations",
        }
    }

    /// The order that a click on a column's heading asks for; `None` for headings that stand for none.
    pub fn of_heading(pane: Pane, heading: &str) -> Option<Self> {
        Some(match (pane, heading.trim()) {
            (Pane::Queues, "PRIORITY") => Self::Priority,
            (Pane::Queues, "TRIES") => Self::Attempts,
            (Pane::Nodes, "NODE") | (Pane::Preemption, "CANDIDATE") => Self::Name,
            (Pane::Nodes, "CPU FREE") => Self::FreeCpu,
            (Pane::Nodes, "REASON") => Self::Closest,
            (Pane::Nodes, "VERDICT" | "RANK" | "TOTAL") => Self::Usual,
            (Pane::Preemption, "VICTIMS") => Self::Victims,
            (Pane::Preemption, "PDB" | "MinPDB" | "MinNumPDBViolations") => Self::Violations,
            _ => return None,
        })
    }
}

/// Where a node stands among nodes in an order that is not the usual one; the least is listed first.
pub type NodePlace = (Class, Reverse<i64>, i64, Reverse<Option<i64>>);

/// Where a node stands in an order; ties are for the name to break.
pub fn node_place(order: Order, whole: &CycleView, verdicts: &Verdicts<'_>, node: &NodeInfo) -> NodePlace {
    let same = (Class::Fits, Reverse(0), 0, Reverse(None));
    match order {
        Order::FreeCpu => (Class::Fits, Reverse(node.allocatable.milli_cpu.saturating_sub(node.requested.milli_cpu)), 0, Reverse(None)),
        Order::Closest => {
            let lacks = whole.start.as_ref().map_or(0, |start| shortfall(start, node));
            (verdicts.of(node.name()).class, Reverse(0), lacks, Reverse(whole.scores.get(node.name()).map(|s| s.total)))
        }
        _ => same,
    }
}

/// How much of what a pod asks for a node lacks, in millionths of the amount that is asked for; that of the resource it
/// lacks most of.
pub fn shortfall(start: &CycleStart, node: &NodeInfo) -> i64 {
    let lacks = |wanted: i64, free: i64| -> i64 {
        let missing = i128::from(wanted) - i128::from(free);
        if wanted <= 0 || missing <= 0 { 0 } else { i64::try_from(missing * 1_000_000 / i128::from(wanted)).unwrap_or(i64::MAX) }
    };
    let (used, all) = (&node.requested, &node.allocatable);
    let of = |name: &Str, amount: &str| -> i64 {
        let Ok(wanted) = amount.parse::<Quantity>() else { return 0 };
        match name.as_str() {
            "cpu" => lacks(wanted.milli_value(), all.milli_cpu.saturating_sub(used.milli_cpu)),
            "memory" => lacks(wanted.value(), all.memory.saturating_sub(used.memory)),
            "ephemeral-storage" => lacks(wanted.value(), all.ephemeral_storage.saturating_sub(used.ephemeral_storage)),
            other => lacks(wanted.value(), all.scalar(other).saturating_sub(used.scalar(other))),
        }
    };
    let pods = lacks(1, all.allowed_pod_number.saturating_sub(i64::try_from(node.pods.len()).unwrap_or(i64::MAX)));
    start.requests.iter().map(|(name, amount)| of(name, amount)).fold(pods, i64::max)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::framework::PodInfo;
    use crate::ui::fixture;

    #[test]
    fn what_is_lacking_is_measured_by_what_is_asked_for() {
        let mut node = NodeInfo::new(Arc::new(fixture::node("n", "4", "8Gi")));
        node.add_pod(Arc::new(PodInfo::new(Arc::new(fixture::pod("a/b", 0, "1", "2Gi", "n", None)))));
        let check = |requests: &[(&str, &str)], expected: i64| {
            let requests = requests.iter().map(|(n, q)| (Str::from(*n), (*q).to_owned())).collect();
            assert_eq!(shortfall(&CycleStart { requests, ..CycleStart::default() }, &node), expected);
        };
        check(&[], 0);
        check(&[("cpu", "3"), ("memory", "6Gi")], 0);
        check(&[("cpu", "4"), ("memory", "6Gi")], 250_000);
        check(&[("cpu", "4"), ("memory", "12Gi")], 500_000);
        check(&[("cpu", "0"), ("example.com/gpu", "2")], 1_000_000);
        check(&[("cpu", "nonsense"), ("ephemeral-storage", "1Gi")], 1_000_000);
    }

    #[test]
    fn every_pane_goes_round_its_orders_and_says_which() {
        for pane in [Pane::Queues, Pane::Nodes, Pane::Preemption] {
            let (mut order, mut seen) = (Order::default(), Vec::new());
            for _ in Order::of(pane) {
                assert!(!seen.contains(&order.words(pane)), "{pane} {order:?}");
                seen.push(order.words(pane));
                order = order.next(pane);
            }
            assert_eq!(order, Order::Usual, "{pane}");
        }
        assert_eq!(Order::Usual.next(Pane::Steps), Order::Usual);
    }
}
