//! The events of a history: of those that differ only in their times and counts, the last, in the order in which they came.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use std::hash::Hash;

use crate::cluster::neighbors::{About, OtherEvent};
use crate::cluster::{Key, ObservedEvent, Str};

/// An event that may occur again.
pub trait Recurring: Clone + Debug {
    /// The object that it is about.
    type About: Clone + Debug + Eq + Hash;
    /// The fields that stay when it occurs again.
    type Identity: Debug + Eq + Hash;

    /// Returns the object that it is about.
    fn about(&self) -> &Self::About;
    /// Returns the fields that stay when it occurs again.
    fn identity(&self) -> Self::Identity;
}

impl Recurring for ObservedEvent {
    type About = Key;
    type Identity = (Key, Str, Str, String);

    fn about(&self) -> &Key {
        &self.pod
    }

    fn identity(&self) -> Self::Identity {
        (self.pod.clone(), self.uid.clone(), self.reason.clone(), self.note.clone())
    }
}

impl Recurring for OtherEvent {
    type About = About;
    type Identity = (About, Str, Str, Str, String);

    fn about(&self) -> &About {
        &self.about
    }

    fn identity(&self) -> Self::Identity {
        (self.about.clone(), self.uid.clone(), self.speaker.clone(), self.reason.clone(), self.text.clone())
    }
}

/// Events; see the module's documentation.
#[derive(Debug)]
pub struct EventLog<E: Recurring> {
    /// The events by number, in the order in which they came.
    events: BTreeMap<u64, E>,
    next: u64,
    numbers: HashMap<E::Identity, Vec<u64>>,
    about: HashMap<E::About, BTreeSet<u64>>,
}

impl<E: Recurring> EventLog<E> {
    /// Begins with events, all of which are kept.
    pub fn new(events: Vec<E>) -> Self {
        let mut log = Self { events: BTreeMap::new(), next: 0, numbers: HashMap::new(), about: HashMap::new() };
        for event in events {
            let identity = event.identity();
            log.push(event, identity);
        }
        log
    }

    fn push(&mut self, event: E, identity: E::Identity) {
        self.numbers.entry(identity).or_default().push(self.next);
        self.about.entry(event.about().clone()).or_default().insert(self.next);
        self.events.insert(self.next, event);
        self.next += 1;
    }

    /// Adds an event in place of its earlier occurrences.
    pub fn add(&mut self, event: E) {
        let identity = event.identity();
        for number in self.numbers.remove(&identity).unwrap_or_default() {
            self.events.remove(&number);
            if let Some(about) = self.about.get_mut(event.about()) {
                about.remove(&number);
            }
        }
        self.push(event, identity);
    }

    /// Returns the events about some objects, in the order in which they came.
    pub fn about<'a>(&self, objects: impl IntoIterator<Item = &'a E::About>) -> Vec<E>
    where
        E::About: 'a,
    {
        let numbers: BTreeSet<u64> = objects.into_iter().filter_map(|object| self.about.get(object)).flatten().copied().collect();
        numbers.iter().filter_map(|number| self.events.get(number)).cloned().collect()
    }

    /// Returns the events, in the order in which they came.
    pub fn to_vec(&self) -> Vec<E> {
        self.events.values().cloned().collect()
    }

    /// Returns the events, in the order in which they came.
    pub fn into_vec(self) -> Vec<E> {
        self.events.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(pod: &str, note: &str, count: u32) -> ObservedEvent {
        ObservedEvent {
            pod: Key::new("x", pod),
            reason: "FailedScheduling".into(),
            note: note.to_owned(),
            count,
            ..ObservedEvent::default()
        }
    }

    fn counts(events: &[ObservedEvent]) -> Vec<u32> {
        events.iter().map(|event| event.count).collect()
    }

    #[test]
    fn an_event_that_occurs_again_replaces_its_earlier_occurrences_and_comes_last() {
        let mut log = EventLog::new(vec![event("a", "full", 1), event("b", "full", 2), event("a", "full", 3)]);
        assert_eq!(counts(&log.to_vec()), [1, 2, 3]);
        log.add(event("a", "full", 4));
        log.add(event("a", "tainted", 5));
        log.add(event("c", "full", 6));
        log.add(event("b", "full", 7));
        assert_eq!(counts(&log.about([&Key::new("x", "b"), &Key::new("x", "a"), &Key::new("x", "gone")])), [4, 5, 7]);
        assert_eq!(counts(&log.into_vec()), [4, 5, 6, 7]);
    }
}
