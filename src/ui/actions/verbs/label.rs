//! Labels a node, or removes a label.

use crate::ui::actions::arguments;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{what_if, with_first};

/// The command `label`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| if word.contains(' ') { Vec::new() } else { arguments::nodes(session, word) },
        ..Command::new(&["label"], "[NODE] KEY=VALUE | KEY-", "what if a node had a label, or lacked it")
    }),
    ..Verb::new("label", |state, session, args| {
        let args = with_first(args, || selected::node(state, session).map(|node| node.to_string()));
        what_if(state, session, "label", &args)
    })
}];
