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

/// Columns for keys.
const KEYS: usize = 22;
/// Columns of the box.
const WIDTH: u16 = 84;

/// Draws the help; what works in the pane in focus comes first.
pub fn draw(scene: &Scene<'_>, view: &View, area: Rect, buf: &mut Buffer) {
    let mut entries = entries(scene);
    let mut fuzzy = Fuzzy::new(&view.filter);
    if !fuzzy.is_empty() {
        entries.retain(|(keys, help)| !help.is_empty() && fuzzy.keeps(&format!("{keys} {help}")));
    }
    let room = usize::from(area.width.saturating_sub(4).min(WIDTH).saturating_sub(4));
    let mut lines = Vec::new();
    for (keys, help) in entries {
        if help.is_empty() {
            if !lines.is_empty() {
                lines.push(Line::default());
            }
            lines.push(Line::from(scene.span(Role::Title, keys)));
        } else {
            lines.extend(entry(scene, &keys, help, room));
        }
    }
    super::sheet(scene, &super::filtered("Keys and commands", &view.filter), WIDTH, &lines, view.offset, area, buf);
}

/// Keys or a command with what they do; headings say nothing there.
fn entries(scene: &Scene<'_>) -> Vec<(String, &'static str)> {
    let here = Context::from(scene.state.focus);
    let order = [here, Context::Global].into_iter().chain(Context::iter().filter(|c| *c != here && *c != Context::Global));
    let mut entries = Vec::new();
    for context in order {
        let rows: Vec<_> = scene.state.settings.keymap.of(context).collect();
        if rows.is_empty() {
            continue;
        }
        entries.push((context.to_string(), ""));
        for row in rows {
            let keys: Vec<String> = row.keys.iter().map(|k| keymap::label(k)).collect();
            entries.push((scene.glyphs.keys(&keys.join(" ")), row.binding.help));
        }
    }
    entries.push(("Commands, after :".to_owned(), ""));
    for command in COMMANDS.iter().filter(|c| !c.help.is_empty()) {
        entries.push((format!("{} {}", command.names[0], command.args), command.help));
    }
    entries.push(("Mouse".to_owned(), ""));
    for (what, does) in [
        ("click", "select, and again to open; tabs, headings and the scrub bar too"),
        ("wheel", "scroll; over the steps, move in time"),
        ("drag", "move the scrub bar"),
    ] {
        entries.push((what.to_owned(), does));
    }
    entries
}

/// What does not fit on the line goes on below.
fn entry(scene: &Scene<'_>, keys: &str, help: &'static str, room: usize) -> Vec<Line<'static>> {
    let column = if room < 60 { KEYS * 2 / 3 } else { KEYS };
    let mut lines = Vec::new();
    // Keys that are too long for their column have a line of their own.
    let own = text::width(keys) >= column;
    if own {
        lines.extend(text::wrap(keys, room).into_iter().map(|part| Line::from(scene.span(Role::Key, part))));
    }
    for (i, words) in text::wrap(help, room.saturating_sub(column).max(12)).into_iter().enumerate() {
        let first = if i == 0 && !own { keys } else { "" };
        let pad = " ".repeat(column.saturating_sub(text::width(first)));
        lines.push(Line::from(vec![scene.span(Role::Key, first.to_owned()), Span::raw(pad), scene.span(Role::Text, words)]));
    }
    lines
}
