//! Goes to a branch.

use crate::ui::actions::prelude::*;
use crate::ui::model::time_travel::seek_and_follow;

pub static VERBS: &[Verb] = &[Verb { command: Some(Command::new(&["branch"], "N", "go to a branch")), ..Verb::new("go-to-branch", go_to) }];

fn go_to(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let last = session.branches().len();
    let number = args.parse::<usize>().ok().filter(|n| (1..=last).contains(n));
    let number = number.ok_or(CommandError::Number { command: "branch", last })?;
    switch(state, session, number - 1);
    Ok(Answer::Done)
}

/// Goes to a branch by its index and names it.
pub fn switch(state: &mut State, session: &mut dyn SessionHandle, to: usize) {
    seek_and_follow(state, session, |s| {
        s.switch(to);
    });
    state.touch();
    let (branches, current) = (session.branches(), session.current());
    if let Some(branch) = branches.get(current) {
        state.say(format!("this is {}", branch.name()));
    }
}
