//! Decisions compared with the messages of the cluster's own scheduler: on the real cluster of the embedded stories,
//! and with altered messages.

use proptest::prelude::*;
use schedscope::analysis::{Agreements, MatchKind, SchedulerMatch};
use schedscope::cluster::{Key, Object, ObservedEvent};
use schedscope::release::{Emulation, FoundVersion, ReleaseChoice, VersionSource};
use schedscope::scheduler::{Config, InitialQueues, Options, Rejectors, Scheduler};
use schedscope::source::{Story, load};

/// Compares on the cluster as its scheduler left it, altered by `change`.
fn agreements(change: impl FnOnce(&mut Vec<serde_json::Value>, &mut Vec<ObservedEvent>)) -> Agreements {
    let mut loaded = load(&[Story::named("aftermath").expect("a story").input()]);
    let mut values: Vec<serde_json::Value> = loaded.objects.iter().map(|o| serde_json::to_value(o).expect("JSON")).collect();
    change(&mut values, &mut loaded.events);
    let objects: Vec<Object> = values.into_iter().map(|v| serde_json::from_value(v).expect("an object")).collect();
    let start = loaded.report.newest.expect("times");
    let options = Options { start, queues: InitialQueues::AsObserved, events: loaded.events.clone(), ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, options);
    Agreements::of(&scheduler, &loaded.events, Vec::new(), |_| true, |_| true)
}

/// Compares the decision about a pod that fits nowhere with `message`, written by the scheduler of a cluster of release
/// `cluster`, while `wanted` is emulated. The pod does not tolerate the node's taint or, when `big`, requests more than
/// the node has.
fn written_by(wanted: Option<&str>, cluster: Option<&str>, message: &str, big: bool) -> SchedulerMatch {
    let more = if big {
        r#""tolerations": [{"operator": "Exists"}], "containers": [{"name": "c", "resources": {"requests": {"cpu": "8"}}}]"#
    } else {
        r#""containers": [{"name": "c"}]"#
    };
    let text = format!(
        r#"[{{"kind": "Node", "metadata": {{"name": "n", "creationTimestamp": "2026-11-20T00:00:00Z"}},
             "spec": {{"taints": [{{"key": "k", "value": "v", "effect": "NoSchedule"}}]}},
             "status": {{"allocatable": {{"cpu": "2", "pods": "9"}}}}}},
            {{"kind": "Pod", "metadata": {{"name": "p", "namespace": "a", "uid": "p", "creationTimestamp": "2026-11-20T00:00:00Z"}},
             "spec": {{"schedulerName": "default-scheduler", {more}}},
             "status": {{"conditions": [{{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": {message:?},
              "lastTransitionTime": "2026-11-20T01:00:00Z"}}]}}}}]"#
    );
    let objects: Vec<Object> = serde_json::from_str(&text).expect("objects");
    let found = |version: &str| FoundVersion { release: version.parse().expect("a release"), source: VersionSource::Server };
    let release = ReleaseChoice { wanted: wanted.map(found), cluster: cluster.map(found) };
    let scheduler =
        Scheduler::new(Config::defaults(Emulation::from(release.profile())), objects, Options { release, ..Options::default() });
    let found = Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true);
    of(&found, "a/p").clone()
}

fn of<'a>(found: &'a Agreements, pod: &str) -> &'a SchedulerMatch {
    let (namespace, name) = pod.split_once('/').expect("a name");
    let key = Key::new(namespace, name);
    found.pods.iter().find(|a| a.pod == key).unwrap_or_else(|| panic!("{pod}"))
}

/// Returns the condition of a pod about its last attempt.
fn condition<'a>(objects: &'a mut [serde_json::Value], pod: &str) -> &'a mut serde_json::Value {
    let (namespace, name) = pod.split_once('/').expect("a name");
    let found = objects.iter_mut().find(|o| o["kind"] == "Pod" && o["metadata"]["namespace"] == namespace && o["metadata"]["name"] == name);
    let conditions = found.unwrap_or_else(|| panic!("{pod}"))["status"]["conditions"].as_array_mut().expect("conditions");
    conditions.iter_mut().find(|c| c["type"] == "PodScheduled").expect("PodScheduled")
}

