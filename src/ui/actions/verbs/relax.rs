//! Lets a budget allow every disruption.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Command, Verb};
use crate::ui::actions::what_if::{or_budget, what_if};

/// The command `relax`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::budgets(session, word),
        ..Command::new(&["relax"], "[BUDGET]", "what if a budget allowed every disruption")
    }),
    ..Verb::new("relax", |state, session, args| {
        let budget = or_budget(state, args)?;
        what_if(state, session, "relax", &budget)
    })
}];
