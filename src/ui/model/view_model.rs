//! The view model: everything derived from the record, filters, sort orders and groupings. It is made once per change, so
//! drawing derives nothing whose cost grows with the cluster.

pub mod cycle;
pub mod nodes;
mod pages;
pub mod revision;
pub mod rows;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use self::cycle::CycleFacts;
use self::nodes::{ClusterNodes, NodeListKey};
use self::pages::Pages;
use self::revision::RevisionFacts;
use self::rows::ListRows;
use crate::cluster::{Key, Str};
use crate::framework::{NodeFilters, Snapshot};
use crate::session::{Cursor, Timeline};
use crate::trace::RecordedEvents;
use crate::ui::model::filter::Filter;
use crate::ui::model::grouping::Grouping;
use crate::ui::model::list::RowId;
use crate::ui::model::node_facts::NodeFacts;
use crate::ui::model::page::PageRow;
use crate::ui::model::pane::Pane;
use crate::ui::model::pod_activity::PodActivity;
use crate::ui::model::rows::{NodeRow, ranks};
use crate::ui::model::session_handle::SessionHandle;
use crate::ui::model::state::State;
use crate::ui::model::verdict;

/// The derived state of the screen.
#[derive(Clone, Debug, Default)]
pub struct ViewModel {
    stamp: Option<Stamp>,
    pub rows: ListRows,
    /// Rows of the pages in sight.
    pages: Pages,
    /// The cycle under the cursor.
    pub cycle: CycleFacts,
    /// The revision at the cursor.
    pub revision: RevisionFacts,
    pub nodes: ClusterNodes,
    /// The object of the selected row in focus, and its related objects.
    pub linked: Linked,
    /// The Filter plugins' answers about the open node.
    pub open_node: OpenNode,
    /// Activity of the pod that is selected in the queues.
    pub activity: SelectedActivity,
}

/// The object of the selected row in focus, and its related objects. All panes highlight them.
#[derive(Clone, Debug, Default)]
pub struct Linked {
    /// The objects.
    pub rows: BTreeSet<RowId>,
    /// Their input: the pane in focus, its selected row, and the node of that row.
    pub of: Option<(Pane, Option<RowId>, Option<Str>)>,
}

/// All Filter plugins' answers about the open node, for the pod of the cycle.
#[derive(Clone, Debug, Default)]
pub struct OpenNode {
    /// The answers.
    pub filters: Option<NodeFilters>,
    /// The events of the revision, and the node.
    of: Option<(Arc<RecordedEvents>, Str)>,
}

/// Activity of the pod that is selected in the queues.
#[derive(Clone, Debug, Default)]
pub struct SelectedActivity {
    pub shown: PodActivity,
    of: Option<Key>,
}

#[derive(Clone, Debug, PartialEq)]
struct Stamp {
    cursor: Cursor,
    revisions: usize,
    touched: u64,
}

impl OpenNode {
    /// Returns the answers; `None` if they are of another revision or node.
    pub fn filters_at(&self, timeline: &Timeline, node: Option<&Str>) -> Option<&NodeFilters> {
        let (revision, node) = timeline.revision().zip(node)?;
        self.filters.as_ref().filter(|_| self.is_of(&revision.events, node))
    }

    fn is_of(&self, events: &Arc<RecordedEvents>, node: &Str) -> bool {
        self.of.as_ref().is_some_and(|(of, name)| Arc::ptr_eq(of, events) && name == node)
    }
}

impl ViewModel {
    /// Returns the rows of a page; none if it is not in sight.
    pub fn page(&self, pane: Pane) -> &Vec<PageRow> {
        self.pages.rows(pane)
    }

    /// Returns the facts of a snapshot's nodes in the whole cycle.
    pub fn whole_facts(&self, snapshot: &Snapshot) -> &NodeFacts {
        self.nodes.whole_facts.get_or_init(|| NodeFacts::of(&self.cycle.whole, snapshot, self.nodes.orders.clone()))
    }

    /// Shows a list of nodes without a filter, and makes it unless it is kept.
    pub fn list_nodes(&mut self, key: NodeListKey, make: impl FnOnce(&Self) -> Vec<NodeRow>) {
        self.rows.nodes = self.nodes.list(&key).unwrap_or_else(|| {
            let rows = Arc::new(make(self));
            self.nodes.keep(key, rows.clone());
            rows
        });
    }

