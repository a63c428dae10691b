//! Why nodes were turned down, and the text that says so; mirrors `Diagnosis`, `NodeToStatus` and `FitError` in
//! `pkg/scheduler/framework/types.go`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use super::{Code, Reason, Status};
use crate::cluster::Str;

/// The statuses of nodes after filtering; mirrors `NodeToStatus` in `pkg/scheduler/framework/types.go`.
///
/// Nodes that were not recorded share the absent-nodes status, which is UnschedulableAndUnresolvable without a
/// reason until a PreFilter result sets another.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeToStatus {
    statuses: HashMap<Str, Status>,
    absent: Status,
}

impl Default for NodeToStatus {
    fn default() -> Self {
        Self { statuses: HashMap::new(), absent: Status::new(Code::UnschedulableAndUnresolvable, Vec::<Reason>::new()) }
    }
}

impl NodeToStatus {
    /// Records a node's status.
    pub fn set(&mut self, node: Str, status: Status) {
        self.statuses.insert(node, status);
    }

    /// The node's status, or that of absent nodes.
    pub fn get(&self, node: &str) -> &Status {
        self.statuses.get(node).unwrap_or(&self.absent)
    }

    /// Sets the status of every node that is not recorded.
    pub fn set_absent(&mut self, status: Status) {
        self.absent = status;
    }

    /// The status of every node that is not recorded.
    pub fn absent(&self) -> &Status {
        &self.absent
    }

    /// How many nodes are recorded.
    pub fn len(&self) -> usize {
        self.statuses.len()
    }

    /// True when no node is recorded.
    pub fn is_empty(&self) -> bool {
        self.statuses.is_empty()
    }

    /// The text that a FitError gives: `0/N nodes are available: ` with the PreFilter message, or a histogram of
    /// reasons sorted as text, then the PostFilter message. Mirrors `FitError.Error` in
    /// `pkg/scheduler/framework/types.go`.
    pub fn fit_error(&self, num_all_nodes: usize, pre_filter: &str, post_filter: &str) -> String {
        let mut text = format!("0/{num_all_nodes} nodes are available:");
        if pre_filter.is_empty() {
            let mut counts: BTreeMap<Cow<'static, str>, usize> = BTreeMap::new();
            for reason in self.statuses.values().flat_map(Status::texts) {
                *counts.entry(reason).or_default() += 1;
            }
            if self.statuses.len() < num_all_nodes {
                for reason in self.absent.texts() {
                    *counts.entry(reason).or_default() += num_all_nodes - self.statuses.len();
                }
            }
            let mut lines: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
            lines.sort_unstable();
            if !lines.is_empty() {
                text.push(' ');
                text.push_str(&lines.join(", "));
                text.push('.');
            }
        } else {
            text.push(' ');
            text.push_str(pre_filter);
            text.push('.');
        }
        if !post_filter.is_empty() {
            text.push(' ');
            text.push_str(post_filter);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn histogram_sorts_as_text_and_counts_absent_nodes() {
        let mut statuses = NodeToStatus::default();
        for i in 0..10 {
            statuses.set(format!("n{i}").into(), Status::unschedulable("x"));
        }
        statuses.set("m1".into(), Status::new(Code::Unschedulable, ["y", "x2"]));
        statuses.set_absent(Status::unresolvable("node(s) didn't satisfy plugin(s) [NodeAffinity]"));
        assert_eq!(
            statuses.fit_error(13, "", "preemption: none"),
            "0/13 nodes are available: 1 x2, 1 y, 10 x, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]. preemption: none"
        );
        assert_eq!(statuses.fit_error(13, "pre", ""), "0/13 nodes are available: pre.");
    }
}
