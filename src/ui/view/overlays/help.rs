//! The overlay of signs, keys and commands.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use strum::IntoEnumIterator as _;

use crate::session::GRAMMAR;
use crate::ui::config::context::Context;
use crate::ui::config::glyphs::{Glyphs, UNICODE};
use crate::ui::config::key;
use crate::ui::config::keymap::{self, Keymap};
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
    /// Signs with their meanings, as many as fit beside each other.
    Signs(Vec<(String, &'static str)>),
}

/// Draws the help. The keys of the focused pane come first.
pub fn draw(scene: &Scene<'_>, view: &Viewport, area: Rect, buf: &mut Buffer) {
    let column = column(area.width);
    let each = room(area.width) / signs_in_a_row(area.width);
    let styled = |row| match row {
        Row::Signs(signs) => {
            let one = |(sign, words): (String, &'static str)| {
                let pad = " ".repeat(SIGN.saturating_sub(text::width(&sign)));
                let rest = " ".repeat(each.saturating_sub(SIGN + text::width(words)).max(1));
                [scene.span(Role::Key, format!("{sign}{pad}")), scene.span(Role::Text, format!("{words}{rest}"))]
            };
            Line::from(signs.into_iter().flat_map(one).collect::<Vec<_>>())
        }
        Row::Blank => Line::default(),
        Row::Heading(words) => Line::from(scene.span(Role::Title, words)),
        Row::Entry(keys, words) => {
            let keys = scene.glyphs.keys(&keys);
            let pad = " ".repeat(column.saturating_sub(text::width(&keys)).max(1));
            Line::from(vec![scene.span(Role::Key, keys), Span::raw(pad), scene.span(Role::Text, words)])
        }
    };
    let settings = &scene.state.settings;
    let lines: Vec<Line<'_>> = rows(&settings.keymap, scene.glyphs, panes::def(scene.state.focus).context, &view.filter, area.width)
        .into_iter()
        .map(styled)
        .collect();
    super::sheet(
        scene,
        &super::filtered("Signs, keys and commands", &view.filter),
        WIDTH,
        (lines.len(), &|at| lines[at].clone()),
        view.offset,
        area,
        buf,
    );
}

/// Returns the number of rows on a screen of this width.
pub fn count(keymap: &Keymap, here: Context, filter: &str, width: u16) -> usize {
    // Both sets of glyphs take as many rows.
    rows(keymap, &UNICODE, here, filter, width).len()
}

/// Returns the columns for text on a screen of this width.
fn room(width: u16) -> usize {
    usize::from(width.saturating_sub(4).min(WIDTH).saturating_sub(4))
}

fn column(width: u16) -> usize {
    if room(width) < 60 { KEYS * 2 / 3 } else { KEYS }
}

/// Returns the rows that match the filter under their headings. Long entries wrap.
fn rows(keymap: &Keymap, glyphs: &Glyphs, here: Context, filter: &str, width: u16) -> Vec<Row> {
    let (room, column) = (room(width), column(width));
    let mut filter = Filter::new(filter);
    let mut rows = Vec::new();
    let signs: Vec<_> = signs(glyphs).into_iter().filter(|(_, words)| filter.keeps_line(words)).collect();
    if !signs.is_empty() {
        rows.push(Row::Heading("Signs".to_owned()));
    }
    rows.extend(signs.chunks(signs_in_a_row(width)).map(|signs| Row::Signs(signs.to_vec())));
    for (title, entries) in sections(keymap, here) {
        // A section that the words name is shown whole.
        let is_named = !filter.is_empty() && filter.keeps_line(&title);
        let mut kept = entries.into_iter().filter(|(keys, help)| is_named || filter.keeps_line(&format!("{keys} {help}"))).peekable();
        if kept.peek().is_none() {
            continue;
        }
        if !rows.is_empty() {
            rows.push(Row::Blank);
        }
        rows.push(Row::Heading(title));
        for (keys, help) in kept {
            // Long lists of keys take lines of their own.
            let own = text::width(&keys) >= column;
            if own {
                rows.extend(text::wrap(&keys, room).map(|part| Row::Entry(part, String::new())));
            }
            let words = text::wrap(help, room.saturating_sub(column).max(12)).enumerate();
            rows.extend(words.map(|(i, words)| Row::Entry(if i == 0 && !own { keys.clone() } else { String::new() }, words)));
        }
    }
    if rows.is_empty() {
        rows.push(Row::Entry(String::new(), "no key, command or sign is about it".to_owned()));
    }
    rows
}

/// Columns of a sign.
const SIGN: usize = 4;

/// Returns the number of signs in a row of a screen of this width.
fn signs_in_a_row(width: u16) -> usize {
    if room(width) < 72 { 1 } else { 2 }
}

/// Returns all signs with their meanings.
fn signs(glyphs: &Glyphs) -> Vec<(String, &'static str)> {
    vec![
        (glyphs.fits.to_owned(), "fits; stays in the tie-break"),
        (glyphs.unschedulable.to_owned(), "unsched.: eviction might help"),
        (glyphs.unresolvable.to_owned(), "unresolv.: eviction cannot help"),
        (glyphs.failed.to_owned(), "error; a budget is violated"),
        (glyphs.winner.to_owned(), "chosen; decided the tie-break"),
        ("=".to_owned(), "as good as the chosen candidate"),
        (glyphs.falls.to_owned(), "eliminated; or a victim"),
        (glyphs.unseen.to_owned(), "not evaluated, or not yet"),
        ("?".to_owned(), "unknown to the source"),
        (glyphs.here.to_owned(), "shown now; the selected node"),
        (glyphs.arrow.to_owned(), "nominated to this node"),
        (glyphs.moved.to_owned(), "moved in the queues just now"),
        (glyphs.inferred.to_owned(), "place in the queues is inferred"),
        (format!("{} {}", glyphs.closed, glyphs.open), "a group, closed and open"),
        (format!("{}{}", glyphs.bar_used, glyphs.bar_free), "used and free"),
        ("<".to_owned(), "2/8 < 6: 2 of 8 free, 6 asked"),
        (glyphs.more.to_owned(), "more columns than fit"),
        (glyphs.ellipsis.to_owned(), "more text than fits"),
        (glyphs.crumb.to_owned(), "opened from; Esc goes back"),
        (glyphs.scrub_here.to_owned(), "the cursor in the record"),
        (glyphs.scrub_edge.to_owned(), "another cycle begins"),
    ]
}

/// Topics of the keys that work everywhere, in the order of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumIter, strum::Display)]
enum Topic {
    #[strum(to_string = "Panes and lists")]
    Panes,
    #[strum(to_string = "What is the reason")]
    Reasons,
    #[strum(to_string = "Moving in time")]
    Time,
    #[strum(to_string = "What-ifs and branches")]
    WhatIfs,
    #[strum(to_string = "The program")]
    Program,
}

fn topic(verb: &str) -> Topic {
    match verb {
        "step" | "step-back" | "cycle" | "cycle-back" | "run" | "coarser" | "finer" | "settle" | "until" | "wait" | "wait-seconds"
        | "start" | "end" | "pod-back" | "pod-forward" | "catch-up" => Topic::Time,
        "undo" | "redo" | "branches" | "branch" | "compare" => Topic::WhatIfs,
        "node" | "pod" | "fixes" | "agreement" | "source" | "copy" | "report" | "step-in" => Topic::Reasons,
        "help" | "command" | "export" | "suspend" | "quit" => Topic::Program,
        _ => Topic::Panes,
    }
}

/// Returns the sections: a title, and keys or commands with their help.
fn sections(keymap: &Keymap, here: Context) -> Vec<(String, Vec<(String, &'static str)>)> {
    let mut sections = Vec::new();
    let names = |keys: &[String]| keys.iter().map(|k| key::label(k)).collect::<Vec<String>>().join(" ");
    let mut add = |title: String, rows: Vec<keymap::Row<'_>>| {
        if !rows.is_empty() {
            sections.push((title, rows.iter().map(|row| (names(row.keys), row.binding.help)).collect::<Vec<_>>()));
        }
    };
    add(here.to_string(), keymap.of(here).collect());
    for about in Topic::iter() {
        add(about.to_string(), keymap.of(Context::GLOBAL).filter(|row| topic(row.binding.verb) == about).collect());
    }
    for context in keymap.table().contexts.iter().filter(|c| **c != here && **c != Context::GLOBAL) {
        add(context.to_string(), keymap.of(*context).collect());
    }
    let is_what_if = |name: &str| GRAMMAR.iter().any(|row| row.word == name);
    let commands = |what_ifs: bool| {
        let those = keymap.table().commands.iter().filter(|command| is_what_if(command.name) == what_ifs);
        those.map(|command| (format!("{} {}", command.name, command.args), command.help)).collect()
    };
    sections.push(("Commands, after :".to_owned(), commands(false)));
    sections.push(("What-ifs, after :".to_owned(), commands(true)));
    let mouse = [
        ("click", "select, and again to open; tabs, headings and the scrub bar too"),
        ("wheel", "scroll; over the steps, move in time"),
        (":mouse off", "leave the mouse to the terminal, which then selects text"),
        ("drag", "move the scrub bar"),
    ];
    sections.push(("Mouse".to_owned(), mouse.map(|(how, help)| (how.to_owned(), help)).to_vec()));
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_signs_fit_next_to_each_other() {
        let half = room(80) / 2;
        for (sign, words) in signs(&UNICODE) {
            assert!(SIGN + text::width(words) < half && text::width(&sign) < SIGN, "{sign} {words}");
        }
    }

    #[test]
    fn words_of_operators_are_found_under_their_headings() {
        let keymap = crate::ui::actions::keymap();
        let pane = panes::PANES[0].context;
        for (word, heading, entry) in [
            ("scale", "What-ifs, after :", "scale "),
            ("quota", "Commands, after :", "workload "),
            ("mouse", "Mouse", "wheel"),
            ("mouse", "Commands, after :", "mouse on | off"),
            ("break", "Commands, after :", "break"),
            ("drain", "What-ifs, after :", "drain "),
            ("what-if", "What-ifs, after :", "ungate "),
        ] {
            let found = rows(&keymap, &UNICODE, pane, word, 120);
            let under = found.iter().skip_while(|row| !matches!(row, Row::Heading(title) if title == heading));
            let mut under = under.skip(1).take_while(|row| !matches!(row, Row::Heading(_)));
            assert!(under.any(|row| matches!(row, Row::Entry(keys, _) if keys.starts_with(entry))), "{word}: {heading}: {entry}");
        }
        assert!(matches!(&rows(&keymap, &UNICODE, pane, "zzzz", 120)[..], [Row::Entry(_, words)] if words.starts_with("no key")));
    }

    #[test]
    fn every_key_that_works_everywhere_has_a_topic() {
        let table = crate::ui::actions::table();
        let of = |about: Topic| table.bindings.iter().filter(|b| b.context == Context::GLOBAL && topic(b.verb) == about).count();
        assert!(Topic::iter().all(|about| of(about) > 1));
        for verb in ["undo", "redo"] {
            assert_eq!(topic(verb), Topic::WhatIfs);
        }
    }
}
