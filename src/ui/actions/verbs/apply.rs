//! Applies the objects of a file.

use crate::ui::actions::prelude::*;
use crate::ui::actions::what_if;

/// The command `apply`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["apply"], "FILE", "apply a manifest, and say where its pods would go")),
    ..Verb::new("apply", |state, session, args| match args {
        "" => Err(CommandError::Needs { command: "apply", what: "a file" }),
        path => what_if::apply_file(state, session, path),
    })
}];
