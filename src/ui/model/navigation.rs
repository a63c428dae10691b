//! Navigation back and forth between panes and texts.

use crate::cluster::{Key, Str};
use crate::ui::model::list::{ListView, RowId, RowList as _};
use crate::ui::model::overlay::Overlay;
use crate::ui::model::pane::Pane;
use crate::ui::model::state::State;
use crate::ui::model::text_view::TextView;

/// A location to go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    focus: Pane,
    shown: [Pane; 3],
    whole: Option<Pane>,
    node: Option<Str>,
    pod: Option<Key>,
    /// The text that was open when this location was left.
    over: Option<Box<TextView>>,
}

impl Location {
    /// Returns its name: that of the text, node, pod or pane it shows.
    pub fn name(&self) -> String {
        if let Some(text) = &self.over {
            return text.title.clone();
        }
        match (self.focus, &self.node, &self.pod) {
            (Pane::NODE, Some(node), _) => node.to_string(),
            (Pane::POD, _, Some(pod)) => pod.name.to_string(),
            (pane, ..) => pane.to_string(),
        }
    }
}

/// Limit on the locations remembered.
const LIMIT: usize = 32;

impl State {
    pub fn open_node(&mut self, node: Str) {
        if self.subjects.node.as_ref() != Some(&node) {
            self.lists.remove(&Pane::NODE);
            self.choices.filters.remove(&Pane::NODE);
        }
        self.leave(Pane::NODE);
        // In groups, a node may be in a closed one.
        let id = RowId::Node(node.clone());
        if !self.view_model.nodes.grouping.is_grouped() && self.view_model.rows.nodes.find(&id).is_none() {
            self.end_filter(Pane::NODES, &node);
        }
        let offset = self.list(Pane::NODES).offset;
        *self.list_mut(Pane::NODES) = ListView::at(RowId::Node(node.clone()));
        self.list_mut(Pane::NODES).offset = offset;
        self.subjects.node = Some(node);
        self.enter(Pane::NODE);
    }

    pub fn open_pod(&mut self, pod: Key) {
        self.leave(Pane::POD);
        if self.subjects.pod.as_ref() != Some(&pod) {
            self.lists.remove(&Pane::POD);
            self.choices.filters.remove(&Pane::POD);
        }
        self.subjects.pod = Some(pod);
        self.enter(Pane::POD);
    }

    pub fn open_page(&mut self, pane: Pane) {
        self.leave(pane);
        self.enter(pane);
    }

    fn enter(&mut self, pane: Pane) {
        self.arrangement.opened.insert(pane);
        self.touch();
        self.show(pane);
        self.focus = pane;
    }

    fn location(&self) -> Location {
        let shown = [self.arrangement.main, self.arrangement.right, self.arrangement.upper];
        Location {
            focus: self.focus,
            shown,
            whole: self.arrangement.whole,
            node: self.subjects.node.clone(),
            pod: self.subjects.pod.clone(),
            over: None,
        }
    }

    /// Remembers this location with the text that is left.
    pub fn leave_text(&mut self, text: TextView) {
        self.history.push(Location { over: Some(Box::new(text)), ..self.location() });
    }

    /// Returns whether the last location has a text.
    pub fn came_from_text(&self) -> bool {
        self.history.last().is_some_and(|location| location.over.is_some())
    }

    /// Returns whether the last location is a pane in place of all others.
    pub fn came_from_whole(&self) -> bool {
        self.history.last().is_some_and(|location| location.whole.is_some())
    }

    /// Leaves a pane that is shown in place of all others, for the queues. Returns false if there is none.
    pub fn leave_whole(&mut self) -> bool {
        if self.arrangement.whole.is_none() {
            return false;
        }
        self.leave(Pane::QUEUES);
        self.arrangement.pinned = None;
        self.show(Pane::QUEUES);
        self.focus = Pane::QUEUES;
        true
    }

    /// Remembers this location before another pane opens.
    pub fn leave(&mut self, to: Pane) {
        let location = self.location();
        let stays = self.focus == to && to != Pane::POD && to != Pane::NODE;
        if !stays && self.history.last() != Some(&location) {
            self.history.push(location);
            if self.history.len() > LIMIT {
                self.history.remove(0);
            }
        }
    }

    /// Returns to the last location. Returns false if none is remembered.
    pub fn go_back(&mut self) -> bool {
        let Some(location) = self.history.pop() else { return false };
        if self.subjects.node != location.node {
            self.lists.remove(&Pane::NODE);
        }
        if self.subjects.pod != location.pod {
            self.lists.remove(&Pane::POD);
        }
        if self.arrangement.whole == Some(Pane::OVERVIEW) && location.whole != Some(Pane::OVERVIEW) {
            self.see_overview();
        }
        self.focus = location.focus;
        [self.arrangement.main, self.arrangement.right, self.arrangement.upper] = location.shown;
        self.arrangement.whole = location.whole;
        // An open node or pod stays a tab, unless the location had another one open.
        self.subjects.node = location.node.or_else(|| self.subjects.node.take());
        self.subjects.pod = location.pod.or_else(|| self.subjects.pod.take());
        self.overlay = location.over.map(|text| Overlay::Text(*text));
        self.touch();
        true
    }
}
