//! Makes steps coarser or finer.

use strum::IntoEnumIterator;

use crate::trace::StepSize;
use crate::ui::actions::prelude::*;
use crate::ui::config::action::Direction;
use crate::ui::model::time_travel::step_words;

/// `coarser` and `finer`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["e"], "step size", "coarser steps: event, plugin, node, phase, extension point, cycle")],
        runs_on_ui_thread: |_| true,
        ..Verb::new("coarser", |state, _, _| {
            change(state, Direction::Forward);
            Ok(Answer::Done)
        })
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["E"], "", "finer steps")],
        runs_on_ui_thread: |_| true,
        ..Verb::new("finer", |state, _, _| {
            change(state, Direction::Back);
            Ok(Answer::Done)
        })
    },
];

fn change(state: &mut State, direction: Direction) {
    let all: Vec<StepSize> = StepSize::iter().collect();
    let at = all.iter().position(|g| *g == state.step_size).unwrap_or(0);
    let next = match direction {
        Direction::Forward => (at + 1) % all.len(),
        Direction::Back => (at + all.len() - 1) % all.len(),
    };
    state.step_size = all[next];
    state.say(format!("one step is now {}", step_words(state.step_size)));
}