/// Every pod of the cluster agrees, or differs because of later changes: the preemptions at the end of the scheduler's
/// run came after its decision.
#[test]
fn nothing_is_unexplained_on_the_real_cluster() {
    let found = agreements(|_, _| {});
    let counts: Vec<(MatchKind, usize)> = found.counts();
    assert_eq!(counts, [(MatchKind::ChangedSince, 5), (MatchKind::Same, 8), (MatchKind::NotOurs, 1)], "{}", found.text());
    let payments = of(&found, "shop/payments");
    assert_eq!(payments.accord, MatchKind::Same);
    assert_eq!(
        payments.other_words,
        [
            "it is nominated to worker-a2, and its victims are still terminating: batch/reports-646f8d7fc5-zgcpb, batch/reports-646f8d7fc5-kdjfj"
        ]
    );
    let spread = of(&found, "shop/spread-85969bc548-zhslg");
    assert_eq!(spread.differences[0], "Insufficient cpu: the scheduler said 7 nodes, schedscope says 8 nodes");
    // A pod that terminates still holds its room, so that only the nominations take some away.
    assert!(spread.since.iter().any(|line| line.starts_with("3 other pods were nominated since: ")), "{:?}", spread.since);
    assert!(spread.since.iter().all(|line| !line.contains("terminating")), "{:?}", spread.since);
}

/// Evictions are those of the pods asked about, the newest few, and the rest is counted.
#[test]
fn only_evictions_of_the_pods_asked_about_are_named() {
    let text = |namespace: &str, more: usize| {
        let loaded = load(&[Story::named("aftermath").expect("a story").input()]);
        let mut events = loaded.events.clone();
        let eviction = events.iter().find(|e| e.reason == "Preempted").expect("an eviction").clone();
        let gone = |i| ObservedEvent { pod: Key::new("batch", format!("gone-{i}").as_str()), uid: "".into(), ..eviction.clone() };
        events.extend((0..more).map(gone));
        let options = Options { start: loaded.report.newest.expect("times"), ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), options);
        Agreements::of(&scheduler, &events, Vec::new(), |key| key.namespace == namespace, |_| true).text().to_string()
    };
    assert!(!text("ml", 0).contains("Who was evicted"), "{}", text("ml", 0));
    let shop = text("shop", 20);
    let evictions: Vec<&str> = shop.lines().skip_while(|line| !line.starts_with("Who was evicted")).skip(1).collect();
    assert_eq!((evictions.len(), evictions[0]), (9, "  17 earlier evictions (-o json lists all)"), "{shop}");
}

/// The events name the preemptors by uid alone.
#[test]
fn who_was_evicted_for_whom_is_found_in_name() {
    let found = agreements(|_, _| {});
    let sentences: Vec<String> = found
        .preempted
        .iter()
        .map(|p| format!("{} on {} for {}", p.victim.name, p.node, p.preemptor.as_ref().map_or("?", |k| k.name.as_str())))
        .collect();
    assert_eq!(
        sentences,
        [
            "reports-646f8d7fc5-zgcpb on worker-a2 for payments",
            "reports-646f8d7fc5-kdjfj on worker-a2 for payments",
            "reports-646f8d7fc5-kp8hp on worker-c2 for spread-85969bc548-xtc2r",
            "reports-646f8d7fc5-c6cvk on worker-c1 for spread-85969bc548-7z2j5",
            "reports-646f8d7fc5-bzpz7 on worker-c1 for spread-85969bc548-7z2j5",
        ]
    );
    assert!(found.preempted.iter().all(|p| p.going));
}

#[test]
fn without_events_conditions_still_tell() {
    let found = agreements(|_, events| events.clear());
    assert_eq!(of(&found, "batch/too-big").accord, MatchKind::Same);
    assert_eq!(found.preempted.len(), 5);
    assert!(found.preempted.iter().all(|p| p.preemptor.is_none() && p.by.is_empty() && !p.node.is_empty()), "{:?}", found.preempted);
}

#[test]
fn events_of_old_versions_name_the_preemptor() {
    let found = agreements(|_, events| {
        for event in events.iter_mut().filter(|e| e.reason == "Preempted") {
            event.note = "Preempted by shop/payments on node worker-a2".to_owned();
        }
    });
    assert!(found.preempted.iter().all(|p| p.preemptor == Some(Key::new("shop", "payments"))), "{:?}", found.preempted);
}

