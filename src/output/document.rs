//! A document as a value. Its blocks and spans keep their meaning until one of the renderers writes them: plain text, Markdown, or rows
//! of the screen. A page of HTML is written by [`super::html`]. No renderer reads a finished text.

use super::columns::columns;
use super::{Lines, Markdown, Span, Text, Words};

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading; the largest has level 1.
    Heading(usize, Words),
    /// Words on a line of their own.
    Paragraph(Words),
    /// Items, each on a line of its own.
    List(Vec<Item>),
    /// Lines to copy, indented by a number of spaces.
    Code(usize, Vec<CodeLine>),
    /// Rows under headings.
    Table(Vec<String>, Vec<Vec<String>>),
    /// An empty line, which ends a list.
    Blank,
}

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The spaces before it. An item is part of the one before it that has fewer.
    pub indent: usize,
    pub words: Words,
}

/// A line to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeLine {
    /// The line.
    pub text: String,
    /// A remark for its reader, which is not part of it; empty without one.
    pub remark: &'static str,
}

impl CodeLine {
    /// Returns the line with its remark, unescaped.
    pub fn remarked(&self) -> String {
        if self.remark.is_empty() { self.text.clone() } else { format!("{}  {}", self.text, self.remark) }
    }
}

impl From<String> for CodeLine {
    fn from(text: String) -> Self {
        Self { text, remark: "" }
    }
}

/// How plain text shows headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headings {
    /// With a colon behind them.
    Colon,
    /// In capitals, after an empty line.
    Capitals,
}

/// The role of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowKind {
    Heading,
    Words,
    /// A row of a table, in columns.
    Cells,
    /// A line to copy.
    Code(CodeLine),
}

/// A line of a document on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The text with its indentation, unescaped.
    pub text: String,
    /// The number of spaces before the text.
    pub indent: usize,
    /// Its role.
    pub kind: RowKind,
    /// The spans that name objects and fixes, in order.
    pub links: Vec<Span>,
}

/// Blocks in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    blocks: Vec<Block>,
}

impl Document {
    /// Adds a heading; the largest has level 1.
    pub fn heading(&mut self, level: usize, words: impl Into<Words>) {
        self.blocks.push(Block::Heading(level, words.into()));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, words: impl Into<Words>) {
        self.blocks.push(Block::Paragraph(words.into()));
    }

    /// Adds an item to the list at the end, or to a new one.
    pub fn item(&mut self, indent: usize, words: impl Into<Words>) {
        let item = Item { indent, words: words.into() };
        match self.blocks.last_mut() {
            Some(Block::List(items)) => items.push(item),
            _ => self.blocks.push(Block::List(vec![item])),
        }
    }

    /// Adds items that are not indented.
    pub fn list<W: Into<Words>>(&mut self, items: impl IntoIterator<Item = W>) {
        items.into_iter().for_each(|item| self.item(0, item));
    }

    /// Adds lines to copy; none adds no block.
    pub fn code<L: Into<CodeLine>>(&mut self, indent: usize, lines: impl IntoIterator<Item = L>) {
        let lines: Vec<CodeLine> = lines.into_iter().map(Into::into).collect();
        if !lines.is_empty() {
            self.blocks.push(Block::Code(indent, lines));
        }
    }

    /// Adds a table: its headings, and rows of at most as many cells.
    pub fn table<H: Into<String>>(&mut self, head: impl IntoIterator<Item = H>, rows: impl IntoIterator<Item = Vec<String>>) {
        self.blocks.push(Block::Table(head.into_iter().map(Into::into).collect(), rows.into_iter().collect()));
    }

    /// Adds an empty line.
    pub fn blank(&mut self) {
        self.blocks.push(Block::Blank);
    }

    /// Adds the blocks of another document. A list at its begin continues one at the end of this.
    pub fn append(&mut self, other: Self) {
        for block in other.blocks {
            match (self.blocks.last_mut(), block) {
                (Some(Block::List(items)), Block::List(more)) => items.extend(more),
                (_, block) => self.blocks.push(block),
            }
        }
    }

    /// Returns whether there is no block.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the blocks, in order.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns the document as rows for the screen.
    pub fn rows(&self) -> Vec<Row> {
        self.blocks.iter().flat_map(|block| rows(block, Headings::Colon)).collect()
    }

    /// Returns the document as plain text.
    pub fn plain(&self, headings: Headings) -> Lines {
        self.blocks.iter().flat_map(|block| rows(block, headings)).map(|row| row.text).collect()
    }

    /// Returns the document as Markdown.
    pub fn markdown(&self) -> Text {
        let mut out = Markdown::default();
        for block in &self.blocks {
            match block {
                Block::Heading(level, words) => out.heading(*level, &words.to_string()),
                Block::Paragraph(words) => out.paragraph(&words.to_string()),
                Block::List(items) => out.nested_list(&nested(items)),
                Block::Code(_, lines) => out.code(&lines.iter().map(CodeLine::remarked).collect()),
                Block::Table(head, rows) => {
                    let head: Vec<&str> = head.iter().map(String::as_str).collect();
                    // Cells that are missing at the end of a row are empty.
                    let cell = |row: &Vec<String>, at: usize| row.get(at).cloned().unwrap_or_default();
                    out.table(&head, rows.iter().map(|row| (0..head.len()).map(|at| cell(row, at)).collect()));
                }
                Block::Blank => {}
            }
        }
        out.finish()
    }
}

