//! Columns of tables: their headings, widths and sort keys.

use crate::ui::model::sort::Sort;
use crate::ui::model::text;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its heading.
    pub title: &'static str,
    /// How wide.
    pub width: Width,
    /// Whether cells are aligned to its right edge.
    pub right: bool,
    /// The order that a click on its heading asks for.
    pub sort: Option<Sort>,
}

impl Column {
    /// Returns the column with the order that its heading asks for.
    #[must_use]
    pub const fn by(self, sort: Sort) -> Self {
        Self { sort: Some(sort), ..self }
    }
}

/// How wide a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// So many columns.
    Fixed(u16),
    /// What the others leave, shared evenly.
    Rest,
}

/// A column with cells on its left.
pub const fn left(title: &'static str, width: Width) -> Column {
    Column { title, width, right: false, sort: None }
}

/// A column with cells on its right.
pub const fn right(title: &'static str, width: Width) -> Column {
    Column { title, width, right: true, sort: None }
}

/// The widest of some texts, at least the heading and at most `max`.
pub fn fit<'t>(title: &str, max: u16, texts: impl IntoIterator<Item = &'t str>) -> Width {
    let widest = texts.into_iter().map(text::width).max().unwrap_or(0).max(text::width(title));
    Width::Fixed((widest as u16).min(max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_fits_its_widest_cell_within_limits() {
        assert_eq!(fit("NODE", 20, ["worker-a1", "w"]), Width::Fixed(9));
        assert_eq!(fit("NODE", 20, ["w"]), Width::Fixed(4));
        assert_eq!(fit("NODE", 6, ["worker-a1"]), Width::Fixed(6));
    }
}
