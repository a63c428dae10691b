//! Lets time pass.

use crate::ui::actions::arguments;
use crate::ui::actions::edits;
use crate::ui::actions::prelude::*;
use crate::ui::model::session_handle::{Advance, Change};

/// `wait`, `wait-seconds` and the command `advance`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["t"], "wait", "advance the clock to the next timer")],
        command: Some(Command {
            complete: |_, _, word| arguments::words(["next"], word),
            ..Command::new(&["advance", "wait"], "[SECONDS|next]", "advance the clock, by default to the next timer")
        }),
        ..Verb::new("wait", wait)
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["T"], "", "advance the clock by 10 seconds")],
        ..Verb::new("wait-seconds", |state, session, _| wait(state, session, "10"))
    },
];

fn wait(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let by = match args {
        "next" | "" => Advance::NextTimer,
        text => match text.trim_end_matches('s').trim_end().parse() {
            Ok(seconds) => Advance::Seconds(seconds),
            Err(_) => return Err(CommandError::Seconds(text.to_owned())),
        },
    };
    edits::apply(state, session, Change::Advance(by))
}
