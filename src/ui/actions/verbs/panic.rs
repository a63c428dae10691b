//! Panics, to test that the terminal is restored. Debug builds only, not listed.

use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::effect::Effect;

/// The command `panic`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["panic"], "", "")),
    ..Verb::new("panic", |_, _, args| Ok(Answer::Effect(Effect::Panic { in_thread: args == "beside" })))
}];
