//! A Markdown document. Text from outside stays text: it cannot begin a heading, a list, a link, a tag or a cell.

use std::fmt::Write as _;

use super::{Lines, Text, escape, without_passwords};

/// A Markdown document, made block by block.
#[derive(Clone, Debug, Default)]
pub struct Markdown(String);

impl Markdown {
    /// Adds a heading; the largest has level 1.
    pub fn heading(&mut self, level: usize, text: &str) {
        let _ = writeln!(self.block(), "{} {}", "#".repeat(level.clamp(1, 6)), inline(text));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.block(), "{}", first_in_line(text));
    }

    /// Adds a list whose items have depths: an item that is deeper is part of the one before it.
    pub(super) fn nested_list(&mut self, items: &[(usize, String)]) {
        let out = self.block();
        for (depth, item) in items {
            let _ = writeln!(out, "{:indent$}- {}", "", first_in_line(item), indent = 2 * depth);
        }
    }

    /// Adds a table: its headings, and rows of as many cells.
    pub fn table(&mut self, headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
        let out = self.block();
        let row = |out: &mut String, cells: &mut dyn Iterator<Item = String>| {
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        };
        row(out, &mut headings.iter().map(|text| inline(text)));
        row(out, &mut headings.iter().map(|_| "---".to_owned()));
        for cells in rows {
            row(out, &mut cells.iter().map(|text| inline(text)));
        }
    }

    /// Adds lines as they are, in a block of code.
    pub fn code(&mut self, lines: &Lines) {
        let body = lines.to_string();
        let run = body.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat((run + 1).max(3));
        let _ = write!(self.block(), "{fence}\n{body}{fence}\n");
    }

    /// Returns the document.
    pub fn finish(self) -> Text {
        Text::written(self.0)
    }

    /// Starts a block after an empty line.
    fn block(&mut self) -> &mut String {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        &mut self.0
    }
}

/// Returns a text for use within a line.
fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in escape(&without_passwords(text)).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '#' | '$' | '@' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Returns a text for use at the beginning of a line, where a few more characters have a meaning.
fn first_in_line(text: &str) -> String {
    let text = inline(text);
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match text[digits..].chars().next() {
        Some('-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_follow_each_other_and_text_stays_text() {
        let mut doc = Markdown::default();
        doc.heading(2, "a <b> #x");
        doc.paragraph("1. not a list, `code` or @name\nnor a line\u{1b}");
        doc.nested_list(&[(0, "- x".to_owned()), (0, "y".to_owned())]);
        doc.table(&["A", "B|C"], [vec!["1|2".to_owned(), "_x_".to_owned()]]);
        doc.code(&Lines::from("```"));
        assert_eq!(
            doc.finish().as_str(),
            "## a \\<b\\> \\#x\n\n1\\. not a list, \\`code\\` or \\@name\\\\nnor a line\\\\u{1b}\n\n- \\- x\n- y\n\n\
             | A | B\\|C |\n| --- | --- |\n| 1\\|2 | \\_x\\_ |\n\n````\n```\n````\n"
        );
    }

    #[test]
    fn passwords_of_urls_are_left_out() {
        let mut doc = Markdown::default();
        doc.paragraph("https://user:secret@example.com/x");
        assert!(!doc.finish().as_str().contains("secret"));
    }
}
