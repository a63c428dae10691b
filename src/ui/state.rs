//! What the screen remembers: selections by identity, what is open, what is typed. No clock, no IO, no styles. What follows
//! from the record is kept in [`Derived`] and renewed by [`State::refresh`].

use std::collections::{BTreeMap, BTreeSet};

use ratatui::layout::Rect;

use crate::cluster::{Key, Str};
use crate::session::{Timeline, Until};
use crate::trace::{CycleView, StepSize};
use crate::ui::action::Pane;
use crate::ui::derived::Derived;
use crate::ui::grouping::Grouping;
use crate::ui::layout::{Mode, Plan, Preemption, Shape};
use crate::ui::list::{GroupKey, ListView, RowId};
use crate::ui::order::Order;
use crate::ui::overlay::Overlay;
use crate::ui::settings::Settings;
use crate::ui::trail::Spot;

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
    pub granularity: StepSize,
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
    /// Counts what rows depend on and the cursor does not tell.
    pub(super) revision: u64,
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
            granularity: StepSize::default(),
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
            Some(p) if p.potential_nodes().is_empty() => Preemption::Sentence,
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
            _ => cycle.preemption.as_ref()?.selected().map(|(node, _)| node),
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
