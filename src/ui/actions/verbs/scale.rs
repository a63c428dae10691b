//! Scales a workload.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::what_if;

/// The command `scale`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| if word.contains(' ') { Vec::new() } else { arguments::owners(session, word) },
        ..Command::new(&["scale"], "KIND/[NAMESPACE/]NAME N", "what if a workload had this many pods")
    }),
    ..Verb::new("scale", |state, session, args| what_if(state, session, "scale", args))
}];
