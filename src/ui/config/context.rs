//! Contexts: the parts of the screen in which a key has its meaning.

use std::fmt;

/// The part of the screen in which a key works. Panes define their own contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Context {
    /// The name of its table in `[keys]`.
    pub key: &'static str,
    /// Its heading in the help.
    pub title: &'static str,
    /// Whether keys of [`Context::GLOBAL`] work in it.
    in_pane: bool,
}

impl Context {
    /// Every pane.
    pub const GLOBAL: Self = Self::pane("global", "Everywhere");
    /// The help, and texts over the screen.
    pub const OVERLAY: Self = Self::outside("overlay", "In help and lists over the screen");
    /// The list of themes.
    pub const PICKER: Self = Self::outside("picker", "While choosing a theme");
    pub const START: Self = Self::outside("start", "On the start screen");
    pub const PROMPT: Self = Self::outside("prompt", "While typing");

    /// Returns the context of a pane: its table in `[keys]` and its heading in the help.
    pub const fn pane(key: &'static str, title: &'static str) -> Self {
        Self { key, title, in_pane: true }
    }

    const fn outside(key: &'static str, title: &'static str) -> Self {
        Self { key, title, in_pane: false }
    }

    /// Returns whether keys of both contexts work at the same time.
    pub fn meets(self, other: Self) -> bool {
        self == other || (self == Self::GLOBAL && other.in_pane) || (other == Self::GLOBAL && self.in_pane)
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title)
    }
}
