//! Goes to the overview of pending pods.

use crate::ui::actions::overview;
use crate::ui::actions::verb::{Answer, Command, Verb};

/// The command `overview`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["overview"], "", "all pending pods by cause, and the fix that frees most of each")),
    ..Verb::new("overview", |state, session, _| {
        overview::go(state, session);
        Ok(Answer::Done)
    })
}];
