//! The overlay of keys and commands.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::config::context::Context;
use crate::ui::config::key;
use crate::ui::config::keymap::Keymap;
use crate::ui::config::theme::Role;
use crate::ui::model::filter::Filter;
use crate::ui::model::text;
use crate::ui::model::text_view::Viewport;
use crate::ui::view::draw::Scene;
use crate::ui::view::panes;

/// Columns for keys.
const KEYS: usize = 22;
/// Columns of the box.
const WIDTH: u16 = 84;

/// A line of the help.
enum Row {
    Blank,
    Heading(String),
    /// Keys and their help; one is empty on a line that continues the other.
    Entry(String, String),
}

/// Draws the help. The keys of the focused pane come first.
pub fn draw(scene: &Scene<'_>, view: &Viewport, area: Rect, buf: &mut Buffer) {
    let column = column(area.width);
    let styled = |row| match row {
        Row::Blank => Line::default(),
        Row::Heading(words) => Line::from(scene.span(Role::Title, words)),
        Row::Entry(keys, words) => {
            let keys = scene.glyphs.keys(&keys);
            let pad = " ".repeat(column.saturating_sub(text::width(&keys)).max(1));
            Line::from(vec![scene.span(Role::Key, keys), Span::raw(pad), scene.span(Role::Text, words)])
        }
    };
    let settings = &scene.state.settings;
    let lines: Vec<Line<'_>> =
        rows(&settings.keymap, panes::def(scene.state.focus).context, &view.filter, area.width).into_iter().map(styled).collect();
    super::sheet(
        scene,
        &super::filtered("Keys and commands", &view.filter),
        WIDTH,
        (lines.len(), &|at| lines[at].clone()),
        view.offset,
        area,
        buf,
    );
}

/// Returns the number of rows on a screen of this width.
pub fn count(keymap: &Keymap, here: Context, filter: &str, width: u16) -> usize {
    rows(keymap, here, filter, width).len()
}

/// Returns the columns for text on a screen of this width.
fn room(width: u16) -> usize {
    usize::from(width.saturating_sub(4).min(WIDTH).saturating_sub(4))
}

fn column(width: u16) -> usize {
    if room(width) < 60 { KEYS * 2 / 3 } else { KEYS }
}

/// Returns the rows that match the filter, without headings if there is one. Long entries wrap.
fn rows(keymap: &Keymap, here: Context, filter: &str, width: u16) -> Vec<Row> {
    let (room, column) = (room(width), column(width));
    let mut filter = Filter::new(filter);
    let mut rows = Vec::new();
    for (title, entries) in sections(keymap, here) {
        if filter.is_empty() {
            if !rows.is_empty() {
                rows.push(Row::Blank);
            }
            rows.push(Row::Heading(title));
        }
        for (keys, help) in entries {
            if !filter.keeps_line(&format!("{keys} {help}")) {
                continue;
            }
            // Long lists of keys take lines of their own.
            let own = text::width(&keys) >= column;
            if own {
                rows.extend(text::wrap(&keys, room).map(|part| Row::Entry(part, String::new())));
            }
            let words = text::wrap(help, room.saturating_sub(column).max(12)).enumerate();
            rows.extend(words.map(|(i, words)| Row::Entry(if i == 0 && !own { keys.clone() } else { String::new() }, words)));
        }
    }
    rows
}

/// Returns the sections: a title, and keys or commands with their help.
fn sections(keymap: &Keymap, here: Context) -> Vec<(String, Vec<(String, &'static str)>)> {
    let others = keymap.table().contexts.iter().copied().filter(|c| *c != here && *c != Context::GLOBAL);
    let order = [here, Context::GLOBAL].into_iter().chain(others);
    let mut sections = Vec::new();
    for context in order {
        let rows: Vec<_> = keymap.of(context).collect();
        let names = |keys: &[String]| keys.iter().map(|k| key::label(k)).collect::<Vec<String>>().join(" ");
        if !rows.is_empty() {
            sections.push((context.to_string(), rows.iter().map(|row| (names(row.keys), row.binding.help)).collect()));
        }
    }
    let commands = keymap.table().commands.iter().map(|c| (format!("{} {}", c.name, c.args), c.help));
    sections.push(("Commands, after :".to_owned(), commands.collect()));
    let mouse = [
        ("click", "select, and again to open; tabs, headings and the scrub bar too"),
        ("wheel", "scroll; over the steps, move in time"),
        ("drag", "move the scrub bar"),
    ];
    sections.push(("Mouse".to_owned(), mouse.map(|(how, help)| (how.to_owned(), help)).to_vec()));
    sections
}
