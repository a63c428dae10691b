//! Runs until something happens.

use crate::session::UNTIL_WORDS;
use crate::ui::actions::arguments;
use crate::ui::actions::pod_key::with_object;
use crate::ui::actions::prelude::*;
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
                None => {
                    let mut words = arguments::words(UNTIL_WORDS, args);
                    for completion in &mut words {
                        (completion.takes, completion.help) = explained(&completion.word);
                    }
                    words
                }
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
            state.tasks.running = Some(Running { until: Some(with_object(session, args)?.parse()?), pieces: 0, events: 0 });
            Ok(Answer::Done)
        })
    },
];

/// Returns the argument of a stop condition and its meaning.
fn explained(word: &str) -> (&'static str, &'static str) {
    match word {
        "popped" => ("", "the next pod is popped from activeQ: its attempt begins"),
        "rejected" => ("", "a pod finds no node, or an attempt fails"),
        "preemption" => ("", "a pod may preempt, and the dry runs begin"),
        "nominated" => ("", "a pod is nominated to a node, on which it waits for room"),
        "budget" => ("", "a dry run finds a victim whose budget does not allow its eviction"),
        "bound" => ("", "a pod is bound to a node"),
        "pod" => ("NAME", "an event is about this pod"),
        "node" => ("NAME", "an event is about this node"),
        _ => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stop_condition_has_a_help() {
        assert!(UNTIL_WORDS.iter().all(|word| !explained(word).1.is_empty()));
    }
}
