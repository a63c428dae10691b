//! Overlays: drawn over the screen, one at a time.

pub mod help;
pub mod object;
pub mod prompt;
pub mod report;
pub mod themes;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::config::action::Motion;
use crate::ui::config::context::Context;
use crate::ui::config::keymap::Keymap;
use crate::ui::config::theme::Role;
use crate::ui::model::overlay::Overlay;
use crate::ui::view::draw::Scene;

/// Moves the selection of a text, or scrolls the help. `context` is that of the focused pane.
pub fn select(over: &mut Overlay, keymap: &Keymap, context: Context, motion: Motion, size: (u16, u16)) {
    match over {
        Overlay::Help(view) => {
            let lines = help::count(keymap, context, &view.filter, size.0);
            view.scroll(motion, room(size.1), lines);
        }
        Overlay::Text(text) => report::select(text, motion, size),
        Overlay::Prompt(_) | Overlay::Themes { .. } => {}
    }
}

/// Maximum indentation that wrapped lines keep.
const MOST_INDENTED: usize = 60;

/// Returns the length of the marks that indent a line, such as spaces.
fn indent(line: &str, marks: &[u8]) -> usize {
    line.bytes().take(MOST_INDENTED).take_while(|byte| marks.contains(byte)).count()
}

fn filtered(title: &str, filter: &str) -> String {
    if filter.is_empty() { title.to_owned() } else { format!("{title}  /{filter}") }
}

/// Returns the scroll offset that centres the rows from `first` to `end`, in a box of the area's height.
fn centred(first: usize, end: usize, area: Rect) -> usize {
    let room = room(area.height);
    first.saturating_sub(room.saturating_sub(end.saturating_sub(first)) / 2)
}

/// Returns the most rows that a box shows on a screen of this height.
pub fn room(height: u16) -> usize {
    usize::from(height.saturating_sub(4)).max(1)
}

/// Returns a centred box for a number of rows, with its border.
fn outer(width: u16, lines: usize, area: Rect) -> Rect {
    let width = width.min(area.width.saturating_sub(4));
    let height = u16::try_from(lines + 2).unwrap_or(u16::MAX).min(area.height.saturating_sub(2));
    Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height }
}

/// The result of a hit test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit<T> {
    /// The place is outside of the box.
    Outside,
    /// The place is in the box, and there is nothing.
    Nothing,
    /// The place is on this.
    On(T),
}

impl<T> Hit<T> {
    fn map<U>(self, what: impl FnOnce(T) -> U) -> Hit<U> {
        match self {
            Self::Outside => Hit::Outside,
            Self::Nothing => Hit::Nothing,
            Self::On(value) => Hit::On(what(value)),
        }
    }
}

/// Returns the row at a place, in a box of `lines` rows scrolled by `offset`.
fn line_at(outer: Rect, lines: usize, offset: usize, (x, y): (u16, u16)) -> Hit<usize> {
    if !outer.contains((x, y).into()) {
        return Hit::Outside;
    }
    let room = usize::from(outer.height.saturating_sub(2));
    let row = usize::from(y - outer.y).checked_sub(1).filter(|row| *row < room);
    row.map(|row| offset.min(lines.saturating_sub(room)) + row).filter(|at| *at < lines).map_or(Hit::Nothing, Hit::On)
}

/// The number of rows, and a function that makes one; only the rows in sight are made.
type Made<'a, 'l> = (usize, &'a dyn Fn(usize) -> Line<'l>);

/// Draws a centred box with scrolling rows. An `offset` beyond the end shows the end.
fn sheet(scene: &Scene<'_>, title: &str, width: u16, (count, line): Made<'_, '_>, offset: usize, area: Rect, buf: &mut Buffer) {
    let outer = outer(width, count, area);
    let set = scene.glyphs.border_focused;
    let style = scene.style(Role::BorderFocused);
    for y in outer.top()..outer.bottom() {
        for x in outer.left()..outer.right() {
            let (top, bottom) = (y == outer.top(), y + 1 == outer.bottom());
            let (first, last) = (x == outer.left(), x + 1 == outer.right());
            let symbol = match (top, bottom, first, last) {
                (true, _, true, _) => set.top_left,
                (true, _, _, true) => set.top_right,
                (_, true, true, _) => set.bottom_left,
                (_, true, _, true) => set.bottom_right,
                (true, ..) => set.horizontal_top,
                (_, true, ..) => set.horizontal_bottom,
                (_, _, true, _) => set.vertical_left,
                (_, _, _, true) => set.vertical_right,
                _ => " ",
            };
            buf[(x, y)].reset();
            buf[(x, y)].set_symbol(symbol).set_style(if symbol == " " { scene.style(Role::Text) } else { style });
        }
    }
    let bar = Rect { x: outer.x + 2, width: outer.width.saturating_sub(4), height: 1, y: outer.y };
    scene.line(buf, bar, &Line::from(vec![Span::raw(" "), scene.span(Role::Title, title.to_owned()), Span::raw(" ")]));
    let inner = Rect { x: outer.x + 2, y: outer.y + 1, width: outer.width.saturating_sub(4), height: outer.height.saturating_sub(2) };
    let room = usize::from(inner.height);
    let offset = offset.min(count.saturating_sub(room));
    for (i, at) in (offset..count).take(room).enumerate() {
        scene.line(buf, Rect { y: inner.y + i as u16, height: 1, ..inner }, &line(at));
    }
    if count > room {
        let text = format!(" {}-{} of {count} ", offset + 1, (offset + room).min(count));
        let foot = Rect { y: outer.bottom() - 1, ..bar };
        let shift = foot.width.saturating_sub(text.len() as u16);
        scene.line(buf, Rect { x: foot.x + shift, width: foot.width - shift, ..foot }, &Line::from(scene.span(Role::Muted, text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_is_kept_up_to_a_limit() {
        assert_eq!([indent("  - a", b" -"), indent("  - a", b" "), indent("", b" "), indent("\u{a0}a", b" ")], [4, 2, 0, 0]);
        assert_eq!(indent(&" ".repeat(100_000), b" "), MOST_INDENTED);
    }
}
