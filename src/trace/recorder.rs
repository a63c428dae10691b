//! Recorders: sinks for the events of a scheduling cycle, apart from its decision.

use super::Event;

/// A sink for events. Decisions must not depend on the recorder.
pub trait Recorder {
    /// Returns the list that collects events; `None` if none are kept.
    fn events(&mut self) -> Option<&mut Vec<Event>>;

    /// Adds an event; builds it only if it is kept.
    fn record(&mut self, event: impl FnOnce() -> Event) {
        if let Some(events) = self.events() {
            events.push(event());
        }
    }

    /// Adds an event that says what a cycle of a pod group comes to, rather than what plugins said about a node.
    fn record_of_group(&mut self, event: impl FnOnce() -> Event) {
        self.record(event);
    }
}

/// Appends every event, in order, to a list.
pub struct Trace<'a> {
    events: &'a mut Vec<Event>,
}

impl<'a> Trace<'a> {
    /// Returns a recorder that appends to `events`.
    pub fn new(events: &'a mut Vec<Event>) -> Self {
        Self { events }
    }
}

impl Recorder for Trace<'_> {
    fn events(&mut self) -> Option<&mut Vec<Event>> {
        Some(self.events)
    }
}

/// Appends the events that say what a cycle of a pod group comes to, and discards those about nodes.
pub struct GroupTrace<'a> {
    events: &'a mut Vec<Event>,
}

impl<'a> GroupTrace<'a> {
    /// Returns a recorder that appends to `events`.
    pub fn new(events: &'a mut Vec<Event>) -> Self {
        Self { events }
    }
}

impl Recorder for GroupTrace<'_> {
    fn events(&mut self) -> Option<&mut Vec<Event>> {
        None
    }

    fn record_of_group(&mut self, event: impl FnOnce() -> Event) {
        self.events.push(event());
    }
}

/// Discards all events.
pub struct Quiet;

impl Recorder for Quiet {
    fn events(&mut self) -> Option<&mut Vec<Event>> {
        None
    }
}
