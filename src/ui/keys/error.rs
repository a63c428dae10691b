//! Errors of keys that the reader names.

use thiserror::Error;

use super::NAMED;

/// Why a text names no key that can be bound.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyNameError {
    /// There is no such key.
    #[error("{0:?} is no key: a character, {named}, or ctrl-, alt- and one of them; shift-tab", named = NAMED.join(", "))]
    Unknown(String),
    /// Terminals send the same for another key.
    #[error("{text:?} cannot be told from {same}")]
    SameAs {
        /// The text.
        text: String,
        /// The other key.
        same: &'static str,
    },
}

/// Why an entry of a configuration file's `[keys]` cannot be used.
#[derive(Debug, Error)]
pub(super) enum WishError {
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
