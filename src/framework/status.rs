//! What a plugin answers; mirrors `Status` and `Code` in `staging/src/k8s.io/kube-scheduler/framework/interface.go`.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::PluginName;

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
}
