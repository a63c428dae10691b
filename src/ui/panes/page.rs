//! Draws one of the pages: rows of facts about one pod, one candidate, or the budgets.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::ui::action::Pane;
use crate::ui::layout::Plan;
use crate::ui::list::Row as _;
use crate::ui::pages::{Cell, NAME, PageRow};
use crate::ui::scene::{Scene, chrome, extent, title};
use crate::ui::theme::Role;
use crate::ui::widgets::table;

/// Draws a page.
pub fn draw(scene: &Scene<'_>, plan: &Plan, pane: Pane, buf: &mut Buffer) {
    let words = match pane {
        Pane::PodDetail => scene.state.pod.as_ref().map(ToString::to_string),
        Pane::Candidate => scene.state.selected_candidate(scene.cycle()).map(ToString::to_string),
        _ => None,
    };
    let words = words.map_or_else(|| pane.to_string(), |name| format!("{pane} {name}"));
    chrome(scene, plan, pane, title(scene, pane, words), Vec::new(), buf);
    let list = plan.list(pane);
    let Some(view) = scene.state.pages.get(&pane) else { return };
    let rows = scene.state.derived.page(pane);
    let linked = &scene.state.derived.linked;
    extent(scene, plan, pane, view.offset, rows.len(), buf);
    for (i, row) in rows.iter().skip(view.offset).take(usize::from(list.height)).enumerate() {
        let area = Rect { y: list.y + i as u16, height: 1, ..list };
        match row {
            PageRow::Heading(words) => scene.line(buf, area, &Line::from(scene.span(Role::Column, words.to_uppercase()))),
            PageRow::Titles(columns) => table::heading(scene, columns, area, buf),
            PageRow::Fact { name, value, role, .. } => {
                let line = [scene.span(Role::Muted, format!("{name:<NAME$}")), scene.span(*role, value.as_str())];
                scene.line(buf, area, &Line::from(line.to_vec()));
            }
            PageRow::Cells { columns, cells, .. } => {
                let cells: Vec<Vec<Span<'_>>> = cells.iter().map(|c| spans(scene, c)).collect();
                table::row(scene, columns, area, &cells, buf);
            }
            PageRow::Note(words) => scene.line(buf, area, &Line::from(scene.span(Role::Muted, words.as_str()))),
        }
        let focused = scene.state.focus == pane;
        let selected = view.selected.as_ref().is_some_and(|id| row.is(id));
        table::mark(scene, area, selected && focused, focused, buf);
        if !focused && row.id().is_some_and(|id| linked.contains(&id)) {
            table::link(area, buf);
        }
    }
}

fn spans<'s>(scene: &Scene<'_>, cell: &'s Cell) -> Vec<Span<'s>> {
    let sign = cell.sign.glyph(scene.glyphs);
    let text = scene.span(cell.role, cell.text.as_str());
    if sign.is_empty() { vec![text] } else { vec![scene.span(cell.role, format!("{sign} ")), text] }
}
