//! Changes the grouping of nodes.

use crate::ui::actions::arguments;
use crate::ui::actions::verb::{Answer, Command, Verb, keys};
use crate::ui::model::grouping::{Grouping, names};
use crate::ui::view::panes::nodes;

/// `groups` and the command `group`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(nodes::CONTEXT, &["z"], "groups", "nodes by verdict and reason, by pool, by zone, or one by one")],
        runs_on_ui_thread: |_| true,
        ..Verb::new("groups", |state, session, _| {
            let (snapshot, orders) = (&session.timeline().decided_on().snapshot, &state.view_model.nodes.orders);
            let next = state.view_model.nodes.grouping.next(|| orders.pool(snapshot), || orders.zone(snapshot));
            state.group_nodes(next);
            Ok(Answer::Done)
        })
    },
    Verb {
        command: Some(Command {
            complete: |session, _, word| arguments::words(names(session.timeline().keyframe().snapshot.nodes()), word),
            ..Command::new(&["group"], "verdict|pool|zone|none|LABEL", "group nodes, by any label too")
        }),
        ..Verb::new("group-by", |state, session, args| {
            let grouping = Grouping::named(args, session.timeline().keyframe().snapshot.nodes())?;
            state.group_nodes(grouping);
            Ok(Answer::Done)
        })
    },
];
