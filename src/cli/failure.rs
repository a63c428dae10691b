//! Why a command failed, which decides its exit code, and what the user may do about it.

use std::fmt;

use super::{EXIT_SOURCE, EXIT_USAGE};
use crate::app::AppError;
use crate::output::Lines;
use crate::report::FormatError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The command is not written so that it can be run.
    Usage,
    /// A source, a cluster or standard output cannot be read or written.
    Source,
}

impl FailureKind {
    /// Returns the exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Usage => EXIT_USAGE,
            Self::Source => EXIT_SOURCE,
        }
    }
}

/// A way out of a failure, or another reason for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A name that there is and that is nearly the typed one.
    Nearest(String),
    /// Anything else, as a clause.
    Do(String),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nearest(name) => write!(f, "did you mean {name}?"),
            Self::Do(clause) => f.write_str(clause),
        }
    }
}

/// A command's failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub kind: FailureKind,
    /// The lines for standard error.
    pub message: Lines,
    /// Ways out, and other reasons.
    pub hints: Vec<Hint>,
}

impl Failure {
    pub(super) fn usage(message: impl Into<Lines>) -> Self {
        Self { kind: FailureKind::Usage, message: message.into(), hints: Vec::new() }
    }

    pub(super) fn source(message: impl Into<Lines>) -> Self {
        Self { kind: FailureKind::Source, message: message.into(), hints: Vec::new() }
    }

    /// Returns the failure of standard output.
    pub(super) fn standard_output(error: impl fmt::Display) -> Self {
        Self::source(format!("standard output: {error}"))
    }

    /// Adds the nearest name, if there is one.
    #[must_use]
    pub(super) fn with_nearest(mut self, name: Option<impl Into<String>>) -> Self {
        self.hints.extend(name.map(|name| Hint::Nearest(name.into())));
        self
    }

    /// Adds what the user may do, or what else may be the reason, as a clause.
    #[must_use]
    pub(super) fn with_hint(mut self, clause: impl Into<String>) -> Self {
        self.hints.push(Hint::Do(clause.into()));
        self
    }

    /// Puts the option that failed in front of each line.
    #[must_use]
    pub(super) fn of_option(self, option: &str) -> Self {
        let message = self.message.into_iter().map(|line| format!("{option}: {line}")).collect();
        Self { message, ..self }
    }

    /// Returns the lines for standard error; the hints end the last one.
    pub fn lines(self) -> Vec<String> {
        let mut lines = self.message.into_vec();
        if let Some(last) = lines.last_mut() {
            self.hints.iter().for_each(|hint| *last += &format!("; {hint}"));
        }
        lines
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<FormatError> for Failure {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Json(_) | FormatError::Yaml(_) => Self::source(error.to_string()),
            FormatError::OneAnswer(_) | FormatError::OnlyPending(_) => Self::usage(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_decides_the_code_and_the_hint_comes_last() {
        let failure = Failure::usage("there is no pod wbe").with_nearest(Some("web"));
        assert_eq!((failure.kind.code(), failure.lines()), (EXIT_USAGE, vec!["there is no pod wbe; did you mean web?".to_owned()]));
        let failure =
            Failure::source(["a", "b"].map(str::to_owned).into_iter().collect::<Lines>()).with_nearest(None::<String>).of_option("--x");
        assert_eq!((failure.kind.code(), failure.lines()), (EXIT_SOURCE, vec!["--x: a".to_owned(), "--x: b".to_owned()]));
        let failure = Failure::usage("several workloads are called web").with_hint("name the kind too").with_nearest(None::<String>);
        assert_eq!(failure.lines(), ["several workloads are called web; name the kind too"]);
        assert_eq!(Failure::from(FormatError::OnlyPending("metrics")).kind, FailureKind::Usage);
    }
}
