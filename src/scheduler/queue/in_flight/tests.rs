//! Tests of `in_flight`.

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
