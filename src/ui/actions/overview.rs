//! The overview of pending pods: the first screen, and its progress.

use std::sync::Arc;

use crate::analysis::{Cause, CauseFix, FixSearch, Stage};
use crate::cluster::{Key, Str};
use crate::output::{Document, Words};
use crate::session::Timeline;
use crate::ui::model::list::RowId;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::overview::OverviewRow;
use crate::ui::model::pane::Pane;
use crate::ui::model::session_handle::{self, FixToApply, SessionHandle};
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::model::text_view::{Form, TextView};
use crate::ui::view::panes;
use crate::ui::view::panes::overview::show_workload;
use crate::ui::view::refresh::renew;

/// Limit on the pods that a text names.
const NAMED: usize = 200;

/// Shows the first screen: the overview, or nothing where one pod is pending. Returns that pod, whose decision is to be shown.
/// A session that was left elsewhere than at its start, or at the end of what a scheduler's log says, is shown as it was.
pub fn show_overview_first(state: &mut State, session: &mut dyn SessionHandle) -> Option<Key> {
    let timeline = session.timeline();
    let log_ends = || timeline.at_end() && timeline.revisions().last().is_some_and(|revision| revision.is_logged());
    if !timeline.at_start() && !log_ends() {
        return None;
    }
    if let Some(only) = only_pending(timeline) {
        return Some(only);
    }
    open(state, session);
    None
}

/// Opens the overview.
fn open(state: &mut State, session: &mut dyn SessionHandle) {
    state.show(Pane::OVERVIEW);
    state.focus = Pane::OVERVIEW;
    state.touch();
    update_overview(state, session);
    renew(state, session);
}

/// Opens the overview, and the page of a workload above it as soon as all pods are decided. Returns false if there is no such workload.
pub fn show_workload_first(state: &mut State, session: &mut dyn SessionHandle, words: &str) -> bool {
    state.subjects.first_workload = session.workload_named(words, None);
    if state.subjects.first_workload.is_none() {
        return false;
    }
    open(state, session);
    true
}

/// Opens the page of the workload to show first, if the overview that it is made of is complete.
fn show_first_workload(state: &mut State, session: &dyn SessionHandle) {
    let complete = state.overview.newest.as_ref().is_some_and(|overview| overview.stage.is_end());
    if complete
        && state.overlay.is_none()
        && let Some(workload) = state.subjects.first_workload.take()
    {
        show_workload(state, session, &workload);
    }
}

/// Returns the pending pod, if there is only one and it is in the queues.
fn only_pending(timeline: &Timeline) -> Option<Key> {
    let mut pending = timeline.keyframe().cluster.pods.iter().filter(|pod| pod.is_pending());
    let only = pending.next().filter(|_| pending.next().is_none())?;
    timeline.queues().entries.contains_key(&only.key()).then(|| only.key())
}

/// Starts the overview of the state at the cursor if it is in sight and not there, and takes its newest part. Returns whether
/// anything is new.
pub fn update_overview(state: &mut State, session: &mut dyn SessionHandle) -> bool {
    if state.arrangement.whole != Some(Pane::OVERVIEW) {
        return false;
    }
    if let Err(error) = session.renew_overview(false) {
        state.warn(error.to_string());
    }
    let mut status = session.overview();
    let known = &state.overview;
    // Until the first part is there, the parts of the state before are shown.
    if status.newest.is_none() && known.newest.is_some() {
        (status.newest, status.is_current) = (known.newest.clone(), false);
    }
    if same(status.newest.as_ref(), known.newest.as_ref()) && (status.runs, status.is_current) == (known.runs, known.is_current) {
        return false;
    }
    state.overview = status;
    if state.seen_pending.is_none() && state.overview.newest.as_ref().is_some_and(|overview| overview.stage == Stage::Complete) {
        // At first sight nothing is new.
        state.see_overview();
    }
    show_first_workload(state, session);
    show_wanted_fix(state);
    state.touch();
    true
}

fn same<T>(one: Option<&Arc<T>>, other: Option<&Arc<T>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (None, None) => true,
        _ => false,
    }
}

/// Returns whether the overview is in sight and is being made, or is to be made again.
pub fn overview_has_update(state: &State) -> bool {
    state.arrangement.whole == Some(Pane::OVERVIEW) && (state.overview.runs || !state.overview.is_current)
}

/// Goes to the overview. If it was stopped, makes it again.
pub fn go(state: &mut State, session: &mut dyn SessionHandle) {
    let stopped = state.overview.newest.as_ref().is_some_and(|overview| overview.stage == Stage::Stopped);
    if stopped && let Err(error) = session.renew_overview(true) {
        state.warn(error.to_string());
    }
    let def = panes::def(Pane::OVERVIEW);
    (def.visit)(def, state, session.timeline());
    state.touch();
}

/// Returns the cause of the selected row of the overview.
pub fn selected_cause(state: &State) -> Option<&Cause> {
    let key: &Str = match state.list(Pane::OVERVIEW).selected.as_ref()? {
        RowId::Cause(key) | RowId::CauseFix(key) => key,
        _ => return None,
    };
    state.overview.newest.as_ref()?.causes.iter().find(|cause| cause.key == key.as_str())
}

