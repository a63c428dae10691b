//! Sorts the list of the pane in focus in its next order.

use crate::ui::actions::prelude::*;
use crate::ui::model::sort;
use crate::ui::view::panes;

/// `sort`.
pub static VERBS: &[Verb] = &[Verb {
    pane_keys: |def| (!def.sort_help.is_empty()).then(|| keys(def.context, &["o"], "", def.sort_help)),
    runs_on_ui_thread: |_| true,
    ..Verb::new("sort", |state, _, _| {
        next(state);
        Ok(Answer::Done)
    })
}];

fn next(state: &mut State) {
    let def = panes::def(state.focus);
    match def.choice(sort::next(def.sorts, state.sort_of(def.id))) {
        Some(choice) => state.sort(def.id, choice),
        None => state.say("there is no list to sort here"),
    }
}
