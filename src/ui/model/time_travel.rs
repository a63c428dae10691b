//! Moving the cursor through the record, and the panes that follow it.

use crate::cluster::{Key, Str};
use crate::session::{Cursor, Timeline};
use crate::trace::{Event, ExtensionPoint, StepSize};
use crate::ui::config::action::{Action, Direction};
use crate::ui::config::context::Context;
use crate::ui::model::list::{ListView, RowId};
use crate::ui::model::pane::{Pane, Place};
use crate::ui::model::rows;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::size::Mode;
use crate::ui::model::state::{OpenedDecision, State};

/// Moves the cursor and lets the panes follow, unless the user chose a pane in this cycle. Returns what `seek` returns.
pub fn seek_and_follow<T>(state: &mut State, session: &mut dyn SessionHandle, seek: impl FnOnce(&mut dyn SessionHandle) -> T) -> T {
    let before = session.timeline().cursor();
    let chosen = winner(session.timeline());
    let was_tried = tried(session.timeline()).is_some();
    let sought = seek(session);
    let timeline = session.timeline();
    if timeline.cursor() == before {
        return sought;
    }
    // Whoever watches the queues where they hide the other panes sees them over all cycles.
    let watches_queues = state.focus == Pane::QUEUES && state.mode() == Mode::Compact;
    if !watches_queues && state.arrangement.pinned.is_some_and(|revision| revision != timeline.cursor().revision) {
        state.arrangement.pinned = None;
    }
    // The selection follows the dry runs. Once there is a nominated node, it moves to that.
    let wins = winner(timeline);
    if timeline.cursor().revision != before.revision {
        state.list_mut(Pane::NODES).reset();
    }
    let tries = tried(timeline);
    if tries.is_some() || was_tried || timeline.cursor().revision != before.revision || wins != chosen {
        *state.list_mut(Pane::PREEMPTION) = tries.or(wins).map_or(ListView::DEFAULT, |node| ListView::at(RowId::Node(node)));
    }
    if state.focus == Pane::CANDIDATE && has_no_candidate(state, timeline) {
        leave_candidate(state, timeline);
    } else if state.arrangement.pinned.is_none() && matches!(state.focus, Pane::QUEUES | Pane::NODES | Pane::PREEMPTION | Pane::STEPS) {
        follow(state, timeline);
    }
    sought
}

/// Returns whether the page of a candidate is empty at the cursor: no node is selected, or preemption has not come to it.
fn has_no_candidate(state: &State, timeline: &Timeline) -> bool {
    let cycle = timeline.cycle();
    let dry_run = |node: &Str| cycle.preemption.as_ref().and_then(|preemption| preemption.dry_run(node));
    state.selected_candidate(cycle).and_then(dry_run).is_none()
}

/// Goes from the empty page of a candidate to the pane that shows where the cycle is.
fn leave_candidate(state: &mut State, timeline: &Timeline) {
    let tries = timeline.cycle().preemption.as_ref().is_some_and(|p| !p.potential_nodes().is_empty());
    state.arrangement.pinned = None;
    // The nodes take the place of the page on a wide screen.
    state.show(Pane::NODES);
    state.focus = Pane::NODES;
    if tries {
        state.show(Pane::PREEMPTION);
        state.focus = Pane::PREEMPTION;
    }
}

fn winner(timeline: &Timeline) -> Option<Str> {
    timeline.cycle().preemption.as_ref()?.selected().map(|(node, _)| node.clone())
}

/// Returns the node whose dry run the event at the cursor is about.
fn tried(timeline: &Timeline) -> Option<Str> {
    match timeline.current()? {
        Event::DryRunStepped(at) => Some(at.node().clone()),
        Event::DryRunFinished(run) => Some(run.node.clone()),
        _ => None,
    }
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
    let moves_focus = state.focus == state.arrangement.main && state.mode() == Mode::Compact;
    state.show(pane);
    let between = state.focus != pane && [Pane::NODES, Pane::PREEMPTION].contains(&state.focus);
    if moves_focus || between {
        state.focus = pane;
    }
}

/// Shows the decision about a pod: seeks the end of its newest cycle up to the cursor, or decides the pod at the cursor.
/// Returns false for a pod that is not waiting to be scheduled.
pub fn show_pod(state: &mut State, session: &mut dyn SessionHandle, pod: &Key) -> bool {
    *state.list_mut(Pane::QUEUES) = ListView::at(RowId::Pod(pod.clone()));
    state.subjects.subject = Some(pod.clone());
    let timeline = session.timeline();
    let entry = timeline.queues().entries.get(pod);
    if entry.is_some_and(|entry| !rows::keeps_entry(timeline, entry, &mut state.row_filter(Pane::QUEUES))) {
        state.end_filter(Pane::QUEUES, &pod.to_string());
    }
    let ended = |e: &Event| matches!(e, Event::CycleFinished { pod: p, .. } if p == pod);
    let so_far = &timeline.revisions()[..(timeline.cursor().revision + 1).min(timeline.revisions().len())];
    let known = so_far.iter().rposition(|f| f.events.others().iter().any(ended)).filter(|at| !session.is_outdated(*at));
    if known.is_none() && !timeline.queues().entries.contains_key(pod) {
        return false;
    }
    if state.focus == Pane::QUEUES {
        // The decision is shown instead of them.
        state.arrangement.pinned = None;
    }
    let came_from_whole = state.leave_whole();
    let found = seek_and_follow(state, session, |s| {
        let revision = known.or_else(|| s.explain(pod))?;
        let event = end_of_cycle(s.timeline(), revision, pod);
        s.timeline_mut().seek(Cursor { revision, event });
        Some(())
    })
    .is_some();
    if came_from_whole {
        follow(state, session.timeline());
        state.focus = state.arrangement.main;
    }
    state.touch();
    if found {
        open_decision(state, pod);
    }
    found
}

