//! Goes to a lesson of the tour, or ends it.

use crate::ui::actions::prelude::*;
use crate::ui::model::tour::LESSONS;

/// The command `learn`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["learn"], "[N]", "to a lesson of the tour of demo learn; without a number, end or begin it")),
    ..Verb::new("learn", learn)
}];

fn learn(state: &mut State, _: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    state.lesson = match (args, state.lesson) {
        ("", Some(_)) => None,
        ("", None) => Some(0),
        (number, _) => match number.parse::<usize>() {
            Ok(n) if (1..=LESSONS.len()).contains(&n) => Some(n - 1),
            _ => return Err(CommandError::Number { command: "learn", last: LESSONS.len() }),
        },
    };
    Ok(Answer::Done)
}
