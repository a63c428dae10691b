//! The keys and commands, from their tables.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use strum::IntoEnumIterator;

use crate::ui::action::Pane;
use crate::ui::commands::COMMANDS;
use crate::ui::fuzzy::Fuzzy;
use crate::ui::keymap::{self, Context};
use crate::ui::keys::Keymap;
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

/// How many lines there are without a filter.
pub fn count(keymap: &Keymap, focus: Pane) -> usize {
    sections(keymap, focus).iter().map(|(_, entries)| entries.len() + 2).sum::<usize>().saturating_sub(1)
}

fn lines(scene: &Scene<'_>) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (title, entries) in sections(&scene.state.settings.keymap, scene.state.focus) {
        heading(scene, &mut lines, &title);
        lines.extend(entries.iter().map(|(keys, help)| entry(scene, &scene.glyphs.keys(keys), help)));
    }
    lines
}

/// Titles, and below each what is pressed or typed and what that does.
fn sections(keymap: &Keymap, focus: Pane) -> Vec<(String, Vec<(String, &'static str)>)> {
    let here = Context::from(focus);
    let order = [here, Context::Global].into_iter().chain(Context::iter().filter(|c| *c != here && *c != Context::Global));
    let mut sections = Vec::new();
    for context in order {
        let rows: Vec<_> = keymap.of(context).collect();
        let names = |keys: &[String]| keys.iter().map(|k| keymap::label(k)).collect::<Vec<String>>().join(" ");
        if !rows.is_empty() {
            sections.push((context.to_string(), rows.iter().map(|row| (names(row.keys), row.binding.help)).collect()));
        }
    }
    let commands = COMMANDS.iter().filter(|c| !c.help.is_empty()).map(|c| (format!("{} {}", c.names[0], c.args), c.help));
    sections.push(("Commands, after :".to_owned(), commands.collect()));
    let mouse = [
        ("click", "select, and again to open; tabs and the scrub bar too"),
        ("wheel", "scroll; over the steps, move in time"),
        ("drag", "move the scrub bar"),
    ];
    sections.push(("Mouse".to_owned(), mouse.map(|(how, help)| (how.to_owned(), help)).to_vec()));
    sections
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
