//! Shows what changed between two dumps of a series, of a live cluster since it was opened, or between a file and the source.

use crate::ui::actions::jobs;
use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::job::Job;

/// The command `diff`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command::new(
        &["diff"],
        "[FILE]",
        "the objects and decisions that changed between two dumps, in a live cluster since it was opened, or between a dump in a file and this",
    )),
    ..Verb::new("diff", |state, session, args| {
        let file = Some(args.trim()).filter(|file| !file.is_empty());
        jobs::begin(state, session, Job::Diff(file.map(str::to_owned)));
        Ok(Answer::Done)
    })
}];
