//! Behaviours of the search for feasible nodes: how many are filtered, and where the next search starts.

/// The named behaviours of the search for feasible nodes: how many are filtered, and where the next search starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBehaviour {
    /// How many nodes are filtered.
    pub nodes: NodeSearch,
    /// Where the start of the next search wraps around.
    pub start_wraps: StartWrap,
    /// Whether one feasible node is enough for a profile without Score plugins.
    pub one_node_without_scores: bool,
}

/// Where the start of the next search wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartWrap {
    /// At the number of all nodes.
    AmongAll,
    /// At the number of nodes that PreFilter left.
    AmongLeft,
}

/// How many feasible nodes a search looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeSearch {
    /// All of them.
    All,
    /// `percentageOfNodesToScore` of the nodes. Without a configured percentage, it falls with the number of nodes.
    /// Mirrors `numFeasibleNodesToFind`.
    Adaptive {
        /// The smallest number of nodes; smaller clusters are searched completely.
        min_nodes: usize,
        /// The lower bound of the percentage that is not configured.
        min_percentage: i64,
    },
    /// `percentageOfNodesToScore` of the nodes; all nodes if it is not between 1 and 99.
    Share {
        /// The smallest number of nodes; smaller clusters are searched completely.
        min_nodes: usize,
        /// The percentage if none is configured.
        percentage: i64,
    },
}
