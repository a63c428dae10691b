//! Counts the odds of the decision at the cursor over all starting nodes of the search.

use crate::ui::actions::jobs;
use crate::ui::actions::prelude::*;
use crate::ui::model::job::Job;

/// The command `odds`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(
        &["odds"],
        "",
        "how likely each node is, over all starting nodes of the search; in clusters of 100 nodes or more",
    )),
    ..Verb::new("odds", |state, session, _| odds(state, session))
}];

fn odds(state: &mut State, session: &mut dyn SessionHandle) -> Result<Answer, CommandError> {
    if session.timeline().cycle().scoring.selected.is_none() {
        return Err(CommandError::NoNodeSelected);
    }
    let revision = session.timeline().cursor().revision;
    jobs::begin(state, session, Job::Odds(revision));
    Ok(Answer::Done)
}
