//! What-ifs as commands: the selected object where the arguments leave it out, and how each is applied.

use crate::cluster::Key;
use crate::session::{Edit, Row, Subject, Thing, Timeline, Verb, VerbError};
use crate::ui::actions::edits::{Confirmation, apply_edit, confirm};
use crate::ui::actions::error::CommandError;
use crate::ui::actions::jobs;
use crate::ui::actions::selected;
use crate::ui::actions::verb::Answer;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::{Change, Document, Job, Page, SessionHandle};
use crate::ui::model::state::State;
use crate::ui::model::text_view::{Form, TextView};
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::model::what_ifs::WhatIfs;
use crate::whatif::{pod_or_workload_named, workload_of};

/// Runs a what-if as typed, with the selected object where the arguments leave it out.
pub fn run(row: &'static Row, state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    if args.is_empty() && row.subject == Subject::Shown {
        state.say(session.release_report().sentence().to_owned());
        return Ok(Answer::Done);
    }
    let args = with_subject(row, state, session, args)?;
    if row.edits {
        let edit = Edit::parse_in(&format!("{} {args}", row.word), &session.timeline().keyframe().cluster)?;
        return apply_edit(state, session, Change::Edit(edit));
    }
    match format!("{} {args}", row.word).parse().map_err(|error| in_prompt(row, error))? {
        Verb::Capacity(pod) => {
            let pod = pod_or_workload_named(&session.timeline().keyframe().cluster, &pod)?.key();
            jobs::begin(state, session, Job::Capacity(pod));
            Ok(Answer::Done)
        }
        Verb::Flood(pod) => {
            let pod = pod_or_workload_named(&session.timeline().keyframe().cluster, &pod)?.key();
            jobs::begin(state, session, Job::Flood(pod));
            Ok(Answer::Done)
        }
        Verb::Release(release) => apply_edit(state, session, Change::Release(release)),
        verb => what_if(state, session, verb),
    }
}

/// Applies a what-if. Shows who moved where if pods come or go with it.
fn what_if(state: &mut State, session: &mut dyn SessionHandle, verb: Verb) -> Result<Answer, CommandError> {
    let (title, settles) = (verb.to_string(), verb.settles());
    let change = Change::WhatIf(verb, subject(state, session));
    apply_and_show(state, session, &change, (title, None), settles)
}

/// Applies the objects of a file. Shows what became of its pods, if it has any.
pub fn apply_file(state: &mut State, session: &mut dyn SessionHandle, path: &str) -> Result<Answer, CommandError> {
    let change = Change::File(path.to_owned(), subject(state, session));
    let is_first = session.timeline().revisions().iter().all(|revision| !revision.action.is_what_if());
    apply_and_show(state, session, &change, (format!("apply {path}"), is_first.then(|| path.to_owned())), true)
}

/// Applies a change, and shows its answer if the scheduler runs with it. Takes its title, and the file of a manifest that is the first
/// change.
fn apply_and_show(
    state: &mut State,
    session: &mut dyn SessionHandle,
    change: &Change,
    (title, manifest): (String, Option<String>),
    settles: bool,
) -> Result<Answer, CommandError> {
    let mut applied = None;
    let begun = WhatIfs::begin(session);
    seek_and_follow(state, session, |session| applied = Some(session.apply(change)));
    state.touch();
    let Some(mut applied) = applied.transpose()? else { return Ok(Answer::Done) };
    let Some(answer) = applied.answer.take() else {
        state.what_ifs.finish(begun, applied.title.clone(), session);
        confirm(state, applied, &[]);
        return Ok(Answer::Done);
    };
    state.what_ifs.finish(begun, title, session);
    let compare = format!("; {} compares", state.settings.keymap.label(Context::GLOBAL, &Action::Verb("compare")));
    let words = Confirmation { done: answer.headline, branch: applied.branch, subject: answer.subject, more: vec![compare] };
    state.say(words.fitted(state.size.0.into()));
    let page = Page { title: answer.title.clone(), body: answer.body.clone(), manifest: manifest.clone() };
    state.what_ifs.remember(settles.then_some(page), session);
    if settles {
        let document = Document { title: answer.title, body: answer.body, form: Form::Prose, fixes: Vec::new() };
        state.overlay = Some(Overlay::Text(TextView { manifest, ..TextView::of(document, session.timeline()) }));
    }
    Ok(Answer::Done)
}

