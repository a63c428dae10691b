//! Marks the letters of drawn rows that a filter matched.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::ui::config::theme::Role;
use crate::ui::model::filter::Filter;
use crate::ui::view::draw::Scene;

/// Marks the matched letters in a row of the screen. They are underlined too, because colour alone carries no meaning.
pub fn mark(scene: &Scene<'_>, filter: &mut Filter, row: Rect, buf: &mut Buffer) {
    if filter.is_empty() || row.is_empty() {
        return;
    }
    let mut columns: Vec<u16> = Vec::new();
    let mut chars: Vec<char> = Vec::new();
    for x in row.left()..row.right() {
        for c in buf[(x, row.y)].symbol().chars() {
            columns.push(x);
            chars.push(c);
        }
    }
    let style = Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED);
    let style = scene.style(Role::Key).fg.map_or(style, |colour| style.fg(colour));
    for at in filter.letters(&chars) {
        buf.set_style(Rect { x: columns[at], y: row.y, width: 1, height: 1 }, style);
    }
}