/// Differences: other versions, other reasons, or no message at all.
#[test]
fn what_differs_is_spelled_out() {
    let with = |pod: &str, text: &str, at: &str| {
        let found = agreements(|objects, events| {
            let condition = condition(objects, pod);
            condition["message"] = text.into();
            condition["lastTransitionTime"] = at.into();
            events.clear();
        });
        of(&found, pod).clone()
    };
    let late = "2027-01-01T00:00:00Z";
    let named = "0/12 nodes are available: 1 node(s) were unschedulable, 1 node(s) had untolerated taint {a: b}, 2 node(s) had \
                 untolerated taint {nvidia.com/gpu: present}, 8 Insufficient cpu. preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.";
    let same = with("batch/too-big", named, late);
    assert_eq!(
        (same.accord, same.other_words),
        (MatchKind::Same, vec!["the cluster's scheduler names taints, as older versions do".to_owned()])
    );

    let fewer = "0/11 nodes are available: 3 node(s) had untolerated taint(s), 8 Insufficient memory.";
    let other = with("batch/too-big", fewer, late);
    assert_eq!(other.accord, MatchKind::Unexplained);
    assert_eq!(
        other.differences,
        [
            "total nodes: the scheduler said 11, schedscope says 12",
            "Insufficient cpu: not reported by the scheduler, schedscope says 8 nodes",
            "Insufficient memory: the scheduler said 8 nodes, not reported by schedscope",
            "node(s) were unschedulable: not reported by the scheduler, schedscope says 1 node",
            "preemption: the scheduler said nothing (as when preemption succeeds), schedscope says 12 Preemption is not helpful for scheduling",
        ]
    );
    // The same difference, written before anything happened in the cluster: no later change took memory away, or made a node.
    assert_eq!(with("batch/too-big", fewer, "2026-11-20T18:26:11Z").accord, MatchKind::Unexplained);

    let strange = with("batch/too-big", "running PreBind plugin \"X\": no", late);
    assert_eq!(strange.accord, MatchKind::Unexplained);
    assert!(strange.differences[0].starts_with("the messages differ: "), "{:?}", strange.differences);
}

#[test]
fn another_nomination_is_a_difference() {
    let found = agreements(|objects, events| {
        // Before the first eviction: no nomination, and no terminating pod.
        events.retain(|e| e.reason != "Preempted");
        for object in objects.iter_mut().filter(|o| o["kind"] == "Pod") {
            object["metadata"].as_object_mut().expect("an object").remove("deletionTimestamp");
            object["status"].as_object_mut().expect("an object").remove("nominatedNodeName");
        }
        let condition = condition(objects, "shop/payments");
        condition["lastTransitionTime"] = "2027-01-01T00:00:00Z".into();
    });
    let payments = of(&found, "shop/payments");
    assert_eq!(payments.accord, MatchKind::Unexplained, "{payments:?}");
    assert!(payments.differences[0].contains("the scheduler nominated it to no node"), "{:?}", payments.differences);
}

/// Victims that are gone leave only the events about them.
#[test]
fn evictions_explain_even_when_the_victims_are_gone() {
    let only_evictions = |keep_events: bool| {
        let found = agreements(|objects, events| {
            objects.retain(|o| o["kind"] != "Pod" || o["metadata"].get("deletionTimestamp").is_none());
            // Remove all other evidence of changes.
            for object in objects.iter_mut().filter(|o| o["kind"] == "Pod") {
                object["metadata"]["creationTimestamp"] = "2026-11-20T18:00:00Z".into();
                if let Some(status) = object["status"].as_object_mut() {
                    status.remove("startTime");
                    status.remove("nominatedNodeName");
                }
            }
            events.retain(|e| keep_events && e.reason == "Preempted" || e.reason == "FailedScheduling");
        });
        of(&found, "shop/spread-85969bc548-zhslg").clone()
    };
    let found = only_evictions(true);
    assert_eq!(found.accord, MatchKind::ChangedSince, "{found:?}");
    assert!(found.since[0].starts_with("5 pods were evicted since: "), "{:?}", found.since);
    assert_eq!(only_evictions(false).accord, MatchKind::Unexplained);
}

