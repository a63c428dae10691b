//! The screen: pure state, one update function, and drawing that only reads.
//!
//! Four modules, each of which knows only those before it:
//!
//! | module | holds |
//! | --- | --- |
//! | [`config`] | keys and contexts, themes, glyphs, settings |
//! | [`model`] | the state, the view model, lists, text; the session behind the screen as a trait |
//! | [`view`] | panes, pages, overlays, widgets and layout |
//! | [`actions`] | verbs, one file each, and the update function that runs them |
//!
//! An [`Action`] goes into [`update()`], which changes the [`State`] and moves the cursor of the timeline behind a
//! [`SessionHandle`]; [`draw`] turns both into cells. Nothing here performs IO or knows the time: the event loop in
//! [`crate::app`] does both.

pub mod actions;
pub mod config;
pub mod model;
pub mod view;

#[cfg(test)]
pub(crate) mod testing;

pub use actions::error::{CommandError, ExportError};
pub use actions::jobs::{poll_job, show_live_status};
pub use actions::overview::{overview_has_update, show_overview_first, show_workload_first, update_overview};
pub use actions::runs::continue_run;
pub use actions::theme_list::show_theme;
pub use actions::{keymap, runs_on_ui_thread, update};
pub use config::action::{Action, Direction, Motion, Mouse};
pub use config::context::Context;
pub use config::glyphs::{ASCII, Glyphs, UNICODE};
pub use config::keymap::Keymap;
pub use config::settings::Settings;
pub use config::theme::{Depth, FileError, Role, Theme, ThemeError};
pub use config::themes::{Library, ThemeEntry};
pub use model::effect::{Effect, Export, NewFile, ScreenForm, ending};
pub use model::job::{Job, JobState, Progress, RunningJob};
pub use model::live_status::{Kinds, LiveState, LiveStatus};
pub use model::not_waiting::NotWaiting;
pub use model::overlay::{Overlay, Prompt, Typing};
pub use model::overview::OverviewStatus;
pub use model::pane::Pane;
pub use model::session_handle::{
    Advance, Applied, CaughtUp, Change, DumpTime, FixToApply, LinkedText, Page, Restarted, SessionError, SessionHandle, TicketSubject,
};
pub use model::state::{Notice, State};
pub use model::text_view::{Form, TextView};
pub use model::time_travel::{show_pod, show_pod_first};
pub use view::draw::Scene;
pub use view::frame::{draw, draw_over};
pub use view::panes::contexts;
pub use view::refresh::renew;

use crate::session::Timeline;

/// Returns the first state of a timeline on a terminal of these columns and rows, with default settings.
pub fn first_state(timeline: &Timeline, size: (u16, u16)) -> State {
    let mut state = State::new(timeline, size, Settings::new(keymap()));
    view::refresh::refresh(&mut state, timeline);
    state
}

/// Returns the name of the current branch and the number of branches; empty if there is one.
pub fn branch_label(session: &dyn SessionHandle) -> String {
    let (branches, current) = (session.branches(), session.current());
    match branches.get(current) {
        Some(branch) if branches.len() > 1 && current == 0 => format!("{} (1 of {})", branch.name(), branches.len()),
        // The name has the number.
        Some(branch) if branches.len() > 1 => format!("{} of {}", branch.name(), branches.len()),
        _ => String::new(),
    }
}
