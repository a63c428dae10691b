//! Shows who evicted a pod, and why it; lists the pods that left their nodes.

use crate::analysis::SeenLeaving;
use crate::cluster::Key;
use crate::session::Cursor;
use crate::ui::actions::arguments;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::pod_key::pod_key;
use crate::ui::actions::selected;
use crate::ui::actions::verb::{Answer, Command, Verb, keys};
use crate::ui::config::context::Context;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::model::text_view::{Form, Target, TextView};
use crate::ui::model::time_travel::seek_and_follow;

/// `evicted`, of a pod that is selected, or named though it is gone; `evictions`, of all.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["W"], "", "who evicted the pod, and why it: goes to the moment before")],
        command: Some(Command {
            complete: |session, _, word| arguments::all_pods(session, word),
            ..Command::new(&["evicted"], "[NAMESPACE/NAME]", "who evicted a pod on the timeline, and why it: goes to the moment before")
        }),
        ..Verb::new("evicted", of_pod)
    },
    Verb {
        command: Some(Command::new(&["evictions"], "", "the pods that were preempted or deleted on the timeline; / finds one")),
        ..Verb::new("evictions", list)
    },
];

/// Lists the pods that left their nodes, the newest first.
fn list(state: &mut State, session: &mut dyn SessionHandle, _: &str) -> Result<Answer, CommandError> {
    let found = session.leavings();
    if found.is_empty() {
        return Err(CommandError::NoneEvicted);
    }
    let mut view = TextView::new("Pods that left their nodes", session.leavings_list(&found), Form::Prose);
    view.links = found.into_iter().enumerate().map(|(at, listed)| (at, Target::Leaving(listed.seen))).collect();
    view.view.selected = Some(0);
    state.overlay = Some(Overlay::Text(view));
    Ok(Answer::Done)
}

fn of_pod(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let name = args.trim();
    let pod = if name.is_empty() {
        selected::pod(state, session).or_else(|| state.subjects.subject.clone()).ok_or(CommandError::NoPodName)?
    } else {
        named(session, name)?
    };
    match session.leaving(&pod) {
        Some(seen) => show(state, session, seen),
        // A dump has no moment before, but may record who it was.
        None => {
            let document = session.recorded_eviction(&pod).ok_or(CommandError::NotEvicted(pod))?;
            state.overlay = Some(Overlay::Text(TextView::of(document, session.timeline())));
        }
    }
    Ok(Answer::Done)
}

/// Goes to the moment before a pod left its node, and says who evicted it.
pub(super) fn show(state: &mut State, session: &mut dyn SessionHandle, seen: SeenLeaving) {
    // The state before the revision is that after the one before it.
    let before = match seen.revision.checked_sub(1) {
        Some(revision) => Cursor { revision, event: usize::MAX },
        None => Cursor::default(),
    };
    state.leave_whole();
    state.subjects.subject = Some(seen.pod.clone());
    seek_and_follow(state, session, |s| s.timeline_mut().seek(before));
    let document = session.eviction(seen);
    state.overlay = Some(Overlay::Text(TextView::of(document, session.timeline())));
}

/// Returns the pod with a name; without its namespace, one of the cursor's state or of the start.
fn named(session: &dyn SessionHandle, name: &str) -> Result<Key, CommandError> {
    let here = pod_key(session, name);
    if here.is_ok() {
        return here;
    }
    let first = session.timeline().revisions().first();
    let called =
        first.and_then(|first| first.before.cluster.pods.iter().find(|pod| pod.metadata.name.as_str() == name).map(|pod| pod.key()));
    called.map_or(here, Ok)
}
