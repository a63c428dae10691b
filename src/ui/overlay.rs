//! What lies over the screen, and lines being typed.

use tui_input::Input;

use crate::ui::action::Pane;
use crate::ui::sheet::{Sheet, View};

/// What lies over the screen.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The keys and commands.
    Help(View),
    /// Some text.
    Text(Sheet),
    /// A line being typed.
    Prompt(Prompt),
    /// The themes, of which the one selected is shown.
    Themes {
        /// The one that is selected.
        selected: String,
        /// The one that was shown before.
        before: String,
    },
}

/// A line being typed.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What it is for.
    pub typing: Typing,
    /// The line.
    pub input: Input,
    /// The filter to go back to when cancelled.
    pub before: String,
    /// What the last word could become.
    pub completions: Vec<Completion>,
    /// The completion that is chosen.
    pub chosen: Option<usize>,
}

/// What a line is typed for.
#[derive(Clone, Debug)]
pub enum Typing {
    /// A command.
    Command,
    /// The filter of a pane.
    Filter(Pane),
    /// The filter of what lies over the screen.
    Over(Box<Overlay>),
}

/// What the last word of a command could become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word.
    pub word: String,
    /// What it takes; empty for nothing.
    pub takes: &'static str,
    /// What it does; empty where the word says it.
    pub help: &'static str,
}
