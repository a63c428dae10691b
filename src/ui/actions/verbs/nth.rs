//! Selects a numbered line of a text: a fix by its number.

use crate::ui::actions::prelude::*;
use crate::ui::model::overlay::Overlay;

/// A verb for each digit.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::OVERLAY, &["1"], "", "select the first fix, or line that leads somewhere")],
        ..Verb::new("select-first", |state, _, _| Ok(select(state, 1)))
    },
    Verb { keys: &[keys(Context::OVERLAY, &["2"], "", "the second")], ..Verb::new("select-second", |state, _, _| Ok(select(state, 2))) },
    Verb { keys: &[keys(Context::OVERLAY, &["3"], "", "the third")], ..Verb::new("select-third", |state, _, _| Ok(select(state, 3))) },
    Verb { keys: &[keys(Context::OVERLAY, &["4"], "", "the fourth")], ..Verb::new("select-fourth", |state, _, _| Ok(select(state, 4))) },
    Verb { keys: &[keys(Context::OVERLAY, &["5"], "", "the fifth")], ..Verb::new("select-fifth", |state, _, _| Ok(select(state, 5))) },
    Verb { keys: &[keys(Context::OVERLAY, &["6"], "", "the sixth")], ..Verb::new("select-sixth", |state, _, _| Ok(select(state, 6))) },
    Verb { keys: &[keys(Context::OVERLAY, &["7"], "", "the seventh")], ..Verb::new("select-seventh", |state, _, _| Ok(select(state, 7))) },
    Verb { keys: &[keys(Context::OVERLAY, &["8"], "", "the eighth")], ..Verb::new("select-eighth", |state, _, _| Ok(select(state, 8))) },
    Verb { keys: &[keys(Context::OVERLAY, &["9"], "", "the ninth")], ..Verb::new("select-ninth", |state, _, _| Ok(select(state, 9))) },
];

/// Selects the line of a number among those in sight of the filter that lead somewhere.
fn select(state: &mut State, number: usize) -> Answer {
    if let Some(Overlay::Text(text)) = &mut state.overlay {
        let mut links = text.shown().into_iter().filter(|at| text.links.contains_key(at));
        match links.nth(number - 1) {
            Some(at) => text.view.selected = Some(at),
            None => state.say(format!("there is no line {number} to select")),
        }
    }
    Answer::Done
}
