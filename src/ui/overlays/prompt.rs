//! The line being typed, in place of the hints, with what its last word could become above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::ui::action::Action;
use crate::ui::keymap::Context;
use crate::ui::scene::Scene;
use crate::ui::state::Prompt;
use crate::ui::text;
use crate::ui::theme::Role;

/// Draws the prompt over the line of hints.
pub fn draw(scene: &Scene<'_>, prompt: &Prompt, area: Rect, buf: &mut Buffer) {
    for x in area.left()..area.right() {
        buf[(x, area.y)].reset();
    }
    let sign = if prompt.filter.is_some() { "/" } else { ":" };
    buf.set_string(area.x + 1, area.y, sign, scene.style(Role::Key));
    let room = usize::from(area.width.saturating_sub(4));
    let scroll = prompt.input.visual_scroll(room);
    let value = prompt.input.value();
    let start = value.char_indices().map(|(i, _)| i).find(|i| text::width(&value[..*i]) >= scroll).unwrap_or(value.len());
    buf.set_stringn(area.x + 2, area.y, &value[start..], room, scene.style(Role::Strong));
    let cursor = prompt.input.visual_cursor().saturating_sub(scroll).min(room);
    let cell = &mut buf[(area.x + 2 + cursor as u16, area.y)];
    cell.set_style(scene.style(Role::Strong).add_modifier(Modifier::REVERSED));
    hint(scene, prompt, area, buf);
    completions(scene, prompt, area, buf);
}

fn hint(scene: &Scene<'_>, prompt: &Prompt, area: Rect, buf: &mut Buffer) {
    let key = |action| scene.state.settings.keymap.label(Context::Prompt, &action);
    let words = match prompt.filter {
        Some(pane) => format!("filter {}   {} keep   {} cancel", pane.to_string().to_lowercase(), key(Action::Submit), key(Action::Back)),
        None => format!("{} run   {} complete   {} cancel", key(Action::Submit), key(Action::Complete), key(Action::Back)),
    };
    let width = text::width(&words) as u16;
    let typed = text::width(prompt.input.value()) as u16;
    if area.width > typed + width + 8 {
        buf.set_string(area.right() - width - 1, area.y, words, scene.style(Role::Muted));
    }
}

fn completions(scene: &Scene<'_>, prompt: &Prompt, area: Rect, buf: &mut Buffer) {
    if prompt.completions.is_empty() || area.y == 0 {
        return;
    }
    let row = Rect { y: area.y - 1, height: 1, ..area };
    for x in row.left()..row.right() {
        buf[(x, row.y)].reset();
    }
    let mut spans = vec![Span::raw("  ")];
    for (i, word) in prompt.completions.iter().enumerate() {
        if i > 0 {
            spans.push(scene.span(Role::Muted, format!("  {}  ", scene.glyphs.dot)));
        }
        spans.push(scene.span(Role::Accent, word.as_str()));
    }
    scene.line(buf, row, &Line::from(spans));
}
