//! Verbs, and the update function that applies a request to the state and the session.
//!
//! A key becomes an [`Action`], which names a [`Verb`]; [`update()`] runs it and derives the view model anew.
//!
//! | files | hold |
//! | --- | --- |
//! | `verb`, `verbs`, `error`, `prelude` | what a verb is, one file for each, why one refuses, and the names that all use |
//! | `prompt`, `completion`, `arguments`, `pod_key`, `selected` | command lines: typed, completed, and what they name |
//! | `edits`, `what_if` | changes of the cluster at the cursor, all through [`edits::apply`] |
//! | `jobs`, `runs`, `overview` | what takes longer: jobs on threads of their own, runs in pieces, the overview |
//! | `mouse` | clicks and the wheel, as actions |
//! | `object_text`, `short_answer` | the selected object, or the answer about it, shown or copied |
//! | `theme_list`, `tour`, `start` | the list of themes, the tour, the start screen |

pub mod arguments;
pub mod completion;
pub mod edits;
pub mod error;
pub mod jobs;
pub mod mouse;
pub mod object_text;
pub mod overview;
pub mod pod_key;
pub mod prelude;
pub mod prompt;
pub mod runs;
pub mod selected;
pub mod short_answer;
pub mod start;
pub mod theme_list;
pub mod tour;
pub mod verb;
pub mod verbs;
pub mod what_if;

use crate::ui::actions::verb::{Answer, Keys, Run, Verb};
use crate::ui::config::action::{Action, Mouse};
use crate::ui::config::context::Context;
use crate::ui::config::keymap::{Binding, CommandHelp, Keymap, Table};
use crate::ui::model::effect::Effect;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::model::time_travel;
use crate::ui::view::layout::Plan;
use crate::ui::view::panes::{self, PANES};
use crate::ui::view::refresh::renew;

/// Performs a request. Returns the effect for the app to perform.
pub fn update(state: &mut State, session: &mut dyn SessionHandle, action: Action) -> Option<Effect> {
    if !matches!(action, Action::Resize(..) | Action::Mouse(Mouse::Release, ..)) {
        state.notice = None;
        if action != Action::QUIT {
            state.asked_to_leave = false;
            state.closed_text = false;
        }
        // Any other request stops a run.
        if state.tasks.running.take().is_some() {
            state.say("stopped");
            if action == Action::BACK {
                return None;
            }
        }
    }
    let asked = action.clone();
    let mut answer = Ok(Answer::Done);
    match action {
        Action::Verb(name) => match verb(name).map(|verb| verb.run) {
            Some(Run::Own(run)) => answer = run(state, session, ""),
            Some(Run::WhatIf(row)) => answer = what_if::run(row, state, session, ""),
            None => visit_pane(state, session, name),
        },
        Action::Type(c) => prompt::type_text(state, session, c.encode_utf8(&mut [0; 4])),
        Action::Paste(text) => prompt::type_text(state, session, &text),
        Action::Resize(width, height) => state.size = (width, height),
        Action::Mouse(mouse, x, y) => answer = mouse::mouse(state, session, mouse, x, y),
    }
    let effect = match answer {
        Ok(Answer::Done) => None,
        Ok(Answer::Effect(effect)) => Some(effect),
        Ok(Answer::Prompt(typing, words)) => {
            prompt::open(state, session, typing, words);
            None
        }
        Err(error) => {
            state.warn(error.to_string());
            None
        }
    };
    tour::advance(state, session.timeline(), &asked);
    overview::update_overview(state, session);
    renew(state, session);
    effect
}

/// Visits the pane with this verb. From the overview to a pane of a decision, decides about the selected pod.
fn visit_pane(state: &mut State, session: &mut dyn SessionHandle, verb: &str) {
    let Some(def) = PANES.iter().find(|def| def.verb.0 == verb) else { return };
    if state.focus == Pane::OVERVIEW
        && def.of_decision
        && let Some(RowId::Pod(pod)) = state.selected_row().cloned()
    {
        time_travel::show_pod(state, session, &pod);
    }
    (def.visit)(def, state, session.timeline());
}

fn verb(name: &str) -> Option<&'static Verb> {
    verbs::all().chain(prompt::VERBS).find(|verb| verb.name == name)
}

/// Returns whether a request neither calls the engine nor moves the cursor, so it runs before the next frame.
pub fn runs_on_ui_thread(state: &State, action: &Action) -> bool {
    match action {
        Action::Verb(name) => *action == Action::NOTHING || verb(name).is_some_and(|verb| (verb.runs_on_ui_thread)(state)),
        Action::Type(_) | Action::Paste(_) | Action::Resize(..) => true,
        Action::Mouse(Mouse::Scroll(_), x, y) => {
            let pane = || Plan::of(state).pane_at(*x, *y);
            state.overlay.is_some() || pane().is_none_or(|pane| !panes::def(pane).moves_cursor)
        }
        Action::Mouse(mouse, ..) => matches!(mouse, Mouse::Drag if !state.dragging) || *mouse == Mouse::Release,
    }
}

/// Returns the default keymap.
pub fn keymap() -> Keymap {
    Keymap::new(table())
}

/// Returns the table of all keys and commands.
pub fn table() -> Table {
    let mut contexts = vec![Context::GLOBAL];
    for def in PANES {
        if !contexts.contains(&def.context) {
            contexts.push(def.context);
        }
    }
    contexts.extend([Context::OVERLAY, Context::PICKER, Context::START, Context::PROMPT]);
    let mut bindings: Vec<Binding> = Vec::new();
    for verb in verbs::all().chain(prompt::VERBS) {
        // Panes that share a context share its keys.
        for row in PANES.iter().filter_map(|def| (verb.pane_keys)(def)) {
            if !bindings.iter().any(|b| b.verb == verb.name && b.context == row.context) {
                bindings.push(binding(verb.name, &row));
            }
        }
        bindings.extend(verb.keys.iter().map(|row| binding(verb.name, row)));
        if verb.name == "previous-pane" {
            bindings.extend(PANES.iter().map(|def| {
                let (name, help) = def.verb;
                Binding { context: Context::GLOBAL, keys: digit(def.id.digit), verb: name, short: "", help }
            }));
        }
    }
    let listed = verbs::all().filter_map(|verb| verb.command.as_ref()).filter(|command| !command.help.is_empty());
    let mut commands: Vec<CommandHelp> =
        listed.map(|command| CommandHelp { name: command.names[0], args: command.args, help: command.help }).collect();
    commands.sort_by_key(|command| command.name);
    Table { contexts, bindings, commands }
}

fn binding(verb: &'static str, row: &Keys) -> Binding {
    Binding { context: row.context, keys: row.keys, verb, short: row.short, help: row.help }
}

/// Returns the key of a pane: its digit, or its letter.
fn digit(digit: u8) -> &'static [&'static str] {
    const DIGITS: [&str; 11] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "P"];
    let at = usize::from(digit);
    DIGITS.get(at..=at).unwrap_or_default()
}

#[cfg(test)]
mod tests;
