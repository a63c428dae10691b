//! Shows the budgets.

use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::view::panes::budgets;

/// The command `budgets`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["budgets"], "", "all budgets, and what preemption does to them")),
    ..Verb::new("budgets", |state, session, _| {
        (budgets::DEF.visit)(&budgets::DEF, state, session.timeline());
        Ok(Answer::Done)
    })
}];
