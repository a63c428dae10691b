//! Text made of whole lines, whose line breaks are the program's own.

use std::fmt::{self, Display};

use super::{Escaped, without_passwords};

/// Lines of a text for reading. A line break within a line came from outside and is escaped when the text is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines(Vec<String>);

impl Lines {
    /// Adds a line: `lines.line(format_args!("{pod}: {why}"))`.
    pub fn line(&mut self, line: fmt::Arguments<'_>) {
        self.0.push(line.to_string());
    }

    /// Adds a line.
    pub fn push(&mut self, line: impl Into<String>) {
        self.0.push(line.into());
    }

    /// Adds an empty line.
    pub fn blank(&mut self) {
        self.0.push(String::new());
    }

    /// Returns whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the lines unescaped, for sinks that escape, such as the screen.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the lines unescaped, for sinks that escape, such as the screen.
    pub fn into_vec(self) -> Vec<String> {
        self.0
    }

    /// Indents each line.
    #[must_use]
    pub fn indented(self, columns: usize) -> Self {
        self.0.into_iter().map(|line| format!("{:columns$}{line}", "")).collect()
    }
}

impl From<String> for Lines {
    /// Makes one line.
    fn from(line: String) -> Self {
        Self(vec![line])
    }
}

impl From<&str> for Lines {
    /// Makes one line.
    fn from(line: &str) -> Self {
        Self(vec![line.to_owned()])
    }
}

impl FromIterator<String> for Lines {
    fn from_iter<I: IntoIterator<Item = String>>(lines: I) -> Self {
        Self(lines.into_iter().collect())
    }
}

impl Extend<String> for Lines {
    fn extend<I: IntoIterator<Item = String>>(&mut self, lines: I) {
        self.0.extend(lines);
    }
}

impl IntoIterator for Lines {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    /// Returns the lines unescaped.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl Display for Lines {
    /// Writes the lines escaped and without passwords, each with a line break at its end.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{}", Escaped(without_passwords(line))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_within_lines_are_foreign() {
        let mut lines = Lines::from("a\nb");
        lines.blank();
        lines.line(format_args!("{}: {}", "c", "\u{1b}d"));
        lines.extend(Lines::from("e").indented(2));
        assert_eq!(lines.to_string(), "a\\nb\n\nc: \\u{1b}d\n  e\n");
    }
}
