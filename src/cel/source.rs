//! Positions in a selector's text, and the display of problems as in cel-go (`common/error.go`, `common/errors.go`).

use std::fmt;

use crate::cluster::Str;

/// Maximum number of reported issues.
const MAX_ISSUES: usize = 100;
/// Maximum length of a quoted line, in bytes.
const MAX_SNIPPET: usize = 16_384;

/// A problem in a selector's text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    /// Byte offset; `None` if the position is unknown.
    pub(super) at: Option<usize>,
    pub(super) message: String,
}

/// All problems of a text, in order of position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Issues {
    issues: Vec<Issue>,
    truncated: usize,
}

/// A problem with its line, from 1, and column, in code points, as cel-go counts them.
#[derive(Clone, Debug, PartialEq)]
struct Issue {
    line: i64,
    column: i64,
    message: String,
    snippet: Option<Str>,
}

impl Issues {
    /// Sorts problems by position and quotes their lines.
    pub(super) fn new(text: &str, problems: &[Problem]) -> Self {
        let mut issues: Vec<Issue> = problems.iter().take(MAX_ISSUES).map(|problem| Issue::of(text, problem)).collect();
        issues.sort_by_key(|issue| (issue.line, issue.column));
        Self { issues, truncated: problems.len().saturating_sub(MAX_ISSUES) }
    }
}

impl Issue {
    fn of(text: &str, problem: &Problem) -> Self {
        let message = problem.message.clone();
        let Some(at) = problem.at else { return Self { line: -1, column: 0, message, snippet: None } };
        if text.is_empty() {
            return Self { line: 1, column: 0, message, snippet: None };
        }
        let at = at.min(text.len());
        let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
        let end = text[start..].find('\n').map_or(text.len(), |n| start + n);
        let line = 1 + text[..at].matches('\n').count() as i64;
        let column = 1 + text[start..at].chars().count() as i64;
        let snippet = (end - start <= MAX_SNIPPET).then(|| text[start..end].replace('\t', " ").into());
        Self { line, column, message, snippet }
    }
}

impl fmt::Display for Issue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ERROR: <input>:{}:{}: {}", self.line, self.column, self.message)?;
        let Some(line) = &self.snippet else { return Ok(()) };
        write!(f, "\n | {line}\n | ")?;
        let mut chars = line.chars();
        for c in chars.by_ref().take((self.column - 1).max(0) as usize) {
            f.write_str(if c.is_ascii() { "." } else { "\u{ff0e}" })?;
        }
        f.write_str(if chars.next().is_none_or(|c| c.is_ascii()) { "^" } else { "\u{ff3e}" })
    }
}

impl fmt::Display for Issues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, issue) in self.issues.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{issue}")?;
        }
        if self.truncated > 0 {
            write!(f, "\n{} more errors were truncated", self.truncated)?;
        }
        Ok(())
    }
}
