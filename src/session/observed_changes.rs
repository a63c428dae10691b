//! Turns what was seen of a cluster into the operations of a timeline: the changes of some seconds become one.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::dump_series::{changes, has_new_report};
use super::event_log::EventLog;
use crate::cluster::{Cluster, Key, Kind, MissingKinds, Object, ObservedEvent};
use crate::scheduler::Operation;

/// Changes that are not an operation yet.
#[derive(Debug, Default)]
struct Pending {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The last state of each object; `None` if it is gone.
    objects: BTreeMap<(Kind, Key), Option<Object>>,
    events: Vec<ObservedEvent>,
    unknown: Option<MissingKinds>,
    /// The name of the operation; by default, that of its time.
    name: Option<String>,
}

/// Turns changes into operations; see the module's documentation.
#[derive(Debug)]
pub struct ObservedChanges {
    cluster: Cluster,
    events: EventLog<ObservedEvent>,
    made: Vec<Operation>,
    pending: Pending,
    /// The time of the last changes.
    last: Option<Timestamp>,
}

/// Returns an operation that only tells the time.
fn clock(time: Timestamp) -> Operation {
    Operation::Observe { time, pods: Vec::new(), events: Vec::new(), unknown: None }
}

impl ObservedChanges {
    /// Begins with a state.
    pub fn new(cluster: Cluster, events: Vec<ObservedEvent>) -> Self {
        Self { cluster, events: EventLog::new(events), made: Vec::new(), pending: Pending::default(), last: None }
    }

    /// Begins changes of a time. Those up to [`Self::flush`] become one operation.
    pub fn at(&mut self, time: Timestamp) {
        self.pending.first.get_or_insert(time);
        (self.pending.last, self.last) = (Some(time), Some(time));
    }

    /// Adds the new state of an object.
    pub fn put(&mut self, object: Object) {
        self.pending.objects.insert((object.kind(), object.key()), Some(object));
    }

    /// Adds that an object is gone.
    pub fn gone(&mut self, kind: Kind, key: Key) {
        self.pending.objects.insert((kind, key), None);
    }

    /// Adds an event, or its next occurrence.
    pub fn event(&mut self, event: ObservedEvent) {
        self.pending.events.push(event);
    }

    /// Sets the kinds that are unknown from here on.
    pub fn know(&mut self, unknown: MissingKinds) {
        self.pending.unknown = Some(unknown);
    }

    /// Names the next operation; by default, it has the name of its time.
    pub fn name(&mut self, name: String) {
        self.pending.name = Some(name);
    }

    /// Returns the time of the first change that is not in an operation yet.
    pub fn begun(&self) -> Option<Timestamp> {
        self.pending.first
    }

    /// Returns the time of the last changes.
    pub fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// Returns the number of operations.
    pub fn count(&self) -> usize {
        self.made.len()
    }

    /// Returns the operations, and the events up to the end. Pending changes are not in them.
    pub fn finish(self) -> (Vec<Operation>, Vec<ObservedEvent>) {
        (self.made, self.events.into_vec())
    }

    /// Makes an operation of the pending changes: deletions first, then creations and updates.
    pub fn flush(&mut self) {
        let Pending { last, objects, events, unknown, name, .. } = std::mem::take(&mut self.pending);
        let Some(time) = last else { return };
        let (mut gone, mut came, mut pods) = (Vec::new(), Vec::new(), Vec::new());
        for ((kind, key), now) in objects {
            let before = self.cluster.get(kind, &key);
            let is_other = |now: &Object| before.as_ref().is_some_and(|before| before.meta().uid != now.meta().uid);
            if let Some(before) = before.clone().filter(|_| now.as_ref().is_none_or(is_other)) {
                self.cluster.remove(kind, &key);
                gone.push(Operation::Delete { object: before });
            }
            let Some(object) = now.filter(|now| before.as_ref() != Some(now)) else { continue };
            if let Object::Pod(pod) = &object
                && has_new_report(self.cluster.pods.get(&key).map(|pod| &**pod), pod)
            {
                pods.push(key);
            }
            came.push(Operation::put(&self.cluster, object.clone()));
            self.cluster.insert(object);
        }
        let is_about = |event: &&ObservedEvent| self.cluster.pods.get(&event.pod).is_some_and(|pod| event.is_about(pod));
        pods.extend(events.iter().filter(|event| event.reason == "FailedScheduling").filter(is_about).map(|event| event.pod.clone()));
        pods.sort();
        pods.dedup();
        let has_events = !events.is_empty();
        for event in events {
            self.events.add(event);
        }
        let unknown = unknown.filter(|unknown| *unknown != self.cluster.unknown);
        if let Some(unknown) = unknown {
            self.cluster.unknown = unknown;
        }
        if gone.is_empty() && came.is_empty() && !has_events && unknown.is_none() {
            return;
        }
        let about = self.events.about(&pods);
        let mut operations = vec![clock(time)];
        operations.extend(gone);
        operations.extend(came);
        operations.push(Operation::Observe { time, pods, events: about, unknown });
        let name = name.unwrap_or_else(|| format!("recorded at {}", time.strftime("%H:%M:%SZ")));
        self.made.push(Operation::Batch { name, operations });
    }

    /// Adds an operation in which only time passes, up to a moment.
    pub fn pause(&mut self, name: String, until: Timestamp) {
        self.flush();
        self.made.push(Operation::Batch { name, operations: vec![clock(until)] });
    }

    /// Adds an operation of all differences from another state.
    pub fn state(&mut self, cluster: Cluster, events: Vec<ObservedEvent>, name: &str, time: Timestamp) {
        self.flush();
        self.made.extend(changes(&self.cluster, &cluster, &events, name, time));
        (self.cluster, self.events) = (cluster, EventLog::new(events));
    }
}

#[cfg(test)]
mod tests;
