//! Queues changes until they are applied to a view, with at most one entry per object.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::cluster::{Key, Kind, Object, ObservedEvent};
use crate::limits::live::QUEUED_EVENTS;

/// A change of the cluster since the last call of [`Live::take`](super::Live::take).
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An object was added or modified; its new state.
    Put(Object),
    /// An object was deleted; its last state.
    Gone(Object),
    /// A new event of a scheduler about a pod, or a new occurrence of one.
    Event(ObservedEvent),
    /// A kind can be read that was missing from the initial state; its objects follow.
    Listed(Kind),
    /// The number of objects of a kind that exist and whose current state cannot be read; those known before keep their last state.
    /// 0 once all can be read again.
    Unreadable(Kind, usize),
}

/// The subject of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum About {
    Object(Kind, Key),
    Event(String),
    Kind(Kind),
    Unreadable(Kind),
}

#[derive(Debug)]
enum Entry {
    /// The consumer's state of the object, whether that object was deleted (another of the same name may exist since),
    /// and the current state.
    Object {
        before: Option<Object>,
        gone: bool,
        now: Option<Object>,
    },
    Event(ObservedEvent),
    Listed,
    Unreadable(usize),
}

/// The changes in order of arrival. An entry that changes again keeps its place.
#[derive(Debug, Default)]
pub(super) struct DeltaQueue {
    entries: BTreeMap<u64, (About, Entry)>,
    places: HashMap<About, u64>,
    next: u64,
    /// The places of the events.
    events: BTreeSet<u64>,
}

impl DeltaQueue {
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn push(&mut self, about: About, entry: Entry) {
        self.next += 1;
        self.places.insert(about.clone(), self.next);
        self.entries.insert(self.next, (about, entry));
    }

    fn remove(&mut self, place: u64) {
        if let Some((about, entry)) = self.entries.remove(&place) {
            self.places.remove(&about);
            if matches!(entry, Entry::Event(_)) {
                self.events.remove(&place);
            }
        }
    }

    /// Queues the change of an object from `before` to `now`. With `anew`, `now` is another object of the same name.
    pub(super) fn put(&mut self, before: Option<Object>, now: Object, recreated: bool) {
        let about = About::Object(now.kind(), now.key());
        let known = self.places.get(&about).and_then(|place| self.entries.get_mut(place));
        if let Some((_, Entry::Object { gone, now: waiting, before })) = known {
            *gone |= recreated && before.is_some();
            *waiting = Some(now);
        } else {
            let gone = recreated && before.is_some();
            self.push(about, Entry::Object { before, gone, now: Some(now) });
        }
    }

    /// Queues the deletion of an object.
    pub(super) fn gone(&mut self, before: Object) {
        let about = About::Object(before.kind(), before.key());
        let place = self.places.get(&about).copied();
        match place.and_then(|place| self.entries.get_mut(&place)) {
            // The consumer never saw it.
            Some((_, Entry::Object { before: None, .. })) => self.remove(place.unwrap_or_default()),
            Some((_, Entry::Object { gone, now, .. })) => {
                *gone = true;
                *now = None;
            }
            _ => self.push(about, Entry::Object { before: Some(before), gone: true, now: None }),
        }
    }

    pub(super) fn event(&mut self, identity: String, event: ObservedEvent) {
        let about = About::Event(identity);
        if let Some((_, Entry::Event(waiting))) = self.places.get(&about).and_then(|place| self.entries.get_mut(place)) {
            *waiting = event;
            return;
        }
        if self.events.len() >= QUEUED_EVENTS
            && let Some(oldest) = self.events.first().copied()
        {
            self.remove(oldest);
        }
        self.push(about, Entry::Event(event));
        self.events.insert(self.next);
    }

    pub(super) fn listed(&mut self, kind: Kind) {
        let about = About::Kind(kind);
        if !self.places.contains_key(&about) {
            self.push(about, Entry::Listed);
        }
    }

    /// Queues the number of objects of a kind that cannot be read.
    pub(super) fn unreadable(&mut self, kind: Kind, count: usize) {
        let about = About::Unreadable(kind);
        match self.places.get(&about).and_then(|place| self.entries.get_mut(place)) {
            Some((_, entry)) => *entry = Entry::Unreadable(count),
            None => self.push(about, Entry::Unreadable(count)),
        }
    }

    /// Takes the oldest entries, about `limit` changes.
    pub(super) fn take(&mut self, limit: usize) -> Vec<Change> {
        let mut changes = Vec::new();
        while changes.len() < limit {
            let Some((place, (about, entry))) = self.entries.pop_first() else { break };
            self.places.remove(&about);
            match (about, entry) {
                (_, Entry::Object { before, gone, now }) => {
                    let unchanged = !gone && before == now;
                    changes.extend(before.filter(|_| gone).map(Change::Gone));
                    changes.extend(now.filter(|_| !unchanged).map(Change::Put));
                }
                (_, Entry::Event(event)) => {
                    self.events.remove(&place);
                    changes.push(Change::Event(event));
                }
                (About::Kind(kind), Entry::Listed) => changes.push(Change::Listed(kind)),
                (About::Unreadable(kind), Entry::Unreadable(count)) => changes.push(Change::Unreadable(kind, count)),
                (_, Entry::Listed | Entry::Unreadable(_)) => {}
            }
        }
        changes
    }
}

#[cfg(test)]
mod tests;
