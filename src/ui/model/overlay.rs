//! Overlays, and the prompt.

use tui_input::{Input, InputRequest};

use crate::limits::terminal::TYPED;
use crate::output::is_plain;
use crate::ui::config::action::Motion;
use crate::ui::model::pane::Pane;
use crate::ui::model::text_view::{TextView, Viewport};

/// An overlay over the screen.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The keys and commands.
    Help(Viewport),
    Text(TextView),
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

/// Edits a line that is being typed. A full line takes no more characters.
pub fn edit(line: &mut Input, request: InputRequest) {
    if !matches!(request, InputRequest::InsertChar(_)) || line.value().chars().count() < TYPED {
        line.handle(request);
    }
}

/// Inserts the printable characters of a pasted text, as many as the line takes.
pub fn paste(line: &mut Input, text: &str) {
    let room = TYPED.saturating_sub(line.value().chars().count());
    for c in text.chars().filter(|c| is_plain(*c)).take(room) {
        line.handle(InputRequest::InsertChar(c));
    }
}

/// The purpose of a prompt.
#[derive(Clone, Debug)]
pub enum Typing {
    Command,
    Filter(Pane),
    /// The filter of the overlay below it.
    Over(Box<Overlay>),
}

/// A completion of the last word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
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
    fn a_line_takes_characters_up_to_a_limit() {
        let mut line = Input::default();
        paste(&mut line, &"a\u{1b}b".repeat(TYPED));
        assert_eq!(line.value().len(), TYPED);
        edit(&mut line, InputRequest::InsertChar('c'));
        paste(&mut line, "d");
        assert!(line.value().len() == TYPED && line.value().ends_with("ab"));
        edit(&mut line, InputRequest::DeletePrevChar);
        edit(&mut line, InputRequest::InsertChar('c'));
        assert!(line.value().len() == TYPED && line.value().ends_with("ac"));
    }

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
