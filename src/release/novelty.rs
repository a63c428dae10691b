//! Changes from one minor version to the next, with how each is known, for releases whose decisions were not compared with
//! their own code.

use serde::Serialize;

/// A change from the minor version before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Novelty {
    /// The pull request of kubernetes/kubernetes, if it is one.
    pub number: Option<u32>,
    /// How it is known.
    pub known: Knowledge,
    /// The change in a sentence.
    pub about: &'static str,
}

impl Novelty {
    pub(super) const fn new(number: Option<u32>, known: Knowledge, about: &'static str) -> Self {
        Self { number, known, about }
    }
}

/// How a change is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Knowledge {
    /// Read in source code of the release's own cycle.
    Source,
    /// Read in source code of the minor version before, which has it behind a gate or unchanged.
    Predecessor,
    /// Seen in events of clusters that run the release.
    Events,
    /// Read in the text of its pull request.
    PullRequest,
    /// Read in the release notes.
    Notes,
    /// Known and not emulated.
    Missing,
}

impl Knowledge {
    /// Returns the words for a table.
    pub fn words(self) -> &'static str {
        match self {
            Self::Source => "read in source code",
            Self::Predecessor => "read in 1.36's code",
            Self::Events => "seen in events",
            Self::PullRequest => "from its description",
            Self::Notes => "from release notes",
            Self::Missing => "not emulated",
        }
    }
}
