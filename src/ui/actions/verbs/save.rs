//! Saves the session.

use crate::ui::actions::prelude::*;

/// The command `save`.
pub static VERBS: &[Verb] =
    &[Verb { command: Some(Command::new(&["save"], "FILE", "save the session; open reads it")), ..Verb::new("save", save) }];

fn save(state: &mut State, session: &mut dyn SessionHandle, path: &str) -> Result<Answer, CommandError> {
    if path.is_empty() {
        return Err(CommandError::Needs { command: "save", what: "a file" });
    }
    session.save(path)?;
    state.what_ifs.unsaved = false;
    state.say(format!("saved to {path}; schedscope open {path} goes on from here"));
    Ok(Answer::Done)
}
