//! Compares all pending pods with the cluster's scheduler.

use crate::ui::actions::jobs;
use crate::ui::actions::prelude::*;
use crate::ui::model::job::Job;

/// `agreement`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["A"], "agreement", "compare all pending pods with the cluster's scheduler")],
    command: Some(Command::new(&["agreement"], "", "compare pending pods with the cluster's scheduler")),
    ..Verb::new("agreement", |state, session, _| {
        jobs::begin(state, session, Job::SchedulerMatch);
        Ok(Answer::Done)
    })
}];
