//! Restarts the scheduler.

use crate::session::InitialQueues;
use crate::ui::actions::arguments;
use crate::ui::actions::prelude::*;
use crate::ui::model::time_travel::seek_and_follow;

/// The command `start`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |_, _, word| arguments::words(["fresh", "observed"], word),
        ..Command::new(&["start"], "fresh|observed", "restart, with fresh queues or places inferred from the cluster")
    }),
    ..Verb::new("restart", restart)
}];

fn restart(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let queues = match args {
        "fresh" => InitialQueues::Fresh,
        "observed" => InitialQueues::AsObserved,
        "" => return Err(CommandError::Needs { command: "start", what: "fresh or observed" }),
        other => return Err(CommandError::Start(other.to_owned())),
    };
    let mut answer = None;
    seek_and_follow(state, session, |s| answer = Some(s.restart(queues)));
    let Some(result) = answer else { return Ok(Answer::Done) };
    let (step_size, settings) = (state.step_size, state.settings.clone());
    *state = State::new(session.timeline(), state.size, settings);
    state.step_size = step_size;
    let restarted = result?;
    state.say(match queues {
        InitialQueues::Fresh => format!("fresh start: all {} waiting pods are new to the scheduler", restarted.waiting),
        InitialQueues::AsObserved => {
            format!("as observed: where {} of {} waiting pods are is inferred; ~ marks them", restarted.inferred, restarted.waiting)
        }
    });
    Ok(Answer::Done)
}
