//! Taints a node, or removes a taint.

use crate::ui::actions::arguments;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{what_if, with_first};

/// The command `taint`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| if word.contains(' ') { Vec::new() } else { arguments::nodes(session, word) },
        ..Command::new(&["taint"], "[NODE] KEY[=VALUE]:EFFECT | KEY-", "what if a node had a taint, or lacked it")
    }),
    ..Verb::new("taint", |state, session, args| {
        let args = with_first(args, || selected::node(state, session).map(|node| node.to_string()));
        what_if(state, session, "taint", &args)
    })
}];
