//! Orders of lists. Each pane names those it has, with the words for them.

/// An order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
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
    /// The largest request for cpu first.
    Request,
    /// The budgets that let the fewest pods go first.
    Left,
}

/// An order that a pane offers, with its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortChoice {
    /// The order.
    pub sort: Sort,
    /// A few words for the pane's title, such as `by name`.
    pub words: &'static str,
}

impl SortChoice {
    /// Returns an order with its words.
    pub const fn new(sort: Sort, words: &'static str) -> Self {
        Self { sort, words }
    }
}

/// Returns the order after this one in a pane's list; the first after the last one, [`Sort::Usual`] in an empty list.
pub fn next(choices: &[SortChoice], now: Sort) -> Sort {
    let at = choices.iter().position(|choice| choice.sort == now).map_or(0, |at| at + 1);
    choices.get(at % choices.len().max(1)).map_or(Sort::Usual, |choice| choice.sort)
}
