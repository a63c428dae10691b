//! Runs until preemption starts or the cycle ends.

use crate::session::Until;
use crate::trace::{Event, StepSize};
use crate::ui::actions::prelude::*;
use crate::ui::config::action::{Action, Direction};
use crate::ui::model::state::Running;
use crate::ui::model::time_travel;

/// `run`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["r"], "run", "run to the next breakpoint; without any, until preemption starts or the cycle ends")],
    ..Verb::new("run", |state, session, _| {
        run(state, session);
        Ok(Answer::Done)
    })
}];

fn run(state: &mut State, session: &mut dyn SessionHandle) {
    if !session.breakpoints().is_empty() {
        let until = Until::Breakpoint(session.breakpoints().into());
        state.tasks.running = Some(Running { until: Some(until), pieces: 0, events: 0 });
        return;
    }
    if time_travel::stops_at_end(state, session.timeline(), Direction::Forward, &Action::RUN) {
        return;
    }
    if session.timeline().at_end() && !session.run_next() {
        return state.say("nothing is left to schedule");
    }
    state.leave_whole();
    time_travel::seek_and_follow(state, session, |s| {
        let timeline = s.timeline_mut();
        loop {
            if !timeline.forward(StepSize::Event) {
                break;
            }
            let at_end = timeline.revision().is_none_or(|f| timeline.cursor().event == f.events.len());
            if at_end || matches!(timeline.current(), Some(Event::PreemptionStarted(_))) {
                break;
            }
        }
    });
}
