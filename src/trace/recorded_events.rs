//! The events of a revision as a record keeps them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::cycle_view::{CycleView, Fold};
use super::event::Event;
use super::preemption::DryRunStepAt;
use crate::cluster::{Key, Pod, Str};
use crate::framework::{NodeDryRun, SharedList, Snapshot, Status};

/// The events of a revision, in order.
///
/// A cycle has an event for every node that it filters. These are packed, and made again when they are read: their names are those of
/// the snapshot, and a node takes one byte, which selects its status among a few. The steps of a node's dry run
/// ([`Event::DryRunStepped`]) are made of the record in [`Event::DryRunFinished`], before which they come. All other events are kept as
/// they are.
#[derive(Clone, Default)]
pub struct RecordedEvents {
    others: Box<[Event]>,
    /// The packed events, in order.
    runs: Box<[Run]>,
}

/// Consecutive events that are packed.
#[derive(Clone)]
struct Run {
    /// Index of its first event among all events.
    at: usize,
    /// Number of events in earlier runs.
    before: usize,
    of: RunOf,
}

#[derive(Clone)]
enum RunOf {
    /// Boxed, as a large cycle has more dry runs than walks over nodes.
    Filter(Box<FilterRun>),
    /// The steps of a dry run.
    Steps(Arc<NodeDryRun>),
}

/// Consecutive events about filtered nodes.
#[derive(Clone)]
struct FilterRun {
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

/// Packs events part by part, so that a large cycle is not listed first.
pub(crate) struct RecordedEventsBuilder<'a> {
    others: Vec<Event>,
    packer: Packer<'a>,
    /// Number of packed events.
    packed: usize,
}

impl<'a> RecordedEventsBuilder<'a> {
    /// Begins with no events; see [`RecordedEvents::new`].
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        Self { others: Vec::new(), packer: Packer::new(snapshot), packed: 0 }
    }

    /// Adds events.
    pub(crate) fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            match event {
                Event::NodeFiltered { node, status, nominated } => {
                    self.packer.push((self.others.len(), self.packed), node, &status, nominated);
                    self.packed += 1;
                }
                Event::DryRunStepped(_) => {}
                _ => {
                    self.packer.end_run();
                    if let Event::DryRunFinished(run) = &event
                        && !run.is_empty()
                    {
                        let (at, before) = (self.others.len() + self.packed, self.packed);
                        self.packer.runs.push(Run { at, before, of: RunOf::Steps(run.clone()) });
                        self.packed += run.len();
                    }
                    self.others.push(event);
                }
            }
        }
    }

    /// Returns all of them.
    pub(crate) fn finish(mut self) -> RecordedEvents {
        self.packer.end_run();
        RecordedEvents { others: self.others.into(), runs: self.packer.runs.into() }
    }
}

impl RecordedEvents {
    /// Packs events. A cycle that walked the nodes of `snapshot` shares its names. Steps of dry runs come from the dry runs, and may be
    /// left out.
    pub fn new(events: Vec<Event>, snapshot: &Snapshot) -> Self {
        let is_other = |event: &&Event| !matches!(event, Event::NodeFiltered { .. } | Event::DryRunStepped(_));
        let others = Vec::with_capacity(events.iter().filter(is_other).count());
        let mut recording = RecordedEventsBuilder { others, ..RecordedEventsBuilder::new(snapshot) };
        recording.extend(events);
        recording.finish()
    }

