//! Opens the command prompt.

use crate::ui::actions::prelude::*;
use crate::ui::model::overlay::Typing;

/// `command`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &[":"], "command", "give a command"),
        keys(Context::START, &["o", ":"], "path", "type the path of a dump"),
    ],
    runs_on_ui_thread: |_| true,
    ..Verb::new("command", |state, _, _| {
        state.exporting = None;
        Ok(Answer::Prompt(Typing::Command, ""))
    })
}];
