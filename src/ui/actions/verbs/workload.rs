//! Shows how far the pods of a workload come.

use crate::ui::actions::prelude::*;
use crate::ui::actions::selected;
use crate::ui::view::panes::overview::show_workload;

/// The command `workload`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(
        &["workload"],
        "[KIND/NAME]",
        "how far the pods of a workload come, past quotas and admission to nodes, by default of the selected pod's",
    )),
    ..Verb::new("workload", show)
}];

fn show(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let pod = selected::pod(state, session);
    match session.workload_named(args.trim(), pod.as_ref()) {
        Some(workload) => {
            show_workload(state, session, &workload);
            Ok(Answer::Done)
        }
        None if args.trim().is_empty() => Err(CommandError::Needs { command: "workload", what: "a kind and name, such as deploy/web" }),
        None => Err(CommandError::NoWorkload(args.trim().to_owned(), session.workloads_unknown())),
    }
}
