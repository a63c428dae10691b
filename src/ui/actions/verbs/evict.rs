//! Evicts a pod.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{or_pod, what_if};

/// The command `evict`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::pods_on_nodes(session, word),
        ..Command::new(&["evict"], "[POD]", "what if a pod were evicted, as its budgets allow")
    }),
    ..Verb::new("evict", |state, session, args| {
        let pod = or_pod(state, session, args)?;
        what_if(state, session, "evict", &pod)
    })
}];
