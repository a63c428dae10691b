//! Runs until nothing changes.

use crate::ui::actions::prelude::*;
use crate::ui::model::state::Running;

/// `settle`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["S"], "", "run until nothing changes; Esc stops it")],
    command: Some(Command::new(&["run"], "", "run until nothing changes")),
    ..Verb::new("settle", |state, _, _| {
        state.tasks.running = Some(Running { until: None, pieces: 0, events: 0 });
        Ok(Answer::Done)
    })
}];
