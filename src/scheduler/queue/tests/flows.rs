//! One test per operation and branch.

use super::*;
use crate::cluster::{SchedulingGate, Toleration};
use crate::framework::NominatingInfo;
use PluginName::{
    DefaultPreemption, InterPodAffinity, NodeDeclaredFeatures, NodeName, NodePorts, NodeResourcesFit, SchedulingGates as Gates,
    TaintToleration,
};

#[test]
fn active_queue_goes_by_priority_then_time_then_number() {
    let mut f = Fixture::new();
    f.add("b", 0).add("a", 0).add("c", 5);
    f.advance(1);
    f.add("d", 5).add("e", 0);
    assert_eq!(f.active(), ["c", "d", "b", "a", "e"]);
    assert_eq!([f.pop(), f.pop()], [Some("c".into()), Some("d".into())]);
    assert_eq!(f.moves(), ["d to attempt (cycle)"]);
    assert_eq!(f.queue.scheduling_cycle(), 2);
}

#[test]
fn a_pod_enters_by_add_and_a_gated_one_waits_apart() {
    let mut f = Fixture::new();
    f.add("p", 0);
    assert_eq!(f.moves(), ["p to active (UnschedulablePodAdd)"]);
    f.world.refusals.insert(Fixture::key("g"), vec![DefaultPreemption, Gates]);
    f.add("g", 9);
    assert_eq!((f.place("g").as_str(), f.moves()), ("gated by DefaultPreemption", vec!["g to unschedulable (UnschedulablePodAdd)".into()]));
    assert_eq!(f.queue.get(&Fixture::key("g")).unwrap().initial_attempt_timestamp, None);
    assert_eq!([f.pop(), f.pop()], [Some("p".into()), None]);
}

#[test]
fn a_failed_pod_is_parked_unless_no_plugin_rejected_it() {
    let mut f = Fixture::parked(&[NodeResourcesFit]);
    assert_eq!((f.place("p").as_str(), f.moves()), ("parked", vec!["p to unschedulable (ScheduleAttemptFailure)".into()]));
    f.add("q", 0).pop();
    f.fail("q", &[]);
    assert_eq!((f.place("q").as_str(), f.moves()), ("error 1", vec!["q to backoff (ScheduleAttemptFailure)".into()]));
    assert_eq!(f.pop(), None, "the error heap is not popped early");
}

#[test]
fn each_pod_that_an_event_is_offered_to_takes_steps() {
    let mut f = Fixture::new();
    let mut offered = Vec::new();
    for pods in 1..=3_u64 {
        let name = format!("p{pods}");
        f.add(&name, 0).pop();
        f.fail(&name, &[NodeResourcesFit]);
        f.world.steps = 0;
        f.node("no");
        offered.push(f.world.steps / pods);
    }
    assert!(offered[0] >= 20 && offered == [offered[0]; 3], "{offered:?}");
}

#[test]
fn backoff_grows_with_each_rejection_and_errors_count_apart() {
    let mut f = Fixture::new();
    f.add("p", 0);
    let mut ends = Vec::new();
    for plugins in [&[NodeName][..], &[NodeName], &[], &[], &[NodeName], &[]] {
        f.pop().or_else(|| {
            f.advance(20_000);
            f.pop()
        });
        f.fail("p", plugins);
        let info = f.queue.get(&Fixture::key("p")).unwrap();
        ends.push(f.queue.backoff_expiration(info).unwrap().duration_since(f.world.now).as_secs());
        f.node("yes");
    }
    assert_eq!(ends, [1, 2, 1, 2, 4, 1]);
}

#[test]
fn coming_back_twice_is_an_error_that_changes_nothing() {
    for (plugins, event, queue) in [(&[][..], false, "backoff"), (&[NodeName], false, "unschedulable"), (&[NodeName], true, "active")] {
        let mut f = Fixture::new();
        f.add("p", 0).pop();
        let again = f.popped[&Fixture::key("p")].clone();
        f.fail("p", plugins);
        if event {
            f.activate("p");
        }
        let before = f.place("p");
        let error = f.run(|q, w| q.add_unschedulable_if_not_present(w, again)).unwrap_err();
        assert_eq!(error.to_string(), format!("Pod d/p is already present in the {queue} queue"));
        assert_eq!(f.place("p"), before);
    }
}

