//! Jobs: tasks that take too long for the UI thread, and the state of a live cluster.

use std::time::Duration;

use crate::ui::model::job::{Job, JobState};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::{State, Working};
use crate::ui::model::text_view::TextView;

/// Starts a job, which takes the place of the one in progress.
pub fn begin(state: &mut State, session: &mut dyn SessionHandle, job: Job) {
    let what = match job {
        Job::SchedulerMatch => "deciding about all pending pods",
        Job::Diff(_) => "comparing the dumps",
        Job::Compare(..) => "comparing the branches",
        Job::Fixes(_) => "searching for fixes",
        Job::Ticket { .. } => "searching for fixes, for the ticket",
        Job::Capacity(_) => "counting how many more fit",
        Job::Flood(_) => "finding who is evicted first",
        Job::Odds(_) => "counting the odds over all starting nodes of the search",
        Job::Object(..) => "reading the object",
        Job::Capture { .. } => "writing the cluster",
    };
    match session.start_job(job) {
        Ok(job) => {
            state.tasks.working = Some(Working { job, what, done: 0, of: 0 });
            // A short job shows its result at once.
            poll_job(state, session);
        }
        Err(error) => state.warn(error.to_string()),
    }
}

/// Shows the progress of the job, or its result. Returns false if nothing is new.
pub fn poll_job(state: &mut State, session: &mut dyn SessionHandle) -> bool {
    let Some(working) = &mut state.tasks.working else { return false };
    // Do not open the result while an overlay or prompt is open.
    if state.overlay.is_some() {
        return false;
    }
    match working.job.state() {
        JobState::Going(done, of) if (done, of) == (working.done, working.of) => return false,
        JobState::Going(done, of) => {
            (working.done, working.of) = (done, of);
            return true;
        }
        JobState::Done(document) => state.overlay = Some(Overlay::Text(TextView::of(document, Some(session.timeline())))),
        JobState::Said(words) => {
            // The revision at the cursor may have its odds now.
            let here = session.timeline().cursor();
            session.timeline_mut().seek(here);
            state.touch();
            state.say(words);
        }
        JobState::Failed(error) => state.warn(error.to_string()),
    }
    state.tasks.working = None;
    true
}

/// Shows the status of a live cluster. Returns whether it changed, and when to poll again.
pub fn show_live_status(state: &mut State, session: &dyn SessionHandle) -> (bool, Option<Duration>) {
    let status = session.live_status();
    let poll_after = status.as_ref().map(|s| s.poll_after.unwrap_or(Duration::MAX).min(s.label_changes_after()));
    let shown = status.map(|s| (s.label(), s.state.is_trouble()));
    let changed = state.tasks.live != shown;
    state.tasks.live = shown;
    (changed, poll_after)
}
