//! Lists the branches.

use crate::output::Document;
use crate::ui::actions::prelude::*;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::text;
use crate::ui::model::text_view::{Form, Target, TextView};

/// `branches`.
pub static VERBS: &[Verb] = &[Verb {
    keys: &[keys(Context::GLOBAL, &["B"], "", "list the branches")],
    command: Some(Command::new(&["branches"], "", "list the branches")),
    ..Verb::new("branches", |state, session, _| {
        list(state, session);
        Ok(Answer::Done)
    })
}];

fn list(state: &mut State, session: &dyn SessionHandle) {
    let (branches, current) = (session.branches(), session.current());
    let mut body = Document::default();
    let links = (0..branches.len()).map(|at| (at, Target::Branch(at))).collect();
    for (i, branch) in branches.iter().enumerate() {
        let here = if i == current { ", you are here" } else { "" };
        let revisions = branch.timeline().revisions();
        let from = match branch.forked().and_then(|f| Some((branches.get(f.branch)?, f.revisions))) {
            Some((from, at)) => {
                let did = revisions.get(at).map_or_else(String::new, |f| format!(": {}", f.title));
                format!(", left {} after {at}{did}", from.name())
            }
            None => String::new(),
        };
        body.item(0, format!("{}  {}: {}{from}{here}", i + 1, branch.name(), text::count(revisions.len(), "revision")));
    }
    body.blank();
    body.paragraph("Enter or :branch N goes to a branch, :compare N compares it with this one");
    let mut view = TextView::new("Branches", body, Form::Prose);
    view.links = links;
    view.view.selected = Some(current);
    state.overlay = Some(Overlay::Text(view));
}
