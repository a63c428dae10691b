//! Shows who evicted a pod, and why it; lists the pods that left their nodes.

use std::collections::BTreeMap;

use crate::analysis::{EvictionStory, Preempted, SeenLeaving, last_leaving, leavings, preempted};
use crate::cluster::Key;
use crate::output::{Document, Words};
use crate::report::{eviction_document, leavings_document, recorded_preemptions};
use crate::session::Cursor;
use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::pod_key;
use crate::ui::actions::prelude::*;
use crate::ui::actions::selected;
use crate::ui::model::overlay::{Completion, Overlay};
use crate::ui::model::session_handle::{self};
use crate::ui::model::text_view::{Form, Target, TextView};
use crate::ui::model::time_travel::seek_and_follow;

/// `evicted`, of a pod that is selected, or named though it is gone; `evictions`, of all.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["W"], "", "who evicted the pod, and why it: goes to the moment before")],
        command: Some(Command {
            complete: |session, _, word| complete(session, word),
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
    let found = leavings(session.timeline().revisions(), &session.background().events);
    if found.is_empty() {
        let recorded = recorded(session);
        if recorded.is_empty() {
            return Err(CommandError::NoneEvicted);
        }
        show_list(state, "Preemptions that the source records", None, recorded);
        return Ok(Answer::Done);
    }
    let mut view = TextView::new("Pods that left their nodes", leavings_document(&found), Form::Prose);
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
    match last_leaving(session.timeline().revisions(), &pod) {
        Some(seen) => show(state, session, seen),
        // A dump has no moment before, but may record who it was.
        None if show_recorded(state, session, &pod) => {}
        // The pod may be the one that its controller made in place of an evicted one.
        None => match siblings(session, &pod) {
            Some((owner, found)) => {
                let none = format!("The source records no eviction of {pod}, but of other pods of {owner}:");
                show_list(state, &format!("Evictions of pods of {owner}"), Some(none), found);
            }
            None => return Err(CommandError::NotEvicted(pod)),
        },
    }
    Ok(Answer::Done)
}

/// Returns the preemptions that events and conditions record, oldest first.
fn recorded(session: &dyn SessionHandle) -> Vec<Preempted> {
    preempted(session.scheduler_here().state().cluster(), &session.background().events)
}

/// Shows who evicted a pod, as the source records it. Returns false without a record.
pub(super) fn show_recorded(state: &mut State, session: &dyn SessionHandle, pod: &Key) -> bool {
    let document = recorded_preemptions(pod, session.scheduler_here(), &session.background().events);
    let recorded = document.is_some();
    state.overlay = document.map(|body| of_eviction(pod, body, session)).or(state.overlay.take());
    recorded
}

fn of_eviction(pod: &Key, body: Document, session: &dyn SessionHandle) -> Overlay {
    let document = session_handle::LinkedText::prose(format!("Eviction of {pod}"), body);
    Overlay::Text(TextView::of(document, Some(session.timeline())))
}

/// Lists preemptions, the newest first. Enter says who it was.
fn show_list(state: &mut State, title: &str, first: Option<String>, found: Vec<Preempted>) {
    let mut body = Document::default();
    let mut links = BTreeMap::new();
    if let Some(first) = first {
        body.item(0, first);
    }
    for preemption in found.into_iter().rev() {
        let at = preemption.at.map_or_else(|| "at an unknown time".to_owned(), |at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string());
        let words = Words::from(format!("{at}  ")).pod(&preemption.victim);
        let words = if preemption.node.is_empty() { words } else { words.text(" left ").node(&preemption.node) };
        let words = match preemption.preemptor.as_ref().or(preemption.gone.as_ref()) {
            Some(by) => words.text(": preempted by ").pod(by),
            None => words.text(": preempted by a pod that the source does not name"),
        };
        links.insert(body.rows().len(), Target::Recorded(preemption.victim));
        body.item(0, words);
    }
    let mut view = TextView::new(title, body, Form::Prose);
    view.view.selected = links.keys().next().copied();
    view.links = links;
    state.overlay = Some(Overlay::Text(view));
}

/// Returns the recorded preemptions of other pods of a pod's controller, with the controller; `None` without one. A victim that is gone
/// belongs to the controller by its name: that of the controller, a dash, and one more word.
fn siblings(session: &dyn SessionHandle, pod: &Key) -> Option<(String, Vec<Preempted>)> {
    let cluster = &session.timeline().keyframe().cluster;
    let owner = cluster.pods.get(pod)?.metadata.controller()?.clone();
    let is_of_owner = |victim: &Key| match cluster.pods.get(victim) {
        Some(other) => other.metadata.controller() == Some(&owner),
        None => {
            let own = victim.name.strip_prefix(owner.name.as_str()).and_then(|rest| rest.strip_prefix('-'));
            own.is_some_and(|word| !word.is_empty() && !word.contains('-'))
        }
    };
    let mut found = recorded(session);
    found.retain(|preemption| preemption.victim.namespace == pod.namespace && is_of_owner(&preemption.victim));
    (!found.is_empty()).then(|| (format!("{} {}", owner.kind, owner.name), found))
}

/// Returns completions: the pods whose eviction the source records, or else all that contain the typed text.
fn complete(session: &dyn SessionHandle, typed: &str) -> Vec<Completion> {
    let recorded = recorded(session).into_iter().rev().map(|preemption| preemption.victim.to_string());
    let evicted = arguments::named(recorded.collect(), typed);
    if evicted.is_empty() { arguments::all_pods(session, typed) } else { evicted }
}

/// Goes to the moment before a pod left its node, and says who evicted it.
pub(super) fn show(state: &mut State, session: &mut dyn SessionHandle, seen: SeenLeaving) {
    // The state before the revision is that after the one before it.
    let before = match seen.revision.checked_sub(1) {
        Some(revision) => Cursor { revision, event: usize::MAX },
        None => Cursor::default(),
    };
    state.leave_whole();
    let pod = seen.pod.clone();
    state.subjects.subject = Some(pod.clone());
    seek_and_follow(state, session, |s| s.timeline_mut().seek(before));
    let story = EvictionStory::new(seen, session.scheduler_here(), &session.background().events);
    state.overlay = Some(of_eviction(&pod, eviction_document(&story), session));
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
