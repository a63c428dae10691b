//! Closes the group of the selected node, or the cause of the selected pod.

use crate::ui::actions::prelude::*;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::rows::NodeRow;
use crate::ui::view::panes::{nodes, overview};

/// `close-group`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(nodes::CONTEXT, &["h", "left"], "", "close the group"), keys(overview::CONTEXT, &["h", "left"], "", "close the cause")],
    runs_on_ui_thread: |_| true,
    ..Verb::new("close-group", |state, _, _| {
        if state.focus == Pane::OVERVIEW {
            overview::fold(state);
        } else {
            fold(state);
        }
        Ok(Answer::Done)
    })
}];

fn fold(state: &mut State) {
    let rows = &*state.view_model.rows.nodes;
    let list = state.lists.entry(Pane::NODES).or_default();
    let Some(at) = list.position(rows) else { return };
    let Some(at) = rows[..=at].iter().rposition(|r| matches!(r, NodeRow::Group(_))) else { return };
    list.select(rows, at);
    if let Some(RowId::Group(key)) = &list.selected {
        state.choices.open_groups.remove(key);
    }
    state.touch();
}
