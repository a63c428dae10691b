//! Words of a document: text, and the objects that it names.

use std::fmt::{self, Display};

use crate::cluster::{Key, Str};

/// A part of a paragraph, an item or a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Span {
    /// Text without a further meaning.
    Text(String),
    /// A pod, as `namespace/name`.
    Pod(Key),
    /// A node, by its name.
    Node(Str),
    /// A fix in words, with its index among the fixes that come with the document.
    Fix(usize, String),
}

impl Display for Span {
    /// Writes the span unescaped, for sinks that escape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) | Self::Fix(_, text) => f.write_str(text),
            Self::Pod(pod) => write!(f, "{pod}"),
            Self::Node(node) => write!(f, "{node}"),
        }
    }
}

/// Spans in a line: `Words::from("on ").node(&node)`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Vec<Span>);

impl Words {
    /// Starts with a pod.
    pub fn of_pod(pod: &Key) -> Self {
        Self(vec![Span::Pod(pod.clone())])
    }

    /// Starts with a node.
    pub fn of_node(node: &Str) -> Self {
        Self(vec![Span::Node(node.clone())])
    }

    /// Starts with a fix.
    pub fn of_fix(index: usize, words: impl Into<String>) -> Self {
        Self(vec![Span::Fix(index, words.into())])
    }

    /// Adds text.
    #[must_use]
    pub fn text(self, text: impl Into<String>) -> Self {
        self.and(Span::Text(text.into()))
    }

    /// Adds a pod.
    #[must_use]
    pub fn pod(self, pod: &Key) -> Self {
        self.and(Span::Pod(pod.clone()))
    }

    /// Adds a node.
    #[must_use]
    pub fn node(self, node: &Str) -> Self {
        self.and(Span::Node(node.clone()))
    }

    /// Adds other words.
    #[must_use]
    pub fn words(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// Returns the spans, in order.
    pub fn spans(&self) -> &[Span] {
        &self.0
    }

    fn and(mut self, span: Span) -> Self {
        self.0.push(span);
        self
    }
}

impl From<String> for Words {
    fn from(text: String) -> Self {
        Self(vec![Span::Text(text)])
    }
}

impl From<&str> for Words {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl Display for Words {
    /// Writes the words unescaped, for sinks that escape.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|span| write!(f, "{span}"))
    }
}
