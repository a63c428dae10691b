//! Shows the attempts of the cluster's scheduler about a pod, beside our decisions.

use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::pod_key;
use crate::ui::actions::prelude::*;
use crate::ui::actions::selected;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::text_view::TextView;

/// `attempts`: of a pod that is selected or named.
pub static VERBS: &[Verb] = &[Verb {
    command: Some(Command {
        complete: |session, _, word| arguments::all_pods(session, word),
        ..Command::new(
            &["attempts"],
            "[NAMESPACE/NAME]",
            "the attempts of the cluster's scheduler that a journal or etcd's history shows, each compared with schedscope's decision then",
        )
    }),
    ..Verb::new("attempts", show)
}];

fn show(state: &mut State, session: &mut dyn SessionHandle, args: &str) -> Result<Answer, CommandError> {
    let name = args.trim();
    let pod = if name.is_empty() {
        selected::pod(state, session).or_else(|| state.subjects.subject.clone()).ok_or(CommandError::NoPodName)?
    } else {
        pod_key(session, name)?
    };
    let Some(document) = session.attempts(&pod) else { return Err(CommandError::NoAttempts(pod)) };
    state.overlay = Some(Overlay::Text(TextView::of(document, Some(session.timeline()))));
    Ok(Answer::Done)
}
