//! Pod groups that are one entry of the queue.

use super::*;
use crate::framework::PodGroupStates;

/// A queue of this release with pod groups on.
fn grouped(version: &str) -> Fixture {
    let mut emulation: Emulation = crate::release::Profile::named(version).expect("an emulated release").into();
    emulation.set(Gate::GenericWorkload, true);
    let queue = SchedulingQueue::new(QueueConfig { emulation, ..QueueConfig::default() }, hints());
    Fixture { queue, world: World::default(), folded: QueuesView::default(), popped: BTreeMap::new() }
}

fn member(name: &str) -> Arc<Pod> {
    let mut pod = (*Fixture::object(name, 0, "")).clone();
    pod.spec_mut().scheduling_group = Some(serde_json::from_str(r#"{"podGroupName":"g"}"#).unwrap());
    Arc::new(pod)
}

impl Fixture {
    fn track(&mut self, change: impl FnOnce(&mut PodGroupStates)) {
        let mut states = self.world.snapshot.pod_groups().clone();
        change(&mut states);
        self.world.snapshot = self.world.snapshot.clone().with_pod_groups(states);
    }

    fn add_member(&mut self, name: &str) {
        let pod = member(name);
        self.track(|states| states.add(&pod));
        self.add_pod(&pod);
    }

    fn delete_member(&mut self, name: &str) {
        self.track(|states| states.remove(&member(name)));
        self.delete(name);
    }

    /// Tries the whole group: all its pods of activeQ come back, each with its rejecting plugins, but for those that were placed.
    fn try_group(&mut self, failed: &[(&str, &[PluginName])], placed: bool) -> String {
        let first = self.pop().expect("a pod of the group");
        let mut popped = vec![first];
        for name in self.active() {
            let pod = self.pod(&name);
            if pod.spec.scheduling_group.is_some() {
                let info = self.run(|q, w| q.pop_specific_pod(w, &pod)).expect("a queued pod");
                self.popped.insert(info.key(), (*info).clone());
                popped.push(name);
            }
        }
        let back: Vec<QueuedPodInfo> = failed
            .iter()
            .map(|(name, plugins)| {
                let mut info = self.popped.remove(&Self::key(name)).unwrap();
                info.clear_rejector_plugins();
                info.unschedulable_plugins = plugins.iter().copied().collect();
                info
            })
            .collect();
        let gone: Vec<Arc<Pod>> = popped.iter().filter_map(|name| Some(self.popped.remove(&Self::key(name))?.pod().clone())).collect();
        self.run(|q, w| {
            for pod in gone {
                q.leave(w, &pod, Place::Bound { node: "n".into() });
            }
            let order: Vec<Key> = back.iter().map(QueuedPodInfo::key).collect();
            for info in back {
                q.add_unschedulable_if_not_present(w, info).unwrap();
            }
            q.return_group(w, &order, placed);
        });
        popped.join(" ")
    }

    fn places(&self, names: &[&str]) -> String {
        names.iter().map(|name| self.place(name)).collect::<Vec<_>>().join(", ")
    }
}

const FIT: &[PluginName] = &[PluginName::NodeResourcesFit];

#[test]
fn a_group_waits_in_one_place_with_one_backoff() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.advance(1500);
    f.add("single", 0).add_member("b");
    // The later pod takes the place of its group.
    assert_eq!(f.active(), ["a", "b", "single"]);
    assert_eq!(f.try_group(&[("a", FIT), ("b", &[])], false), "a b");
    assert_eq!(f.moves(), ["a to backoff (ScheduleAttemptFailure)", "b to backoff (ScheduleAttemptFailure)"]);
    // One that comes waits with it, and a group is not popped before its backoff ends.
    f.add_member("c");
    assert_eq!(f.places(&["a", "b", "c"]), "error 2, error 2, error 2");
    assert_eq!((f.pop().as_deref(), f.pop()), (Some("single"), None));
    f.advance(1600);
    assert_eq!(f.active(), ["a", "b", "c"]);
    assert_eq!(f.try_group(&[("a", FIT), ("b", FIT), ("c", FIT)], false), "a b c");
    assert_eq!(f.places(&["a", "b", "c"]), "error 4, error 4, error 4", "the second rejection, at 3.1 s");
}

#[test]
fn before_a_pod_that_comes_takes_its_group_out_of_the_backoff() {
    let mut f = grouped("v1.36.2");
    f.add_member("a");
    f.try_group(&[("a", FIT)], false);
    f.add_member("b");
    assert_eq!((f.places(&["a", "b"]).as_str(), f.pop().as_deref(), f.pop().as_deref()), ("backoff 1, active", Some("b"), Some("a")));
}

#[test]
fn the_longest_backoff_grows_with_the_root_of_the_size() {
    let mut f = grouped("v1.37.0");
    for name in ["a", "b", "c", "d"] {
        f.add_member(name);
    }
    let mut ends = Vec::new();
    for _ in 0..7 {
        let since = f.world.now;
        f.try_group(&["a", "b", "c", "d"].map(|name| (name, FIT)), false);
        let entry = &f.queue.view().entries[&Fixture::key("a")];
        let Place::Backoff { expires, .. } = entry.place else { panic!("{:?}", entry.place) };
        ends.push(expires.as_second() - since.as_second());
        f.advance(30_000);
    }
    assert_eq!(ends, [1, 2, 4, 8, 16, 20, 20]);
}

#[test]
fn an_error_of_one_pod_is_an_error_of_the_group() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.add_member("b");
    let counts = |f: &Fixture| {
        let info = f.queue.get(&Fixture::key("a")).unwrap();
        (info.unschedulable_count, info.consecutive_errors_count)
    };
    f.try_group(&[("a", FIT), ("b", &[])], false);
    assert_eq!(counts(&f), (0, 1));
    f.advance(5000);
    f.try_group(&[("a", FIT), ("b", FIT)], false);
    assert_eq!(counts(&f), (1, 0));
}

