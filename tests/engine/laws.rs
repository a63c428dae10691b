//! Laws for every cluster, independent of kube-scheduler's decision on it.
//!
//! The clusters are small and generated, the same ones each time. One test checks that they contain enough of each
//! case.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{RngSeed, TestRunner};
use schedscope::cluster::{Key, Object};
use schedscope::framework::{DryRunStep, Victim};
use schedscope::release::Emulation;
use schedscope::scheduler::{Config, Evictions, Operation, Options, Quiescence, Scheduler};
use schedscope::session::{Cursor, Session, Timeline};
use schedscope::trace::{CycleView, DryRunView, Event, Outcome, Place, PreemptionView, StepSize};
use serde_json::{Value, json};
use strum::IntoEnumIterator as _;

use crate::deciding::{decision, explained, scheduler};
use crate::dry::check_dry_decision;
use crate::histories::{Deed, apply, beginning, history};
use crate::worlds::{NodeSpec, World, object, world};

/// The same cases on every run; a failure is shrunk and printed, not stored in a file.
fn always_the_same(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(36), failure_persistence: None, ..ProptestConfig::default() }
}

fn start() -> Timestamp {
    "2026-11-20T00:00:00Z".parse().expect("a time")
}

fn waiting() -> Key {
    Key::new("a", "waiting")
}

fn decide(objects: Vec<Object>) -> Value {
    decision(&scheduler(objects, start()), &waiting())
}

fn view(world: &World) -> CycleView {
    explained(&scheduler(world.objects(), start()), &waiting())
}

/// Counts the reasons in the first sentence of a message, and the nodes it covers: `0/3 nodes are available: 2 x, 1 y.`
fn counts(message: &str) -> (usize, BTreeMap<String, usize>) {
    let (nodes, rest) = message.strip_prefix("0/").and_then(|m| m.split_once(" nodes are available: ")).expect("a message");
    let sentence = rest.split_once(". ").map_or(rest.trim_end_matches('.'), |(first, _)| first);
    let reasons = sentence.split(", ").map(|part| {
        let (count, reason) = part.split_once(' ').expect("a count");
        (reason.to_owned(), count.parse().expect("a count"))
    });
    (nodes.parse().expect("a number"), reasons.collect())
}

/// Returns the decision without the parts that an unusable node may change, and the message of the attempt. Its counts
/// of nodes are removed; its text about the chosen eviction stays.
fn without_node(mut decision: Value, node: &str) -> (Value, Vec<Value>, String) {
    let filter = decision["filter"].as_array().cloned().unwrap_or_default();
    let (own, others): (Vec<Value>, Vec<Value>) = filter.into_iter().partition(|v| v["node"] == node);
    decision["filter"] = json!(others);
    let message = decision["message"].as_str().unwrap_or_default().to_owned();
    decision["message"] = Value::Null;
    let remedy = decision["why"].as_str().and_then(|why| why.split_once("; ")).map(|(_, remedy)| remedy.to_owned());
    decision["why"] = json!(remedy.filter(|_| decision["preemption"]["selected"].is_string()));
    if decision["preemption"].is_object() {
        decision["preemption"]["status"] = Value::Null;
    }
    (decision, own, message)
}

/// A node that no pod can use, in no topology.
fn useless_node() -> Value {
    json!({
        "kind": "Node", "metadata": {"name": "useless", "uid": "useless"},
        "spec": {"taints": [{"key": "nobody", "effect": "NoExecute"}]},
        "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}}
    })
}

/// A node of a pool that the pending pod does not ask for, in its own zone.
fn other_pool() -> Value {
    let labels = json!({"kubernetes.io/hostname": "useless", "topology.kubernetes.io/zone": "zone-9", "pool": "other"});
    json!({
        "kind": "Node", "metadata": {"name": "useless", "uid": "useless", "labels": labels},
        "status": {"allocatable": {"cpu": "64", "memory": "64Gi", "pods": "110"}}
    })
}

