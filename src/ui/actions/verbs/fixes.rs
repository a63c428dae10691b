//! Searches for fixes: the demands that keep a pod out, and the changes that let it in.

use crate::ui::actions::arguments;
use crate::ui::actions::jobs;
use crate::ui::actions::overview;
use crate::ui::actions::pod_key::{no_pod, pod_key};
use crate::ui::actions::prelude::*;
use crate::ui::model::job::Job;
use crate::ui::model::pane::Pane;
use crate::ui::view::panes::overview as overview_pane;

/// `fixes`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["x"], "fixes", "what keeps the pod out, and the changes that let it in; Esc stops the search"),
        keys(overview_pane::CONTEXT, &["x"], "fix", "the fix that frees most pods of the cause; of a pod, all its fixes"),
    ],
    command: Some(Command {
        complete: |session, _, word| arguments::pods(session, word),
        ..Command::new(&["fixes"], "[POD]", "what keeps a pod out, and the changes that let it in")
    }),
    ..Verb::new("fixes", fixes)
}];

/// Searches fixes for the named pod, the one selected in the queues, the one on the page in focus, or the one of the cycle. In the overview, shows the fix of
/// the selected cause.
fn fixes(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let timeline = session.timeline();
    let of_cycle = || timeline.cycle().start.as_ref().map(|start| start.pod.clone());
    let selected = state.selected_pod().cloned();
    let of_cycle = of_cycle();
    let pod = match args {
        "" if state.focus == Pane::OVERVIEW => match overview::show_fix(state) {
            Some(pod) => Some(pod),
            None => return Ok(Answer::Done),
        },
        "" if state.focus == Pane::QUEUES => selected.or(of_cycle),
        "" if state.focus == Pane::POD => state.subjects.pod.clone(),
        "" => of_cycle.or(selected),
        name => Some(pod_key(session, name)?),
    };
    let Some(pod) = pod else { return Err(CommandError::NoPodName) };
    let known = session.timeline().keyframe().cluster.pods.get(&pod).cloned();
    match known {
        None => return Err(no_pod(session, &pod)),
        Some(known) if !known.is_pending() => state.say(format!("{pod} has a node: it needs no fix")),
        Some(_) => jobs::begin(state, session, Job::Fixes(pod)),
    }
    Ok(Answer::Done)
}
