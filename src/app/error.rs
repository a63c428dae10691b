//! Errors of the event loop, the session behind the screen and the files they write. The texts are for the user.

use std::io;

use thiserror::Error;

use crate::cluster::{Key, Kind};
use crate::limits::terminal::PRINTED_KEYS;
use crate::session::SessionFileError;
use crate::source::live::OriginalError;
use crate::ui::config::key::KeyNameError;
use crate::ui::model::effect::ScreenEndingError;
use crate::ui::{NotWaiting, ThemeError};
use crate::whatif::WhatIfError;

/// Error that ends the explorer.
#[derive(Debug, Error)]
pub enum AppError {
    /// Standard input or output is not a terminal.
    #[error("the explorer needs a terminal: standard {0} is not a terminal")]
    NoTerminal(&'static str),
    /// The terminal cannot move its cursor.
    #[error(
        "the explorer needs a terminal that can move its cursor, and TERM is dumb; --print FILE writes a screen, explain and run print text"
    )]
    DumbTerminal,
    /// A terminal operation failed.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// The screen cannot be written to a file.
    #[error(transparent)]
    Print(#[from] PrintError),
    /// The theme cannot be used.
    #[error(transparent)]
    Theme(#[from] ThemeError),
}

/// Error of writing the screen to a file without a terminal.
#[derive(Debug, Error)]
pub enum PrintError {
    /// The file's ending names no format of a screen.
    #[error(transparent)]
    Form(#[from] ScreenEndingError),
    /// A text cannot be animated.
    #[error("--animate: only a picture or a page, a file that ends in .svg or .html, can be animated")]
    NoAnimation,
    /// The pod of `--pod` does not exist; with the end of a sentence about the pod that was meant.
    #[error("there is no Pod {0} in the source{1}")]
    NoPod(Key, String),
    /// The workload of `--workload` does not exist; with the end of a sentence about those that the source may lack.
    #[error("there is no workload {0} in the source{1}")]
    NoWorkload(String, String),
    /// The pod of `--pod` is in no queue.
    #[error("Pod {0} {1}")]
    NotWaiting(Key, NotWaiting),
    /// A quotation in `--keys` has no end.
    #[error("--keys: {0} has no closing quotation mark")]
    OpenQuotation(String),
    /// `--keys` has more keys than the limit.
    #[error("--keys: more than {} keys", PRINTED_KEYS)]
    TooManyKeys,
    /// A word in `--keys` is not a key name.
    #[error("--keys: {0}")]
    KeyName(#[from] KeyNameError),
    /// A key has no binding in its context.
    #[error("--keys: {0} is not bound where it is pressed")]
    MeansNothing(String),
    /// A key leaves the explorer.
    #[error("--keys: {0} leaves before the screen is written")]
    Leaves(String),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Error of writing a file.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file exists.
    #[error("{path} already exists; it is not overwritten")]
    Exists {
        /// Path of the file.
        path: String,
    },
    /// Writing failed.
    #[error("{path}: {error}")]
    Io {
        /// Path of the file.
        path: String,
        /// Error of the file system.
        error: io::Error,
    },
    /// Saving a session failed.
    #[error("{path}: {error}")]
    Session {
        /// Path of the file.
        path: String,
        error: SessionFileError,
    },
}

impl WriteError {
    /// Returns the error of creating a file that must not exist.
    pub(super) fn create(path: &str, error: io::Error) -> Self {
        let path = path.to_owned();
        if error.kind() == io::ErrorKind::AlreadyExists { Self::Exists { path } } else { Self::Io { path, error } }
    }
}

/// Error of a request to the session behind the screen.
#[derive(Debug, Error)]
pub(super) enum ExplorerError {
    /// The request was cancelled.
    #[error("stopped")]
    Stopped,
    /// Earlier revisions were dropped.
    #[error("earlier revisions of the live cluster were dropped, so the session cannot be replayed; :capture FILE saves the cluster")]
    Truncated,
    /// The session cannot be saved.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The job cannot start.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The source is not a live cluster.
    #[error("this is not a live cluster; S runs until nothing changes")]
    NotLive,
}

#[derive(Debug, Error)]
pub(super) enum JobError {
    /// A branch to compare does not exist; holds the number of branches.
    #[error("there are {0} branches")]
    NoBranch(usize),
    /// The pod to fix does not exist.
    #[error("there is no pod {0}")]
    NoPod(Key),
    /// More of the pod cannot be counted.
    #[error(transparent)]
    WhatIf(#[from] WhatIfError),
    /// The thread could not be started.
    #[error("no thread could be started: {0}")]
    Thread(io::Error),
    /// The object cannot be shown.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The cluster cannot be written to a file.
    #[error(transparent)]
    Capture(#[from] WriteError),
    /// The source shows one state of the cluster only.
    #[error("there is one state of the cluster only; :diff FILE compares a dump of another time with it")]
    OneState,
    /// A dump to compare with cannot be read; holds why.
    #[error("{0}")]
    NoDump(String),
    /// There is no decision at the cursor.
    #[error("there is no decision here yet")]
    NoDecision,
    /// The ticket cannot be written in its format.
    #[error(transparent)]
    Format(#[from] crate::report::FormatError),
}

/// Error of showing an object.
#[derive(Debug, Error)]
pub(super) enum ObjectError {
    /// The object exists neither at the cursor nor at the start.
    #[error("there is no {kind} {key}")]
    NotFound { kind: Kind, key: Key },
    /// The object cannot be serialized as YAML.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
}

/// Error of reading an object's original text again.
#[derive(Debug, Error)]
pub(super) enum SourceTextError {
    /// The API server refused it.
    #[error(transparent)]
    Live(#[from] OriginalError),
    /// The file has changed there.
    #[error("{place} no longer holds {kind} {key}")]
    Gone { place: String, kind: Kind, key: Key },
    /// The source can be read only once, such as standard input.
    #[error("{place} cannot be read again")]
    ReadOnce { place: String },
    /// Reading failed.
    #[error("{place}: {error}")]
    Io { place: String, error: io::Error },
}
