//! The screen: pure state, one update function, and drawing that only reads.
//!
//! An [`Action`] goes into [`update()`], which changes the [`State`] and moves the cursor of the timeline behind a
//! [`Driver`]; [`draw`] turns both into cells. Nothing here performs IO or knows the time: the event loop in
//! [`crate::app`] does both. Facts come from the record ([`crate::trace`]); what the record leaves out about one node,
//! every Filter plugin's answer, the driver is asked for.

pub mod action;
mod beside;
pub mod commands;
pub mod derived;
pub mod driver;
pub mod export;
pub mod facts;
pub mod fuzzy;
pub mod glyphs;
pub mod grouping;
pub mod keymap;
pub mod keys;
pub mod layout;
mod linked;
pub mod list;
mod mouse;
mod open;
pub mod order;
pub mod over_time;
pub mod overlay;
pub mod overlays;
pub mod pages;
mod palette;
pub mod panes;
pub mod rows;
pub mod scene;
pub mod settings;
pub mod sheet;
mod source_text;
pub mod start;
pub mod state;
pub mod story;
pub mod text;
pub mod theme;
pub mod themes;
pub mod trail;
mod typing;
pub mod update;
pub mod widgets;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod tests;

pub use action::{Action, Direction, Effect, Motion, Mouse, Pane};
pub use beside::{look, show_news};
pub use commands::CommandError;
pub use driver::{Document, Driver, DriverError, HowFar, Work, WorkState};
pub use export::{Export, ExportError, ScreenForm};
pub use facts::answer;
pub use glyphs::{ASCII, Glyphs, UNICODE};
pub use keys::Keymap;
pub use open::show_pod;
pub use over_time::go_on;
pub use overlay::{Overlay, Prompt, Typing};
pub use scene::{Scene, draw};
pub use settings::Settings;
pub use sheet::{Form, Sheet};
pub use state::{Notice, State};
pub use theme::{Depth, FileError, Role, Theme, ThemeError};
pub use themes::{Library, ThemeEntry, show as show_theme};
pub use update::update;

use keymap::Context;

/// Which of several branches the reader is on; empty where there is one only.
pub fn branch_label(driver: &dyn Driver) -> String {
    let (branches, current) = driver.branches();
    match branches.get(current) {
        Some(branch) if branches.len() > 1 => format!("{} of {}", branch.name(), branches.len()),
        _ => String::new(),
    }
}

/// The contexts in which a key is looked up now, in order.
pub fn contexts(state: &State) -> Vec<Context> {
    match &state.overlay {
        Some(Overlay::Prompt(_)) => vec![Context::Prompt],
        Some(Overlay::Themes { .. }) => vec![Context::Picker],
        Some(_) => vec![Context::Overlay],
        None => vec![state.focus.into(), Context::Global],
    }
}
