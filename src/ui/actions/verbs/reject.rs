//! Rejects a pod that waits on Permit.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};

/// The command `reject`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::pods(session, args),
        ..Command::new(&["reject"], "[POD]", "reject a pod waiting on Permit, by default the selected one")
    }),
    ..Verb::new("reject", |state, session, args| match (args, selected::pod(state, session)) {
        ("", Some(pod)) => edit_line(state, session, "reject", &pod.to_string()),
        _ => edit_line(state, session, "reject", args),
    })
}];
