//! Classes of a node's verdict.

use super::Verdict;
use crate::framework::{Code, Status};

/// Classes of verdicts, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::EnumIter)]
pub enum VerdictClass {
    /// The pod fits.
    Fits,
    /// The pod does not fit, and evicting pods might help.
    Unschedulable,
    /// The pod does not fit, and evicting pods cannot help.
    Unresolvable,
    /// A plugin failed.
    Failed,
    /// The node was not evaluated, or not yet.
    Unseen,
}

impl VerdictClass {
    /// Returns the class of a status.
    pub fn of(status: &Status) -> Self {
        match status.code() {
            Code::Success | Code::Skip => Self::Fits,
            Code::Unschedulable | Code::Pending | Code::Wait => Self::Unschedulable,
            Code::UnschedulableAndUnresolvable => Self::Unresolvable,
            Code::Error => Self::Failed,
        }
    }

    /// Returns the word for a narrow column.
    pub fn word(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Unschedulable => "unschedulable",
            Self::Unresolvable => "unresolvable",
            Self::Failed => "error",
            Self::Unseen => "not evaluated",
        }
    }

    /// Returns the class in words.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Unschedulable => "unschedulable: evicting pods might help",
            Self::Unresolvable => "unresolvable: evicting pods cannot help",
            Self::Failed => "error",
            Self::Unseen => "not evaluated",
        }
    }

    /// Returns whether the pod fits, and if not, whether eviction helps.
    pub fn eviction(self) -> &'static str {
        match self {
            Self::Fits => "fits",
            Self::Unschedulable => "eviction might help",
            Self::Unresolvable | Self::Failed | Self::Unseen => "eviction cannot help",
        }
    }
}

impl Verdict {
    pub fn class(&self) -> VerdictClass {
        VerdictClass::of(&self.status)
    }
}