/// Shows the decision about a pod as the first screen, with the focus on the answer. Returns false as [`show_pod`] does.
pub fn show_pod_first(state: &mut State, session: &mut dyn SessionHandle, pod: &Key) -> bool {
    let found = show_pod(state, session, pod);
    if found {
        state.focus = state.arrangement.main;
    }
    found
}

/// Returns the cursor's event at the end of a pod's cycle: the end of the revision, or of the member's part in the cycle
/// of its pod group.
fn end_of_cycle(timeline: &Timeline, revision: usize, pod: &Key) -> usize {
    let Some(revision) = timeline.revisions().get(revision) else { return usize::MAX };
    let group = revision.events.others().iter().any(|e| matches!(e, Event::Group(_)));
    let ended = |e: &Event| matches!(e, Event::CycleFinished { pod: p, .. } if p == pod);
    let at = revision.events.rposition_of_other(ended).filter(|_| group);
    at.map_or(usize::MAX, |at| at + 1)
}

/// Opens the decision about a pod: steps stop at its ends.
pub fn open_decision(state: &mut State, pod: &Key) {
    state.subjects.decision = Some(OpenedDecision { pod: pod.clone(), stopped: None });
}

/// Returns whether a step in this direction stops at the end of the opened decision, and says so. The same step again goes on.
pub fn stops_at_end(state: &mut State, timeline: &Timeline, direction: Direction, key: &Action) -> bool {
    // From the overview a step goes on with the scheduler.
    if state.arrangement.whole.is_some() {
        state.subjects.decision = None;
        return false;
    }
    let cursor = timeline.cursor();
    let decides = |event: &Event, pod: &Key| match event {
        Event::CycleStarted(start) => start.pod == *pod,
        Event::CycleFinished { pod: finished, .. } => finished == pod,
        _ => false,
    };
    let is_about = |pod: &Key| timeline.revision().is_some_and(|revision| revision.events.others().iter().any(|event| decides(event, pod)));
    let Some(decision) = state.subjects.decision.as_mut().filter(|decision| is_about(&decision.pod)) else {
        state.subjects.decision = None;
        return false;
    };
    let length = timeline.revision().map_or(0, |revision| revision.events.len());
    let at_end = match direction {
        Direction::Forward => cursor.event >= length,
        Direction::Back => cursor.event == 0,
    };
    if !at_end || (direction == Direction::Back && timeline.at_start()) {
        decision.stopped = None;
        return false;
    }
    if decision.stopped == Some((cursor, direction)) {
        state.subjects.decision = None;
        return false;
    }
    decision.stopped = Some((cursor, direction));
    let (pod, key) = (decision.pod.clone(), state.settings.keymap.label(Context::GLOBAL, key));
    state.say(match direction {
        Direction::Forward => format!("end of the decision about {pod}; {key} again starts the next cycle"),
        Direction::Back => format!("start of the decision about {pod}; {key} again goes to the cycle before"),
    });
    true
}

/// Takes one step. At the end of the record the scheduler continues.
pub fn step(state: &mut State, session: &mut dyn SessionHandle, direction: Direction, by: StepSize) {
    let key = if direction == Direction::Forward { Action::STEP } else { Action::STEP_BACK };
    if by != StepSize::Cycle && stops_at_end(state, session.timeline(), direction, &key) {
        return;
    }
    let stays = state.subjects.decision.is_some() && by != StepSize::Cycle;
    state.leave_whole();
    let done = seek_and_follow(state, session, |s| {
        let revision = s.timeline().cursor().revision;
        let done = match direction {
            Direction::Forward => s.timeline_mut().forward(by) || (s.run_next() && s.timeline_mut().forward(by)),
            Direction::Back => s.timeline_mut().back(by),
        };
        // The start of a revision shows the same as the end of the one before; an opened decision is not left.
        if stays && direction == Direction::Back && s.timeline().cursor().revision < revision {
            s.timeline_mut().seek(Cursor { revision, event: 0 });
        }
        done
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
        return state.say(format!("this is the end of the record: {key} lets the scheduler continue"));
    }
    step(state, session, direction, by);
}

/// Seeks the start of this cycle, or from there the start of the previous one.
pub fn cycle_back(state: &mut State, session: &mut dyn SessionHandle) {
    state.leave_whole();
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
        Place::Fixed | Place::Whole => false,
    };
    if chosen {
        state.arrangement.pinned = Some(timeline.cursor().revision);
    }
}

/// Returns a step size in words, at the cursor.
pub fn step_words_at(size: StepSize, timeline: &Timeline) -> &'static str {
    let inside = timeline.current().is_some_and(|event| event.extension_point() == ExtensionPoint::PostFilter);
    if size == StepSize::Phase && inside { "one phase" } else { step_words(size) }
}

pub fn step_words(size: StepSize) -> &'static str {
    match size {
        StepSize::Event => "one event",
        StepSize::Plugin => "one plugin",
        StepSize::Node => "one node",
        StepSize::Phase => "one extension point",
        StepSize::ExtensionPoint => "one whole extension point",
        StepSize::Cycle => "one cycle",
    }
}
