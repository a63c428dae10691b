//! Settings: keys, themes, glyphs. The lowest module of the screen; it knows nothing of a session.

pub mod action;
pub mod context;
pub mod glyphs;
pub mod key;
pub mod keymap;
pub mod settings;
pub mod theme;
pub mod themes;
