//! Text over the screen: what was read from the source, the branches, two branches side by side.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::scene::Scene;
use crate::ui::sheet::Sheet;
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the text, its lines wrapped; a line that ends in a colon and is not indented is a heading.
pub fn draw(scene: &Scene<'_>, sheet: &Sheet, area: Rect, buf: &mut Buffer) {
    let width = area.width.saturating_sub(4).min(110);
    let mut lines: Vec<Line<'_>> = Vec::new();
    let mut offset = sheet.view.offset;
    for at in sheet.shown() {
        let line = &sheet.lines[at];
        let role = if line.ends_with(':') && !line.starts_with(' ') { Role::Title } else { Role::Text };
        // What is indented stays so where it is wrapped.
        let indent = line.len() - line.trim_start().len();
        let room = usize::from(width.saturating_sub(4)).saturating_sub(indent).max(10);
        let wrapped = text::wrap(line.trim_start(), room);
        if wrapped.is_empty() {
            lines.push(Line::default());
        }
        let first = lines.len();
        lines.extend(wrapped.into_iter().map(|l| Line::from(scene.span(role, format!("{}{l}", " ".repeat(indent))))));
        if sheet.view.selected == Some(at) {
            for line in &mut lines[first..] {
                *line = std::mem::take(line).style(scene.style(Role::Selection));
                line.spans.iter_mut().for_each(|s| s.style = scene.style(Role::Selection));
            }
            offset = super::centred(first, lines.len(), area);
        }
    }
    if lines.is_empty() {
        let words = if sheet.lines.is_empty() { "nothing to report" } else { "no line matches" };
        lines.push(Line::from(scene.span(Role::Muted, words)));
    }
    super::sheet(scene, &super::filtered(&sheet.title, &sheet.view.filter), width, &lines, offset, area, buf);
}
