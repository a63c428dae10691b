//! What was read from the source, and what was not.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::scene::Scene;
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the report, its lines wrapped.
pub fn draw(scene: &Scene<'_>, report: &[String], offset: usize, area: Rect, buf: &mut Buffer) {
    let width = area.width.saturating_sub(4).min(110);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in report {
        lines.extend(text::wrap(line, usize::from(width.saturating_sub(4))).into_iter().map(|l| Line::from(scene.span(Role::Text, l))));
    }
    if lines.is_empty() {
        lines.push(Line::from(scene.span(Role::Muted, "nothing to report: everything was read")));
    }
    super::sheet(scene, &format!("Source: {}", scene.source), width, &lines, offset, area, buf);
}
