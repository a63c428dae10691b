//! State of the screen: selections by identity, open pages, typed text. No clock, no IO, no styles.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cluster::neighbors::About;
use crate::cluster::{Key, Str};
use crate::session::{Cursor, Timeline, Until};
use crate::trace::{CycleView, StepSize};
use crate::ui::config::action::Direction;
use crate::ui::config::settings::Settings;
use crate::ui::model::grouping::Grouping;
use crate::ui::model::job::RunningJob;
use crate::ui::model::list::{GroupKey, ListView, RowId};
use crate::ui::model::navigation::Location;
use crate::ui::model::overlay::Overlay;
use crate::ui::model::overview::OverviewStatus;
use crate::ui::model::pane::{Pane, Place};
use crate::ui::model::rows::{self, PodGroupRow, QueuePart};
use crate::ui::model::size::Mode;
use crate::ui::model::sort::{Sort, SortChoice};
use crate::ui::model::view_model::ViewModel;
use crate::ui::model::what_ifs::WhatIfs;

/// The state of the screen.
#[derive(Clone, Debug)]
pub struct State {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// The pane that keys go to.
    pub focus: Pane,
    /// The panes that are shown, and where.
    pub arrangement: Arrangement,
    /// The pods that were pending when the overview was last looked at; `None` before the first time.
    pub seen_pending: Option<Arc<BTreeSet<Key>>>,
    pub step_size: StepSize,
    /// The subjects of the open pages and decisions.
    pub subjects: Subjects,
    /// Selections and scroll positions of all lists.
    pub lists: BTreeMap<Pane, ListView>,
    pub overview: OverviewStatus,
    /// The lesson of the tour; `None` outside of it.
    pub lesson: Option<usize>,
    /// The what-ifs, for undo and redo.
    pub what_ifs: WhatIfs,
    /// Whether the last key closed a text by the key that leaves elsewhere.
    pub closed_text: bool,
    /// Whether the user was asked about leaving, and the next key may confirm it.
    pub asked_to_leave: bool,
    /// The locations to go back to, the nearest last.
    pub history: Vec<Location>,
    /// The first visible line of the message.
    pub message_offset: usize,
    /// The text that the export in the prompt writes.
    pub exporting: Option<crate::ui::model::text_view::TextView>,
    /// The user's choices about the rows of lists.
    pub choices: Choices,
    pub overlay: Option<Overlay>,
    /// A message to the user, until the next key.
    pub notice: Option<Notice>,
    /// Whether the scrub bar is being dragged.
    pub dragging: bool,
    /// Work that is under way.
    pub tasks: Tasks,
    /// The settings: keys and themes.
    pub settings: Settings,
    pub view_model: ViewModel,
    /// Counts changes that affect rows and are not in the record or the cursor.
    pub(in crate::ui) touched: u64,
    /// The panes whose rows are outdated while those of the others are not.
    pub(in crate::ui) outdated: BTreeSet<Pane>,
}

/// The panes that are shown, and where.
#[derive(Clone, Debug)]
pub struct Arrangement {
    /// The main pane, on a screen with one.
    pub main: Pane,
    /// The pane on the right of the queues.
    pub right: Pane,
    /// The pane above preemption: nodes, a node, or a page.
    pub upper: Pane,
    /// The pane that is shown in place of all others.
    pub whole: Option<Pane>,
    /// Whether the pane in focus has the whole screen.
    pub zoomed: bool,
    /// The revision in which the user chose a pane; panes do not follow the cursor until the next one.
    pub pinned: Option<usize>,
    /// The open pages.
    pub opened: BTreeSet<Pane>,
}

/// The user's choices about the rows of lists.
#[derive(Clone, Debug, Default)]
pub struct Choices {
    pub filters: BTreeMap<Pane, String>,
    /// The panes whose filter no row contains, so that letters in order match.
    pub scattered: BTreeSet<Pane>,
    /// Sort orders by pane, where not the usual one.
    pub orders: BTreeMap<Pane, Sort>,
    /// The grouping of nodes; `None` for the default.
    pub grouping: Option<Grouping>,
    pub open_groups: BTreeSet<GroupKey>,
    /// The pod groups that are open in the queues.
    pub open_pod_groups: BTreeSet<Key>,
    /// The expanded budgets.
    pub open_budgets: BTreeSet<Key>,
    /// The causes of the overview that the user opened, or with a filter closed.
    pub turned_causes: BTreeSet<Str>,
}

