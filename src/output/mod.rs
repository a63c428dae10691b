//! All output of the program: text from outside is escaped before it reaches a terminal, a ticket or a file.
//!
//! Names, messages, paths and arguments are held raw and escaped once, where they leave: [`Lines`] for text, [`Text`]
//! for standard output and files, [`say`] and [`Status`] for standard error, [`escape()`] for cells of the screen. Files
//! are written whole or not at all ([`write_new`]). Credentials are held as [`Secret`], and URLs are shown without
//! passwords. Clippy denies other writes to the standard streams in the crate.

#[cfg(any(feature = "dumps", feature = "extenders"))]
mod base64;
mod children;
mod columns;
mod document;
mod escape;
mod file;
mod form;
mod html;
mod length;
mod lines;
mod markdown;
#[cfg(feature = "cli")]
mod memory;
mod metrics;
mod secret;
#[cfg(feature = "cli")]
mod signals;
mod streams;
mod text;
mod words;

#[cfg(any(feature = "dumps", feature = "extenders"))]
pub(crate) use base64::base64;
#[cfg(feature = "dumps")]
pub(crate) use base64::style_hash;
pub use children::{ChildGroup, end_children};
pub use columns::columns;
pub use document::{Block, CodeLine, Document, Headings, Item, Row, RowKind};
pub use escape::{Escaped, escape, is_plain};
pub use file::{RemoveUnfinished, append, create_new, replace, write_new, write_new_public};
pub use form::{Json, PrettyJson, json_close, to_json, to_json_items, to_json_line, to_json_open, to_markdown, to_tab_separated, to_yaml};
pub use length::length_within;
pub use lines::Lines;
pub use markdown::Markdown;
#[cfg(feature = "cli")]
pub use memory::end_on_little_memory;
#[cfg(all(feature = "cli", target_os = "linux"))]
pub use memory::reserve_little_under_a_limit;
pub use metrics::{METRICS_MEDIA_TYPE, MetricFamily, MetricType, MetricValue, Metrics};
#[cfg(any(feature = "live", feature = "extenders"))]
pub use secret::Credentials;
pub use secret::{Secret, url_without_password, without_passwords};
#[cfg(feature = "cli")]
pub use signals::{ScreenEnds, end_on_signals, interrupt_is_success, screen_ends_on_signals};
#[cfg(feature = "cli")]
pub use streams::say_styled;
pub use streams::{
    Status, print, print_with, say, say_all, standard_error_is_terminal, standard_input_is_terminal, standard_output_is_terminal,
};
pub use text::Text;
pub(crate) use words::words;
pub use words::{Span, Words};