/// Checks that one more rejected node leaves the decision the same.
fn check_one_more_node(before: Value, after: Value, plugin: &str) {
    let (mut before, _, text) = without_node(before, "useless");
    let (mut after, verdicts, more_text) = without_node(after, "useless");
    assert_eq!(verdicts.len(), 1);
    assert_eq!((&verdicts[0]["plugin"], &verdicts[0]["code"]), (&json!(plugin), &json!("UnschedulableAndUnresolvable")));
    let plugins = |decision: &mut Value| -> BTreeSet<String> {
        serde_json::from_value(std::mem::take(&mut decision["unschedulablePlugins"])).expect("names")
    };
    let (mut plugins_before, plugins_after) = (plugins(&mut before), plugins(&mut after));
    assert_eq!(before, after);
    if text.is_empty() {
        assert_eq!((more_text.as_str(), &plugins_before), ("", &plugins_after));
        return;
    }
    plugins_before.insert(plugin.to_owned());
    assert_eq!(plugins_before, plugins_after);
    let (nodes, mut reasons) = counts(&text);
    *reasons.entry(verdicts[0]["reasons"][0].as_str().expect("a reason").to_owned()).or_default() += 1;
    assert_eq!((nodes + 1, reasons), counts(&more_text));
}

proptest! {
    #![proptest_config(always_the_same(256))]

    #[test]
    fn a_decision_without_a_record_is_the_same(world in world(), nominated in proptest::option::of(any::<Index>())) {
        let mut objects = world.objects();
        if let (Some(node), Some(Object::Pod(pod))) = (nominated, objects.last_mut()) {
            Arc::make_mut(pod).status.nominated_node_name = format!("n{}", node.index(world.nodes.len())).into();
        }
        let scheduler = scheduler(objects, start());
        check_dry_decision(&scheduler, &scheduler.state().cluster().pods.get(&waiting()).expect("the pod").clone(), "world");
    }

    #[test]
    fn the_order_of_objects_never_changes_a_decision(
        (world, order) in world().prop_flat_map(|w| { let n = w.values().len(); (Just(w), Just((0..n).collect::<Vec<_>>()).prop_shuffle()) }),
    ) {
        let objects = world.objects();
        let shuffled = order.iter().map(|i| objects[*i].clone()).collect();
        prop_assert_eq!(decide(objects), decide(shuffled));
    }

    #[test]
    fn a_node_and_a_pod_that_have_nothing_to_do_with_the_pod_change_only_counts(world in world()) {
        let mut values = world.values();
        let before = decide(world.objects());
        values.push(useless_node());
        let with_node = decide(values.iter().map(object).collect());
        check_one_more_node(before.clone(), with_node.clone(), "TaintToleration");
        let stranger = json!({
            "kind": "Pod", "metadata": {"name": "stranger", "namespace": "elsewhere", "uid": "stranger", "labels": {"app": "app-0"}},
            "spec": {"nodeName": "useless", "priority": -1, "containers": [{"name": "c", "ports": [{"hostPort": 8080}]}]},
            "status": {"phase": "Running"}
        });
        values.push(stranger);
        prop_assert_eq!(decide(values.iter().map(object).collect()), with_node);
        if world.waiting.pool.is_some() {
            let mut values = world.values();
            values.push(other_pool());
            check_one_more_node(before, decide(values.iter().map(object).collect()), "NodeAffinity");
        }
    }

    /// Every step of every dry run matches a cluster in which exactly those pods are gone.
    #[test]
    fn a_dry_run_says_what_the_filters_say_of_such_a_cluster(world in world()) {
        let view = view(&world);
        let objects = world.objects();
        for run in view.preemption.iter().flat_map(PreemptionView::dry_runs) {
            let node = run.node();
            let mut gone: BTreeSet<Key> = BTreeSet::new();
            for step in run.steps() {
                let (fits, back) = match step {
                    DryRunStep::Removed(pod) => {
                        gone.insert(pod.key());
                        continue;
                    }
                    DryRunStep::Filtered(status) => (status.is_success(), None),
                    DryRunStep::Reprieved(victim) => (true, Some(victim)),
                    DryRunStep::NotReprieved(victim, _) => (false, Some(victim)),
                };
                if let Some(victim) = back {
                    gone.remove(&victim.key());
                }
                let left = objects.iter().filter(|o| !(matches!(o, Object::Pod(_)) && gone.contains(&o.key()))).cloned().collect();
                let now = explained(&scheduler(left, start()), &waiting());
                prop_assert_eq!(now.feasible().any(|n| n == node), fits, "{} without {:?}", node, gone);
                if let (Some(victim), false) = (back, fits) {
                    gone.insert(victim.key());
                }
            }
            let victims: BTreeSet<Key> = run.candidate().into_iter().flat_map(|c| &c.victims).map(Victim::key).collect();
            if run.status().is_some_and(schedscope::framework::Status::is_success) {
                prop_assert_eq!(gone, victims, "whoever is not back is a victim");
            }
        }
    }

    #[test]
    fn budgets_cover_the_most_important_pods_as_far_as_they_allow(world in world()) {
        for run in view(&world).preemption.iter().flat_map(PreemptionView::dry_runs) {
            check_budgets(&world, run);
        }
        for candidate in view(&world).preemption.iter().flat_map(PreemptionView::candidates) {
            let violating = candidate.victims.iter().filter(|v| v.violates_any()).count();
            prop_assert_eq!(candidate.pdb_violations, i64::try_from(violating).expect("few"));
            prop_assert!(candidate.victims.is_sorted_by_key(importance));
        }
    }
}