#[test]
fn a_gated_pod_keeps_its_whole_group_out() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.world.refusals.insert(Fixture::key("b"), vec![PluginName::SchedulingGates]);
    f.add_member("b");
    assert_eq!(f.places(&["a", "b"]), "parked, gated by SchedulingGates");
    f.add_member("c");
    assert_eq!((f.place("c").as_str(), f.pop()), ("parked", None));
    // A change of the gated pod lets all in.
    f.world.refusals.clear();
    f.update("b", |pod| pod.metadata.labels = [("k", "v".into())].into_iter().collect());
    f.advance(6 * 60_000);
    assert_eq!(f.active(), ["a", "b", "c"], "the flush asks PreEnqueue again");
    let mut before = grouped("v1.36.2");
    before.add_member("a");
    before.world.refusals.insert(Fixture::key("b"), vec![PluginName::SchedulingGates]);
    before.add_member("b");
    assert_eq!(before.places(&["a", "b"]), "active, gated by SchedulingGates");
}

#[test]
fn a_gated_group_waits_for_no_flush() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.world.refusals.insert(Fixture::key("b"), vec![PluginName::SchedulingGates]);
    f.add_member("b");
    let start = f.world.now;
    assert_eq!(f.queue.next_leftover(f.world.now, start), None);
    f.add("single", 0);
    f.pop();
    f.fail("single", &[PluginName::NodeName]);
    assert_eq!(f.queue.next_leftover(f.world.now, start).map(|(_, pod)| pod), Some(Fixture::key("single")));
}

