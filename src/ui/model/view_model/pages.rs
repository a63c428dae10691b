//! The rows of the pages in sight, and their input.

use std::collections::BTreeMap;

use super::Stamp;
use crate::ui::model::list::RowId;
use crate::ui::model::page::PageRow;
use crate::ui::model::pane::Pane;

/// The pages in sight.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages(BTreeMap<Pane, Page>);

/// The rows of a page.
#[derive(Clone, Debug, Default)]
struct Page {
    /// The input of the rows.
    stamp: Option<PageStamp>,
    rows: Vec<PageRow>,
}

/// The input of a page's rows: the record, the columns of the pane, the object.
pub(super) type PageStamp = (Stamp, u16, Option<RowId>);

impl Pages {
    /// Returns the rows of a page; none if it is not in sight.
    pub(super) fn rows(&self, pane: Pane) -> &Vec<PageRow> {
        const NONE: &Vec<PageRow> = &Vec::new();
        self.0.get(&pane).map_or(NONE, |page| &page.rows)
    }

    /// Returns whether the rows of a page have this input.
    pub(super) fn are_of(&self, pane: Pane, stamp: &PageStamp) -> bool {
        self.0.get(&pane).is_some_and(|page| page.stamp.as_ref() == Some(stamp))
    }

    /// Sets the rows of a page, with their input.
    pub(super) fn set(&mut self, pane: Pane, stamp: PageStamp, rows: Vec<PageRow>) {
        self.0.insert(pane, Page { stamp: Some(stamp), rows });
    }

    /// Marks the rows of a page as outdated.
    pub(super) fn forget(&mut self, pane: Pane) {
        self.0.remove(&pane);
    }
}
