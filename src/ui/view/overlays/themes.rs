//! The list of themes. The selected theme is previewed on the screen behind.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::config::theme::Role;
use crate::ui::config::themes::ThemeEntry;
use crate::ui::model::text;
use crate::ui::view::draw::Scene;
use crate::ui::view::overlays::Hit;

/// Columns of the box.
const WIDTH: u16 = 44;

/// A row: the index of a theme, and a line of its problem.
type Row = (usize, Option<String>);

/// Returns the rows, and the scroll position that keeps the selected theme in sight.
fn rows(themes: &[ThemeEntry], selected: &str, area: Rect) -> (Vec<Row>, usize) {
    let mut rows: Vec<Row> = Vec::new();
    let mut at = 0;
    for (i, theme) in themes.iter().enumerate() {
        rows.push((i, None));
        if theme.name == selected {
            at = rows.len();
            let problem = theme.problem.as_deref().unwrap_or_default();
            rows.extend(text::wrap(problem, usize::from(WIDTH) - 8).map(|part| (i, Some(part))));
        }
    }
    let room = usize::from(area.height.saturating_sub(4)).max(1);
    (rows, at.saturating_sub(room))
}

pub fn theme_at<'t>(themes: &'t [ThemeEntry], selected: &str, area: Rect, place: (u16, u16)) -> Hit<&'t str> {
    let (rows, offset) = rows(themes, selected, area);
    let outer = super::outer(WIDTH, rows.len(), area);
    super::line_at(outer, rows.len(), offset, place).map(|row| themes[rows[row].0].name.as_str())
}

/// Draws the list with the selected theme in sight, and its problem.
pub fn draw(scene: &Scene<'_>, selected: &str, area: Rect, buf: &mut Buffer) {
    let themes = &scene.state.settings.themes;
    let names = themes.iter().map(|t| text::width(&t.name)).max().unwrap_or(0).min(24);
    let (rows, offset) = rows(themes, selected, area);
    let line = |(at, problem): Row| {
        if let Some(part) = problem {
            return Line::from(scene.span(Role::Warning, format!("    {part}")));
        }
        let theme = &themes[at];
        let is_selected = theme.name == selected;
        let sign = if is_selected { scene.glyphs.here } else { " " };
        let name = text::clip(&theme.name, names, scene.glyphs.ellipsis);
        let pad = " ".repeat(names.saturating_sub(text::width(&name)));
        let (role, words) = match (&theme.problem, &theme.file) {
            (Some(_), _) => (Role::Warning, "cannot be used"),
            (None, Some(_)) => (Role::Muted, "yours"),
            (None, None) => (Role::Muted, ""),
        };
        let style = scene.style(if is_selected { Role::Selection } else { Role::Text });
        Line::from(vec![Span::styled(format!("{sign} {name}{pad}  "), style), scene.span(role, words)])
    };
    let lines: Vec<Line<'_>> = rows.into_iter().map(line).collect();
    super::sheet(scene, "Themes", WIDTH, (lines.len(), &|at| lines[at].clone()), offset, area, buf);
}
