//! The story of each pod in a run.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::cluster::{Cluster, Key, Kind, Str};
use crate::framework::{PluginName, Status};
use crate::output::{Document, Words};
use crate::plural::count;
use crate::session::PodLocation;
use crate::trace::{Event, Eviction, MoveCause, ObjectChange, PermitEnd, Place, QueueMove, QueuesView};

/// The story of one pod.
#[derive(Clone, Debug, PartialEq)]
pub struct PodStory {
    pub pod: Key,
    /// The events of the pod in order, with the virtual time since the start.
    pub lines: Vec<(SignedDuration, String)>,
    /// Its place at the end.
    pub end: PodLocation,
    /// The number of its attempts.
    pub attempts: usize,
}

/// Builds the stories of all pods that waited or were evicted, operation by operation.
#[derive(Debug)]
pub struct Stories {
    builder: StoryBuilder,
    with_events: bool,
}

impl Stories {
    /// Starts without events. `with_events` adds the Events that kube-scheduler would write.
    pub fn new(start: Timestamp, with_events: bool) -> Self {
        Self { builder: StoryBuilder::new(start), with_events }
    }

    /// Adds the events of an operation. `clock` and `cluster` are those before it.
    pub fn observe(&mut self, clock: Timestamp, cluster: &Cluster, events: &[Event]) {
        self.builder.clock = clock;
        for event in events {
            self.builder.record(event);
            let uid = |pod: &Key| cluster.pods.get(pod).map(|p| p.metadata.uid.clone().into());
            if let Some(written) = self.with_events.then(|| event.api_event(uid)).flatten() {
                self.builder.add(&written.regarding, format!("Event {} {}: {}", written.kind, written.reason, written.note));
            }
        }
    }

    /// Returns the stories by the time of their first line. Waiting pods without events come last, by namespace and name.
    pub fn finish(mut self, cluster: &Cluster, queues: &QueuesView) -> Vec<PodStory> {
        for pod in queues.entries.keys() {
            self.builder.story(pod);
        }
        for pod in self.builder.gated.keys().cloned().collect::<Vec<_>>() {
            self.builder.end_gate(&pod);
        }
        let StoryBuilder { order, mut lines, attempts, went, .. } = self.builder;
        order
            .into_iter()
            .map(|pod| PodStory {
                lines: lines.remove(&pod).unwrap_or_default(),
                end: PodLocation::of(cluster, queues, &pod),
                attempts: attempts.get(&pod).copied().unwrap_or(0),
                pod,
            })
            // Pods that only keep running have no story.
            .filter(|story| story.attempts > 0 || went.contains(&story.pod) || matches!(story.end, PodLocation::Waiting(..)))
            .collect()
    }
}

/// Returns stories as a list: an item for each pod, with what happened to it as items below.
pub fn stories_document(stories: &[PodStory]) -> Document {
    let mut doc = Document::default();
    for story in stories {
        let tries = match story.attempts {
            0 if matches!(story.end, PodLocation::Waiting(..)) => ", never tried".to_owned(),
            0 => String::new(),
            n => format!(", {}", count(n, "attempt")),
        };
        doc.item(0, Words::of_pod(&story.pod).text(format!(": {}{tries}", story.end)));
        for (at, line) in &story.lines {
            doc.item(2, format!("{}  {line}", elapsed(*at)));
        }
    }
    doc
}

/// Formats a time since the start as `+mm:ss.mmm`.
fn elapsed(time: SignedDuration) -> String {
    let millis = time.as_millis();
    format!("+{:02}:{:02}.{:03}", millis / 60_000, millis / 1000 % 60, millis % 1000)
}

#[derive(Debug)]
struct StoryBuilder {
    start: Timestamp,
    clock: Timestamp,
    order: Vec<Key>,
    lines: BTreeMap<Key, Vec<(SignedDuration, String)>>,
    attempts: BTreeMap<Key, usize>,
    /// Pods that were evicted, or whose grace period ended.
    went: BTreeSet<Key>,
    /// The length of each pod's story when it was last popped.
    popped: BTreeMap<Key, usize>,
    /// Pods whose story ends with a rejection by PreEnqueue, with how often it was repeated: each victim of a pod group's preemption
    /// asks all pods of the group.
    gated: BTreeMap<Key, (Status, usize)>,
}

impl StoryBuilder {
    fn new(start: Timestamp) -> Self {
        Self {
            start,
            clock: start,
            order: Vec::new(),
            lines: BTreeMap::new(),
            attempts: BTreeMap::new(),
            went: BTreeSet::new(),
            popped: BTreeMap::new(),
            gated: BTreeMap::new(),
        }
    }

    fn story(&mut self, pod: &Key) -> &mut Vec<(SignedDuration, String)> {
        if !self.lines.contains_key(pod) {
            self.order.push(pod.clone());
        }
        self.lines.entry(pod.clone()).or_default()
    }

    fn add(&mut self, pod: &Key, line: impl Into<String>) {
        self.end_gate(pod);
        let at = self.clock.duration_since(self.start);
        self.story(pod).push((at, line.into()));
    }

    fn gated(&mut self, pod: &Key, status: &Status) {
        match self.gated.get_mut(pod) {
            Some((known, times)) if known == status => *times += 1,
            _ => {
                self.add(pod, format!("gated: {}", status.message()));
                self.gated.insert(pod.clone(), (status.clone(), 1));
            }
        }
    }

    /// Adds to the last line of a story how often the pod was gated, if that was more than once.
    fn end_gate(&mut self, pod: &Key) {
        if let Some((_, times)) = self.gated.remove(pod).filter(|(_, times)| *times > 1)
            && let Some((_, line)) = self.story(pod).last_mut()
        {
            *line = format!("{line} ({times} times)");
        }
    }

