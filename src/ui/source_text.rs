//! The object that is selected, as the cluster has it: shown, or copied to the clipboard.

use crate::cluster::{Key, Kind, Str};
use crate::session::Timeline;
use crate::ui::action::{Effect, Pane};
use crate::ui::beside;
use crate::ui::driver::{Driver, Work};
use crate::ui::list::RowId;
use crate::ui::overlay::Overlay;
use crate::ui::state::State;

/// Shows the object that the pane in focus speaks of.
pub(super) fn show(state: &mut State, driver: &mut dyn Driver) {
    let Some((kind, key)) = subject(state, driver.timeline()) else {
        return state.say("nothing is selected that the cluster has an object of");
    };
    beside::begin(state, driver, Work::Object(kind, key));
}

/// Copies the text that lies over the screen, or the message in its pane; anything else is shown first.
pub(super) fn copy(state: &mut State, driver: &mut dyn Driver) -> Option<Effect> {
    let (what, text) = match &state.overlay {
        Some(Overlay::Text(sheet)) => {
            let lines: Vec<&str> = sheet.shown().into_iter().map(|at| sheet.lines[at].as_str()).collect();
            (sheet.title.clone(), lines.join("\n") + "\n")
        }
        Some(_) => return None,
        None if state.focus == Pane::Message => match &driver.timeline().cycle().failure {
            Some(failure) => ("the message".to_owned(), failure.message.to_string()),
            None => {
                state.say("there is no message to copy");
                return None;
            }
        },
        None => {
            show(state, driver);
            return None;
        }
    };
    let lines = text.lines().count();
    state.say(format!("copied {what} ({lines} {})", if lines == 1 { "line" } else { "lines" }));
    Some(Effect::Copy(text))
}

/// The object that the pane in focus speaks of.
fn subject(state: &State, timeline: &Timeline) -> Option<(Kind, Key)> {
    let node = |name: &Str| (Kind::Node, Key { namespace: Str::default(), name: name.clone() });
    let of = |row: Option<&RowId>| match row? {
        RowId::Pod(key) => Some((Kind::Pod, key.clone())),
        RowId::Node(name) => Some(node(name)),
        RowId::Budget(key) => Some((Kind::PodDisruptionBudget, key.clone())),
        RowId::Group(_) | RowId::Line(..) | RowId::Revision(_) => None,
    };
    let cycle = timeline.cycle();
    match state.focus {
        Pane::Queues => of(state.queues.selected.as_ref()),
        Pane::Nodes => of(state.nodes.selected.as_ref()),
        Pane::Preemption => of(state.candidates.selected.as_ref()).or_else(|| state.selected_candidate(cycle).map(node)),
        Pane::NodeDetail => of(state.detail_list.selected.as_ref()).or_else(|| state.detail.as_ref().map(node)),
        Pane::PodDetail => of(state.page_row()).or_else(|| Some((Kind::Pod, state.pod.clone()?))),
        Pane::Candidate => of(state.page_row()).or_else(|| state.selected_candidate(cycle).map(node)),
        Pane::Budgets => of(state.page_row()),
        Pane::Steps | Pane::Message => {
            let pod = cycle.start.as_ref().map(|s| s.pod.clone()).or_else(|| state.subject.clone())?;
            Some((Kind::Pod, pod))
        }
    }
}
