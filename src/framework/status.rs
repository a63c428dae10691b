//! What a plugin answers; mirrors `Status` and `Code` in `staging/src/k8s.io/kube-scheduler/framework/interface.go`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::PluginName;
use crate::cluster::Str;

/// The kinds of answers.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, strum::Display, strum::EnumString, strum::IntoStaticStr, Serialize, Deserialize,
)]
#[allow(missing_docs, reason = "the variants are kube-scheduler's own codes")]
pub enum Code {
    #[default]
    Success,
    Error,
    Unschedulable,
    UnschedulableAndUnresolvable,
    Wait,
    Skip,
    Pending,
}

/// A reason as users read it.
pub type Reason = Cow<'static, str>;

/// A plugin's answer: a code, the reasons in order, and the plugin that gave it. Success carries no reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    code: Code,
    reasons: Vec<Reason>,
    plugin: Option<PluginName>,
}

impl Status {
    /// Everything is fine.
    pub const fn success() -> Self {
        Self { code: Code::Success, reasons: Vec::new(), plugin: None }
    }

    /// The plugin has nothing to do for this pod.
    pub const fn skip() -> Self {
        Self { code: Code::Skip, reasons: Vec::new(), plugin: None }
    }

    /// Any code with any reasons.
    pub fn new(code: Code, reasons: impl IntoIterator<Item = impl Into<Reason>>) -> Self {
        Self { code, reasons: reasons.into_iter().map(Into::into).collect(), plugin: None }
    }

    /// A rejection that evicting pods might cure.
    pub fn unschedulable(reason: impl Into<Reason>) -> Self {
        Self::new(Code::Unschedulable, [reason.into()])
    }

    /// A rejection that evicting pods cannot cure.
    pub fn unresolvable(reason: impl Into<Reason>) -> Self {
        Self::new(Code::UnschedulableAndUnresolvable, [reason.into()])
    }

    /// Something went wrong inside.
    pub fn error(reason: impl Into<Reason>) -> Self {
        Self::new(Code::Error, [reason.into()])
    }

    /// The same answer, given by `plugin`.
    #[must_use]
    pub fn with_plugin(mut self, plugin: PluginName) -> Self {
        self.plugin = Some(plugin);
        self
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.code
    }

    /// The reasons, in the plugin's order.
    pub fn reasons(&self) -> &[Reason] {
        &self.reasons
    }

    /// Who answered, where known.
    pub fn plugin(&self) -> Option<PluginName> {
        self.plugin
    }

    /// All reasons in one line.
    pub fn message(&self) -> String {
        self.reasons.join(", ")
    }

    /// Whether the code is Success.
    pub fn is_success(&self) -> bool {
        self.code == Code::Success
    }

    /// Whether the code is Skip.
    pub fn is_skip(&self) -> bool {
        self.code == Code::Skip
    }

    /// Whether the code is Error.
    pub fn is_error(&self) -> bool {
        self.code == Code::Error
    }

    /// Whether the pod was turned away: Unschedulable, UnschedulableAndUnresolvable or Pending.
    pub fn is_rejected(&self) -> bool {
        matches!(self.code, Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code)?;
        if self.reasons.is_empty() { Ok(()) } else { write!(f, ": {}", self.message()) }
    }
}

/// The statuses of nodes after filtering; mirrors `NodeToStatus` in `pkg/scheduler/framework/types.go`.
///
/// Nodes that were not recorded share the absent-nodes status, which is UnschedulableAndUnresolvable without a
/// reason until a PreFilter result sets another.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeToStatus {
    statuses: BTreeMap<Str, Status>,
    absent: Status,
}

impl Default for NodeToStatus {
    fn default() -> Self {
        Self { statuses: BTreeMap::new(), absent: Status::new(Code::UnschedulableAndUnresolvable, Vec::<Reason>::new()) }
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

    /// The recorded nodes, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Str, &Status)> {
        self.statuses.iter()
    }

    /// The text that a FitError gives: `0/N nodes are available: ` with the PreFilter message, or a histogram of
    /// reasons sorted as text, then the PostFilter message. Mirrors `FitError.Error` in
    /// `pkg/scheduler/framework/types.go`.
    pub fn fit_error(&self, num_all_nodes: usize, pre_filter: &str, post_filter: &str) -> String {
        let mut text = format!("0/{num_all_nodes} nodes are available:");
        if pre_filter.is_empty() {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            for reason in self.statuses.values().flat_map(Status::reasons) {
                *counts.entry(reason).or_default() += 1;
            }
            if self.statuses.len() < num_all_nodes {
                for reason in self.absent.reasons() {
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
