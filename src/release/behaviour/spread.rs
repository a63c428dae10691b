//! Behaviours of PodTopologySpread.

/// The named behaviours of PodTopologySpread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpreadBehaviour {
    /// The key of PodTopologySpread's counts.
    pub counts: SpreadCounts,
    /// The workloads whose selectors are part of the selector of default constraints.
    pub default_selector: DefaultSelector,
    /// Which pods an empty selector of a spread constraint counts.
    pub empty_selector: EmptySelector,
    /// How PodTopologySpread rounds its raw score.
    pub score: Rounding,
    /// The prefix of a spread constraint's error in PreFilter.
    pub constraint_error: &'static str,
}

/// Which pods an empty selector counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptySelector {
    /// No pod.
    Nothing,
    /// Every pod.
    Everything,
}

/// How a number is rounded to a whole one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    Nearest,
    /// Towards zero.
    Down,
}

/// The ReplicationControllers, ReplicaSets and StatefulSets whose selectors PodTopologySpread's default constraints and
/// SelectorSpread join with those of Services.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefaultSelector {
    /// All that select the pod.
    OfMatching,
    /// The pod's controller.
    OfController,
}

/// The key of PodTopologySpread's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpreadCounts {
    /// The topology key; constraints with the same key add up. Pods count on every node of a domain that has a counted node.
    OnAllNodes,
    /// The topology key; constraints with the same key share counts.
    PerTopologyKey,
    PerConstraint,
}
