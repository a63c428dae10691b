//! Identities of panes. What a pane shows and does is defined with it, above this room.

use std::fmt;

/// A pane. Two panes are the same if their digits are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pane {
    /// The digit that goes to it, from 1.
    pub digit: u8,
    /// Its name, as its title and its tab begin.
    pub name: &'static str,
    /// Where it is shown.
    pub place: Place,
}

/// Where a pane is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On the left; on a small screen in the main area.
    Left,
    /// On the right, above preemption where both have room.
    Upper,
    /// On the right, below where there is room.
    Lower,
    /// Always in sight, below the others.
    Fixed,
}

/// Panes that the state refers to. Other panes define their identity with the rest of them.
impl Pane {
    /// Where pods wait.
    pub const QUEUES: Self = Self::new(1, "Queues", Place::Left);
    /// Every node's verdict.
    pub const NODES: Self = Self::new(2, "Nodes", Place::Upper);
    /// Candidates, victims and the tie-break.
    pub const PREEMPTION: Self = Self::new(3, "Preemption", Place::Lower);
    /// One node.
    pub const NODE: Self = Self::new(4, "Node", Place::Upper);
    /// The record as sentences.
    pub const STEPS: Self = Self::new(5, "Steps", Place::Fixed);
    /// kube-scheduler's message to the user.
    pub const MESSAGE: Self = Self::new(6, "Message", Place::Fixed);
    /// One pod.
    pub const POD: Self = Self::new(7, "Pod", Place::Upper);
    /// One candidate for preemption.
    pub const CANDIDATE: Self = Self::new(8, "Candidate", Place::Upper);
    /// The budgets, and the effect of preemption on them.
    pub const BUDGETS: Self = Self::new(9, "Budgets", Place::Upper);

    /// Returns a pane of its own.
    pub const fn new(digit: u8, name: &'static str, place: Place) -> Self {
        Self { digit, name, place }
    }
}

impl Default for Pane {
    fn default() -> Self {
        Self::QUEUES
    }
}

impl fmt::Display for Pane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Pane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
