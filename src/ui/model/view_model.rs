//! The view model: everything derived from the record, filters, sort orders and groupings. It is made once per change, so
//! drawing derives nothing whose cost grows with the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;

use crate::analysis::{Elimination, Sentence, WriteTimes, eliminations, value_ends};
use crate::cluster::{Key, Str};
use crate::framework::{NodeFilters, NodeInfo, Reason, ScoreFunctionName, Snapshot};
use crate::session::{Cursor, Timeline};
use crate::trace::{CycleView, Event, GroupEvent, PreemptionView};
use crate::ui::model::column::{Width, fit};
use crate::ui::model::filter::Filter;
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::{GroupKey, RowId};
use crate::ui::model::node_facts::{NodeFacts, NodeOrders};
use crate::ui::model::overview::OverviewRow;
use crate::ui::model::page::PageRow;
use crate::ui::model::pane::Pane;
use crate::ui::model::pod_activity::PodActivity;
use crate::ui::model::rows::{CandidateRow, DetailRow, NodeRow, QueueRow};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::sort::Sort;
use crate::ui::model::state::State;
use crate::ui::model::text::StartTimes;
use crate::ui::model::verdict::Class;
use crate::ui::model::{pod_activity, rows, verdict};

/// The derived state of the screen.
#[derive(Clone, Debug, Default)]
pub struct ViewModel {
    stamp: Option<Stamp>,
    /// Rows of the queues.
    pub queues: Vec<QueueRow>,
    /// Rows of the overview; none while it is out of sight.
    pub overview: Vec<OverviewRow>,
    /// Rows of the nodes.
    pub nodes: Arc<Vec<NodeRow>>,
    /// Rows of the candidates.
    pub candidates: Vec<CandidateRow>,
    /// Rows of the open node.
    pub detail: Vec<DetailRow>,
    /// Rows of the pages in sight.
    pages: BTreeMap<Pane, Page>,
    /// The object of the selected row in focus, and its related objects. All panes highlight them.
    pub linked: BTreeSet<RowId>,
    /// Its input: the pane in focus, its selected row, and the node of that row.
    pub linked_of: Option<(Pane, Option<RowId>, Option<Str>)>,
    /// All Filter plugins' answers about the open node, for the pod of the cycle.
    pub filters: Option<NodeFilters>,
    filters_of: Option<(Arc<[Event]>, Str)>,
    /// The whole cycle under the cursor.
    pub whole: Arc<CycleView>,
    whole_of: Option<Arc<[Event]>>,
    /// The events of each member's parts in the cycle of a pod group, in order; empty in other cycles.
    pub members: Vec<Range<usize>>,
    /// The index of the first event of each extension point of the cycle, and its name, in order.
    pub points: Vec<(usize, &'static str)>,
    /// The index of the first event of each revision among all events, and at the end the number of all events.
    pub starts: Vec<usize>,
    /// Rank and number of tied nodes, by total score.
    pub ranks: BTreeMap<i64, (usize, usize)>,
    /// The number of nodes with each verdict.
    pub counts: BTreeMap<Class, usize>,
    /// The facts of the nodes so far.
    pub facts: NodeFacts,
    /// The number of nodes that had scores when the facts were read.
    scored: Option<usize>,
    /// The facts of the nodes in the whole cycle; made when they are listed one by one.
    whole_facts: OnceLock<NodeFacts>,
    /// The nodes that totals, counts and facts are of.
    nodes_of: Option<Snapshot>,
    /// Orders and labels of these nodes.
    pub orders: Arc<NodeOrders>,
    /// Lists of nodes without a filter, by grouping, sort order and open groups.
    node_lists: Vec<(NodeListKey, Arc<Vec<NodeRow>>)>,
    /// Texts and ranges of the cycle at the cursor.
    of_cycle: CycleMemo,
    /// Widths of columns that depend on the whole cycle.
    widths: OnceLock<ReasonWidths>,
    /// The free and allocatable resources of all nodes.
    pub totals: Totals,
    /// Whether more nodes lack memory than cpu, in the whole cycle.
    pub lacks_memory: bool,
    /// The grouping of nodes.
    pub grouping: Grouping,
    /// Whether the cluster's scheduler reported about the pod of the cycle.
    pub is_reported: bool,
    /// Whether the last change of the record or the cursor led to another revision.
    pub is_other_revision: bool,
    /// The pods that moved in this revision up to the cursor.
    pub moved: BTreeSet<Key>,
    /// Activity of the pod that is selected in the queues.
    pub activity: PodActivity,
    activity_of: Option<Key>,
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

/// The input of a list of nodes without a filter, besides the cycle.
pub type NodeListKey = (Grouping, Sort, BTreeSet<GroupKey>);

/// Limit on the lists of nodes that are kept.
const NODE_LISTS: usize = 12;

/// The widths of columns of plugins and of reasons.
#[derive(Clone, Copy, Debug)]
pub struct ReasonWidths {
    /// The plugins.
    pub by: Width,
    /// The reasons.
    pub reason: Width,
}

/// Free and allocatable resources of all nodes: cpu in thousandths of a core, memory in bytes. A node that is overcommitted
/// counts as having none free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Free and allocatable cpu.
    pub cpu: (i64, i64),
    /// Free and allocatable memory.
    pub memory: (i64, i64),
}

impl Totals {
    fn add(&mut self, node: &NodeInfo) {
        let (all, used) = (&node.allocatable, &node.requested);
        let add = |sum: &mut (i64, i64), all: i64, used: i64| {
            *sum = (sum.0.saturating_add(all.saturating_sub(used).max(0)), sum.1.saturating_add(all));
        };
        add(&mut self.cpu, all.milli_cpu, used.milli_cpu);
        add(&mut self.memory, all.memory, used.memory);
    }
}

/// The rows of a page.
#[derive(Clone, Debug, Default)]
struct Page {
    /// The input of the rows.
    stamp: Option<PageStamp>,
    rows: Vec<PageRow>,
}

/// The input of a page's rows: the record, the columns of the pane, the object.
type PageStamp = (Stamp, u16, Option<RowId>);

#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    cursor: Cursor,
    revisions: usize,
    revision: u64,
}

