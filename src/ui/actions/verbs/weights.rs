//! Gives score plugins other weights.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::what_if;

/// The command `weights`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::plugins(session, arguments::last(args)),
        ..Command::new(&["weights"], "PLUGIN=N...", "what if score plugins had other weights")
    }),
    ..Verb::new("weights", |state, session, args| what_if(state, session, "weights", args))
}];