/// A preemptor waiting for its victims gets the same message at every attempt.
#[test]
fn a_preemptor_that_waits_for_its_victims_agrees_word_for_word() {
    let here = of(&agreements(|_, _| {}), "shop/payments").message.clone();
    assert!(here.contains("not eligible due to"), "{here}");
    let found = agreements(|objects, events| {
        let condition = condition(objects, "shop/payments");
        condition["message"] = here.as_str().into();
        // Nothing happened after the message.
        condition["lastTransitionTime"] = "2027-01-01T00:00:00Z".into();
        events.retain(|e| e.reason != "FailedScheduling");
    });
    let payments = of(&found, "shop/payments");
    assert_eq!((payments.accord, payments.differences.len()), (MatchKind::Same, 0), "{payments:?}");
}

/// A later change of the node that differs explains the difference; a change of another one does not.
#[test]
fn a_later_change_explains_only_its_own_node() {
    let at = "2027-01-01T00:00:00Z";
    let before = "0/12 nodes are available: 3 node(s) had untolerated taint(s), 9 Insufficient cpu. no new claims to deallocate, preemption: 0/12 nodes are available: 12 Preemption is not helpful for scheduling.";
    let with = |node: &str, managed: serde_json::Value| {
        let found = agreements(|objects, events| {
            let condition = condition(objects, "batch/too-big");
            condition["message"] = before.into();
            condition["lastTransitionTime"] = at.into();
            events.clear();
            let node = objects.iter_mut().find(|o| o["kind"] == "Node" && o["metadata"]["name"] == node).expect("a node");
            node["metadata"]["managedFields"] = managed.clone();
        });
        let found = of(&found, "batch/too-big");
        (found.accord, found.since.clone())
    };
    let entry = |time: &str, fields: serde_json::Value| serde_json::json!([{"manager": "x", "time": time, "fieldsV1": fields}]);
    let cordoned = serde_json::json!({"f:spec": {"f:unschedulable": {}}});
    let (late, early) = ("2027-01-01T00:00:05Z", "2026-12-01T00:00:00Z");
    assert_eq!(with("worker-c3", entry(early, cordoned.clone())).0, MatchKind::Unexplained);
    assert_eq!(with("worker-a1", entry(late, cordoned.clone())).0, MatchKind::Unexplained, "another node");
    let (accord, since) = with("worker-c3", entry(late, cordoned));
    assert_eq!((accord, since), (MatchKind::ChangedSince, vec!["1 object was changed since: Node worker-c3".to_owned()]));
    // A heartbeat changes nothing relevant, and an entry without a time proves nothing.
    assert_eq!(with("worker-c3", entry(late, serde_json::json!({"f:status": {"f:conditions": {}}}))).0, MatchKind::Unexplained);
    assert_eq!(with("worker-c3", entry("soon", serde_json::json!({"f:spec": {}}))).0, MatchKind::Unexplained);
}

/// A change of a small cluster after its scheduler's attempt.
#[derive(Clone, Copy, Debug)]
enum Later {
    /// A pod is bound to a node.
    Bound(usize),
    /// A pod of at least the same priority is nominated to a node.
    Nominated(usize),
    /// A pod of a node is evicted and gone, and an Event says so.
    Evicted(usize),
    /// A node is created.
    Node,
    /// A node is cordoned, or made schedulable.
    Cordoned(usize),
    /// A budget is created.
    Budget,
    /// A pod of a node is gone, and nothing shows it.
    Vanished(usize),
}

/// The time of the attempt, and a later one.
const ATTEMPT: &str = "2026-11-20T01:00:00Z";
const LATER: &str = "2026-11-20T01:05:00Z";

fn node(name: &str, created: &str, cordoned: bool) -> serde_json::Value {
    serde_json::json!({"kind": "Node", "metadata": {"name": name, "creationTimestamp": created}, "spec": {"unschedulable": cordoned},
        "status": {"allocatable": {"cpu": "4", "pods": "20"}}})
}

