//! A whole text that may leave.

use super::Lines;
use super::escape::is_plain;

/// A text in which nothing from outside is raw. It is made of [`Lines`], by the writers of formats, or of a document whose
/// line breaks are its own, and by nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Returns a document: its line breaks are its own, and all else is escaped.
    pub fn document(text: String) -> Self {
        if text.chars().all(|c| c == '\n' || is_plain(c)) {
            return Self(text);
        }
        // A carriage return before a line break is part of it.
        let lines = text.split('\n').map(|line| super::escape(line.strip_suffix('\r').unwrap_or(line)));
        Self(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Returns a text whose writer has escaped it.
    pub(super) fn written(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds another text at its end.
    pub fn push(&mut self, other: &Self) {
        self.0.push_str(&other.0);
    }
}

impl From<Lines> for Text {
    fn from(lines: Lines) -> Self {
        Self(lines.to_string())
    }
}

impl From<&Lines> for Text {
    fn from(lines: &Lines) -> Self {
        Self(lines.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_line_breaks_and_nothing_else() {
        assert_eq!(Text::document("a\n\u{1b}b\n".to_owned()).as_str(), "a\n\\u{1b}b\n");
        assert_eq!(Text::document("a\r\nb\tc\u{202e}".to_owned()).as_str(), "a\nb\\tc\\u{202e}");
    }
}