#[test]
fn an_event_moves_a_parked_pod_if_a_rejectors_hint_says_so() {
    let taint = ClusterEvent::new(EventResource::Node, ActionType::UPDATE_NODE_TAINT);
    let delete = ClusterEvent::new(EventResource::Node, ActionType::DELETE);
    let add = ClusterEvent::new(EventResource::Node, ActionType::ADD);
    for (plugin, event, help, expected) in [
        (NodeResourcesFit, add, "yes", "backoff 1"),
        (NodeResourcesFit, add, "broken", "backoff 1"),
        (NodeResourcesFit, add, "no", "parked"),
        (NodeResourcesFit, delete, "yes", "parked"),
        (NodeName, add, "no", "backoff 1"),
        (NodeName, taint, "no", "backoff 1"),
        (TaintToleration, add, "yes", "parked"),
    ] {
        let mut f = Fixture::parked(&[plugin]);
        f.move_all(event, help, None);
        assert_eq!(f.place("p"), expected, "{plugin} {event} {help}");
    }
}

#[test]
fn hints_and_the_plugin_they_helped_are_on_record() {
    let mut f = Fixture::parked(&[NodeResourcesFit, NodeName]);
    f.node("broken");
    let errors = f.world.events.iter().filter(|e| matches!(e, Event::HintAsked { error: Some(_), hint: QueueingHint::Queue, .. })).count();
    assert_eq!(errors, 1);
    assert!(f.world.events.iter().any(|e| matches!(e, Event::QueueMoved(m) if m.plugin == Some(NodeResourcesFit))));
    let mut f = Fixture::parked(&[NodeResourcesFit, NodeName]);
    f.node("no");
    assert!(f.world.events.iter().any(|e| matches!(e, Event::QueueMoved(m) if m.plugin == Some(NodeName))));
}

#[test]
fn after_its_backoff_a_pod_goes_straight_to_active() {
    let mut f = Fixture::parked(&[NodeName]);
    f.advance(2000);
    f.node("no");
    assert_eq!(f.moves(), ["p to active (NodeAdd)"]);
}

#[test]
fn a_limit_on_priority_leaves_higher_pods_alone() {
    let mut f = Fixture::new();
    f.add("low", 1).add("high", 2);
    while let Some(name) = f.pop() {
        f.fail(&name, &[NodeName]);
    }
    f.move_all(ClusterEvent::new(EventResource::Node, ActionType::ADD), "no", Some(1));
    assert_eq!([f.place("low").as_str(), f.place("high").as_str()], ["backoff 1", "parked"]);
}

#[test]
fn a_pending_plugin_skips_the_backoff() {
    for (plugins, pending, expected) in [
        (&[NodeName][..], &[NodeResourcesFit][..], "active"),
        (&[NodeResourcesFit], &[NodeName], "active"),
        (&[NodeName], &[TaintToleration], "backoff 1"),
    ] {
        let mut f = Fixture::new();
        f.add("p", 0).pop();
        f.try_fail("p", plugins, pending).unwrap();
        f.node("yes");
        assert_eq!(f.place("p"), expected);
        // The same while in flight.
        let mut f = Fixture::new();
        f.add("p", 0).pop();
        f.node("yes");
        f.try_fail("p", plugins, pending).unwrap();
        assert_eq!(f.place("p"), expected);
    }
}

#[test]
fn an_unknown_profile_means_try_again() {
    let mut f = Fixture::new();
    let mut pod = (*Fixture::object("p", 0, "")).clone();
    pod.spec_mut().scheduler_name = "other".into();
    f.add_pod(&Arc::new(pod));
    f.pop();
    f.fail("p", &[NodePorts]);
    f.node("no");
    assert_eq!(f.place("p"), "backoff 1");
}

