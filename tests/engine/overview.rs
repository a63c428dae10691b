//! The overview of pending pods: each under one cause, and the fix that frees most of them.

use schedscope::analysis::{Agreements, PreemptionHelp, SchedulerComparer, causes, why};
use schedscope::cluster::{Key, Kind, Object, ObservedEvent};
use schedscope::fixes::{Background, Limits, find};
use schedscope::release::Emulation;
use schedscope::report::causes_text;
use schedscope::scheduler::{Config, OddsEffort, Operation, Options, Scheduler};
use schedscope::source::{Story, load};
use serde_json::{Value, json};

use crate::recorded::object;

/// A full node, one with a taint and room for ten pods, twelve pods waiting for room, two gated ones, and one that
/// fits.
fn items() -> Vec<Value> {
    let node = |name: &str, cpu: &str, taints: Value| {
        let allocatable = json!({"cpu": cpu, "memory": "8Gi", "pods": "50"});
        json!({"kind": "Node", "metadata": {"name": name, "uid": name}, "spec": {"taints": taints}, "status": {"allocatable": allocatable}})
    };
    let pod = |name: &str, cpu: &str, rest: Value| {
        let mut spec =
            json!({"schedulerName": "default-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]});
        spec.as_object_mut().expect("an object").extend(rest.as_object().cloned().expect("an object"));
        json!({"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name}, "spec": spec, "status": {"phase": "Pending"}})
    };
    let mut items = vec![
        node("a", "100m", json!([])),
        node("db", "10", json!([{"key": "dedicated", "value": "db", "effect": "NoSchedule"}])),
        pod("fits", "50m", json!({})),
    ];
    items.extend((0..12).map(|i| pod(&format!("big-{i:02}"), "1", json!({}))));
    items.extend((0..2).map(|i| pod(&format!("gated-{i}"), "10m", json!({"schedulingGates": [{"name": "quota"}]}))));
    items
}

fn scheduler(items: &[Value]) -> Scheduler {
    let objects: Vec<Object> = items.iter().filter_map(object).collect();
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default())
}

#[test]
fn each_pod_has_one_cause_and_the_fix_frees_as_many_as_it_says() {
    let mut items = items();
    let before = scheduler(&items);
    let agreements = Agreements::of(&before, &[], Vec::new(), |_| true, |_| true);
    let is = |item: &Value, kind: Kind, key: &Key| item["kind"] == <&str>::from(kind) && item["metadata"]["name"] == key.name.as_str();
    let originals = |kind: Kind, key: &Key| items.iter().find(|item| is(item, kind, key)).cloned();
    let found = causes(&agreements, &before, Background { originals: &originals, ..Background::nothing() });
    let sizes: Vec<(&str, usize)> = found.iter().map(|cause| (cause.cause.as_str(), cause.pods.len())).collect();
    assert_eq!(sizes, [("Insufficient(cpu)+UntoleratedTaint", 12), ("gated:SchedulingGates:quota", 2)]);
    assert_eq!(found.iter().map(|cause| cause.preemption).collect::<Vec<_>>(), [PreemptionHelp::No, PreemptionHelp::NotRun]);
    assert_eq!(found[0].nodes.values().sum::<usize>(), 2);
    assert!(found.iter().flat_map(|cause| &cause.pods).all(|pod| pod != "shop/fits"));
    let gates = found[1].fix.as_ref().expect("a fix");
    assert_eq!((gates.fix.text.as_str(), gates.frees), ("remove the scheduling gate quota", 2));

    let best = found[0].fix.as_ref().expect("a fix");
    assert_eq!((best.fix.text.as_str(), best.frees), ("tolerate dedicated=db:NoSchedule", 10));
    let patches = best.fix.patches.clone();
    assert_eq!(patches.len(), 10);
    for patch in &patches {
        let key = Key::new("shop", patch["name"].as_str().expect("a name"));
        let item = items.iter_mut().find(|item| is(item, Kind::Pod, &key)).expect("the pod");
        item["spec"]["tolerations"] = patch["patch"]["spec"]["tolerations"].clone();
    }
    let mut after = scheduler(&items);
    while after.next_pod().is_some() {
        after.apply(Operation::Schedule);
    }
    let bound = after.state().cluster().pods.iter().filter(|pod| pod.node_name == "db").count();
    assert_eq!(bound, 10);
}

/// Pods whose victims are ending: preemption made room already, and a fix would take it from them.
#[test]
fn pods_whose_victims_are_ending_are_a_cause_of_their_own_without_a_fix() {
    let loaded = load(&[Story::named("aftermath").expect("a story").input()]);
    let start = loaded.report.newest.expect("times");
    let options = Options { start, ..Options::default() };
    let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), options);
    let agreements = Agreements::of(&scheduler, &loaded.events, Vec::new(), |_| true, |_| true);
    let found = causes(&agreements, &scheduler, Background::nothing());
    let waits = found.iter().find(|cause| cause.preemption == PreemptionHelp::InProgress).expect("a cause");
    assert_eq!(waits.cause, "preemption-in-progress");
    assert_eq!(waits.pods, ["shop/payments", "shop/spread-85969bc548-7z2j5", "shop/spread-85969bc548-xtc2r"]);
    assert!(waits.fix.is_none() && !waits.fix_searched);
    let json = serde_json::to_value(waits).expect("JSON");
    assert_eq!((&json["preemption"], &json["fix"]), (&json!("inProgress"), &Value::Null));
    let text = causes_text(&found).to_string();
    assert!(text.contains("  3 pods: wait for the pods that are preempted for them to end\n"), "{text}");
    assert!(text.contains("    no fix is needed: preemption is in progress\n"), "{text}");
    // Of one pod it says which node, how many, and until when.
    let words = |pod: &str| {
        let found = agreements.pods.iter().find(|found| found.pod == Key::new("shop", pod)).expect("the pod");
        found.waits_for.as_ref().expect("it waits").words.clone()
    };
    let payments = words("payments");
    assert!(payments.starts_with("waits for 2 evicted pods to end on worker-a2, at the latest 18:31:1"), "{payments}");
    assert!(payments.ends_with(" (in 5 min)"), "{payments}");
    let pod = scheduler.state().cluster().pods.get(&Key::new("shop", "payments")).expect("the pod");
    let fixes = find(&scheduler, pod, Limits::of(12), Background::nothing(), &|_| true);
    assert_eq!(fixes.waits_for_victims_of, Some(pod.key()));
}

/// Long after their grace period something holds the victims, and waiting does not help.
#[test]
fn victims_that_should_have_ended_are_said_to_be_held() {
    let loaded = load(&[Story::named("aftermath").expect("a story").input()]);
    let newest = loaded.report.newest.expect("times");
    for (minutes, key) in [(5, "preemption-in-progress"), (7, "preemption-overdue")] {
        let start = newest + jiff::SignedDuration::from_mins(minutes);
        let options = Options { start, ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects.clone(), options);
        let agreements = Agreements::of(&scheduler, &loaded.events, Vec::new(), |_| true, |_| true);
        let found = causes(&agreements, &scheduler, Background::nothing());
        let waits = found.iter().find(|cause| cause.preemption == PreemptionHelp::InProgress).expect("a cause");
        assert_eq!(waits.cause, key);
        let held = causes_text(&found).to_string().contains("    no fix proposed: preempted pods should have ended; a finalizer may hold");
        assert_eq!(held, minutes == 7);
        let pod = scheduler.state().cluster().pods.get(&Key::new("shop", "payments")).expect("the pod");
        let fixes = find(&scheduler, pod, Limits::of(12), Background::nothing(), &|_| true);
        assert_eq!((fixes.waits_for_victims_of.is_some(), fixes.overdue_victims.len()), (true, if held { 2 } else { 0 }));
    }
}

/// A scheduler name that is a slip of a profile's is a cause, and the name is suggested.
#[test]
fn a_scheduler_name_with_a_slip_is_a_cause_with_a_suggestion() {
    let mut items = items();
    items[2]["spec"]["schedulerName"] = json!("defualt-scheduler");
    items[3]["spec"]["schedulerName"] = json!("volcano");
    let scheduler = scheduler(&items);
    let agreements = Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true);
    let found = causes(&agreements, &scheduler, Background::nothing());
    let cause = found.iter().find(|cause| cause.cause == "unknown-scheduler").expect("a cause");
    assert_eq!(cause.pods, ["shop/fits"]);
    assert_eq!(cause.sentence, "no profile has the scheduler name \"defualt-scheduler\" (did you mean default-scheduler?)");
    // The decision says so too, unless a scheduler has written about the pod.
    let pod = scheduler.state().cluster().pods.get(&Key::new("shop", "fits")).expect("the pod");
    let said = |events: &[ObservedEvent]| why(&SchedulerComparer::new(&scheduler, events).view(pod, OddsEffort::Little));
    let without = "Not tried, because no profile has the scheduler name \"defualt-scheduler\"";
    assert_eq!(said(&[]), format!("{without} (did you mean default-scheduler?)."));
    let event = ObservedEvent { pod: pod.key(), reason: "FailedScheduling".into(), note: "full".to_owned(), ..ObservedEvent::default() };
    assert_eq!(said(&[event]), format!("{without}."));
}

