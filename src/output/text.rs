//! A text that is escaped and may be written out.

use super::Lines;
use super::escape::is_plain;

/// A text that holds nothing raw from outside. It is made only from [`Lines`], by the format writers, or from a
/// document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text(String);

impl Text {
    /// Returns a document: line feeds are kept, and all other characters that are not plain are escaped.
    pub fn document(text: String) -> Self {
        if text.chars().all(|c| c == '\n' || is_plain(c)) {
            return Self(text);
        }
        // A carriage return before a line feed is part of the line break.
        let lines = text.split('\n').map(|line| super::escape(line.strip_suffix('\r').unwrap_or(line)));
        Self(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Wraps a text that its writer has escaped.
    pub(super) fn written(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends another text.
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
