//! Behaviours of InterPodAffinity and NodeAffinity.

/// The named behaviours of InterPodAffinity and NodeAffinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AffinityBehaviour {
    /// Whether the API server adds `matchLabelKeys` of affinity terms to their selectors.
    pub merges_match_label_keys: bool,
    /// The range of raw scores that InterPodAffinity normalizes.
    pub range: AffinityRange,
    /// How many reasons InterPodAffinity gives for a node.
    pub reasons: AffinityReasons,
    /// When NodeAffinity detects that terms exclude each other.
    pub node_conflict: NodeAffinityConflict,
    /// The task of NodeAffinity's PreFilter.
    pub node_pre_filter: NodeAffinityPreFilter,
    /// Whether all errors of inter-pod affinity lists are reported, or only the last.
    pub errors_add_up: bool,
    /// Whether an affinity term of the incoming pod no longer has its namespace selector once the namespaces that it
    /// selects are added to the term.
    pub namespace_selectors_cleared: bool,
}

/// The range of raw scores that InterPodAffinity normalizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityRange {
    /// From the lowest to the highest raw score of the nodes.
    OfNodes,
    /// The same range, extended to include 0.
    WithZero,
}

/// How many reasons InterPodAffinity gives for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffinityReasons {
    One,
    /// A general one for any violation, and one that gives the rule.
    Two,
}

/// When NodeAffinity detects that terms exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAffinityConflict {
    /// If every term excludes all nodes.
    InAllTerms,
    /// If a term excludes all nodes, and all terms before it name nodes.
    InAnyTerm,
}

/// The task of NodeAffinity's PreFilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeAffinityPreFilter {
    /// It restricts the nodes to those that terms name.
    Narrows,
    /// It restricts no nodes.
    Prepares,
}