/// Work that is under way.
#[derive(Clone, Debug, Default)]
pub struct Tasks {
    /// The run in progress.
    pub running: Option<Running>,
    /// The job in progress.
    pub working: Option<Working>,
    /// The activity indicator, while a request takes long.
    pub busy: Option<Busy>,
    /// The last shown status of a live cluster, and whether it is a warning.
    pub live: Option<(String, bool)>,
}

/// The subjects of the open pages and decisions.
#[derive(Clone, Debug, Default)]
pub struct Subjects {
    /// The decision that the user opened last; steps stop at its ends.
    pub decision: Option<OpenedDecision>,
    /// The pod that the user chose last; it may be bound or gone at the cursor.
    pub subject: Option<Key>,
    /// The node that is open.
    pub node: Option<Str>,
    /// The pod that is open.
    pub pod: Option<Key>,
    /// The workload whose page opens once the overview is complete.
    pub first_workload: Option<About>,
    /// The key of the cause whose fix is to be shown as soon as it is found.
    pub wanted_fix: Option<Str>,
}

impl Default for Arrangement {
    fn default() -> Self {
        let (main, right) = (Pane::QUEUES, Pane::NODES);
        Self { main, right, upper: right, whole: None, zoomed: false, pinned: None, opened: BTreeSet::new() }
    }
}

/// A decision that the user opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedDecision {
    pub pod: Key,
    /// Where the last step stopped at an end of it, and its direction.
    pub stopped: Option<(Cursor, Direction)>,
}

/// A run in progress.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The stop condition; `None` runs until nothing changes.
    pub until: Option<Until>,
    /// The number of cycles and waits so far.
    pub pieces: usize,
    /// The number of events that they recorded; see [`crate::limits::sessions::RUN_EVENTS`].
    pub events: usize,
}

/// A job in progress.
#[derive(Clone, Debug)]
pub struct Working {
    pub job: RunningJob,
    /// The job in a few words.
    pub what: &'static str,
    /// The number of finished items.
    pub done: usize,
    /// The number of all items; 0 if unknown.
    pub of: usize,
}

/// A request that takes long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    /// The request in a word or two.
    pub what: &'static str,
    /// Whether it can be stopped.
    pub stops: bool,
    /// The number of frames that the indicator has shown.
    pub ticks: usize,
}

/// A message to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub text: String,
    pub warning: bool,
    /// Whether the hints stay below it.
    pub above_hints: bool,
}

impl State {
    /// Returns the first state for a timeline.
    pub fn new(timeline: &Timeline, size: (u16, u16), settings: Settings) -> Self {
        let mut state = Self {
            size,
            focus: Pane::QUEUES,
            arrangement: Arrangement::default(),
            seen_pending: None,
            step_size: StepSize::default(),
            subjects: Subjects::default(),
            lists: BTreeMap::new(),
            overview: OverviewStatus::default(),
            lesson: None,
            what_ifs: WhatIfs::default(),
            closed_text: false,
            asked_to_leave: false,
            history: Vec::new(),
            message_offset: 0,
            exporting: None,
            choices: Choices::default(),
            overlay: None,
            notice: None,
            dragging: false,
            tasks: Tasks::default(),
            settings,
            view_model: ViewModel::default(),
            touched: 0,
            outdated: BTreeSet::new(),
        };
        if let Some(first) = timeline.queues().active().first() {
            let row = match rows::group_of(timeline.keyframe(), &first.pod) {
                Some(group) => PodGroupRow::id(&group, QueuePart::Active),
                None => RowId::Pod(first.pod.clone()),
            };
            state.lists.insert(Pane::QUEUES, ListView::at(row));
        }
        state
    }

    /// Marks the rows of all panes as outdated.
    pub fn touch(&mut self) {
        self.touched += 1;
    }

    /// Marks the rows of one pane as outdated.
    pub fn touch_rows(&mut self, pane: Pane) {
        self.outdated.insert(pane);
    }

    /// Returns the arrangement for the terminal's size.
    pub fn mode(&self) -> Mode {
        Mode::of(self.size.0, self.size.1)
    }

