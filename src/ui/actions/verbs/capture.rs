//! Writes the cluster to a dump.

use crate::ui::actions::arguments;
use crate::ui::actions::jobs;
use crate::ui::actions::prelude::*;
use crate::ui::model::job::Job;

/// The command `capture`.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |_, _, word| arguments::words(["--redact"], word),
        ..Command::new(&["capture"], "[--redact] FILE", "write the cluster as it was read to a dump; open reads it")
    }),
    ..Verb::new("capture", capture)
}];

fn capture(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let (redact, path) = match args.strip_prefix("--redact") {
        Some(path) => (true, path.trim()),
        None => (false, args),
    };
    if path.is_empty() {
        return Err(CommandError::Needs { command: "capture", what: "a file" });
    }
    jobs::begin(state, session, Job::Capture { path: path.to_owned(), redact });
    Ok(Answer::Done)
}