/// A DaemonSet's pod is for one node, and the others are out for no other reason.
#[test]
fn a_daemon_pod_is_said_to_be_for_its_node() {
    let mut items = items();
    items[1]["spec"]["taints"] = json!([]);
    items[3]["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "d", "controller": true}]);
    items[3]["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}}});
    for release in ["1.20.15", "1.24.4", "1.28.3", "1.36.2"] {
        let release: schedscope::release::Release = release.parse().expect("a release");
        let profile = schedscope::release::ReleaseChoice {
            wanted: Some(schedscope::release::FoundVersion { release, source: schedscope::release::VersionSource::Flag }),
            cluster: None,
        };
        let objects: Vec<Object> = items.iter().filter_map(object).collect();
        let options = Options { release: profile, ..Options::default() };
        let scheduler = Scheduler::new(Config::defaults(Emulation::from(profile.profile())), objects, options);
        let pod = scheduler.state().cluster().pods.get(&Key::new("shop", "big-00")).expect("the pod").clone();
        let said = schedscope::analysis::why(&schedscope::trace::CycleView::of(&scheduler.explain(&pod)));
        assert!(said.contains("is not the node for which its DaemonSet made it (a)"), "{release}: {said}");
        assert!(!said.contains("PreFilter"), "{release}: {said}");
    }
}