fn pod(name: &str, cpu: u32, node: &str, started: &str) -> serde_json::Value {
    serde_json::json!({"kind": "Pod", "metadata": {"name": name, "namespace": "a", "uid": name, "creationTimestamp": "2026-11-20T00:00:00Z"},
        "spec": {"schedulerName": "default-scheduler", "nodeName": node, "priority": 9,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu.to_string()}}}]},
        "status": {"startTime": started}})
}

/// Returns the comparison of the pod that waits on three nodes with two pods each, after its attempt and later changes; `None` if it
/// fits from the start. Also returns the nodes on which the changes gave room.
fn after(cpu: [u32; 6], cordoned: [bool; 3], later: &[Later]) -> Option<(SchedulerMatch, Vec<String>)> {
    let early = "2026-11-20T00:00:00Z";
    let mut objects: Vec<serde_json::Value> = (0..3).map(|n| node(&format!("n{n}"), early, cordoned[n])).collect();
    objects.extend(cpu.iter().enumerate().map(|(i, cpu)| pod(&format!("p{i}"), *cpu, &format!("n{}", i / 2), early)));
    let mut waits = pod("waits", 2, "", early);
    waits["spec"]["priority"] = 5.into();
    waits["status"] = serde_json::json!({});
    let decide = |objects: &[serde_json::Value], events: &[ObservedEvent], waits: &serde_json::Value| {
        let all = objects.iter().chain([waits]).map(|o| serde_json::from_value(o.clone()).expect("an object")).collect();
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), all, Options::default());
        of(&Agreements::of(&scheduler, events, Vec::new(), |_| true, |_| true), "a/waits").clone()
    };
    let there = decide(&objects, &[], &waits).message;
    if there.is_empty() {
        return None;
    }
    waits["status"] = serde_json::json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": there, "lastTransitionTime": ATTEMPT}]});
    let (mut events, mut opened) = (Vec::new(), Vec::new());
    for (i, change) in later.iter().enumerate() {
        let remove = |objects: &mut Vec<serde_json::Value>, n: usize| {
            let at = objects.iter().position(|o| o["kind"] == "Pod" && o["spec"]["nodeName"] == format!("n{n}"))?;
            Some(objects.remove(at)["metadata"]["name"].as_str().expect("a name").to_owned())
        };
        match *change {
            Later::Bound(n) => objects.push(pod(&format!("new{i}"), 1, &format!("n{n}"), LATER)),
            Later::Nominated(n) => {
                let mut other = pod(&format!("new{i}"), 1, "", LATER);
                other["status"] = serde_json::json!({"nominatedNodeName": format!("n{n}"), "conditions": [{"type": "PodScheduled",
                    "status": "False", "reason": "Unschedulable", "message": "x", "lastTransitionTime": LATER}]});
                objects.push(other);
            }
            Later::Evicted(n) => {
                let Some(name) = remove(&mut objects, n) else { continue };
                opened.push(format!("n{n}"));
                events.push(ObservedEvent {
                    pod: Key::new("a", name.as_str()),
                    reason: "Preempted".into(),
                    note: format!("Preempted by pod x on node n{n}"),
                    last: LATER.parse().ok(),
                    ..ObservedEvent::default()
                });
            }
            Later::Node => {
                opened.push(format!("new{i}"));
                objects.push(node(&format!("new{i}"), LATER, false));
            }
            Later::Cordoned(n) => {
                objects[n]["spec"]["unschedulable"] = (objects[n]["spec"]["unschedulable"] != true).into();
                objects[n]["metadata"]["managedFields"] = serde_json::json!([{"time": LATER, "fieldsV1": {"f:spec": {}}}]);
                opened.push(format!("n{n}"));
            }
            Later::Budget => objects.push(serde_json::json!({"kind": "PodDisruptionBudget",
                "metadata": {"name": format!("b{i}"), "namespace": "a", "creationTimestamp": LATER}})),
            Later::Vanished(n) => drop(remove(&mut objects, n)),
        }
    }
    Some((decide(&objects, &events, &waits), opened))
}

