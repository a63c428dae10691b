//! Pages: rows of facts and tables, made from the record and the objects when their pane is in sight.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::cluster::Key;
use crate::session::Timeline;
use crate::trace::CycleView;
use crate::ui::config::glyphs::Glyphs;
use crate::ui::config::theme::Role;
use crate::ui::model::column::Column;
use crate::ui::model::fuzzy::Fuzzy;
use crate::ui::model::list::Row;
use crate::ui::model::list::RowId;
use crate::ui::model::sort::Sort;
use crate::ui::model::text;

/// Columns that the names of facts take.
pub const NAME: usize = 20;

/// What a page is made from.
pub struct PageInput<'a> {
    /// The record, its cursor and the objects there.
    pub timeline: &'a Timeline,
    /// The cycle under the cursor as it ends.
    pub whole: &'a CycleView,
    /// Columns of the pane.
    pub width: usize,
    /// Budgets whose pods are listed.
    pub open: &'a BTreeSet<Key>,
    /// The order of the list.
    pub order: Sort,
}

/// A row of a page.
#[derive(Clone, Debug, PartialEq)]
pub enum PageRow {
    /// What follows.
    Heading(String),
    /// The headings of what follows.
    Titles(Arc<[Column]>),
    /// A line of a fact; its name stands on the first.
    Fact {
        /// Which fact.
        id: RowId,
        /// Its name; empty on lines that go on.
        name: &'static str,
        /// What it says.
        value: String,
        /// How that is meant.
        role: Role,
    },
    /// A row of a table.
    Cells {
        /// What it is about.
        id: RowId,
        /// Its columns.
        columns: Arc<[Column]>,
        /// A cell for each.
        cells: Vec<Cell>,
    },
    /// Nothing to see, and why.
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
    /// What stands before it.
    pub sign: Sign,
    /// What it says.
    pub text: String,
    /// How that is meant.
    pub role: Role,
}

/// A cell without a sign.
pub fn cell(text: impl Into<String>, role: Role) -> Cell {
    Cell { sign: Sign::None, text: text.into(), role }
}

/// A cell behind a sign.
pub fn signed(sign: Sign, text: impl Into<String>, role: Role) -> Cell {
    Cell { sign, text: text.into(), role }
}

/// The signs that rows of pages use.
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
    /// What is drawn.
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

/// Rows in the making.
pub struct PageRows<'f> {
    made: Vec<PageRow>,
    width: usize,
    filter: &'f mut Fuzzy,
}

impl<'f> PageRows<'f> {
    /// None yet.
    pub fn new(width: usize, filter: &'f mut Fuzzy) -> Self {
        Self { made: Vec::new(), width, filter }
    }

    /// A heading; one that nothing came after is taken back.
    pub fn heading(&mut self, words: impl Into<String>) {
        self.trim();
        self.made.push(PageRow::Heading(words.into()));
    }

    /// The headings of a table.
    pub fn titles(&mut self, columns: &Arc<[Column]>) {
        self.made.push(PageRow::Titles(columns.clone()));
    }

    /// A fact, on as many lines as it takes. Nothing where it says nothing, or the filter leaves it out.
    pub fn fact(&mut self, name: &'static str, value: impl AsRef<str>, role: Role) {
        let value = value.as_ref();
        if value.is_empty() || !(self.filter.is_empty() || self.filter.keeps(&format!("{name} {value}"))) {
            return;
        }
        let before = self.made.iter().filter(|r| matches!(r, PageRow::Fact { id: RowId::Line(n, _), .. } if *n == name)).count();
        for (i, line) in text::wrap(value, self.width.saturating_sub(NAME).max(16)).enumerate() {
            let id = RowId::Line(name, before + i);
            self.made.push(PageRow::Fact { id, name: if i == 0 { name } else { "" }, value: line, role });
        }
    }

    /// A row of a table, unless the filter leaves it out.
    pub fn cells(&mut self, id: RowId, columns: &Arc<[Column]>, cells: Vec<Cell>) {
        let kept = self.filter.is_empty() || {
            let words: Vec<&str> = cells.iter().map(|c| c.text.as_str()).collect();
            self.filter.keeps(&words.join(" "))
        };
        if kept {
            self.made.push(PageRow::Cells { id, columns: columns.clone(), cells });
        }
    }

    /// Nothing to see, and why; not said of what was filtered away.
    pub fn note(&mut self, words: impl Into<String>) {
        if self.filter.is_empty() {
            self.made.push(PageRow::Note(words.into()));
        }
    }

    /// Takes back headings that nothing came after.
    fn trim(&mut self) {
        while matches!(self.made.last(), Some(PageRow::Heading(_) | PageRow::Titles(_))) {
            self.made.pop();
        }
    }

    /// All rows.
    pub fn done(mut self) -> Vec<PageRow> {
        self.trim();
        if self.made.is_empty() && !self.filter.is_empty() {
            self.made.push(PageRow::Note("nothing of that name".to_owned()));
        }
        self.made
    }
}

/// Labels, as people write them.
pub fn labels<'a>(pairs: impl IntoIterator<Item = (&'a crate::cluster::Str, &'a crate::cluster::Str)>) -> String {
    pairs.into_iter().map(|(k, v)| if v.is_empty() { k.to_string() } else { format!("{k}={v}") }).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_go_on_under_themselves_and_empty_headings_go() {
        let mut all = Fuzzy::new("");
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
        let mut filter = Fuzzy::new("mem");
        let mut rows = PageRows::new(40, &mut filter);
        rows.heading("request");
        rows.fact("cpu", "1", Role::Text);
        rows.fact("memory", "2Gi", Role::Text);
        assert_eq!(rows.done().len(), 2);
        let mut filter = Fuzzy::new("zzz");
        let mut rows = PageRows::new(40, &mut filter);
        rows.fact("cpu", "1", Role::Text);
        assert_eq!(rows.done(), [PageRow::Note("nothing of that name".to_owned())]);
    }
}
