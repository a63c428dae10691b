//! An object as YAML: its fields' names stand out, long lines are wrapped where they are.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::config::theme::Role;
use crate::ui::model::text;
use crate::ui::model::text_view::TextView;
use crate::ui::view::draw::Scene;

/// Draws the object.
pub fn draw(scene: &Scene<'_>, sheet: &TextView, area: Rect, buf: &mut Buffer) {
    let width = area.width.saturating_sub(4).min(110);
    let mut lines = Vec::with_capacity(sheet.lines.len());
    for line in sheet.shown().into_iter().map(|at| &sheet.lines[at]) {
        let indent = line.len() - line.trim_start_matches([' ', '-']).len();
        let room = usize::from(width.saturating_sub(4)).saturating_sub(indent).max(10);
        if line.len() == indent {
            lines.push(Line::default());
        }
        for (i, part) in text::wrap(&line[indent..], room).enumerate() {
            lines.push(styled(scene, if i == 0 { &line[..indent] } else { "" }, indent, part, i == 0));
        }
    }
    super::sheet(scene, &super::filtered(&sheet.title, &sheet.view.filter), width, &lines, sheet.view.offset, area, buf);
}

fn styled(scene: &Scene<'_>, lead: &str, indent: usize, part: String, first: bool) -> Line<'static> {
    let mut spans = vec![scene.span(Role::Muted, format!("{lead:indent$}"))];
    let name =
        if first && !part.starts_with(['"', '\'']) { part.find(": ").or_else(|| part.strip_suffix(':').map(str::len)) } else { None };
    if part.starts_with('#') {
        spans.push(scene.span(Role::Muted, part));
    } else if let Some(at) = name {
        spans.push(scene.span(Role::Key, part[..at].to_owned()));
        spans.push(scene.span(Role::Text, part[at..].to_owned()));
    } else {
        spans.push(scene.span(Role::Text, part));
    }
    Line::from(spans.into_iter().filter(|s| !s.content.is_empty()).collect::<Vec<Span<'static>>>())
}
