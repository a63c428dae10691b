//! Texts in overlays: the source's report, the branches, comparisons.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::output::{RowKind, escape};
use crate::ui::config::action::Motion;
use crate::ui::config::theme::Role;
use crate::ui::model::text;
use crate::ui::model::text_view::TextView;
use crate::ui::view::draw::Scene;
use crate::ui::view::overlays::Hit;

/// The wrapped rows of a text.
struct Laid {
    /// The index of the line and the range in the line, for each row.
    rows: Vec<(usize, Range<usize>)>,
    /// The scroll position.
    offset: usize,
    width: u16,
}

/// Returns the indentation of a row, which wrapping keeps.
fn indent(sheet: &TextView, at: usize) -> usize {
    sheet.rows.get(at).map_or(0, |row| row.indent.min(super::MOST_INDENTED))
}

/// Returns whether blanks align the row with others.
fn is_in_columns(sheet: &TextView, at: usize) -> bool {
    sheet.rows.get(at).is_some_and(|row| row.kind == RowKind::Cells)
}

fn lay_out(sheet: &TextView, area: Rect) -> Laid {
    let width = area.width.saturating_sub(4).min(110);
    let mut rows = Vec::new();
    let mut offset = sheet.view.offset;
    for at in sheet.shown() {
        let (line, indent) = (sheet.line(at), indent(sheet, at));
        let room = usize::from(width.saturating_sub(4)).saturating_sub(indent).max(10);
        let first = rows.len();
        if is_in_columns(sheet, at) && text::width(&line[indent..]) <= room {
            rows.push((at, indent..line.len()));
        } else {
            rows.extend(text::wrapped(&line[indent..], room).map(|part| (at, part.start + indent..part.end + indent)));
        }
        if rows.len() == first {
            rows.push((at, indent..indent));
        }
        if sheet.view.selected == Some(at) {
            // The first page stays as long as the selection is on it.
            offset = if rows.len() <= super::room(area.height) { 0 } else { super::centred(first, rows.len(), area) };
        }
    }
    Laid { rows, offset, width }
}

/// Returns the index of the line of each wrapped row, on a screen of this size.
pub fn rows(sheet: &TextView, (width, height): (u16, u16)) -> Vec<usize> {
    lay_out(sheet, Rect::new(0, 0, width, height)).rows.into_iter().map(|(at, _)| at).collect()
}

/// Returns the index of the line at a place.
pub fn line_at(sheet: &TextView, area: Rect, place: (u16, u16)) -> Hit<usize> {
    let laid = lay_out(sheet, area);
    let outer = super::outer(laid.width, laid.rows.len(), area);
    super::line_at(outer, laid.rows.len(), laid.offset, place).map(|row| laid.rows[row].0)
}

/// Draws the text with wrapped lines.
pub fn draw(scene: &Scene<'_>, sheet: &TextView, area: Rect, buf: &mut Buffer) {
    let laid = lay_out(sheet, area);
    let styled = |row: usize| {
        let Some((at, part)) = laid.rows.get(row) else {
            let words = if sheet.rows.is_empty() { "nothing to report" } else { "no line matches" };
            return Line::from(scene.span(Role::Muted, words));
        };
        let line = &sheet.line(*at)[part.clone()];
        let is_whole = part.end == sheet.line(*at).len() && part.start == indent(sheet, *at);
        let words = if is_whole && is_in_columns(sheet, *at) { escape(line).into_owned() } else { text::joined(line) };
        let words = format!("{}{words}", " ".repeat(indent(sheet, *at)));
        let role = match () {
            () if sheet.view.selected == Some(*at) => Role::Selection,
            () if sheet.rows[*at].kind == RowKind::Heading => Role::Title,
            () => Role::Text,
        };
        Line::from(scene.span(role, words))
    };
    let title = super::filtered(&sheet.title, &sheet.view.filter);
    super::sheet(scene, &title, laid.width, (laid.rows.len().max(1), &styled), laid.offset, area, buf);
}

/// Moves the selection from link to link, and by pages through all lines, which shows the lines between and after links.
/// Scrolls a text without links.
pub fn select(text: &mut TextView, motion: Motion, size: (u16, u16)) {
    let links: Vec<usize> = text.shown().into_iter().filter(|at| text.links.contains_key(at)).collect();
    let rows = rows(text, size);
    let room = super::room(size.1);
    let (Some(first), Some(last)) = (links.first(), links.last()) else {
        return text.view.scroll(motion, room, rows.len());
    };
    let selected = text.view.selected;
    let row = |line: usize| rows.iter().position(|at| *at == line).unwrap_or(0);
    // The ends of the text: the outermost link if the end stays in sight with it, or else the outermost line.
    let (end, half) = (rows.len().saturating_sub(1), room / 2);
    let top = if row(*first) < room { *first } else { rows[0] };
    let bottom = if row(*last) + half > end { *last } else { rows[end] };
    // The selected row is centred, except on the first page and near the end. A page keeps a few rows in sight.
    let middle = selected.map(row).filter(|row| *row >= room).unwrap_or(half).min((end + 1).saturating_sub(half)).max(half);
    let page = room.saturating_sub(3).max(1);
    let up = |by: usize| middle.checked_sub(by).filter(|to| *to >= half).map_or(top, |to| rows[to.min(end)]);
    let down = |by: usize| if middle + by + half > end { bottom } else { rows[middle + by] };
    text.view.selected = Some(match motion {
        Motion::Up => links.iter().rfind(|at| Some(**at) < selected).copied().or(selected).unwrap_or(*first),
        Motion::Down => links.iter().find(|at| Some(**at) > selected).copied().or(selected).unwrap_or(*last),
        Motion::HalfPageUp => up(page.div_ceil(2)),
        Motion::HalfPageDown => down(page.div_ceil(2)),
        Motion::PageUp => up(page),
        Motion::PageDown => down(page),
        Motion::Top => top,
        Motion::Bottom => bottom,
    });
}

#[cfg(test)]
mod tests;
