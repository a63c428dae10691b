//! State of the screen: selections by identity, what is open, what is typed. No clock, no IO, no styles.

use std::collections::{BTreeMap, BTreeSet};

use crate::cluster::{Key, Str};
use crate::session::{Timeline, Until};
use crate::trace::{CycleView, StepSize};
use crate::ui::config::settings::Settings;
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::{GroupKey, ListView, RowId};
use crate::ui::model::navigation::Location;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::pane::{Pane, Place};
use crate::ui::model::size::Mode;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::view_model::ViewModel;

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
    pub step_size: StepSize,
    /// The pod that the reader chose last; it may be bound or gone at the cursor.
    pub subject: Option<Key>,
    /// Selections and scroll positions of all lists.
    pub lists: BTreeMap<Pane, ListView>,
    /// The node that is open.
    pub detail: Option<Str>,
    /// The pod that is open.
    pub pod: Option<Key>,
    /// Pages that are open.
    pub opened: BTreeSet<Pane>,
    /// Budgets whose pods are listed.
    pub open_budgets: BTreeSet<Key>,
    /// Locations to go back to, the nearest last.
    pub history: Vec<Location>,
    /// First line of the message that is shown.
    pub message_offset: usize,
    /// Filters by pane.
    pub filters: BTreeMap<Pane, String>,
    /// Orders of lists by pane, where they are not the usual ones.
    pub orders: BTreeMap<Pane, Sort>,
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
    /// The job under way.
    pub working: Option<Working>,
    /// What the reader waits for, once that takes a while.
    pub busy: Option<Busy>,
    /// How following a live cluster went when it was last shown, and whether something was wrong.
    pub live: Option<(String, bool)>,
    /// What the reader set for good: keys and themes.
    pub settings: Settings,
    /// What follows from the record.
    pub view_model: ViewModel,
    /// Counts what rows depend on and the cursor does not tell.
    pub(in crate::ui) revision: u64,
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
    pub fn new(timeline: &Timeline, size: (u16, u16), settings: Settings) -> Self {
        let mut state = Self {
            size,
            focus: Pane::QUEUES,
            main: Pane::QUEUES,
            right: Pane::NODES,
            upper: Pane::NODES,
            pinned: None,
            step_size: StepSize::default(),
            subject: None,
            lists: BTreeMap::new(),
            detail: None,
            pod: None,
            opened: BTreeSet::new(),
            open_budgets: BTreeSet::new(),
            history: Vec::new(),
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
            live: None,
            settings,
            view_model: ViewModel::default(),
            revision: 0,
        };
        if let Some(first) = timeline.queues().active().first() {
            state.lists.insert(Pane::QUEUES, ListView::at(RowId::Pod(first.pod.clone())));
        }
        state
    }

    /// Says that something rows depend on has changed.
    pub fn touch(&mut self) {
        self.revision += 1;
    }

    /// Returns the arrangement that the size of the terminal allows.
    pub fn mode(&self) -> Mode {
        Mode::of(self.size.0, self.size.1)
    }

    /// Returns the selection and scroll position of a pane's list.
    pub fn list(&self, pane: Pane) -> &ListView {
        self.lists.get(&pane).unwrap_or(&ListView::DEFAULT)
    }

    /// Returns the selection and scroll position of a pane's list, to be changed.
    pub fn list_mut(&mut self, pane: Pane) -> &mut ListView {
        self.lists.entry(pane).or_default()
    }

    /// Returns the selected row of the pane in focus.
    pub fn selected_row(&self) -> Option<&RowId> {
        self.list(self.focus).selected.as_ref()
    }

    /// Brings a pane into sight.
    pub fn show(&mut self, pane: Pane) {
        match pane.place {
            Place::Left => self.main = pane,
            Place::Upper => (self.main, self.right, self.upper) = (pane, pane, pane),
            Place::Lower => (self.main, self.right) = (pane, pane),
            Place::Fixed => {}
        }
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

    /// Returns the order of a pane's list.
    pub fn sort_of(&self, pane: Pane) -> Sort {
        self.orders.get(&pane).copied().unwrap_or_default()
    }

    /// Sorts a pane's list and says so; the selected row stays selected.
    pub fn sort(&mut self, pane: Pane, choice: SortChoice) {
        let list = self.list_mut(pane);
        list.chosen = list.selected.is_some();
        self.orders.insert(pane, choice.sort);
        self.touch();
        self.say(format!("{}: {}", pane.name.to_lowercase(), choice.words));
    }

    /// The pod that is selected among the queues.
    pub fn selected_pod(&self) -> Option<&Key> {
        match &self.list(Pane::QUEUES).selected {
            Some(RowId::Pod(key)) => Some(key),
            _ => None,
        }
    }

    /// The candidate that is selected, or the chosen one.
    pub fn selected_candidate<'a>(&'a self, cycle: &'a CycleView) -> Option<&'a Str> {
        match &self.list(Pane::PREEMPTION).selected {
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
