//! Creates or updates the objects of a file.

use crate::ui::actions::edits::apply_edit;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::actions::what_if;
use crate::ui::model::session_handle::Change;

/// The command `apply`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["apply"], "FILE", "apply a manifest, and say where its pods would go")),
    ..Verb::new("apply", |state, session, args| match args {
        "" => Err(CommandError::Needs { command: "apply", what: "a file" }),
        path if what_if::manifest(state, session, path)? => Ok(Answer::Done),
        // Other objects make no pods.
        path => apply_edit(state, session, Change::File(path.to_owned())),
    })
}];
