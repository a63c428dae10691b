//! What is shown before there is a session.

pub mod choice;
pub mod loading;

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Span;

use crate::ui::config::glyphs::Glyphs;
use crate::ui::config::theme::{Role, Theme};
use crate::ui::view::draw::put;

/// What these screens are drawn with.
#[derive(Clone, Copy)]
pub struct Palette<'a> {
    /// Styles by meaning.
    pub theme: &'a Theme,
    /// Signs.
    pub glyphs: &'a Glyphs,
}

impl Palette<'_> {
    fn span<'t>(&self, role: Role, text: impl Into<Cow<'t, str>>) -> Span<'t> {
        Span::styled(text, self.theme.style(role))
    }

    /// One row of an area, counted from its top; rows outside of it are not drawn.
    fn row(&self, buf: &mut Buffer, area: Rect, row: u16, spans: &[Span<'_>]) {
        if row < area.height {
            put(buf, Rect { y: area.y + row, height: 1, ..area }, spans, self.glyphs.ellipsis);
        }
    }
}
