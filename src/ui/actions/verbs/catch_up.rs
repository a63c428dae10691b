//! Goes to the end of a live cluster and applies its pending changes.

use crate::ui::actions::prelude::*;
use crate::ui::model::time_travel::seek_and_follow;

/// `catch-up`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["R"], "", "a live cluster: to its end, with what has changed")],
    ..Verb::new("catch-up", catch_up)
}];

fn catch_up(state: &mut State, session: &mut dyn SessionHandle, _: &str) -> Result<Answer, CommandError> {
    let mut answer = None;
    seek_and_follow(state, session, |s| answer = Some(s.catch_up()));
    state.touch();
    let Some(result) = answer else { return Ok(Answer::Done) };
    let caught_up = result?;
    state.say(match (caught_up.dropped, caught_up.changed) {
        (true, _) => "at the current state of the cluster; the record before it was full and is dropped",
        (false, true) => "at the current state of the cluster",
        (false, false) => "nothing new: at the current state of the cluster",
    });
    Ok(Answer::Done)
}
