//! Frames in order, and a cursor among their events.
//!
//! A frame is one operation (a scheduling cycle, time that passed, an edit) with the events it caused and what things
//! looked like before and after. Moving the cursor folds events and never asks the engine, so going back and forth
//! lands on exactly the same view.

use std::sync::Arc;

use jiff::Timestamp;

use super::requeue_events::RequeueEvents;
use crate::cluster::{Cluster, Key};
use crate::framework::Snapshot;
use crate::trace::{CycleView, Event, QueuesView, StepSize};

/// Everything at one moment. Cloning is free.
#[derive(Clone, Debug, Default)]
pub struct Keyframe {
    /// All objects.
    pub cluster: Cluster,
    /// The nodes with what runs on them.
    pub snapshot: Snapshot,
    /// Where pods wait.
    pub queues: QueuesView,
    /// The virtual time.
    pub clock: Timestamp,
    /// The events that may wake parked pods; the same throughout a session.
    pub requeue_events: Arc<RequeueEvents>,
}

/// Where the queues stood when a session began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialQueues {
    /// As after a restart of the scheduler: every pending pod in activeQ, or gated.
    #[default]
    Fresh,
    /// Where the cluster's objects suggest that pods were waiting.
    AsObserved,
}

/// One operation and what it caused.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The operation in words, such as `schedule shop/payments` or `advance 10 s`.
    pub title: String,
    /// What happened, in order; never empty.
    pub events: Arc<[Event]>,
    /// As things stood.
    pub before: Keyframe,
    /// As things stand.
    pub after: Keyframe,
}

/// How titles of frames begin in which a pod was decided about alone, without consequences.
const ASKED: &str = "explain ";

impl Frame {
    /// The title of a frame in which a pod is decided about alone.
    pub(super) fn asked_about(pod: &Key) -> String {
        format!("{ASKED}{pod}")
    }

    /// Whether a pod was decided about alone, without consequences.
    pub fn is_asked_alone(&self) -> bool {
        asked_alone(&self.title).is_some()
    }
}

/// The pod that a frame of this title is about, where it was decided about alone.
pub fn asked_alone(title: &str) -> Option<&str> {
    title.strip_prefix(ASKED)
}

/// A place between events: `event` events of frame `frame` have happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Cursor {
    /// Which frame.
    pub frame: usize,
    /// How many of its events have happened, from 0.
    pub event: usize,
}

impl Cursor {
    /// Beyond everything that is recorded: seeking it goes to the end.
    pub const END: Self = Self { frame: usize::MAX, event: usize::MAX };
}

/// Recorded frames and a cursor. Whatever grows is shared among clones, so that one costs next to nothing.
#[derive(Clone, Debug)]
pub struct Timeline {
    start: Keyframe,
    frames: Vec<Arc<Frame>>,
    cursor: Cursor,
    cycle: Arc<CycleView>,
    queues: QueuesView,
    clock: Timestamp,
    started: InitialQueues,
    /// Views within the frame under the cursor, in order; whoever goes back starts from one of them.
    marks: Arc<Vec<Mark>>,
}

/// What there was to see after so many events of a frame.
#[derive(Clone, Debug)]
struct Mark {
    event: usize,
    cycle: Arc<CycleView>,
    queues: QueuesView,
    clock: Timestamp,
}

/// At most so many marks stand in a frame, and none closer together than that.
const MARKS: usize = 8;

impl Timeline {
    /// A timeline on which nothing has happened yet.
    pub fn new(start: Keyframe) -> Self {
        let (queues, clock) = (start.queues.clone(), start.clock);
        let (cursor, cycle) = (Cursor::default(), Arc::default());
        Self { start, frames: Vec::new(), cursor, cycle, queues, clock, started: InitialQueues::default(), marks: Arc::default() }
    }

    /// Says where the queues stood at the start.
    pub fn set_started(&mut self, started: InitialQueues) {
        self.started = started;
    }

    /// Where the queues stood at the start.
    pub fn started(&self) -> InitialQueues {
        self.started
    }

    /// Adds what happened next; the cursor stays.
    pub fn push(&mut self, frame: impl Into<Arc<Frame>>) {
        self.frames.push(frame.into());
    }

    /// A timeline of the first frames alone, with the cursor at their end.
    pub(super) fn prefix(&self, frames: usize) -> Self {
        let mut timeline = Self::new(self.start.clone());
        timeline.started = self.started;
        timeline.frames = self.frames[..frames.min(self.frames.len())].to_vec();
        timeline.seek(Cursor::END);
        timeline
    }

    /// Puts in a frame that leaves everything as it was, before frame `at`; the cursor stays with what it showed.
    pub(super) fn insert(&mut self, at: usize, frame: Arc<Frame>) {
        let moves = !self.frames.is_empty() && self.cursor.frame >= at;
        self.frames.insert(at, frame);
        self.marks = Arc::default();
        if moves {
            self.cursor.frame += 1;
        }
    }