#[test]
fn only_the_pod_that_comes_is_asked_while_nothing_else_changed() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.add_member("b");
    // A rejection that comes without a change of its inputs is found when something changes.
    f.world.refusals.insert(Fixture::key("a"), vec![PluginName::SchedulingGates]);
    f.add_member("c");
    assert_eq!(f.places(&["a", "b", "c"]), "active, active, active");
    let mut changed = f.clone();
    let group = r#"{"kind":"PodGroup","metadata":{"name":"g","namespace":"d"},"spec":{"schedulingPolicy":{"basic":{}}}}"#;
    changed.world.cluster.insert(serde_json::from_str(group).unwrap());
    changed.add_member("d");
    assert_eq!(changed.places(&["a", "b", "c", "d"]), "gated by SchedulingGates, parked, parked, parked");
    let mut updated = f.clone();
    updated.update("b", |pod| pod.metadata.labels = [("k", "v".into())].into_iter().collect());
    updated.add_member("d");
    assert_eq!(updated.places(&["a", "b", "c", "d"]), "gated by SchedulingGates, parked, parked, parked");
    // Fewer pods of the group may be too few.
    let mut fewer = f.clone();
    fewer.world.refusals.clear();
    fewer.world.cluster.insert(serde_json::from_str(group).unwrap());
    fewer.add_member("d");
    fewer.world.refusals.insert(Fixture::key("a"), vec![PluginName::SchedulingGates]);
    fewer.track(|states| states.remove(&member("b")));
    fewer.track(|states| states.remove(&member("c")));
    fewer.add_member("e");
    assert_eq!(fewer.places(&["a", "d", "e"]), "gated by SchedulingGates, parked, parked");
    // The one that comes gates the others.
    f.world.refusals.clear();
    f.world.refusals.insert(Fixture::key("d"), vec![PluginName::SchedulingGates]);
    f.add_member("d");
    assert_eq!(f.places(&["a", "b", "c", "d"]), "parked, parked, parked, gated by SchedulingGates");
}

#[test]
fn an_event_that_helps_one_pod_moves_the_group() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.add_member("b");
    f.world.refusals.insert(Fixture::key("a"), vec![PluginName::NodeName]);
    f.try_group(&[("a", FIT), ("b", FIT)], false);
    assert_eq!(f.places(&["a", "b"]), "gated by NodeName, parked");
    f.node("no");
    assert_eq!(f.places(&["a", "b"]), "gated by NodeName, parked");
    f.world.refusals.clear();
    f.advance(3000);
    f.node("no");
    assert_eq!(f.places(&["a", "b"]), "active, active", "NodeName hears of every new node");
}

#[test]
fn what_is_left_of_a_placed_group_is_tried_at_once_with_its_old_time() {
    let mut f = grouped("v1.37.0");
    for name in ["a", "b", "c"] {
        f.add_member(name);
    }
    f.add("single", 0);
    f.advance(1000);
    f.try_group(&[("c", FIT)], true);
    assert_eq!((f.active(), f.places(&["a", "b"]).as_str()), (vec!["c".to_owned(), "single".to_owned()], "gone, gone"));
    assert_eq!(f.queue.get(&Fixture::key("c")).unwrap().unschedulable_count, 0);
}

#[test]
fn the_loss_of_a_pod_may_keep_the_others_out() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.add_member("b");
    f.world.refusals.insert(Fixture::key("a"), vec![PluginName::NodeName]);
    f.delete_member("b");
    assert_eq!(f.places(&["a", "b"]), "gated by NodeName, gone");
}

#[test]
fn a_pod_that_fails_after_its_group_returned_joins_it() {
    let mut f = grouped("v1.37.0");
    f.add_member("a");
    f.add_member("b");
    let first = f.pop().unwrap();
    let pod = f.pod("b");
    let other = f.run(|q, w| q.pop_specific_pod(w, &pod)).unwrap();
    let mut a = f.popped.remove(&Fixture::key(&first)).unwrap();
    a.unschedulable_plugins = FIT.iter().copied().collect();
    f.run(|q, w| {
        q.add_unschedulable_if_not_present(w, a).unwrap();
        q.return_group(w, &[Fixture::key("a")], false);
    });
    // Its binding fails.
    f.run(|q, w| q.add_unschedulable_if_not_present(w, (*other).clone()).unwrap());
    assert_eq!(f.places(&["a", "b"]), "error 1, error 1");
}
