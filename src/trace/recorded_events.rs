//! The events of a revision as a record keeps them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::event::Event;
use crate::cluster::{Key, Str};
use crate::framework::{SharedList, Snapshot, Status};

/// The events of a revision, in order.
///
/// A cycle has an event for every node that it filters. These are packed, and made again when they are read: their names are those of
/// the snapshot, and a node takes one byte, which selects its status among a few. All other events are kept as they are.
#[derive(Clone, Default)]
pub struct RecordedEvents {
    others: Box<[Event]>,
    /// The packed events, in order.
    runs: Box<[FilterRun]>,
}

/// Consecutive events about filtered nodes.
#[derive(Clone)]
struct FilterRun {
    /// Index of its first event among all events.
    at: usize,
    /// Number of events in earlier runs.
    before: usize,
    names: Arc<[Str]>,
    /// Index of its first name; the others follow, and wrap around.
    from: usize,
    /// The different statuses.
    statuses: Box<[Status]>,
    /// The index of each event's status.
    status_of: Box<[u8]>,
    /// The lists of nominated pods that are not empty, by the number of their event in the run.
    nominated: Box<[(usize, SharedList<Key>)]>,
}

/// The fields of an event about a filtered node.
type Filtered<'a> = (&'a Str, &'a Status, &'a SharedList<Key>);

fn filtered(event: &Event) -> Option<Filtered<'_>> {
    if let Event::NodeFiltered { node, status, nominated } = event { Some((node, status, nominated)) } else { None }
}

fn is_filtered(event: &Event) -> bool {
    filtered(event).is_some()
}

impl RecordedEvents {
    /// Packs events. A cycle that walked the nodes of `snapshot` shares its names.
    pub fn new(events: Vec<Event>, snapshot: &Snapshot) -> Self {
        let mut runs = Vec::new();
        let (mut at, mut before) = (0, 0);
        for part in events.chunk_by(|a, b| is_filtered(a) == is_filtered(b)) {
            if is_filtered(&part[0]) {
                let (names, from) = names(part, snapshot);
                let mut rest = part;
                while !rest.is_empty() {
                    let done = part.len() - rest.len();
                    let run = FilterRun::first_of(rest, (at + done, before + done), (&names, (from + done) % names.len()));
                    rest = &rest[run.status_of.len()..];
                    runs.push(run);
                }
                before += part.len();
            }
            at += part.len();
        }
        // A list of its own: the allocation of the engine's has room for all nodes.
        let mut others = Vec::with_capacity(at - before);
        others.extend(events.into_iter().filter(|event| !is_filtered(event)));
        Self { others: others.into(), runs: runs.into() }
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.others.len() + self.runs.last().map_or(0, FilterRun::packed)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the event at an index; `None` beyond the end.
    pub fn get(&self, index: usize) -> Option<Cow<'_, Event>> {
        match self.run_before(index) {
            Some(run) if index < run.at + run.status_of.len() => Some(Cow::Owned(run.event(index - run.at))),
            run => self.others.get(index - run.map_or(0, FilterRun::packed)).map(Cow::Borrowed),
        }
    }

    /// Returns all events.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Cow<'_, Event>> + ExactSizeIterator {
        self.range(0..self.len())
    }

    /// Returns the events at some indexes.
    ///
    /// # Panics
    /// The iterator panics beyond the last event.
    pub fn range(&self, indexes: Range<usize>) -> impl DoubleEndedIterator<Item = Cow<'_, Event>> + ExactSizeIterator {
        indexes.map(|index| self.get(index).expect("the index of an event"))
    }

    /// Returns the events that are not [`Event::NodeFiltered`]. To search these makes no event.
    pub fn others(&self) -> &[Event] {
        &self.others
    }

    /// Returns those of [`Self::others`] that are among the first `events` events.
    pub fn others_before(&self, events: usize) -> &[Event] {
        let packed = self.run_before(events).map_or(0, |run| run.packed().min(run.before + events - run.at));
        &self.others[..(events - packed).min(self.others.len())]
    }

    /// Returns the index among all events of the last one of [`Self::others`] that meets a condition.
    pub fn rposition_of_other(&self, met: impl Fn(&Event) -> bool) -> Option<usize> {
        let other = self.others.iter().rposition(met)?;
        let runs = self.runs.partition_point(|run| run.at - run.before <= other);
        Some(other + self.runs[..runs].last().map_or(0, FilterRun::packed))
    }

    /// Returns the last run that begins at or before an index.
    fn run_before(&self, index: usize) -> Option<&FilterRun> {
        self.runs[..self.runs.partition_point(|run| run.at <= index)].last()
    }
}

