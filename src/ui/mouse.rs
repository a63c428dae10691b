//! What the mouse does: it selects, opens, scrolls and drags the scrub bar.

use ratatui::layout::Rect;

use crate::session::Cursor;
use crate::trace::StepSize;
use crate::ui::action::{Action, Direction, Effect, Motion, Mouse, Pane};
use crate::ui::driver::Driver;
use crate::ui::layout::split_top;
use crate::ui::open::open;
use crate::ui::order::Order;
use crate::ui::overlay::Overlay;
use crate::ui::overlays::{self, Hit};
use crate::ui::pages::PageRow;
use crate::ui::panes;
use crate::ui::rows::{DetailRow, NodeRow, QueueRow};
use crate::ui::sheet::Form;
use crate::ui::state::State;
use crate::ui::themes;
use crate::ui::update::{focus, go, moved, walk};
use crate::ui::widgets::table;

/// Lines the wheel scrolls.
const WHEEL: isize = 3;

pub(super) fn mouse(state: &mut State, driver: &mut dyn Driver, mouse: Mouse, x: u16, y: u16) -> Option<Effect> {
    if state.overlay.is_some() {
        return over(state, driver, mouse, (x, y));
    }
    on_panes(state, driver, mouse, x, y);
    None
}

/// What the mouse does while something lies over the screen: it chooses what it points to, and a press beside it closes it.
fn over(state: &mut State, driver: &mut dyn Driver, mouse: Mouse, place: (u16, u16)) -> Option<Effect> {
    let area = Rect::new(0, 0, state.size.0, state.size.1);
    let hints = state.plan().hints;
    let picking = matches!(state.overlay, Some(Overlay::Themes { .. }));
    match (mouse, &mut state.overlay) {
        (Mouse::Scroll(direction), _) => {
            let motion = if direction == Direction::Forward { Motion::Down } else { Motion::Up };
            if picking {
                return themes::choose(state, &Action::Move(motion));
            }
            go(state, driver, motion);
        }
        (Mouse::Press, Some(Overlay::Themes { selected, .. })) => {
            match overlays::themes::theme_at(&state.settings.themes, selected, area, place) {
                Hit::On(name) if name == selected => return themes::choose(state, &Action::Open),
                Hit::On(name) => {
                    let name = name.to_owned();
                    selected.clone_from(&name);
                    return Some(Effect::Theme(name));
                }
                Hit::Nothing => {}
                Hit::Beside => return themes::choose(state, &Action::Back),
            }
        }
        (Mouse::Press, Some(Overlay::Text(sheet))) if sheet.form == Form::Prose => match overlays::report::line_at(sheet, area, place) {
            Hit::On(at) if sheet.links.contains_key(&at) => {
                if sheet.view.selected == Some(at) {
                    open(state, driver);
                } else {
                    sheet.view.selected = Some(at);
                }
            }
            Hit::On(_) | Hit::Nothing => {}
            Hit::Beside => state.overlay = None,
        },
        (Mouse::Press, Some(Overlay::Prompt(prompt))) => {
            if let Some(at) = overlays::prompt::completion_at(prompt, hints, place) {
                prompt.chosen = Some(at);
            }
        }
        _ => {}
    }
    None
}

fn on_panes(state: &mut State, driver: &mut dyn Driver, mouse: Mouse, x: u16, y: u16) {
    let plan = state.plan();
    match mouse {
        Mouse::Release => state.dragging = false,
        Mouse::Press if plan.scrub.contains((x, y).into()) => {
            state.dragging = true;
            scrub(state, driver, x);
        }
        Mouse::Drag if state.dragging => scrub(state, driver, x),
        Mouse::Drag => {}
        Mouse::Press => press(state, driver, x, y),
        Mouse::Scroll(direction) => {
            let by = if direction == Direction::Forward { WHEEL } else { -WHEEL };
            let Some(pane) = plan.pane_at(x, y) else { return };
            let height = usize::from(plan.list(pane).height);
            let derived = &state.derived;
            match pane {
                Pane::Queues => state.queues.scroll(&derived.queues, by, height),
                Pane::Nodes => state.nodes.scroll(&derived.nodes, by, height),
                Pane::Preemption => state.candidates.scroll(&derived.candidates, by, height),
                Pane::NodeDetail => state.detail_list.scroll(&derived.detail, by, height),
                Pane::PodDetail | Pane::Candidate | Pane::Budgets => {
                    let rows = derived.page(pane);
                    state.pages.entry(pane).or_default().scroll(rows, by, height);
                }
                Pane::Steps => walk(state, driver, direction, StepSize::Event),
                Pane::Message => state.message_offset = state.message_offset.saturating_add_signed(by.signum()),
            }
        }
    }
}

