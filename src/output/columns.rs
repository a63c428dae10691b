//! Rows as columns of text.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthStr as _;

use super::escape;

/// Limit on the columns of a cell to which others are padded.
const WIDEST_CELL: usize = 160;

/// Returns rows as lines, indented by two, with columns padded to their widest cell of at most 160 columns.
pub fn columns(rows: &[Vec<String>]) -> Vec<String> {
    let number = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| width(cell).min(WIDEST_CELL)).max().unwrap_or(0);
    let widths: Vec<usize> = (0..number).map(widest).collect();
    let line = |row: &Vec<String>| {
        let mut line = String::from(" ");
        for (cell, widest) in row.iter().zip(&widths) {
            let pad = widest.saturating_sub(width(cell));
            let _ = write!(line, " {cell}{:pad$} ", "");
        }
        line.truncate(line.trim_end().len());
        line
    };
    rows.iter().map(line).collect()
}

/// Returns the columns that a text takes after escaping.
fn width(text: &str) -> usize {
    escape(text).width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_any_length_leaves_the_other_columns_in_place() {
        let rows = [["a", "b"], ["long", "c"], [&*"x".repeat(100_000), "d"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(columns(&rows[..2]), ["  a     b", "  long  c"]);
        let lengths: Vec<usize> = columns(&rows).iter().map(String::len).collect();
        assert_eq!(lengths, [WIDEST_CELL + 5, WIDEST_CELL + 5, 100_000 + 5]);
    }
}
