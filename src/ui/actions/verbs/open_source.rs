//! Opens another dump, or goes to the start screen.

use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::effect::Effect;

/// The commands `open` and `open!`, which does not ask.
pub static VERBS: &[Verb] = &[
    Verb {
        command: Some(Command::new(&["open", "o"], "[PATH]", "open another dump, or go to the start screen")),
        ..Verb::new("open-source", |state, _, args| {
            if state.what_ifs.unsaved {
                state.warn("what-ifs are not saved: :open! drops them, :save FILE keeps them");
                return Ok(Answer::Done);
            }
            Ok(open(args))
        })
    },
    Verb {
        command: Some(Command::new(&["open!"], "[PATH]", "open another dump without asking about unsaved what-ifs")),
        ..Verb::new("open-source-now", |_, _, args| Ok(open(args)))
    },
];

fn open(path: &str) -> Answer {
    Answer::Effect(Effect::Open((!path.is_empty()).then(|| path.to_owned())))
}
