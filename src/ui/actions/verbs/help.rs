//! Lists keys and commands.

use crate::ui::actions::prelude::*;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::text_view::Viewport;

/// `help`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["?", "f1"], "help", "list the keys"),
        keys(Context::START, &["?", "f1"], "help", "list the keys, and what can be opened"),
    ],
    command: Some(Command::new(&["help", "h"], "[WORD]", "list keys and commands, or those about a word")),
    runs_on_ui_thread: |_| true,
    ..Verb::new("help", |state, _, word| {
        state.overlay = Some(Overlay::Help(Viewport { filter: word.to_owned(), ..Viewport::default() }));
        Ok(Answer::Done)
    })
}];
