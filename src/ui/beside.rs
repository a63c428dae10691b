//! Work that goes on beside the screen, which never waits for it.

use crate::ui::driver::{Driver, Work, WorkState};
use crate::ui::state::{Overlay, State, Working};
use crate::ui::update::text;

/// Begins work.
pub(super) fn begin(state: &mut State, driver: &mut dyn Driver, work: Work) {
    match driver.start(work) {
        Ok(()) => {
            let what = match work {
                Work::Agreement => "deciding about all pending pods",
                Work::Compare(..) => "comparing the branches",
            };
            state.working = Some(Working { what, done: 0, of: 0 });
            // What takes no time shows at once.
            look(state, driver);
        }
        Err(words) => state.warn(words),
    }
}

/// Looks how far the work has got and shows what came of it; false where there is nothing new to show.
pub fn look(state: &mut State, driver: &mut dyn Driver) -> bool {
    let Some(working) = &mut state.working else { return false };
    // What came of it is not laid over what is being read or typed: it waits.
    if matches!(state.overlay, Some(Overlay::Prompt(_) | Overlay::Help(_) | Overlay::Text { .. })) {
        return false;
    }
    match driver.poll() {
        WorkState::Going(done, of) if (done, of) == (working.done, working.of) => false,
        WorkState::Going(done, of) => {
            (working.done, working.of) = (done, of);
            true
        }
        WorkState::Done(title, lines) => {
            state.working = None;
            text(state, title, lines);
            true
        }
        WorkState::Idle => {
            state.working = None;
            true
        }
    }
}
