//! Behaviours of errors and of the message about a failed attempt.

use crate::cluster::SelectorWords;

/// The named behaviours of errors and of the message about a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageBehaviour {
    /// The wording of selector errors.
    pub selector_words: SelectorWords,
    pub filter_errors_name_pod: bool,
    /// When the message includes the text of PostFilter.
    pub post_filter: PostFilterText,
    /// The text after that of PostFilter in the message.
    pub end: &'static str,
}

/// When the message includes the text of PostFilter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostFilterText {
    Always,
    /// Unless PostFilter returned an error.
    UnlessError,
    Never,
}
