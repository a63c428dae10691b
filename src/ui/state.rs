//! What the screen remembers: selections by identity, what is open, what is typed. No clock, no IO, no styles.
//!
//! Rows and other things derived from the record are kept in [`Derived`] and renewed by [`State::refresh`] only when
//! the cursor, a filter or a grouping changed; drawing never derives anything that grows with the cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ratatui::layout::Rect;
use tui_input::Input;

use crate::cluster::{Key, Str};
use crate::framework::NodeFilters;
use crate::session::{Cursor, Timeline, Until};
use crate::trace::{CycleView, Event, Granularity};
use crate::ui::action::Pane;
use crate::ui::driver::Driver;
use crate::ui::facts::{self, Class, Verdicts};
use crate::ui::fuzzy::Fuzzy;
use crate::ui::grouping::Grouping;
use crate::ui::layout::{Mode, Plan, Preemption, Shape};
use crate::ui::list::{GroupKey, ListView, RowId};
use crate::ui::order::Order;
use crate::ui::pages::{self, Ask, PageRow};
use crate::ui::rows::{self, CandidateRow, DetailRow, NodeOptions, NodeRow, QueueRow};
use crate::ui::settings::Settings;
use crate::ui::sheet::{Sheet, View};
use crate::ui::story::{self, Story};

/// Everything the screen remembers.
#[derive(Clone, Debug)]
pub struct State {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The pane that keys go to.
    pub focus: Pane,
    /// The main pane where there is room for one.
    pub main: Pane,
    /// The pane beside the queues.
    pub right: Pane,
    /// Nodes or one node, above preemption.
    pub upper: Pane,
    /// The cycle for which the reader chose a pane; until the next one it is not changed for them.
    pub pinned: Option<usize>,
    /// How far a step goes.
    pub granularity: Granularity,
    /// The pod that the reader chose last; it may be bound or gone at the cursor.
    pub subject: Option<Key>,
    /// The queues list.
    pub queues: ListView,
    /// The nodes list.
    pub nodes: ListView,
    /// The candidates list.
    pub candidates: ListView,
    /// The list of the one node.
    pub detail_list: ListView,
    /// The one node.
    pub detail: Option<Str>,
    /// The one pod.
    pub pod: Option<Key>,
    /// The lists of the pages.
    pub pages: BTreeMap<Pane, ListView>,
    /// Budgets whose pods are listed.
    pub open_budgets: BTreeSet<Key>,
    /// Where the reader came from, the nearest last.
    pub trail: Vec<Spot>,
    /// First line of the message that is shown.
    pub message_offset: usize,
    /// Filters by pane.
    pub filters: BTreeMap<Pane, String>,
    /// Orders of lists by pane, where they are not the usual ones.
    pub orders: BTreeMap<Pane, Order>,
    /// How nodes are grouped; `None` leaves it to their number.
    pub grouping: Option<Grouping>,
    /// Groups that are open.
    pub open_groups: BTreeSet<GroupKey>,
    /// What lies over the screen.
    pub overlay: Option<Overlay>,
    /// A word to the reader, until the next key.
    pub notice: Option<Notice>,
    /// Whether the scrub bar is being dragged.
    pub dragging: bool,
    /// What takes a while and is under way.
    pub running: Option<Running>,
    /// What goes on beside the screen.
    pub working: Option<Working>,
    /// What the reader waits for, once that takes a while.
    pub busy: Option<Busy>,
    /// What was last shown of a live cluster.
    pub news: Option<(String, bool)>,
    /// What the reader set for good: keys and themes.
    pub settings: Settings,
    /// What follows from the record.
    pub derived: Derived,
    revision: u64,
}

/// A place to go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    focus: Pane,
    shown: [Pane; 3],
    detail: Option<Str>,
    pod: Option<Key>,
}

impl Spot {
    /// What it shows, in a word.
    pub fn name(&self) -> String {
        match (self.focus, &self.detail, &self.pod) {
            (Pane::NodeDetail, Some(node), _) => node.to_string(),
            (Pane::PodDetail, _, Some(pod)) => pod.name.to_string(),
            (pane, ..) => pane.to_string(),
        }
    }
}

/// So many places are remembered.
const TRAIL: usize = 32;

/// What lies over the screen.
#[derive(Clone, Debug)]
pub enum Overlay {
    /// The keys and commands.
    Help(View),
    /// Some text.
    Text(Sheet),
    /// A line being typed.
    Prompt(Prompt),
    /// The themes, of which the one selected is shown.
    Themes {
        /// The one that is selected.
        selected: String,
        /// The one that was shown before.
        before: String,
    },
}

