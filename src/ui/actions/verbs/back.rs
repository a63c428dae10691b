//! Closes the overlay, clears a filter, or goes back.

use crate::ui::actions::prelude::*;
use crate::ui::actions::theme_list;
use crate::ui::model::overlay::{Overlay, Prompt, Typing};
use crate::ui::model::pane::Pane;
use crate::ui::view::panes;

/// `back` and `close`.
pub static VERBS: &[Verb] = &[
    CLOSE,
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["esc"], "", "clear the filter, leave the zoom, or go back"),
            keys(Context::OVERLAY, &["esc", "?"], "close", "close"),
            keys(Context::PICKER, &["esc"], "restore", "restore the previous theme"),
            keys(Context::START, &["esc"], "", "clear the filter"),
            keys(Context::PROMPT, &["esc", "ctrl-c"], "cancel", "cancel"),
        ],
        pane_keys: |def| def.back_help.map(|help| keys(def.context, &["h", "left"], "return", help)),
        runs_on_ui_thread: |state| matches!(state.overlay, Some(Overlay::Themes { .. })),
        ..Verb::new("back", |state, session, _| {
            if matches!(state.overlay, Some(Overlay::Themes { .. })) {
                return Ok(theme_list::undo(state));
            }
            back(state, session);
            Ok(Answer::Done)
        })
    },
];

/// Closes a text or a list by the key that leaves elsewhere.
const CLOSE: Verb = Verb {
    keys: &[keys(Context::OVERLAY, &["q"], "", "close"), keys(Context::PICKER, &["q"], "", "restore the previous theme")],
    runs_on_ui_thread: |state| matches!(state.overlay, Some(Overlay::Themes { .. })),
    ..Verb::new("close", |state, session, _| {
        state.closed_text = true;
        if matches!(state.overlay, Some(Overlay::Themes { .. })) {
            return Ok(theme_list::undo(state));
        }
        back(state, session);
        Ok(Answer::Done)
    })
};

fn back(state: &mut State, session: &mut dyn SessionHandle) {
    if state.overlay.is_none() && state.tasks.working.take().is_some() {
        return state.say("stopped");
    }
    match state.overlay.take() {
        Some(Overlay::Prompt(Prompt { typing: Typing::Filter(pane), before, .. })) => state.set_filter(pane, before),
        Some(Overlay::Prompt(Prompt { typing: Typing::Over(mut over), before, .. })) => {
            over.set_filter(before);
            state.overlay = Some(*over);
        }
        Some(mut over) if !over.filter().is_empty() => {
            over.set_filter(String::new());
            state.overlay = Some(over);
        }
        Some(_) => {}
        None if !state.filter(state.focus).is_empty() => state.set_filter(state.focus, String::new()),
        None if state.arrangement.zoomed => state.arrangement.zoomed = false,
        None if state.arrangement.whole == Some(Pane::OVERVIEW) && state.overview.runs => {
            session.stop_overview();
            state.say("stopped");
        }
        None if state.came_from_text() || state.came_from_whole() => {
            state.go_back();
        }
        None => {
            if state.go_back() {
                return;
            }
            let Some(home) = panes::def(state.focus).home else { return };
            state.show(home);
            state.focus = home;
        }
    }
}
