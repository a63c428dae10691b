//! Pages: panes of facts and tables about one object. A page defines its rows; the rest is shared here.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::session::Cursor;
use crate::ui::config::context::Context;
use crate::ui::config::theme::Role;
use crate::ui::model::column::Column;
use crate::ui::model::list::Row as _;
use crate::ui::model::list::{ListView, RowId};
use crate::ui::model::page::NAME;
use crate::ui::model::page::{Cell, PageRow};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::model::time_travel;
use crate::ui::view::draw::Scene;
use crate::ui::view::layout::Plan;
use crate::ui::view::pane::PaneDef;
use crate::ui::view::widgets::table;

/// The context of keys on all pages.
pub const CONTEXT: Context = Context::pane("page", "On a pod, a candidate, budgets, all pods");

/// Returns the definition of a page: identity, and the verb that goes to it with its help.
pub const fn new(id: Pane, verb: (&'static str, &'static str)) -> PaneDef {
    PaneDef {
        open_help: Some(("open", "show the pod, go to the attempt, open or close the budget")),
        back_help: Some("back to where this was opened"),
        sort_help: "sort: victims by importance or name; budgets by harm, name, what is left; pods by name, priority, node, cpu",
        columns: |_, _, _, _| None,
        visit: PaneDef::show_page,
        open: open_row,
        ..PaneDef::new(id, CONTEXT, verb, draw)
    }
}

/// Returns the columns of a page whose headings are in a row of the screen.
pub fn heading_columns(pane: Pane, state: &State, list: Rect, row: u16) -> Option<Vec<Column>> {
    let at = state.list(pane).offset + usize::from(row.checked_sub(list.y)?);
    let PageRow::Titles(columns) = state.view_model.page(pane).get(at)? else { return None };
    Some(columns.to_vec())
}

/// Opens the object of the selected row.
pub fn open_row(state: &mut State, session: &mut dyn SessionHandle) {
    match state.selected_row().cloned() {
        Some(RowId::Pod(pod)) => state.open_pod(pod),
        Some(RowId::Node(node)) => state.open_node(node),
        Some(RowId::Revision(revision)) => {
            time_travel::seek_and_follow(state, session, |s| s.timeline_mut().seek(Cursor { revision, event: usize::MAX }));
        }
        Some(RowId::Budget(key)) => {
            state.choices.open_budgets.insert(key.clone());
            state.open_page(Pane::BUDGETS);
            state.lists.insert(Pane::BUDGETS, ListView::at(RowId::Budget(key)));
        }
        _ => {}
    }
}

/// Draws a page.
pub fn draw(def: &PaneDef, scene: &Scene<'_>, plan: &Plan, buf: &mut Buffer) {
    let pane = def.id;
    let subject = (def.subject)(scene.state, scene.timeline);
    let words = match &subject {
        Some(RowId::Pod(key)) => format!("{pane} {key}"),
        Some(RowId::Node(node)) => format!("{pane} {node}"),
        _ => pane.to_string(),
    };
    def.chrome(scene, plan, def.title(scene, words), Vec::new(), buf);
    let (list, view) = (def.list_in(plan), scene.state.list(pane));
    let rows = scene.state.view_model.page(pane);
    let linked = &scene.state.view_model.linked.rows;
    def.extent(scene, plan, buf);
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
