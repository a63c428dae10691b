//! The embedded clusters: small ones, each of which shows one thing.

use crate::source::Input;

/// An embedded cluster.
#[derive(Clone, Copy, Debug)]
pub struct Story {
    /// The name in `demo NAME` and `--demo NAME`.
    pub name: &'static str,
    /// A summary in one line.
    pub title: &'static str,
    text: &'static str,
}

/// All demos; the first is the default.
pub const STORIES: [Story; 5] = [
    Story {
        name: "payments",
        title: "a real cluster: shop/payments preempts; eight nodes are candidates, and two of them tie to the end",
        text: include_str!("../../fixtures/stories/payments.yaml"),
    },
    Story {
        name: "aftermath",
        title: "the same cluster after its scheduler decided: who was evicted for whom, and whether schedscope agrees (A)",
        text: include_str!("../../fixtures/stories/aftermath.yaml"),
    },
    Story {
        name: "tie-breaks",
        title: "six preemptors: each of the five score functions decides once, and the last is a tie",
        text: include_str!("../../fixtures/stories/tie-breaks.yaml"),
    },
    Story {
        name: "budgets",
        title: "every node is full of pods with budgets: which evictions violate one, and which pods are reprieved first",
        text: include_str!("../../fixtures/stories/budgets.yaml"),
    },
    Story {
        name: "queues",
        title: "gated, unschedulable and backing off: where pods wait, why, and which events requeue them",
        text: include_str!("../../fixtures/stories/queues.yaml"),
    },
];

impl Story {
    /// Returns the demo of a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        STORIES.iter().find(|s| s.name == name)
    }

    /// Returns the demo as an input to load.
    pub fn input(&self) -> Input {
        Input::Bytes { name: format!("demo {}", self.name), bytes: self.text.as_bytes().into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::load;

    #[test]
    fn every_story_loads_without_a_complaint() {
        for story in &STORIES {
            let loaded = load(&[story.input()]);
            assert!(loaded.diagnostics.is_empty(), "{}: {:?}", story.name, loaded.diagnostics);
        }
    }
}
