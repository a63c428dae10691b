//! Requests to the screen, made by keys, the mouse and the terminal.

use tui_input::InputRequest;

/// One request to the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Runs a verb. Holds its name in `[keys]` of the configuration.
    Verb(&'static str),
    /// Types a character into the prompt.
    Type(char),
    /// Types a text from the clipboard.
    Paste(String),
    /// Reports a new size of the terminal, in columns and rows.
    Resize(u16, u16),
    /// Reports the mouse at a column and row.
    Mouse(Mouse, u16, u16),
}

/// Verbs that other parts of the program refer to. A verb needs no entry here to be bound to a key.
#[allow(missing_docs, reason = "the names say it; each verb is documented where it is defined")]
impl Action {
    pub const BACK: Self = Self::Verb("back");
    pub const CATCH_UP: Self = Self::Verb("catch-up");
    pub const COMMAND: Self = Self::Verb("command");
    pub const COMPLETE: Self = Self::Verb("complete");
    pub const CYCLE: Self = Self::Verb("cycle");
    pub const FILTER: Self = Self::Verb("filter");
    pub const HELP: Self = Self::Verb("help");
    /// Of a key without a binding.
    pub const NOTHING: Self = Self::Verb("nothing");
    pub const OPEN: Self = Self::Verb("open");
    pub const QUIT: Self = Self::Verb("quit");
    pub const REPORT: Self = Self::Verb("report");
    pub const RUN: Self = Self::Verb("run");
    pub const STEP: Self = Self::Verb("step");
    pub const STEP_BACK: Self = Self::Verb("step-back");
    pub const SUBMIT: Self = Self::Verb("submit");
    pub const SUSPEND: Self = Self::Verb("suspend");
    pub const WAIT: Self = Self::Verb("wait");

    /// Returns the edit of the prompt that it makes; `None` for any other request.
    pub fn edit(&self) -> Option<InputRequest> {
        match self {
            Self::Type(c) => Some(InputRequest::InsertChar(*c)),
            Self::Verb(name) => EDITS.iter().find(|(verb, _)| verb == name).map(|(_, edit)| *edit),
            _ => None,
        }
    }

    /// Returns the motion that it makes; `None` for any other request.
    pub fn motion(&self) -> Option<Motion> {
        let Self::Verb(name) = self else { return None };
        Motion::ALL.into_iter().find(|motion| motion.name() == *name)
    }
}

/// The verbs that edit the prompt.
const EDITS: [(&str, InputRequest); 9] = [
    ("delete-before", InputRequest::DeletePrevChar),
    ("delete-after", InputRequest::DeleteNextChar),
    ("delete-word-before", InputRequest::DeletePrevWord),
    ("delete-all-before", InputRequest::DeleteFromStart),
    ("delete-all-after", InputRequest::DeleteTillEnd),
    ("left", InputRequest::GoToPrevChar),
    ("right", InputRequest::GoToNextChar),
    ("line-start", InputRequest::GoToStart),
    ("line-end", InputRequest::GoToEnd),
];

/// A direction in time or in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Forward, down, coarser.
    Forward,
    /// Back, up, finer.
    Back,
}

/// How a selection moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Motion {
    Up,
    Down,
    HalfPageUp,
    HalfPageDown,
    PageUp,
    PageDown,
    Top,
    Bottom,
}

impl Motion {
    /// All motions.
    pub const ALL: [Self; 8] =
        [Self::Up, Self::Down, Self::HalfPageUp, Self::HalfPageDown, Self::PageUp, Self::PageDown, Self::Top, Self::Bottom];

    /// Returns the name of its verb in `[keys]`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::HalfPageUp => "half-page-up",
            Self::HalfPageDown => "half-page-down",
            Self::PageUp => "page-up",
            Self::PageDown => "page-down",
            Self::Top => "top",
            Self::Bottom => "bottom",
        }
    }

    /// Returns the row that it leads to. `from` is the selected row, `last` the last one, `page` the rows of a page. Without
    /// a selected row, returns the first row for every motion but [`Motion::Bottom`].
    pub fn target(self, from: Option<usize>, last: usize, page: usize) -> usize {
        let page = page.max(2) - 1;
        match (self, from) {
            (Self::Bottom, _) => last,
            (Self::Top, _) | (_, None) => 0,
            (Self::Up, Some(i)) => i.saturating_sub(1),
            (Self::Down, Some(i)) => (i + 1).min(last),
            (Self::HalfPageUp, Some(i)) => i.saturating_sub(page.div_ceil(2)),
            (Self::HalfPageDown, Some(i)) => (i + page.div_ceil(2)).min(last),
            (Self::PageUp, Some(i)) => i.saturating_sub(page),
            (Self::PageDown, Some(i)) => (i + page).min(last),
        }
    }
}

/// A request of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mouse {
    /// The left button went down.
    Press,
    /// The mouse moved with the left button down.
    Drag,
    /// The left button went up.
    Release,
    /// The wheel turned.
    Scroll(Direction),
}
