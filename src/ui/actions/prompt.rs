//! The prompt: commands, and filters of panes and overlays.

use crate::suggest::nearest;
use crate::ui::actions::error::{CommandError, MeantCommands};
use crate::ui::actions::verb::{Answer, Keys, Run, Verb, keys};
use crate::ui::actions::{completion, verbs, what_if};
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::model::overlay::{self, Overlay, Prompt, Typing};
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::view::panes;

/// Verbs that work in the prompt.
pub static VERBS: &[Verb] = &[
    Verb { keys: &[SUBMIT], ..Verb::new("submit", submit) },
    Verb { keys: &[COMPLETE], runs_on_ui_thread: |_| true, ..Verb::new("complete", complete) },
    edit("delete-before", &[keys(CX, &["backspace", "ctrl-h"], "", "delete the character before")], |s, d, _| apply(s, d, "delete-before")),
    edit("delete-after", &[keys(CX, &["delete"], "", "delete the character after")], |s, d, _| apply(s, d, "delete-after")),
    edit("delete-word-before", &[keys(CX, &["ctrl-w"], "", "delete the word before")], |s, d, _| apply(s, d, "delete-word-before")),
    edit("delete-all-before", &[keys(CX, &["ctrl-u"], "", "delete all before")], |s, d, _| apply(s, d, "delete-all-before")),
    edit("delete-all-after", &[keys(CX, &["ctrl-k"], "", "delete all after")], |s, d, _| apply(s, d, "delete-all-after")),
    edit("left", &[keys(CX, &["left", "ctrl-b"], "", "left")], |s, d, _| apply(s, d, "left")),
    edit("right", &[keys(CX, &["right", "ctrl-f"], "", "right")], |s, d, _| apply(s, d, "right")),
    edit("line-start", &[keys(CX, &["home", "ctrl-a"], "", "to the start")], |s, d, _| apply(s, d, "line-start")),
    edit("line-end", &[keys(CX, &["end", "ctrl-e"], "", "to the end")], |s, d, _| apply(s, d, "line-end")),
];

const CX: Context = Context::PROMPT;
const SUBMIT: Keys = keys(CX, &["enter"], "done", "done");
const COMPLETE: Keys = keys(CX, &["tab"], "complete", "complete the word");

const fn edit(name: &'static str, keys: &'static [Keys], run: crate::ui::actions::verb::Own) -> Verb {
    Verb { keys, runs_on_ui_thread: |_| true, ..Verb::new(name, run) }
}

#[allow(clippy::unnecessary_wraps, reason = "every verb answers so")]
fn apply(state: &mut State, session: &mut dyn SessionHandle, verb: &'static str) -> Result<Answer, CommandError> {
    if let Some(edit) = Action::Verb(verb).edit() {
        type_in(state, session, |prompt| {
            overlay::edit(&mut prompt.input, edit);
        });
    }
    Ok(Answer::Done)
}

/// Opens a prompt with a text in it; a filter starts with the current one.
pub fn open(state: &mut State, session: &dyn SessionHandle, typing: Typing, words: &str) {
    let before = match &typing {
        Typing::Command => String::new(),
        Typing::Filter(pane) => state.filter(*pane).to_owned(),
        Typing::Over(over) => over.filter().to_owned(),
    };
    let input = if words.is_empty() { before.clone() } else { words.to_owned() };
    let mut prompt = Prompt { typing, input: input.into(), before, completions: Vec::new(), chosen: None };
    prompt.completions = completion::completions(session, state, &prompt);
    state.overlay = Some(Overlay::Prompt(prompt));
}