/// Sort key: the more important pod first.
fn importance(victim: &Victim) -> (Reverse<i32>, Option<i64>) {
    (Reverse(victim.priority()), victim.start_time())
}

/// Recounts each budget over the removed pods, and compares the order of reprieves.
fn check_budgets(world: &World, run: DryRunView<'_>) {
    let put_back: Vec<&Victim> = run.steps().filter_map(DryRunStep::put_back).collect();
    let mut by_importance = put_back.clone();
    by_importance.sort_by_key(|v| importance(v));
    let mut left: Vec<i32> = world.budgets.iter().map(|b| b.allowed).collect();
    let (mut violating, mut others) = (Vec::new(), Vec::new());
    for victim in by_importance {
        let (spec, _, b) = &world.pods[victim.key().name[1..].parse::<usize>().expect("a number")];
        let mut violated = Vec::new();
        for (i, budget) in world.budgets.iter().enumerate().filter(|(_, u)| u.namespace == *b && u.app == spec.app) {
            if left[i] <= 0 {
                violated.push((format!("budget-{i}"), budget.allowed, left[i]));
            }
            left[i] -= 1;
        }
        let own: Vec<_> = victim.violates().map(|v| (v.budget.to_string(), v.allowed, v.left)).collect();
        assert_eq!(own, violated, "{}", victim.key());
        if violated.is_empty() { others.push(victim.key()) } else { violating.push(victim.key()) }
    }
    violating.extend(others);
    assert_eq!(put_back.iter().map(|v| v.key()).collect::<Vec<_>>(), violating, "whoever would violate a budget comes back first");
}

/// A law about a case that never occurs proves nothing.
#[test]
fn the_worlds_hold_enough_of_everything() {
    let seen = std::cell::RefCell::new(BTreeMap::<&str, usize>::new());
    let outcome = TestRunner::new(always_the_same(256)).run(&world(), |world| {
        let (view, mut seen) = (view(&world), seen.borrow_mut());
        let mut count = |what, yes: bool| *seen.entry(what).or_default() += usize::from(yes);
        count("scheduled", view.outcome == Some(Outcome::Scheduled));
        count("several feasible nodes", view.scoring.scores.len() > 1);
        count("unschedulable", view.outcome == Some(Outcome::Unschedulable));
        let Some(preemption) = &view.preemption else { return Ok(()) };
        let steps: Vec<DryRunStep<'_>> = preemption.dry_runs().flat_map(DryRunView::steps).collect();
        count("a candidate", preemption.candidate_count() > 0);
        count("several candidates", preemption.candidate_count() > 1);
        count("several victims", preemption.candidates().any(|c| c.victims.len() > 1));
        count("a violation", preemption.candidates().any(|c| c.pdb_violations > 0));
        count("a reprieve", steps.iter().any(|s| matches!(s, DryRunStep::Reprieved(_))));
        count("a reprieve under a budget", steps.iter().any(|s| matches!(s, DryRunStep::Reprieved(v) if v.violates_any())));
        let because =
            |text: &str| steps.iter().any(|s| matches!(s, DryRunStep::NotReprieved(_, status) if status.message().contains(text)));
        count("condemned for cpu", because("Insufficient cpu"));
        count("condemned for a port", because("free ports"));
        count("condemned for anti-affinity", because("anti-affinity"));
        count("condemned for spreading", because("topology spread"));
        count("in vain", steps.iter().any(|s| matches!(s, DryRunStep::Filtered(status) if !status.is_success())));
        Ok(())
    });
    outcome.expect("counting cannot fail");
    let seen = seen.into_inner();
    println!("{seen:#?}");
    assert_eq!(seen.len(), 14);
    assert!(seen.values().all(|times| *times >= 2), "{seen:?}");
}

/// Plays a history from its start; returns the events.
fn play(nodes: &[NodeSpec], deeds: &[Deed]) -> (Scheduler, Vec<Event>) {
    let mut scheduler = scheduler(beginning(nodes), start());
    let mut events = Vec::new();
    for (number, deed) in deeds.iter().enumerate() {
        events.extend(apply(&mut scheduler, deed, number));
    }
    (scheduler, events)
}

