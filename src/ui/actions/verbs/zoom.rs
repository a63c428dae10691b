//! Shows the pane in focus on the whole screen, and all panes again.

use crate::ui::actions::prelude::*;

/// `zoom`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["+"], "zoom", "the pane in focus on the whole screen, and back")],
    runs_on_ui_thread: |_| true,
    ..Verb::new("zoom", |state, _, _| {
        state.arrangement.zoomed = !state.arrangement.zoomed;
        Ok(Answer::Done)
    })
}];
