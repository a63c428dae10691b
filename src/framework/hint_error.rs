//! Errors of queueing hints.

use std::error::Error;

use crate::cluster::{Kind, SelectorError};

/// Why a queueing hint failed. The queue then behaves as for `Queue`.
///
/// The texts are those that kube-scheduler logs. They name the expected and the actual object.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum HintError {
    /// The event's object is of another kind, in the words of `As` in `pkg/scheduler/util/utils.go`, which names Go's
    /// types.
    #[error("expected *v1.{expected}, but got *v1.{got}")]
    OtherKind {
        /// The kind that the hint expects.
        expected: Kind,
        /// The kind of the event's object.
        got: Kind,
    },
    /// The event's object is of another kind, in the words of a named hint.
    #[error("unexpected object in {hint}: expected {expected}, got {got}")]
    UnexpectedObject {
        /// The hint function in kube-scheduler.
        hint: &'static str,
        /// The kind that the hint expects.
        expected: Kind,
        /// The kind of the event's object.
        got: Kind,
    },
    /// The event has no object, or an object of another kind.
    #[error("unexpected objects, expected {expected}")]
    UnexpectedObjects {
        /// The kind that the hint expects.
        expected: Kind,
    },
    /// The event lacks an object.
    #[error("the event carries no {0}")]
    NoObject(&'static str),
    /// A selector of the pod or of the event's object cannot be used.
    #[error(transparent)]
    Selector(#[from] SelectorError),
    /// An error specific to the plugin.
    #[error(transparent)]
    Plugin(PluginHintError),
}

impl HintError {
    /// Wraps a plugin's own error.
    pub fn plugin(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Plugin(PluginHintError(error.into()))
    }
}

/// An error of a type private to its plugin. Two are equal if their texts are equal.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct PluginHintError(Box<dyn Error + Send + Sync>);

impl PartialEq for PluginHintError {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_read_as_kube_scheduler_words_them() {
        let (expected, got) = (Kind::ResourceClaim, Kind::CSINode);
        let hint = "isSchedulableAfterClaimChange";
        for (error, text) in [
            (HintError::OtherKind { expected, got }, "expected *v1.ResourceClaim, but got *v1.CSINode"),
            (
                HintError::UnexpectedObject { hint, expected, got },
                "unexpected object in isSchedulableAfterClaimChange: expected ResourceClaim, got CSINode",
            ),
            (HintError::UnexpectedObjects { expected }, "unexpected objects, expected ResourceClaim"),
            (HintError::NoObject("new node"), "the event carries no new node"),
            (SelectorError("no selector".into()).into(), "no selector"),
            (HintError::plugin("its own"), "its own"),
        ] {
            assert_eq!(error.to_string(), text);
        }
        assert_ne!(HintError::plugin("its own"), HintError::plugin("another"));
    }
}
