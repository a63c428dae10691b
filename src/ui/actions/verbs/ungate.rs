//! Removes a pod's scheduling gates.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{or_pod, what_if};

/// The command `ungate`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::pods(session, word),
        ..Command::new(&["ungate"], "[POD]", "what if a pod had no scheduling gates")
    }),
    ..Verb::new("ungate", |state, session, args| {
        let pod = or_pod(state, session, args)?;
        what_if(state, session, "ungate", &pod)
    })
}];