#[test]
fn events_during_the_attempt_are_asked_when_the_pod_comes_back() {
    for (help, plugins, expected) in [
        ("yes", &[NodeResourcesFit][..], "backoff 1"),
        ("no", &[NodeResourcesFit], "parked"),
        ("no", &[NodeName], "backoff 1"),
        ("yes", &[TaintToleration], "parked"),
    ] {
        let mut f = Fixture::new();
        f.node("yes");
        f.add("p", 0).pop();
        f.node(help);
        f.fail("p", plugins);
        assert_eq!(f.place("p"), expected, "{help} {plugins:?}");
        assert!(f.queue.in_flight.len() == 0);
    }
}

#[test]
fn an_update_in_flight_is_kept_and_nothing_else() {
    let mut f = Fixture::new();
    f.add("p", 0).add("q", 0).pop();
    f.pop();
    f.update("p", |p| p.spec_mut().tolerations.0.push(Toleration::default()));
    assert_eq!((f.moves().len(), f.place("p").as_str()), (0, "in flight"));
    f.fail("p", &[TaintToleration]);
    f.fail("q", &[TaintToleration]);
    assert_eq!([f.place("p").as_str(), f.place("q").as_str()], ["backoff 1", "parked"], "hints compare uids");
}

#[test]
fn done_ends_the_keeping_of_events() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    let pod = f.pod("p");
    f.run(|q, _| q.done(&pod));
    f.node("yes");
    assert_eq!((f.queue.in_flight.len(), f.place("p").as_str()), (0, "in flight"));
    // Without its marker a rejected pod cannot be judged, so it is tried again.
    f.fail("p", &[TaintToleration]);
    assert_eq!(f.place("p"), "backoff 1");
}

#[test]
fn updates_in_active_and_backoff_keep_the_place() {
    let mut f = Fixture::new();
    f.add("a", 0).add("b", 0);
    f.world.refusals.insert(Fixture::key("b"), vec![Gates]);
    f.update("b", |p| p.spec_mut().tolerations.0.push(Toleration::default()));
    assert_eq!((f.active(), f.moves().len()), (vec!["a".to_string(), "b".to_string()], 0));
    assert_eq!(f.queue.get(&Fixture::key("b")).unwrap().pod().spec.tolerations.len(), 1);
    f.update("b", |p| p.spec_mut().priority = Some(3));
    assert_eq!(f.active(), ["b", "a"]);
    for (plugins, place) in [(&[][..], "error 1"), (&[NodeName], "backoff 1")] {
        let mut f = Fixture::new();
        f.add("p", 0).pop();
        f.node("no");
        f.fail("p", plugins);
        f.update("p", |p| p.spec_mut().priority = Some(3));
        assert_eq!((f.place("p").as_str(), f.moves().len()), (place, 0));
    }
}

#[test]
fn updates_of_a_parked_pod_ask_the_hints_event_by_event() {
    let mut f = Fixture::parked(&[InterPodAffinity, TaintToleration]);
    f.update("p", |p| p.metadata.annotations.insert("a".into(), "b".into()).map_or((), drop));
    assert_eq!(f.place("p"), "parked");
    f.update("p", |p| {
        p.metadata.labels.insert("a".into(), "b".into());
        p.spec_mut().tolerations.0.push(Toleration::default());
    });
    assert_eq!(f.moves(), ["p to backoff (UnschedulablePodUpdatePodLabel)"]);
    let mut f = Fixture::parked(&[TaintToleration]);
    f.advance(2000);
    f.update("p", |p| {
        p.metadata.labels.insert("a".into(), "b".into());
        p.spec_mut().tolerations.0.push(Toleration::default());
    });
    assert_eq!(f.moves(), ["p to active (UnschedulablePodUpdatePodToleration)"]);
    let mut f = Fixture::parked(&[NodeDeclaredFeatures]);
    f.update("p", |p| p.metadata.resource_version = "2".into());
    assert_eq!(f.moves(), ["p to backoff (UnschedulablePodUpdate)"]);
}

