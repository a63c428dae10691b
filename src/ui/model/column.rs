//! Columns of tables: their headings, widths and sort keys.

use crate::ui::model::sort::Sort;
use crate::ui::model::text;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    pub width: Width,
    /// Whether cells are aligned to its right edge.
    pub right: bool,
    /// The order that a click on its heading selects; `None` for a heading that cannot be clicked.
    pub sort: Option<Sort>,
}

impl Column {
    /// Returns the column with an order for its heading.
    #[must_use]
    pub const fn by(self, sort: Sort) -> Self {
        Self { sort: Some(sort), ..self }
    }
}

/// The width of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// A number of screen columns.
    Fixed(u16),
    /// An equal share of the columns that the others leave.
    Rest,
}

/// The width of a column of priorities: an `i32` with its sign.
pub const PRIORITY: Width = Width::Fixed(11);

/// Returns a column with left-aligned cells.
pub const fn left(title: &'static str, width: Width) -> Column {
    Column { title, width, right: false, sort: None }
}

/// Returns a column with right-aligned cells.
pub const fn right(title: &'static str, width: Width) -> Column {
    Column { title, width, right: true, sort: None }
}

/// Returns the width of the widest text, at least that of the heading and at most `max`.
pub fn fit<'t>(title: &str, max: u16, texts: impl IntoIterator<Item = &'t str>) -> Width {
    let widest = texts.into_iter().map(text::width).max().unwrap_or(0).max(text::width(title));
    Width::Fixed((widest as u16).min(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_priority_fits() {
        for priority in [i32::MIN, i32::MAX] {
            assert!(Width::Fixed(text::columns(&priority.to_string())) == PRIORITY || priority > 0, "{priority}");
        }
    }

    #[test]
    fn a_column_fits_its_widest_cell_within_limits() {
        assert_eq!(fit("NODE", 20, ["worker-a1", "w"]), Width::Fixed(9));
        assert_eq!(fit("NODE", 20, ["w"]), Width::Fixed(4));
        assert_eq!(fit("NODE", 6, ["worker-a1"]), Width::Fixed(6));
    }
}
