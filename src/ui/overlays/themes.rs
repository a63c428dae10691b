//! The themes to choose from; the one selected is shown on the screen behind.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::scene::Scene;
use crate::ui::text;
use crate::ui::theme::Role;

/// Columns of the box.
const WIDTH: u16 = 44;

/// Draws the list, so that the theme that is selected is in sight, and what is wrong with it.
pub fn draw(scene: &Scene<'_>, selected: &str, area: Rect, buf: &mut Buffer) {
    let themes = &scene.state.settings.themes;
    let names = themes.iter().map(|t| text::width(&t.name)).max().unwrap_or(0).min(24);
    let mut lines = Vec::new();
    let mut at = 0;
    for theme in themes {
        let is_selected = theme.name == selected;
        if is_selected {
            at = lines.len();
        }
        let sign = if is_selected { scene.glyphs.here } else { " " };
        let name = text::clip(&theme.name, names, scene.glyphs.ellipsis);
        let pad = " ".repeat(names.saturating_sub(text::width(&name)));
        let (role, words) = match (&theme.problem, &theme.file) {
            (Some(_), _) => (Role::Warning, "cannot be used"),
            (None, Some(_)) => (Role::Muted, "yours"),
            (None, None) => (Role::Muted, ""),
        };
        let style = scene.style(if is_selected { Role::Selection } else { Role::Text });
        lines.push(Line::from(vec![Span::styled(format!("{sign} {name}{pad}  "), style), scene.span(role, words)]));
        if let Some(problem) = theme.problem.as_ref().filter(|_| is_selected) {
            for part in text::wrap(problem, usize::from(WIDTH) - 8) {
                lines.push(Line::from(scene.span(Role::Warning, format!("    {part}"))));
            }
        }
    }
    let room = usize::from(area.height.saturating_sub(4)).max(1);
    super::sheet(scene, "Themes", WIDTH, &lines, (at + 1).saturating_sub(room), area, buf);
}