#[test]
fn gated_pods_do_not_hold_up_the_clock() {
    for version in ["v1.35.2", "v1.36.3", "v1.37.0"] {
        let mut f = Fixture::of(version);
        f.world.refusals.insert(Fixture::key("g"), vec![Gates]);
        f.add("g", 0).add("p", 0);
        f.pop();
        f.fail("p", &[PluginName::NodeName]);
        f.advance(17_000);
        f.world.refusals.insert(Fixture::key("late"), vec![Gates]);
        f.add("late", 0);
        let mut pieces = f.clone();
        let flushed = |f: &Fixture| ["g", "late"].map(|name| f.queue.get(&Fixture::key(name)).unwrap().flushed);
        let hour = 3_600_000;
        f.advance(100 * hour);
        for _ in 0..100 {
            pieces.advance(hour);
        }
        assert_eq!((f.queue.view(), flushed(&f)), (pieces.queue.view(), flushed(&pieces)), "{version}");
        assert_eq!(f.active(), ["p"]);
        f.advance(1_000_000 * hour);
        assert!(f.world.events.len() < 1000);
        assert_eq!(f.place("g"), "gated by SchedulingGates");
    }
}

#[test]
fn an_update_that_pre_enqueue_refuses_continues_to_the_next_event() {
    let mut f = Fixture::parked(&[InterPodAffinity, TaintToleration]);
    f.world.refusals.insert(Fixture::key("p"), vec![DefaultPreemption]);
    f.update("p", |p| {
        p.metadata.labels.insert("a".into(), "b".into());
        p.spec_mut().tolerations.0.push(Toleration::default());
    });
    assert_eq!((f.place("p").as_str(), f.moves().len()), ("gated by DefaultPreemption", 0));
    assert_eq!(f.world.events.iter().filter(|e| matches!(e, Event::PreEnqueueRejected { .. })).count(), 2);
}

#[test]
fn a_pod_that_waits_nowhere_comes_back_with_an_update() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    f.leave("p", Place::Gone);
    assert_eq!((f.place("p").as_str(), f.moves()), ("gone", vec!["p to nowhere (cycle)".into()]));
    f.update("p", |p| p.metadata.resource_version = "2".into());
    assert_eq!(f.moves(), ["p to active (UnschedulablePodUpdate)"]);
    assert_eq!(f.queue.get(&Fixture::key("p")).unwrap().attempts, 0);
}

#[test]
fn gates_open_by_the_event_that_the_gating_plugin_registered() {
    let mut f = Fixture::new();
    f.world.refusals.insert(Fixture::key("g"), vec![Gates]);
    let mut pod = (*Fixture::object("g", 0, "")).clone();
    pod.spec_mut().scheduling_gates.0.push(SchedulingGate { name: "x".into() });
    f.add_pod(&Arc::new(pod));
    f.node("yes");
    f.activate("g");
    f.advance(400_000);
    assert_eq!(f.place("g"), "gated by SchedulingGates", "neither events nor time nor force");
    f.world.refusals.clear();
    f.update("g", |p| p.spec_mut().scheduling_gates.0.clear());
    assert_eq!(f.moves(), ["g to active (UnschedulablePodUpdatePodSchedulingGatesEliminated)"]);
}

#[test]
fn a_gated_pod_is_moved_by_other_rejectors_on_an_event_of_its_gate() {
    let deletion = ClusterEvent::ASSIGNED_POD_DELETE;
    let mut f = Fixture::parked(&[NodePorts]);
    f.world.refusals.insert(Fixture::key("p"), vec![DefaultPreemption]);
    f.move_all(deletion, "", None);
    assert_eq!((f.place("p").as_str(), f.moves().len()), ("gated by DefaultPreemption", 0));
    f.world.refusals.insert(Fixture::key("p"), vec![Gates, DefaultPreemption]);
    f.move_all(deletion, "", None);
    assert_eq!(f.place("p"), "gated by DefaultPreemption", "the plugin that gated last is asked first");
    f.world.refusals.insert(Fixture::key("p"), vec![Gates]);
    f.move_all(deletion, "", None);
    assert_eq!(f.place("p"), "gated by SchedulingGates");
    f.move_all(deletion, "", None);
    assert_eq!(f.world.events.len(), 0, "SchedulingGates did not register deletions");
}

