//! Decides a pod at the cursor.

use crate::session::Cursor;
use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::{no_pod, pod_named_or_selected};
use crate::ui::actions::prelude::*;
use crate::ui::model::time_travel::{open_decision, seek_and_follow};

/// The command `decide`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::pods(session, word),
        ..Command::new(&["decide"], "[POD]", "decide about a pod at the cursor, although it was tried before")
    }),
    ..Verb::new("decide", decide)
}];

fn decide(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let key = pod_named_or_selected(state, session, args)?;
    let mut found = false;
    state.leave_whole();
    seek_and_follow(state, session, |s| {
        if let Some(revision) = s.explain(&key) {
            found = true;
            s.timeline_mut().seek(Cursor { revision, event: usize::MAX });
        }
    });
    state.touch();
    if !found {
        return Err(no_pod(session, &key));
    }
    open_decision(state, &key);
    Ok(Answer::Done)
}
