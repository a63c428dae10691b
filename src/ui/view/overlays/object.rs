//! An object as YAML, with highlighted field names. Long lines wrap at their indentation.

use std::ops::Range;

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
    let indent = |line: &str| super::indent(line, b" -");
    // The rows: index of the line, and range in the line.
    let mut rows: Vec<(usize, Range<usize>)> = Vec::new();
    for at in sheet.shown() {
        let line = sheet.line(at);
        let indent = indent(line);
        let room = usize::from(width.saturating_sub(4)).saturating_sub(indent).max(10);
        if line.len() == indent {
            rows.push((at, indent..indent));
        }
        rows.extend(text::wrapped(&line[indent..], room).map(|part| (at, part.start + indent..part.end + indent)));
    }
    let styled = |row: usize| {
        let (at, part) = &rows[row];
        let line = sheet.line(*at);
        if part.is_empty() {
            return Line::default();
        }
        let (indent, first) = (indent(line), row == 0 || rows[row - 1].0 != *at);
        styled(scene, if first { &line[..indent] } else { "" }, indent, text::joined(&line[part.clone()]), first)
    };
    let title = super::filtered(&sheet.title, &sheet.view.filter);
    super::sheet(scene, &title, width, (rows.len(), &styled), sheet.view.offset, area, buf);
}

fn styled(scene: &Scene<'_>, lead: &str, indent: usize, part: String, first: bool) -> Line<'static> {
    let mut spans = vec![scene.span(Role::Muted, format!("{lead}{}", " ".repeat(indent - lead.len())))];
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