    /// How many frames have happened as a whole; the one that the cursor is in the middle of has not.
    pub fn frames_done(&self) -> usize {
        match self.frame() {
            Some(frame) if self.cursor.event >= frame.events.len() => self.cursor.frame + 1,
            _ => self.cursor.frame,
        }
    }

    /// The cursor right behind the first event after the present one that meets a condition.
    pub fn find_after(&self, met: impl Fn(&Event) -> bool) -> Option<Cursor> {
        let mut from = self.cursor.event;
        for (at, frame) in self.frames.iter().enumerate().skip(self.cursor.frame) {
            if let Some(found) = frame.events[from.min(frame.events.len())..].iter().position(&met) {
                return Some(Cursor { frame: at, event: from + found + 1 });
            }
            from = 0;
        }
        None
    }

    /// All frames.
    pub fn frames(&self) -> &[Arc<Frame>] {
        &self.frames
    }

    /// Where the cursor stands.
    pub fn cursor(&self) -> Cursor {
        self.cursor
    }

    /// The frame under the cursor; `None` before the first was recorded.
    pub fn frame(&self) -> Option<&Frame> {
        self.frames.get(self.cursor.frame).map(|frame| &**frame)
    }

    /// The event that happened last, if any of this frame did.
    pub fn current(&self) -> Option<&Event> {
        self.frame().and_then(|f| f.events.get(self.cursor.event.checked_sub(1)?))
    }

    /// The cycle at the cursor.
    pub fn cycle(&self) -> &CycleView {
        &self.cycle
    }

    /// The queues at the cursor.
    pub fn queues(&self) -> &QueuesView {
        &self.queues
    }

    /// The virtual time at the cursor, exact within a frame in which time passes.
    pub fn clock(&self) -> Timestamp {
        self.clock
    }

    /// The cluster and nodes at the cursor: as before the frame until its last event has happened. Its queues and its
    /// clock stand still for as long; [`Self::queues`] and [`Self::clock`] do not.
    pub fn moment(&self) -> &Keyframe {
        match self.frame() {
            Some(frame) if self.cursor.event >= frame.events.len() => &frame.after,
            Some(frame) => &frame.before,
            None => self.end(),
        }
    }

    /// Everything before anything happened.
    pub fn start(&self) -> &Keyframe {
        &self.start
    }

    /// Everything at the end of what is recorded.
    pub fn end(&self) -> &Keyframe {
        self.frames.last().map_or(&self.start, |f| &f.after)
    }

    /// Whether every recorded event has happened.
    pub fn at_end(&self) -> bool {
        self.frames.is_empty()
            || (self.cursor.frame + 1 == self.frames.len() && self.frame().is_some_and(|f| self.cursor.event == f.events.len()))
    }

    /// Whether nothing has happened at the cursor.
    pub fn at_start(&self) -> bool {
        self.cursor == Cursor::default()
    }

    /// How many events have happened up to the cursor, and how many are recorded.
    pub fn progress(&self) -> (usize, usize) {
        let len = |f: &Arc<Frame>| f.events.len();
        let done: usize = self.frames[..self.cursor.frame.min(self.frames.len())].iter().map(len).sum();
        (done + self.cursor.event, self.frames.iter().map(len).sum())
    }

    /// Puts the cursor anywhere; beyond the end means at the end.
    pub fn seek(&mut self, to: Cursor) {
        let frame = to.frame.min(self.frames.len().saturating_sub(1));
        let event = match self.frames.get(frame) {
            Some(f) if to.frame == frame => to.event.min(f.events.len()),
            Some(f) => f.events.len(),
            None => 0,
        };
        let target = Cursor { frame, event };
        let forward = target.frame == self.cursor.frame && target.event >= self.cursor.event;
        let back = target.frame == self.cursor.frame && !forward;
        if target.frame != self.cursor.frame {
            self.marks = Arc::default();
        }
        let mut from = self.cursor.event;
        if !forward {
            let mark = self.marks.iter().rev().find(|mark| mark.event <= target.event);
            from = mark.map_or(0, |mark| mark.event);
            (self.cycle, self.queues, self.clock) = match mark {
                Some(mark) => (mark.cycle.clone(), mark.queues.clone(), mark.clock),
                None => {
                    let before = self.frames.get(frame).map_or(&self.start, |f| &f.before);
                    (Arc::default(), before.queues.clone(), before.clock)
                }
            };
        }
        self.cursor = target;
        if let Some(frame) = self.frames.get(frame) {
            let apart = (frame.events.len() / MARKS).max(MARKS);
            for (i, event) in (from..event).zip(&frame.events[from..event]) {
                // Whoever goes back may go on going back.
                if back && i > 0 && i % apart == 0 && self.marks.last().is_none_or(|mark| mark.event < i) {
                    let (cycle, queues) = (self.cycle.clone(), self.queues.clone());
                    Arc::make_mut(&mut self.marks).push(Mark { event: i, cycle, queues, clock: self.clock });
                }
                Arc::make_mut(&mut self.cycle).apply(event);
                self.queues.apply(event);
                if let Event::ClockMoved { to, .. } = event {
                    self.clock = *to;
                }
            }
        }
    }

