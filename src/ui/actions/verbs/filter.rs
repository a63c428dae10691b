//! Filters the list of the pane in focus, or the lines of an overlay.

use crate::ui::actions::prelude::*;
use crate::ui::model::overlay::Typing;
use crate::ui::view::panes::{self, overview};

/// `filter`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["/"], "filter", "filter the list"),
        keys(
            overview::CONTEXT,
            &["/"],
            "filter",
            "filter: words, and cause: plugin: reason: queue: namespace: priority:>9 age:>1h, ! for not",
        ),
        keys(Context::OVERLAY, &["/"], "filter", "keep only lines that match"),
        keys(Context::START, &["/"], "filter", "filter the list"),
    ],
    runs_on_ui_thread: |_| true,
    ..Verb::new("filter", |state, _, _| {
        if let Some(over) = state.overlay.take() {
            return Ok(Answer::Prompt(Typing::Over(Box::new(over)), ""));
        }
        if panes::def(state.focus).has_list() {
            return Ok(Answer::Prompt(Typing::Filter(state.focus), ""));
        }
        state.say("there is no list to filter here");
        Ok(Answer::Done)
    })
}];
