//! What-ifs as commands: the selected object where the arguments leave it out, and how each is applied.

use crate::cluster::Key;
use crate::session::{Edit, Row, Subject, Thing, Timeline, Verb, VerbError};
use crate::ui::actions::edits;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::jobs;
use crate::ui::actions::selected;
use crate::ui::actions::verb::Answer;
use crate::ui::model::job::Job;
use crate::ui::model::session_handle::{Change, SessionHandle};
use crate::ui::model::state::State;
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
        return edits::apply(state, session, Change::Edit(edit));
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
        Verb::Release(release) => edits::apply(state, session, Change::Release(release)),
        verb => {
            let subject = subject(state, session);
            edits::apply(state, session, Change::WhatIf(verb, subject))
        }
    }
}

/// Applies the objects of a file.
pub fn apply_file(state: &mut State, session: &mut dyn SessionHandle, path: &str) -> Result<Answer, CommandError> {
    let change = Change::File(path.to_owned(), subject(state, session));
    edits::apply(state, session, change)
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
