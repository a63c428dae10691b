//! Sort orders of lists. Each pane defines which it has, and their names.

/// A sort order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// The pane's own order: the queue's, nodes that fit, then those that lack the smallest part of the pod's requests; candidates with the winner first.
    #[default]
    Usual,
    Name,
    /// The highest priority first.
    Priority,
    /// The most attempts first.
    Attempts,
    /// The most free cpu first.
    FreeCpu,
    /// Nodes by verdict, plugin and reason.
    Verdict,
    /// The fewest victims first.
    Victims,
    /// The fewest violated budgets first.
    Violations,
    /// The largest request for cpu first.
    Request,
    /// The fewest allowed disruptions first.
    Left,
    Node,
    /// The oldest first.
    Age,
    Queue,
    /// Pods that preemption helps first.
    Preemption,
    /// Pods on which the cluster's scheduler disagrees first.
    Agreement,
}

/// A sort order of a pane, with its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortChoice {
    /// The order.
    pub sort: Sort,
    /// A few words for the pane's title, such as `by name`.
    pub words: &'static str,
}

impl SortChoice {
    /// Returns a sort order with its name.
    pub const fn new(sort: Sort, words: &'static str) -> Self {
        Self { sort, words }
    }
}

/// Returns the sort order after this one; after the last, the first; [`Sort::Usual`] in an empty list.
pub fn next(choices: &[SortChoice], now: Sort) -> Sort {
    let at = choices.iter().position(|choice| choice.sort == now).map_or(0, |at| at + 1);
    choices.get(at % choices.len().max(1)).map_or(Sort::Usual, |choice| choice.sort)
}
