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
mod tests {
    use super::*;
    use crate::framework::{ActionType, EventResource};

    fn info(name: &str) -> Arc<QueuedPodInfo> {
        let pod = serde_json::from_str(&format!(r#"{{"metadata":{{"name":"{name}","uid":"{name}"}}}}"#)).unwrap();
        Arc::new(QueuedPodInfo::new(Arc::new(pod), jiff::Timestamp::UNIX_EPOCH, 0, crate::release::Emulation::default()))
    }

    fn seen(list: &InFlight, name: &str) -> Option<Vec<String>> {
        list.events_since_pop(info(name).pod()).map(|events| events.iter().map(|e| e.0.to_string()).collect())
    }

    #[test]
    fn each_pod_sees_what_came_after_it_and_the_list_does_not_grow() {
        let event = |resource| ClusterEvent::new(resource, ActionType::ADD);
        let mut list = InFlight::default();
        list.start(info("a"));
        list.keep(event(EventResource::Node), &Change::default());
        list.start(info("b"));
        list.keep(event(EventResource::PersistentVolume), &Change::default());
        assert_eq!(seen(&list, "a").unwrap(), ["NodeAdd", "PersistentVolumeAdd"]);
        assert_eq!(seen(&list, "b").unwrap(), ["PersistentVolumeAdd"]);
        assert_eq!(seen(&list, "c"), None);
        list.done(info("a").pod());
        assert_eq!((list.len(), seen(&list, "a")), (2, None));
        assert!(list.attempt(info("a").pod()).is_some(), "the attempt goes on without a marker");
        list.done(info("a").pod());
        list.done(info("b").pod());
        assert!(list.len() == 0 && !list.any());
        assert_eq!(list.attempts().count(), 2);
        assert!(list.finish(info("b").pod()).is_some() && list.finish(info("b").pod()).is_none());
    }

    #[test]
    fn a_pod_sees_its_own_forced_activation_once() {
        let mut list = InFlight::default();
        let (a, b) = (info("a"), info("b"));
        list.keep_activation(&a.pod_info.pod);
        list.start(a.clone());
        list.start(b.clone());
        (0..9).for_each(|_| list.keep_activation(&a.pod_info.pod));
        assert_eq!((seen(&list, "a").unwrap().len(), list.len()), (1, 3), "before it was popped, it was not in flight");
        list.done(a.pod());
        list.start(a.clone());
        list.keep_activation(&a.pod_info.pod);
        assert_eq!(seen(&list, "a").unwrap().len(), 1, "another attempt");
    }

    #[test]
    fn events_stay_while_an_earlier_pod_needs_them() {
        let mut list = InFlight::default();
        list.start(info("a"));
        list.keep(ClusterEvent::ASSIGNED_POD_ADD, &Change::default());
        list.start(info("b"));
        list.done(info("b").pod());
        assert_eq!(seen(&list, "a").unwrap(), ["AssignedPodAdd"]);
    }
}
