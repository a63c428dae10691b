//! Goes to the next or previous pane.

use crate::ui::actions::prelude::*;
use crate::ui::config::action::Direction;
use crate::ui::view::panes;

/// `next-pane` and `previous-pane`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["tab"], "pane", "the next pane")],
        ..Verb::new("next-pane", |state, _, _| {
            go(state, Direction::Forward);
            Ok(Answer::Done)
        })
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["shift-tab"], "", "the pane before")],
        ..Verb::new("previous-pane", |state, _, _| {
            go(state, Direction::Back);
            Ok(Answer::Done)
        })
    },
];

fn go(state: &mut State, direction: Direction) {
    let panes = panes::open(state);
    let next = match (panes.iter().position(|p| *p == state.focus), direction) {
        (Some(at), Direction::Forward) => (at + 1) % panes.len(),
        (Some(at), Direction::Back) => (at + panes.len() - 1) % panes.len(),
        // From the overview, which is not among them.
        (None, _) => 0,
    };
    state.show(panes[next]);
    state.focus = panes[next];
}
