//! Copies a text, the message, or an answer in short to the clipboard.

use crate::ui::actions::object_text;
use crate::ui::actions::prelude::*;

/// `copy`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[
        keys(
            Context::GLOBAL,
            &["Y"],
            "",
            "copy the answer about what is selected in short (OSC 52): sentence, best fix, command; in the message pane, the message",
        ),
        keys(Context::OVERLAY, &["Y"], "copy", "copy the commands of the selected fix, or else the text (OSC 52)"),
    ],
    ..Verb::new("copy", |state, session, _| Ok(object_text::copy(state, session).map_or(Answer::Done, Answer::Effect)))
}];
