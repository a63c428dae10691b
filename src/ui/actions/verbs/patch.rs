//! Changes an object.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};

/// The command `patch`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::kind_and_name(session, args),
        ..Command::new(&["patch"], "[KIND NAME] JSON", "change an object, by default the selected one, by a JSON merge patch")
    }),
    ..Verb::new("patch", |state, session, args| match selected::object(state, session).filter(|_| args.starts_with('{')) {
        Some(object) => edit_line(state, session, "patch", &format!("{object} {args}")),
        None => edit_line(state, session, "patch", args),
    })
}];