    /// Returns the number of events.
    pub fn len(&self) -> usize {
        self.others.len() + self.runs.last().map_or(0, Run::packed)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the event at an index; `None` beyond the end.
    pub fn get(&self, index: usize) -> Option<Cow<'_, Event>> {
        match self.run_before(index) {
            Some(run) if index < run.end() => Some(Cow::Owned(run.event(index - run.at))),
            run => self.others.get(index - run.map_or(0, Run::packed)).map(Cow::Borrowed),
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

    /// Returns the events at some indexes, each with its index, without the steps of dry runs that end among them: their
    /// [`Event::DryRunFinished`] tells as much.
    ///
    /// # Panics
    /// The iterator panics beyond the last event.
    pub fn without_steps(&self, indexes: Range<usize>) -> impl Iterator<Item = (usize, Cow<'_, Event>)> {
        self.walk(indexes, |run, end| if matches!(run.of, RunOf::Steps(_)) && run.end() < end { 0 } else { usize::MAX })
    }

    /// Returns the view that all events make.
    pub fn cycle_view(&self) -> CycleView {
        CycleView::of_recorded(self.without_steps(0..self.len()).map(|(_, event)| event))
    }

    /// Returns the view that all events make, with the cycle of a pod on show. It knows no nodes of the other pods of its group.
    pub fn cycle_view_of(&self, pod: &Key) -> CycleView {
        let (mut view, mut fold) = (CycleView::default(), Fold::of_nodes_for(pod.clone()));
        for (_, event) in self.without_steps(0..self.len()) {
            fold.apply(&mut view, event);
        }
        fold.finish(&mut view);
        view.showing(pod)
    }

    /// Returns the events, each with its index; of consecutive ones about filtered nodes, or about steps of a dry run, the first alone.
    pub fn first_of_each_kind(&self) -> impl Iterator<Item = (usize, Cow<'_, Event>)> {
        self.walk(0..self.len(), |_, _| 1)
    }

    /// Returns the events at some indexes, each with its index. Of each run it takes a number of events, which may depend on the end.
    fn walk(&self, indexes: Range<usize>, taken: impl Fn(&Run, usize) -> usize) -> impl Iterator<Item = (usize, Cow<'_, Event>)> {
        let (mut at, end) = (indexes.start, indexes.end);
        let mut run = self.runs.partition_point(|run| run.end() <= at);
        std::iter::from_fn(move || {
            while let Some(open) = self.runs.get(run).filter(|open| open.at <= at && at < end) {
                if at < open.end() && at - open.at < taken(open, end) {
                    at += 1;
                    return Some((at - 1, Cow::Owned(open.event(at - 1 - open.at))));
                }
                (at, run) = (open.end(), run + 1);
            }
            if at >= end {
                return None;
            }
            let packed = run.checked_sub(1).map_or(0, |before| self.runs[before].packed());
            at += 1;
            Some((at - 1, Cow::Borrowed(&self.others[at - 1 - packed])))
        })
    }

    /// Returns the events that are neither [`Event::NodeFiltered`] nor [`Event::DryRunStepped`]. To search these makes no event.
    pub fn others(&self) -> &[Event] {
        &self.others
    }

    /// Returns those of [`Self::others`] that are among the first `events` events.
    pub fn others_before(&self, events: usize) -> &[Event] {
        let packed = self.run_before(events).map_or(0, |run| run.packed().min(run.before + events - run.at));
        &self.others[..(events - packed).min(self.others.len())]
    }

    /// Returns whether any event is about a pod, or a dry run removed it.
    pub fn is_any_about(&self, pod: &Key) -> bool {
        let is_pod = |other: &Pod| other.metadata.name == pod.name && other.metadata.namespace == pod.namespace;
        self.others.iter().any(|event| match event {
            Event::DryRunFinished(run) => run.removed.iter().any(|info| is_pod(&info.pod)),
            _ => event.is_about(pod),
        })
    }

    /// Returns the index of the first event from `from` on that is no [`Event::NodeFiltered`], or whose node and status meet a condition.
    pub fn position(&self, from: usize, met: impl Fn(&Str, &Status) -> bool) -> Option<usize> {
        let mut at = from;
        while let Some(run) = self.run_before(at).filter(|run| at < run.end()) {
            let RunOf::Filter(filtered) = &run.of else { return Some(at) };
            let mut numbers = at - run.at..filtered.status_of.len();
            if let Some(number) = numbers.find(|number| met(filtered.name(*number), filtered.status(*number))) {
                return Some(run.at + number);
            }
            at = run.end();
        }
        (at < self.len()).then_some(at)
    }

    /// Returns the index among all events of the last one of [`Self::others`] that meets a condition.
    pub fn rposition_of_other(&self, met: impl Fn(&Event) -> bool) -> Option<usize> {
        let other = self.others.iter().rposition(met)?;
        let runs = self.runs.partition_point(|run| run.at - run.before <= other);
        Some(other + self.runs[..runs].last().map_or(0, Run::packed))
    }

    /// Returns the last run that begins at or before an index.
    fn run_before(&self, index: usize) -> Option<&Run> {
        self.runs[..self.runs.partition_point(|run| run.at <= index)].last()
    }
}

impl Run {
    /// Returns its number of events.
    fn len(&self) -> usize {
        match &self.of {
            RunOf::Filter(run) => run.status_of.len(),
            RunOf::Steps(run) => run.len(),
        }
    }

    /// Returns the number of events in this run and earlier ones.
    fn packed(&self) -> usize {
        self.before + self.len()
    }

    /// Returns the index behind its last event.
    fn end(&self) -> usize {
        self.at + self.len()
    }

    fn event(&self, number: usize) -> Event {
        match &self.of {
            RunOf::Filter(run) => run.event(number),
            RunOf::Steps(run) => Event::DryRunStepped(DryRunStepAt::new(run.clone(), number)),
        }
    }
}

impl FilterRun {
    fn name(&self, number: usize) -> &Str {
        &self.names[(self.from + number) % self.names.len()]
    }

    fn status(&self, number: usize) -> &Status {
        &self.statuses[usize::from(self.status_of[number])]
    }

    fn event(&self, number: usize) -> Event {
        let nominated = self.nominated.binary_search_by_key(&number, |(number, _)| *number);
        Event::NodeFiltered {
            node: self.name(number).clone(),
            status: self.status(number).clone(),
            nominated: nominated.map_or_else(|_| SharedList::default(), |at| self.nominated[at].1.clone()),
        }
    }
}

/// Packs events about filtered nodes one after another.
struct Packer<'a> {
    snapshot: &'a Snapshot,
    runs: Vec<Run>,
    /// The first event of the open run among all events, and the number of events in earlier runs.
    start: (usize, usize),
    /// The names of the snapshot, and the index of the next one.
    walk: Option<(Arc<[Str]>, usize)>,
    /// The names of the open run where they do not follow those of the snapshot.
    names: Vec<Str>,
    statuses: Vec<Status>,
    /// Indexes of known statuses, by a hash of their addresses.
    slots: [u8; 256],
    status_of: Vec<u8>,
    nominated: Vec<(usize, SharedList<Key>)>,
}

impl<'a> Packer<'a> {
    /// Number of statuses, the first ones, that are compared if the slot has another.
    const COMPARED: u8 = 8;

