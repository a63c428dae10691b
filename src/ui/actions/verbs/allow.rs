//! Allows a pod that waits on Permit.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::verb::{Command, Verb};

/// The command `allow`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::pods(session, args),
        ..Command::new(&["allow"], "POD", "let a pod that waits on Permit go on")
    }),
    ..Verb::new("allow", |state, session, args| edit_line(state, session, "allow", args))
}];
