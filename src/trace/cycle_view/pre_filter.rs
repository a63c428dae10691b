//! The results of PreFilter.

use crate::cluster::Str;
use crate::framework::{PluginName, SharedList, Status};
use crate::release::PreFilterRejection;

/// The results of PreFilter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PreFilterView {
    /// Statuses of PreFilter plugins, in order.
    pub statuses: Vec<(PluginName, Status)>,
    /// The nodes that PreFilter left, and the status of all others.
    pub narrowed: Option<(SharedList<Str>, Status)>,
    /// Whether PreFilter rejected the pod for every node.
    pub rejected: Option<PreFilterRejection>,
}
