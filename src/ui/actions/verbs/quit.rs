//! Exits.

use crate::ui::actions::prelude::*;
use crate::ui::config::action::Action;
use crate::ui::model::effect::Effect;

/// `quit`, and the command `q!`, which does not ask.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["q", "ctrl-c"], "quit", "quit; asks once if what-ifs are unsaved"),
            keys(Context::OVERLAY, &["ctrl-c"], "", "leave"),
            keys(Context::PICKER, &["ctrl-c"], "", "leave"),
            keys(Context::START, &["q", "ctrl-c"], "quit", "leave"),
        ],
        command: Some(Command::new(&["quit", "q"], "", "quit; asks once if what-ifs are unsaved")),
        runs_on_ui_thread: |_| true,
        ..Verb::new("quit", |state, _, _| Ok(quit(state)))
    },
    Verb {
        command: Some(Command::new(&["quit!", "q!"], "", "quit without asking")),
        ..Verb::new("quit-now", |_, _, _| Ok(Answer::Effect(Effect::Quit)))
    },
];

/// Leaves; asks once if there are unsaved what-ifs, or right after the same key closed a text.
fn quit(state: &mut State) -> Answer {
    let asked = std::mem::replace(&mut state.asked_to_leave, true);
    let closed = std::mem::take(&mut state.closed_text);
    let key = state.settings.keymap.label(Context::GLOBAL, &Action::QUIT);
    let key = key.split(' ').next().unwrap_or_default();
    match () {
        () if asked => Answer::Effect(Effect::Quit),
        () if state.what_ifs.unsaved => {
            state.warn(format!("what-ifs are not saved: {key} again drops them, :save FILE keeps them"));
            Answer::Done
        }
        () if closed => {
            state.say(format!("{key} again leaves"));
            Answer::Done
        }
        () => Answer::Effect(Effect::Quit),
    }
}
