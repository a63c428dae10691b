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

pub struct Lesson {
    /// The screen that it is about.
    screen: Screen,
    /// Its text, with a verb in braces for each key.
    text: &'static str,
    /// Returns whether a request has done it, after its effect.
    pub done: fn(&Action, &State, &Timeline) -> bool,
}

/// The screen that a lesson is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Screen {
    /// Every screen.
    Any,
    Overview,
    /// The decision about the pod of the tour, in any pane.
    Decision,
    /// A pane of that decision; its text holds with the pane in focus.
    Pane(Pane),
}

/// The end of the text of every lesson.
const END: &str = "(:learn ends)";

fn is(action: &Action, verb: &str) -> bool {
    matches!(action, Action::Verb(name) if *name == verb)
}

/// Returns whether the cycle at the cursor is about the pod of the tour.
fn is_decided(timeline: &Timeline) -> bool {
    timeline.cycle().start.as_ref().is_some_and(|start| start.pod.to_string() == POD)
}

/// Returns whether the revision at the cursor decides about the pod of the tour, also before its first step.
fn decides(timeline: &Timeline) -> bool {
    let about = |event: &Event| matches!(event, Event::CycleStarted(start) if start.pod.to_string() == POD);
    timeline.revision().is_some_and(|revision| revision.events.others().iter().any(about))
}

/// The lessons in order.
pub static LESSONS: [Lesson; 10] = [
    Lesson {
        screen: Screen::Overview,
        text: "All pending pods, by cause. {down} goes to the second cause, {open} opens it: its pods, with queue, priority and age. {close-group} closes it.",
        done: |action, state, _| is(action, "open") && !state.choices.turned_causes.is_empty(),
    },
    Lesson {
        screen: Screen::Overview,
        text: "{filter} filters: type name:payments and Enter. Other fields are cause: plugin: queue: age:>1h, ! is not. {back} clears a filter.",
        done: |action, state, _| is(action, "submit") && state.filter(Pane::OVERVIEW).contains("pay"),
    },
    Lesson {
        screen: Screen::Overview,
        text: "{open} opens the decision about the selected pod, shop/payments ({down} and {up} select others). The sentence at the top says why it waits.",
        done: |action, _, timeline| is(action, "open") && is_decided(timeline),
    },
    Lesson {
        screen: Screen::Decision,
        text: "{go-to-nodes} lists every node with its reason: 8 nodes lack cpu, 3 have a taint, 1 is cordoned.",
        done: |action, state, _| is(action, "go-to-nodes") && state.focus == Pane::NODES,
    },
    Lesson {
        screen: Screen::Pane(Pane::NODES),
        text: "{node} opens the selected node: all its filters, not only the first that failed, and its pods.",
        done: |action, state, _| (is(action, "node") || is(action, "open")) && state.focus == Pane::NODE,
    },
    Lesson {
        screen: Screen::Decision,
        text: "{go-to-preemption} shows the dry run. Each of 8 nodes loses its pods of lower priority, then gets back those that fit; the rest are victims.",
        done: |action, state, _| is(action, "go-to-preemption") && state.focus == Pane::PREEMPTION,
    },
    Lesson {
        screen: Screen::Pane(Pane::PREEMPTION),
        text: "Five functions choose, left to right: budgets, top priority, sum, number of victims, latest start. {down}, then {open} opens a candidate.",
        done: |action, state, _| is(action, "open") && state.focus == Pane::CANDIDATE,
    },
    Lesson {
        screen: Screen::Decision,
        text: "Walk it: {cycle-back} goes to its start, {run} to where preemption starts, {step} steps through the dry run, {step-back} goes back.",
        done: |action, _, timeline| is(action, "step") && is_decided(timeline) && timeline.cycle().preemption.is_some(),
    },
    Lesson {
        screen: Screen::Any,
        text: "{go-to-queues} are the queues. Below them: the events that would wake the selected pod, and since when it waits. {help} lists all keys.",
        done: |action, state, _| is(action, "go-to-queues") && matches!(state.list(Pane::QUEUES).selected, Some(RowId::Pod(_))),
    },
    Lesson {
        screen: Screen::Any,
        text: "{fixes} searches the smallest changes that let the pod in; Enter tries one on a branch. {go-to-overview} is the overview.",
        done: |action, _, _| is(action, "fixes"),
    },
];

impl Screen {
    /// Returns the screen to go to first; `None` on the lesson's own.
    fn first(self, state: &State, timeline: &Timeline) -> Option<Self> {
        let decision = || state.arrangement.whole.is_none() && decides(timeline);
        match self {
            Self::Any => None,
            Self::Overview => (state.arrangement.whole != Some(Pane::OVERVIEW)).then_some(self),
            Self::Decision | Self::Pane(_) if !decision() => Some(Self::Decision),
            Self::Decision => None,
            Self::Pane(pane) => (state.focus != pane).then_some(self),
        }
    }

    /// Returns how to go to it, with a verb in braces for its key.
    fn way(self) -> &'static str {
        match self {
            Self::Any => "",
            Self::Overview => "This page is about the overview: {go-to-overview} goes back to it.",
            Self::Decision => "This page is about the decision on shop/payments: type :pod shop/payments and Enter to go back to it.",
            Self::Pane(Pane::PREEMPTION) => "This page is about the preemption: {go-to-preemption} goes back to it.",
            Self::Pane(_) => "This page is about the nodes: {go-to-nodes} goes back to them.",
        }
    }
}

impl Lesson {
    /// Returns the text with the keys of the keymap; on another screen than its own, the way back.
    pub fn words(&self, state: &State, timeline: &Timeline, contexts: &[Context]) -> String {
        let text = self.screen.first(state, timeline).map_or(self.text, Screen::way);
        with_keys(text, &state.settings.keymap, contexts)
    }
}

/// Returns a text with keys in place of verbs, and how to end the tour.
fn with_keys(text: &str, keymap: &Keymap, contexts: &[Context]) -> String {
    let (mut words, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        words += before;
        let Some((verb, after)) = after.split_once('}') else { break };
        words += &key(keymap, contexts, verb);
        rest = after;
    }
    format!("{words}{rest} {END}")
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
        let ways = [Screen::Overview, Screen::Decision, Screen::Pane(Pane::NODES), Screen::Pane(Pane::PREEMPTION)].map(Screen::way);
        for text in LESSONS.iter().map(|lesson| lesson.text).chain(ways) {
            for verb in text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)) {
                assert_ne!(key(&keymap, &contexts, verb), format!("({verb})"), "{text}");
            }
            let words = with_keys(text, &keymap, &contexts);
            assert!(!words.contains(['{', '}']) && words.ends_with(END), "{words}");
            // The rows of a lesson on the smallest screen.
            assert!(crate::ui::model::text::wrap(&format!("10/10 {words}"), 58).count() <= 3, "{words}");
        }
    }
}
