//! The cycle under the cursor, and its facts.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use crate::analysis::{Elimination, Sentence, WriteTimes, eliminations, value_ends};
use crate::cluster::Key;
use crate::framework::{Reason, ScoreFunctionName};
use crate::session::Timeline;
use crate::trace::{CycleView, Event, GroupEvent, PreemptionView, RecordedEvents};
use crate::ui::model::column::{Width, fit};
use crate::ui::model::text::StartTimes;
use crate::ui::model::verdict;

/// The whole cycle under the cursor, with its facts.
#[derive(Clone, Debug, Default)]
pub struct CycleFacts {
    pub whole: Arc<CycleView>,
    of: Option<Arc<RecordedEvents>>,
    /// The events of each member's parts in the cycle of a pod group, in order; empty in other cycles.
    pub members: Vec<Range<usize>>,
    /// The index of the first event of each extension point of the cycle, and its name, in order.
    pub points: Vec<(usize, &'static str)>,
    /// Whether more nodes lack memory than cpu.
    pub lacks_memory: bool,
    /// Whether the cluster's scheduler reported about the pod of the cycle.
    pub is_reported: bool,
    /// Widths of columns that depend on the whole cycle.
    widths: OnceLock<ReasonWidths>,
    /// Texts and ranges of the cycle at the cursor.
    memo: CycleMemo,
}

/// Facts of the cycle at the cursor that take long in large clusters; made when they are first drawn.
#[derive(Clone, Debug, Default)]
struct CycleMemo {
    sentence: OnceLock<Option<Sentence>>,
    value_ends: OnceLock<Vec<(ScoreFunctionName, (i64, i64))>>,
    eliminations: OnceLock<Vec<Elimination>>,
    /// The columns that the names of candidates take.
    candidate_width: OnceLock<u16>,
    /// Whether the odds over all starting nodes were known.
    has_odds: bool,
}

/// The widths of columns of plugins and of reasons.
#[derive(Clone, Copy, Debug)]
pub struct ReasonWidths {
    /// The plugins.
    pub by: Width,
    pub reason: Width,
}

impl CycleFacts {
    /// Returns whether the cycle is of the revision at the cursor.
    pub(super) fn is_of(&self, timeline: &Timeline) -> bool {
        match (&self.of, timeline.revision().map(|revision| &revision.events)) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Derives the cycle. Returns whether it is the same as before.
    pub(super) fn derive(&mut self, timeline: &Timeline) -> bool {
        // In the cycle of a pod group, the cycle on show is that of the member at the cursor.
        let shown = timeline.cycle().start.as_ref().map(|start| &start.pod);
        let is_other = |pod: &Key| self.whole.start.as_ref().is_none_or(|start| start.pod != *pod);
        let other_member = self.whole.group.is_some() && shown.is_some_and(is_other);
        if self.is_of(timeline) && !other_member {
            return true;
        }
        let events = timeline.revision().map(|revision| revision.events.clone());
        let whole = |events: &Arc<RecordedEvents>| match shown {
            Some(pod) => events.cycle_view_of(pod),
            None => events.cycle_view(),
        };
        self.whole = Arc::new(events.as_ref().map(whole).unwrap_or_default());
        self.points = Vec::new();
        for (at, event) in events.iter().flat_map(|events| events.first_of_each_kind()) {
            let point = verdict::part(&event);
            if self.points.last().is_none_or(|(_, last)| *last != point) {
                self.points.push((at, point));
            }
        }
        let group = self.whole.group.is_some();
        self.members = events.as_ref().filter(|_| group).map(|events| member_parts(events)).unwrap_or_default();
        let lacks = |resource: &str| {
            let lacks = |reason: &Reason| matches!(reason, Reason::Insufficient(shortage) if shortage.resource == resource);
            self.whole.filter.verdicts.values().filter(|verdict| verdict.status.reasons().iter().any(lacks)).count()
        };
        self.lacks_memory = lacks("memory") > lacks("cpu");
        self.of = events;
        self.widths = OnceLock::new();
        false
    }

    /// Drops texts and ranges unless they are of the cycle at the cursor.
    pub(super) fn renew_memo(&mut self, cycle: &CycleView, is_same: bool) {
        let has_odds = cycle.findings.odds_over_starts.is_some();
        if !is_same || self.memo.has_odds != has_odds {
            self.memo = CycleMemo { has_odds, ..CycleMemo::default() };
        }
    }

    /// Returns the sentence about the cycle at the cursor.
    pub fn sentence(&self, cycle: &CycleView) -> Option<&Sentence> {
        self.memo.sentence.get_or_init(|| verdict::sentence(cycle)).as_ref()
    }

    /// Returns the least and the greatest value that a score function gave to a candidate of the cycle at the cursor.
    pub fn value_ends(&self, preemption: &PreemptionView, name: ScoreFunctionName) -> Option<(i64, i64)> {
        let ends = self.memo.value_ends.get_or_init(|| value_ends(preemption));
        ends.iter().find(|(function, _)| *function == name).map(|(_, ends)| *ends)
    }

    /// Returns the form of all start times that candidates of the cycle at the cursor are compared by.
    pub fn start_times(&self, preemption: &PreemptionView, now: Timestamp) -> StartTimes {
        let ends = self.value_ends(preemption, ScoreFunctionName::LatestStartTime);
        StartTimes::of(now, ends.into_iter().flat_map(<[i64; 2]>::from))
    }

    /// Returns what each score function eliminated in the cycle at the cursor. `times` formats start times.
    pub fn eliminations(&self, preemption: &PreemptionView, times: WriteTimes<'_>) -> &[Elimination] {
        self.memo.eliminations.get_or_init(|| eliminations(preemption, times))
    }

    /// Returns the columns that the names of candidates take; of the first hundred of them.
    pub fn candidate_width(&self, preemption: &PreemptionView) -> u16 {
        *self.memo.candidate_width.get_or_init(|| {
            let nodes = preemption.all_candidates().map(|candidate| candidate.node.as_str()).take(100);
            let Width::Fixed(width) = fit("CANDIDATE", 28, nodes) else { unreachable!("a fitted column is fixed") };
            width
        })
    }

    /// Returns the widths of columns that depend on the whole cycle.
    pub fn reason_widths(&self, make: impl FnOnce(&CycleView) -> ReasonWidths) -> ReasonWidths {
        *self.widths.get_or_init(|| make(&self.whole))
    }

    /// Returns whether nothing is recorded.
    pub fn whole_is_empty(&self) -> bool {
        self.of.is_none()
    }
}

/// Returns the events of each member's parts in the cycle of a pod group: its attempts, and what becomes of it.
fn member_parts(events: &RecordedEvents) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut open = None;
    for (at, event) in events.first_of_each_kind() {
        let begins = match &*event {
            Event::CycleStarted(_) => true,
            Event::Group(event) => match &**event {
                GroupEvent::MemberResumed { .. } => true,
                GroupEvent::MemberPlaced { .. } => continue,
                _ => false,
            },
            _ => continue,
        };
        parts.extend(open.take().map(|start| start..at));
        open = begins.then_some(at);
    }
    parts
}
