//! Shows what changed between two dumps of a series, or of a live cluster since it was opened.

use crate::ui::actions::jobs;
use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::session_handle::Job;

/// The command `diff`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(
        &["diff"],
        "",
        "the objects and decisions that changed between two dumps, or in a live cluster since it was opened",
    )),
    ..Verb::new("diff", |state, session, _| {
        jobs::begin(state, session, Job::Diff);
        Ok(Answer::Done)
    })
}];
