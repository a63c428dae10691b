//! Facts of the revision at the cursor.

use std::collections::BTreeSet;

use crate::cluster::Key;
use crate::session::Timeline;
use crate::ui::model::pod_activity;

/// Facts of the revision at the cursor, and of its place among all.
#[derive(Clone, Debug, Default)]
pub struct RevisionFacts {
    /// The index of the first event of each revision among all events, and at the end the number of all events.
    pub starts: Vec<usize>,
    /// Whether the last change of the record or the cursor led to another revision.
    pub is_other: bool,
    /// The pods that moved in this revision up to the cursor.
    pub moved: BTreeSet<Key>,
}

impl RevisionFacts {
    /// Derives the facts.
    pub(super) fn derive(&mut self, timeline: &Timeline, is_other: bool) {
        self.starts.clear();
        self.starts.push(0);
        for revision in timeline.revisions() {
            self.starts.push(self.starts[self.starts.len() - 1] + revision.events.len());
        }
        self.is_other = is_other;
        self.moved = pod_activity::moved(timeline);
    }
}
