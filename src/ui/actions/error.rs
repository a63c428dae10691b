//! Errors of commands.

use std::fmt;

use jiff::Timestamp;
use thiserror::Error;

use crate::cluster::Key;
use crate::report::FormatError;
use crate::session::{AtTimeError, Breakpoint, BreakpointError, EditError, UntilError, VerbError};
use crate::ui::model::effect::ScreenEndingError;
use crate::ui::model::grouping::GroupingError;
use crate::ui::model::session_handle::SessionError;
use crate::whatif::WhatIfError;

/// The commands that may be meant by a name that no command has. The text continues a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeantCommands {
    /// The commands that begin with the name, or none.
    Beginning(Vec<&'static str>),
    /// The command with the nearest name.
    Nearest(&'static str),
}

impl fmt::Display for MeantCommands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Beginning(names) => match &names[..] {
                [] => Ok(()),
                [one] => write!(f, "; {one} begins so"),
                [first @ .., last] => write!(f, "; {} and {last} begin so", first.join(", ")),
            },
            Self::Nearest(name) => write!(f, "; did you mean {name}?"),
        }
    }
}

/// Why a command was not run. The text is a sentence for the user.
#[derive(Debug, Error)]
pub enum CommandError {
    /// There is no such command.
    #[error("there is no command {name:?} ({help} lists them){meant}")]
    Unknown {
        /// The unknown name.
        name: String,
        /// The commands that may be meant.
        meant: MeantCommands,
        /// The key that lists all commands.
        help: String,
    },
    /// A command lacks its arguments.
    #[error("{command} needs {what}")]
    Needs {
        command: &'static str,
        /// The arguments, such as `a file`.
        what: &'static str,
    },
    /// The arguments of a command are missing or not understood.
    #[error("{command} needs {args}")]
    Usage {
        command: &'static str,
        /// Its arguments, as the help shows them.
        args: &'static str,
    },
    /// No workload has a name; with the end of a sentence about those that the source may lack.
    #[error("there is no workload {0}{1}")]
    NoWorkload(String, String),
    /// The decision at the cursor has selected no node.
    #[error("no node is selected here: odds are counted for a decision that takes one")]
    NoNodeSelected,
    /// A number is missing or too large.
    #[error("{command} needs a number from 1 to {last}")]
    Number {
        command: &'static str,
        /// The largest number there is.
        last: usize,
    },
    /// A word that is not a kind.
    #[error("{0:?} is not a kind that affects scheduling")]
    UnknownKind(String),
    /// An invalid stop condition.
    #[error(transparent)]
    Until(#[from] UntilError),
    /// A text that is no moment.
    #[error(transparent)]
    At(#[from] AtTimeError),
    /// A revision of etcd, which a timeline does not name.
    #[error("the timeline has times; rev:N is for --at when the snapshot is opened")]
    NoRevision,
    /// The timeline has no revision.
    #[error("nothing is recorded yet")]
    EmptyTimeline,
    /// The moment is not on the timeline.
    #[error("the timeline is from {from} to {to}; --at TIME opens another part of a journal")]
    BeyondTimeline {
        /// Its start.
        from: Timestamp,
        /// Its end.
        to: Timestamp,
    },
    /// The revision of etcd is not on the timeline.
    #[error("the timeline has the revisions {from} to {to} of etcd; open with --at rev:N for others that the snapshot has")]
    BeyondRevisions {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// A pod does not leave its node on the timeline.
    #[error("{0} does not leave a node on this timeline, and the source records no eviction of it")]
    NotEvicted(Key),
    /// No pod leaves its node on the timeline.
    #[error("no pod leaves its node on this timeline")]
    NoneEvicted,
    /// The timeline shows no attempt about a pod.
    #[error("the timeline shows no attempt of the cluster's scheduler about {0}")]
    NoAttempts(Key),
    /// A text that is not a breakpoint.
    #[error(transparent)]
    Breakpoint(#[from] BreakpointError),
    /// A breakpoint that is not set.
    #[error("there is no breakpoint: {0}")]
    NoBreakpoint(Breakpoint),
    /// A text that is not a time to advance by.
    #[error("{0:?} is neither a number of seconds nor next")]
    Seconds(String),
    /// A text that is not the number of a branch.
    #[error("{0:?} is not a branch number")]
    Branch(String),
    /// A text that is not a way to restart.
    #[error("{0:?} is neither fresh nor observed")]
    Start(String),
    /// A text that is not a step size.
    #[error("{0:?} is not one of event, plugin, node, phase, extension-point, cycle")]
    Step(String),
    /// A line that is not a what-if.
    #[error(transparent)]
    Verb(#[from] VerbError),
    /// A line that is not an edit.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The cluster has no such node.
    #[error("there is no node {0:?}")]
    NoNode(String),
    /// The cluster has no such budget.
    #[error("there is no PodDisruptionBudget {0:?}")]
    NoBudget(String),
    /// The cluster has no such pod.
    #[error("there is no pod {0}")]
    NoPod(Key),
    /// No pod in any namespace has the name.
    #[error("there is no pod {0:?}")]
    NoPodCalled(String),
    /// There is no such pod, but one with a similar name.
    #[error("there is no pod {typed:?}; did you mean {meant}?")]
    PodMeant {
        /// The name as typed.
        typed: String,
        /// The pod.
        meant: String,
    },
    /// The names of several pods begin with the typed text, and no pod is called so.
    #[error("{number} pods match {typed:?}: give more of the name")]
    PodsMatch {
        /// The text as typed.
        typed: String,
        /// The number of pods.
        number: usize,
    },
    /// Pods in several namespaces have the name; holds two of them.
    #[error("{0} and {1} have this name: give the namespace too")]
    SeveralPods(Key, Key),
    /// A pod's name is missing.
    #[error("a namespace and a name are missing, such as shop/payments")]
    NoPodName,
    /// Nodes cannot be grouped by this.
    #[error(transparent)]
    Grouping(#[from] GroupingError),
    /// Export failed.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A what-if that names what the cluster does not have.
    #[error(transparent)]
    WhatIf(#[from] WhatIfError),
    /// The session refused the request.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Why an export failed. The text is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file's extension is not a form of a screen.
    #[error(transparent)]
    ScreenEnding(#[from] ScreenEndingError),
    /// The file's extension is not a known form.
    #[error("{path}: the ending says what is written: .svg, .txt, .md, .html, .json or .yaml")]
    Ending {
        /// The file.
        path: String,
    },
    /// A decision cannot be a picture.
    #[error("a decision is text: .txt, .md, .html, .json or .yaml; export screen FILE.svg is a picture")]
    DecisionAsPicture,
    /// Nothing is recorded yet.
    #[error("there is no decision here yet")]
    NothingRecorded,
    /// The operation at the cursor is not a decision; holds its title.
    #[error("{0} is not a decision about a pod")]
    NoDecision(String),
    /// The format's serializer failed.
    #[error(transparent)]
    Format(#[from] FormatError),
}
