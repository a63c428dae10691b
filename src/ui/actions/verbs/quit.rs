//! Exits.

use crate::ui::actions::verb::{Answer, Command, Verb, keys};
use crate::ui::config::context::Context;
use crate::ui::model::effect::Effect;

/// `quit`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["q", "ctrl-c"], "quit", "leave"),
        keys(Context::OVERLAY, &["ctrl-c"], "", "leave"),
        keys(Context::PICKER, &["ctrl-c"], "", "leave"),
        keys(Context::START, &["q", "ctrl-c"], "quit", "leave"),
    ],
    command: Some(Command::new(&["quit", "q", "q!", "wq"], "", "leave")),
    runs_on_ui_thread: |_| true,
    ..Verb::new("quit", |_, _, _| Ok(Answer::Effect(Effect::Quit)))
}];
