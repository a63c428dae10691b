//! Makes the view model anew after a change, in three steps, each of which includes the one before: [`State::derive`] derives what all panes
//! share, [`refresh`] the rows of the panes, and [`renew`] also what only the session can answer.

use crate::session::Timeline;
use crate::ui::model::filter::Filter;
use crate::ui::model::list::RowList;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::page::PageInput;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::view::layout::Plan;
use crate::ui::view::pane::{PaneDef, Rows};
use crate::ui::view::panes::PANES;
use crate::ui::view::{highlight, panes};

/// Derives the view model again if the record changed, and keeps selections on existing rows in sight.
pub fn refresh(state: &mut State, timeline: &Timeline) {
    let outdated = std::mem::take(&mut state.outdated);
    let is_derived = state.derive(timeline);
    for pane in PANES.iter().filter(|pane| is_derived || outdated.contains(&pane.id)) {
        match pane.rows {
            Rows::List { make, .. } => make_filtered(state, timeline, pane, make),
            Rows::Page(_) => {
                state.choices.scattered.remove(&pane.id);
                state.view_model.forget_page(pane.id);
            }
            Rows::None => {}
        }
    }
    if is_derived {
        end_filters(state, timeline);
    }
    let plan = Plan::of(state);
    for pane in PANES {
        let area = pane.list_in(&plan);
        match pane.rows {
            Rows::None => {}
            Rows::List { .. } => settle(state, pane, area.height),
            Rows::Page(make) if !area.is_empty() => {
                let subject = (pane.subject)(state, timeline);
                let mut model = std::mem::take(&mut state.view_model);
                let mut scattered = false;
                model.renew_page(pane.id, area.width, subject.as_ref(), |model| {
                    let input = PageInput {
                        timeline,
                        whole: &model.cycle.whole,
                        width: usize::from(area.width),
                        open: &state.choices.open_budgets,
                        order: state.sort_of(pane.id),
                    };
                    let rows = |only| make(&input, subject.as_ref(), &mut Filter::new(state.filter(pane.id)).only_substrings(only));
                    let found = rows(true);
                    scattered = found.is_empty() && !state.filter(pane.id).is_empty();
                    if scattered { rows(false) } else { found }
                });
                state.view_model = model;
                if scattered {
                    state.choices.scattered.insert(pane.id);
                }
                settle(state, pane, area.height);
            }
            Rows::Page(_) => {}
        }
    }
    let node = (panes::def(state.focus).node)(state, timeline);
    let linked_of = Some((state.focus, state.selected_row().cloned(), node.clone()));
    if is_derived || state.view_model.linked.of != linked_of {
        state.view_model.linked.rows = highlight::linked(state, timeline, node);
        state.view_model.linked.of = linked_of;
    }
    state.derive_activity(timeline);
}

/// Makes the rows of a pane: those that contain the words of its filter, or else those with their letters in order.
fn make_filtered(state: &mut State, timeline: &Timeline, pane: &PaneDef, make: fn(&mut State, &Timeline)) {
    state.choices.scattered.remove(&pane.id);
    make(state, timeline);
    let is_empty = || {
        let rows = pane.list(&state.view_model);
        (0..rows.count()).all(|at| rows.id_at(at).is_none())
    };
    if !state.filter(pane.id).is_empty() && is_empty() {
        state.choices.scattered.insert(pane.id);
        make(state, timeline);
    }
}

/// Ends the filters that match nothing of a decision that came into sight: they were about another one.
fn end_filters(state: &mut State, timeline: &Timeline) {
    if !state.view_model.revision.is_other || matches!(state.overlay, Some(Overlay::Prompt(_))) {
        return;
    }
    for pane in [Pane::NODES, Pane::PREEMPTION] {
        let def = panes::def(pane);
        let rows = def.list(&state.view_model);
        let Rows::List { make, .. } = def.rows else { continue };
        if !state.filter(pane).is_empty() && (0..rows.count()).all(|at| rows.id_at(at).is_none()) {
            make_without_filter(state, timeline, pane, make);
        }
    }
}

fn make_without_filter(state: &mut State, timeline: &Timeline, pane: Pane, make: fn(&mut State, &Timeline)) {
    let Some(filter) = state.choices.filters.remove(&pane) else { return };
    make(state, timeline);
    let is_empty = {
        let rows = panes::def(pane).list(&state.view_model);
        (0..rows.count()).all(|at| rows.id_at(at).is_none())
    };
    if is_empty {
        // Nothing was hidden: the filter waits for rows.
        state.choices.filters.insert(pane, filter);
    } else {
        state.say(format!("{}: the filter /{filter} matched nothing here and has ended", pane.name.to_lowercase()));
    }
}

fn settle(state: &mut State, pane: &PaneDef, height: u16) {
    let rows: &dyn RowList = pane.list(&state.view_model);
    state.lists.entry(pane.id).or_default().settle(rows, usize::from(height));
}

/// Refreshes, and runs all Filter plugins for the open node if its pane is in sight.
pub fn renew(state: &mut State, session: &dyn SessionHandle) {
    refresh(state, session.timeline());
    let pod = state.view_model.cycle.whole.start.as_ref().map(|start| start.pod.clone());
    let is_reported = pod.is_some_and(|pod| session.written(&pod).is_some());
    if is_reported != state.view_model.cycle.is_reported {
        state.view_model.cycle.is_reported = is_reported;
        refresh(state, session.timeline());
    }
    if !panes::def(Pane::NODE).list_in(&Plan::of(state)).is_empty() && state.ask_filters(session) {
        refresh(state, session.timeline());
    }
}