fn laters() -> impl Strategy<Value = Vec<Later>> {
    let one = (0_u8..7, 0_usize..3).prop_map(|(kind, n)| match kind {
        0 => Later::Bound(n),
        1 => Later::Nominated(n),
        2 => Later::Evicted(n),
        3 => Later::Node,
        4 => Later::Cordoned(n),
        5 => Later::Budget,
        _ => Later::Vanished(n),
    });
    proptest::collection::vec(one, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Only a change of the right direction on the right node explains; and where every change shows, all is explained.
    #[test]
    fn what_is_explained_has_a_change_of_the_right_direction(
        cpu in proptest::array::uniform6(1_u32..3),
        cordoned in proptest::array::uniform3(proptest::bool::weighted(0.2)),
        later in laters(),
    ) {
        let Some((found, opened)) = after(cpu, cordoned, &later) else { return Ok(()) };
        let shows = |change: &Later| !matches!(change, Later::Vanished(_));
        if later.iter().all(shows) {
            prop_assert_ne!(found.accord, MatchKind::Unexplained, "{:?}", found);
        }
        if found.accord == MatchKind::ChangedSince {
            prop_assert!(!found.since.is_empty());
            prop_assert!(later.iter().any(|change| shows(change) && !matches!(change, Later::Budget)), "{:?}", found);
        }
        if found.outcome == Some(schedscope::trace::Outcome::Scheduled) && found.accord == MatchKind::ChangedSince {
            prop_assert!(opened.iter().any(|node| found.differences[0].ends_with(&format!(" {node}"))), "{:?}", found);
            prop_assert!(found.since.iter().all(|line| !line.contains("bound") && !line.contains("nominated")), "{:?}", found.since);
        }
    }
}

/// A binding takes room away, and so it is no reason why a pod fits.
#[test]
fn a_binding_does_not_explain_that_a_pod_fits() {
    let full = [2, 2, 2, 2, 2, 2];
    let (found, _) = after(full, [false; 3], &[Later::Vanished(0), Later::Bound(1)]).expect("it waits");
    assert_eq!((found.accord, found.since.len()), (MatchKind::Unexplained, 0), "{found:?}");
    let (found, _) = after(full, [false; 3], &[Later::Evicted(0), Later::Bound(1)]).expect("it waits");
    assert_eq!((found.accord, &found.since[..]), (MatchKind::ChangedSince, &["1 pod was evicted since: a/p0".to_owned()][..]));
    // An eviction on one node explains that one node is free, and not that two are.
    let (found, _) = after(full, [false; 3], &[Later::Evicted(0), Later::Vanished(1)]).expect("it waits");
    assert_eq!(found.accord, MatchKind::Unexplained, "{found:?}");
    // Another pod is nominated: the room is gone again.
    let (found, _) = after([1, 1, 2, 2, 2, 2], [true, false, false], &[Later::Cordoned(0), Later::Nominated(0)]).expect("it waits");
    assert_eq!(found.accord, MatchKind::ChangedSince, "{found:?}");
}

/// A time before the attempt.
const EARLY: &str = "2026-11-20T00:00:00Z";

/// Compares a pod that asks for 3 of the 4 cpu of two nodes, with these other objects, after an attempt with this message.
fn of_two_nodes(message: &str, others: &[serde_json::Value]) -> SchedulerMatch {
    of_pod_and(&of_two_nodes_pod(message), others)
}

fn of_two_nodes_pod(message: &str) -> serde_json::Value {
    serde_json::json!({"kind": "Pod", "metadata": {"name": "x", "namespace": "a", "uid": "x", "creationTimestamp": EARLY},
        "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "app", "resources": {"requests": {"cpu": "3"}}}]},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
            "lastTransitionTime": ATTEMPT}]}})
}

fn of_pod_and(pending: &serde_json::Value, others: &[serde_json::Value]) -> SchedulerMatch {
    let mut items = vec![node("n0", EARLY, false), node("n1", EARLY, false), pending.clone()];
    items.extend(others.iter().cloned());
    let objects = items.into_iter().map(|item| serde_json::from_value(item).expect("an object")).collect();
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default());
    of(&Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true), "a/x").clone()
}

