//! Edits of the cluster at the cursor, and their confirmations.

use crate::session::{Cursor, Edit, RevisionKind};
use crate::ui::actions::error::CommandError;
use crate::ui::actions::verb::Answer;
use crate::ui::model::session_handle::{Applied, Change, SessionHandle};
use crate::ui::model::state::State;
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::model::what_ifs::WhatIfs;

/// Applies an edit as typed: a word and its arguments.
pub fn edit_line(state: &mut State, session: &mut dyn SessionHandle, word: &str, args: &str) -> Result<Answer, CommandError> {
    apply_edit(state, session, Change::Edit(Edit::parse(&format!("{word} {args}"))?))
}

/// Applies a change at the cursor, and seeks the end of its consequences, on a new branch if it makes one.
pub fn apply_edit(state: &mut State, session: &mut dyn SessionHandle, change: Change) -> Result<Answer, CommandError> {
    let mut answer = None;
    // Letting time pass is no what-if.
    let begun = (!matches!(change, Change::Advance(_))).then(|| WhatIfs::begin(session));
    seek_and_follow(state, session, |s| {
        let result = s.apply(change);
        if result.is_ok() {
            s.timeline_mut().seek(Cursor::END);
        }
        answer = Some(result);
    });
    state.touch();
    if let Some(result) = answer {
        let applied = result?;
        if let Some(begun) = begun {
            state.what_ifs.finish(begun, applied.title.clone(), session);
        }
        state.say(words(&applied));
    }
    Ok(Answer::Done)
}

/// Returns the confirmation of a change: `worker-a2 updated on new branch 2; main is unchanged`.
fn words(applied: &Applied) -> String {
    let here = match &applied.branch {
        Some((new, old)) => format!(" on new {new}; {old} is unchanged"),
        None => String::new(),
    };
    let done = match &applied.kind {
        RevisionKind::Create(kind, key) => format!("created {kind} {key}{here}"),
        RevisionKind::Update(_, key) if !here.is_empty() => format!("{key} updated{here}"),
        RevisionKind::Update(kind, key) => format!("updated {kind} {key}"),
        RevisionKind::Delete(kind, key) if here.is_empty() => format!("deleted {kind} {key} (in this what-if only)"),
        RevisionKind::Delete(kind, key) => format!("deleted {kind} {key}{here}"),
        RevisionKind::Configure(edit) => format!("{edit}{here}; = compares"),
        RevisionKind::Release(release) => format!("kube-scheduler {release}{here}; = compares"),
        _ => format!("{}{here}", applied.title),
    };
    if applied.objects > 1 { format!("{} objects, the last of them: {done}", applied.objects) } else { done }
}
