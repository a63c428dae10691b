//! Changes at the cursor, and their confirmations.

use crate::session::RevisionKind;
use crate::ui::actions::error::CommandError;
use crate::ui::actions::verb::Answer;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::session_handle::{Applied, Change, LinkedText, Page, SessionHandle};
use crate::ui::model::state::State;
use crate::ui::model::text;
use crate::ui::model::text_view::TextView;
use crate::ui::model::time_travel::seek_and_follow;
use crate::ui::model::what_ifs::WhatIfs;

/// Applies a change at the cursor, and says what was changed. If the scheduler ran with it, shows who moved where.
#[allow(clippy::needless_pass_by_value, reason = "callers make the change for it")]
pub fn apply(state: &mut State, session: &mut dyn SessionHandle, change: Change) -> Result<Answer, CommandError> {
    let is_first = session.timeline().revisions().iter().all(|revision| !revision.action.is_what_if());
    // Letting time pass is no what-if.
    let begun = (!matches!(change, Change::Advance(_))).then(|| WhatIfs::begin(session));
    let applied = seek_and_follow(state, session, |session| session.apply(&change));
    state.touch();
    let applied = applied?;
    if let Some(begun) = begun {
        let title = applied.answer.as_ref().map_or(&applied.title, |answer| &answer.what_if);
        state.what_ifs.finish(begun, title.clone(), session);
    }
    let words = Confirmation::of(&change, &applied, state).fitted(state.size.0.into());
    state.say(words);
    let Some(answer) = applied.answer else { return Ok(Answer::Done) };
    let title = format!("What if: {}", answer.what_if);
    let manifest = match change {
        Change::File(path, _) if is_first => Some(path),
        _ => None,
    };
    let page = Page { title: title.clone(), body: answer.body.clone(), manifest: manifest.clone() };
    state.what_ifs.remember(answer.settles.then_some(page), session);
    if answer.settles {
        let document = LinkedText::prose(title, answer.body);
        state.overlay = Some(Overlay::Text(TextView { manifest, ..TextView::of(document, Some(session.timeline())) }));
    }
    Ok(Answer::Done)
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
    /// A further clause, with its separator; empty for none.
    pub more: String,
}

impl Confirmation {
    /// Columns of the last line before a message.
    const MARGIN: usize = 3;

    /// Returns the confirmation of a change that was made.
    fn of(change: &Change, applied: &Applied, state: &State) -> Self {
        let key = |verb| state.settings.keymap.label(Context::GLOBAL, &Action::Verb(verb));
        let more = match (change, &applied.kind) {
            // The pods of a cause are not decided again one by one.
            (Change::Fix(fix), _) if fix.pods.len() > 1 => format!("; {} schedules them, {} compares", key("settle"), key("compare")),
            (_, RevisionKind::Configure(_) | RevisionKind::Release(_)) => format!("; {} compares", key("compare")),
            _ if applied.answer.is_some() => format!("; {} compares", key("compare")),
            _ => String::new(),
        };
        let (done, subject) = match &applied.answer {
            Some(answer) => (answer.headline.clone(), answer.subject.clone()),
            None => (words(applied), None),
        };
        Self { done, branch: applied.branch.clone(), subject, more }
    }

    /// Returns the words that fit a screen: `worker-a2 updated on new branch 2; main is unchanged`. That the other branch is
    /// unchanged is left out first, then the further clauses, then the branch; the change is never.
    pub fn fitted(&self, columns: usize) -> String {
        let on = self.branch.as_ref().map_or_else(String::new, |(new, _)| format!(" on new {new}"));
        let unchanged = self.branch.as_ref().map_or_else(String::new, |(_, old)| format!("; {old} is unchanged"));
        let subject = self.subject.as_ref().map_or_else(String::new, |subject| format!("; {subject}"));
        let Self { done, more, .. } = self;
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
            more: "; = compares".to_owned(),
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
