//! Seeks the nearest revision about the selected pod.

use crate::session::Cursor;
use crate::ui::actions::prelude::*;
use crate::ui::config::action::Direction;
use crate::ui::model::pane::Pane;
use crate::ui::model::time_travel;

/// `pod-back` and `pod-forward`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["["], "", "back to where something happened to the selected pod, or the one on its page")],
        ..Verb::new("pod-back", |state, session, _| {
            seek(state, session, Direction::Back);
            Ok(Answer::Done)
        })
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["]"], "", "on to where something happened to the selected pod, or the one on its page")],
        ..Verb::new("pod-forward", |state, session, _| {
            seek(state, session, Direction::Forward);
            Ok(Answer::Done)
        })
    },
];

fn seek(state: &mut State, session: &mut dyn SessionHandle, direction: Direction) {
    let on_page = state.subjects.pod.clone().filter(|_| state.focus == Pane::POD);
    let Some(pod) = on_page.or_else(|| state.subjects.subject.clone()).or_else(|| state.selected_pod().cloned()) else {
        return state.say("no pod is selected");
    };
    let timeline = session.timeline();
    let (here, revisions) = (timeline.cursor().revision, timeline.revisions());
    let touches = |at: &usize| revisions[*at].events.is_any_about(&pod);
    let found = match direction {
        Direction::Forward => (here + 1..revisions.len()).find(touches),
        Direction::Back => (0..here.min(revisions.len())).rev().find(touches),
    };
    match found {
        Some(revision) => {
            state.leave_whole();
            time_travel::seek_and_follow(state, session, |s| s.timeline_mut().seek(Cursor { revision, event: usize::MAX }));
        }
        None if direction == Direction::Forward => state.say(format!("nothing more is recorded about {pod}")),
        None => state.say(format!("nothing is recorded about {pod} before this")),
    }
}
