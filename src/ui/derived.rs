//! What follows from the record, the filters, orders and groups: made once after something changed, so that drawing derives
//! nothing that grows with the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ratatui::layout::Rect;

use crate::cluster::{Key, Str};
use crate::framework::NodeFilters;
use crate::session::{Cursor, Timeline};
use crate::trace::{CycleView, Event};
use crate::ui::action::Pane;
use crate::ui::driver::Driver;
use crate::ui::facts::{self, Class, Verdicts};
use crate::ui::fuzzy::Fuzzy;
use crate::ui::grouping::Grouping;
use crate::ui::list::RowId;
use crate::ui::pages::{self, Ask, PageRow};
use crate::ui::rows::{self, CandidateRow, DetailRow, NodeOptions, NodeRow, QueueRow};
use crate::ui::state::State;
use crate::ui::story::{self, Story};

/// What follows from the record, the filters and the groups.
#[derive(Clone, Debug, Default)]
pub struct Derived {
    stamp: Option<Stamp>,
    /// Rows of the queues.
    pub queues: Vec<QueueRow>,
    /// Rows of the nodes.
    pub nodes: Vec<NodeRow>,
    /// Rows of the candidates.
    pub candidates: Vec<CandidateRow>,
    /// Rows of the one node.
    pub detail: Vec<DetailRow>,
    /// Rows of the pages that are in sight, with the columns they were made for.
    pages: BTreeMap<Pane, Page>,
    /// What the selected row of the pane in focus is about, and what that is tied to.
    pub linked: BTreeSet<RowId>,
    /// What every Filter plugin says about that node, for the pod of this frame's cycle.
    pub filters: Option<NodeFilters>,
    filters_of: Option<(Arc<[Event]>, Str)>,
    /// The cycle under the cursor as it ends.
    pub whole: Arc<CycleView>,
    whole_of: Option<Arc<[Event]>>,
    /// The extension points that the cycle goes through, in order.
    pub points: Vec<&'static str>,
    /// Where frames begin among all events, and at last how many there are.
    pub starts: Vec<usize>,
    /// Place and ties by total score.
    pub ranks: BTreeMap<i64, (usize, usize)>,
    /// How many nodes have each verdict.
    pub counts: BTreeMap<Class, usize>,
    /// How nodes are grouped.
    pub grouping: Grouping,
    /// The pods that moved in this frame up to the cursor.
    pub moved: BTreeSet<Key>,
    /// The story of the pod that is selected among the queues.
    pub story: Story,
    story_of: Option<Key>,
}

impl Derived {
    /// The rows of a page; none where it is not in sight.
    pub fn page(&self, pane: Pane) -> &[PageRow] {
        self.pages.get(&pane).map_or(&[], |page| &page.rows)
    }
}

/// The rows of a page.
#[derive(Clone, Debug, Default)]
struct Page {
    /// What they were made for.
    stamp: Option<(Stamp, u16, Option<RowId>)>,
    rows: Vec<PageRow>,
}

#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    cursor: Cursor,
    revisions: usize,
    revision: u64,
}

impl State {
    /// Renews what follows from the record where it changed, and keeps selections on rows that exist and in sight.
    pub fn refresh(&mut self, timeline: &Timeline) {
        let stamp = Stamp { cursor: timeline.cursor(), revisions: timeline.revisions().len(), revision: self.revision };
        if self.derived.stamp.as_ref() != Some(&stamp) {
            self.derive(timeline);
            self.derived.stamp = Some(stamp);
            self.derived.story_of = None;
        }
        let plan = self.plan();
        let rows = |pane: Pane| usize::from(plan.list(pane).height);
        self.queues.settle(&self.derived.queues, rows(Pane::Queues));
        self.nodes.settle(&self.derived.nodes, rows(Pane::Nodes));
        self.candidates.settle(&self.derived.candidates, rows(Pane::Preemption));
        self.detail_list.settle(&self.derived.detail, rows(Pane::NodeDetail));
        for pane in Pane::PAGES {
            self.lay_out_page(timeline, pane, plan.list(pane));
        }
        self.derived.linked = self.linked(timeline);
        if self.derived.story_of.as_ref() != self.selected_pod() {
            let pod = self.selected_pod().cloned();
            self.derived.story = pod.as_ref().map(|p| Story::of(timeline, p)).unwrap_or_default();
            self.derived.story_of = pod;
        }
    }

    /// As [`State::refresh`], and asks every Filter plugin about the node that is shown: once for each frame and node, as
    /// that may take a while in a large cluster.
    pub fn renew(&mut self, driver: &dyn Driver) {
        let timeline = driver.timeline();
        self.refresh(timeline);
        let (Some(node), Some(revision), Some(start)) = (&self.detail, timeline.revision(), &timeline.cycle().start) else { return };
        if self.running.is_some() || self.plan().list(Pane::NodeDetail).is_empty() || self.filters_are_of(&revision.events, node) {
            return;
        }
        self.derived.filters = driver.every_filter(&start.pod, node);
        self.derived.filters_of = Some((revision.events.clone(), node.clone()));
        self.touch();
        self.refresh(timeline);
    }