    fn new(snapshot: &'a Snapshot) -> Self {
        let (runs, names, statuses, status_of, nominated) = <_>::default();
        Self { snapshot, runs, start: (0, 0), walk: None, names, statuses, slots: [0; 256], status_of, nominated }
    }

    /// Packs an event, after a number of other events and of packed ones.
    fn push(&mut self, (others, before): (usize, usize), node: Str, status: &Status, nominated: SharedList<Key>) {
        let known = self.status(status).or_else(|| {
            self.end_run();
            self.status(status)
        });
        if self.status_of.is_empty() {
            self.start = (others + before, before);
            self.walk = self.snapshot.position(&node).map(|from| (self.snapshot.names(), from));
        }
        match &mut self.walk {
            Some((names, next)) if names[*next] == node && self.status_of.len() < names.len() => {
                *next = if *next + 1 < names.len() { *next + 1 } else { 0 };
            }
            walk => {
                if let Some((names, next)) = walk.take() {
                    let from = (next + names.len() - self.status_of.len()) % names.len();
                    self.names.extend(names.iter().cycle().skip(from).take(self.status_of.len()).cloned());
                }
                self.names.push(node);
            }
        }
        if !nominated.is_empty() {
            self.nominated.push((self.status_of.len(), nominated));
        }
        self.status_of.extend(known);
    }

    /// Returns the index of a status, which is added if it is not found; `None` if there is no room for it. Only clones are found, and
    /// not all where there are many: a status that is added twice takes one pointer.
    fn status(&mut self, status: &Status) -> Option<u8> {
        let address = status.address();
        let slot = &mut self.slots[usize::from((address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes()[0])];
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

    fn end_run(&mut self) {
        let len = self.status_of.len();
        if len == 0 {
            return;
        }
        let (at, before) = self.start;
        let (names, from) = match self.walk.take() {
            Some((names, next)) => {
                let from = (next + names.len() - len) % names.len();
                (names, from)
            }
            None => (self.names.drain(..).collect(), 0),
        };
        let (statuses, nominated) = (self.statuses.drain(..).collect(), self.nominated.drain(..).collect());
        let run = FilterRun { names, from, statuses, status_of: self.status_of.as_slice().into(), nominated };
        self.runs.push(Run { at, before, of: RunOf::Filter(Box::new(run)) });
        self.status_of.clear();
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