    /// Returns the selection and scroll position of a pane's list.
    pub fn list(&self, pane: Pane) -> &ListView {
        self.lists.get(&pane).unwrap_or(&ListView::DEFAULT)
    }

    /// Returns the selection and scroll position of a pane's list, for changes.
    pub fn list_mut(&mut self, pane: Pane) -> &mut ListView {
        self.lists.entry(pane).or_default()
    }

    /// Returns the selected row of the pane in focus.
    pub fn selected_row(&self) -> Option<&RowId> {
        self.list(self.focus).selected.as_ref()
    }

    /// Shows a pane in its place.
    pub fn show(&mut self, pane: Pane) {
        // It is left, or gone to again.
        if self.arrangement.whole == Some(Pane::OVERVIEW) {
            self.see_overview();
        }
        self.arrangement.whole = (pane.place == Place::Whole).then_some(pane);
        match pane.place {
            Place::Left => self.arrangement.main = pane,
            Place::Upper => (self.arrangement.main, self.arrangement.right, self.arrangement.upper) = (pane, pane, pane),
            Place::Lower => (self.arrangement.main, self.arrangement.right) = (pane, pane),
            Place::Fixed | Place::Whole => {}
        }
    }

    /// Takes the pods of the overview as seen.
    pub fn see_overview(&mut self) {
        if let Some(overview) = &self.overview.newest {
            self.seen_pending = Some(Arc::new(overview.pods.keys().cloned().collect()));
        }
    }

    /// Returns the filter of a pane; empty for none.
    pub fn filter(&self, pane: Pane) -> &str {
        self.choices.filters.get(&pane).map_or("", String::as_str)
    }

    /// Sets or clears the filter of a pane.
    pub fn set_filter(&mut self, pane: Pane, text: String) {
        if text.is_empty() {
            self.choices.filters.remove(&pane);
        } else {
            self.choices.filters.insert(pane, text);
        }
        self.touch_rows(pane);
    }

    /// Ends the filter of a pane because it hides what is shown.
    pub fn end_filter(&mut self, pane: Pane, hidden: &str) {
        if let Some(filter) = self.choices.filters.remove(&pane) {
            self.touch_rows(pane);
            self.say(format!("{}: the filter /{filter} hid {hidden} and has ended", pane.name.to_lowercase()));
        }
    }

    /// Returns the sort order of a pane's list.
    pub fn sort_of(&self, pane: Pane) -> Sort {
        self.choices.orders.get(&pane).copied().unwrap_or_default()
    }

    /// Sorts a pane's list and names the order. The selected row stays selected.
    pub fn sort(&mut self, pane: Pane, choice: SortChoice) {
        let list = self.list_mut(pane);
        list.chosen = list.selected.is_some();
        self.choices.orders.insert(pane, choice.sort);
        self.touch_rows(pane);
        self.say(format!("{}: {}", pane.name.to_lowercase(), choice.words));
    }

    /// Groups the nodes and names the grouping.
    pub fn group_nodes(&mut self, grouping: Grouping) {
        self.say(format!("nodes: {}", grouping.words()));
        self.view_model.nodes.grouping = grouping.clone();
        self.choices.grouping = Some(grouping);
        self.touch_rows(Pane::NODES);
    }

    /// Returns the pod that is selected in the queues.
    pub fn selected_pod(&self) -> Option<&Key> {
        match &self.list(Pane::QUEUES).selected {
            Some(RowId::Pod(key)) => Some(key),
            _ => None,
        }
    }

    /// Returns the selected candidate, or else the nominated node.
    pub fn selected_candidate<'a>(&'a self, cycle: &'a CycleView) -> Option<&'a Str> {
        match &self.list(Pane::PREEMPTION).selected {
            Some(RowId::Node(node)) => Some(node),
            _ => cycle.preemption.as_ref()?.selected().map(|(node, _)| node),
        }
    }

    /// Shows a message.
    pub fn say(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), warning: false, above_hints: false });
    }

    /// Shows a warning.
    pub fn warn(&mut self, text: impl Into<String>) {
        self.notice = Some(Notice { text: text.into(), warning: true, above_hints: false });
    }

    /// Shows a message on the first screen, whose hints stay in sight.
    pub fn say_first(&mut self, text: impl Into<String>, warning: bool) {
        self.notice = Some(Notice { text: text.into(), warning, above_hints: true });
    }
}
