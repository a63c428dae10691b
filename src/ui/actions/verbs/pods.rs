//! Lists all pods.

use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::pane::Pane;
use crate::ui::view::panes::pods;

/// The command `pods`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(
        &["pods"],
        "[FILTER]",
        "all pods, or those that match, such as node:w1 owner:web priority:>9 state:pending",
    )),
    ..Verb::new("pods", |state, session, filter| {
        state.set_filter(Pane::PODS, filter.to_owned());
        (pods::DEF.visit)(&pods::DEF, state, session.timeline());
        Ok(Answer::Done)
    })
}];
