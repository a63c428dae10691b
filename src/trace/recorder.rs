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

/// Discards all events.
pub struct Quiet;

impl Recorder for Quiet {
    fn events(&mut self) -> Option<&mut Vec<Event>> {
        None
    }
}
