//! Identities of panes. The view defines their contents and behaviour.

use std::fmt;

/// A pane, identified by its digit, or by a number from 10 on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pane {
    /// The digit key that goes to it.
    pub digit: u8,
    /// The name that its title and tab begin with.
    pub name: &'static str,
    /// Its place on the screen.
    pub place: Place,
}

/// The place of a pane on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// On the left; on a small screen in the main area.
    Left,
    /// On the right; above preemption if both fit.
    Upper,
    /// On the right; below if there is room.
    Lower,
    /// Always in sight, below the others.
    Fixed,
    /// In place of all others.
    Whole,
}

/// Panes that the state refers to. Other panes define their identities in the view.
impl Pane {
    /// All pending pods by cause.
    pub const OVERVIEW: Self = Self::new(0, "Overview", Place::Whole);
    pub const QUEUES: Self = Self::new(1, "Queues", Place::Left);
    /// The verdicts of all nodes.
    pub const NODES: Self = Self::new(2, "Nodes", Place::Upper);
    /// Candidates, victims and the tie-break.
    pub const PREEMPTION: Self = Self::new(3, "Preemption", Place::Lower);
    pub const NODE: Self = Self::new(4, "Node", Place::Upper);
    /// The events of the record as sentences.
    pub const STEPS: Self = Self::new(5, "Steps", Place::Fixed);
    /// kube-scheduler's message about the pod.
    pub const MESSAGE: Self = Self::new(6, "Message", Place::Fixed);
    pub const POD: Self = Self::new(7, "Pod", Place::Upper);
    /// A candidate for preemption.
    pub const CANDIDATE: Self = Self::new(8, "Candidate", Place::Upper);
    /// The budgets, and the effect of preemption on them.
    pub const BUDGETS: Self = Self::new(9, "Budgets", Place::Upper);

    pub const PODS: Self = Self::new(10, "Pods", Place::Whole);

    /// Returns the key that goes to it, as shown in its title.
    pub fn key(self) -> &'static str {
        const KEYS: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "P"];
        KEYS.get(usize::from(self.digit)).copied().unwrap_or("")
    }

    /// Returns the identity of a pane.
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
