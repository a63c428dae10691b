//! One file per pane. To add one, write its file and put it into the registry below.

pub mod budgets;
pub mod candidate;
pub mod message;
pub mod node;
pub mod nodes;
pub mod overview;
pub mod page;
pub mod pod;
pub mod pods;
pub mod preemption;
pub mod queues;
pub mod steps;

use crate::ui::config::context::Context;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::pane::Pane;
use crate::ui::model::state::State;
use crate::ui::view::pane::PaneDef;

/// All panes, in the order of their digits, 0 last; then those with a letter.
pub static PANES: &[&PaneDef] = &[
    &queues::DEF,
    &nodes::DEF,
    &preemption::DEF,
    &node::DEF,
    &steps::DEF,
    &message::DEF,
    &pod::DEF,
    &candidate::DEF,
    &budgets::DEF,
    &overview::DEF,
    &pods::DEF,
];

/// Returns the definition of a pane; the first one for a pane that is not registered.
pub fn def(pane: Pane) -> &'static PaneDef {
    PANES.iter().find(|def| def.id == pane).unwrap_or(&PANES[0])
}

/// Returns the panes that Tab goes to, in the order of their digits.
pub fn open(state: &State) -> Vec<Pane> {
    PANES.iter().filter(|def| (def.is_open)(state)).map(|def| def.id).collect()
}

/// Returns the contexts of keys now, in order.
pub fn contexts(state: &State) -> Vec<Context> {
    match &state.overlay {
        Some(Overlay::Prompt(_)) => vec![Context::PROMPT],
        Some(Overlay::Themes { .. }) => vec![Context::PICKER],
        Some(_) => vec![Context::OVERLAY],
        None => vec![def(state.focus).context, Context::GLOBAL],
    }
}
