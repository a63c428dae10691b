//! What every Filter plugin says about one node, where a cycle stops at the first that turns the pod down.

use super::{PluginName, Status};
use crate::cluster::Key;

/// All Filter plugins of a profile on one node, in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFilters {
    /// Each plugin with its answer; `Skip` for those that PreFilter found to have nothing to check.
    ///
    /// Where nominated pods are counted, the answers are those of the pass that decides: with these pods on the node
    /// unless all plugins pass so, without them otherwise. The first rejection is therefore the one of the cycle.
    pub answers: Vec<(PluginName, Status)>,
    /// Pods nominated to the node that were counted as if they ran there.
    pub nominated: Vec<Key>,
    /// Whether the answers are those with the nominated pods on the node.
    pub with_nominated: bool,
    /// Why no Filter plugin is asked about any node; there are no answers then.
    pub not_asked: Option<Status>,
    /// PreFilter left the node out, so that a cycle does not ask about it.
    pub left_out: bool,
}

impl NodeFilters {
    /// The plugins that turn the pod down, in order; a cycle knows the first only.
    pub fn rejections(&self) -> impl Iterator<Item = &(PluginName, Status)> {
        self.answers.iter().filter(|(_, status)| !status.is_success() && !status.is_skip())
    }
}
