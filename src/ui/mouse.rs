//! What the mouse does: it selects, opens, scrolls and drags the scrub bar.

use crate::session::Cursor;
use crate::trace::Granularity;
use crate::ui::action::{Direction, Motion, Mouse, Pane};
use crate::ui::driver::Driver;
use crate::ui::layout::split_top;
use crate::ui::state::State;
use crate::ui::update::{focus, go, moved, open, step};

/// Lines the wheel scrolls.
const WHEEL: isize = 3;

pub(super) fn mouse(state: &mut State, driver: &mut dyn Driver, mouse: Mouse, x: u16, y: u16) {
    let plan = state.plan();
    if state.overlay.is_some() {
        if let Mouse::Scroll(direction) = mouse {
            let motion = if direction == Direction::Forward { Motion::Down } else { Motion::Up };
            go(state, driver, motion);
        }
        return;
    }
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
                Pane::Steps => step(state, driver, direction, Granularity::Event),
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
        Pane::Steps | Pane::Message => return,
    };
    // A click on what is selected already opens it.
    if view && again {
        open(state, driver);
    }
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
