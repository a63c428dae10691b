//! Text over the screen: what was read from the source, the branches, two branches side by side.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::scene::Scene;
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the text, its lines wrapped; a line that ends in a colon and is not indented is a heading.
pub fn draw(scene: &Scene<'_>, title: &str, report: &[String], offset: usize, area: Rect, buf: &mut Buffer) {
    let width = area.width.saturating_sub(4).min(110);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in report {
        let role = if line.ends_with(':') && !line.starts_with(' ') { Role::Title } else { Role::Text };
        // What is indented stays so where it is wrapped.
        let indent = line.len() - line.trim_start().len();
        let room = usize::from(width.saturating_sub(4)).saturating_sub(indent).max(10);
        let wrapped = text::wrap(line.trim_start(), room);
        if wrapped.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(wrapped.into_iter().map(|l| Line::from(scene.span(role, format!("{}{l}", " ".repeat(indent))))));
    }
    if lines.is_empty() {
        lines.push(Line::from(scene.span(Role::Muted, "nothing to report")));
    }
    super::sheet(scene, title, width, &lines, offset, area, buf);
}
