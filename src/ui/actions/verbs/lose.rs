//! Loses nodes, with the pods on them.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{or_node, what_if};

/// The command `lose`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::node_labels_and_nodes(session, word),
        ..Command::new(&["lose"], "[LABEL=VALUE | NODE]", "what if nodes were lost, such as zone=a")
    }),
    ..Verb::new("lose", |state, session, args| {
        let lost = or_node(state, session, "lose", args)?;
        what_if(state, session, "lose", &lost)
    })
}];