#[test]
fn activate_takes_pods_out_of_wherever_they_wait() {
    let mut f = Fixture::parked(&[TaintToleration]);
    f.activate("p");
    assert_eq!(f.moves(), ["p to active (ForceActivate)"]);
    f.activate("p");
    assert_eq!(f.moves().len(), 0);
    f.pop();
    f.fail("p", &[]);
    f.world.refusals.insert(Fixture::key("p"), vec![Gates]);
    f.activate("p");
    assert_eq!(f.moves(), ["p to active (ForceActivate)"], "PreEnqueue is not asked on the way out of backoffQ");
    f.pop();
    f.world.refusals.clear();
    f.activate("p");
    f.fail("p", &[TaintToleration]);
    assert_eq!(f.place("p"), "backoff 2", "in flight it counts when the pod comes back");
    f.pop();
    f.leave("p", Place::Gone);
    f.activate("p");
    assert_eq!(f.place("p"), "gone");
}

#[test]
fn force_activation_of_one_pod_in_flight_does_not_help_another() {
    let mut f = Fixture::new();
    f.add("p", 0).add("q", 0).pop();
    f.pop();
    f.activate("p");
    f.fail("q", &[TaintToleration]);
    assert_eq!(f.place("q"), "parked");
}

#[test]
fn an_idle_scheduler_pops_rejected_pods_from_backoff() {
    let mut f = Fixture::parked(&[NodeName]);
    f.node("no");
    assert_eq!((f.place("p").as_str(), f.pop()), ("backoff 1", Some("p".into())));
    assert_eq!(f.moves(), ["p to attempt (PopFromBackoffQ)"]);
    assert!(f.world.events.iter().any(|e| matches!(e, Event::PodPopped { attempts: 2, early_from_backoff: true, .. })));
}

#[test]
fn without_early_pops_times_are_exact_and_pre_enqueue_comes_on_leaving() {
    let mut f = Fixture::with_emulation(&[Gate::SchedulerPopFromBackoffQ]);
    f.advance(500);
    f.add("p", 0).add("q", 0).pop();
    f.pop();
    f.fail("p", &[NodeName]);
    f.fail("q", &[]);
    f.world.refusals.insert(Fixture::key("p"), vec![Gates]);
    f.node("no");
    assert_eq!((f.place("p").as_str(), f.pop()), ("backoff 1", None));
    f.advance(1000);
    assert_eq!(f.place("p"), "backoff 1", "it ends half a second later, and flushes come at whole seconds");
    f.advance(500);
    assert_eq!([f.place("p").as_str(), f.place("q").as_str()], ["gated by SchedulingGates", "active"]);
}

#[test]
fn the_backoff_flush_comes_at_the_second_after_the_end() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    f.fail("p", &[]);
    f.advance(1999);
    assert_eq!(f.place("p"), "error 1");
    f.advance(1);
    assert_eq!(f.moves(), ["p to active (BackoffComplete)"]);
}

#[test]
fn leftovers_are_freed_after_more_than_five_minutes() {
    let mut f = Fixture::parked(&[TaintToleration]);
    f.advance(300_000);
    assert_eq!(f.place("p"), "parked");
    f.advance(29_999);
    assert_eq!(f.place("p"), "parked");
    f.advance(1);
    assert_eq!((f.place("p").as_str(), f.moves()), ("active", vec!["p to active (UnschedulableTimeout)".into()]));
}

#[test]
fn an_overdue_gated_pod_marks_pods_in_flight() {
    let mut f = Fixture::new();
    f.world.refusals.insert(Fixture::key("g"), vec![Gates]);
    f.add("g", 0);
    f.advance(310_000);
    f.add("p", 0).pop();
    f.advance(20_000);
    f.fail("p", &[TaintToleration]);
    assert_eq!([f.place("p").as_str(), f.place("g").as_str()], ["backoff 331", "gated by SchedulingGates"]);
}

