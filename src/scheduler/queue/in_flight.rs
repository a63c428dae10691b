//! Pods in flight, and the events since they were popped; mirrors the in-flight part of
//! `pkg/scheduler/backend/queue/active_queue.go`.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use crate::cluster::{Object, Pod, Str};
use crate::framework::{Change, ClusterEvent, QueuedPodInfo};
use crate::scheduler::object_id::ObjectId;
use crate::trace::Place;

/// An event with its object, kept for pods in flight.
pub(super) type KeptEvent = Arc<(ClusterEvent, Change)>;

#[derive(Clone, Debug)]
enum Entry {
    /// A pod was popped.
    Marker,
    Event(KeptEvent),
}

/// One list in order of arrival: markers of popped pods, and events.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    entries: OrdMap<u64, Entry>,
    next: u64,
    /// Position of each pod's marker.
    markers: OrdMap<ObjectId, u64>,
    /// Popped pods until they return or leave for good, which is later than the end of their marker.
    attempts: OrdMap<ObjectId, Arc<QueuedPodInfo>>,
    /// Pods in flight for which a forced activation is kept. It concerns no other pod, and further ones change nothing.
    activated: OrdSet<ObjectId>,
    /// Those that wait on Permit, with their node.
    on_permit: OrdMap<ObjectId, Str>,
}

impl InFlight {
    fn push(&mut self, entry: Entry) -> u64 {
        self.entries.insert(self.next, entry);
        self.next += 1;
        self.next - 1
    }

    /// Whether events are kept for the pod.
    pub(super) fn contains(&self, pod: &Pod) -> bool {
        self.markers.contains_key(&ObjectId::of_pod(pod))
    }

    /// Whether events are kept for any pod.
    pub(super) fn any(&self) -> bool {
        !self.markers.is_empty()
    }

    /// Starts the attempt of a popped pod.
    pub(super) fn start(&mut self, info: Arc<QueuedPodInfo>) {
        let id = ObjectId::of_pod(info.pod());
        let at = self.push(Entry::Marker);
        self.markers.insert(id.clone(), at);
        self.attempts.insert(id, info);
    }

    /// Keeps an event for every pod in flight; each pod checks on its return whether it is concerned.
    pub(super) fn keep(&mut self, event: ClusterEvent, change: &Change) {
        self.push(Entry::Event(Arc::new((event, change.clone()))));
    }

    /// Keeps a forced activation of a pod, if it is in flight. In a gang, each member that waits activates all others.
    pub(super) fn keep_activation(&mut self, pod: &Arc<Pod>) {
        let id = ObjectId::of_pod(pod);
        if self.markers.contains_key(&id) && self.activated.insert(id).is_none() {
            self.keep(ClusterEvent::FORCE_ACTIVATE, &Change { old: None, new: Some(Object::Pod(pod.clone())) });
        }
    }

    /// Returns the events since the pod was popped, in order; `None` if it is not in flight.
    pub(super) fn events_since_pop(&self, pod: &Pod) -> Option<Vec<KeptEvent>> {
        let marker = *self.markers.get(&ObjectId::of_pod(pod))?;
        let events = self.entries.range(marker..).filter_map(|(_, entry)| match entry {
            Entry::Event(event) => Some(event.clone()),
            Entry::Marker => None,
        });
        Some(events.collect())
    }

    /// Stops keeping events for this pod. Drops those that no other pod needs.
    pub(super) fn done(&mut self, pod: &Pod) {
        let id = ObjectId::of_pod(pod);
        let Some(marker) = self.markers.remove(&id) else { return };
        self.activated.remove(&id);
        self.entries.remove(&marker);
        while let Some(&(first, Entry::Event(_))) = self.entries.get_min() {
            self.entries.remove(&first);
        }
    }

    /// Ends the pod's attempt; returns the pod as it was popped, and its place.
    pub(super) fn finish(&mut self, pod: &Pod) -> Option<(Arc<QueuedPodInfo>, Place)> {
        let id = ObjectId::of_pod(pod);
        let info = self.attempts.remove(&id)?;
        let place = self.on_permit.remove(&id).map_or(Place::InFlight, |node| Place::WaitingOnPermit { node });
        Some((info, place))
    }

    /// Marks the pod as waiting on Permit; returns it as it was popped, or `None` if it waits already or is not in
    /// flight.
    pub(super) fn wait_on_permit(&mut self, pod: &Pod, node: &Str) -> Option<Arc<QueuedPodInfo>> {
        let id = ObjectId::of_pod(pod);
        let info = self.attempts.get(&id)?.clone();
        self.on_permit.insert(id, node.clone()).is_none().then_some(info)
    }

    /// Returns the pods whose attempt is under way, by uid, with the node of those that wait on Permit.
    pub(super) fn attempts(&self) -> impl Iterator<Item = (&Arc<QueuedPodInfo>, Option<&Str>)> {
        self.attempts.iter().map(|(id, info)| (info, self.on_permit.get(id)))
    }

    /// Returns the pod as it was popped, while its attempt is under way.
    pub(super) fn attempt(&self, pod: &Pod) -> Option<&Arc<QueuedPodInfo>> {
        self.attempts.get(&ObjectId::of_pod(pod))
    }

    /// Returns the number of markers and events on the list.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests;
