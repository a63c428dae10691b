//! Why nodes were rejected, and the resulting message; mirrors `Diagnosis`, `NodeToStatus` and `FitError` in
//! `pkg/scheduler/framework/types.go`.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Code, PluginSet, Reason, Snapshot, Status};
use crate::cluster::Str;

/// The number of statuses with which another one is compared before its texts are written.
const COMPARED: usize = 8;

/// Why a pod fits on no node, or only on some; mirrors `Diagnosis` in `pkg/scheduler/framework/types.go`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagnosis {
    /// The statuses of the rejected nodes.
    pub node_to_status: NodeToStatus,
    /// The plugins that rejected the pod, including those that answered Pending.
    pub unschedulable_plugins: PluginSet,
    /// The plugins that answered Pending.
    pub pending_plugins: PluginSet,
    /// Whether several plugins rejected the same node; possible only if all filters run.
    pub several_rejectors: bool,
    /// The message of the PreFilter plugin that rejected every node; empty if none did.
    pub pre_filter_msg: String,
    /// The message of PostFilter; empty if it did not run or has none.
    pub post_filter_msg: String,
}

impl Diagnosis {
    /// Records the plugin of a rejection; mirrors `Diagnosis.AddPluginStatus`.
    pub fn add_plugin_status(&mut self, status: &Status) {
        let Some(plugin) = status.plugin().filter(|_| status.is_rejected()) else { return };
        self.unschedulable_plugins.insert(plugin);
        if status.code() == Code::Pending {
            self.pending_plugins.insert(plugin);
        }
    }

    /// Returns the text of a FitError; see [`NodeToStatus::fit_error`].
    pub fn fit_error(&self, num_all_nodes: usize) -> String {
        self.node_to_status.fit_error(num_all_nodes, &self.pre_filter_msg, &self.post_filter_msg)
    }
}

/// The statuses of nodes after filtering; mirrors `NodeToStatus` in `pkg/scheduler/framework/types.go`.
///
/// Nodes are identified by their position in [`Snapshot::nodes`], because a cycle records thousands. Nodes without a
/// record share the absent-nodes status. It is UnschedulableAndUnresolvable without a reason until a PreFilter result
/// sets another.
#[derive(Clone, Debug)]
pub struct NodeToStatus {
    /// Statuses by position. Success marks a node without a record.
    statuses: Vec<Status>,
    recorded: usize,
    absent: Status,
    /// By name, of nodes that the cluster lacks and an extender speaks of.
    elsewhere: BTreeMap<Str, Status>,
}

impl Default for NodeToStatus {
    fn default() -> Self {
        let absent = Status::new(Code::UnschedulableAndUnresolvable, Vec::<Reason>::new());
        Self { statuses: Vec::new(), recorded: 0, absent, elsewhere: BTreeMap::new() }
    }
}

impl PartialEq for NodeToStatus {
    fn eq(&self, other: &Self) -> bool {
        self.absent == other.absent && self.iter().eq(other.iter()) && self.elsewhere == other.elsewhere
    }
}

impl NodeToStatus {
    /// Records the status of the node at a position of [`Snapshot::nodes`], replacing an earlier one. Success removes
    /// the record.
    pub fn set(&mut self, position: usize, status: Status) {
        if position >= self.statuses.len() {
            self.statuses.resize(position + 1, Status::success());
        }
        self.recorded += usize::from(!status.is_success());
        let before = std::mem::replace(&mut self.statuses[position], status);
        self.recorded -= usize::from(!before.is_success());
    }

    /// Records the status of the node of a name; `snapshot` is the one that was filtered, and may lack it.
    pub fn set_by_name(&mut self, snapshot: &Snapshot, name: &Str, status: Status) {
        match snapshot.position(name) {
            Some(position) => self.set(position, status),
            None => drop(self.elsewhere.insert(name.clone(), status)),
        }
    }

    /// Reserves memory for a snapshot of this size.
    pub fn reserve(&mut self, num_all_nodes: usize) {
        self.statuses.reserve_exact(num_all_nodes.saturating_sub(self.statuses.len()));
    }

    /// Returns the status of the node at a position, or that of absent nodes.
    pub fn get(&self, position: usize) -> &Status {
        self.statuses.get(position).filter(|s| !s.is_success()).unwrap_or(&self.absent)
    }

    /// Returns the status of the node of this name, or that of absent nodes; `snapshot` is the one that was filtered.
    pub fn get_by_name(&self, snapshot: &Snapshot, name: &str) -> &Status {
        match snapshot.position(name) {
            Some(position) => self.get(position),
            None => self.elsewhere.get(name).unwrap_or(&self.absent),
        }
    }

    /// Returns the recorded nodes in the order of their positions.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Status)> {
        self.statuses.iter().enumerate().filter(|(_, status)| !status.is_success())
    }

    /// Sets the status of every node that is not recorded.
    pub fn set_absent(&mut self, status: Status) {
        self.absent = status;
    }

    /// Returns the status of every node that is not recorded.
    pub fn absent(&self) -> &Status {
        &self.absent
    }

    /// Returns the number of recorded nodes, among them those that the cluster lacks.
    pub fn len(&self) -> usize {
        self.recorded + self.elsewhere.len()
    }

    /// Whether no node is recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the text of a FitError: `0/N nodes are available: ` with the PreFilter message, or a histogram of
    /// reasons sorted as text, then the PostFilter message. Mirrors `FitError.Error` in
    /// `pkg/scheduler/framework/types.go`.
    pub fn fit_error(&self, num_all_nodes: usize, pre_filter: &str, post_filter: &str) -> String {
        let mut text = format!("0/{num_all_nodes} nodes are available:");
        if pre_filter.is_empty() {
            let mut counts: BTreeMap<Cow<'static, str>, usize> = BTreeMap::new();
            // Most nodes have one of a few texts, which is written once for all of them.
            let mut alike: Vec<(&Status, usize)> = Vec::new();
            for status in self.iter().map(|(_, status)| status).chain(self.elsewhere.values()) {
                let known = alike.iter().rev().take(COMPARED).position(|(known, _)| known.surely_reads_like(status));
                match known {
                    Some(back) => {
                        let at = alike.len() - 1 - back;
                        alike[at].1 += 1;
                    }
                    None => alike.push((status, 1)),
                }
            }
            for (status, number) in alike {
                for reason in status.texts() {
                    *counts.entry(reason).or_default() += number;
                }
            }
            if self.len() < num_all_nodes {
                for reason in self.absent.texts() {
                    *counts.entry(reason).or_default() += num_all_nodes - self.len();
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
mod tests;
