//! The selected object, shown as text or copied to the clipboard.

use crate::cluster::{Key, Kind, Str};
use crate::session::Timeline;
use crate::ui::actions::{jobs, short_answer};
use crate::ui::model::effect::Effect;
use crate::ui::model::job::Job;
use crate::ui::model::list::RowId;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::view::panes;

/// Shows the object of the selected row, or the subject of the focused pane.
pub fn show(state: &mut State, session: &mut dyn SessionHandle) {
    match subject(state, session.timeline()) {
        Some((kind, key)) => jobs::begin(state, session, Job::Object(kind, key)),
        None => state.say("nothing is selected that the cluster has an object of"),
    }
}

/// Copies what is selected in the overlay, the text of the focused pane, or the answer about what is selected there in short; shows
/// the object if there is none.
pub fn copy(state: &mut State, session: &mut dyn SessionHandle) -> Option<Effect> {
    let (what, text) = match &state.overlay {
        Some(Overlay::Text(view)) => short_answer::of_text(view),
        Some(_) => return None,
        None => match panes::def(state.focus).copy.map(|copy| copy(session.timeline())) {
            Some(Ok((what, text))) => (what.to_owned(), text),
            Some(Err(why)) => {
                state.say(why);
                return None;
            }
            None => {
                let Some(answer) = short_answer::of(state, session) else {
                    show(state, session);
                    return None;
                };
                answer
            }
        },
    };
    let lines = text.lines().count();
    state.say(format!("copied {what} ({lines} {})", if lines == 1 { "line" } else { "lines" }));
    Some(Effect::Copy(text))
}

/// Returns the object of the selected row, or the subject of the focused pane.
pub fn subject(state: &State, timeline: &Timeline) -> Option<(Kind, Key)> {
    let object = |row: &RowId| match row {
        RowId::Pod(key) => Some((Kind::Pod, key.clone())),
        RowId::Node(name) => Some((Kind::Node, Key { namespace: Str::default(), name: name.clone() })),
        RowId::Budget(key) => Some((Kind::PodDisruptionBudget, key.clone())),
        RowId::PodGroup(key, _) => Some((Kind::PodGroup, key.clone())),
        RowId::Group(_) | RowId::Cause(_) | RowId::CauseFix(_) | RowId::Workload(_) | RowId::Line(..) | RowId::Revision(_) => None,
    };
    let def = panes::def(state.focus);
    let selected = state.selected_row().filter(|_| def.has_list()).and_then(object);
    selected.or_else(|| object(&(def.subject)(state, timeline)?))
}
