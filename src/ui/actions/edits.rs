//! Edits of the cluster at the cursor, and their confirmations.

use crate::session::{Cursor, RevisionKind};
use crate::ui::actions::error::CommandError;
use crate::ui::actions::verb::Answer;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::model::session_handle::{Applied, Change, SessionHandle};
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::model::what_ifs::WhatIfs;

/// Applies a change at the cursor, and seeks the end of its consequences, on a new branch if it makes one.
#[allow(clippy::needless_pass_by_value, reason = "callers make the change for it")]
pub fn apply_edit(state: &mut State, session: &mut dyn SessionHandle, change: Change) -> Result<Answer, CommandError> {
    apply_and_say(state, session, &change, &[])
}

/// Does the same, with further clauses in the confirmation.
pub fn apply_and_say(state: &mut State, session: &mut dyn SessionHandle, change: &Change, more: &[String]) -> Result<Answer, CommandError> {
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
        confirm(state, applied, more);
    }
    Ok(Answer::Done)
}

/// Says what was changed, with further clauses.
pub fn confirm(state: &mut State, applied: Applied, more: &[String]) {
    let mut more = more.to_vec();
    if matches!(applied.kind, RevisionKind::Configure(_) | RevisionKind::Release(_)) {
        more.push(format!("; {} compares", state.settings.keymap.label(Context::GLOBAL, &Action::Verb("compare"))));
    }
    let words = Confirmation { done: words(&applied), branch: applied.branch, subject: None, more };
    state.say(words.fitted(state.size.0.into()));
}

/// Returns a change in words: `worker-a2 updated`.
fn words(applied: &Applied) -> String {
    let done = match &applied.kind {
        RevisionKind::Create(kind, key) => format!("created {kind} {key}"),
        RevisionKind::Update(_, key) if applied.branch.is_some() => format!("{key} updated"),
        RevisionKind::Update(kind, key) => format!("updated {kind} {key}"),
        RevisionKind::Delete(kind, key) if applied.branch.is_none() => format!("deleted {kind} {key} (in this what-if only)"),
        RevisionKind::Delete(kind, key) => format!("deleted {kind} {key}"),
        RevisionKind::Configure(edit) => edit.to_string(),
        RevisionKind::Release(release) => format!("kube-scheduler {release}"),
        _ => applied.title.clone(),
    };
    if applied.objects > 1 { format!("{} objects, the last of them: {done}", applied.objects) } else { done }
}

/// The confirmation of a change, of which the last line shows as much as it has room for.
#[derive(Clone, Debug, Default)]
pub struct Confirmation {
    /// The change.
    pub done: String,
    /// The new branch and its parent; `None` if there is no new one.
    pub branch: Option<(String, String)>,
    /// Where the subject ends.
    pub subject: Option<String>,
    /// Further clauses, each with its separator.
    pub more: Vec<String>,
}

impl Confirmation {
    /// Columns of the last line before a message.
    const MARGIN: usize = 3;

    /// Returns the words that fit a screen: `worker-a2 updated on new branch 2; main is unchanged`. That the other branch is
    /// unchanged is left out first, then the further clauses, then the branch; the change is never.
    pub fn fitted(&self, columns: usize) -> String {
        let on = self.branch.as_ref().map_or_else(String::new, |(new, _)| format!(" on new {new}"));
        let unchanged = self.branch.as_ref().map_or_else(String::new, |(_, old)| format!("; {old} is unchanged"));
        let subject = self.subject.as_ref().map_or_else(String::new, |subject| format!("; {subject}"));
        let more = self.more.concat();
        let Self { done, .. } = self;
        let forms = [
            format!("{done}{on}{subject}{unchanged}{more}"),
            format!("{done}{on}{subject}{more}"),
            format!("{done}{on}{subject}"),
            format!("{done}{subject}"),
        ];
        let fits = |form: &String| text::width(form) + Self::MARGIN <= columns;
        forms.into_iter().find(fits).unwrap_or_else(|| format!("{done}{subject}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_confirmation_keeps_the_change_and_leaves_out_the_rest() {
        let words = Confirmation {
            done: "a is drained".to_owned(),
            branch: Some(("branch 2".to_owned(), "main".to_owned())),
            subject: Some("shop/x ends on b".to_owned()),
            more: vec!["; = compares".to_owned()],
        };
        for (columns, expected) in [
            (80, "a is drained on new branch 2; shop/x ends on b; main is unchanged; = compares"),
            (79, "a is drained on new branch 2; shop/x ends on b; = compares"),
            (61, "a is drained on new branch 2; shop/x ends on b; = compares"),
            (60, "a is drained on new branch 2; shop/x ends on b"),
            (40, "a is drained; shop/x ends on b"),
            (10, "a is drained; shop/x ends on b"),
        ] {
            assert_eq!(words.fitted(columns), expected, "{columns}");
        }
        assert_eq!(Confirmation { done: "a".to_owned(), ..Confirmation::default() }.fitted(80), "a");
    }
}