#[test]
fn a_later_release_asks_gated_pods_again_every_five_minutes() {
    for version in ["v1.36.4", "v1.37.0"] {
        let mut f = Fixture::of(version);
        f.world.refusals.insert(Fixture::key("g"), vec![DefaultPreemption]);
        f.add("g", 0);
        assert_eq!(f.moves().len(), 1, "{version}");
        let asked = |f: &mut Fixture, milliseconds| {
            f.world.events.clear();
            f.advance(milliseconds);
            f.world.events.iter().filter(|e| matches!(e, Event::PreEnqueueRejected { .. })).count()
        };
        assert_eq!(asked(&mut f, 330_000), 1);
        assert_eq!(asked(&mut f, 299_999), 0, "five minutes have not passed since it was asked");
        assert_eq!((asked(&mut f, 30_001), f.place("g").as_str()), (1, "gated by DefaultPreemption"));
        f.world.refusals.clear();
        assert_eq!(asked(&mut f, 330_000), 0);
        assert_eq!(f.place("g"), "active");
    }
    let mut f = Fixture::of("v1.36.3");
    f.world.refusals.insert(Fixture::key("g"), vec![DefaultPreemption]);
    f.add("g", 0);
    f.world.events.clear();
    f.advance(330_000);
    assert!(!f.world.events.iter().any(|e| matches!(e, Event::PreEnqueueRejected { .. })), "an earlier patch leaves it alone");
}

#[test]
fn time_passes_in_stretches_between_flushes_that_did_something() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    f.fail("p", &[]);
    f.advance(5500);
    let stretches: Vec<(i64, i64)> = (f.world.events.iter())
        .filter_map(|e| if let Event::ClockMoved { from, to } = e { Some((from.as_millisecond(), to.as_millisecond())) } else { None })
        .collect();
    assert_eq!(stretches, [(0, 2000), (2000, 5500)]);
    f.run(|q, w| q.advance(w, Timestamp::UNIX_EPOCH, Timestamp::UNIX_EPOCH));
    assert!(f.world.events.is_empty(), "the past does not come again");
}

#[test]
fn deletion_takes_a_pod_out_of_every_queue_but_not_out_of_flight() {
    let mut f = Fixture::new();
    f.add("a", 0).delete("a");
    assert_eq!(f.moves(), ["a to nowhere (UnschedulablePodDelete)"]);
    for plugins in [&[][..], &[NodeName]] {
        f.add("p", 0).pop();
        f.fail("p", plugins);
        f.delete("p");
        assert_eq!(f.place("p"), "gone");
    }
    f.add("p", 0).pop();
    f.delete("p");
    assert_eq!(f.place("p"), "in flight");
    f.leave("p", Place::Gone);
    assert!(f.queue.is_empty());
}

#[test]
fn a_pod_recreated_in_flight_waits_next_to_the_old_one() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    let old = f.popped.remove(&Fixture::key("p")).unwrap();
    let mut new = (**old.pod()).clone();
    new.metadata.uid = "anew".into();
    f.world.cluster.insert(Object::Pod(Arc::new(new.clone())));
    f.queue.delete(&mut f.world, old.pod());
    f.queue.add(&mut f.world, Arc::new(new));
    f.queue.leave(&mut f.world, old.pod(), Place::Gone);
    f.folded = f.queue.view().clone();
    f.check();
    assert_eq!(f.place("p"), "active");
}

#[test]
fn the_same_pod_twice_is_popped_once() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    let pod = f.pod("p");
    f.queue.add(&mut f.world, pod.clone());
    assert!(f.queue.pop(&mut f.world).is_none());
    f.queue.add(&mut f.world, pod.clone());
    f.queue.add(&mut f.world, pod);
    assert_eq!(f.queue.len(), (1, 0, 0), "a second add replaces the first");
}

#[test]
fn a_bound_pod_leaves_for_its_node() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    f.leave("p", Place::Bound { node: "n".into() });
    assert_eq!((f.moves(), f.place("p").as_str()), (vec!["p to node (cycle)".into()], "gone"));
}