/// Returns the events of each member's parts in the cycle of a pod group: its attempts, and what becomes of it.
fn member_parts(events: &[Event]) -> Vec<Range<usize>> {
    let mut parts: Vec<Range<usize>> = Vec::new();
    let mut open = None;
    for (at, event) in events.iter().enumerate() {
        let begins = match event {
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

impl ViewModel {
    /// Returns the rows of a page; none if it is not in sight.
    pub fn page(&self, pane: Pane) -> &Vec<PageRow> {
        const NONE: &Vec<PageRow> = &Vec::new();
        self.pages.get(&pane).map_or(NONE, |page| &page.rows)
    }

    /// Returns the sentence about the cycle at the cursor.
    pub fn sentence(&self, cycle: &CycleView) -> Option<&Sentence> {
        self.of_cycle.sentence.get_or_init(|| verdict::sentence(cycle)).as_ref()
    }

    /// Returns the least and the greatest value that a score function gave to a candidate of the cycle at the cursor.
    pub fn value_ends(&self, preemption: &PreemptionView, name: ScoreFunctionName) -> Option<(i64, i64)> {
        let ends = self.of_cycle.value_ends.get_or_init(|| value_ends(preemption));
        ends.iter().find(|(function, _)| *function == name).map(|(_, ends)| *ends)
    }

    /// Returns the form of all start times that candidates of the cycle at the cursor are compared by.
    pub fn start_times(&self, preemption: &PreemptionView, now: Timestamp) -> StartTimes {
        let ends = self.value_ends(preemption, ScoreFunctionName::LatestStartTime);
        StartTimes::of(now, ends.into_iter().flat_map(<[i64; 2]>::from))
    }

    /// Returns what each score function eliminated in the cycle at the cursor. `times` formats start times.
    pub fn eliminations(&self, preemption: &PreemptionView, times: WriteTimes<'_>) -> &[Elimination] {
        self.of_cycle.eliminations.get_or_init(|| eliminations(preemption, times))
    }

    /// Returns the columns that the names of candidates take; of the first hundred of them.
    pub fn candidate_width(&self, preemption: &PreemptionView) -> u16 {
        *self.of_cycle.candidate_width.get_or_init(|| {
            let nodes = preemption.all_candidates().map(|candidate| candidate.node.as_str()).take(100);
            let Width::Fixed(width) = fit("CANDIDATE", 28, nodes) else { unreachable!("a fitted column is fixed") };
            width
        })
    }

    /// Returns the facts of a snapshot's nodes in the whole cycle.
    pub fn whole_facts(&self, snapshot: &Snapshot) -> &NodeFacts {
        self.whole_facts.get_or_init(|| NodeFacts::of(&self.whole, snapshot, self.orders.clone()))
    }

    /// Shows a list of nodes without a filter, and makes it unless it is kept.
    pub fn list_nodes(&mut self, key: NodeListKey, make: impl FnOnce(&Self) -> Vec<NodeRow>) {
        let kept = self.node_lists.iter().find(|(of, _)| *of == key).map(|(_, rows)| rows.clone());
        self.nodes = kept.unwrap_or_else(|| {
            let rows = Arc::new(make(self));
            if self.node_lists.len() == NODE_LISTS {
                self.node_lists.remove(0);
            }
            self.node_lists.push((key, rows.clone()));
            rows
        });
    }

    /// Returns the widths of columns that depend on the whole cycle.
    pub fn reason_widths(&self, make: impl FnOnce(&CycleView) -> ReasonWidths) -> ReasonWidths {
        *self.widths.get_or_init(|| make(&self.whole))
    }

    /// Returns whether nothing is recorded.
    pub fn whole_is_empty(&self) -> bool {
        self.whole_of.is_none()
    }

    /// Makes the rows of a page unless record, columns and object are unchanged.
    pub fn renew_page(&mut self, pane: Pane, width: u16, subject: Option<&RowId>, make: impl FnOnce(&Self) -> Vec<PageRow>) {
        let Some(stamp) = self.stamp.clone() else { return };
        let stamp = Some((stamp, width, subject.cloned()));
        if self.pages.get(&pane).is_none_or(|page| page.stamp != stamp) {
            let rows = make(self);
            self.pages.insert(pane, Page { stamp, rows });
        }
    }

    /// Marks the rows of a page as outdated.
    pub fn forget_page(&mut self, pane: Pane) {
        self.pages.remove(&pane);
    }

    /// Returns all Filter plugins' answers about the open node; `None` if they are of another revision or node.
    pub fn filters_at(&self, timeline: &Timeline, node: Option<&Str>) -> Option<&NodeFilters> {
        let (revision, node) = timeline.revision().zip(node)?;
        self.filters.as_ref().filter(|_| self.filters_are_of(&revision.events, node))
    }

    fn filters_are_of(&self, events: &Arc<[Event]>, node: &Str) -> bool {
        self.filters_of.as_ref().is_some_and(|(of, name)| Arc::ptr_eq(of, events) && name == node)
    }
}

impl State {
    /// Returns the filter of a pane, parsed.
    pub fn row_filter(&self, pane: Pane) -> Filter {
        Filter::new(self.filter(pane)).only_substrings(!self.choices.scattered.contains(&pane))
    }

    /// Derives the state shared by all panes. Returns false if nothing has changed.
    pub fn derive(&mut self, timeline: &Timeline) -> bool {
        let stamp = Stamp { cursor: timeline.cursor(), revisions: timeline.revisions().len(), revision: self.revision };
        if self.view_model.stamp.as_ref() == Some(&stamp) {
            return false;
        }
        let model = &mut self.view_model;
        let same_place = model.stamp.as_ref().is_some_and(|old| old.cursor == stamp.cursor && old.revisions == stamp.revisions);
        model.stamp = Some(stamp);
        model.activity_of = None;
        let events = timeline.revision().map(|f| f.events.clone());
        let same = match (&model.whole_of, &events) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        model.is_other_revision = !same;
        // In the cycle of a pod group, the cycle on show is that of the member at the cursor.
        let shown = timeline.cycle().start.as_ref().map(|start| &start.pod);
        let is_other = |pod: &Key| model.whole.start.as_ref().is_none_or(|start| start.pod != *pod);
        let other_member = model.whole.group.is_some() && shown.is_some_and(is_other);
        if !same || other_member {
            let whole = CycleView::of(events.iter().flat_map(|e| e.iter()));
            model.whole = Arc::new(if let Some(pod) = shown { whole.showing(pod) } else { whole });
            model.points = events.iter().flat_map(|e| e.iter()).map(verdict::part).enumerate().collect();
            model.points.dedup_by_key(|(_, point)| *point);
            let group = model.whole.group.is_some();
            model.members = events.as_ref().filter(|_| group).map(|events| member_parts(events)).unwrap_or_default();
            let lacks = |resource: &str| {
                let lacks = |reason: &Reason| matches!(reason, Reason::Insufficient(shortage) if shortage.resource == resource);
                model.whole.verdicts.values().filter(|verdict| verdict.status.reasons().iter().any(lacks)).count()
            };
            model.lacks_memory = lacks("memory") > lacks("cpu");
            model.whole_of = events;
            model.widths = OnceLock::new();
            model.whole_facts = OnceLock::new();
            self.message_offset = 0;
        }
        model.starts.clear();
        model.starts.push(0);
        for revision in timeline.revisions() {
            model.starts.push(model.starts[model.starts.len() - 1] + revision.events.len());
        }
        let cycle = timeline.cycle();
        let snapshot = &timeline.decided_on().snapshot;
        model.grouping = self.choices.grouping.clone().unwrap_or_else(|| Grouping::usual(snapshot.len()));
        model.moved = pod_activity::moved(timeline);
        model.ranks = rows::ranks(cycle);
        let same_whole = same && !other_member;
        let same_nodes = model.nodes_of.as_ref().is_some_and(|of| of.nodes().is_same(snapshot.nodes()));
        let same_cycle = same_whole && same_place && same_nodes;
        if !same_cycle || model.of_cycle.has_odds != cycle.odds_over_starts.is_some() {
            model.of_cycle = CycleMemo { has_odds: cycle.odds_over_starts.is_some(), ..CycleMemo::default() };
        }
        if !same_cycle {
            if !same_nodes {
                model.nodes_of = Some(snapshot.clone());
                model.orders = Arc::default();
                model.totals = Totals::default();
                for node in snapshot.nodes() {
                    model.totals.add(node);
                }
            }
            let group = model.whole.group.is_some();
            if !same_nodes || group {
                model.whole_facts = OnceLock::new();
            }
            let facts = match &model.whole {
                _ if group => NodeFacts::of(cycle, snapshot, model.orders.clone()),
                whole => model.whole_facts(snapshot).so_far(whole, cycle, snapshot),
            };
            let scored = Some(cycle.scores.len());
            if !same_whole || !same_nodes || group || model.scored != scored || !facts.are_alike(&model.facts) {
                model.node_lists.retain(|((grouping, ..), _)| same_whole && same_nodes && !group && *grouping == Grouping::None);
                model.counts = verdict::counts(facts.classes());
                model.facts = facts;
                model.scored = scored;
            }
        }
        true
    }

    /// Derives the activity of the pod that is selected in the queues.
    pub fn derive_activity(&mut self, timeline: &Timeline) {
        let pod = self.selected_pod().cloned();
        if self.view_model.activity_of != pod {
            self.view_model.activity = pod.as_ref().map(|p| PodActivity::of(timeline, p)).unwrap_or_default();
            self.view_model.activity_of = pod;
        }
    }

    /// Runs all Filter plugins for the open node, once per revision and node, because that may be slow in a large cluster.
    /// Returns false if there is nothing new to run.
    pub fn ask_filters(&mut self, session: &dyn SessionHandle) -> bool {
        let timeline = session.timeline();
        let (Some(node), Some(revision), Some(start)) = (&self.subjects.detail, timeline.revision(), &timeline.cycle().start) else {
            return false;
        };
        if self.tasks.running.is_some() || self.view_model.filters_are_of(&revision.events, node) {
            return false;
        }
        self.view_model.filters = session.every_filter(&start.pod, node);
        self.view_model.filters_of = Some((revision.events.clone(), node.clone()));
        self.touch();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_nodes_is_made_once_until_too_many_are_kept() {
        let mut model = ViewModel::default();
        let key = |open: usize| {
            let group = GroupKey::Label { key: "zone".into(), value: Some(open.to_string().as_str().into()) };
            (Grouping::Verdict, Sort::Usual, BTreeSet::from([group]))
        };
        let row = |open: usize| vec![NodeRow::Node { name: open.to_string().as_str().into(), inside: true }];
        for open in 0..NODE_LISTS {
            model.list_nodes(key(open), |_| row(open));
            assert_eq!(*model.nodes, row(open));
        }
        model.list_nodes(key(0), |_| unreachable!("it is kept"));
        assert_eq!(*model.nodes, row(0));
        model.list_nodes(key(NODE_LISTS), |_| row(NODE_LISTS));
        model.list_nodes(key(0), |_| row(99));
        assert_eq!(*model.nodes, row(99), "the oldest was dropped");
    }
}
