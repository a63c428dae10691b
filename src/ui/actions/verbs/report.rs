//! Lists the objects read from the source, and its gaps.

use crate::ui::actions::prelude::*;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::text_view::{Form, TextView};

/// `report`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["i"], "", "what was read from the source, and what was not")],
    command: Some(Command::new(&["report"], "", "what was read from the source")),
    runs_on_ui_thread: |_| true,
    ..Verb::new("report", |state, session, _| {
        let body = state.settings.report(session.report_lines());
        state.overlay = Some(Overlay::Text(TextView::new(format!("Source: {}", session.source()), body, Form::Prose)));
        Ok(Answer::Done)
    })
}];
