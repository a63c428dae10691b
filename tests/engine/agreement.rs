//! Decisions compared with the messages of the cluster's own scheduler: on the real cluster of the embedded stories,
//! and with altered messages.

use schedscope::cluster::{Key, Object, ObservedEvent};
use schedscope::release::{Emulation, FoundVersion, ReleaseChoice, VersionSource};
use schedscope::report::{Agreements, MatchKind, SchedulerMatch};
use schedscope::scheduler::{Config, Options, Rejectors, Scheduler, Waiting};
use schedscope::source::{Story, load};

/// Compares on the cluster as its scheduler left it, altered by `change`.
fn agreements(change: impl FnOnce(&mut Vec<serde_json::Value>, &mut Vec<ObservedEvent>)) -> Agreements {
    let mut loaded = load(&[Story::named("aftermath").expect("a story").input()]);
    let mut values: Vec<serde_json::Value> = loaded.objects.iter().map(|o| serde_json::to_value(o).expect("JSON")).collect();
    change(&mut values, &mut loaded.events);
    let objects: Vec<Object> = values.into_iter().map(|v| serde_json::from_value(v).expect("an object")).collect();
    let start = loaded.report.newest.expect("times");
    let options = Options { start, waiting: Waiting::AsObserved(loaded.events.clone()), ..Options::default() };
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
    assert!(spread.since.iter().any(|line| line.starts_with("5 pods have started terminating since: ")), "{:?}", spread.since);
}

/// The events name the preemptors by uid alone.
#[test]
fn who_was_evicted_for_whom_is_found_in_name() {
    let found = agreements(|_, _| {});
    let told: Vec<String> = found
        .preempted
        .iter()
        .map(|p| format!("{} on {} for {}", p.victim.name, p.node, p.preemptor.as_ref().map_or("?", |k| k.name.as_str())))
        .collect();
    assert_eq!(
        told,
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
    // The same difference, written before anything happened in the cluster, is explained by later changes.
    assert_eq!(with("batch/too-big", fewer, "2026-11-20T18:26:11Z").accord, MatchKind::ChangedSince);

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
    let told = only_evictions(true);
    assert_eq!(told.accord, MatchKind::ChangedSince, "{told:?}");
    assert!(told.since[0].starts_with("5 pods were evicted since: "), "{:?}", told.since);
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

/// Later changes of nodes, budgets and other pods explain a difference.
#[test]
fn later_changes_of_nodes_and_nominations_of_others_count() {
    let at = "2027-01-01T00:00:00Z";
    let fewer = "0/11 nodes are available: 3 node(s) had untolerated taint(s), 8 Insufficient memory.";
    let with = |managed: serde_json::Value, nominated: &str| {
        let found = agreements(|objects, events| {
            let condition = condition(objects, "batch/too-big");
            condition["message"] = fewer.into();
            condition["lastTransitionTime"] = at.into();
            events.clear();
            let node = objects.iter_mut().find(|o| o["kind"] == "Node").expect("a node");
            node["metadata"]["managedFields"] = managed.clone();
            if !nominated.is_empty() {
                let other = objects.iter_mut().find(|o| o["metadata"]["name"] == "payments" && o["kind"] == "Pod").expect("a pod");
                let conditions = other["status"]["conditions"].as_array_mut().expect("conditions");
                conditions.iter_mut().filter(|c| c["type"] == "PodScheduled").for_each(|c| c["lastTransitionTime"] = nominated.into());
            }
        });
        let found = of(&found, "batch/too-big");
        (found.accord, found.since.clone())
    };
    let entry = |time: &str, fields: serde_json::Value| serde_json::json!([{"manager": "x", "time": time, "fieldsV1": fields}]);
    let labels = serde_json::json!({"f:metadata": {"f:labels": {"f:a": {}}}});
    let (late, early) = ("2027-01-01T00:00:05Z", "2026-12-01T00:00:00Z");
    assert_eq!(with(entry(early, labels.clone()), "").0, MatchKind::Unexplained);
    let (accord, since) = with(entry(late, labels), "");
    assert_eq!(accord, MatchKind::ChangedSince);
    assert!(since.len() == 1 && since[0].starts_with("1 object was changed since: Node "), "{since:?}");
    // A heartbeat changes nothing relevant, and an entry without a time proves nothing.
    assert_eq!(with(entry(late, serde_json::json!({"f:status": {"f:conditions": {}}})), "").0, MatchKind::Unexplained);
    assert_eq!(with(entry("soon", serde_json::json!({"f:spec": {}})), "").0, MatchKind::Unexplained);
    let (accord, since) = with(serde_json::json!([]), late);
    assert_eq!((accord, since), (MatchKind::ChangedSince, vec!["1 other pod was nominated since: shop/payments to worker-a2".to_owned()]));
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
