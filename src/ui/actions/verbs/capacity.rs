//! Counts how many more of a pod fit.

use crate::ui::actions::arguments;
use crate::ui::actions::jobs;
use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::actions::what_if::or_pod;
use crate::ui::model::session_handle::Job;
use crate::whatif::pod_named;

/// The command `capacity`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::pods(session, word),
        ..Command::new(&["capacity"], "[POD]", "how many more of this pod fit, and what stops the next")
    }),
    ..Verb::new("capacity", |state, session, args| {
        let name = or_pod(state, session, args)?;
        let pod = pod_named(&session.timeline().keyframe().cluster, &name)?.key();
        jobs::begin(state, session, Job::Capacity(pod));
        Ok(Answer::Done)
    })
}];
