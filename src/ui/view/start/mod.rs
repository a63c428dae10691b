//! The screens before there is a session.

pub mod choice;
pub mod loading;

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::ui::config::glyphs::Glyphs;
use crate::ui::config::theme::{Role, Theme};
use crate::ui::view::draw::put;

/// Theme and glyphs of these screens.
#[derive(Clone, Copy)]
pub struct Palette<'a> {
    /// The styles.
    pub theme: &'a Theme,
    pub glyphs: &'a Glyphs,
}

impl Palette<'_> {
    fn span<'t>(&self, role: Role, text: impl Into<Cow<'t, str>>) -> Span<'t> {
        Span::styled(text, self.theme.style(role))
    }

    /// Draws a row of an area, counted from its top; rows outside of it are skipped.
    fn row(&self, buf: &mut Buffer, area: Rect, row: u16, spans: &[Span<'_>]) {
        if row < area.height {
            put(buf, Rect { y: area.y + row, height: 1, ..area }, spans, self.glyphs.ellipsis);
        }
    }
}