#[test]
fn the_histories_hold_enough_of_everything() {
    let seen = std::cell::RefCell::new(BTreeMap::<&str, usize>::new());
    let outcome = TestRunner::new(always_the_same(96)).run(&history(), |(nodes, deeds)| {
        let (mut seen, events) = (seen.borrow_mut(), play(&nodes, &deeds).1);
        let mut count = |what, is: fn(&Event) -> bool| *seen.entry(what).or_default() += usize::from(events.iter().any(is));
        count("bound", |e| matches!(e, Event::PodBound { .. }));
        count("nominated", |e| matches!(e, Event::PodNominated { node, .. } if !node.is_empty()));
        count("evicted", |e| matches!(e, Event::VictimEvicted { .. }));
        count("nomination cleared", |e| matches!(e, Event::NominationCleared { .. }));
        count("the nominated node tried", |e| matches!(e, Event::NominatedNodeTried { .. }));
        count("to activeQ", |e| matches!(e, Event::QueueMoved(m) if m.from.is_some() && m.to == Place::Active));
        count("to backoffQ", |e| matches!(e, Event::QueueMoved(m) if matches!(m.to, Place::Backoff { .. })));
        count("parked", |e| matches!(e, Event::QueueMoved(m) if matches!(m.to, Place::Unschedulable { .. })));
        count("gone", |e| matches!(e, Event::QueueMoved(m) if m.to == Place::Gone));
        count("popped early", |e| matches!(e, Event::PodPopped { early_from_backoff: true, .. }));
        Ok(())
    });
    outcome.expect("counting cannot fail");
    let seen = seen.into_inner();
    println!("{seen:#?}");
    assert_eq!(seen.len(), 10);
    assert!(seen.values().all(|times| *times >= 2), "{seen:?}");
}

/// Plays a history in a session, and explains a pod now and then.
fn session(nodes: &[NodeSpec], deeds: &[Deed]) -> Session {
    let mut session = Session::new(scheduler(beginning(nodes), start()), "a history");
    for (number, deed) in deeds.iter().enumerate() {
        for operation in deed.operations(session.scheduler(), number) {
            session.apply(operation);
            session.timeline_mut().seek(END);
        }
        let first = session.scheduler().state().cluster().pods.iter().next().map(|p| p.key());
        if let Some(pod) = first.filter(|_| number % 7 == 0) {
            session.explain(&pod);
            session.timeline_mut().seek(END);
        }
    }
    session.timeline_mut().seek(Cursor::default());
    session
}

/// Beyond the end of every record.
const END: Cursor = Cursor { revision: usize::MAX, event: usize::MAX };

/// A way to move the cursor.
#[derive(Clone, Debug)]
enum Move {
    Forward(StepSize),
    Back(StepSize),
    Seek(Index, Index),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let by = || proptest::sample::select(StepSize::iter().collect::<Vec<_>>());
    let one = prop_oneof![
        4 => by().prop_map(Move::Forward),
        3 => by().prop_map(Move::Back),
        1 => (any::<Index>(), any::<Index>()).prop_map(|(revision, event)| Move::Seek(revision, event)),
    ];
    proptest::collection::vec(one, 1..60)
}

/// Checks that both show the same cursor, cycle, queues and state.
fn check_same(a: &Timeline, b: &Timeline) {
    assert_eq!((a.cursor(), a.cycle(), a.queues()), (b.cursor(), b.cycle(), b.queues()));
    let (one, other) = (a.keyframe(), b.keyframe());
    assert_eq!((&one.cluster, &one.queues, one.clock), (&other.cluster, &other.queues, other.clock));
    assert_eq!(one.snapshot.nodes(), other.snapshot.nodes());
}

proptest! {
    #![proptest_config(always_the_same(96))]

    /// [`apply`] checks the invariants after each operation.
    #[test]
    fn every_pod_is_in_one_place_and_the_same_history_repeats((nodes, deeds) in history()) {
        let (first, events) = play(&nodes, &deeds);
        let (second, again) = play(&nodes, &deeds);
        prop_assert_eq!(events, again);
        prop_assert_eq!(first.state().queue().view(), second.state().queue().view());
        prop_assert_eq!(first.state().cluster(), second.state().cluster());
    }
}

/// Whether a pod moved or an object changed; clock events do not count.
fn does_something(events: &[Event]) -> bool {
    events.iter().any(|e| !matches!(e, Event::ClockMoved { .. }))
}

