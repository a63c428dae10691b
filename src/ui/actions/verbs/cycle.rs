//! Seeks the end or the start of a cycle.

use crate::session::Cursor;
use crate::trace::StepSize;
use crate::ui::actions::prelude::*;
use crate::ui::config::action::Direction;
use crate::ui::model::time_travel;

/// `cycle`, `cycle-back` and the command `cycle N`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["c"], "cycle", "to the end of this cycle, then of the next")],
        ..Verb::new("cycle", |state, session, _| {
            time_travel::step(state, session, Direction::Forward, StepSize::Cycle);
            Ok(Answer::Done)
        })
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["C"], "", "to the start of this cycle, then of the one before")],
        ..Verb::new("cycle-back", |state, session, _| {
            time_travel::cycle_back(state, session);
            Ok(Answer::Done)
        })
    },
    Verb {
        command: Some(Command::new(&["cycle"], "N", "to the end of the N-th recorded cycle or operation")),
        ..Verb::new("go-to-cycle", go_to)
    },
];

fn go_to(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let last = session.timeline().revisions().len();
    match args.parse::<usize>() {
        Ok(n) if (1..=last).contains(&n) => {
            state.leave_whole();
            time_travel::seek_and_follow(state, session, |s| s.timeline_mut().seek(Cursor { revision: n - 1, event: usize::MAX }));
            state.touch();
            Ok(Answer::Done)
        }
        _ => Err(CommandError::Number { command: "cycle", last }),
    }
}
