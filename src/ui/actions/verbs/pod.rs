//! Shows a pod, or the decision about one.

use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::{no_pod, pod_named_or_selected};
use crate::ui::actions::prelude::*;
use crate::ui::model::not_waiting::NotWaiting;
use crate::ui::model::time_travel::show_pod;
use crate::ui::view::panes;

/// `pod`, and the command `pod NAME`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["v"], "pod", "show the pod that is selected, or that of the cycle")],
        ..Verb::new("pod", |state, session, _| {
            panes::pod::open_best(state, session.timeline());
            Ok(Answer::Done)
        })
    },
    Verb {
        command: Some(Command {
            complete: |session, _, word| arguments::all_pods(session, word),
            ..Command::new(&["pod"], "[NAMESPACE/NAME]", "show a pod's decision, taking it first if need be")
        }),
        ..Verb::new("show-pod", show)
    },
];

fn show(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let key = pod_named_or_selected(state, session, args)?;
    let timeline = session.timeline();
    if timeline.keyframe().cluster.pods.get(&key).is_none() && !timeline.queues().entries.contains_key(&key) {
        return Err(no_pod(session, &key));
    }
    if !show_pod(state, session, &key) {
        let why = NotWaiting::of(session.timeline(), &key).unwrap_or(NotWaiting::NotQueued);
        state.open_pod(key.clone());
        state.warn(format!("{key} {why}; this is the pod"));
    }
    Ok(Answer::Done)
}
