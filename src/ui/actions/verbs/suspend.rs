//! Suspends the program, as job control does.

use crate::ui::actions::prelude::*;
use crate::ui::model::effect::Effect;

/// `suspend`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["ctrl-z"], "", "to the shell; fg comes back"),
        keys(Context::OVERLAY, &["ctrl-z"], "", "to the shell"),
        keys(Context::PICKER, &["ctrl-z"], "", "to the shell"),
        keys(Context::START, &["ctrl-z"], "", "to the shell; fg comes back"),
    ],
    runs_on_ui_thread: |_| true,
    ..Verb::new("suspend", |_, _, _| Ok(Answer::Effect(Effect::Suspend)))
}];