fn press(state: &mut State, driver: &mut dyn Driver, x: u16, y: u16) {
    let plan = state.plan();
    if let Some(pane) = crate::ui::panes::tab_at(state, &plan, x, y) {
        return focus(state, driver.timeline(), pane);
    }
    let Some(pane) = plan.pane_at(x, y) else { return };
    state.focus = pane;
    let list = plan.list(pane);
    if let Some(order) = heading_at(state, driver, pane, list, (x, y)) {
        // A second click goes back to the usual order.
        return state.sort(pane, if state.order(pane) == order { Order::Usual } else { order });
    }
    if !list.contains((x, y).into()) {
        return;
    }
    let row = usize::from(y - list.y);
    let derived = &state.derived;
    let (view, again) = match pane {
        Pane::Queues => {
            let at = state.queues.offset + row;
            state.queues.select(&derived.queues, at);
            state.subject = state.selected_pod().cloned();
            return;
        }
        Pane::Nodes => {
            let before = state.nodes.selected.clone();
            let hit = state.nodes.select(&derived.nodes, state.nodes.offset + row);
            (hit, before == state.nodes.selected)
        }
        Pane::Preemption => {
            let before = state.candidates.selected.clone();
            let hit = state.candidates.select(&derived.candidates, state.candidates.offset + row);
            (hit, before == state.candidates.selected)
        }
        Pane::NodeDetail => {
            state.detail_list.select(&derived.detail, state.detail_list.offset + row);
            return;
        }
        Pane::PodDetail | Pane::Candidate | Pane::Budgets => {
            let list = state.pages.entry(pane).or_default();
            let before = list.selected.clone();
            let hit = list.select(derived.page(pane), list.offset + row);
            (hit, before == list.selected)
        }
        Pane::Steps | Pane::Message => return,
    };
    // A click on what is selected already opens it.
    if view && again {
        open(state, driver);
    }
}

/// The order that the heading of a column at this place stands for.
fn heading_at(state: &State, driver: &dyn Driver, pane: Pane, list: Rect, (x, y): (u16, u16)) -> Option<Order> {
    let (columns, row) = match pane {
        Pane::Queues => {
            let first = state.derived.queues.get(state.queues.offset);
            let shown = matches!(first, Some(QueueRow::Part { .. }));
            (if shown { panes::queues::columns(list.width) } else { Vec::new() }, list.y)
        }
        Pane::Nodes => {
            let below = y.checked_sub(list.y).map(|row| state.nodes.offset + usize::from(row));
            let rejected = below.is_some_and(|at| state.derived.nodes.get(at) == Some(&NodeRow::Rejected));
            (panes::nodes::columns(state, !rejected, list.width), if rejected { y } else { list.y.checked_sub(1)? })
        }
        Pane::Preemption => {
            let preemption = driver.timeline().cycle().preemption.as_ref()?;
            (panes::preemption::columns(preemption, list.width), list.y.checked_sub(1)?)
        }
        Pane::NodeDetail => {
            let at = state.detail_list.offset + usize::from(y.checked_sub(list.y)?);
            let heading = matches!(state.derived.detail.get(at)?, DetailRow::Heading("pods on the node"));
            let info = state.detail.as_ref().and_then(|node| driver.timeline().moment().snapshot.get(node));
            (info.filter(|_| heading).map(|info| panes::node_detail::pod_columns(info, list.width))?, y)
        }
        Pane::Candidate | Pane::Budgets => {
            let at = state.pages.get(&pane)?.offset + usize::from(y.checked_sub(list.y)?);
            let PageRow::Titles(columns) = state.derived.page(pane).get(at)? else { return None };
            (columns.to_vec(), y)
        }
        Pane::Steps | Pane::Message | Pane::PodDetail => return None,
    };
    if y != row {
        return None;
    }
    let areas = table::areas(&columns, Rect { y: row, height: 1, ..list });
    let hit = columns.iter().zip(areas).find(|(_, area)| area.contains((x, y).into()))?;
    Order::of_heading(pane, hit.0.title)
}

fn scrub(state: &mut State, driver: &mut dyn Driver, x: u16) {
    let area = split_top(state.plan().scrub, 1).0;
    let (_, total) = driver.timeline().progress();
    let span = usize::from(area.width.max(2) - 1);
    let at = usize::from(x.saturating_sub(area.x)).min(span) * total / span;
    let starts = &state.derived.starts;
    // The end of one frame and the start of the next are one moment; it is called the end of the earlier.
    let frame = starts.partition_point(|s| *s < at).saturating_sub(1);
    let event = at - starts.get(frame).copied().unwrap_or(0);
    moved(state, driver, |d| d.timeline_mut().seek(Cursor { frame, event }));
}
