//! Shows an object as the cluster has it.

use crate::cluster::Kind;
use crate::session::key_named;
use crate::ui::actions::arguments;
use crate::ui::actions::jobs;
use crate::ui::actions::object_text;
use crate::ui::actions::prelude::*;
use crate::ui::model::job::Job;

/// `source`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["y"], "source", "the selected object as the cluster has it, as YAML")],
    command: Some(Command {
        complete: |session, _, args| if args.contains(' ') { Vec::new() } else { arguments::kind_and_name(session, args) },
        ..Command::new(&["source"], "KIND NAME", "an object as the cluster has it")
    }),
    ..Verb::new("source", show)
}];

/// Shows the object that the arguments name; without any, the one of the selected row.
fn show(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    if args.is_empty() {
        object_text::show(state, session);
        return Ok(Answer::Done);
    }
    let (kind, name) = args.split_once(char::is_whitespace).ok_or(CommandError::Needs { command: "source", what: "a kind and a name" })?;
    let kind = Kind::named(kind).ok_or_else(|| CommandError::UnknownKind(kind.to_owned()))?;
    jobs::begin(state, session, Job::Object(kind, key_named(kind, name.trim())));
    Ok(Answer::Done)
}
