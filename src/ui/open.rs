//! Opening what is selected: groups, nodes, pods, candidates, budgets, attempts.

use crate::cluster::Key;
use crate::session::{Cursor, Timeline};
use crate::trace::Event;
use crate::ui::action::Pane;
use crate::ui::driver::Driver;
use crate::ui::list::{ListView, RowId};
use crate::ui::overlay::Overlay;
use crate::ui::rows::NodeRow;
use crate::ui::sheet;
use crate::ui::state::State;
use crate::ui::update::{follow, moved};

pub(super) fn open(state: &mut State, driver: &mut dyn Driver) {
    // What lies over the screen goes, and leads where its selected line does.
    if let Some(over) = state.overlay.take() {
        if let Overlay::Text(text) = over
            && let Some(target) = text.view.selected.and_then(|at| text.links.get(&at).cloned())
        {
            state.leave_text(text);
            sheet::follow(state, driver, target);
        }
        return;
    }
    match state.focus {
        Pane::Queues => {
            let Some(pod) = state.selected_pod().cloned() else { return };
            // Whoever opens a pod wants to see the decision, whatever pane was chosen before.
            state.pinned = None;
            if show_pod(state, driver, &pod) {
                follow(state, driver.timeline());
            } else {
                state.warn(format!("{pod} does not wait to be scheduled"));
            }
        }
        Pane::Nodes => match state.nodes.selected.clone() {
            Some(RowId::Group(key)) => {
                if !state.open_groups.remove(&key) {
                    state.open_groups.insert(key);
                }
                state.touch();
            }
            Some(RowId::Node(node)) => state.open_node(node),
            _ => {}
        },
        Pane::Preemption => {
            let Some(RowId::Node(node)) = state.candidates.selected.clone() else { return };
            let is_candidate = driver.timeline().cycle().preemption.as_ref().is_some_and(|p| p.candidate(&node).is_some());
            if is_candidate {
                state.pinned = Some(driver.timeline().cursor().revision);
                state.open_page(Pane::Candidate);
            } else {
                state.open_node(node);
            }
        }
        Pane::NodeDetail => {
            if let Some(RowId::Pod(pod)) = state.detail_list.selected.clone() {
                state.open_pod(pod);
            }
        }
        Pane::PodDetail | Pane::Candidate | Pane::Budgets => open_row(state, driver),
        Pane::Steps | Pane::Message => {}
    }
}

/// Opens what the selected row of a page is about.
pub(super) fn open_row(state: &mut State, driver: &mut dyn Driver) {
    match state.page_row().cloned() {
        Some(RowId::Pod(pod)) => state.open_pod(pod),
        Some(RowId::Node(node)) => state.open_node(node),
        Some(RowId::Revision(revision)) => moved(state, driver, |d| d.timeline_mut().seek(Cursor { revision, event: usize::MAX })),
        Some(RowId::Budget(key)) if state.focus == Pane::Budgets => {
            if !state.open_budgets.remove(&key) {
                state.open_budgets.insert(key);
            }
            state.touch();
        }
        Some(RowId::Budget(key)) => {
            state.open_budgets.insert(key.clone());
            state.open_page(Pane::Budgets);
            state.pages.insert(Pane::Budgets, ListView::at(RowId::Budget(key)));
        }
        _ => {}
    }
}

/// Opens the pod that the pane in focus speaks of, or that of the cycle.
pub(super) fn pod(state: &mut State, timeline: &Timeline) {
    let row = match state.focus {
        Pane::Queues => state.queues.selected.as_ref(),
        Pane::NodeDetail => state.detail_list.selected.as_ref(),
        _ => state.page_row(),
    };
    let selected = if let Some(RowId::Pod(pod)) = row { Some(pod.clone()) } else { None };
    let cycle = || timeline.cycle().start.as_ref().map(|start| start.pod.clone());
    match selected.or_else(cycle).or_else(|| state.selected_pod().cloned()) {
        Some(pod) => {
            state.pinned = Some(timeline.cursor().revision);
            state.open_pod(pod);
        }
        None => state.say("there is no pod to show"),
    }
}

/// Puts the cursor at the end of a pod's newest cycle up to now. Where it has none yet, it is decided about as things
/// stand at the cursor; false when it does not wait to be scheduled.
pub fn show_pod(state: &mut State, driver: &mut dyn Driver, pod: &Key) -> bool {
    state.queues = ListView::at(RowId::Pod(pod.clone()));
    state.subject = Some(pod.clone());
    let timeline = driver.timeline();
    let ended = |e: &Event| matches!(e, Event::CycleFinished { pod: p, .. } if p == pod);
    let so_far = &timeline.revisions()[..(timeline.cursor().revision + 1).min(timeline.revisions().len())];
    let known = so_far.iter().rposition(|f| f.events.iter().any(ended)).filter(|at| !driver.is_outdated(*at));
    if known.is_none() && !timeline.queues().entries.contains_key(pod) {
        return false;
    }
    let mut found = true;
    moved(state, driver, |d| match known.or_else(|| d.explain(pod)) {
        Some(revision) => d.timeline_mut().seek(Cursor { revision, event: usize::MAX }),
        None => found = false,
    });
    state.touch();
    found
}

pub(super) fn detail(state: &mut State, timeline: &Timeline) {
    let selected = match (&state.focus, &state.nodes.selected) {
        (Pane::Nodes, Some(RowId::Node(node))) => Some(node.clone()),
        (Pane::Preemption | Pane::Candidate, _) => state.selected_candidate(timeline.cycle()).cloned(),
        _ => None,
    };
    let node = selected
        .or_else(|| state.linked_node(timeline).cloned())
        .or_else(|| timeline.cycle().current_node.clone())
        .or_else(|| state.detail.clone())
        .or_else(|| timeline.moment().snapshot.nodes().first().map(|n| n.name().clone()));
    match node {
        Some(node) => {
            state.pinned = Some(timeline.cursor().revision);
            state.open_node(node);
        }
        None => state.say("there is no node to show"),
    }
}

pub(super) fn fold(state: &mut State) {
    let rows = &state.derived.nodes;
    let Some(at) = state.nodes.position(rows) else { return };
    let group = rows[..=at].iter().rposition(|r| matches!(r, NodeRow::Group(_)));
    if let Some(at) = group {
        state.nodes.select(rows, at);
        if let NodeRow::Group(group) = &rows[at] {
            state.open_groups.remove(&group.key);
        }
        state.touch();
    }
}