    /// Makes the rows of a page that is in sight, where they are not those of this moment, and keeps its selection.
    fn lay_out_page(&mut self, timeline: &Timeline, pane: Pane, area: Rect) {
        if area.is_empty() {
            return;
        }
        let about = match pane {
            Pane::PodDetail => self.pod.clone().map(RowId::Pod),
            Pane::Candidate => self.selected_candidate(timeline.cycle()).cloned().map(RowId::Node),
            _ => None,
        };
        let Some(stamp) = self.derived.stamp.clone() else { return };
        let stamp = Some((stamp, area.width, about.clone()));
        let mut page = self.derived.pages.remove(&pane).unwrap_or_default();
        if page.stamp != stamp {
            let mut filter = Fuzzy::new(self.filter(pane));
            let ask = Ask {
                timeline,
                whole: &self.derived.whole,
                width: usize::from(area.width),
                open: &self.open_budgets,
                order: self.order(pane),
            };
            page.rows = match (pane, &about) {
                (Pane::PodDetail, Some(RowId::Pod(key))) => pages::pod::rows(&ask, key, &mut filter),
                (Pane::PodDetail, _) => vec![PageRow::Note("no pod is open".to_owned())],
                (Pane::Candidate, Some(RowId::Node(node))) => pages::candidate::rows(&ask, node, &mut filter),
                (Pane::Candidate, _) => vec![PageRow::Note("there is no candidate here".to_owned())],
                _ => pages::budgets::rows(&ask, &mut filter),
            };
            page.stamp = stamp;
        }
        let list = self.pages.entry(pane).or_default();
        list.settle(&page.rows, usize::from(area.height));
        self.derived.pages.insert(pane, page);
    }

    fn filters_are_of(&self, events: &Arc<[Event]>, node: &Str) -> bool {
        self.derived.filters_of.as_ref().is_some_and(|(of, name)| Arc::ptr_eq(of, events) && name == node)
    }

    fn derive(&mut self, timeline: &Timeline) {
        let fuzzy = |pane: Pane| Fuzzy::new(self.filters.get(&pane).map_or("", String::as_str));
        let asked =
            timeline.revision().zip(self.detail.as_ref()).is_some_and(|(revision, node)| self.filters_are_of(&revision.events, node));
        let order = |pane: Pane| self.orders.get(&pane).copied().unwrap_or_default();
        let derived = &mut self.derived;
        let events = timeline.revision().map(|f| f.events.clone());
        let same = match (&derived.whole_of, &events) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        if !same {
            derived.whole = Arc::new(CycleView::of(events.iter().flat_map(|e| e.iter())));
            derived.points = events.iter().flat_map(|e| e.iter()).map(facts::part).collect();
            derived.points.dedup();
            derived.whole_of = events;
            self.message_offset = 0;
        }
        derived.starts.clear();
        derived.starts.push(0);
        for revision in timeline.revisions() {
            derived.starts.push(derived.starts[derived.starts.len() - 1] + revision.events.len());
        }
        let cycle = timeline.cycle();
        let snapshot = &timeline.moment().snapshot;
        derived.grouping = self.grouping.clone().unwrap_or_else(|| Grouping::usual(snapshot.len()));
        derived.queues = rows::queue_rows(timeline.queues(), order(Pane::Queues), &mut fuzzy(Pane::Queues));
        derived.moved = story::moved(timeline);
        let options = NodeOptions { grouping: &derived.grouping, open: &self.open_groups, order: order(Pane::Nodes) };
        derived.nodes = rows::node_rows(timeline, &derived.whole, &options, &mut fuzzy(Pane::Nodes));
        derived.candidates = match &cycle.preemption {
            Some(now) => {
                let whole = derived.whole.preemption.as_ref();
                rows::candidate_rows(now, whole, order(Pane::Preemption), &mut fuzzy(Pane::Preemption))
            }
            None => Vec::new(),
        };
        derived.detail = match self.detail.as_ref().and_then(|n| snapshot.get(n)) {
            Some(node) => {
                let filters = derived.filters.as_ref().filter(|_| asked && cycle.start.is_some());
                rows::detail_rows(node, cycle, filters, order(Pane::NodeDetail), &mut fuzzy(Pane::NodeDetail))
            }
            None => Vec::new(),
        };
        derived.ranks = rows::ranks(cycle);
        derived.counts.clear();
        let verdicts = Verdicts::new(cycle);
        for node in snapshot.nodes() {
            *derived.counts.entry(verdicts.class(node.name())).or_default() += 1;
        }
    }
}