impl From<Lines> for Document {
    /// Makes a paragraph of each line.
    fn from(lines: Lines) -> Self {
        lines.into_iter().collect()
    }
}

impl FromIterator<String> for Document {
    /// Makes a paragraph of each line.
    fn from_iter<I: IntoIterator<Item = String>>(lines: I) -> Self {
        let block = |line: String| if line.is_empty() { Block::Blank } else { Block::Paragraph(line.into()) };
        Self { blocks: lines.into_iter().map(block).collect() }
    }
}

/// Returns the items with their depths, of which the first is 0.
pub(super) fn nested(items: &[Item]) -> Vec<(usize, String)> {
    let mut outer: Vec<usize> = Vec::new();
    let depth = |item: &Item| {
        outer.truncate(outer.iter().take_while(|indent| **indent < item.indent).count());
        outer.push(item.indent);
        outer.len() - 1
    };
    items.iter().map(depth).zip(items.iter().map(|item| item.words.to_string())).collect()
}

fn rows(block: &Block, headings: Headings) -> Vec<Row> {
    match block {
        Block::Heading(_, words) => match headings {
            Headings::Colon => vec![Row { text: format!("{words}:"), kind: RowKind::Heading, ..of_words(0, words) }],
            Headings::Capitals => {
                vec![empty(), Row { text: words.to_string().to_uppercase(), kind: RowKind::Heading, ..of_words(0, words) }]
            }
        },
        Block::Paragraph(words) => vec![of_words(0, words)],
        Block::List(items) => items.iter().map(|item| of_words(item.indent, &item.words)).collect(),
        Block::Code(indent, lines) => {
            let row = |line: &CodeLine| Row {
                text: format!("{:indent$}{}", "", line.remarked()),
                indent: *indent,
                kind: RowKind::Code(line.clone()),
                links: Vec::new(),
            };
            lines.iter().map(row).collect()
        }
        Block::Table(head, rows) => {
            let all: Vec<Vec<String>> = std::iter::once(head).chain(rows).cloned().collect();
            columns(&all).into_iter().map(|text| Row { indent: text.len().min(2), text, kind: RowKind::Cells, ..empty() }).collect()
        }
        Block::Blank => vec![empty()],
    }
}

fn of_words(indent: usize, words: &Words) -> Row {
    let links = words.spans().iter().filter(|span| !matches!(span, Span::Text(_) | Span::Remark(_))).cloned().collect();
    Row { text: format!("{:indent$}{words}", ""), indent, kind: RowKind::Words, links }
}

fn empty() -> Row {
    Row { text: String::new(), indent: 0, kind: RowKind::Words, links: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Key;

    fn document() -> Document {
        let mut doc = Document::default();
        doc.paragraph("It is so:");
        doc.blank();
        doc.heading(2, "Fixes");
        doc.item(2, Words::of_fix(0, "1. tolerate it").text(": fits on ").node(&"n1".into()));
        doc.code(5, [CodeLine { text: "kubectl delete pod p".to_owned(), remark: "# careful" }, "printf x".to_owned().into()]);
        doc.item(2, Words::of_pod(&Key::new("a", "b")));
        doc.item(4, "why");
        doc.item(2, "kubectl is a word");
        doc.table(["A", "B"], [vec!["1".to_owned()]]);
        doc
    }

    #[test]
    fn each_renderer_writes_the_same_blocks() {
        let plain = "It is so:\n\nFixes:\n  1. tolerate it: fits on n1\n     kubectl delete pod p  # careful\n     printf x\n  a/b\n    why\n  \
                     kubectl is a word\n  A  B\n  1\n";
        assert_eq!(document().plain(Headings::Colon).to_string(), plain);
        assert_eq!(
            document().markdown().as_str(),
            "It is so:\n\n## Fixes\n\n- 1\\. tolerate it: fits on n1\n\n```\nkubectl delete pod p  # careful\nprintf x\n```\n\n- a/b\n  - why\n\
             - kubectl is a word\n\n| A | B |\n| --- | --- |\n| 1 |  |\n"
        );
        let capitals = document().plain(Headings::Capitals);
        assert_eq!(capitals.iter().skip(2).take(2).collect::<Vec<_>>(), ["", "FIXES"]);
    }

    #[test]
    fn rows_keep_the_objects_that_they_name_and_the_command_without_its_remark() {
        let rows = document().rows();
        let names: Vec<String> = rows.iter().flat_map(|row| &row.links).map(ToString::to_string).collect();
        assert_eq!(names, ["1. tolerate it", "n1", "a/b"]);
        let headings: Vec<&str> = rows.iter().filter(|row| row.kind == RowKind::Heading).map(|row| row.text.as_str()).collect();
        assert_eq!(headings, ["Fixes:"], "a paragraph that ends in a colon is none");
        let code = rows.iter().find_map(|row| if let RowKind::Code(line) = &row.kind { Some(line.text.as_str()) } else { None });
        assert_eq!(code, Some("kubectl delete pod p"));
    }
}
