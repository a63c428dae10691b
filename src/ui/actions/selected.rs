//! The selected row as the argument of a command.

use crate::cluster::{Key, Str};
use crate::ui::actions::overview;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::view::panes;

/// Returns the selected node, or the node that the focused pane is about.
pub fn node(state: &State, session: &dyn SessionHandle) -> Option<Str> {
    match state.selected_row() {
        Some(RowId::Node(node)) => Some(node.clone()),
        _ => (panes::def(state.focus).node)(state, session.timeline()),
    }
}

/// Returns the selected pod, the first pod of the selected cause, or the pod that the focused pane is about, or that of the cycle,
/// or the one selected in the queues. A selected row that holds no pod has none: another row's would surprise.
pub fn pod(state: &State, session: &dyn SessionHandle) -> Option<Key> {
    let timeline = session.timeline();
    if state.focus == Pane::OVERVIEW && !matches!(state.selected_row(), Some(RowId::Pod(_))) {
        return overview::first_pod(state);
    }
    let about = || (panes::def(state.focus).subject)(state, timeline);
    let found = state.selected_row().cloned().filter(|row| matches!(row, RowId::Pod(_))).or_else(about);
    match found {
        Some(RowId::Pod(pod)) => Some(pod),
        _ => timeline.cycle().start.as_ref().map(|start| start.pod.clone()).or_else(|| state.selected_pod().cloned()),
    }
}

/// Returns the selected budget.
pub fn budget(state: &State) -> Option<&Key> {
    match state.selected_row() {
        Some(RowId::Budget(budget)) => Some(budget),
        _ => None,
    }
}

/// Returns the kind and the name of the selected row's object, as commands take them.
pub fn object(state: &State, session: &dyn SessionHandle) -> Option<String> {
    match state.selected_row() {
        Some(RowId::Pod(pod)) => Some(format!("pod {pod}")),
        Some(RowId::Node(node)) => Some(format!("node {node}")),
        Some(RowId::Budget(budget)) => Some(format!("poddisruptionbudget {budget}")),
        _ if state.focus == Pane::NODE => state.subjects.node.as_ref().map(|node| format!("node {node}")),
        _ => pod(state, session).map(|pod| format!("pod {pod}")),
    }
}
