//! Recorders: the sink that the scheduling cycle writes its events to, beside the decision that it takes.

use super::Event;

/// A sink for events. Decisions must not depend on which one they are taken with.
pub trait Recorder {
    /// Returns the list that events are added to; `None` where nothing is kept.
    fn events(&mut self) -> Option<&mut Vec<Event>>;

    /// Adds an event, which is made only where it is kept.
    fn record(&mut self, event: impl FnOnce() -> Event) {
        if let Some(events) = self.events() {
            events.push(event());
        }
    }
}

/// Keeps every event, in order, behind those that are there already.
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

/// Keeps nothing.
pub struct Quiet;

impl Recorder for Quiet {
    fn events(&mut self) -> Option<&mut Vec<Event>> {
        None
    }
}
