//! Rows of cells in columns. The caller passes the visible rows only.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::ui::config::theme::Role;
use crate::ui::model::column::{Column, Width};
use crate::ui::model::text;
use crate::ui::view::draw::{Scene, put};

/// The blank columns between two columns of a table.
pub const GAP: u16 = 2;

/// Returns the area of each column; empty for columns without room.
pub fn areas(columns: &[Column], area: Rect) -> Vec<Rect> {
    let gaps = GAP * (columns.len() as u16).saturating_sub(1);
    let fixed: u16 = columns.iter().map(|c| if let Width::Fixed(n) = c.width { n } else { 0 }).sum();
    let rest = columns.iter().filter(|c| c.width == Width::Rest).count() as u16;
    let spare = area.width.saturating_sub(fixed + gaps);
    let mut x = area.x;
    let mut given = 0;
    columns
        .iter()
        .map(|column| {
            let width = match column.width {
                Width::Fixed(n) => n,
                Width::Rest => {
                    given += 1;
                    spare / rest + u16::from(given <= spare % rest)
                }
            };
            let width = width.min(area.right().saturating_sub(x));
            let cell = Rect { x: x.min(area.right()), width, height: 1, y: area.y };
            x = x.saturating_add(width + GAP);
            cell
        })
        .collect()
}

/// Draws the headings.
pub fn heading(scene: &Scene<'_>, columns: &[Column], area: Rect, buf: &mut Buffer) {
    for (column, cell) in columns.iter().zip(areas(columns, area)) {
        cell_at(scene, *column, cell, &[scene.span(Role::Column, column.title)], buf);
    }
}

/// Draws a mark into the border beside the headings if there are more columns than fit. `inner` is the area inside the border.
pub fn more(scene: &Scene<'_>, hidden: bool, inner: Rect, buf: &mut Buffer) {
    if hidden && buf.area.contains((inner.right(), inner.y).into()) {
        buf[(inner.right(), inner.y)].set_symbol(scene.glyphs.more).set_style(scene.style(Role::Accent));
    }
}

/// Draws one row.
pub fn row(scene: &Scene<'_>, columns: &[Column], area: Rect, cells: &[Vec<Span<'_>>], buf: &mut Buffer) {
    for ((column, area), cell) in columns.iter().zip(areas(columns, area)).zip(cells) {
        cell_at(scene, *column, area, cell, buf);
    }
}

fn cell_at(scene: &Scene<'_>, column: Column, area: Rect, spans: &[Span<'_>], buf: &mut Buffer) {
    let room = usize::from(area.width);
    let left = spans.iter().try_fold(room, |left, span| Some(left - text::width_within(&span.content, left)?));
    let shift = left.filter(|_| column.right).unwrap_or(0) as u16;
    put(buf, Rect { x: area.x + shift, width: area.width - shift, ..area }, spans, scene.glyphs.ellipsis);
}

/// Marks a row as selected.
pub fn mark(scene: &Scene<'_>, area: Rect, selected: bool, focused: bool, buf: &mut Buffer) {
    if !selected {
        return;
    }
    if focused {
        buf.set_style(area, scene.style(Role::Selection));
    } else {
        buf.set_style(area, ratatui::style::Style::new().add_modifier(ratatui::style::Modifier::BOLD));
    }
}

/// Marks a row as related to the selection of the focused pane.
pub fn link(area: Rect, buf: &mut Buffer) {
    use ratatui::style::{Modifier, Style};
    buf.set_style(area, Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::model::column::{left, right};

    #[test]
    fn columns_share_what_is_left_and_never_leave_the_area() {
        let columns = [left("A", Width::Fixed(5)), left("B", Width::Rest), right("C", Width::Fixed(4)), left("D", Width::Rest)];
        let widths = |width| areas(&columns, Rect::new(3, 0, width, 1)).iter().map(|r| (r.x, r.width)).collect::<Vec<_>>();
        assert_eq!(widths(24), [(3, 5), (10, 5), (17, 4), (23, 4)]);
        for width in 0..40 {
            let area = Rect::new(3, 0, width, 1);
            assert!(areas(&columns, area).iter().all(|r| r.right() <= area.right()), "{width}");
        }
    }
}
