//! What-ifs: commands that begin a branch, and the objects that they are about.

use crate::cluster::Key;
use crate::session::{RevisionKind, Timeline};
use crate::ui::actions::edits::Confirmation;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::selected;
use crate::ui::actions::verb::Answer;
use crate::ui::actions::verbs;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::{Page, SessionHandle};
use crate::ui::model::state::State;
use crate::ui::model::text_view::TextView;
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::model::what_ifs::WhatIfs;
use crate::whatif::{Verb, WhatIfError};

/// Applies a what-if as typed: a word and its arguments. Shows who moved where if pods come or go with it.
pub fn what_if(state: &mut State, session: &mut dyn SessionHandle, word: &str, args: &str) -> Result<Answer, CommandError> {
    let verb: Verb = format!("{word} {args}").parse().map_err(|error| in_prompt(word, error))?;
    let mut done = None;
    let begun = WhatIfs::begin(session);
    // The overview is about all pods.
    let subject = shown(session.timeline()).filter(|_| state.whole.is_none());
    seek_and_follow(state, session, |session| done = Some(session.what_if(&verb, subject.as_ref())));
    state.touch();
    if let Some(done) = done {
        let done = done?;
        state.what_ifs.finish(begun, verb.to_string(), session);
        let compare = format!("; {} compares", state.settings.keymap.label(Context::GLOBAL, &Action::Verb("compare")));
        let words = Confirmation { done: done.headline, branch: done.branch, subject: done.subject, more: vec![compare] };
        state.say(words.fitted(state.size.0.into()));
        let page = Page { title: done.document.title.clone(), body: done.document.body.clone() };
        state.what_ifs.remember(verb.settles().then_some(page), session);
        if verb.settles() {
            state.overlay = Some(Overlay::Text(TextView::of(done.document, session.timeline())));
        }
    }
    Ok(Answer::Done)
}

/// Returns the error with the arguments of the command, which may be left out where the selected row has them.
fn in_prompt(word: &str, error: WhatIfError) -> CommandError {
    match (error, verbs::command(word)) {
        (WhatIfError::Arguments { verb, .. }, Some((_, command))) if !command.args.is_empty() => {
            CommandError::Usage { command: verb, args: command.args }
        }
        (error, _) => error.into(),
    }
}

/// Returns the pod of the decision at the cursor, also before its first step.
fn shown(timeline: &Timeline) -> Option<Key> {
    let of_cycle = timeline.cycle().start.as_ref().map(|start| start.pod.clone());
    of_cycle.or_else(|| match &timeline.revision()?.kind {
        RevisionKind::Explain(pod) => Some(pod.clone()),
        _ => None,
    })
}

/// Returns the arguments, or the selected node if there are none.
pub fn or_node(state: &State, session: &dyn SessionHandle, command: &'static str, args: &str) -> Result<String, CommandError> {
    or(args, || selected::node(state, session).map(|node| node.to_string()), CommandError::Needs { command, what: "a node name" })
}

/// Returns the arguments, or the selected pod if there are none.
pub fn or_pod(state: &State, session: &dyn SessionHandle, args: &str) -> Result<String, CommandError> {
    or(args, || selected::pod(state, session).map(|pod| pod.to_string()), CommandError::NoPodName)
}

/// Returns the arguments, or the selected budget if there are none.
pub fn or_budget(state: &State, args: &str) -> Result<String, CommandError> {
    or(args, || selected::budget(state).map(ToString::to_string), CommandError::Needs { command: "relax", what: "a budget's name" })
}

fn or(args: &str, selected: impl Fn() -> Option<String>, error: CommandError) -> Result<String, CommandError> {
    if args.is_empty() { selected().ok_or(error) } else { Ok(args.to_owned()) }
}

/// Returns the arguments with the selected object before them, if they are one word: `dedicated=db:NoSchedule` becomes
/// `worker-a1 dedicated=db:NoSchedule`.
pub fn with_first(args: &str, selected: impl Fn() -> Option<String>) -> String {
    let mut words = args.split_whitespace();
    match (words.next(), words.next()) {
        (Some(only), None) => selected().map_or_else(|| only.to_owned(), |first| format!("{first} {only}")),
        _ => args.to_owned(),
    }
}
