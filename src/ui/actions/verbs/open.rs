//! Opens the selected row of a pane, or follows the selected line of a text.

use crate::ui::actions::prelude::*;
use crate::ui::actions::verbs::{branch, breakpoint, evicted};
use crate::ui::actions::{edits, overview, theme_list};
use crate::ui::model::list::{ListView, RowId};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::Change;
use crate::ui::model::text_view::Target;
use crate::ui::model::time_travel::show_pod;
use crate::ui::view::panes;

/// `open`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::OVERLAY, &["enter"], "go", "go to the line that is selected; close where there is none"),
        keys(Context::PICKER, &["enter"], "keep", "keep it"),
        keys(Context::START, &["enter", "l", "right"], "open", "open what is selected"),
    ],
    pane_keys: |def| def.open_help.map(|(short, help)| keys(def.context, &["enter", "l", "right"], short, help)),
    runs_on_ui_thread: |state| matches!(state.overlay, Some(Overlay::Themes { .. })),
    ..Verb::new("open", open)
}];

/// Opens the selected row. An overlay is closed, and the selected line of a text is followed.
pub fn open(state: &mut State, session: &mut dyn SessionHandle, _: &str) -> Result<Answer, CommandError> {
    if matches!(state.overlay, Some(Overlay::Themes { .. })) {
        return Ok(theme_list::keep(state));
    }
    let text = match state.overlay.take() {
        Some(Overlay::Text(text)) => text,
        Some(_) => return Ok(Answer::Done),
        None => {
            match state.selected_row() {
                // Its changes are shown before they are made.
                Some(RowId::CauseFix(_)) if state.focus == Pane::OVERVIEW => drop(overview::show_fix(state)),
                _ => (panes::def(state.focus).open)(state, session),
            }
            return Ok(Answer::Done);
        }
    };
    let Some(target) = text.view.selected.and_then(|at| text.links.get(&at).cloned()) else { return Ok(Answer::Done) };
    // A fix that was applied is not one of the branch it made.
    if !matches!(target, Target::Fix(_)) {
        state.leave_text(text);
    }
    match target {
        Target::Pod(pod) => {
            if !show_pod(state, session, &pod) {
                state.open_pod(pod);
            }
        }
        Target::Node(node) => state.open_node(node),
        Target::Branch(to) => branch::switch(state, session, to),
        Target::Breakpoint(at) => breakpoint::remove(state, session, at),
        Target::Fix(fix) => {
            edits::apply(state, session, Change::Fix(fix))?;
            // The row of the fix may now be another fix, which was not chosen.
            if let Some(RowId::CauseFix(cause)) = state.list(Pane::OVERVIEW).selected.clone() {
                *state.list_mut(Pane::OVERVIEW) = ListView::at(RowId::Cause(cause));
            }
        }
        Target::Leaving(seen) => evicted::show(state, session, seen),
        Target::Recorded(pod) => _ = evicted::show_recorded(state, session, &pod),
    }
    Ok(Answer::Done)
}