proptest! {
    #![proptest_config(always_the_same(48))]

    /// After any history, with grace periods that end by themselves: every timer fires at its predicted time, not
    /// earlier, and the run settles.
    #[test]
    fn time_does_what_is_foretold_and_every_run_comes_to_rest((nodes, deeds) in history()) {
        let options = Options { start: start(), evictions: Evictions::AfterGracePeriod, ..Options::default() };
        let mut scheduler = Scheduler::new(Config::defaults(Emulation::default()), beginning(&nodes), options);
        for (number, deed) in deeds.iter().enumerate() {
            apply(&mut scheduler, deed, number);
        }
        let (mut settling, mut operations) = (Quiescence::default(), 0);
        while let Some(operation) = scheduler.next_operation(&settling) {
            if let (Operation::AdvanceTo { time }, Some(next)) = (&operation, scheduler.next_timer()) {
                prop_assert_eq!(*time, next.time);
                let just_before = *time - jiff::SignedDuration::from_nanos(1);
                prop_assert!(!does_something(&scheduler.clone().apply(Operation::AdvanceTo { time: just_before })), "{}", next);
                prop_assert!(does_something(&scheduler.clone().apply(operation.clone())), "{}", next);
            }
            let mut view = scheduler.state().queue().view().clone();
            let events = scheduler.apply(operation);
            for event in &events {
                view.apply(event);
            }
            prop_assert_eq!(&view, scheduler.state().queue().view());
            settling.observe(&events);
            operations += 1;
            prop_assert!(operations < 5000, "no end");
        }
        let terminating = scheduler.state().cluster().pods.iter().filter(|p| p.is_terminating() && !p.node_name.is_empty()).count();
        prop_assert_eq!(terminating, 0);
        prop_assert!(!scheduler.state().queue().active_pods().any(|p| p.attempts == 0), "every pod was tried");
    }
}

proptest! {
    #![proptest_config(always_the_same(32))]

    #[test]
    fn any_walk_shows_what_going_there_directly_shows((nodes, deeds) in history(), moves in moves()) {
        let from_the_start = session(&nodes, &deeds).timeline().clone();
        let mut walker = from_the_start.clone();
        for step in moves {
            match step {
                Move::Forward(by) => drop(walker.forward(by)),
                Move::Back(by) => drop(walker.back(by)),
                Move::Seek(..) if walker.revisions().is_empty() => {}
                Move::Seek(revision, event) => {
                    let revision = revision.index(walker.revisions().len());
                    walker.seek(Cursor { revision, event: event.index(walker.revisions()[revision].events.len() + 1) });
                }
            }
            let mut direct = from_the_start.clone();
            direct.seek(walker.cursor());
            check_same(&walker, &direct);
        }
    }

    /// From a position where a step of this size ends, forward and back returns there; from the end, going back
    /// retraces the positions.
    #[test]
    fn back_undoes_forward((nodes, deeds) in history()) {
        let session = session(&nodes, &deeds);
        for by in StepSize::iter() {
            let mut timeline = session.timeline().clone();
            let mut way = vec![timeline.cursor()];
            while timeline.forward(by) {
                let here = timeline.clone();
                prop_assert!(timeline.back(by));
                prop_assert_eq!(Some(&timeline.cursor()), way.last());
                prop_assert!(timeline.forward(by));
                check_same(&timeline, &here);
                way.push(timeline.cursor());
            }
            prop_assert!(timeline.at_end());
            prop_assert!(way.is_sorted());
            while timeline.back(by) {
                way.pop();
                prop_assert_eq!(Some(&timeline.cursor()), way.last());
            }
            prop_assert!(timeline.at_start() && way.len() == 1);
        }
    }

    /// The events of a revision lead from the state before it to the state after it, and each revision starts where the
    /// last ended.
    #[test]
    fn frames_join((nodes, deeds) in history()) {
        let mut session = session(&nodes, &deeds);
        let (end, revisions) = (session.scheduler().state().queue().view().clone(), session.timeline().revisions().to_vec());
        let timeline = session.timeline_mut();
        for (revision, pair) in revisions.iter().enumerate() {
            timeline.seek(Cursor { revision, event: pair.events.len() });
            prop_assert_eq!(timeline.queues(), &pair.after.queues);
            prop_assert!(pair.before.clock <= pair.after.clock);
            if let Some(next) = revisions.get(revision + 1) {
                prop_assert_eq!(&pair.after.queues, &next.before.queues);
                prop_assert!(pair.after.clock <= next.before.clock);
            }
        }
        prop_assert!(revisions.is_empty() || timeline.at_end());
        prop_assert_eq!(timeline.queues(), &end);
    }
}
