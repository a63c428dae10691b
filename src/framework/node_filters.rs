//! The answers of every Filter plugin about one node. A scheduling cycle stops at the first rejection.

use super::{NodeDevices, PluginName, Status};
use crate::cluster::Key;

/// All Filter plugins of a profile on one node, in running order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFilters {
    /// Each plugin with its answer; `Skip` for plugins that PreFilter skipped.
    ///
    /// With nominated pods, the answers are those of the deciding pass: the pass with these pods on the node if it
    /// rejects, else the pass without them. The first rejection is therefore the one of the cycle.
    pub answers: Vec<(PluginName, Status)>,
    /// Pods nominated to the node that were counted as running there.
    pub nominated: Vec<Key>,
    /// Whether the answers come from the pass with the nominated pods.
    pub with_nominated: bool,
    /// Why the cycle runs no Filter plugin on any node; `answers` is then empty.
    pub not_asked: Option<Status>,
    /// Whether PreFilter excluded the node, so that a cycle does not filter it.
    pub left_out: bool,
    /// The node's devices for the pod's claims; `None` without claims, and where they were not asked about.
    pub devices: Option<NodeDevices>,
}

impl NodeFilters {
    /// Returns the rejections in running order; a cycle knows only the first.
    pub fn rejections(&self) -> impl Iterator<Item = &(PluginName, Status)> {
        self.answers.iter().filter(|(_, status)| !status.is_success() && !status.is_skip())
    }
}