impl FilterRun {
    /// Packs events up to the first that has no room for its status. `at` is the index of the first one, `before` the number of
    /// packed events before it, and `from` the index of its name.
    fn first_of(events: &[Event], (at, before): (usize, usize), (names, from): (&Arc<[Str]>, usize)) -> Self {
        let mut statuses = StatusTable { statuses: Vec::new(), slots: [0; 256] };
        let mut status_of = Vec::with_capacity(events.len());
        let mut nominated = Vec::new();
        for (number, (_, status, pods)) in events.iter().filter_map(filtered).enumerate() {
            let Some(known) = statuses.index(status) else { break };
            status_of.push(known);
            if !pods.is_empty() {
                nominated.push((number, pods.clone()));
            }
        }
        let statuses = statuses.statuses.into();
        Self { at, before, names: names.clone(), from, statuses, status_of: status_of.into(), nominated: nominated.into() }
    }

    /// Returns the number of events in this run and earlier ones.
    fn packed(&self) -> usize {
        self.before + self.status_of.len()
    }

    fn event(&self, number: usize) -> Event {
        let nominated = self.nominated.binary_search_by_key(&number, |(number, _)| *number);
        Event::NodeFiltered {
            node: self.names[(self.from + number) % self.names.len()].clone(),
            status: self.statuses[usize::from(self.status_of[number])].clone(),
            nominated: nominated.map_or_else(|_| SharedList::default(), |at| self.nominated[at].1.clone()),
        }
    }
}

/// Returns a list that has the nodes of some events one after another from an index on, and wraps around: that of the snapshot, or one
/// of their own.
fn names(events: &[Event], snapshot: &Snapshot) -> (Arc<[Str]>, usize) {
    let nodes = || events.iter().filter_map(filtered).map(|(node, ..)| node);
    if let Some(from) = nodes().next().and_then(|first| snapshot.position(first)) {
        let names = snapshot.names();
        let walk = names[from..].iter().chain(&names[..from]);
        if events.len() <= names.len() && walk.zip(nodes()).all(|(name, node)| name == node) {
            return (names, from);
        }
    }
    (nodes().cloned().collect(), 0)
}

/// The different statuses of a run.
struct StatusTable {
    statuses: Vec<Status>,
    /// Indexes of known statuses, by a hash of their addresses.
    slots: [u8; 256],
}

impl StatusTable {
    /// Number of statuses, the first ones, that are compared if the slot has another.
    const COMPARED: u8 = 8;

    /// Returns the index of a status, which is added if it is not found; `None` if there is no room for it. Only clones are found, and
    /// not all where there are many: a status that is added twice takes one pointer.
    fn index(&mut self, status: &Status) -> Option<u8> {
        let address = status.address();
        let slot = &mut self.slots[(address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0] as usize];
        let is_known = |at: &u8| self.statuses.get(usize::from(*at)).is_some_and(|known| known.address() == address);
        if !is_known(slot) {
            *slot = match (0..Self::COMPARED).find(is_known) {
                Some(known) => known,
                None => {
                    let new = u8::try_from(self.statuses.len()).ok()?;
                    self.statuses.push(status.clone());
                    new
                }
            };
        }
        Some(*slot)
    }
}

impl PartialEq for RecordedEvents {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl fmt::Debug for RecordedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
