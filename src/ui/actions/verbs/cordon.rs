//! Marks a node unschedulable or schedulable.

use crate::ui::actions::arguments;
use crate::ui::actions::edits::edit_line;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Answer, Command, Verb};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;

/// The commands `cordon` and `uncordon`.
pub static VERBS: &[Verb] = &[
    Verb {
        command: Some(Command {
            complete: |session, _, word| arguments::nodes(session, word),
            ..Command::new(&["cordon"], "[NODE]", "mark a node unschedulable, by default the selected one")
        }),
        ..Verb::new("cordon", |state, session, args| edit(state, session, "cordon", args))
    },
    Verb {
        command: Some(Command {
            complete: |session, _, word| arguments::nodes(session, word),
            ..Command::new(&["uncordon"], "[NODE]", "mark a node schedulable, by default the selected one")
        }),
        ..Verb::new("uncordon", |state, session, args| edit(state, session, "uncordon", args))
    },
];

fn edit(state: &mut State, session: &mut dyn SessionHandle, command: &'static str, args: &str) -> Result<Answer, CommandError> {
    let node = if args.is_empty() { selected::node(state, session) } else { Some(args.into()) };
    let node = node.ok_or(CommandError::Needs { command, what: "a node name" })?;
    edit_line(state, session, command, &node)
}
