//! Copies a text or the message to the clipboard.

use crate::ui::actions::object_text;
use crate::ui::actions::verb::{Answer, Verb, keys};
use crate::ui::config::context::Context;

/// `copy`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(Context::GLOBAL, &["Y"], "", "the same; in the message pane, copy the message (OSC 52)"),
        keys(Context::OVERLAY, &["Y"], "copy", "copy the text to the clipboard (OSC 52)"),
    ],
    ..Verb::new("copy", |state, session, _| Ok(object_text::copy(state, session).map_or(Answer::Done, Answer::Effect)))
}];
