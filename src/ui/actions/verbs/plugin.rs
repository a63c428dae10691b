//! Disables a plugin.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::what_if;

/// The command `plugin`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| match args.split_once(' ') {
            None => arguments::words(["off"], args),
            Some((_, word)) => arguments::plugins(session, word),
        },
        ..Command::new(&["plugin"], "off NAME", "what if a plugin were off")
    }),
    ..Verb::new("plugin", |state, session, args| what_if(state, session, "plugin", args))
}];
