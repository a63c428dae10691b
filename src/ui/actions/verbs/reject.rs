//! Rejects a pod that waits on Permit.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::verb::{Command, Verb};

/// The command `reject`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::pods(session, args),
        ..Command::new(&["reject"], "POD", "reject a pod waiting on Permit")
    }),
    ..Verb::new("reject", |state, session, args| edit_line(state, session, "reject", args))
}];
