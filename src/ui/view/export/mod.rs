//! Exports the screen to text, SVG and HTML.

mod svg;

use ratatui::buffer::Buffer;

use crate::ui::config::theme::Theme;
use crate::ui::model::effect::ScreenForm;
use crate::ui::model::text;

/// Returns the drawn screen in a form.
pub fn write(form: ScreenForm, buf: &Buffer, theme: &Theme) -> String {
    match form {
        ScreenForm::Picture => svg::svg(buf, theme),
        ScreenForm::Page => svg::page(&[Frame { caption: String::new(), screen: buf.clone() }], 1.0, theme),
        ScreenForm::Text => lines(buf),
    }
}

/// A screen of an animation.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Words below it.
    pub caption: String,
    pub screen: Buffer,
}

/// Returns screens as an SVG that shows each for some seconds, over and over, or as a page to click through; `None` for a form that
/// holds one screen.
pub fn animation(form: ScreenForm, frames: &[Frame], seconds: f64, theme: &Theme) -> Option<String> {
    match form {
        ScreenForm::Picture => Some(svg::animation(frames, seconds, theme)),
        ScreenForm::Page => Some(svg::page(frames, seconds, theme)),
        ScreenForm::Text => None,
    }
}

/// Returns the lines of the screen without trailing blanks.
pub(crate) fn lines(buf: &Buffer) -> String {
    let mut out = String::new();
    for row in rows(buf) {
        let line: String = row.iter().map(|cell| cell.symbol).collect();
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}

/// A cell that starts a symbol; the cells that a wide symbol covers are left out.
struct Piece<'a> {
    column: u16,
    columns: u16,
    symbol: &'a str,
    cell: &'a ratatui::buffer::Cell,
}

fn rows(buf: &Buffer) -> impl Iterator<Item = Vec<Piece<'_>>> {
    let area = buf.area;
    (area.top()..area.bottom()).map(move |y| {
        let mut row = Vec::new();
        let mut x = area.left();
        while x < area.right() {
            let cell = &buf[(x, y)];
            let columns = text::columns(cell.symbol()).clamp(1, area.right() - x);
            row.push(Piece { column: x - area.left(), columns, symbol: cell.symbol(), cell });
            x += columns;
        }
        row
    })
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;
    use crate::ui::config::theme::Depth;

    #[test]
    fn lines_are_as_they_are_seen() {
        let mut buf = Buffer::empty(Rect::new(3, 5, 8, 2));
        buf.set_string(3, 5, "节点 e\u{301}x", Style::new());
        assert_eq!(lines(&buf), "节点 e\u{301}x\n\n");
        assert_eq!(write(ScreenForm::Text, &buf, &Theme::fallback(Depth::True)), lines(&buf));
    }
}
