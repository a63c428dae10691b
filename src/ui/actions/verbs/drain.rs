//! Drains nodes as `kubectl drain` would.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{or_node, what_if};

/// The command `drain`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| arguments::nodes(session, arguments::last(args)),
        ..Command::new(&["drain"], "[NODE...]", "what if nodes were drained: who moves where, who waits, which budget stops it")
    }),
    ..Verb::new("drain", |state, session, args| {
        let nodes = or_node(state, session, "drain", args)?;
        what_if(state, session, "drain", &nodes)
    })
}];
