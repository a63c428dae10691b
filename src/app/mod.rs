//! The event loop: keys, mouse and signals in, frames out.
//!
//! One `select!` over a closed set of inputs, on one thread that never waits for anything else: what may take longer
//! than a frame is done by another (`worker`, `ui_thread`). Everything that is shown is [`crate::ui`], which is pure.

mod cancel_guard;
mod console;
mod error;
mod event_loop;
mod explorer;
mod export;
mod input;
mod jobs;
mod live_follow;
mod loading;
mod object_text;
mod panics;
mod print;
mod settings;
mod start;
mod terminal;
mod terminal_background;
#[cfg(test)]
mod tests;
mod ui_thread;
mod worker;

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
pub use panics::{LOG_PREFIX, LOG_SUFFIX, Log, install_panic_hook, set_log};
pub use print::{Print, print};
pub use settings::folder;

/// How to start.
#[derive(Clone, Debug)]
pub struct Options {
    /// The theme's name.
    pub theme: String,
    /// Whether the terminal is asked if it is light or dark, as nobody says which theme to use.
    pub asks: bool,
    /// Where the reader's own themes are.
    pub themes: Option<PathBuf>,
    /// What keys do.
    pub keymap: Keymap,
    /// What of the reader's settings cannot be used, a sentence each.
    pub problems: Vec<String>,
    /// How many colours to use.
    pub depth: Depth,
    /// Which signs to use.
    pub glyphs: Glyphs,
    /// A pod whose decision is shown at once.
    pub pod: Option<Key>,
    /// What the reader should know first.
    pub notice: Option<String>,
    /// Told when a live cluster has something new.
    pub wake: Option<Arc<Notify>>,
}

impl Options {
    /// As the environment and the reader's configuration file want it.
    pub fn from_env() -> Self {
        Self::from_vars(|name| std::env::var(name).ok())
    }

    /// As these variables of an environment and the configuration file that they lead to want it.
    pub fn from_vars(var: impl Fn(&str) -> Option<String>) -> Self {
        let folder = settings::folder(&var, "XDG_CONFIG_HOME", ".config");
        let configured = settings::read(folder.as_deref());
        let depth = Depth::detect(&var);
        let told = terminal_background::told(&var);
        Self {
            asks: configured.theme.is_none() && told.is_none() && terminal_background::asks(depth, &var),
            theme: configured.theme.unwrap_or_else(|| told.unwrap_or(DEFAULT).to_owned()),
            themes: folder.map(|f| f.join("themes")),
            keymap: configured.keymap,
            problems: configured.problems,
            depth,
            glyphs: configured.glyphs.unwrap_or_else(|| Glyphs::detect(&var)),
            pod: None,
            notice: None,
            wake: None,
        }
    }

    /// The embedded themes and the reader's own, as they are now.
    pub fn library(&self) -> Library {
        settings::library(self.themes.as_deref())
    }

    /// Puts the default in place of a theme that cannot be used, and remembers why.
    pub fn check_theme(&mut self) {
        if let Err(error) = self.library().load(&self.theme, self.depth) {
            self.problems.push(error.to_string());
            DEFAULT.clone_into(&mut self.theme);
        }
    }
}

/// Why the screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The reader quit.
    Quit,
    /// A signal of this number asked for it; the process should end with 128 and this number.
    Signal(i32),
}

impl Exit {
    /// The process's exit code, as shells expect it.
    pub fn code(self) -> u8 {
        match self {
            Self::Quit => 0,
            Self::Signal(number) => u8::try_from(128 + number).unwrap_or(1),
        }
    }
}

/// How the explorer was left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExitTo {
    /// To the shell.
    Exit(Exit),
    /// For something else: what this path names, or what is chosen on the start screen.
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
