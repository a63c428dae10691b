//! Takes one step forward or back; sets the step size by name.

use strum::IntoEnumIterator;

use crate::trace::StepSize;
use crate::ui::actions::arguments;
use crate::ui::actions::prelude::*;
use crate::ui::config::action::Direction;
use crate::ui::model::time_travel::{self, step_words};

/// `step` and `step-back`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["n", "space"], "step", "one step forward")],
        command: Some(Command {
            complete: |_, _, word| arguments::words(StepSize::iter().map(|g| g.to_string()), word),
            ..Command::new(&["step"], "[event|plugin|node|phase|extension-point|cycle]", "step, or set how far a step goes")
        }),
        ..Verb::new("step", step)
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["b", "N"], "back", "one step back")],
        ..Verb::new("step-back", |state, session, _| {
            time_travel::step(state, session, Direction::Back, state.step_size);
            Ok(Answer::Done)
        })
    },
];

fn step(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    if args.is_empty() {
        time_travel::step(state, session, Direction::Forward, state.step_size);
        return Ok(Answer::Done);
    }
    state.step_size = args.parse().map_err(|_| CommandError::Step(args.to_owned()))?;
    state.say(format!("one step is now {}", step_words(state.step_size)));
    Ok(Answer::Done)
}
