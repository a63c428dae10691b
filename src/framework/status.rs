//! What a plugin answers; mirrors `Status` and `Code` in `staging/src/k8s.io/kube-scheduler/framework/interface.go`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

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
///
/// One pointer, because a record holds one for every node and most nodes of a cycle share a few.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(from = "Answer", into = "Answer")]
pub struct Status(
    /// `None` is success of nobody in particular, and the only form of it.
    Option<Arc<Answer>>,
);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Answer {
    code: Code,
    reasons: Vec<Reason>,
    plugin: Option<PluginName>,
}

/// Success of nobody in particular.
static SUCCESS: Answer = Answer { code: Code::Success, reasons: Vec::new(), plugin: None };

impl From<Answer> for Status {
    fn from(answer: Answer) -> Self {
        Self((answer != SUCCESS).then(|| Arc::new(answer)))
    }
}

impl From<Status> for Answer {
    fn from(status: Status) -> Self {
        status.0.map_or_else(Self::default, Arc::unwrap_or_clone)
    }
}

impl PartialEq for Status {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Status {}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Answer { code, reasons, plugin } = self.answer();
        f.debug_struct("Status").field("code", code).field("reasons", reasons).field("plugin", plugin).finish()
    }
}

impl Status {
    /// Everything is fine.
    pub const fn success() -> Self {
        Self(None)
    }

    /// The plugin has nothing to do for this pod.
    pub fn skip() -> Self {
        Self::new(Code::Skip, Vec::<Reason>::new())
    }

    /// Any code with any reasons.
    pub fn new(code: Code, reasons: impl IntoIterator<Item = impl Into<Reason>>) -> Self {
        Answer { code, reasons: reasons.into_iter().map(Into::into).collect(), plugin: None }.into()
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
        if self.plugin() != Some(plugin) {
            Arc::make_mut(self.0.get_or_insert_default()).plugin = Some(plugin);
        }
        self
    }

    fn answer(&self) -> &Answer {
        self.0.as_deref().unwrap_or(&SUCCESS)
    }

    /// The code.
    pub fn code(&self) -> Code {
        self.answer().code
    }

    /// The reasons, in the plugin's order.
    pub fn reasons(&self) -> &[Reason] {
        &self.answer().reasons
    }

    /// Who answered, where known.
    pub fn plugin(&self) -> Option<PluginName> {
        self.answer().plugin
    }

    /// All reasons in one line.
    pub fn message(&self) -> String {
        self.reasons().join(", ")
    }

    /// Whether the code is Success.
    pub fn is_success(&self) -> bool {
        self.code() == Code::Success
    }

    /// Whether the code is Skip.
    pub fn is_skip(&self) -> bool {
        self.code() == Code::Skip
    }

    /// Whether the code is Error.
    pub fn is_error(&self) -> bool {
        self.code() == Code::Error
    }

    /// Whether the pod was turned away: Unschedulable, UnschedulableAndUnresolvable or Pending.
    pub fn is_rejected(&self) -> bool {
        matches!(self.code(), Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending)
    }
}

/// Statuses that are shared where they are equal: of thousands of nodes, most are turned down for one of a few reasons.
#[derive(Clone, Debug, Default)]
pub struct SharedStatuses(Vec<Status>);

impl SharedStatuses {
    /// More different statuses than this are not looked for.
    const KEPT: usize = 16;

    /// The same status, sharing memory with an equal one that was seen before.
    pub fn share(&mut self, status: Status) -> Status {
        if status.0.is_none() {
            return status;
        }
        match self.0.iter().position(|known| *known == status) {
            // The one that was met last comes first: neighbours tend to share a reason.
            Some(at) => {
                self.0.swap(0, at);
                self.0[0].clone()
            }
            None => {
                if self.0.len() < Self::KEPT {
                    self.0.push(status.clone());
                }
                status
            }
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())?;
        if self.reasons().is_empty() { Ok(()) } else { write!(f, ": {}", self.message()) }
    }
}

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
    fn equal_statuses_share_and_success_takes_nothing() {
        assert_eq!(size_of::<Status>(), size_of::<usize>());
        assert_eq!(Status::new(Code::Success, Vec::<Reason>::new()), Status::success());
        assert_ne!(Status::success().with_plugin(PluginName::NodeName), Status::success());
        let mut shared = SharedStatuses::default();
        let one = |i: usize| Status::unschedulable(format!("reason {i}")).with_plugin(PluginName::NodeName);
        for i in [0, 1, 0, 30].into_iter().chain(2..40) {
            assert_eq!(shared.share(one(i)), one(i));
        }
        let same = |a: &Status, b: &Status| std::ptr::eq(a.answer(), b.answer());
        assert!(same(&shared.share(one(1)), &shared.share(one(1))));
        let text = serde_json::to_string(&one(7)).unwrap();
        assert_eq!(text, r#"{"code":"Unschedulable","reasons":["reason 7"],"plugin":"NodeName"}"#);
        assert_eq!(serde_json::from_str::<Status>(&text).unwrap(), one(7));
    }

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
