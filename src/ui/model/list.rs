//! A list that keeps its selection by identity, while its rows change.

use crate::cluster::neighbors::About;
use crate::cluster::{Key, Str};
use crate::framework::PluginName;
use crate::ui::config::action::Motion;
use crate::ui::model::verdict::Class;

/// The identity of a row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowId {
    Pod(Key),
    Node(Str),
    /// A PodDisruptionBudget.
    Budget(Key),
    /// A revision in a pod's history, by its index.
    Revision(usize),
    /// A group of nodes.
    Group(GroupKey),
    /// A cause of pending pods, by its key.
    Cause(Str),
    /// A workload that is short of pods.
    Workload(About),
    /// The fix of a cause of pending pods, by the cause's key.
    CauseFix(Str),
    /// A pod group in a queue, by its number among the queues.
    PodGroup(Key, usize),
    /// A row that is not about an object: its kind, and its index among rows of that kind.
    Line(&'static str, usize),
}

/// The identity of a group of nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKey {
    /// Nodes with the same verdict for the same reason.
    Verdict {
        /// Their verdict.
        class: Class,
        /// The plugin that gave it.
        plugin: Option<PluginName>,
        reason: String,
    },
    /// Nodes with the same value of a label.
    Label {
        /// The label.
        key: Str,
        /// Its value; `None` for nodes without it.
        value: Option<Str>,
    },
}

impl GroupKey {
    /// Returns the reason, or the value of the label.
    pub fn words(&self) -> &str {
        match self {
            Self::Verdict { reason, .. } => reason,
            Self::Label { value, .. } => value.as_ref().map_or("no label", |v| if v.is_empty() { "empty" } else { v.as_str() }),
        }
    }
}

/// A row of a list.
pub trait Row {
    /// Returns the row's identity; `None` for headings, which cannot be selected.
    fn id(&self) -> Option<RowId>;

    /// Returns whether the row cannot be selected.
    fn is_heading(&self) -> bool {
        self.id().is_none()
    }

    /// Returns the number of things that a filter counts in this row: none for headings, and for groups whose things are listed.
    fn things(&self) -> usize {
        usize::from(!self.is_heading())
    }

    /// Returns whether the row has this identity.
    fn is(&self, id: &RowId) -> bool {
        self.id().as_ref() == Some(id)
    }
}

/// The rows of a list, of any type.
pub trait RowList {
    /// Returns the number of rows.
    fn count(&self) -> usize;
    /// Returns the identity of a row; `None` for headings and beyond the end.
    fn id_at(&self, at: usize) -> Option<RowId>;
    /// Returns the number of rows that can be selected among those before `end`.
    fn selectable(&self, end: usize) -> usize;
    /// Returns the number of things in all rows, such as pods or nodes.
    fn things(&self) -> usize;
    /// Returns whether a row has this identity.
    fn is_at(&self, at: usize, id: &RowId) -> bool;

    /// Returns the first row with this identity.
    fn find(&self, id: &RowId) -> Option<usize> {
        (0..self.count()).find(|at| self.is_at(*at, id))
    }
}

impl<R: Row> RowList for [R] {
    fn count(&self) -> usize {
        self.len()
    }

    fn id_at(&self, at: usize) -> Option<RowId> {
        self.get(at).and_then(Row::id)
    }

    fn selectable(&self, end: usize) -> usize {
        self.iter().take(end).filter(|row| !row.is_heading()).count()
    }

    fn things(&self) -> usize {
        self.iter().map(Row::things).sum()
    }

    fn is_at(&self, at: usize, id: &RowId) -> bool {
        self.get(at).is_some_and(|row| row.is(id))
    }
}

impl<R: Row> RowList for Vec<R> {
    fn count(&self) -> usize {
        self.len()
    }

    fn id_at(&self, at: usize) -> Option<RowId> {
        self[..].id_at(at)
    }

    fn selectable(&self, end: usize) -> usize {
        self[..].selectable(end)
    }

    fn things(&self) -> usize {
        self[..].things()
    }

    fn is_at(&self, at: usize, id: &RowId) -> bool {
        self[..].is_at(at, id)
    }
}

