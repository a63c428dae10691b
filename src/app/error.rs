//! Errors of the event loop, of the session behind the screen and of the files they write. Every text is for the reader.

use std::io;

use thiserror::Error;

use crate::cluster::{Key, Kind};
use crate::session::{EditError, ReleaseChangeError, SessionFileError};
use crate::source::Diagnostic;
use crate::source::live::OriginalError;
use crate::ui::ThemeError;
use crate::ui::config::key::KeyNameError;
use crate::ui::model::effect::ScreenEndingError;

/// Why the explorer ends.
#[derive(Debug, Error)]
pub enum AppError {
    /// Standard output is no terminal.
    #[error("the explorer needs a terminal: standard {0} is none")]
    NoTerminal(&'static str),
    /// The terminal did not do what it was told.
    #[error("the terminal: {0}")]
    Terminal(#[from] io::Error),
    /// The screen cannot be written to a file.
    #[error(transparent)]
    Print(#[from] PrintError),
    /// The theme cannot be used.
    #[error(transparent)]
    Theme(#[from] ThemeError),
}

/// Why the screen is not written to a file without a terminal.
#[derive(Debug, Error)]
pub enum PrintError {
    /// The file's name asks for something that a screen cannot be.
    #[error(transparent)]
    Form(#[from] ScreenEndingError),
    /// Words in `--keys` begin with a quotation mark and do not end with it.
    #[error("--keys: {0} has no end")]
    OpenQuotation(String),
    /// A word in `--keys` names no key.
    #[error("--keys: {0}")]
    KeyName(#[from] KeyNameError),
    /// A key does nothing in the context in which it is pressed.
    #[error("--keys: {0} means nothing where it is pressed")]
    MeansNothing(String),
    /// A key leaves the explorer.
    #[error("--keys: {0} leaves before the screen is written")]
    Leaves(String),
    /// The file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// Why a file is not written.
#[derive(Debug, Error)]
pub enum WriteError {
    /// There is such a file already.
    #[error("{path} exists already; it is left alone")]
    Exists {
        /// The file.
        path: String,
    },
    /// Writing failed.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// Saving a session failed.
    #[error("{path}: {error}")]
    Session {
        /// The file.
        path: String,
        /// Why.
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

/// Why the session behind the screen does not do what it is asked for.
#[derive(Debug, Error)]
pub(super) enum ExplorerError {
    /// The request was cancelled.
    #[error("stopped")]
    Stopped,
    /// The operation changes nothing.
    #[error("it changes nothing")]
    NothingDone,
    /// The pod does not wait on Permit.
    #[error("{0} is not waiting on Permit")]
    NotWaitingOnPermit(Key),
    /// The line is no edit of the cluster.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The release would not start.
    #[error(transparent)]
    Release(#[from] ReleaseChangeError),
    /// The file to apply cannot be read.
    #[error("{0}")]
    Load(Box<Diagnostic>),
    /// The file to apply has no object that is read.
    #[error("{path} holds nothing that decides about scheduling")]
    NothingInFile { path: String },
    /// No timer is pending.
    #[error("time makes nothing happen any more")]
    NoTimer,
    /// The beginning of the session is no longer kept.
    #[error("the cluster was followed for longer than is kept, so this cannot be replayed; :capture FILE writes the cluster")]
    Truncated,
    /// The session cannot be saved.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// Job cannot begin.
    #[error(transparent)]
    Job(#[from] JobError),
    /// An object that the fix changes is not there.
    #[error("the cluster at the cursor is another than the fix is for")]
    FixOutdated,
    /// There is no cluster to catch up with.
    #[error("this is no live cluster; S runs until nothing changes")]
    NotLive,
}

/// Why work beside the screen has no result.
#[derive(Debug, Error)]
pub(super) enum JobError {
    /// A branch to compare does not exist; holds how many there are.
    #[error("there are {0} branches")]
    NoBranch(usize),
    /// The pod to fix is not there.
    #[error("there is no pod {0}")]
    NoPod(Key),
    /// The system gives no thread.
    #[error("no thread could be started: {0}")]
    Thread(io::Error),
    /// The object cannot be shown.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The cluster cannot be written to a file.
    #[error(transparent)]
    Capture(#[from] WriteError),
    /// The thread ended without a result.
    #[error("it broke off")]
    BrokeOff,
}

/// Why an object cannot be shown.
#[derive(Debug, Error)]
pub(super) enum ObjectError {
    /// There is none, neither at the cursor nor at the start.
    #[error("there is no {kind} {key}")]
    NotFound { kind: Kind, key: Key },
    /// It cannot be written as YAML.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
}

/// Why an object's text cannot be read again from where it came.
#[derive(Debug, Error)]
pub(super) enum SourceTextError {
    /// The API server does not give it.
    #[error(transparent)]
    Live(#[from] OriginalError),
    /// The file has something else there by now.
    #[error("{place} no longer holds {kind} {key}")]
    Gone { place: String, kind: Kind, key: Key },
    /// The source can be read once only, such as standard input.
    #[error("{place} cannot be read again")]
    ReadOnce { place: String },
    /// Reading failed.
    #[error("{place}: {error}")]
    Io { place: String, error: io::Error },
}
