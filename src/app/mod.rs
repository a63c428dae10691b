//! Runs the event loop: keys, mouse and signals in, frames out.
//!
//! One `select!` waits for all inputs on one thread that does nothing slower than a frame; longer work runs on another
//! thread (`worker`, `ui_thread`). [`crate::ui`], which is pure, draws everything.
//!
//! | files | hold |
//! | --- | --- |
//! | `console`, `start`, `loading`, `settings` | from the program's start to the first session: the terminal, the choice of a source, its load |
//! | `event_loop`, `input`, `keyboard` | the loop, and what wakes it |
//! | `ui_thread`, `worker`, `cancel_guard` | where an action runs: at once, or on clones that take the place of the originals |
//! | `explorer` | the session behind the screen, with files, jobs and a live cluster |
//! | `jobs`, `ticket`, `object_text`, `overview_job` | work on threads of its own, and what it writes |
//! | `short_answer`, `workload`, `pod_meant` | answers that are made at once |
//! | `live_follow` | the changes of a live cluster, onto the timeline |
//! | `export`, `print` | the screen in files; the explorer without a terminal |
//! | `terminal`, `terminal_background`, `panics`, `error` | the terminal, what it shows after a panic, and errors |

mod cancel_guard;
mod console;
mod error;
mod event_loop;
mod explorer;
mod export;
mod input;
mod jobs;
mod keyboard;
mod live_follow;
mod loading;
mod object_text;
mod overview_job;
mod panics;
mod pod_meant;
mod print;
mod settings;
mod short_answer;
mod start;
mod terminal;
mod terminal_background;
#[cfg(test)]
mod tests;
mod ticket;
mod ui_thread;
mod worker;
mod workload;

use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Notify;

use crate::cluster::Key;
use crate::ui::config::themes::DEFAULT;
use crate::ui::{Depth, Glyphs, Keymap, Library};

pub use console::{Console, Loaded};
pub use error::{AppError, PrintError, WriteError};
pub use explorer::Explorer;
pub use live_follow::FollowConfig;
pub use loading::Watch;
pub use object_text::{capture, known_version, unknown_kinds};
pub use panics::{LOG_PREFIX, LOG_SUFFIX, Log, install_panic_hook, log_failed, set_log, take_log_failure};
pub use pod_meant::pod_meant;
pub use print::{Print, print};
pub use settings::folder;
pub use start::typed_path;
pub use ticket::Reproduction;

/// Options of the explorer.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the theme.
    pub theme: String,
    /// Whether to ask the terminal for its background, because no theme is configured.
    pub asks: bool,
    /// Folder with the user's own themes.
    pub themes: Option<PathBuf>,
    /// Bindings of keys to actions.
    pub keymap: Keymap,
    /// Settings that cannot be used, one sentence each.
    pub problems: Vec<String>,
    /// Colour depth of the terminal.
    pub depth: Depth,
    /// Set of glyphs to draw with.
    pub glyphs: Glyphs,
    /// Whether the mouse is used.
    pub mouse: bool,
    /// Pod whose decision to show first.
    pub pod: Option<Key>,
    /// Workload whose page to show first, as `:workload` takes it.
    pub workload: Option<String>,
    /// Whether to begin the tour.
    pub learn: bool,
    /// Offer to show first, unless there is a notice.
    pub offer: Option<&'static str>,
    /// Notice to show first.
    pub notice: Option<String>,
    /// Notified when a live cluster has changes.
    pub wake: Option<Arc<Notify>>,
}

impl Options {
    /// Reads the environment and the user's configuration file.
    pub fn from_env() -> Self {
        Self::from_vars(|name| std::env::var(name).ok())
    }

    /// Reads environment variables through `var`, and the configuration file that they name.
    pub fn from_vars(var: impl Fn(&str) -> Option<String>) -> Self {
        let folder = settings::folder(&var, "XDG_CONFIG_HOME", ".config");
        let configured = settings::read(folder.as_deref());
        let depth = Depth::detect(&var);
        let from_environment = terminal_background::from_environment(&var);
        Self {
            asks: configured.theme.is_none() && from_environment.is_none() && terminal_background::asks(depth, &var),
            theme: configured.theme.unwrap_or_else(|| from_environment.unwrap_or(DEFAULT).to_owned()),
            themes: folder.map(|f| f.join("themes")),
            keymap: configured.keymap,
            problems: configured.problems,
            depth,
            glyphs: configured.glyphs.unwrap_or_else(|| Glyphs::detect(&var)),
            mouse: configured.mouse,
            pod: None,
            workload: None,
            learn: false,
            offer: None,
            notice: None,
            wake: None,
        }
    }

    /// Returns the embedded themes and the user's own, read anew.
    pub fn library(&self) -> Library {
        settings::library(self.themes.as_deref())
    }

    /// Replaces a theme that cannot be loaded by the default, and records the problem.
    pub fn check_theme(&mut self) {
        if let Err(error) = self.library().load(&self.theme, self.depth) {
            self.problems.push(error.to_string());
            DEFAULT.clone_into(&mut self.theme);
        }
    }
}

/// Reason why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The user quit.
    Quit,
    /// This signal arrived; the process exits with 128 plus its number.
    Signal(i32),
}

impl Exit {
    /// Returns the process's exit code, as shells expect it.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(1),
        }
    }
}

/// Destination after the explorer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitTo {
    /// Back to the shell.
    Exit(Exit),
    /// To another source: this path, or a choice on the start screen.
    Open(Option<String>),
}

#[cfg(test)]
mod exit_tests {
    use super::*;

    #[test]
    fn signals_become_exit_codes() {
        assert_eq!(Exit::Quit.code(), 0);
        assert_eq!(Exit::Signal(15).code(), 143);
        assert_eq!(Exit::Signal(1000).code(), 1);
    }
}
