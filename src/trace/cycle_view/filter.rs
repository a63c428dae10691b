//! The results of Filter.

use std::collections::BTreeMap;

use crate::cluster::{Key, Str};
use crate::framework::{SharedList, Status};

/// The results of Filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FilterView {
    /// Verdicts so far, by node; Success for nodes that fit.
    pub verdicts: BTreeMap<Str, Verdict>,
    /// The nominated node, if it was filtered first.
    pub nominated_first: Option<Str>,
    /// Nodes filtered, of all, and fits wanted, if the search ended early.
    pub stopped: Option<(usize, usize, usize)>,
}

/// A node's verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Success, or the rejection with its plugin.
    pub status: Status,
    /// The nominated pods counted on the node.
    pub nominated: SharedList<Key>,
}
