//! Verbs: actions that keys and commands run, with their names, keys and help. Help, hints, completion and the README's
//! table of keys are made from them.

use crate::session::Row;
use crate::ui::actions::arguments;
use crate::ui::actions::error::CommandError;
use crate::ui::config::context::Context;
use crate::ui::model::effect::Effect;
use crate::ui::model::overlay::{Completion, Typing};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::view::pane::PaneDef;

#[derive(Clone, Copy)]
pub struct Verb {
    /// Its name in `[keys]` of the configuration.
    pub name: &'static str,
    /// Its keys, a row for each context.
    pub keys: &'static [Keys],
    /// Returns its keys in the context of a pane.
    pub pane_keys: fn(&PaneDef) -> Option<Keys>,
    /// Its command; `None` for a verb that only keys run.
    pub command: Option<Command>,
    /// Returns whether it neither calls the engine nor moves the cursor, so it runs before the next frame.
    pub runs_on_ui_thread: fn(&State) -> bool,
    /// How it runs.
    pub run: Run,
}

/// How a verb runs.
#[derive(Clone, Copy)]
pub enum Run {
    /// By a function of its own.
    Own(Own),
    /// As a what-if of the grammar, which has its completion too.
    WhatIf(&'static Row),
}

/// Changes the state and the session. Takes the arguments of a command; a key passes none. Errors are shown to the user.
pub type Own = fn(&mut State, &mut dyn SessionHandle, &str) -> Result<Answer, CommandError>;

/// Keys of a verb in a context.
#[derive(Clone, Copy)]
pub struct Keys {
    pub context: Context,
    /// The keys. Hints show the first.
    pub keys: &'static [&'static str],
    /// One or two words for the hints; empty for keys without a hint.
    pub short: &'static str,
    /// A phrase for the help.
    pub help: &'static str,
}

/// Returns keys of a verb: their context, the keys, hint and help.
pub const fn keys(context: Context, keys: &'static [&'static str], short: &'static str, help: &'static str) -> Keys {
    Keys { context, keys, short, help }
}

/// The command of a verb.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its names; the first is listed.
    pub names: &'static [&'static str],
    /// Its arguments; empty for none.
    pub args: &'static str,
    /// A phrase for the help; empty for a command that is not listed.
    pub help: &'static str,
    /// Completes the last word of the arguments. Takes the arguments typed so far.
    pub complete: fn(&dyn SessionHandle, &State, &str) -> Vec<Completion>,
}

impl Command {
    /// Returns a command without completions: its name, arguments and help.
    pub const fn new(names: &'static [&'static str], args: &'static str, help: &'static str) -> Self {
        Self { names, args, help, complete: |_, _, _| Vec::new() }
    }
}

impl Verb {
    /// Returns a verb without keys and commands that runs on the worker.
    pub const fn new(name: &'static str, run: Own) -> Self {
        Self { name, keys: &[], pane_keys: |_| None, command: None, runs_on_ui_thread: |_| false, run: Run::Own(run) }
    }

    /// Returns the command of a what-if.
    pub fn of_what_if(row: &'static Row) -> Self {
        let names = std::slice::from_ref(&row.word);
        let command = Some(Command::new(names, row.args_of_selected, row.help));
        Self { name: row.word, keys: &[], pane_keys: |_| None, command, runs_on_ui_thread: |_| false, run: Run::WhatIf(row) }
    }

    /// Returns completions of the last word of the arguments typed so far.
    pub fn complete(&self, session: &dyn SessionHandle, state: &State, args: &str) -> Vec<Completion> {
        match (self.run, &self.command) {
            (Run::WhatIf(row), _) => arguments::of_what_if(row, session, args),
            (Run::Own(_), Some(command)) => (command.complete)(session, state, args),
            (Run::Own(_), None) => Vec::new(),
        }
    }
}

/// The result of a verb.
#[derive(Debug)]
pub enum Answer {
    /// Nothing.
    Done,
    /// An effect for the app.
    Effect(Effect),
    /// Open a prompt with this text in it.
    Prompt(Typing, &'static str),
}
