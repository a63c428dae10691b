//! Where the reader came from, and the way back.

use crate::cluster::{Key, Str};
use crate::ui::action::Pane;
use crate::ui::list::{ListView, RowId};
use crate::ui::overlay::Overlay;
use crate::ui::sheet::Sheet;
use crate::ui::state::State;

/// A place to go back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Spot {
    focus: Pane,
    shown: [Pane; 3],
    detail: Option<Str>,
    pod: Option<Key>,
    /// Text that lay over the screen and led away from here.
    over: Option<Box<Sheet>>,
}

impl Spot {
    /// What it shows, in a word.
    pub fn name(&self) -> String {
        if let Some(sheet) = &self.over {
            return sheet.title.clone();
        }
        match (self.focus, &self.detail, &self.pod) {
            (Pane::NodeDetail, Some(node), _) => node.to_string(),
            (Pane::PodDetail, _, Some(pod)) => pod.name.to_string(),
            (pane, ..) => pane.to_string(),
        }
    }
}

/// So many places are remembered.
const TRAIL: usize = 32;

impl State {
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

    fn spot(&self) -> Spot {
        let shown = [self.main, self.right, self.upper];
        Spot { focus: self.focus, shown, detail: self.detail.clone(), pod: self.pod.clone(), over: None }
    }

    /// Remembers this place and the text that leads away from it.
    pub(super) fn leave_text(&mut self, sheet: Sheet) {
        self.trail.push(Spot { over: Some(Box::new(sheet)), ..self.spot() });
    }

    /// Whether the way back leads to a text that lay over the screen.
    pub fn came_from_text(&self) -> bool {
        self.trail.last().is_some_and(|spot| spot.over.is_some())
    }

    /// Remembers this place, to come back to from another.
    fn leave(&mut self, to: Pane) {
        let spot = self.spot();
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
        self.overlay = spot.over.map(|sheet| Overlay::Text(*sheet));
        self.touch();
        true
    }
}
