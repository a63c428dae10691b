//! Continues with another release of kube-scheduler.

use crate::release::{Profile, Release};
use crate::ui::actions::arguments;
use crate::ui::actions::edits::apply_edit;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::session_handle::{Change, SessionHandle};
use crate::ui::model::state::State;

/// The command `release`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |_, _, word| {
            let mut minors: Vec<String> = Profile::all().iter().rev().map(|profile| profile.release.minor()).collect();
            minors.dedup();
            arguments::words(minors, word)
        },
        ..Command::new(&["release"], "VERSION", "what if the cluster ran another kube-scheduler, on a new branch")
    }),
    ..Verb::new("release", release)
}];

fn release(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    if args.is_empty() {
        state.say(session.release_report().sentence().to_owned());
        return Ok(Answer::Done);
    }
    let release: Release = args.parse()?;
    apply_edit(state, session, Change::Release(release))
}
