//! Pages: rows of facts and tables, made while their pane is in sight.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Key;
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::config::glyphs::Glyphs;
use crate::ui::config::theme::Role;
use crate::ui::model::column::Column;
use crate::ui::model::filter::{Fact, Filter};
use crate::ui::model::list::Row;
use crate::ui::model::list::RowId;
use crate::ui::model::sort::Sort;
use crate::ui::model::text;

/// Columns for the names of facts.
pub const NAME: usize = 20;

/// The input from which a page is made.
pub struct PageInput<'a> {
    /// The record and its cursor.
    pub timeline: &'a Timeline,
    /// The whole cycle under the cursor.
    pub whole: &'a CycleView,
    /// Columns of the pane.
    pub width: usize,
    /// Expanded budgets.
    pub open: &'a BTreeSet<Key>,
    pub order: Sort,
}

#[derive(Clone, Debug, PartialEq)]
pub enum PageRow {
    Heading(String),
    /// The column headings of a table.
    Titles(Arc<[Column]>),
    /// A line of a fact; the first has its name.
    Fact {
        /// The identity of the line.
        id: RowId,
        /// The fact's name; empty on continued lines.
        name: &'static str,
        /// The text of this line.
        value: String,
        /// Its style.
        role: Role,
    },
    /// A row of a table.
    Cells {
        /// The identity of the row.
        id: RowId,
        columns: Arc<[Column]>,
        /// A cell for each column.
        cells: Vec<Cell>,
    },
    /// A note in place of rows.
    Note(String),
}

impl Row for PageRow {
    fn id(&self) -> Option<RowId> {
        match self {
            Self::Fact { id, .. } | Self::Cells { id, .. } => Some(id.clone()),
            Self::Heading(_) | Self::Titles(_) | Self::Note(_) => None,
        }
    }

    fn is(&self, id: &RowId) -> bool {
        matches!(self, Self::Fact { id: own, .. } | Self::Cells { id: own, .. } if own == id)
    }
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The sign before it.
    pub sign: Sign,
    pub text: String,
    /// Its style.
    pub role: Role,
}

/// Returns a cell without a sign.
pub fn cell(text: impl Into<String>, role: Role) -> Cell {
    Cell { sign: Sign::None, text: text.into(), role }
}

pub fn signed(sign: Sign, text: impl Into<String>, role: Role) -> Cell {
    Cell { sign, text: text.into(), role }
}

/// The signs in rows of pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the glyphs")]
pub enum Sign {
    None,
    Blank,
    Stays,
    Falls,
    Winner,
    Failed,
    Open,
    Closed,
    Here,
    Unseen,
}

impl Sign {
    /// Returns the glyph of a sign.
    pub fn glyph(self, glyphs: &Glyphs) -> &'static str {
        match self {
            Self::None => "",
            Self::Blank => " ",
            Self::Stays => glyphs.stays,
            Self::Falls => glyphs.falls,
            Self::Winner => glyphs.winner,
            Self::Failed => glyphs.failed,
            Self::Open => glyphs.open,
            Self::Closed => glyphs.closed,
            Self::Here => glyphs.here,
            Self::Unseen => glyphs.unseen,
        }
    }
}

/// Builds the rows of a page.
pub struct PageRows<'f> {
    made: Vec<PageRow>,
    width: usize,
    filter: &'f mut Filter,
}

impl<'f> PageRows<'f> {
    /// Starts without rows.
    pub fn new(width: usize, filter: &'f mut Filter) -> Self {
        Self { made: Vec::new(), width, filter }
    }

    /// Adds a heading. A heading without rows is dropped.
    pub fn heading(&mut self, words: impl Into<String>) {
        self.trim();
        self.made.push(PageRow::Heading(words.into()));
    }

    /// Adds the column headings of a table.
    pub fn titles(&mut self, columns: &Arc<[Column]>) {
        self.made.push(PageRow::Titles(columns.clone()));
    }

    /// Adds a fact on as many lines as it takes; nothing if it is empty or filtered out.
    pub fn fact(&mut self, name: &'static str, value: impl AsRef<str>, role: Role) {
        let value = value.as_ref();
        if value.is_empty() || !(self.filter.is_empty() || self.filter.keeps(&[Fact::prose(name, name), Fact::prose(name, value)])) {
            return;
        }
        let before = self.made.iter().filter(|r| matches!(r, PageRow::Fact { id: RowId::Line(n, _), .. } if *n == name)).count();
        for (i, line) in text::wrap(value, self.width.saturating_sub(NAME).max(16)).enumerate() {
            let id = RowId::Line(name, before + i);
            self.made.push(PageRow::Fact { id, name: if i == 0 { name } else { "" }, value: line, role });
        }
    }

    /// Adds a row of a table unless it is filtered out.
    pub fn cells(&mut self, id: RowId, columns: &Arc<[Column]>, cells: Vec<Cell>) {
        let kept = self.filter.is_empty() || {
            let facts = columns.iter().zip(&cells).map(|(column, cell)| Fact::prose(column.title.trim_start(), &cell.text));
            self.filter.keeps(&facts.collect::<Vec<_>>())
        };
        if kept {
            self.made.push(PageRow::Cells { id, columns: columns.clone(), cells });
        }
    }

    /// Adds a note unless there is a filter.
    pub fn note(&mut self, words: impl Into<String>) {
        if self.filter.is_empty() {
            self.made.push(PageRow::Note(words.into()));
        }
    }

    /// Drops trailing headings.
    fn trim(&mut self) {
        while matches!(self.made.last(), Some(PageRow::Heading(_) | PageRow::Titles(_))) {
            self.made.pop();
        }
    }

    pub fn done(mut self) -> Vec<PageRow> {
        self.trim();
        if self.made.is_empty() && !self.filter.is_empty() {
            self.made.push(PageRow::Note("nothing matches the filter".to_owned()));
        }
        self.made
    }
}

/// Formats labels as `key=value`, separated by commas.
pub fn labels<'a>(pairs: impl IntoIterator<Item = (&'a crate::cluster::Str, &'a crate::cluster::Str)>) -> String {
    pairs.into_iter().map(|(k, v)| if v.is_empty() { k.to_string() } else { format!("{k}={v}") }).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_go_on_under_themselves_and_empty_headings_go() {
        let mut all = Filter::new("");
        let mut rows = PageRows::new(40, &mut all);
        rows.heading("nothing here");
        rows.heading("request");
        rows.fact("cpu", "one two three four five six seven", Role::Text);
        rows.fact("memory", "", Role::Text);
        rows.heading("at the end");
        let rows = rows.done();
        let shape: Vec<String> = rows
            .iter()
            .map(|r| match r {
                PageRow::Heading(words) => format!("# {words}"),
                PageRow::Fact { name, value, .. } => format!("{name}: {value}"),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(shape, ["# request", "cpu: one two three four", ": five six seven"]);
        assert_eq!(rows[1].id(), Some(RowId::Line("cpu", 0)));
        assert!(rows[2].is(&RowId::Line("cpu", 1)));
    }

    #[test]
    fn a_filter_keeps_facts_by_name_and_words() {
        let mut filter = Filter::new("mem");
        let mut rows = PageRows::new(40, &mut filter);
        rows.heading("request");
        rows.fact("cpu", "1", Role::Text);
        rows.fact("memory", "2Gi", Role::Text);
        assert_eq!(rows.done().len(), 2);
        let mut filter = Filter::new("zzz");
        let mut rows = PageRows::new(40, &mut filter);
        rows.fact("cpu", "1", Role::Text);
        assert_eq!(rows.done(), [PageRow::Note("nothing matches the filter".to_owned())]);
    }
}
