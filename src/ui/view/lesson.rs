//! The lesson of the tour, in rows of its own above the hints.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::text;
use crate::ui::model::tour::LESSONS;
use crate::ui::view::draw::Scene;
use crate::ui::view::panes::PANES;

/// Draws the lesson, if there is one.
pub fn draw(scene: &Scene<'_>, area: Rect, buf: &mut Buffer) {
    let Some((at, lesson)) = scene.state.lesson.and_then(|at| Some((at, LESSONS.get(at)?))) else { return };
    let contexts: Vec<Context> = std::iter::once(Context::GLOBAL).chain(PANES.iter().map(|def| def.context)).collect();
    let words = format!("{}/{} {}", at + 1, LESSONS.len(), lesson.words(scene.state, scene.timeline, &contexts));
    let columns = usize::from(area.width.saturating_sub(2));
    for (i, line) in text::wrap(&words, columns).take(usize::from(area.height)).enumerate() {
        let area = Rect { x: area.x + 1, y: area.y + i as u16, width: area.width.saturating_sub(1), height: 1 };
        scene.line(buf, area, &Line::from(scene.span(Role::Notice, line)));
    }
}
