//! Allows a pod that waits on Permit.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};

/// The command `allow`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::pods(session, args),
        ..Command::new(&["allow"], "[POD]", "let a pod that waits on Permit go on, by default the selected one")
    }),
    ..Verb::new("allow", |state, session, args| match (args, selected::pod(state, session)) {
        ("", Some(pod)) => edit_line(state, session, "allow", &pod.to_string()),
        _ => edit_line(state, session, "allow", args),
    })
}];