#[test]
fn nominations_come_from_the_field_on_entry_and_from_the_failure_handler() {
    let mut f = Fixture::new();
    f.add_pod(&Fixture::object("p", 4, r#","status":{"nominatedNodeName":"n1"}"#));
    f.world.refusals.insert(Fixture::key("g"), vec![Gates]);
    f.add_pod(&Fixture::object("g", 0, r#","status":{"nominatedNodeName":"n1"}"#));
    let on_n1 = f.queue.nominated_pods_for_node("n1");
    assert_eq!(on_n1.iter().map(|p| (p.key().name.to_string(), p.pod.priority())).collect::<Vec<_>>(), [("p".to_string(), 4)], "gated: no");
    f.pop();
    let bare = f.queue.nominated_pods_for_node("n1");
    assert_eq!((bare[0].pod.priority(), bare[0].key()), (0, Fixture::key("p")), "in flight only the name is known");
    f.fail("p", &[NodeName]);
    let pod = f.pod("p");
    f.run(|q, w| q.add_nominated_pod(w, &pod, &NominatingInfo::Override("n2".into())));
    assert_eq!(f.queue.nominations().map(|(_, n)| n.as_str()).collect::<Vec<_>>(), ["n2"]);
    f.update("p", |p| p.status.nominated_node_name = "n2".into());
    assert!(!f.world.events.iter().any(|e| matches!(e, Event::PodNominated { .. })), "nothing new");
    f.update("p", |p| p.status.nominated_node_name = "".into());
    assert!(f.world.events.iter().any(|e| matches!(e, Event::NominationCleared { node, .. } if node == "n2")));
    f.run(|q, w| q.add_nominated_pod(w, &pod, &NominatingInfo::Override("n3".into())));
    f.delete("p");
    assert_eq!(f.queue.nominations().count(), 0);
}

#[test]
fn gated_pods_count_on_their_nominated_nodes_up_to_1_27_and_from_1_37_on() {
    for (version, count) in [("v1.27.1", 1), ("v1.28.3", 0), ("v1.36.2", 0), ("v1.37.0", 1)] {
        let mut f = Fixture::of(version);
        f.world.refusals.insert(Fixture::key("g"), vec![Gates]);
        f.add_pod(&Fixture::object("g", 4, r#","status":{"nominatedNodeName":"n1"}"#));
        assert_eq!((f.place("g").as_str(), f.queue.nominated_pods_for_node("n1").len()), ("gated by SchedulingGates", count), "{version}");
    }
}

#[test]
fn a_nominated_pod_in_no_queue_counts_with_its_requests_up_to_1_30() {
    for (version, priority) in [("v1.30.14", 4), ("v1.31.1", 0)] {
        let mut f = Fixture::of(version);
        f.add_pod(&Fixture::object("p", 4, r#","status":{"nominatedNodeName":"n1"}"#));
        f.pop();
        f.leave("p", Place::Gone);
        let on_n1 = f.queue.nominated_pods_for_node("n1");
        assert_eq!(on_n1.iter().map(|p| p.pod.priority()).collect::<Vec<_>>(), [priority], "{version}");
    }
}

#[test]
fn a_plain_update_that_moves_a_pod_takes_the_nomination_from_the_field() {
    let mut f = Fixture::parked(&[NodeDeclaredFeatures]);
    let pod = f.pod("p");
    f.run(|q, w| q.add_nominated_pod(w, &pod, &NominatingInfo::Override("n1".into())));
    f.advance(2000);
    f.update("p", |p| p.metadata.resource_version = "2".into());
    assert_eq!((f.place("p").as_str(), f.queue.nominations().count()), ("active", 0));
}

#[test]
fn a_nomination_outlives_the_time_in_no_queue() {
    let mut f = Fixture::new();
    f.add_pod(&Fixture::object("p", 0, r#","status":{"nominatedNodeName":"n1"}"#));
    f.pop();
    f.leave("p", Place::Gone);
    assert_eq!(f.queue.nominations().count(), 1);
    f.world.refusals.insert(Fixture::key("p"), vec![Gates]);
    f.update("p", |p| p.metadata.resource_version = "2".into());
    assert_eq!(f.place("p"), "gated by SchedulingGates");
}

#[test]
fn an_event_that_nobody_registered_is_not_even_kept() {
    let mut f = Fixture::new();
    f.add("p", 0).pop();
    f.move_all(ClusterEvent::new(EventResource::Node, ActionType::UPDATE_NODE_CONDITION), "yes", None);
    assert_eq!(f.queue.in_flight.len(), 1, "the marker alone");
}