/// Edits the prompt. A filter applies at once.
pub fn type_in(state: &mut State, session: &dyn SessionHandle, edit: impl FnOnce(&mut Prompt)) {
    let Some(Overlay::Prompt(mut prompt)) = state.overlay.take() else { return };
    edit(&mut prompt);
    prompt.completions = completion::completions(session, state, &prompt);
    prompt.chosen = None;
    let text = prompt.input.value().to_owned();
    match &mut prompt.typing {
        Typing::Command => {}
        Typing::Filter(pane) => state.set_filter(*pane, text),
        Typing::Over(over) => over.set_filter(text),
    }
    state.overlay = Some(Overlay::Prompt(prompt));
}

/// Types a text without its control characters.
pub fn type_text(state: &mut State, session: &dyn SessionHandle, text: &str) {
    type_in(state, session, |prompt| {
        overlay::paste(&mut prompt.input, text);
    });
}

#[allow(clippy::unnecessary_wraps, reason = "every verb answers so")]
fn complete(state: &mut State, session: &mut dyn SessionHandle, _: &str) -> Result<Answer, CommandError> {
    type_in(state, session, |prompt| {
        if let Some(text) = completion::complete(prompt) {
            prompt.input = text.into();
        }
    });
    Ok(Answer::Done)
}

/// Runs the typed command. If the chosen completion needs arguments, completes it instead.
fn submit(state: &mut State, session: &mut dyn SessionHandle, _: &str) -> Result<Answer, CommandError> {
    let Some(Overlay::Prompt(prompt)) = state.overlay.take() else { return Ok(Answer::Done) };
    match prompt.typing {
        Typing::Command => {}
        Typing::Filter(pane) => {
            if pane == Pane::OVERVIEW {
                panes::overview::select_match(state);
            }
            return Ok(Answer::Done);
        }
        Typing::Over(over) => {
            state.overlay = Some(*over);
            return Ok(Answer::Done);
        }
    }
    if let Some(line) = completion::chosen(&prompt) {
        if completion::wants_more(&line) {
            state.overlay = Some(Overlay::Prompt(prompt));
            type_in(state, session, |prompt| prompt.input = line.into());
            return Ok(Answer::Done);
        }
        return execute(state, session, &line);
    }
    // A complete command needs no completion.
    let is_complete = verbs::command(prompt.input.value().trim()).is_some();
    match completion::only(&prompt).filter(|_| !is_complete) {
        Some(line) if completion::wants_more(&line) => {
            state.overlay = Some(Overlay::Prompt(prompt));
            type_in(state, session, |prompt| prompt.input = line.into());
            Ok(Answer::Done)
        }
        Some(line) => execute(state, session, &line),
        None => execute(state, session, prompt.input.value()),
    }
}

/// Runs a command line.
fn execute(state: &mut State, session: &mut dyn SessionHandle, line: &str) -> Result<Answer, CommandError> {
    let line = line.trim();
    let (name, args) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    if name.is_empty() {
        return Ok(Answer::Done);
    }
    match verbs::command(name).map(|(verb, _)| verb.run) {
        Some(Run::Own(run)) => run(state, session, args.trim()),
        Some(Run::WhatIf(row)) => what_if::run(row, state, session, args.trim()),
        None => {
            let help = state.settings.keymap.label(Context::GLOBAL, &Action::HELP);
            Err(CommandError::Unknown { name: name.to_owned(), meant: meant(name), help })
        }
    }
}

/// Returns the commands that may be meant by a name that none has. Those of one letter are nearest to any short name, and do not
/// count.
fn meant(name: &str) -> MeantCommands {
    let listed = || verbs::all().filter_map(|verb| verb.command.as_ref()).filter(|command| !command.help.is_empty());
    let mut beginning: Vec<&'static str> = listed().map(|command| command.names[0]).filter(|own| own.starts_with(name)).collect();
    beginning.sort_unstable();
    beginning.dedup();
    let names = || listed().flat_map(|command| command.names).copied().filter(|own| own.len() > 1);
    match nearest(name, names()) {
        Some(nearest) if beginning.is_empty() => MeantCommands::Nearest(nearest),
        _ => MeantCommands::Beginning(beginning),
    }
}