/// The selection and the scroll position of a list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ListView {
    pub selected: Option<RowId>,
    /// The first row shown.
    pub offset: usize,
    /// Whether the user chose the selection. Otherwise the first row is selected.
    pub chosen: bool,
    /// The index of the selected row, used when the row disappears.
    last: usize,
}

impl ListView {
    /// A list at its top, without a choice of the user.
    pub const DEFAULT: Self = Self { selected: None, offset: 0, chosen: false, last: 0 };

    /// Returns a list with a row selected from the start.
    pub fn at(id: RowId) -> Self {
        Self { selected: Some(id), chosen: true, ..Self::DEFAULT }
    }

    /// Clears the selection and scrolls to the top.
    pub fn reset(&mut self) {
        *self = Self::DEFAULT;
    }

    /// Returns the index of the selected row.
    pub fn position<R: RowList + ?Sized>(&self, rows: &R) -> Option<usize> {
        let id = self.selected.as_ref()?;
        if rows.is_at(self.last, id) { Some(self.last) } else { rows.find(id) }
    }

    /// Selects a row. Returns false for headings and beyond the end.
    pub fn select<R: RowList + ?Sized>(&mut self, rows: &R, at: usize) -> bool {
        let Some(id) = rows.id_at(at) else { return false };
        self.selected = Some(id);
        self.chosen = true;
        self.last = at;
        true
    }

    /// Moves the selection past headings; `height` is the number of rows in sight.
    pub fn go<R: RowList + ?Sized>(&mut self, rows: &R, motion: Motion, height: usize) {
        let Some(last) = rows.count().checked_sub(1) else { return };
        let target = motion.target(self.position(rows), last, height);
        let down = matches!(motion, Motion::Down | Motion::HalfPageDown | Motion::PageDown | Motion::Top);
        let beyond = |at: &usize| rows.id_at(*at).is_some();
        let found = if down {
            (target..=last).find(beyond).or_else(|| (0..target).rev().find(beyond))
        } else {
            (0..=target).rev().find(beyond).or_else(|| (target..=last).find(beyond))
        };
        if let Some(at) = found {
            self.select(rows, at);
        }
        if matches!(motion, Motion::Top) {
            self.offset = 0;
        }
    }

    /// Keeps the selection on an existing row, and that row in sight.
    pub fn settle<R: RowList + ?Sized>(&mut self, rows: &R, height: usize) {
        let count = rows.count();
        if !self.chosen {
            let first = (0..count).find(|at| rows.id_at(*at).is_some());
            self.selected = first.and_then(|at| rows.id_at(at));
            self.last = first.unwrap_or(0);
        }
        match self.position(rows) {
            Some(at) => self.last = at,
            None => {
                let near = self.last.min(count.saturating_sub(1));
                let found = (near..count).chain((0..near).rev()).find(|at| rows.id_at(*at).is_some());
                match found {
                    Some(at) => drop(self.select(rows, at)),
                    None => self.selected = None,
                }
            }
        }
        let height = height.max(1);
        if let Some(at) = self.position(rows) {
            if at >= self.offset + height {
                self.offset = at + 1 - height;
            }
            // Rows behind the last that can be selected come into sight with it.
            if (at + 1..count).all(|below| rows.id_at(below).is_none()) {
                self.offset = self.offset.max(count.saturating_sub(height));
            }
            // Keep the heading above the row in sight too if there is room.
            let top = if at > 0 && height > 1 && rows.id_at(at - 1).is_none() { at - 1 } else { at };
            self.offset = self.offset.min(top);
        }
        self.offset = self.offset.min(count.saturating_sub(height));
    }

    /// Scrolls by `by` rows; the selection moves to the nearest row in sight.
    pub fn scroll<R: RowList + ?Sized>(&mut self, rows: &R, by: isize, height: usize) {
        let limit = rows.count().saturating_sub(height);
        self.offset = self.offset.saturating_add_signed(by).min(limit);
        let end = (self.offset + height).min(rows.count());
        let Some(at) = self.position(rows) else { return };
        let found = if at < self.offset {
            (self.offset..end).find(|i| rows.id_at(*i).is_some())
        } else if at >= end {
            (self.offset..end).rev().find(|i| rows.id_at(*i).is_some())
        } else {
            None
        };
        if let Some(at) = found {
            self.select(rows, at);
        }
    }
}

#[cfg(test)]
mod tests;