    fn attempt(&self, pod: &Key) -> usize {
        self.attempts.get(pod).copied().unwrap_or(0)
    }

    fn record(&mut self, event: &Event) {
        match event {
            Event::ClockMoved { to, .. } => self.clock = *to,
            Event::PodPopped { pod, early_from_backoff, .. } => {
                *self.attempts.entry(pod.clone()).or_default() += 1;
                if *early_from_backoff {
                    self.add(pod, "popped from backoffQ early, as activeQ is empty");
                }
                let length = self.story(pod).len();
                self.popped.insert(pod.clone(), length);
            }
            // The requeueing is recorded before the failure; the story has the failure first.
            Event::AttemptFailed { pod, failure } => {
                let line = format!("attempt {}: {}: {}", self.attempt(pod), failure.reason, failure.message);
                self.end_gate(pod);
                let (at, place) = (self.clock.duration_since(self.start), self.popped.get(pod).copied());
                let story = self.story(pod);
                story.insert(place.unwrap_or(story.len()).min(story.len()), (at, line));
            }
            Event::CycleSkipped { pod, why } => self.add(pod, why.text(pod)),
            Event::PodBound { pod, node } => {
                let line = format!("attempt {}: bound to {node}", self.attempt(pod));
                self.add(pod, line);
            }
            Event::PodNominated { pod, node } if node.is_empty() => self.add(pod, "no longer nominated"),
            Event::PodNominated { pod, node } => self.add(pod, format!("nominated to {node}")),
            Event::NominationCleared { pod, node } => self.add(pod, format!("loses its nomination to {node}")),
            Event::VictimEvicted { pod, node, preemptor, how } => self.evicted(pod, node, preemptor, *how),
            Event::GracePeriodEnded { pod, .. } => {
                self.went.insert(pod.clone());
                self.add(pod, "its grace period has ended");
            }
            Event::PermitWaited { pod, node, .. } => self.add(pod, format!("waits on Permit for {node}")),
            Event::PermitResolved { pod, end: PermitEnd::Allowed, .. } => self.add(pod, "allowed by every Permit plugin"),
            Event::PermitResolved { pod, message, .. } => self.add(pod, format!("no longer waits on Permit: {message}")),
            Event::PreEnqueueRejected { pod, status } => self.gated(pod, status),
            Event::ObjectChanged { kind: Kind::Pod, key, change: ObjectChange::Deleted } if self.lines.contains_key(key) => {
                self.add(key, "gone");
            }
            Event::PlaceInferred(place) => {
                let how = if place.from_log { "from the scheduler's log" } else { "inferred" };
                self.add(&place.pod, format!("{how}: {}", place.from));
            }
            Event::QueueMoved(moved) => self.moved(moved),
            _ => {}
        }
    }

    fn evicted(&mut self, pod: &Key, node: &Str, preemptor: &Key, how: Eviction) {
        self.went.insert(pod.clone());
        let word = match how {
            Eviction::Deleted => "evicted",
            Eviction::Terminating => "evicted, with its grace period,",
            Eviction::InMemory => "rejected while waiting on Permit",
        };
        self.add(pod, format!("{word} from {node} for {preemptor}"));
        // A pod group may preempt as a whole; it has no story.
        if self.attempts.contains_key(preemptor) {
            self.add(preemptor, format!("evicts {pod} from {node}"));
        }
    }

    fn moved(&mut self, moved: &QueueMove) {
        let to = match &moved.to {
            Place::Active => "to activeQ".to_owned(),
            Place::Backoff { expires, error } => {
                let heap = if *error { " (error)" } else { "" };
                format!("to backoffQ{heap} until {}", elapsed(expires.duration_since(self.start)))
            }
            Place::Unschedulable { gated_by: Some(plugin), .. } => format!("gated by {plugin}"),
            Place::Unschedulable { plugins, gated_by: None } => {
                let names: Vec<&str> = plugins.iter().map(PluginName::as_str).collect();
                format!("to unschedulablePods, rejected by {}", names.join(", "))
            }
            // These places have lines of their own.
            Place::InFlight | Place::WaitingOnPermit { .. } | Place::Bound { .. } => return,
            Place::Gone if moved.cause == MoveCause::Cycle => return,
            Place::Gone => "leaves the queue".to_owned(),
        };
        let hint = moved.plugin.map(|plugin| format!(", which may help {plugin}")).unwrap_or_default();
        self.add(&moved.pod, format!("{to} ({}{hint})", moved.cause));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framework::Reason;

    #[test]
    fn a_gate_that_is_met_again_and_again_is_one_line() {
        let (pod, start) = (Key::new("d", "p"), Timestamp::UNIX_EPOCH);
        let rejected = |gate: &str| {
            let status =
                Status::rejected(Reason::SchedulingGates { gates: vec![gate.into()].into() }).with_plugin(PluginName::SchedulingGates);
            Event::PreEnqueueRejected { pod: pod.clone(), status }
        };
        let bound = Event::PodBound { pod: pod.clone(), node: "n".into() };
        let mut builder = StoryBuilder::new(start);
        let events = [rejected("a"), rejected("a"), rejected("a"), rejected("b"), bound, rejected("b"), rejected("b")];
        for event in &events {
            builder.record(event);
        }
        builder.end_gate(&pod);
        let lines: Vec<&str> = builder.lines[&pod].iter().map(|(_, line)| line.as_str()).collect();
        let gate = |gate: &str| format!("gated: waiting for scheduling gates: [{gate}]");
        assert_eq!(
            lines,
            [format!("{} (3 times)", gate("a")), gate("b"), "attempt 0: bound to n".into(), format!("{} (2 times)", gate("b"))]
        );
    }
}
