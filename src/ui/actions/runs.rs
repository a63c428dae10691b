//! Long runs, executed in pieces.

use crate::analysis;
use crate::session::{Cursor, RunEnd};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::{Notice, State};
use crate::ui::model::text;
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::view::refresh::renew;

/// Continues a run while `more` returns true, then shows its progress.
pub fn continue_run(state: &mut State, session: &mut dyn SessionHandle, mut more: impl FnMut() -> bool) {
    let Some(mut running) = state.tasks.running.take() else { return };
    let (mut said, mut is_met) = (None, false);
    seek_and_follow(state, session, |session| {
        let allowed = session.events_of_a_run();
        loop {
            let before = session.timeline().revisions().len();
            running.pieces += 1;
            said = match &running.until {
                None if session.settle() => None,
                None => Some(settled(session)),
                Some(until) => match session.run_until(until, 1) {
                    RunEnd::OutOfTurns => None,
                    RunEnd::Met => {
                        is_met = true;
                        Some(until.stopped_at(session.timeline().occurrence().as_ref()))
                    }
                    RunEnd::NothingLeft => Some(until.not_met()),
                },
            };
            let new = session.timeline().revisions().get(before..).unwrap_or_default();
            running.events += new.iter().map(|revision| revision.events.len()).sum::<usize>();
            if said.is_none() && running.events >= allowed {
                said = Some(format!("stopped after {}, which are kept; the same key goes on", text::count(running.events, "event")));
            }
            if said.is_some() || !more() {
                break;
            }
        }
        if running.until.is_none() {
            session.timeline_mut().seek(Cursor::END);
        }
    });
    if is_met {
        state.leave_whole();
    }
    match said {
        Some(words) => state.notice = Some(Notice { text: words, warning: false, above_hints: false }),
        None => state.tasks.running = Some(running),
    }
    state.touch();
    renew(state, session);
}

/// Returns the end of a run in words: `settled after 6m00s: 8 pods still pending`.
fn settled(session: &dyn SessionHandle) -> String {
    let timeline = session.timeline();
    let end = timeline.end();
    // As the overview counts them: those of other schedulers too.
    let pending = analysis::pending(&end.cluster).count();
    let passed = text::span(timeline.start().clock, end.clock);
    format!("settled after {passed}: {} still pending", text::count(pending, "pod"))
}