/// Returns the pod whose decision is shown. The overview is about all pods.
fn subject(state: &State, session: &dyn SessionHandle) -> Option<Key> {
    shown(session.timeline()).filter(|_| state.arrangement.whole.is_none())
}

/// Returns the error with the arguments that are needed where something is selected.
fn in_prompt(row: &Row, error: VerbError) -> CommandError {
    match error {
        VerbError::Arguments { verb, .. } => CommandError::Usage { command: verb, args: row.args_of_selected },
        error => error.into(),
    }
}

/// Returns the pod of the decision at the cursor, also before its first step.
fn shown(timeline: &Timeline) -> Option<Key> {
    let of_cycle = timeline.cycle().start.as_ref().map(|start| start.pod.clone());
    of_cycle.or_else(|| timeline.revision()?.explained().cloned())
}

/// Returns the arguments of a what-if, with the selected object where they leave it out.
fn with_subject(row: &Row, state: &State, session: &dyn SessionHandle, args: &str) -> Result<String, CommandError> {
    let one_word = || !args.is_empty() && !args.contains(char::is_whitespace);
    Ok(match row.subject {
        Subject::Only(thing) if args.is_empty() => match (selected(thing, state, session), thing) {
            (Some(name), _) => name,
            (None, Thing::Node) => return Err(CommandError::Needs { command: row.word, what: "a node name" }),
            (None, Thing::Pod) => return Err(CommandError::NoPodName),
            (None, Thing::Budget) => return Err(CommandError::Needs { command: row.word, what: "a budget's name" }),
            (None, Thing::Workload | Thing::Object) => String::new(),
        },
        // The names of classes have no slash: the one word is a pod, and its priority is missing.
        Subject::First(Thing::Pod) if one_word() && args.contains('/') => {
            return Err(CommandError::Needs { command: row.word, what: "a number or a PriorityClass after the pod" });
        }
        Subject::First(thing) if one_word() => match selected(thing, state, session) {
            Some(name) => format!("{name} {args}"),
            None => args.to_owned(),
        },
        Subject::BeforePatch if args.starts_with('{') => match selected(Thing::Object, state, session) {
            Some(object) => format!("{object} {args}"),
            None => args.to_owned(),
        },
        Subject::Like => {
            // A number alone, or with `like`, is about the selected node.
            let count = args.strip_suffix("like").unwrap_or(args).trim();
            let node = selected(Thing::Node, state, session).filter(|_| !count.is_empty() && !count.contains(char::is_whitespace));
            node.map_or_else(|| args.to_owned(), |node| format!("{count} like {node}"))
        }
        Subject::None | Subject::Shown | Subject::Only(_) | Subject::First(_) | Subject::BeforePatch => args.to_owned(),
    })
}

/// Returns the name of the selected object, as it is typed.
fn selected(thing: Thing, state: &State, session: &dyn SessionHandle) -> Option<String> {
    match thing {
        Thing::Node => selected::node(state, session).map(|node| node.to_string()),
        Thing::Pod => selected::pod(state, session).map(|pod| pod.to_string()),
        Thing::Budget => selected::budget(state).map(ToString::to_string),
        Thing::Object => selected::object(state, session),
        Thing::Workload => {
            let pod = selected::pod(state, session)?;
            let cluster = &session.timeline().keyframe().cluster;
            workload_of(cluster, cluster.pods.get(&pod)?).map(|owner| owner.to_string())
        }
    }
}
