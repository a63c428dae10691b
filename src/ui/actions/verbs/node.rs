//! Shows a node.

use crate::ui::actions::arguments;
use crate::ui::actions::prelude::*;
use crate::ui::actions::selected;
use crate::ui::view::panes;

/// `node`, and the command `node NAME`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["d"], "node", "show the node that is selected or was touched last")],
        ..Verb::new("node", |state, session, _| {
            let timeline = session.timeline();
            let about = (panes::def(state.focus).node)(state, timeline);
            panes::node::open_best(state, timeline, about);
            Ok(Answer::Done)
        })
    },
    Verb {
        command: Some(Command {
            complete: |session, _, word| arguments::nodes(session, word),
            ..Command::new(&["node"], "[NAME]", "show a node, by default the selected one")
        }),
        ..Verb::new("show-node", show)
    },
];

fn show(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let selected = if args.is_empty() { selected::node(state, session) } else { None };
    let args = selected.as_deref().unwrap_or(args);
    match session.timeline().keyframe().snapshot.get(args) {
        Some(node) => {
            state.open_node(node.name().clone());
            Ok(Answer::Done)
        }
        None if args.is_empty() => Err(CommandError::Needs { command: "node", what: "a name" }),
        None => Err(CommandError::NoNode(args.to_owned())),
    }
}