fn bound(name: &str, node: &str, cpu: &str, since: &str) -> serde_json::Value {
    serde_json::json!({"kind": "Pod", "metadata": {"name": name, "namespace": "a", "uid": name, "creationTimestamp": since},
        "spec": {"nodeName": node, "containers": [{"name": "app", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running", "startTime": since}})
}

/// A binding explains that cpu is short on its node; it lifts no taint, and gives no memory back.
#[test]
fn what_a_filter_did_not_hide_needs_a_change_of_its_own() {
    let late = [bound("early", "n0", "3", EARLY), bound("late", "n1", "3", LATER)];
    for (said, accord) in [
        ("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).", MatchKind::Unexplained),
        ("0/2 nodes are available: 1 Insufficient cpu, 1 Insufficient memory.", MatchKind::Unexplained),
        // Room is filtered before anti-affinity, and hides it.
        ("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match pod anti-affinity rules.", MatchKind::ChangedSince),
    ] {
        let found = of_two_nodes(said, &late);
        assert_eq!(found.accord, accord, "{said}: {found:?}");
    }
}

/// A pod that ended since gives its room back, on its node and if it was there.
#[test]
fn pods_that_ended_since_give_their_room_back() {
    let ended = |started: &str, at: &str, node: &str| {
        let mut pod = bound("job", node, "3", started);
        pod["status"] = serde_json::json!({"phase": "Succeeded", "startTime": started,
            "conditions": [{"type": "Ready", "status": "False", "reason": "PodCompleted", "lastTransitionTime": at}]});
        pod
    };
    let full = "0/2 nodes are available: 2 Insufficient cpu.";
    for (job, accord) in [
        (ended(EARLY, LATER, "n1"), MatchKind::ChangedSince),
        (ended(EARLY, EARLY, "n1"), MatchKind::Unexplained),
        (ended(EARLY, LATER, "n0"), MatchKind::Unexplained),
        (ended(LATER, LATER, "n1"), MatchKind::Unexplained),
    ] {
        let found = of_two_nodes(full, &[bound("early", "n0", "3", EARLY), job.clone()]);
        assert_eq!(found.accord, accord, "{job}: {found:?}");
        if accord == MatchKind::ChangedSince {
            assert_eq!(found.since, ["1 pod ended since: a/job on n1"]);
        }
    }
}

/// A pod that fits on the node to which it was nominated has the room that preemption made: the victims, of which a dump shows nothing, are
/// gone.
#[test]
fn a_nominated_pod_fits_once_its_victims_are_gone() {
    for (node, accord) in [("n1", MatchKind::ChangedSince), ("n0", MatchKind::Unexplained)] {
        let mut pending = of_two_nodes_pod("0/2 nodes are available: 2 Insufficient cpu.");
        pending["status"]["nominatedNodeName"] = node.into();
        let found = of_pod_and(&pending, &[bound("early", "n0", "3", EARLY)]);
        assert_eq!(found.accord, accord, "{node}: {found:?}");
        let own = "it was nominated to the node, and the pods in its way are gone since";
        assert_eq!(found.since.iter().any(|line| line == own), accord == MatchKind::ChangedSince, "{found:?}");
    }
}

/// A condition without a message says that no node was found, and no more.
#[test]
fn a_report_without_a_message_is_compared_by_its_outcome() {
    let full = [bound("one", "n0", "3", EARLY), bound("two", "n1", "3", EARLY)];
    let found = of_two_nodes("", &full);
    assert_eq!((found.accord, found.differences.len()), (MatchKind::Same, 0), "{found:?}");
    assert!(found.other_words[0].contains("has no message"), "{found:?}");
    assert_eq!(of_two_nodes("", &full[..1]).accord, MatchKind::Unexplained);
}

/// The same rejection in the wording of each release is read under every emulated release.
#[test]
fn a_text_is_read_in_the_words_of_the_release_that_wrote_it() {
    const HALF: &str = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.";
    for (cluster, text) in [
        ("1.12.3", "0/1 nodes are available: 1 node(s) had taints that the pod didn't tolerate.".to_owned()),
        ("1.20.15", "0/1 nodes are available: 1 node(s) had taint {k: v}, that the pod didn't tolerate.".to_owned()),
        ("1.23.1", "0/1 nodes are available: 1 node(s) had taint {k: v}, that the pod didn't tolerate.".to_owned()),
        ("1.24.4", format!("0/1 nodes are available: 1 node(s) had untolerated taint {{k: v}}. {HALF}")),
        ("1.27.1", format!("0/1 nodes are available: 1 node(s) had untolerated taint {{k: v}}. {HALF}.")),
        ("1.31.1", format!("0/1 nodes are available: 1 node(s) had untolerated taint {{k: v}}. {HALF}")),
        ("1.34.1", format!("0/1 nodes are available: 1 node(s) had untolerated taint {{k: v}}. no new claims to deallocate, {HALF}")),
        ("1.36.2", format!("0/1 nodes are available: 1 node(s) had untolerated taint(s). no new claims to deallocate, {HALF}")),
    ] {
        for wanted in [cluster, "1.28.3", "1.33.0", "1.36.2"] {
            let found = written_by(Some(wanted), Some(cluster), &text, false);
            assert_eq!((found.accord, found.differences), (MatchKind::Same, Vec::new()), "{cluster} as {wanted}");
        }
    }
    // Without a version, the wording alone decides.
    let unknown = written_by(None, None, &format!("0/1 nodes are available: 1 node(s) had untolerated taint {{k: v}}. {HALF}"), false);
    assert_eq!(unknown.accord, MatchKind::Same);
}

/// Messages of each release in other combinations: every reason is known.
#[test]
fn texts_of_every_release_are_read() {
    for text in [
        "0/11 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable, 10 node(s) didn't match node selector.",
        "0/5 nodes are available: 1 node(s) had taint {example.com/level: 5}, that the pod didn't tolerate, 1 node(s) had taint {node.kubernetes.io/unreachable: }, that the pod didn't tolerate, 1 node(s) were unschedulable, 2 Insufficient cpu.",
        "0/9 nodes are available: 1 node(s) were unschedulable, 2 node(s) exceed max volume count, 3 node(s) had volume node affinity conflict, 9 Insufficient cpu, 9 node(s) didn't match pod anti-affinity rules.",
        "0/10 nodes are available: 10 Insufficient cpu. preemption: 0/10 nodes are available: 1 No preemption victims found for incoming pod, 4 node(s) didn't satisfy existing pods anti-affinity rules, 5 Insufficient cpu..",
        "0/3 nodes are available: 1 node(s) had untolerated taint {gpu: true}, 2 node(s) didn't match pod anti-affinity rules. preemption: 0/3 nodes are available: 1 Preemption is not helpful for scheduling, 2 No preemption victims found for incoming pod..",
        "0/5 nodes are available: 2 cannot allocate all claims, 3 resourceclaim not available on the node. deallocation of ResourceClaim completed, preemption: 0/5 nodes are available: 5 Preemption is not helpful for scheduling.",
        "0/7 nodes are available: 2 node(s) had untolerated taint(s), 5 node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding]. no new claims to deallocate, preemption: 0/7 nodes are available: 7 Preemption is not helpful for scheduling.",
    ] {
        let read = Rejectors::of(text).unwrap_or_else(|| panic!("{text}"));
        assert!(read.unknown.is_empty() && !read.plugins.is_empty(), "{text}: {:?}", read.unknown);
    }
}

/// From 1.34 on, a request beyond a node's capacity rules preemption out there; before, preemption is tried.
#[test]
fn only_what_no_release_explains_is_a_disagreement() {
    let tried =
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod.";
    let there = written_by(Some("1.31.1"), Some("1.31.1"), tried, true);
    assert_eq!(there.accord, MatchKind::Same, "{there:?}");
    for cluster in [Some("1.31.1"), None] {
        let found = written_by(Some("1.36.2"), cluster, tried, true);
        assert_eq!(found.accord, MatchKind::OtherRelease, "{found:?}");
        let by = found.decided_by.clone().expect("a release");
        assert_eq!(by, cluster.unwrap_or("1.33.13"), "the newest that writes so, where nothing shows the version");
        assert!(found.text().to_string().contains(&format!("but kube-scheduler v{by} agrees.")), "{}", found.text());
        assert!(found.differences.iter().any(|line| line.starts_with("preemption, ")), "{:?}", found.differences);
    }
    // No release decides this way about this pod.
    let wrong = written_by(Some("1.36.2"), Some("1.31.1"), tried, false);
    assert_eq!((wrong.accord, wrong.decided_by), (MatchKind::Unexplained, None));
    assert_eq!(wrong.differences[0], "Insufficient cpu: the scheduler said 1 node, not reported by schedscope");
}