    /// Makes the rows of a page unless record, columns and object are unchanged.
    pub fn renew_page(&mut self, pane: Pane, width: u16, subject: Option<&RowId>, make: impl FnOnce(&Self) -> Vec<PageRow>) {
        let Some(stamp) = self.stamp.clone() else { return };
        let stamp = (stamp, width, subject.cloned());
        if !self.pages.are_of(pane, &stamp) {
            let rows = make(self);
            self.pages.set(pane, stamp, rows);
        }
    }

    /// Marks the rows of a page as outdated.
    pub fn forget_page(&mut self, pane: Pane) {
        self.pages.forget(pane);
    }
}

impl State {
    /// Returns the filter of a pane, parsed.
    pub fn row_filter(&self, pane: Pane) -> Filter {
        Filter::new(self.filter(pane)).only_substrings(!self.choices.scattered.contains(&pane))
    }

    /// Derives the state shared by all panes. Returns false if nothing has changed.
    pub fn derive(&mut self, timeline: &Timeline) -> bool {
        let stamp = Stamp { cursor: timeline.cursor(), revisions: timeline.revisions().len(), touched: self.touched };
        if self.view_model.stamp.as_ref() == Some(&stamp) {
            return false;
        }
        let model = &mut self.view_model;
        let same_place = model.stamp.as_ref().is_some_and(|old| old.cursor == stamp.cursor && old.revisions == stamp.revisions);
        model.stamp = Some(stamp);
        model.activity.of = None;
        model.revision.derive(timeline, !model.cycle.is_of(timeline));
        let same_whole = model.cycle.derive(timeline);
        if !same_whole {
            model.nodes.whole_facts = OnceLock::new();
            self.message_offset = 0;
        }
        let cycle = timeline.cycle();
        let snapshot = &timeline.decided_on().snapshot;
        model.nodes.grouping = self.choices.grouping.clone().unwrap_or_else(|| Grouping::usual(snapshot.len()));
        model.nodes.ranks = ranks(cycle);
        let same_nodes = model.nodes.are_of(snapshot);
        let same_cycle = same_whole && same_place && same_nodes;
        model.cycle.renew_memo(cycle, same_cycle);
        if !same_cycle {
            if !same_nodes {
                model.nodes.take(snapshot);
            }
            let group = model.cycle.whole.group.is_some();
            if !same_nodes || group {
                model.nodes.whole_facts = OnceLock::new();
            }
            let facts = match &model.cycle.whole {
                _ if group => NodeFacts::of(cycle, snapshot, model.nodes.orders.clone()),
                whole => model.whole_facts(snapshot).so_far(whole, cycle, snapshot),
            };
            let scored = Some(cycle.scoring.scores.len());
            let same_lists = same_whole && same_nodes && !group;
            if !same_lists || model.nodes.scored != scored || !facts.are_alike(&model.nodes.facts) {
                model.nodes.drop_lists(same_lists);
                model.nodes.counts = verdict::counts(facts.classes());
                model.nodes.facts = facts;
                model.nodes.scored = scored;
            }
        }
        true
    }

    /// Derives the activity of the pod that is selected in the queues.
    pub fn derive_activity(&mut self, timeline: &Timeline) {
        let pod = self.selected_pod().cloned();
        let activity = &mut self.view_model.activity;
        if activity.of != pod {
            activity.shown = pod.as_ref().map(|p| PodActivity::of(timeline, p)).unwrap_or_default();
            activity.of = pod;
        }
    }

    /// Runs all Filter plugins for the open node, once per revision and node, because that may be slow in a large cluster.
    /// Returns false if there is nothing new to run.
    pub fn ask_filters(&mut self, session: &dyn SessionHandle) -> bool {
        let timeline = session.timeline();
        let (Some(node), Some(revision), Some(start)) = (&self.subjects.node, timeline.revision(), &timeline.cycle().start) else {
            return false;
        };
        if self.tasks.running.is_some() || self.view_model.open_node.is_of(&revision.events, node) {
            return false;
        }
        let filters = session.every_filter(&start.pod, node);
        self.view_model.open_node = OpenNode { filters, of: Some((revision.events.clone(), node.clone())) };
        self.touch();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::nodes::NODE_LISTS;
    use super::*;
    use crate::ui::model::list::GroupKey;
    use crate::ui::model::sort::Sort;

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
            assert_eq!(*model.rows.nodes, row(open));
        }
        model.list_nodes(key(0), |_| unreachable!("it is kept"));
        assert_eq!(*model.rows.nodes, row(0));
        model.list_nodes(key(NODE_LISTS), |_| row(NODE_LISTS));
        model.list_nodes(key(0), |_| row(99));
        assert_eq!(*model.rows.nodes, row(99), "the oldest was dropped");
    }
}
