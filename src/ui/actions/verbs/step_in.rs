//! Starts stepping through the decision about the selected pod.

use crate::session::Cursor;
use crate::ui::actions::prelude::*;
use crate::ui::config::action::Action;
use crate::ui::model::not_waiting::NotWaiting;
use crate::ui::model::pane::Pane;
use crate::ui::model::time_travel::{open_decision, seek_and_follow};
use crate::ui::view::panes::{page, queues};

/// `step-in`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(queues::CONTEXT, &["s"], "step in", "start stepping through the selected pod's decision"),
        keys(page::CONTEXT, &["s"], "", "start stepping through the decision of the pod on the page"),
    ],
    ..Verb::new("step-in", |state, session, _| {
        step_in(state, session);
        Ok(Answer::Done)
    })
}];

/// Decides about the selected pod at the cursor, and seeks the start of the decision.
fn step_in(state: &mut State, session: &mut dyn SessionHandle) {
    let on_page = state.subjects.pod.clone().filter(|_| state.focus == Pane::POD);
    let Some(pod) = on_page.or_else(|| state.selected_pod().cloned()) else { return };
    let timeline = session.timeline();
    let is_queued = timeline.queues().entries.contains_key(&pod);
    if let Some(why) = NotWaiting::of(timeline, &pod).filter(|_| !is_queued && state.focus == Pane::POD) {
        return state.warn(format!("{pod} {why}"));
    }
    let mut found = false;
    seek_and_follow(state, session, |s| {
        if let Some(revision) = s.explain(&pod) {
            found = true;
            s.timeline_mut().seek(Cursor { revision, event: 0 });
        }
    });
    state.touch();
    if found {
        open_decision(state, &pod);
        let key = |action| state.settings.keymap.label(Context::GLOBAL, &action);
        let (step, cycle) = (key(Action::STEP), key(Action::CYCLE));
        state.say(format!("before the decision about {pod}: {step} goes through it step by step, {cycle} to its end"));
    } else {
        state.warn(format!("there is no pod {pod} any more"));
    }
}
