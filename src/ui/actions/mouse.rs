//! The mouse: it selects, opens, scrolls and drags the scrub bar.

use ratatui::layout::Rect;

use crate::session::Cursor;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::theme_list;
use crate::ui::actions::verb::Answer;
use crate::ui::actions::verbs::open::open;
use crate::ui::actions::verbs::select::select;
use crate::ui::config::action::{Direction, Motion, Mouse};
use crate::ui::model::effect::Effect;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::Sort;
use crate::ui::model::state::State;
use crate::ui::model::text_view::Form;
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::view::layout::{Plan, split_top};
use crate::ui::view::overlays::{self, Hit};
use crate::ui::view::pane::PaneDef;
use crate::ui::view::widgets::table;
use crate::ui::view::{panes, tabs};

/// Lines per turn of the wheel.
const WHEEL: isize = 3;

/// Performs a request of the mouse at a column and row.
pub fn mouse(state: &mut State, session: &mut dyn SessionHandle, mouse: Mouse, x: u16, y: u16) -> Result<Answer, CommandError> {
    if state.overlay.is_some() {
        return over(state, session, mouse, (x, y));
    }
    let plan = Plan::of(state);
    match mouse {
        Mouse::Release => state.dragging = false,
        Mouse::Press if plan.scrub.contains((x, y).into()) => {
            state.dragging = true;
            scrub(state, session, &plan, x);
        }
        Mouse::Drag if state.dragging => scrub(state, session, &plan, x),
        Mouse::Drag => {}
        Mouse::Press => return press(state, session, &plan, x, y),
        Mouse::Scroll(direction) => {
            let by = if direction == Direction::Forward { WHEEL } else { -WHEEL };
            if let Some(def) = plan.pane_at(x, y).map(panes::def) {
                (def.scroll)(def, state, session, by, usize::from(def.list_in(&plan).height));
            }
        }
    }
    Ok(Answer::Done)
}

/// Selects the row of an overlay at a place. A press outside of it closes it.
fn over(state: &mut State, session: &mut dyn SessionHandle, mouse: Mouse, place: (u16, u16)) -> Result<Answer, CommandError> {
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let hints = Plan::of(state).hints;
    match (mouse, &mut state.overlay) {
        (Mouse::Scroll(direction), _) => {
            let motion = if direction == Direction::Forward { Motion::Down } else { Motion::Up };
            return select(state, session, motion);
        }
        (Mouse::Press, Some(Overlay::Themes { selected, .. })) => {
            match overlays::themes::theme_at(&state.settings.themes, selected, area, place) {
                Hit::On(name) if name == selected => return Ok(theme_list::keep(state)),
                Hit::On(name) => {
                    let name = name.to_owned();
                    selected.clone_from(&name);
                    return Ok(Answer::Effect(Effect::Theme(name)));
                }
                Hit::Nothing => {}
                Hit::Outside => return Ok(theme_list::undo(state)),
            }
        }
        (Mouse::Press, Some(Overlay::Text(text))) if text.form == Form::Prose => match overlays::report::line_at(text, area, place) {
            Hit::On(at) if text.links.contains_key(&at) => {
                if text.view.selected == Some(at) {
                    return open(state, session, "");
                }
                text.view.selected = Some(at);
            }
            Hit::On(_) | Hit::Nothing => {}
            Hit::Outside => state.overlay = None,
        },
        (Mouse::Press, Some(Overlay::Prompt(prompt))) => {
            if let Some(at) = overlays::prompt::completion_at(prompt, hints, place) {
                prompt.chosen = Some(at);
            }
        }
        _ => {}
    }
    Ok(Answer::Done)
}

fn press(state: &mut State, session: &mut dyn SessionHandle, plan: &Plan, x: u16, y: u16) -> Result<Answer, CommandError> {
    if let Some(def) = tabs::tab_at(state, plan, x, y).map(panes::def) {
        (def.visit)(def, state, session.timeline());
        return Ok(Answer::Done);
    }
    let Some(def) = plan.pane_at(x, y).map(panes::def) else { return Ok(Answer::Done) };
    state.focus = def.id;
    let list = def.list_in(plan);
    if let Some(sort) = heading_at(state, session, def, list, (x, y)) {
        // A second click restores the usual order.
        let sort = if state.sort_of(def.id) == sort { Sort::Usual } else { sort };
        if let Some(choice) = def.choice(sort) {
            state.sort(def.id, choice);
        }
        return Ok(Answer::Done);
    }
    if !list.contains((x, y).into()) || !def.has_list() {
        return Ok(Answer::Done);
    }
    let view = state.lists.entry(def.id).or_default();
    let before = view.selected.clone();
    let hit = view.select(def.list(&state.view_model), view.offset + usize::from(y - list.y));
    // A click on the selected row opens it.
    if hit && before == view.selected && def.opens_by_mouse {
        return open(state, session, "");
    }
    (def.selected)(state, &Plan::default());
    Ok(Answer::Done)
}

/// Returns the order of the heading at a place.
fn heading_at(state: &State, session: &dyn SessionHandle, def: &PaneDef, list: Rect, (x, y): (u16, u16)) -> Option<Sort> {
    let columns = (def.columns)(state, session.timeline(), list, y)?;
    let areas = table::areas(&columns, Rect { y, height: 1, ..list });
    columns.iter().zip(areas).find(|(_, area)| area.contains((x, y).into()))?.0.sort
}

fn scrub(state: &mut State, session: &mut dyn SessionHandle, plan: &Plan, x: u16) {
    let area = split_top(plan.scrub, 1).0;
    let (_, total) = session.timeline().progress();
    let span = usize::from(area.width.max(2) - 1);
    let at = usize::from(x.saturating_sub(area.x)).min(span) * total / span;
    let starts = &state.view_model.revision.starts;
    // The end of a revision and the start of the next are the same position; take it as the end of the earlier one.
    let revision = starts.partition_point(|s| *s < at).saturating_sub(1);
    let event = at - starts.get(revision).copied().unwrap_or(0);
    seek_and_follow(state, session, |d| d.timeline_mut().seek(Cursor { revision, event }));
}
