//! Sets, lists and removes breakpoints.

use crate::output::Document;
use crate::session::{BREAKPOINT_WORDS, Breakpoint};
use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::with_object;
use crate::ui::actions::prelude::*;
use crate::ui::actions::selected;
use crate::ui::config::action::Action;
use crate::ui::model::overlay::{Completion, Overlay};
use crate::ui::model::text::count;
use crate::ui::model::text_view::{Form, Target, TextView};

/// The commands `break` and `unbreak`.
pub static VERBS: &[Verb] = &[
    Verb {
        command: Some(Command {
            complete: |session, _, args| complete(session, args),
            ..Command::new(&["break"], "[pod|node|plugin|budget [NAME]]", "set a breakpoint, or list them")
        }),
        ..Verb::new("break", set)
    },
    Verb {
        command: Some(Command {
            complete: |session, _, args| match args.split_once(' ') {
                None => {
                    let numbers = (1..=session.breakpoints().len()).map(|n| n.to_string());
                    arguments::words(numbers.chain(std::iter::once("all".to_owned())), args)
                }
                Some(_) => Vec::new(),
            },
            ..Command::new(&["unbreak"], "N|all|pod NAME|...", "remove a breakpoint")
        }),
        ..Verb::new("unbreak", unset)
    },
];

fn complete(session: &dyn SessionHandle, args: &str) -> Vec<Completion> {
    match args.split_once(' ') {
        None => arguments::words(BREAKPOINT_WORDS, args),
        Some(("pod", word)) => arguments::pods(session, word),
        Some(("node", word)) => arguments::nodes(session, word),
        Some(("plugin", word)) => arguments::plugins(session, word),
        Some(("budget", word)) => arguments::budgets(session, word),
        Some(_) => Vec::new(),
    }
}

/// Returns the arguments with the name of the selected pod, node or budget where they are the word alone.
fn with_selected(state: &State, session: &dyn SessionHandle, args: &str) -> String {
    let name = match args {
        "pod" => selected::pod(state, session).map(|pod| pod.to_string()),
        "node" => selected::node(state, session).map(|node| node.to_string()),
        "budget" => selected::budget(state).map(ToString::to_string),
        _ => None,
    };
    name.map_or_else(|| args.to_owned(), |name| format!("{args} {name}"))
}

fn set(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    if args.is_empty() {
        list(state, session, 0);
        return Ok(Answer::Done);
    }
    let breakpoint: Breakpoint = with_object(session, &with_selected(state, session, args))?.parse()?;
    let mut all = session.breakpoints().to_vec();
    if all.contains(&breakpoint) {
        state.say(format!("there is already a breakpoint: {breakpoint}"));
        return Ok(Answer::Done);
    }
    all.push(breakpoint.clone());
    session.set_breakpoints(all);
    let run = state.settings.keymap.label(Context::GLOBAL, &Action::RUN);
    state.say(format!("breakpoint: {breakpoint}; {run} runs to the next one"));
    Ok(Answer::Done)
}

fn unset(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let mut all = session.breakpoints().to_vec();
    if all.is_empty() {
        state.say("there are no breakpoints");
        return Ok(Answer::Done);
    }
    let before = all.len();
    match args.parse::<usize>() {
        _ if args == "all" => all.clear(),
        Ok(n) if (1..=before).contains(&n) => drop(all.remove(n - 1)),
        Ok(_) => return Err(CommandError::Number { command: "unbreak", last: before }),
        Err(_) if args.is_empty() => return Err(CommandError::Number { command: "unbreak", last: before }),
        Err(_) => {
            // Its object may be gone since.
            let args = with_selected(state, session, args);
            let in_full = with_object(session, &args).unwrap_or(args);
            let breakpoint: Breakpoint = in_full.parse()?;
            all.retain(|other| *other != breakpoint);
            if all.len() == before {
                return Err(CommandError::NoBreakpoint(breakpoint));
            }
        }
    }
    let left = count(all.len(), "breakpoint");
    session.set_breakpoints(all);
    state.say(format!("removed; {left} left"));
    Ok(Answer::Done)
}

/// Removes a breakpoint by its index, and lists the others.
pub fn remove(state: &mut State, session: &mut dyn SessionHandle, at: usize) {
    let mut all = session.breakpoints().to_vec();
    if at < all.len() {
        let removed = all.remove(at);
        session.set_breakpoints(all);
        list(state, session, at);
        state.say(format!("removed the breakpoint: {removed}"));
    }
}

/// Lists the breakpoints with one of them selected.
fn list(state: &mut State, session: &dyn SessionHandle, selected: usize) {
    let all = session.breakpoints();
    let mut body = Document::default();
    body.list(all.iter().enumerate().map(|(i, breakpoint)| format!("{}  {breakpoint}", i + 1)));
    let run = state.settings.keymap.label(Context::GLOBAL, &Action::RUN);
    if body.is_empty() {
        body.paragraph("none: :break pod NAME, node NAME, plugin NAME or budget NAME sets one");
    } else {
        body.blank();
        body.paragraph(format!("Enter removes the selected one; {run} runs to the next"));
    }
    let mut view = TextView::new("Breakpoints", body, Form::Prose);
    view.links = (0..all.len()).map(|at| (at, Target::Breakpoint(at))).collect();
    view.view.selected = all.len().checked_sub(1).map(|last| selected.min(last));
    state.overlay = Some(Overlay::Text(view));
}
