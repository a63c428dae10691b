//! Text over the screen: what was read from the source, the branches, two branches side by side.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::overlays::Hit;
use crate::ui::scene::Scene;
use crate::ui::sheet::Sheet;
use crate::ui::text;
use crate::ui::theme::Role;

/// The lines that are shown, as they are wrapped.
struct Laid {
    /// Each with the number of the line it is of.
    rows: Vec<(usize, String)>,
    /// How far it is scrolled.
    offset: usize,
    width: u16,
}

fn lay_out(sheet: &Sheet, area: Rect) -> Laid {
    let width = area.width.saturating_sub(4).min(110);
    let mut rows = Vec::new();
    let mut offset = sheet.view.offset;
    for at in sheet.shown() {
        let line = &sheet.lines[at];
        // What is indented stays so where it is wrapped.
        let indent = line.len() - line.trim_start().len();
        let room = usize::from(width.saturating_sub(4)).saturating_sub(indent).max(10);
        let wrapped = text::wrap(line.trim_start(), room);
        let first = rows.len();
        if wrapped.is_empty() {
            rows.push((at, String::new()));
        }
        rows.extend(wrapped.into_iter().map(|l| (at, format!("{}{l}", " ".repeat(indent)))));
        if sheet.view.selected == Some(at) {
            offset = super::centred(first, rows.len(), area);
        }
    }
    Laid { rows, offset, width }
}

/// The lines as they are wrapped on a screen of this size: for each row the number of the line it is of.
pub fn rows(sheet: &Sheet, (width, height): (u16, u16)) -> Vec<usize> {
    lay_out(sheet, Rect::new(0, 0, width, height)).rows.into_iter().map(|(at, _)| at).collect()
}

/// The number of the line at a place on the screen.
pub fn line_at(sheet: &Sheet, area: Rect, place: (u16, u16)) -> Hit<usize> {
    let laid = lay_out(sheet, area);
    let outer = super::outer(laid.width, laid.rows.len(), area);
    super::line_at(outer, laid.rows.len(), laid.offset, place).map(|row| laid.rows[row].0)
}

/// Draws the text, its lines wrapped; a line that ends in a colon and is not indented is a heading.
pub fn draw(scene: &Scene<'_>, sheet: &Sheet, area: Rect, buf: &mut Buffer) {
    let laid = lay_out(sheet, area);
    let styled = |(at, words): (usize, String)| {
        let line = &sheet.lines[at];
        let role = match () {
            () if sheet.view.selected == Some(at) => Role::Selection,
            () if line.ends_with(':') && !line.starts_with(' ') => Role::Title,
            () => Role::Text,
        };
        Line::from(scene.span(role, words))
    };
    let mut lines: Vec<Line<'_>> = laid.rows.into_iter().map(styled).collect();
    if lines.is_empty() {
        let words = if sheet.lines.is_empty() { "nothing to report" } else { "no line matches" };
        lines.push(Line::from(scene.span(Role::Muted, words)));
    }
    super::sheet(scene, &super::filtered(&sheet.title, &sheet.view.filter), laid.width, &lines, laid.offset, area, buf);
}
