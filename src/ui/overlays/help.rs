//! The keys and commands, from their tables.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use strum::IntoEnumIterator;

use crate::ui::commands::COMMANDS;
use crate::ui::fuzzy::Fuzzy;
use crate::ui::keymap::{self, Context};
use crate::ui::scene::Scene;
use crate::ui::sheet::View;
use crate::ui::text;
use crate::ui::theme::Role;

const KEYS: usize = 22;

/// Draws the help; what works in the pane in focus comes first.
pub fn draw(scene: &Scene<'_>, view: &View, area: Rect, buf: &mut Buffer) {
    let mut lines = lines(scene);
    let mut fuzzy = Fuzzy::new(&view.filter);
    if !fuzzy.is_empty() {
        lines.retain(|line| line.spans.len() > 1 && fuzzy.keeps(&line.to_string()));
    }
    super::sheet(scene, &super::filtered("Keys and commands", &view.filter), 84, &lines, view.offset, area, buf);
}

fn lines(scene: &Scene<'_>) -> Vec<Line<'static>> {
    let here = Context::from(scene.state.focus);
    let order = [here, Context::Global].into_iter().chain(Context::iter().filter(|c| *c != here && *c != Context::Global));
    let mut lines = Vec::new();
    for context in order {
        let rows: Vec<_> = scene.state.settings.keymap.of(context).collect();
        if rows.is_empty() {
            continue;
        }
        heading(scene, &mut lines, &context.to_string());
        for row in rows {
            let keys: Vec<String> = row.keys.iter().map(|k| keymap::label(k)).collect();
            lines.push(entry(scene, &scene.glyphs.keys(&keys.join(" ")), row.binding.help));
        }
    }
    heading(scene, &mut lines, "Commands, after :");
    for command in COMMANDS.iter().filter(|c| !c.help.is_empty()) {
        lines.push(entry(scene, &format!("{} {}", command.names[0], command.args), command.help));
    }
    heading(scene, &mut lines, "Mouse");
    lines.push(entry(scene, "click", "select, and again to open; tabs and the scrub bar too"));
    lines.push(entry(scene, "wheel", "scroll; over the steps, move in time"));
    lines.push(entry(scene, "drag", "move the scrub bar"));
    lines
}

fn heading(scene: &Scene<'_>, lines: &mut Vec<Line<'static>>, text: &str) {
    if !lines.is_empty() {
        lines.push(Line::default());
    }
    lines.push(Line::from(scene.span(Role::Title, text.to_owned())));
}

fn entry(scene: &Scene<'_>, keys: &str, help: &'static str) -> Line<'static> {
    let pad = KEYS.saturating_sub(text::width(keys));
    Line::from(vec![scene.span(Role::Key, keys.to_owned()), Span::raw(" ".repeat(pad.max(1))), scene.span(Role::Text, help)])
}
