//! Gives a pod another priority.

use crate::ui::actions::arguments;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{what_if, with_first};

/// The command `priority`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, args| match args.split_once(' ') {
            None => arguments::pods(session, args),
            Some((_, word)) => arguments::priority_classes(session, word),
        },
        ..Command::new(&["priority"], "[POD] N | PRIORITYCLASS", "what if a pod had another priority")
    }),
    ..Verb::new("priority", |state, session, args| {
        // The names of classes have no slash: the one word is a pod, and its priority is missing.
        if args.contains('/') && !args.contains(char::is_whitespace) {
            return Err(CommandError::Needs { command: "priority", what: "a number or a PriorityClass after the pod" });
        }
        let args = with_first(args, || selected::pod(state, session).map(|pod| pod.to_string()));
        what_if(state, session, "priority", &args)
    })
}];