    /// One step forward within what is recorded; false at the end.
    pub fn forward(&mut self, by: StepSize) -> bool {
        if self.at_end() {
            return false;
        }
        let mut cursor = self.cursor;
        if self.frames[cursor.frame].events.len() == cursor.event {
            cursor = Cursor { frame: cursor.frame + 1, event: 0 };
        }
        cursor.event = self.boundary_after(cursor, by);
        self.seek(cursor);
        true
    }

    /// One step back; false at the start. Undoes exactly what [`Self::forward`] by the same granularity did.
    pub fn back(&mut self, by: StepSize) -> bool {
        if self.at_start() {
            return false;
        }
        let mut cursor = self.cursor;
        if cursor.event == 0 {
            let frame = cursor.frame - 1;
            cursor = Cursor { frame, event: self.frames[frame].events.len() };
        }
        let mut boundary = 0;
        loop {
            let next = self.boundary_after(Cursor { frame: cursor.frame, event: boundary }, by);
            if next >= cursor.event {
                break;
            }
            boundary = next;
        }
        cursor.event = boundary;
        if boundary == 0 && cursor.frame > 0 {
            // The end of one frame and the start of the next are the same moment; stand at the end of the earlier one.
            cursor = Cursor { frame: cursor.frame - 1, event: self.frames[cursor.frame - 1].events.len() };
        }
        self.seek(cursor);
        true
    }

    /// The first event index after `from` at which a step of this granularity ends.
    fn boundary_after(&self, from: Cursor, by: StepSize) -> usize {
        let events = &self.frames[from.frame].events;
        let Some(first) = events.get(from.event) else { return events.len() };
        let same = |e: &Event| match by {
            StepSize::Event => false,
            StepSize::Plugin => e.plugin() == first.plugin() && e.extension_point() == first.extension_point(),
            StepSize::Node => e.node().is_some() && e.node() == first.node(),
            StepSize::ExtensionPoint => e.extension_point() == first.extension_point(),
            StepSize::Cycle => true,
        };
        from.event + 1 + events[from.event + 1..].iter().take_while(|e| same(e)).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::Key;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).expect("small")
    }

    fn frame(from: i64, stops: &[i64]) -> Frame {
        let other = Event::NominationCleared { pod: Key::new("ns", "pod"), node: "n".into() };
        let starts = std::iter::once(&from).chain(stops);
        let moves = starts.zip(stops).flat_map(|(from, to)| [Event::ClockMoved { from: Box::new(at(*from)), to: at(*to) }, other.clone()]);
        let moment = |clock: i64| Keyframe { clock: at(clock), ..Keyframe::default() };
        let after = moment(*stops.last().unwrap_or(&from));
        Frame { title: String::new(), events: moves.chain([other.clone()]).collect(), before: moment(from), after }
    }

    #[test]
    fn the_clock_is_exact_within_a_frame_whichever_way_one_came() {
        let mut timeline = Timeline::new(Keyframe { clock: at(10), ..Keyframe::default() });
        assert_eq!(timeline.clock(), at(10));
        for frame in [frame(10, &[12, 15]), frame(15, &[]), frame(15, &[30])] {
            timeline.push(frame);
        }
        let expected = [vec![10, 12, 12, 15, 15, 15], vec![15, 15], vec![15, 30, 30, 30]];
        let places: Vec<(Cursor, Timestamp)> = expected
            .iter()
            .enumerate()
            .flat_map(|(frame, clocks)| clocks.iter().enumerate().map(move |(event, clock)| (Cursor { frame, event }, at(*clock))))
            .collect();
        for (cursor, clock) in places.iter().chain(places.iter().rev()).chain(places.iter().step_by(3)) {
            timeline.seek(*cursor);
            assert_eq!((timeline.cursor(), timeline.clock()), (*cursor, *clock));
        }
        timeline.seek(Cursor { frame: 2, event: 9 });
        assert_eq!(timeline.clock(), timeline.moment().clock);
    }

    #[test]
    fn a_start_is_fresh_unless_said_otherwise() {
        let mut timeline = Timeline::new(Keyframe::default());
        assert_eq!(timeline.started(), InitialQueues::Fresh);
        timeline.set_started(InitialQueues::AsObserved);
        assert_eq!(timeline.started(), InitialQueues::AsObserved);
    }
}
