//! Errors of `[keys]` in a configuration file.

use thiserror::Error;

use crate::ui::config::key::KeyNameError;

/// Why an entry of a configuration file's `[keys]` cannot be used.
#[derive(Debug, Error)]
pub(super) enum EntryError {
    /// No action of the place has keys; holds the place.
    #[error("no action has a key in {0} alone")]
    NoActions(&'static str),
    /// The place has other actions: these.
    #[error("is none of {}", .0.join(", "))]
    UnknownAction(Vec<&'static str>),
    #[error("must be a key or a list of keys")]
    NotKeys,
    #[error(transparent)]
    Name(#[from] KeyNameError),
    #[error("ctrl-c keeps its meaning")]
    Fixed,
    /// A character, in a place where characters are typed.
    #[error("{0:?} is typed there, and can be no key")]
    Typed(String),
    /// An action without which the reader would be stuck.
    #[error("needs a key")]
    NoKey,
}
