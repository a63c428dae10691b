//! Errors of `[keys]` in a configuration file.

use thiserror::Error;

use crate::ui::config::key::KeyNameError;

/// Why an entry of `[keys]` is rejected.
#[derive(Debug, Error)]
pub(super) enum EntryError {
    /// The context has no actions; holds its name.
    #[error("no action has a key in {0} alone")]
    NoActions(&'static str),
    /// The context has no such action; holds the actions that it has.
    #[error("is not one of {}", .0.join(", "))]
    UnknownAction(Vec<&'static str>),
    #[error("must be a key or a list of keys")]
    NotKeys,
    #[error(transparent)]
    Name(#[from] KeyNameError),
    #[error("ctrl-c keeps its meaning")]
    Fixed,
    /// A character, which the prompt types.
    #[error("{0:?} is typed there, and can be no key")]
    Typed(String),
    /// An action that the user cannot do without.
    #[error("needs a key")]
    NoKey,
}
