//! Creates or updates the objects of a file.

use crate::ui::actions::edits::apply_edit;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::model::session_handle::Change;

/// The command `apply`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["apply"], "FILE", "create or update the objects in a file")),
    ..Verb::new("apply", |state, session, args| match args {
        "" => Err(CommandError::Needs { command: "apply", what: "a file" }),
        path => apply_edit(state, session, Change::File(path.to_owned())),
    })
}];
