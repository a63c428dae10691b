//! The rows of all lists that are in sight.

use std::sync::Arc;

use crate::ui::model::overview::OverviewRow;
use crate::ui::model::rows::{CandidateRow, NodePaneRow, NodeRow, QueueRow};

/// The rows of the lists. Those of pages are kept apart, each with its input.
#[derive(Clone, Debug, Default)]
pub struct ListRows {
    pub queues: Vec<QueueRow>,
    /// Rows of the overview; none while it is out of sight.
    pub overview: Vec<OverviewRow>,
    pub nodes: Arc<Vec<NodeRow>>,
    pub candidates: Vec<CandidateRow>,
    /// Rows of the open node.
    pub node_pane: Vec<NodePaneRow>,
}