/// A line being typed.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What it is for.
    pub typing: Typing,
    /// The line.
    pub input: Input,
    /// The filter to go back to when cancelled.
    pub before: String,
    /// What the last word could become.
    pub completions: Vec<Completion>,
    /// The completion that is chosen.
    pub chosen: Option<usize>,
}

/// What a line is typed for.
#[derive(Clone, Debug)]
pub enum Typing {
    /// A command.
    Command,
    /// The filter of a pane.
    Filter(Pane),
    /// The filter of what lies over the screen.
    Over(Box<Overlay>),
}

/// What the last word of a command could become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The word.
    pub word: String,
    /// What it takes; empty for nothing.
    pub takes: &'static str,
    /// What it does; empty where the word says it.
    pub help: &'static str,
}

/// What takes a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// What the run waits for; `None` runs until nothing changes any more.
    pub until: Option<Until>,
    /// How many cycles and waits it took so far.
    pub pieces: usize,
}

/// What goes on beside the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Working {
    /// In a few words.
    pub what: &'static str,
    /// So many parts are done,
    pub done: usize,
    /// of so many; 0 where that is not known.
    pub of: usize,
}

/// What the reader waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    /// In a word or two.
    pub what: &'static str,
    /// Whether it can be stopped.
    pub stops: bool,
    /// How often the sign of it has moved.
    pub ticks: usize,
}

/// A word to the reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it says.
    pub text: String,
    /// Whether something did not work.
    pub warning: bool,
}

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
    frames: usize,
    revision: u64,
}

impl State {
    /// The first screen of a timeline.
    pub fn new(timeline: &Timeline, size: (u16, u16)) -> Self {
        let mut state = Self {
            size,
            focus: Pane::Queues,
            main: Pane::Queues,
            right: Pane::Nodes,
            upper: Pane::Nodes,
            pinned: None,
            granularity: Granularity::default(),
            subject: None,
            queues: ListView::default(),
            nodes: ListView::default(),
            candidates: ListView::default(),
            detail_list: ListView::default(),
            detail: None,
            pod: None,
            pages: BTreeMap::new(),
            open_budgets: BTreeSet::new(),
            trail: Vec::new(),
            message_offset: 0,
            filters: BTreeMap::new(),
            orders: BTreeMap::new(),
            grouping: None,
            open_groups: BTreeSet::new(),
            overlay: None,
            notice: None,
            dragging: false,
            running: None,
            working: None,
            busy: None,
            news: None,
            settings: Settings::default(),
            derived: Derived::default(),
            revision: 0,
        };
        if let Some(first) = timeline.queues().active().first() {
            state.queues = ListView::at(RowId::Pod(first.pod.clone()));
        }
        state.refresh(timeline);
        state
    }

    /// Says that something rows depend on has changed.
    pub fn touch(&mut self) {
        self.revision += 1;
    }

