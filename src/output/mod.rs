//! The way out: text from outside never reaches a terminal, a ticket or a file for reading as it came.
//!
//! Names, messages, paths and arguments are held as they came, and are escaped once, where they leave: [`Lines`] for text,
//! [`Text`] for anything that is written to standard output or a file, [`say`] and [`Status`] for standard error, and
//! [`escape()`] for cells of the screen. Files are whole, or not there ([`write_new`]). Credentials do not leave at all: they
//! are held as [`Secret`], and URLs are shown without passwords. Nothing else may write to the standard streams: clippy denies it in the crate.

mod escape;
mod file;
mod form;
mod lines;
mod secret;
mod streams;
mod text;

pub use escape::{Escaped, escape, is_plain};
pub use file::{append, create_new, write_new};
pub use form::{Json, PrettyJson, json_close, to_json, to_json_items, to_json_line, to_json_open, to_markdown, to_yaml};
pub use lines::Lines;
pub use secret::{Secret, url_without_password, without_passwords};
pub use streams::{
    Status, print, print_with, say, say_all, say_styled, standard_error_is_terminal, standard_input_is_terminal,
    standard_output_is_terminal,
};
pub use text::Text;
