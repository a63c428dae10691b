//! Opens another dump, or goes to the start screen.

use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::effect::Effect;

/// The command `open`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(&["open", "o"], "[PATH]", "open another dump, or go to the start screen")),
    ..Verb::new("open-source", |_, _, args| Ok(Answer::Effect(Effect::Open((!args.is_empty()).then(|| args.to_owned())))))
}];
