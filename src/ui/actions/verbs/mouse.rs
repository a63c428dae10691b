//! Switches the mouse on and off: without it, the terminal selects text as usual.

use crate::ui::actions::arguments;
use crate::ui::actions::prelude::*;
use crate::ui::model::effect::Effect;

/// The command `mouse`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |_, _, word| arguments::words(["on", "off"], word),
        ..Command::new(&["mouse"], "on | off", "use the mouse, or leave it to the terminal, which then selects text")
    }),
    runs_on_ui_thread: |_| true,
    ..Verb::new("mouse", |_, _, word| match word {
        "on" => Ok(Answer::Effect(Effect::Mouse(true))),
        "off" => Ok(Answer::Effect(Effect::Mouse(false))),
        _ => Err(CommandError::Usage { command: "mouse", args: "on | off" }),
    })
}];
