//! CheckNodeLabelPresence and NodeLabelPriority, which only policies enable. Mirrors `NewNodeLabelPredicate` in
//! `pkg/scheduler/algorithm/predicates/predicates.go` and `pkg/scheduler/algorithm/priorities/node_label.go`.

use serde::Deserialize;

use super::{MAX_PRIORITY, reject};
use crate::cluster::Str;
use crate::framework::{Context, CycleState, FilterPlugin, NodeInfo, Plugin, PodInfo, Reason, ScorePlugin, Status};

/// The argument `labelsPresence` of a predicate.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LabelPresence {
    pub labels: Vec<Str>,
    /// Whether nodes must have all labels; otherwise they must have none.
    pub presence: bool,
}

/// Keeps pods to nodes with, or without, certain labels.
#[derive(Clone, Debug, Default)]
pub struct CheckNodeLabelPresence {
    args: LabelPresence,
}

impl CheckNodeLabelPresence {
    /// Makes the predicate with its argument.
    pub fn new(args: LabelPresence) -> Self {
        Self { args }
    }
}

impl Plugin for CheckNodeLabelPresence {
    plugin!(CheckNodeLabelPresence: filter);
}

impl FilterPlugin for CheckNodeLabelPresence {
    fn filter(&self, cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Status {
        let wanted = self.args.presence;
        let label = self.args.labels.iter().find(|label| node.node.metadata.labels.contains_key(label) != wanted);
        let reason = label.map(|label| Reason::NodeLabelPresence { label: label.clone(), wanted });
        reject(reason.into_iter().collect(), cx.emulation.behaviour())
    }
    fn depends_on_pods(&self) -> bool {
        false
    }
}

/// The argument `labelPreference` of a priority.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NodeLabelPriorityArgs {
    pub label: Str,
    /// Whether nodes with the label are preferred; otherwise those without.
    pub presence: bool,
}

/// Prefers nodes with, or without, a label.
#[derive(Clone, Debug, Default)]
pub struct NodeLabelPriority {
    args: NodeLabelPriorityArgs,
}

impl NodeLabelPriority {
    /// Makes the priority with its argument.
    pub fn new(args: NodeLabelPriorityArgs) -> Self {
        Self { args }
    }
}

impl Plugin for NodeLabelPriority {
    plugin!(NodeLabelPriority: score);
}

impl ScorePlugin for NodeLabelPriority {
    fn score(&self, _cx: &Context<'_>, _state: &CycleState, _pod: &PodInfo, node: &NodeInfo) -> Result<i64, Status> {
        let is_preferred = node.node.metadata.labels.contains_key(&self.args.label) == self.args.presence;
        Ok(if is_preferred { MAX_PRIORITY } else { 0 })
    }
}
