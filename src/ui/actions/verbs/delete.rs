//! Deletes an object.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};

/// The command `delete`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::kind_and_name(session, args),
        ..Command::new(&["delete"], "[KIND NAME]", "delete an object, by default the selected one")
    }),
    ..Verb::new("delete", |state, session, args| match (args, selected::object(state, session)) {
        ("", Some(object)) => edit_line(state, session, "delete", &object),
        _ => edit_line(state, session, "delete", args),
    })
}];
