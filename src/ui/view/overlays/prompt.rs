//! The prompt, in place of the hints, with completions above it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;

use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::overlay::{Prompt, Typing};
use crate::ui::model::pane::Pane;
use crate::ui::model::text;
use crate::ui::view::draw::Scene;
use crate::ui::view::panes;

/// Limit on the completions listed at once.
const ROWS: usize = 12;

/// Draws the prompt over the line of hints.
pub fn draw(scene: &Scene<'_>, prompt: &Prompt, area: Rect, buf: &mut Buffer) {
    for x in area.left()..area.right() {
        buf[(x, area.y)].reset();
    }
    let sign = if matches!(prompt.typing, Typing::Command) { ":" } else { "/" };
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
    let unknown = if let Typing::Filter(pane) = &prompt.typing { panes::def(*pane).unknown_field(scene.state) } else { None };
    if let Some(words) = unknown {
        let area = Rect { x: area.x + 4 + text::columns(prompt.input.value()).min(area.width), ..area };
        let area = Rect { width: buf.area.right().saturating_sub(area.x), ..area };
        return scene.line(buf, area, &Line::from(scene.span(Role::Warning, words)));
    }
    let key = |action| scene.state.settings.keymap.label(Context::PROMPT, &action);
    let keys = || format!("{} keep   {} cancel", key(Action::SUBMIT), key(Action::BACK));
    let (what, example) = match &prompt.typing {
        Typing::Filter(pane) => (format!("filter {}", pane.to_string().to_lowercase()), fields(*pane)),
        Typing::Over(_) => ("filter these lines".to_owned(), ""),
        Typing::Command => (format!("{} run   {} complete   {} cancel", key(Action::SUBMIT), key(Action::COMPLETE), key(Action::BACK)), ""),
    };
    let forms = match &prompt.typing {
        Typing::Command => [what.clone(), what.clone(), what],
        _ => [format!("{what}{example}   {}", keys()), format!("{what}{example}"), format!("{what}   {}", keys())],
    };
    let typed = text::columns(prompt.input.value());
    if let Some(words) = forms.iter().find(|words| area.width > typed + text::columns(words) + 8) {
        buf.set_string(area.right() - text::columns(words) - 1, area.y, words, scene.style(Role::Muted));
    }
}

/// Returns an example of what a filter of a pane may be.
fn fields(pane: Pane) -> &'static str {
    match pane {
        Pane::QUEUES => ": text, plugin:x, namespace:x, label:k=v, !x",
        Pane::NODES => ": text, reason:x, plugin:x, zone:x, label:k=v, !x",
        Pane::PREEMPTION => ": text, victim:x, budget:x, !x",
        _ => "",
    }
}

/// Returns the index of the first listed completion, and the number of those listed.
fn listed(prompt: &Prompt, area: Rect) -> (usize, usize) {
    let rows = prompt.completions.len().min(usize::from(area.y).saturating_sub(4)).min(ROWS);
    (prompt.chosen.unwrap_or(0).saturating_sub(rows.saturating_sub(1)).min(prompt.completions.len() - rows), rows)
}

/// Returns the index of the completion at a place.
pub fn completion_at(prompt: &Prompt, area: Rect, (_, y): (u16, u16)) -> Option<usize> {
    let (first, rows) = listed(prompt, area);
    let row = usize::from(y).checked_sub(usize::from(area.y).checked_sub(rows)?)?;
    (row < rows).then_some(first + row)
}

/// Draws the completions above the prompt, those around the chosen one if there are too many.
fn completions(scene: &Scene<'_>, prompt: &Prompt, area: Rect, buf: &mut Buffer) {
    let (first, rows) = listed(prompt, area);
    if rows == 0 {
        return;
    }
    let words = prompt.completions.iter().map(|c| text::width(&c.word) + text::width(c.takes) + 1);
    let names = words.max().unwrap_or(0).clamp(8, usize::from(area.width / 2));
    let top = area.y - rows as u16;
    for (i, completion) in prompt.completions.iter().enumerate().skip(first).take(rows) {
        let row = Rect { y: top + (i - first) as u16, height: 1, ..area };
        let chosen = prompt.chosen == Some(i);
        for x in row.left()..row.right() {
            buf[(x, row.y)].reset();
            buf[(x, row.y)].set_style(scene.style(Role::Text));
        }
        let sign = if chosen { scene.glyphs.here } else { " " };
        let takes = if completion.takes.is_empty() { String::new() } else { format!(" {}", completion.takes) };
        let takes = text::clip(&takes, names.saturating_sub(text::width(&completion.word)), scene.glyphs.ellipsis).into_owned();
        let pad = names.saturating_sub(text::width(&completion.word) + text::width(&takes));
        let spans = [
            scene.span(Role::Accent, format!(" {sign} {}", completion.word)),
            scene.span(Role::Muted, format!("{takes}{}  ", " ".repeat(pad))),
            scene.span(Role::Text, completion.help),
        ];
        scene.line(buf, row, &Line::from(spans.to_vec()));
        if chosen {
            buf.set_style(row, scene.style(Role::Selection));
        }
    }
    let hidden = prompt.completions.len() - rows;
    if hidden > 0 {
        let words = format!("  {} more ", text::thousands(hidden));
        let width = (words.len() as u16).min(area.width);
        let corner = Rect { x: area.right() - width, y: area.y - 1, width, height: 1 };
        for x in corner.left()..corner.right() {
            buf[(x, corner.y)].reset();
        }
        scene.line(buf, corner, &Line::from(scene.span(Role::Muted, words)));
    }
}
