//! The progress of the tour.

use crate::session::Timeline;
use crate::ui::config::action::Action;
use crate::ui::model::state::State;
use crate::ui::model::tour::LESSONS;

/// Goes to the next lesson if a request has done this one. The last lesson stays.
pub fn advance(state: &mut State, timeline: &Timeline, action: &Action) {
    let Some(at) = state.lesson else { return };
    if LESSONS.get(at).is_some_and(|lesson| (lesson.done)(action, state, timeline)) {
        state.lesson = Some((at + 1).min(LESSONS.len() - 1));
    }
}
