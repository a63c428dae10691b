//! Undoes and redoes what-ifs.

use crate::ui::actions::prelude::*;
use crate::ui::config::action::Action;
use crate::ui::model::time_travel::seek_and_follow;

/// `undo` and `redo`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["U"], "", "undo the last what-if; its branch is kept")],
        command: Some(Command::new(&["undo"], "", "undo the last what-if; its branch is kept")),
        ..Verb::new("undo", |state, session, _| {
            undo(state, session);
            Ok(Answer::Done)
        })
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["ctrl-r"], "", "redo the what-if that was undone")],
        command: Some(Command::new(&["redo"], "", "redo the what-if that was undone")),
        ..Verb::new("redo", |state, session, _| {
            redo(state, session);
            Ok(Answer::Done)
        })
    },
];

fn undo(state: &mut State, session: &mut dyn SessionHandle) {
    let mut what_ifs = std::mem::take(&mut state.what_ifs);
    let mut undone = None;
    seek_and_follow(state, session, |s| undone = what_ifs.undo(s));
    state.what_ifs = what_ifs;
    state.touch();
    let redo = state.settings.keymap.label(Context::GLOBAL, &Action::Verb("redo"));
    match undone {
        Some(title) => state.say(format!("undone: {title}; this is {}, {redo} redoes it", branch(session))),
        None => state.say("there is no what-if to undo"),
    }
}

fn redo(state: &mut State, session: &mut dyn SessionHandle) {
    let mut what_ifs = std::mem::take(&mut state.what_ifs);
    let mut redone = None;
    seek_and_follow(state, session, |s| redone = what_ifs.redo(s));
    state.what_ifs = what_ifs;
    state.touch();
    match redone {
        Some(title) => state.say(format!("redone: {title}; this is {}", branch(session))),
        None => state.say("there is no what-if to redo"),
    }
}

fn branch(session: &dyn SessionHandle) -> String {
    let (branches, current) = (session.branches(), session.current());
    branches.get(current).map_or_else(String::new, |branch| branch.name().to_owned())
}