    /// Renews what follows from the record where it changed, and keeps selections on rows that exist and in sight.
    pub fn refresh(&mut self, timeline: &Timeline) {
        let stamp = Stamp { cursor: timeline.cursor(), frames: timeline.frames().len(), revision: self.revision };
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
        let (Some(node), Some(frame), Some(start)) = (&self.detail, timeline.frame(), &timeline.cycle().start) else { return };
        if self.running.is_some() || self.plan().list(Pane::NodeDetail).is_empty() || self.filters_are_of(&frame.events, node) {
            return;
        }
        self.derived.filters = driver.every_filter(&start.pod, node);
        self.derived.filters_of = Some((frame.events.clone(), node.clone()));
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
                (Pane::Candidate, _) => vec![PageRow::Note("no candidate is selected: this cycle has none so far".to_owned())],
                _ => pages::budgets::rows(&ask, &mut filter),
            };
            page.stamp = stamp;
        }
        let list = self.pages.entry(pane).or_default();
        list.settle(&page.rows, usize::from(area.height));
        self.derived.pages.insert(pane, page);
    }

    /// What the selected row of the pane in focus is about, and what that is tied to: a pod to its node and budgets, a
    /// budget to its pods.
    fn linked(&self, timeline: &Timeline) -> BTreeSet<RowId> {
        let cluster = &timeline.moment().cluster;
        let mut linked = BTreeSet::new();
        linked.extend(self.linked_node(timeline).cloned().map(RowId::Node));
        let selected = match self.focus {
            Pane::Queues => self.queues.selected.as_ref(),
            Pane::Nodes => self.nodes.selected.as_ref(),
            Pane::NodeDetail => self.detail_list.selected.as_ref(),
            pane => self.pages.get(&pane).and_then(|list| list.selected.as_ref()),
        };
        match selected {
            Some(RowId::Pod(key)) => {
                linked.insert(RowId::Pod(key.clone()));
                if let Some(pod) = cluster.pods.get(key) {
                    linked.extend((!pod.node_name.is_empty()).then(|| RowId::Node(pod.node_name.clone())));
                    linked.extend(pages::pod::covering(cluster, pod).map(|b| RowId::Budget(b.metadata.key())));
                }
            }
            Some(RowId::Budget(key)) => {
                linked.insert(RowId::Budget(key.clone()));
                if let Some(budget) = cluster.pod_disruption_budgets.get(key) {
                    let covered = cluster.pods.in_namespace(&budget.metadata.namespace).filter(|pod| budget.covers(pod));
                    for pod in covered {
                        linked.extend((!pod.node_name.is_empty()).then(|| RowId::Node(pod.node_name.clone())));
                        linked.insert(RowId::Pod(pod.key()));
                    }
                }
            }
            _ => {}
        }
        linked
    }

    fn filters_are_of(&self, events: &Arc<[Event]>, node: &Str) -> bool {
        self.derived.filters_of.as_ref().is_some_and(|(of, name)| Arc::ptr_eq(of, events) && name == node)
    }

    fn derive(&mut self, timeline: &Timeline) {
        let fuzzy = |pane: Pane| Fuzzy::new(self.filters.get(&pane).map_or("", String::as_str));
        let asked = timeline.frame().zip(self.detail.as_ref()).is_some_and(|(frame, node)| self.filters_are_of(&frame.events, node));
        let order = |pane: Pane| self.orders.get(&pane).copied().unwrap_or_default();
        let derived = &mut self.derived;
        let events = timeline.frame().map(|f| f.events.clone());
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
        for frame in timeline.frames() {
            derived.starts.push(derived.starts[derived.starts.len() - 1] + frame.events.len());
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

    /// How the screen is arranged.
    pub fn plan(&self) -> Plan {
        Plan::new(Rect::new(0, 0, self.size.0, self.size.1), self.shape())
    }

    /// How much room there is.
    pub fn mode(&self) -> Mode {
        Mode::of(self.size.0, self.size.1)
    }

    fn shape(&self) -> Shape {
        Shape {
            main: self.main,
            right: self.right,
            upper: self.upper,
            preemption: self.preemption(),
            queue_rows: self.derived.queues.len(),
        }
    }

    /// What the cycle under the cursor has to show of preemption, as it ends.
    pub fn preemption(&self) -> Preemption {
        match &self.derived.whole.preemption {
            None => Preemption::None,
            Some(p) if p.potential_nodes.is_empty() => Preemption::Sentence,
            Some(_) => Preemption::Table,
        }
    }

    /// Brings a pane into sight.
    pub fn show(&mut self, pane: Pane) {
        match pane {
            Pane::Queues => self.main = pane,
            Pane::Nodes | Pane::NodeDetail => (self.main, self.right, self.upper) = (pane, pane, pane),
            Pane::Preemption => (self.main, self.right) = (pane, pane),
            Pane::PodDetail | Pane::Candidate | Pane::Budgets => (self.main, self.right, self.upper) = (pane, pane, pane),
            Pane::Steps | Pane::Message => {}
        }
    }

    /// The panes one can go to, in order.
    pub fn panes(&self) -> Vec<Pane> {
        let mut panes = vec![Pane::Queues, Pane::Nodes, Pane::Preemption];
        if self.detail.is_some() {
            panes.push(Pane::NodeDetail);
        }
        panes.extend([Pane::Steps, Pane::Message]);
        if self.pod.is_some() {
            panes.push(Pane::PodDetail);
        }
        panes.extend([Pane::Candidate, Pane::Budgets].into_iter().filter(|page| self.pages.contains_key(page)));
        panes
    }

    /// The filter of a pane; empty when there is none.
    pub fn filter(&self, pane: Pane) -> &str {
        self.filters.get(&pane).map_or("", String::as_str)
    }

    /// Sets or clears the filter of a pane.
    pub fn set_filter(&mut self, pane: Pane, text: String) {
        if text.is_empty() {
            self.filters.remove(&pane);
        } else {
            self.filters.insert(pane, text);
        }
        self.touch();
    }

    /// The order of a pane's list.
    pub fn order(&self, pane: Pane) -> Order {
        self.orders.get(&pane).copied().unwrap_or_default()
    }

    /// Sorts a pane's list; what is selected stays selected.
    pub fn sort(&mut self, pane: Pane, order: Order) {
        let list = match pane {
            Pane::Queues => &mut self.queues,
            Pane::Nodes => &mut self.nodes,
            Pane::Preemption => &mut self.candidates,
            Pane::NodeDetail => &mut self.detail_list,
            Pane::Candidate | Pane::Budgets => self.pages.entry(pane).or_default(),
            Pane::Steps | Pane::Message | Pane::PodDetail => return,
        };
        list.chosen = list.selected.is_some();
        self.orders.insert(pane, order);
        self.touch();
        self.say(format!("{}: {}", pane.to_string().to_lowercase(), order.words(pane)));
    }

    /// Opens a node.
    pub fn open_node(&mut self, node: Str) {
        if self.detail.as_ref() != Some(&node) {
            self.detail_list = ListView::default();
            self.filters.remove(&Pane::NodeDetail);
        }
        self.leave(Pane::NodeDetail);
        let offset = self.nodes.offset;
        self.nodes = ListView::at(RowId::Node(node.clone()));
        self.nodes.offset = offset;
        self.detail = Some(node);
        self.touch();
        self.show(Pane::NodeDetail);
        self.focus = Pane::NodeDetail;
    }

    /// Opens a pod.
    pub fn open_pod(&mut self, pod: Key) {
        self.leave(Pane::PodDetail);
        if self.pod.as_ref() != Some(&pod) {
            self.pages.remove(&Pane::PodDetail);
            self.filters.remove(&Pane::PodDetail);
        }
        self.pod = Some(pod);
        self.enter(Pane::PodDetail);
    }

    /// Opens the candidate that is selected, or the budgets.
    pub fn open_page(&mut self, pane: Pane) {
        self.leave(pane);
        self.enter(pane);
    }

    fn enter(&mut self, pane: Pane) {
        self.pages.entry(pane).or_default();
        self.touch();
        self.show(pane);
        self.focus = pane;
    }

    /// Remembers this place, to come back to from another.
    fn leave(&mut self, to: Pane) {
        let spot =
            Spot { focus: self.focus, shown: [self.main, self.right, self.upper], detail: self.detail.clone(), pod: self.pod.clone() };
        let stays = self.focus == to && to != Pane::PodDetail && to != Pane::NodeDetail;
        if !stays && self.trail.last() != Some(&spot) {
            self.trail.push(spot);
            if self.trail.len() > TRAIL {
                self.trail.remove(0);
            }
        }
    }

    /// Back to the place before; false where none is remembered.
    pub fn go_back(&mut self) -> bool {
        let Some(spot) = self.trail.pop() else { return false };
        if self.detail != spot.detail {
            self.detail_list = ListView::default();
        }
        if self.pod != spot.pod {
            self.pages.remove(&Pane::PodDetail);
        }
        self.focus = spot.focus;
        [self.main, self.right, self.upper] = spot.shown;
        // What was open stays a tab, unless something else was open there before.
        self.detail = spot.detail.or_else(|| self.detail.take());
        self.pod = spot.pod.or_else(|| self.pod.take());
        self.touch();
        true
    }

    /// The selected row of the page in focus.
    pub fn page_row(&self) -> Option<&RowId> {
        self.pages.get(&self.focus)?.selected.as_ref()
    }

    /// The pod that is selected among the queues.
    pub fn selected_pod(&self) -> Option<&Key> {
        match &self.queues.selected {
            Some(RowId::Pod(key)) => Some(key),
            _ => None,
        }
    }

    /// The candidate that is selected, or the chosen one.
    pub fn selected_candidate<'a>(&'a self, cycle: &'a CycleView) -> Option<&'a Str> {
        match &self.candidates.selected {
            Some(RowId::Node(node)) => Some(node),
            _ => cycle.preemption.as_ref()?.selected.as_ref().map(|(node, _)| node),
        }
    }

    /// The node that the pane in focus speaks of, to be marked in the others.
    pub fn linked_node<'a>(&'a self, timeline: &'a Timeline) -> Option<&'a Str> {
        match self.focus {
            Pane::Preemption => self.selected_candidate(timeline.cycle()),
            Pane::NodeDetail => self.detail.as_ref(),
            Pane::Nodes => match &self.nodes.selected {
                Some(RowId::Node(node)) => Some(node),
                _ => None,
            },
            Pane::Queues => {
                let entry = timeline.queues().entries.get(self.selected_pod()?)?;
                (!entry.nominated.is_empty()).then_some(&entry.nominated)
            }
            Pane::Candidate => self.selected_candidate(timeline.cycle()),
            Pane::PodDetail | Pane::Budgets => None,
            Pane::Steps | Pane::Message => timeline.cycle().current_node.as_ref(),
        }
    }

    /// Tells the reader something.
    pub fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), warning: false });
    }

    /// Tells the reader that something did not work.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), warning: true });
    }
}
