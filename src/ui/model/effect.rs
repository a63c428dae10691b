//! Effects: requests from an action to the app, because the screen performs no IO.

use crate::limits::terminal::FREE_NAMES;
use crate::output::Text;

/// An effect for the app to perform after an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Exit.
    Quit,
    /// Stop the program until it is continued.
    Suspend,
    /// Show another theme. Holds its name.
    Theme(String),
    /// Use the mouse, or leave it to the terminal.
    Mouse(bool),
    /// Open another source: a path, or `None` for the start screen.
    Open(Option<String>),
    /// Put a text into the terminal's clipboard.
    Copy(String),
    /// Write to a file that does not exist yet.
    Export {
        file: NewFile,
        /// The contents.
        export: Export,
    },
    /// Panic, to test that the terminal survives it; debug builds only.
    Panic {
        /// Whether to panic on another thread.
        in_thread: bool,
    },
}

/// A file that is written only if it does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewFile {
    /// The file that the user named.
    Named(String),
    /// The first of `NAME.ENDING`, `NAME-2.ENDING` and so on that does not exist.
    Free {
        /// The name without a number.
        name: &'static str,
        /// The extension.
        ending: &'static str,
    },
}

impl NewFile {
    /// A ticket, where the user names no file.
    pub const TICKET: Self = Self::Free { name: "ticket", ending: "md" };
    /// A picture of the screen, where the user names no file.
    pub const SCREEN: Self = Self::Free { name: "screen", ending: "svg" };
    /// A decision, where the user names no file.
    pub const DECISION: Self = Self::Free { name: "decision", ending: "md" };

    /// Returns the path to try as the `number`th, from 1 on; `None` where there is no other.
    pub fn path(&self, number: usize) -> Option<String> {
        match (self, number) {
            (Self::Named(path), 1) => Some(path.clone()),
            (Self::Named(_), _) => None,
            (Self::Free { name, ending }, 1) => Some(format!("{name}.{ending}")),
            (Self::Free { name, ending }, number) => (number <= FREE_NAMES).then(|| format!("{name}-{number}.{ending}")),
        }
    }

    /// Returns its extension without the dot; empty if it has none.
    pub fn ending(&self) -> &str {
        match self {
            Self::Named(path) => ending(path),
            Self::Free { ending, .. } => ending,
        }
    }
}

/// The contents of an exported file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Export {
    /// The next frame.
    Screen(ScreenForm),
    Words(Text),
}

/// The form of an exported screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenForm {
    /// A picture, as SVG.
    Picture,
    /// A page for a browser, as HTML.
    Page,
    /// The lines of text.
    Text,
}

/// The file's extension is not a form of a screen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: the screen can be written to a file that ends in .svg, .html or .txt")]
pub struct ScreenEndingError {
    /// The file.
    pub path: String,
}

impl ScreenForm {
    /// Returns the form for a file's extension.
    pub fn of(path: &str) -> Result<Self, ScreenEndingError> {
        match ending(path) {
            "svg" => Ok(Self::Picture),
            "html" | "htm" => Ok(Self::Page),
            "txt" => Ok(Self::Text),
            _ => Err(ScreenEndingError { path: path.to_owned() }),
        }
    }
}

/// Returns the extension of a file without its dot; empty if it has none.
pub fn ending(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_names_are_tried_up_to_a_limit() {
        let path = |number| NewFile::TICKET.path(number);
        assert_eq!([1, 2].map(path), [Some("ticket.md".to_owned()), Some("ticket-2.md".to_owned())]);
        assert_eq!(path(FREE_NAMES), Some(format!("ticket-{FREE_NAMES}.md")));
        assert_eq!(path(FREE_NAMES + 1), None);
        assert_eq!(NewFile::Named("mine.md".to_owned()).path(2), None, "a file that the user named is not replaced");
    }
}
