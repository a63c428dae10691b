//! Runs until something happens.

use crate::session::UNTIL_WORDS;
use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::with_pod;
use crate::ui::actions::verb::{Answer, Command, Verb, keys};
use crate::ui::config::context::Context;
use crate::ui::model::overlay::Typing;
use crate::ui::model::state::Running;

/// `until`: the key opens the prompt with the command.
pub static VERBS: &[Verb] = &[
    Verb {
        keys: &[keys(Context::GLOBAL, &["u"], "until", "run until something happens")],
        runs_on_ui_thread: |_| true,
        ..Verb::new("until", |_, _, _| Ok(Answer::Prompt(Typing::Command, "until ")))
    },
    Verb {
        command: Some(Command {
            complete: |session, _, args| match args.split_once(' ') {
                None => arguments::words(UNTIL_WORDS, args),
                Some(("node", word)) => arguments::nodes(session, word),
                Some(("popped" | "rejected" | "preemption" | "nominated" | "bound" | "pod", word)) => arguments::pods(session, word),
                Some(_) => Vec::new(),
            },
            ..Command::new(
                &["until"],
                "popped|rejected|preemption|nominated|bound [POD], budget, pod NAME, node NAME",
                "run until that happens",
            )
        }),
        ..Verb::new("run-until", |state, session, args| {
            state.running = Some(Running { until: Some(with_pod(session, args)?.parse()?), pieces: 0 });
            Ok(Answer::Done)
        })
    },
];
