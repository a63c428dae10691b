//! The lessons of the tour: ten screens on the decision about shop/payments.
//!
//! Each lesson names keys, and is done once the reader has pressed them; nothing is pressed for the reader.

use crate::session::Timeline;
use crate::trace::Event;
use crate::ui::config::action::Action;
use crate::ui::config::context::Context;
use crate::ui::config::keymap::Keymap;
use crate::ui::model::list::RowId;
use crate::ui::model::pane::Pane;
use crate::ui::model::state::State;

/// The pod of the tour.
pub const POD: &str = "shop/payments";

/// A lesson.
pub struct Lesson {
    /// Its text, with a verb in braces for each key.
    text: &'static str,
    /// Returns whether a request has done it, after its effect.
    pub done: fn(&Action, &State, &Timeline) -> bool,
}

fn is(action: &Action, verb: &str) -> bool {
    matches!(action, Action::Verb(name) if *name == verb)
}

/// Returns whether the cycle at the cursor is about the pod of the tour.
fn is_decided(timeline: &Timeline) -> bool {
    timeline.cycle().start.as_ref().is_some_and(|start| start.pod.to_string() == POD)
}

/// The lessons in order.
pub static LESSONS: [Lesson; 10] = [
    Lesson {
        text: "All pending pods, by cause. {down} goes down to the second cause, {open} opens it: its pods, with queue, priority and age. {close-group} closes it.",
        done: |action, state, _| is(action, "open") && !state.turned_causes.is_empty(),
    },
    Lesson {
        text: "{filter} filters: type name:payments and Enter. Other fields are cause: plugin: queue: age:>1h, and ! is not. {back} clears a filter.",
        done: |action, state, _| is(action, "submit") && state.filter(Pane::OVERVIEW).contains("pay"),
    },
    Lesson {
        text: "{down} goes down to the pod shop/payments, {open} opens its decision. The sentence at the top says why it waits and what would help.",
        done: |action, _, timeline| is(action, "open") && is_decided(timeline),
    },
    Lesson {
        text: "{go-to-nodes} lists every node with its reason: 8 nodes lack cpu, 3 have a taint, 1 is cordoned.",
        done: |action, state, _| is(action, "go-to-nodes") && state.focus == Pane::NODES,
    },
    Lesson {
        text: "{node} opens the selected node: all its filters, not only the first that failed, and its pods.",
        done: |action, state, _| is(action, "node") && state.focus == Pane::NODE,
    },
    Lesson {
        text: "{go-to-preemption} shows the dry run. Each of 8 nodes loses its pods of lower priority, then gets back those that fit; the rest are the victims.",
        done: |action, state, _| is(action, "go-to-preemption") && state.focus == Pane::PREEMPTION,
    },
    Lesson {
        text: "Five functions choose, from left to right: budgets, top priority, sum, number of victims, latest start. {down}, then {open} opens a candidate.",
        done: |action, state, _| is(action, "open") && state.focus == Pane::CANDIDATE,
    },
    Lesson {
        text: "Walk it: {cycle-back} goes to its start, {run} to where preemption starts, {step} steps through the dry run, {step-back} goes back.",
        done: |action, _, timeline| is(action, "run") && matches!(timeline.current(), Some(Event::PreemptionStarted(_))),
    },
    Lesson {
        text: "{go-to-queues} are the queues. Below them: the events that would wake the selected pod, and since when it waits. {help} lists all keys.",
        done: |action, state, _| is(action, "go-to-queues") && matches!(state.list(Pane::QUEUES).selected, Some(RowId::Pod(_))),
    },
    Lesson {
        text: "{fixes} searches the smallest changes that let the pod in; Enter tries one on a branch. :learn ends this tour, {go-to-overview} is the overview.",
        done: |action, _, _| is(action, "fixes"),
    },
];

impl Lesson {
    /// Returns the text with the keys of the keymap.
    pub fn words(&self, keymap: &Keymap, contexts: &[Context]) -> String {
        let mut words = String::new();
        let mut rest = self.text;
        while let Some((before, (verb, after))) = rest.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            words += before;
            words += &key(keymap, contexts, verb);
            rest = after;
        }
        words + rest
    }
}

/// Returns the key of a verb in the first context that has one.
fn key(keymap: &Keymap, contexts: &[Context], verb: &str) -> String {
    let row = contexts.iter().flat_map(|context| keymap.of(*context)).find(|row| row.binding.verb == verb);
    row.map_or_else(|| format!("({verb})"), |row| row.label())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_lesson_is_bound() {
        let keymap = crate::ui::keymap();
        let contexts = crate::ui::actions::table().contexts;
        for lesson in &LESSONS {
            let verbs = lesson.text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0));
            for verb in verbs {
                assert_ne!(key(&keymap, &contexts, verb), format!("({verb})"), "{}", lesson.text);
            }
            let words = lesson.words(&keymap, &contexts);
            assert!(!words.contains(['{', '}']), "{words}");
            // The rows of a lesson on the smallest screen.
            assert!(crate::ui::model::text::wrap(&format!("10/10 {words}"), 58).count() <= 3, "{words}");
        }
    }
}
