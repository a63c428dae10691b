//! Moves the selection of a list, a text, or the completions.

use crate::ui::actions::prelude::*;
use crate::ui::actions::theme_list;
use crate::ui::actions::verb::Keys;
use crate::ui::config::action::Motion;
use crate::ui::model::overlay::{Overlay, Typing};
use crate::ui::view::layout::Plan;
use crate::ui::view::overlays;
use crate::ui::view::panes::{self, steps};

/// A verb for each motion.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["j", "down"], "", "down"),
            keys(steps::CONTEXT, &["l", "right"], "", "the next event"),
            keys(Context::OVERLAY, &["j", "down"], "down", "down"),
            keys(Context::PICKER, &["j", "down"], "next", "the next one"),
            keys(Context::START, &["j", "down"], "", "down"),
            keys(Context::PROMPT, &["down", "ctrl-n"], "", "the next row, without leaving the filter"),
        ],
        ..verb(Motion::Down, |state, session, _| select(state, session, Motion::Down))
    },
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["k", "up"], "", "up"),
            keys(steps::CONTEXT, &["h", "left"], "", "the event before"),
            keys(Context::OVERLAY, &["k", "up"], "up", "up"),
            keys(Context::PICKER, &["k", "up"], "before", "the one before"),
            keys(Context::START, &["k", "up"], "", "up"),
            keys(Context::PROMPT, &["up", "ctrl-p"], "", "the row before"),
        ],
        ..verb(Motion::Up, |state, session, _| select(state, session, Motion::Up))
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["ctrl-d"], "", "half a page down")],
        ..verb(Motion::HalfPageDown, |state, session, _| select(state, session, Motion::HalfPageDown))
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["ctrl-u"], "", "half a page up")],
        ..verb(Motion::HalfPageUp, |state, session, _| select(state, session, Motion::HalfPageUp))
    },
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["pgdn", "ctrl-f"], "", "a page down"),
            keys(Context::OVERLAY, &["pgdn", "space", "ctrl-d", "ctrl-f"], "", "a page down"),
            keys(Context::START, &["pgdn", "ctrl-d", "ctrl-f"], "", "a page down"),
        ],
        ..verb(Motion::PageDown, |state, session, _| select(state, session, Motion::PageDown))
    },
    Verb {
        keys: &[
            keys(Context::GLOBAL, &["pgup", "ctrl-b"], "", "a page up"),
            keys(Context::OVERLAY, &["pgup", "ctrl-u", "ctrl-b"], "", "a page up"),
            keys(Context::START, &["pgup", "ctrl-u", "ctrl-b"], "", "a page up"),
        ],
        ..verb(Motion::PageUp, |state, session, _| select(state, session, Motion::PageUp))
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["g"], "", "to the first"), TOP_OF_TEXT, FIRST_THEME, FIRST_SOURCE],
        ..verb(Motion::Top, |state, session, _| select(state, session, Motion::Top))
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["G"], "", "to the last"), BOTTOM_OF_TEXT, LAST_THEME, LAST_SOURCE],
        ..verb(Motion::Bottom, |state, session, _| select(state, session, Motion::Bottom))
    },
];

const TOP_OF_TEXT: Keys = keys(Context::OVERLAY, &["g", "home"], "", "to the top");
const FIRST_THEME: Keys = keys(Context::PICKER, &["g", "home"], "", "the first");
const FIRST_SOURCE: Keys = keys(Context::START, &["g", "home"], "", "to the first");
const BOTTOM_OF_TEXT: Keys = keys(Context::OVERLAY, &["G", "end"], "", "to the bottom");
const LAST_THEME: Keys = keys(Context::PICKER, &["G", "end"], "", "the last");
const LAST_SOURCE: Keys = keys(Context::START, &["G", "end"], "", "to the last");

const fn verb(motion: Motion, run: crate::ui::actions::verb::Own) -> Verb {
    Verb { runs_on_ui_thread: stays, ..Verb::new(motion.name(), run) }
}

/// Returns whether moving leaves the cursor alone: a pane may move it, an overlay never does.
fn stays(state: &State) -> bool {
    let moves = |pane| panes::def(pane).moves_cursor;
    match &state.overlay {
        Some(Overlay::Prompt(prompt)) => !matches!(prompt.typing, Typing::Filter(pane) if moves(pane)),
        Some(_) => true,
        None => !moves(state.focus),
    }
}

/// Moves the selection of the topmost list or text.
pub fn select(state: &mut State, session: &mut dyn SessionHandle, motion: Motion) -> Result<Answer, CommandError> {
    let (size, focus) = (state.size, state.focus);
    let pane = match &mut state.overlay {
        Some(Overlay::Themes { .. }) => return Ok(theme_list::select(state, motion)),
        Some(Overlay::Prompt(prompt)) => match &mut prompt.typing {
            Typing::Filter(pane) => *pane,
            Typing::Command => {
                prompt.choose(motion);
                return Ok(Answer::Done);
            }
            Typing::Over(over) => {
                overlays::select(over, &state.settings.keymap, panes::def(focus).context, motion, size);
                return Ok(Answer::Done);
            }
        },
        Some(over) => {
            overlays::select(over, &state.settings.keymap, panes::def(focus).context, motion, size);
            return Ok(Answer::Done);
        }
        None => focus,
    };
    let (def, plan) = (panes::def(pane), Plan::of(state));
    (def.select)(def, state, session, motion, usize::from(def.list_in(&plan).height));
    (def.selected)(state, &plan);
    Ok(Answer::Done)
}
