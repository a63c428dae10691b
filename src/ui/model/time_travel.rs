//! Moving the cursor through the record, and the panes that follow it.

use crate::cluster::{Key, Str};
use crate::session::{Cursor, Timeline};
use crate::trace::{Event, ExtensionPoint, StepSize};
use crate::ui::config::action::{Action, Direction};
use crate::ui::config::context::Context;
use crate::ui::model::list::{ListView, RowId};
use crate::ui::model::pane::{Pane, Place};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::size::Mode;
use crate::ui::model::state::State;

/// Moves the cursor and lets the panes follow, unless the user chose a pane in this cycle.
pub fn seek_and_follow(state: &mut State, session: &mut dyn SessionHandle, seek: impl FnOnce(&mut dyn SessionHandle)) {
    let before = session.timeline().cursor();
    let chosen = winner(session.timeline());
    seek(session);
    let timeline = session.timeline();
    if timeline.cursor() == before {
        return;
    }
    if state.pinned.is_some_and(|revision| revision != timeline.cursor().revision) {
        state.pinned = None;
    }
    // Once there is a nominated node, the selection moves to it.
    let wins = winner(timeline);
    if timeline.cursor().revision != before.revision {
        state.list_mut(Pane::NODES).reset();
    }
    if timeline.cursor().revision != before.revision || wins != chosen {
        *state.list_mut(Pane::PREEMPTION) = wins.map_or(ListView::DEFAULT, |node| ListView::at(RowId::Node(node)));
    }
    if state.pinned.is_none() && matches!(state.focus, Pane::QUEUES | Pane::NODES | Pane::PREEMPTION | Pane::STEPS) {
        follow(state, timeline);
    }
}

fn winner(timeline: &Timeline) -> Option<Str> {
    timeline.cycle().preemption.as_ref()?.selected().map(|(node, _)| node.clone())
}

/// Shows the pane for the event at the cursor: nodes or preemption.
pub fn follow(state: &mut State, timeline: &Timeline) {
    let Some(event) = timeline.current() else { return };
    let cycle = timeline.cycle();
    let pane = match event.extension_point() {
        ExtensionPoint::PreFilter | ExtensionPoint::Filter | ExtensionPoint::PreScore | ExtensionPoint::Score => Pane::NODES,
        _ if cycle.preemption.as_ref().is_some_and(|p| !p.potential_nodes().is_empty()) => Pane::PREEMPTION,
        _ if cycle.start.is_some() => Pane::NODES,
        _ => return,
    };
    let moves_focus = state.focus == state.main && state.mode() == Mode::Compact;
    state.show(pane);
    let between = state.focus != pane && [Pane::NODES, Pane::PREEMPTION].contains(&state.focus);
    if moves_focus || between {
        state.focus = pane;
    }
}

/// Shows the decision about a pod: seeks the end of its newest cycle up to the cursor, or decides the pod at the cursor.
/// Returns false for a pod that does not wait to be scheduled.
pub fn show_pod(state: &mut State, session: &mut dyn SessionHandle, pod: &Key) -> bool {
    *state.list_mut(Pane::QUEUES) = ListView::at(RowId::Pod(pod.clone()));
    state.subject = Some(pod.clone());
    let timeline = session.timeline();
    let ended = |e: &Event| matches!(e, Event::CycleFinished { pod: p, .. } if p == pod);
    let so_far = &timeline.revisions()[..(timeline.cursor().revision + 1).min(timeline.revisions().len())];
    let known = so_far.iter().rposition(|f| f.events.iter().any(ended)).filter(|at| !session.is_outdated(*at));
    if known.is_none() && !timeline.queues().entries.contains_key(pod) {
        return false;
    }
    let mut found = true;
    seek_and_follow(state, session, |s| match known.or_else(|| s.explain(pod)) {
        Some(revision) => {
            let event = end_of_cycle(s.timeline(), revision, pod);
            s.timeline_mut().seek(Cursor { revision, event });
        }
        None => found = false,
    });
    state.touch();
    found
}

/// Returns the cursor's event at the end of a pod's cycle: the end of the revision, or of the member's part in the cycle
/// of its pod group.
fn end_of_cycle(timeline: &Timeline, revision: usize, pod: &Key) -> usize {
    let Some(revision) = timeline.revisions().get(revision) else { return usize::MAX };
    let group = revision.events.iter().any(|e| matches!(e, Event::Group(_)));
    let ended = |e: &Event| matches!(e, Event::CycleFinished { pod: p, .. } if p == pod);
    let at = revision.events.iter().rposition(ended).filter(|_| group);
    at.map_or(usize::MAX, |at| at + 1)
}

/// Takes one step. At the end of the record the scheduler continues.
pub fn step(state: &mut State, session: &mut dyn SessionHandle, direction: Direction, by: StepSize) {
    let mut done = false;
    seek_and_follow(state, session, |s| {
        done = match direction {
            Direction::Forward => s.timeline_mut().forward(by) || (s.run_next() && s.timeline_mut().forward(by)),
            Direction::Back => s.timeline_mut().back(by),
        }
    });
    match (done, direction) {
        (true, _) => {}
        (false, Direction::Forward) => state.say("nothing is left to schedule"),
        (false, Direction::Back) => state.say("this is the start"),
    }
}

/// Takes one step within the record.
pub fn walk(state: &mut State, session: &mut dyn SessionHandle, direction: Direction, by: StepSize) {
    if direction == Direction::Forward && session.timeline().at_end() {
        let key = state.settings.keymap.label(Context::GLOBAL, &Action::STEP);
        return state.say(format!("this is the end of what is recorded: {key} lets the scheduler go on"));
    }
    step(state, session, direction, by);
}

/// Seeks the start of this cycle, or from there the start of the previous one.
pub fn cycle_back(state: &mut State, session: &mut dyn SessionHandle) {
    let cursor = session.timeline().cursor();
    let revision = if cursor.event == 0 { cursor.revision.checked_sub(1) } else { Some(cursor.revision) };
    match revision.filter(|_| !session.timeline().at_start()) {
        Some(revision) => seek_and_follow(state, session, |s| s.timeline_mut().seek(Cursor { revision, event: 0 })),
        None => state.say("this is the start"),
    }
}

/// Keeps the pane that the user chose in sight until the next cycle.
pub fn pin(state: &mut State, timeline: &Timeline, pane: Pane) {
    let chosen = match pane.place {
        Place::Upper | Place::Lower => true,
        Place::Left => state.mode() == Mode::Compact,
        // The steps and the message are always in sight.
        Place::Fixed => false,
    };
    if chosen {
        state.pinned = Some(timeline.cursor().revision);
    }
}

/// Returns a step size in words.
pub fn step_words(size: StepSize) -> &'static str {
    match size {
        StepSize::Event => "one event",
        StepSize::Plugin => "one plugin",
        StepSize::Node => "one node",
        StepSize::ExtensionPoint => "one extension point",
        StepSize::Cycle => "one cycle",
    }
}
