//! The scores of a cycle, and the node that was chosen by them.

use std::collections::BTreeMap;

use crate::cluster::Str;
use crate::framework::{PluginName, SharedList, Status};
use crate::trace::event::Selection;
use crate::trace::scores::{NodeScore, Row};

/// The scores of a cycle, and the node that was chosen by them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScoringView {
    /// Statuses of PreScore plugins, in order.
    pub pre_score: Vec<(PluginName, Status)>,
    pub scores: BTreeMap<Str, Row<NodeScore>>,
    /// The chosen node, why it was chosen, and all nodes with its total.
    pub selected: Option<(Str, Selection, SharedList<Str>)>,
}
