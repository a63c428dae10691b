//! Compares two branches.

use crate::ui::actions::jobs;
use crate::ui::actions::prelude::*;
use crate::ui::model::job::Job;

/// `compare`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["="], "compare", "compare this branch with the one it left"),
        keys(Context::OVERLAY, &["="], "compare", "close, and compare this branch with the one it left"),
    ],
    command: Some(Command::new(&["compare"], "[N]", "compare this branch with another, or the one it left")),
    ..Verb::new("compare", compare)
}];

/// Compares this branch with another: by default its parent, or else the newest.
fn compare(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let with = match args {
        "" => None,
        text => Some(text.parse::<usize>().ok().and_then(|n| n.checked_sub(1)).ok_or_else(|| CommandError::Branch(text.to_owned()))?),
    };
    let (all, current) = (session.branches(), session.current());
    let with = with.or_else(|| all.get(current)?.forked().map(|f| f.branch)).unwrap_or(all.len().saturating_sub(1));
    if all.len() < 2 {
        state.say("nothing to compare yet: :drain NODE begins a branch, and so does a change in the past");
    } else if with == current {
        state.warn("this is the branch itself");
    } else if with >= all.len() {
        state.warn(format!("there are {} branches", all.len()));
    } else {
        // The answer of a what-if leads on to the comparison, which waits for no text to be closed.
        state.overlay = None;
        jobs::begin(state, session, Job::Compare(with, current));
    }
    Ok(Answer::Done)
}
