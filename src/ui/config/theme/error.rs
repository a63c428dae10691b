//! Errors of themes. Each names the file and, if there is one, the key.

use std::fmt;
use std::io;
use std::sync::Arc;

use thiserror::Error;

/// Why a theme cannot be used.
#[derive(Clone, Debug, Error)]
pub enum ThemeError {
    /// No theme has this name.
    #[error("{}no theme is called {name:?}; there are {known}", file.as_ref().map(|f| format!("{f}: inherits: ")).unwrap_or_default())]
    Unknown {
        /// The file that inherits it; `None` for a theme that the user asked for.
        file: Option<String>,
        /// The unknown name.
        name: String,
        /// The names of all themes.
        known: String,
    },
    /// The file cannot be read.
    #[error("{file}: {error}")]
    File {
        /// The theme's file.
        file: String,
        /// Why.
        error: FileError,
    },
    /// The file is not TOML.
    #[error("{file}: {error}")]
    Syntax {
        /// The theme's file.
        file: String,
        /// Why, and where.
        error: SyntaxError,
    },
    /// A key has an invalid value.
    #[error("{file}: {key}: {problem}")]
    Key {
        /// The theme's file.
        file: String,
        /// The key, with its table.
        key: String,
        /// Why.
        problem: KeyProblem,
    },
    /// Themes inherit from each other in a cycle.
    #[error("{file}: inherits: {name:?} inherits from itself")]
    Circle {
        /// The theme's file.
        file: String,
        /// The name that closes the cycle.
        name: String,
    },
}

/// Why a theme file cannot be read.
#[derive(Clone, Debug, Error)]
pub enum FileError {
    /// It is a folder, a pipe or the like.
    #[error("is not a file")]
    NotAFile,
    /// It is larger than the limit, in bytes.
    #[error("is larger than {0} bytes")]
    TooLarge(u64),
    /// Reading failed.
    #[error("{0}")]
    Io(Arc<io::Error>),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

/// Why a text is not TOML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Line and column in characters, counted from 1; `None` if the parser does not give them.
    pub at: Option<(usize, usize)>,
    /// The parser's message.
    pub message: String,
}

impl SyntaxError {
    /// Returns a parser's error with its place in the text.
    pub fn new(text: &str, error: &toml::de::Error) -> Self {
        let before = error.span().and_then(|span| text.get(..span.start));
        let at = before.map(|before| {
            let line = before.matches('\n').count() + 1;
            (line, before.rsplit('\n').next().unwrap_or_default().chars().count() + 1)
        });
        Self { at, message: error.message().to_owned() }
    }
}

/// Formats as `line 1, column 8: message`.
impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((line, column)) = self.at {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Why a key of a theme cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KeyProblem {
    /// Neither the theme nor an inherited one has it.
    #[error("is missing")]
    Missing,
    /// It is not a string.
    #[error("must be a string")]
    NotAString,
    /// It is not a table.
    #[error("must be a table")]
    NotATable,
    /// Themes have no such key.
    #[error("is not a key of a theme (name, inherits, palette, roles)")]
    UnknownKey,
    /// The screen has no such role.
    #[error("there is no such role")]
    UnknownRole,
    /// A role names an entry that the palette does not have.
    #[error("the palette has no {0:?}")]
    NotInPalette(String),
    /// A text that is not a colour.
    #[error("{0:?} is neither #rrggbb nor one of the 16 colour names")]
    Color(String),
    /// A palette entry that is neither a string nor a table.
    #[error("must be a colour, or a table of rgb and ansi")]
    NotAPaint,
    /// A palette entry without one of its two colours.
    #[error("needs {0}, a string")]
    NoColor(&'static str),
    /// A palette entry with an unknown key.
    #[error("{0:?} is neither rgb nor ansi")]
    PaintKey(String),
    /// A role that is neither a string nor a table.
    #[error("must be a palette entry or a table")]
    NotARole,
    /// A key of a role that must hold a string.
    #[error("{0} must be a string")]
    RoleString(String),
    /// A key of a role that must hold true or false.
    #[error("{0} must be true or false")]
    RoleBool(String),
    /// A role with an unknown key.
    #[error("{0:?} is not one of fg, bg, bold, dim, italic, underline, reverse")]
    RoleKey(String),
}