/// Returns the first pod of the selected cause that the filter leaves; `None` where no cause is selected, or its pods do not exist.
pub fn first_pod(state: &State) -> Option<Key> {
    let (RowId::Cause(key) | RowId::CauseFix(key)) = state.list(Pane::OVERVIEW).selected.as_ref()? else { return None };
    state.view_model.rows.overview.iter().find_map(|row| match row {
        OverviewRow::Cause(cause) if cause.key == *key => cause.first.clone(),
        _ => None,
    })
}

/// Shows the fix that was asked for before it was found, if its cause is still selected.
fn show_wanted_fix(state: &mut State) {
    let Some(key) = state.subjects.wanted_fix.take() else { return };
    let Some(cause) = selected_cause(state).filter(|cause| cause.key == key.as_str()) else { return };
    match (&cause.fix, &state.overlay) {
        (FixSearch::Ahead, _) => state.subjects.wanted_fix = Some(key),
        (FixSearch::Found(_), None) => drop(show_fix(state)),
        (search, None) => {
            let words = search.words(cause.count());
            state.say(words);
        }
        _ => {}
    }
}

fn to_apply(fix: &CauseFix) -> FixToApply {
    let (pod, changes, pods) = (fix.first.clone(), fix.parts.clone().into(), fix.freed.clone().into());
    FixToApply { text: fix.fix.text.clone(), pod, changes, pods }
}

/// Shows the fix of the selected cause with its pods and commands. Returns the pod whose fixes are to be searched instead:
/// the selected one, or the first of a cause without a fix.
pub fn show_fix(state: &mut State) -> Option<Key> {
    if let Some(RowId::Pod(pod)) = &state.list(Pane::OVERVIEW).selected {
        return Some(pod.clone());
    }
    let cause = selected_cause(state)?;
    if let FixSearch::Ahead = &cause.fix {
        let key: Str = cause.key.as_str().into();
        state.subjects.wanted_fix = Some(key);
        state.say("searching for the fix of this cause; it is shown when it is found");
        return None;
    }
    let view = match (&cause.fix, cause.fix.found()) {
        (FixSearch::Said(words, commands), _) => advice(cause, words, commands),
        (_, Some(fix)) => found(cause, fix),
        (_, None) => return cause.pods.first().cloned(),
    };
    state.overlay = Some(Overlay::Text(view));
    None
}

/// Returns the text of a fix that is advice about workloads.
fn advice(cause: &Cause, words: &str, commands: &[String]) -> TextView {
    let pods = text::count(cause.count(), "pod");
    let mut body = Document::default();
    body.heading(2, "Cause");
    body.item(2, format!("{pods}: {}", cause.sentence));
    // The words say themselves that they are a fix.
    if !words.is_empty() {
        body.item(2, words);
    }
    if !commands.is_empty() {
        body.heading(2, "Commands");
        body.code(5, commands.to_vec());
    }
    body.heading(2, "Workloads");
    cause.workloads.iter().take(NAMED).for_each(|workload| body.item(2, workload.in_namespace()));
    TextView::new(format!("Fix for {pods}"), body, Form::Prose)
}

/// Returns the text of a fix that was found, with a link that applies it.
fn found(cause: &Cause, fix: &CauseFix) -> TextView {
    let pods = cause.pods.len();
    let mut body = Document::default();
    body.heading(2, "Cause");
    body.item(2, format!("{}: {}", text::count(pods, "pod"), cause.sentence));
    body.heading(2, "Fix");
    let last = fix.fix.last_resort.as_ref().map_or_else(String::new, |why| format!(" (only if nothing else helps: {why})"));
    let frees = if fix.preempts() { "preempts for" } else { "frees" };
    let places = if fix.preempts() { "Pods that it lets preempt" } else { "Pods that it places, one after another" };
    let words = format!("{}: {frees} {} of {pods}{last}{}", fix.fix.text, fix.frees, fix.nodes_words(pods));
    if let Some(needed) = cause.without_fix() {
        body.item(2, needed);
    }
    body.item(2, Words::of_fix(0, words));
    let (freed, left): (Vec<&Key>, Vec<&Key>) = cause.pods.iter().partition(|pod| fix.freed.binary_search(pod).is_ok());
    for (title, pods) in [(places, freed), ("Pods that stay pending", left)] {
        if pods.is_empty() {
            continue;
        }
        body.heading(2, title);
        pods.iter().take(NAMED).for_each(|pod| body.item(2, Words::of_pod(pod)));
        if pods.len() > NAMED {
            body.item(2, format!("and {} more", text::thousands(pods.len() - NAMED)));
        }
    }
    let commands = fix.fix.commands();
    if !commands.is_empty() {
        body.heading(2, "Commands");
        body.code(5, commands);
    }
    let title = format!("Fix for {}", text::count(pods, "pod"));
    let document = session_handle::LinkedText { fixes: vec![to_apply(fix)], ..session_handle::LinkedText::prose(title, body) };
    TextView::of(document, None)
}
