//! What goes on beside the screen, which never waits for it: work, and a live cluster.

use std::time::Duration;

use crate::ui::driver::{Driver, Work, WorkState};
use crate::ui::overlay::Overlay;
use crate::ui::sheet::Sheet;
use crate::ui::state::{State, Working};
use crate::ui::update::moved;

/// Begins work.
pub(super) fn begin(state: &mut State, driver: &mut dyn Driver, work: Work) {
    let what = match work {
        Work::SchedulerMatch => "deciding about all pending pods",
        Work::Compare(..) => "comparing the branches",
        Work::Object(..) => "reading the object",
        Work::Capture { .. } => "writing the cluster",
    };
    match driver.start(work) {
        Ok(()) => {
            state.working = Some(Working { what, done: 0, of: 0 });
            // What takes no time shows at once.
            look(state, driver);
        }
        Err(error) => state.warn(error.to_string()),
    }
}

/// Looks how far the work has got and shows what came of it; false where there is nothing new to show.
pub fn look(state: &mut State, driver: &mut dyn Driver) -> bool {
    let Some(working) = &mut state.working else { return false };
    // What came of it is not laid over what is being read or typed: it waits.
    if state.overlay.is_some() {
        return false;
    }
    match driver.poll() {
        WorkState::Going(done, of) if (done, of) == (working.done, working.of) => false,
        WorkState::Going(done, of) => {
            (working.done, working.of) = (done, of);
            true
        }
        WorkState::Done(document) => {
            state.working = None;
            state.overlay = Some(Overlay::Text(Sheet::of(document, driver.timeline())));
            true
        }
        WorkState::Said(words) => {
            state.working = None;
            state.say(words);
            true
        }
        WorkState::Failed(error) => {
            state.working = None;
            state.warn(error.to_string());
            true
        }
        WorkState::Idle => {
            state.working = None;
            true
        }
    }
}

/// Shows how following a live cluster goes; says whether there is something new to show, and when to look again.
pub fn show_news(state: &mut State, driver: &dyn Driver) -> (bool, Option<Duration>) {
    let news = driver.news();
    let shown = state.news != news;
    state.news = news;
    (shown, driver.look_again())
}

/// Goes to the end of what was seen of a live cluster.
pub(super) fn catch_up(state: &mut State, driver: &mut dyn Driver) {
    let mut answer = Ok(String::new());
    moved(state, driver, |d| answer = d.catch_up());
    state.touch();
    match answer {
        Ok(words) => state.say(words),
        Err(error) => state.warn(error.to_string()),
    }
}
