//! Seeks the start or end of the record.

use crate::session::Cursor;
use crate::ui::actions::prelude::*;
use crate::ui::model::time_travel::seek_and_follow;

/// `start` and `end`.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["home"], "", "to the start of everything")],
        ..Verb::new("start", |state, session, _| {
            seek_and_follow(state, session, |s| s.timeline_mut().seek(Cursor::default()));
            Ok(Answer::Done)
        })
    },
    Verb {
        keys: &[keys(Context::GLOBAL, &["end"], "", "to the end of what has been recorded")],
        ..Verb::new("end", |state, session, _| {
            seek_and_follow(state, session, |s| s.timeline_mut().seek(Cursor::END));
            Ok(Answer::Done)
        })
    },
];
