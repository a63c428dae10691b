//! Overlays, and the prompt.

use tui_input::Input;

use crate::output::is_plain;
use crate::ui::config::action::Motion;
use crate::ui::model::pane::Pane;
use crate::ui::model::text_view::{TextView, Viewport};

/// An overlay over the screen.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The keys and commands.
    Help(Viewport),
    /// A text.
    Text(TextView),
    /// The prompt.
    Prompt(Prompt),
    /// The list of themes, with a preview of the selected one.
    Themes {
        /// The selected theme.
        selected: String,
        /// The theme to restore on cancel.
        before: String,
    },
}

/// The prompt: one line that is being typed.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// Its purpose.
    pub typing: Typing,
    /// The typed text.
    pub input: Input,
    /// The filter to restore on cancel.
    pub before: String,
    /// Completions of the last word.
    pub completions: Vec<Completion>,
    /// The index of the chosen completion.
    pub chosen: Option<usize>,
}

/// Returns the printable characters of a pasted text, at most as many as a line takes.
pub fn typed(text: &str) -> impl Iterator<Item = char> {
    const MOST: usize = 4096;
    text.chars().filter(|c| is_plain(*c)).take(MOST)
}

/// The purpose of a prompt.
#[derive(Clone, Debug)]
pub enum Typing {
    /// A command.
    Command,
    /// The filter of a pane.
    Filter(Pane),
    /// The filter of the overlay below it.
    Over(Box<Overlay>),
}

/// A completion of the last word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word.
    pub word: String,
    /// Its arguments; empty for none.
    pub takes: &'static str,
    /// Its help; empty for a word that needs none.
    pub help: &'static str,
}

impl Prompt {
    /// Moves the choice among the completions. Before the first and after the last, none is chosen.
    pub fn choose(&mut self, motion: Motion) {
        let last = match self.completions.len() {
            0 => return,
            count => count - 1,
        };
        self.chosen = match (motion, self.chosen) {
            (Motion::Up, None) => Some(last),
            (Motion::Up, Some(0)) => None,
            (Motion::Up, Some(at)) => Some(at - 1),
            (_, None) => Some(0),
            (_, Some(at)) if at == last => None,
            (_, Some(at)) => Some(at + 1),
        };
    }
}

impl Overlay {
    /// Returns the filter of its lines.
    pub fn filter(&self) -> &str {
        match self {
            Self::Help(view) => &view.filter,
            Self::Text(text) => &text.view.filter,
            Self::Prompt(_) | Self::Themes { .. } => "",
        }
    }

    /// Sets the filter of its lines.
    pub fn set_filter(&mut self, filter: String) {
        match self {
            Self::Help(view) => *view = Viewport { filter, ..Viewport::default() },
            Self::Text(text) => text.set_filter(filter),
            Self::Prompt(_) | Self::Themes { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_goes_round_through_none() {
        let word = |word: &str| Completion { word: word.to_owned(), takes: "", help: "" };
        let mut prompt = Prompt {
            typing: Typing::Command,
            input: Input::default(),
            before: String::new(),
            completions: vec![word("a"), word("b")],
            chosen: None,
        };
        let mut go = |motion| {
            prompt.choose(motion);
            prompt.chosen
        };
        assert_eq!([go(Motion::Down), go(Motion::Down), go(Motion::Down)], [Some(0), Some(1), None]);
        assert_eq!([go(Motion::Up), go(Motion::Up), go(Motion::Up)], [Some(1), Some(0), None]);
    }
}
