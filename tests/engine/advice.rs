//! Advice that can be followed: fixes that controllers undo are left out, and those that no owner would choose come last.

use proptest::prelude::*;
use schedscope::analysis::{Agreements, FixesReport, causes};
use schedscope::cluster::neighbors::Neighbors;
use schedscope::cluster::{Key, Kind, Object};
use schedscope::fixes::{Background, Change, Fix, Fixes, LastResort, Limits, NodeChange, PodChange, Unproposed, find};
use schedscope::release::Emulation;
use schedscope::report::WhatIfReport;
use schedscope::scheduler::{Config, Options, Scheduler};
use schedscope::session::PodLocation;
use schedscope::whatif::{self, Rehearsal, Stage as _, Verb};
use serde_json::{Value, json};

use crate::recorded::object;

fn node(name: &str, cpu: &str, rest: &Value) -> Value {
    let allocatable = json!({"cpu": cpu, "memory": "8Gi", "pods": "50"});
    let labels = json!({"kubernetes.io/hostname": name});
    let mut node = json!({"kind": "Node", "metadata": {"name": name, "uid": name, "labels": labels}, "spec": {}, "status": {"allocatable": allocatable}});
    merge(&mut node, rest);
    node
}

fn merge(target: &mut Value, patch: &Value) {
    match (target, patch) {
        (Value::Object(target), Value::Object(patch)) => {
            for (name, value) in patch {
                merge(target.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (target, patch) => *target = patch.clone(),
    }
}

/// Returns a pod; pending with an empty node.
fn pod(name: &str, on: &str, priority: i32, cpu: &str, rest: &Value) -> Value {
    let phase = if on.is_empty() { "Pending" } else { "Running" };
    let mut pod = json!({
        "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name, "creationTimestamp": "2026-11-20T00:00:00Z"},
        "spec": {"schedulerName": "default-scheduler", "priority": priority,
            "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": phase}
    });
    if !on.is_empty() {
        pod["spec"]["nodeName"] = json!(on);
    }
    merge(&mut pod, rest);
    pod
}

fn owned(kind: &str, owner: &str) -> Value {
    json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": owner, "controller": true}]}})
}

fn scheduler(items: &[Value]) -> Scheduler {
    let objects: Vec<Object> = items.iter().filter_map(object).collect();
    Scheduler::new(Config::defaults(Emulation::default()), objects, Options::default())
}

fn found(items: &[Value]) -> Fixes {
    found_for(&scheduler(items), "asked")
}

fn found_for(scheduler: &Scheduler, name: &str) -> Fixes {
    let pod = scheduler.state().cluster().pods.get(&Key::new("shop", name)).expect("the pod").clone();
    find(scheduler, &pod, Limits::of(scheduler.state().cluster().nodes.len()), Background::nothing(), &|_| true)
}

fn report(scheduler: &Scheduler, found: &Fixes, items: &[Value]) -> FixesReport {
    let original = |kind: Kind, key: &Key| {
        let is = |item: &&Value| item["kind"] == <&str>::from(kind) && item["metadata"]["name"] == key.name.as_str();
        items.iter().find(is).cloned()
    };
    FixesReport::new(found, scheduler.state().cluster(), (&original, &Neighbors::default()))
}

fn text(items: &[Value]) -> String {
    let scheduler = scheduler(items);
    let found = found_for(&scheduler, "asked");
    report(&scheduler, &found, items).text().into_vec().join("\n")
}

fn deletes(fix: &Fix, name: &str) -> bool {
    fix.changes.iter().any(|change| matches!(change, Change::Delete(Kind::Pod, key) if key.name == name))
}

#[test]
fn a_deletion_that_a_controller_undoes_is_not_shown() {
    // The replacement has a higher priority and takes the place.
    let web = |rest: &Value| {
        vec![
            node("n", "4", &json!({})),
            pod("web-1", "n", 9, "4", rest),
            pod("asked", "", 0, "4", &json!({"spec": {"preemptionPolicy": "Never"}})),
        ]
    };
    for (kind, shown) in [("ReplicaSet", false), ("StatefulSet", false), ("Job", false), ("", true)] {
        let owner = if kind.is_empty() { json!({}) } else { owned(kind, "web") };
        let fixes = found(&web(&owner));
        assert_eq!(fixes.fixes.iter().any(|fix| deletes(fix, "web-1")), shown, "{kind}");
        let undone = fixes.unproposed.iter().any(|one| matches!(one, Unproposed::Undone(by) if by.pod.name == "web-1"));
        assert_eq!(undone, !shown, "{kind}: {:?}", fixes.unproposed);
    }
    let said = text(&web(&owned("ReplicaSet", "web")));
    assert!(
        said.contains("not proposed: delete Pod shop/web-1: ReplicaSet web makes it again, and the new pod takes the place on n"),
        "{said}"
    );
}

#[test]
fn a_deletion_says_where_its_controller_makes_the_pod_again() {
    // Another node has room for the replacement, but a selector keeps the pod away from it.
    let selector = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "n"}}});
    let mut items = vec![
        node("n", "4", &json!({})),
        node("m", "4", &json!({})),
        pod("web-1", "n", 0, "4", &owned("ReplicaSet", "web")),
        pod("asked", "", 0, "4", &selector),
    ];
    let said = text(&items);
    assert!(said.contains("delete Pod shop/web-1: fits on n; ReplicaSet web makes shop/web-1 again, on m"), "{said}");
    assert!(said.contains("kubectl delete pod web-1 -n shop  # asks no disruption budget"), "{said}");
    // Without room the other workload is short of a pod: a last resort.
    items.remove(1);
    let fixes = found(&items);
    let delete = fixes.fixes.iter().find(|fix| deletes(fix, "web-1")).expect("a deletion");
    assert_eq!(delete.last_resort, Some(LastResort::Displaces(Key::new("shop", "web-1"))));
}

#[test]
fn a_pod_of_the_same_workload_is_not_in_the_way() {
    let web = owned("ReplicaSet", "web");
    let fixes = found(&[node("n", "4", &json!({})), pod("web-1", "n", 0, "4", &web), pod("asked", "", 0, "4", &web)]);
    assert!(!fixes.fixes.iter().any(|fix| deletes(fix, "web-1")), "{:?}", fixes.fixes);
}

/// All pending pods of a workload get a change of its template, and compete with each other.
#[test]
fn pods_of_one_template_are_changed_together_up_to_a_limit() {
    let web = owned("ReplicaSet", "web");
    for siblings in [1_usize, 2, 30] {
        let mut items = vec![node("n", "3", &json!({})), pod("asked", "", 0, "4", &web)];
        items.extend((0..siblings).map(|at| pod(&format!("web-{at}"), "", 0, "4", &web)));
        let fixes = found(&items);
        let lower = fixes.fixes.iter().find(|fix| matches!(fix.changes[..], [Change::Pod(PodChange::Lower(_))])).expect("a lower request");
        let together = lower.reaction.siblings.as_ref().expect("siblings");
        assert_eq!((together.placed, together.of, together.untried), (1, siblings.min(10) + 1, siblings.saturating_sub(10)));
    }
    let items = [node("n", "3", &json!({})), pod("asked", "", 0, "4", &web), pod("web-0", "", 0, "4", &web)];
    assert!(text(&items).contains("; 1 of 2 pending pods of ReplicaSet web find a place with it"), "{}", text(&items));
    // A toleration is added to the pod alone.
    let taint = json!({"spec": {"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}});
    let fixes = found(&[node("n", "5", &taint), pod("asked", "", 0, "4", &web), pod("web-0", "", 0, "4", &web)]);
    let tolerate = |fix: &&Fix| matches!(fix.changes[..], [Change::Pod(PodChange::Tolerate(_))]);
    assert_eq!(fixes.fixes.iter().find(tolerate).expect("a toleration").reaction.siblings, None);
    // All of them compete for a node that comes or is opened.
    let one_place = |cpu: &str, rest: &Value| {
        let said = text(&[
            node("n", cpu, rest),
            pod("old", "n", 0, "3", &json!({})),
            pod("asked", "", 0, "4", &web),
            pod("web-0", "", 0, "4", &web),
        ]);
        (said.matches("; 1 of 2 pending pods of ReplicaSet web find a place with it").count(), said)
    };
    let (count, said) = one_place("5", &json!({}));
    assert!(said.contains("add a node") && count > 1, "{said}");
    let (_, said) = one_place("8", &json!({"spec": {"unschedulable": true}}));
    let uncordon = said.lines().find(|line| line.contains("uncordon n")).expect("an opened node");
    assert!(uncordon.contains("1 of 2 pending pods of ReplicaSet web"), "{said}");
}

#[test]
fn a_reaction_without_end_is_cut() {
    // Many more pods than steps: those with a nomination stay in the queue.
    let nominated = json!({"status": {"nominatedNodeName": "n"}});
    let mut items =
        vec![node("n", "4", &json!({})), pod("web-1", "n", 0, "1", &owned("ReplicaSet", "web")), pod("asked", "", 5, "4", &json!({}))];
    items.extend((0..600).map(|at| pod(&format!("other-{at:03}"), "", 1, "9", &nominated)));
    assert!(found(&items).search.is_complete());
}

#[test]
fn last_resorts_come_last_and_say_why() {
    let memory = |of: &str| json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": of}}}]}});
    // A cut of more than half.
    let items = [
        node("n", "9", &json!({})),
        node(
            "gpu",
            "9",
            &json!({"status": {"allocatable": {"memory": "64Gi"}}, "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}}),
        ),
        pod("asked", "", 0, "1", &memory("40Gi")),
    ];
    let fixes = found(&items);
    let kinds: Vec<(bool, &Change)> = fixes.fixes.iter().map(|fix| (fix.last_resort.is_some(), &fix.changes[0])).collect();
    assert!(fixes.fixes.is_sorted_by_key(|fix| fix.last_resort.is_some()), "{kinds:?}");
    let cut = fixes.fixes.iter().find(|fix| matches!(fix.changes[0], Change::Pod(PodChange::Lower(_)))).expect("a lower request");
    assert_eq!(cut.last_resort, Some(LastResort::LargeCut("memory".into())));
    let said = text(&items);
    let heading = said.find("ONLY IF NOTHING ELSE HELPS").expect("a heading");
    assert!(said[heading..].contains("lower the memory request from 40Gi to 8Gi"), "{said}");
    assert!(said[heading..].contains("(it asks for less than half of the memory)"), "{said}");
    assert!(said[..heading].contains("tolerate gpu:NoSchedule"), "{said}");

    // Gates and schedulers that belong to someone.
    let gated = |gate: &str| {
        found(&[node("n", "9", &json!({})), pod("asked", "", 0, "1", &json!({"spec": {"schedulingGates": [{"name": gate}]}}))])
    };
    let kueue = &gated("kueue.x-k8s.io/admission").fixes[0];
    assert_eq!(kueue.last_resort, Some(LastResort::ForeignGate { gate: "kueue.x-k8s.io/admission".into(), owner: "Kueue" }));
    assert_eq!(gated("example.com/quota").fixes[0].last_resort, None);
    let named = |name: &str| found(&[node("n", "9", &json!({})), pod("asked", "", 0, "1", &json!({"spec": {"schedulerName": name}}))]);
    assert_eq!(
        named("volcano").fixes[0].last_resort,
        Some(LastResort::ForeignScheduler { name: "volcano".into(), owner: Some("Volcano") })
    );
    assert_eq!(named("default-schedular").fixes[0].last_resort, None, "a typo");

    // Hardware that was asked for, and pods that run with the same template.
    let disk = |value: &str| json!({"metadata": {"labels": {"disk": value, "pool": value}}});
    let nodes = [node("a", "1", &disk("ssd")), node("b", "9", &disk("hdd"))];
    let with = |rest: &Value| nodes.iter().cloned().chain([pod("asked", "", 0, "2", rest)]).collect::<Vec<_>>();
    let fixes = found(&with(&json!({"spec": {"nodeSelector": {"disk": "ssd"}}})));
    let moved = fixes.fixes.iter().find(|fix| matches!(fix.changes[0], Change::Pod(PodChange::SetSelector { .. }))).expect("another value");
    assert_eq!(moved.last_resort, Some(LastResort::Hardware("disk".into())));
    let web = {
        let mut web = owned("ReplicaSet", "web");
        merge(&mut web, &json!({"spec": {"nodeSelector": {"pool": "ssd"}}}));
        web
    };
    let mut items = with(&web);
    items.push(pod("web-1", "a", 0, "1", &web));
    let fixes = found(&items);
    let moved = fixes.fixes.iter().find(|fix| matches!(fix.changes[0], Change::Pod(PodChange::SetSelector { .. }))).expect("another value");
    assert!(matches!(&moved.last_resort, Some(LastResort::Moves { pods: 1, .. })), "{:?}", moved.last_resort);
}

#[test]
fn a_node_that_is_not_ready_is_no_model_and_equal_nodes_are_one_fix() {
    let sick = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}, "spec": {"taints": [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]}});
    let adds =
        |items: &[Value]| found(items).fixes.into_iter().filter(|fix| matches!(fix.changes[0], Change::Create { .. })).collect::<Vec<_>>();
    let filled = |name: &str| pod(&format!("on-{name}"), name, 0, "3", &json!({}));
    let asked = pod("asked", "", 0, "2", &json!({"spec": {"preemptionPolicy": "Never"}}));
    assert!(adds(&[node("n", "4", &sick), asked.clone()]).is_empty());
    assert_eq!(adds(&[node("n", "4", &json!({})), filled("n"), asked.clone()]).len(), 1);

    // Three zones of one shape, a few bytes apart.
    let zone = |name: &str, memory: &str| {
        node(
            name,
            "4",
            &json!({"metadata": {"labels": {"topology.kubernetes.io/zone": name}}, "status": {"allocatable": {"memory": memory}}}),
        )
    };
    let items =
        [zone("a", "16393248Ki"), zone("b", "16393244Ki"), zone("c", "16393240Ki"), filled("a"), filled("b"), filled("c"), asked.clone()];
    let found = adds(&items);
    assert_eq!(found.iter().filter(|fix| fix.equals.is_none()).count(), 1, "{found:?}");
    let said = text(&items);
    assert!(said.contains("add a node like a (or the equal b, c)"), "{said}");

    let cordoned = |name: &str| node(name, "4", &json!({"spec": {"unschedulable": true}}));
    let items = [cordoned("a"), cordoned("b"), asked];
    let fixes = super::advice::found(&items).fixes;
    let opened: Vec<&Fix> = fixes.iter().filter(|fix| matches!(fix.changes[0], Change::Node(_, NodeChange::Uncordon))).collect();
    assert_eq!(opened.iter().map(|fix| fix.equals.is_some()).collect::<Vec<_>>(), [false, true], "both are listed");
    assert!(text(&items).contains("uncordon a, unless it is being drained (or the equal b)"), "{}", text(&items));
}

#[test]
fn the_overview_frees_the_pod_with_the_small_cut_and_shows_what_preempts() {
    let cause = |items: &[Value]| {
        let scheduler = scheduler(items);
        let found = Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true);
        causes(&found, &scheduler, Background::nothing()).remove(0)
    };
    // No node can be added like one that is not ready.
    let hidden = json!({"metadata": {"labels": {"only": "here"}}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
    let best = cause(&[node("n", "8", &hidden), pod("a-large", "", 0, "40", &json!({})), pod("b-small", "", 0, "9", &json!({}))])
        .fix
        .expect("a fix");
    assert_eq!((best.fix.text.as_str(), best.fix.last_resort), ("lower the cpu request from 9 to 8", None));

    // A fix that preempts is one, where `x` has none but that.
    let gpu = |mut of: Value| {
        merge(&mut of, &json!({"status": {"allocatable": {"example.com/gpu": "1"}}}));
        of
    };
    let requests = json!({"cpu": "8", "example.com/gpu": "1"});
    let never = json!({"spec": {"preemptionPolicy": "Never", "containers": [{"name": "c", "resources": {"requests": requests}}]}});
    let items = [
        node("n", "8", &gpu(hidden.clone())),
        node("m", "5", &hidden),
        pod("low", "n", 0, "5", &owned("DaemonSet", "agent")),
        pod("asked", "", 5, "8", &never),
    ];
    let best = cause(&items).fix.expect("a fix");
    assert_eq!(best.fix.outcome, "preempts");
    let listed = found(&items).fixes;
    assert!(!listed.is_empty());
}

#[test]
fn a_cause_says_how_many_nodes_of_a_shape_take_all_of_its_pods() {
    let tainted = json!({"spec": {"taints": [{"key": "own", "effect": "NoSchedule"}]}});
    for (cpu, pods, expected) in [("1", 9, 3), ("2", 3, 2), ("3", 4, 4), ("2500m", 2, 2)] {
        // The node is full; one that is reserved takes no more than two.
        let mut items = vec![node("n", "4", &json!({})), pod("full", "n", 9, "4", &owned("ReplicaSet", "db")), node("own", "2", &tainted)];
        items.extend((0..pods).map(|at| pod(&format!("p{at}"), "", 0, cpu, &json!({"spec": {"preemptionPolicy": "Never"}}))));
        let scheduler = scheduler(&items);
        let agreements = Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true);
        let found = causes(&agreements, &scheduler, Background::nothing());
        let fix = found[0].fix.as_ref().expect("a fix");
        let nodes = fix.nodes.as_ref().expect("a number of nodes");
        assert_eq!((nodes.like.as_str(), nodes.count), ("n", expected), "{pods} pods of {cpu} cpu");
        let words = format!("; {expected} new nodes like n in all would take all {pods}");
        assert!(found[0].fix_words().contains(&words), "{}", found[0].fix_words());
        // That number takes all, and one less does not.
        let placed = |count: usize| {
            let mut rehearsal = Rehearsal::new(scheduler.clone());
            let verb: Verb = format!("add {count} like n").parse().expect("a verb");
            whatif::apply(&mut rehearsal, &verb, &|_, _| None).expect("added");
            rehearsal.scheduler().state().cluster().pods.iter().filter(|pod| !pod.node_name.is_empty()).count() - 1
        };
        assert_eq!((placed(expected), placed(expected - 1) < pods), (pods, true));
    }
}

#[test]
fn what_ifs_count_before_and_after_group_messages_and_name_preemptors() {
    let answered = |items: &[Value], verb: &str| {
        let mut rehearsal = Rehearsal::new(scheduler(items));
        let answer = whatif::apply(&mut rehearsal, &verb.parse().expect("a verb"), &|_, _| None).expect("applied");
        WhatIfReport::new(vec![answer], rehearsal.scheduler(), Vec::new()).text().into_vec().join("\n")
    };
    let high = |at: usize| pod(&format!("high-{at}"), "", 5, "4", &json!({}));
    let items = [node("n", "4", &json!({})), pod("low", "n", 0, "4", &json!({})), high(0), high(1)];
    let text = answered(&items, "add 2 like n");
    assert!(text.contains("pending: 1 pod without, 0 pods with") && text.contains("evicted: 1 pod without, 0 pods with"), "{text}");

    // Three replacements wait for the same reason.
    let web = owned("ReplicaSet", "web");
    let mut items = vec![node("n", "4", &json!({})), node("m", "1", &json!({}))];
    items.extend((0..3).map(|at| pod(&format!("web-{at}"), "n", 0, "1200m", &web)));
    let text = answered(&items, "drain n");
    assert_eq!(text.matches("0/2 nodes are available: 1 Insufficient cpu").count(), 1, "{text}");
    assert!(text.contains("3 pods pending: 0/2 nodes are available"), "{text}");

    // A replacement that is preempted again: by whom.
    let items = [
        node("n", "4", &json!({})),
        node("m", "4", &json!({})),
        pod("high-0", "n", 5, "4", &owned("ReplicaSet", "high")),
        pod("web-0", "m", 0, "4", &web),
    ];
    let mut rehearsal = Rehearsal::new(scheduler(&items));
    let answer = whatif::apply(&mut rehearsal, &"drain n".parse().expect("a verb"), &|_, _| None).expect("applied");
    let (victim, by) = answer.preempted.iter().next().expect("a preemption");
    assert_eq!(victim.name, "web-0");
    assert!(by.name.starts_with("high-"), "{by}");
}

#[test]
fn a_daemon_sets_pod_is_not_moved_and_an_unknown_rollout_is_no_fix() {
    let pinned = json!({"spec": {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}]}}}}});
    let mut daemon = owned("DaemonSet", "agent");
    merge(&mut daemon, &pinned);
    let fixes = found(&[node("n", "1", &json!({})), node("m", "9", &json!({})), pod("asked", "", 0, "2", &daemon)]).fixes;
    assert!(!fixes.is_empty());
    assert!(fixes.iter().all(|fix| fix.nodes == ["n"]), "{fixes:?}");

    // A surge pod: the old one is to go first.
    let of = |set: &str, hash: &str, made: &str| {
        let mut rest = owned("ReplicaSet", set);
        merge(
            &mut rest,
            &json!({"metadata": {"creationTimestamp": made, "labels": {"pod-template-hash": hash}}, "spec": {"nodeSelector": {"pool": "x"}}}),
        );
        rest
    };
    let (old, new) = (of("web-aaa", "aaa", "2026-11-19T00:00:00Z"), of("web-bbb", "bbb", "2026-11-20T00:00:00Z"));
    let pool = |of: &str| json!({"metadata": {"labels": {"pool": of}}});
    let items =
        [node("n", "2", &pool("x")), node("m", "9", &pool("y")), pod("web-aaa-1", "n", 0, "2", &old), pod("asked", "", 0, "2", &new)];
    // The Deployment is not known, and so is how its rollout goes on.
    let fixes = found(&items);
    assert!(!fixes.fixes.iter().any(|fix| matches!(fix.changes[0], Change::RollOut { .. })), "{fixes:?}");
    assert!(fixes.unproposed.iter().any(|one| matches!(one, Unproposed::RolloutUnread(deployment) if deployment.name == "web")));
    // A pod of the older revision waits for no rollout.
    let items = [node("n", "2", &pool("x")), pod("web-bbb-1", "n", 0, "2", &new), pod("asked", "", 0, "2", &old)];
    assert!(!found(&items).unproposed.iter().any(|one| matches!(one, Unproposed::RolloutUnread(_))));
}

#[test]
fn amounts_are_in_units_that_people_write() {
    let memory = |of: &str| json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1", "memory": of}}}]}});
    let odd = json!({"status": {"allocatable": {"memory": "117500000"}}});
    let said = text(&[node("n", "4", &odd), pod("asked", "", 0, "1", &memory("1Gi"))]);
    assert!(said.contains("lower the memory request from 1Gi to 112Mi"), "{said}");
    assert!(said.contains(r#""memory":"112Mi""#), "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// No deletion is shown that emulated controllers undo: with the pod evicted as controllers would answer it, and the queue
    /// settled, the pod has a node.
    #[test]
    fn no_deletion_is_shown_that_controllers_undo(pods in prop::collection::vec((0_usize..4, 0_i32..3, 1_u32..4, any::<bool>()), 1..5), asked in 1_u32..5, priority in 0_i32..3) {
        let owners = ["", "ReplicaSet", "StatefulSet", "Job"];
        let mut items = vec![node("a", "4", &json!({})), node("b", "4", &json!({"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}))];
        for (at, (owner, priority, cpu, first)) in pods.iter().enumerate() {
            let mut rest = if owners[*owner].is_empty() { json!({}) } else { owned(owners[*owner], &format!("w{at}")) };
            merge(&mut rest, &json!({"spec": {"tolerations": [{"operator": "Exists"}]}}));
            items.push(pod(&format!("p{at}"), if *first { "a" } else { "b" }, *priority, &cpu.to_string(), &rest));
        }
        items.push(pod("asked", "", priority, &asked.to_string(), &json!({"spec": {"preemptionPolicy": "Never"}})));
        let before = scheduler(&items);
        for fix in found_for(&before, "asked").fixes {
            let [Change::Delete(Kind::Pod, key)] = &fix.changes[..] else { continue };
            let mut rehearsal = Rehearsal::new(before.clone());
            whatif::apply(&mut rehearsal, &Verb::Evict(key.to_string().into()), &|_, _| None).expect("evicted");
            let state = rehearsal.scheduler().state();
            let place = PodLocation::of(state.cluster(), state.queue().view(), &Key::new("shop", "asked"));
            prop_assert!(matches!(place, PodLocation::Node(_)), "{fix:?}: {place:?}");
        }
    }
}

/// Evicting a pod takes as much from its owner as deleting it.
#[test]
fn a_fix_that_evicts_is_a_last_resort_where_the_deletion_of_the_victim_is() {
    let class = |name: &str, value: i32| json!({"kind": "PriorityClass", "metadata": {"name": name, "uid": name}, "value": value});
    let with = |owner: &Value, class: Value, spare: bool| {
        let only_there = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "n"}}});
        let mut items = vec![node("n", "4", &json!({})), pod("web-1", "n", 0, "4", owner), pod("asked", "", 0, "4", &only_there), class];
        items.extend(spare.then(|| node("m", "4", &json!({}))));
        found(&items)
    };
    let raised = |fixes: &Fixes| -> Fix {
        let is = |fix: &&Fix| matches!(fix.changes[..], [Change::Pod(PodChange::Priority { .. })]);
        fixes.fixes.iter().find(is).expect("a higher priority").clone()
    };
    let web = owned("ReplicaSet", "web");
    let displaced = Some(LastResort::Displaces(Key::new("shop", "web-1")));
    let fixes = with(&web, class("high", 9), false);
    assert_eq!(raised(&fixes).last_resort, displaced);
    let deleted = fixes.fixes.iter().find(|fix| deletes(fix, "web-1")).expect("a deletion");
    assert_eq!(deleted.last_resort, displaced);
    // With room for the replacement it costs a restart only.
    let fix = raised(&with(&web, class("high", 9), true));
    assert_eq!((fix.last_resort, fix.reaction.recreated[0].node.as_deref()), (None, Some("m")));
    // No controller makes a bare pod again, and Kubernetes' own classes are not for any pod.
    assert_eq!(raised(&with(&json!({}), class("high", 9), true)).last_resort, Some(LastResort::Bare(Key::new("shop", "web-1"))));
    let system = raised(&with(&web, class("system-cluster-critical", 2_000_000_000), true));
    assert_eq!(system.last_resort, Some(LastResort::SystemClass("system-cluster-critical".into())));
    // By its own priority the pod may evict; who stays pending is said.
    let gate = json!({"spec": {"schedulingGates": [{"name": "example.com/quota"}]}});
    let items = [node("n", "4", &json!({})), pod("web-1", "n", 0, "4", &web), pod("asked", "", 5, "4", &gate)];
    assert_eq!(found(&items).fixes[0].last_resort, None);
    assert!(
        text(&items).contains("on n it evicts shop/web-1; ReplicaSet web makes shop/web-1 again, which stays pending"),
        "{}",
        text(&items)
    );
}

/// The pod in place of a deleted one evicts another, whose replacement stays pending.
#[test]
fn the_victims_of_a_replacement_count_too() {
    let selector = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "n"}, "preemptionPolicy": "Never"}});
    let items = [
        node("n", "4", &json!({})),
        node("m", "4", &json!({})),
        pod("web-1", "n", 5, "4", &owned("ReplicaSet", "web")),
        pod("batch-1", "m", 0, "4", &owned("ReplicaSet", "batch")),
        pod("asked", "", 7, "4", &selector),
    ];
    let fixes = found(&items);
    let delete = fixes.fixes.iter().find(|fix| deletes(fix, "web-1")).expect("a deletion");
    assert_eq!(delete.last_resort, Some(LastResort::Displaces(Key::new("shop", "batch-1"))), "{:?}", delete.reaction);
    let said = text(&items);
    assert!(
        said.contains("ReplicaSet web makes shop/web-1 again, on m; ReplicaSet batch makes shop/batch-1 again, which stays pending"),
        "{said}"
    );
}

#[test]
fn where_preemption_places_the_pod_the_fixes_say_so_first() {
    let cordoned =
        json!({"spec": {"unschedulable": true, "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]}});
    let items = [
        node("n", "4", &json!({})),
        node("c", "4", &cordoned),
        pod("low", "n", 0, "4", &owned("ReplicaSet", "low")),
        pod("asked", "", 5, "4", &json!({})),
    ];
    let said = text(&items);
    let lines: Vec<&str> = said.lines().collect();
    let first = lines.iter().position(|line| *line == "FIXES").map(|at| lines[at + 1]);
    assert_eq!(first, Some("  it needs no fix: preemption places it on n, which evicts shop/low; these would spare them"), "{said}");
    assert!(said.contains("uncordon c, unless it is being drained: fits on c"), "{said}");
    assert!(said.contains("(a drain of the node would evict the pod again)"), "{said}");
    let scheduler = scheduler(&items);
    let agreements = Agreements::of(&scheduler, &[], Vec::new(), |_| true, |_| true);
    let causes = causes(&agreements, &scheduler, Background::nothing());
    assert!(
        causes[0].fix_words().starts_with("no fix is needed: preemption makes room for it; without evictions: fix: "),
        "{}",
        causes[0].fix_words()
    );
}

/// The words of the kubelet name the cause, which no change of the pod mends.
#[test]
fn a_node_that_is_not_ready_is_named_with_what_its_kubelet_says() {
    let taint = json!([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]);
    let message = "container runtime network not ready: network plugin is not ready: cni config uninitialized";
    let ready = |message: &str| json!([{"type": "Ready", "status": "False", "reason": "KubeletNotReady", "message": message}]);
    for (message, expected) in [
        (message.to_owned(), format!("the node is not ready: {message}")),
        (String::new(), "the node is not ready: KubeletNotReady".to_owned()),
        ("x".repeat(1000), format!("the node is not ready: {}\u{2026}", "x".repeat(240))),
    ] {
        let objects = [
            json!({"kind": "Node", "metadata": {"name": "a"}, "spec": {"taints": taint},
                "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}, "conditions": ready(&message)}}),
            json!({"kind": "Pod", "metadata": {"name": "web", "namespace": "shop"}, "status": {"phase": "Pending"},
                "spec": {"schedulerName": "default-scheduler", "containers": [{"name": "c"}]}}),
        ];
        let scheduler = scheduler(&objects);
        let found = found_for(&scheduler, "web");
        let report = FixesReport::new(&found, scheduler.state().cluster(), (&|_, _| None, &Neighbors::default()));
        let why: Vec<&str> = report.fixes.iter().map(|fix| fix.last_resort.as_deref().unwrap_or_default()).collect();
        assert_eq!(why, [expected.as_str(); 2], "{:?}", report.fixes.iter().map(|fix| &fix.text).collect::<Vec<_>>());
    }
}

/// Splits a command line as a shell does, as far as single quotes go; `\'` between quotes is a quote.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\'' => quoted = !quoted,
            '\\' if !quoted => word.extend(chars.next()),
            ' ' if !quoted => words.push(std::mem::take(&mut word)),
            c => word.push(c),
        }
    }
    words.push(word);
    words
}

/// Checks the commands of a pipe: verbs of kubectl, objects that exist or are new, and JSON that parses.
fn check_command(scheduler: &Scheduler, line: &str) {
    let cluster = scheduler.state().cluster();
    let all = words(line);
    let pod = |name: &str, namespace: &str| cluster.pods.get(&Key::new(namespace, name)).is_some();
    let owns = |kind: &str, name: &str, namespace: &str| {
        cluster.pods.iter().any(|pod| {
            let owners = pod.metadata.owner_references.iter();
            let mut owners =
                owners.filter(|owner| owner.kind.eq_ignore_ascii_case(kind) || (kind == "deployment" && owner.kind == "ReplicaSet"));
            pod.metadata.namespace.as_str() == namespace && owners.any(|owner| owner.name.starts_with(name))
        })
    };
    for command in all.split(|word| word == "|") {
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let after = |flag: &str| command.iter().position(|word| *word == flag).and_then(|at| command.get(at + 1)).copied();
        let namespace = after("-n").unwrap_or_default();
        if let Some(patch) = after("-p") {
            let patch: Value = serde_json::from_str(patch).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert!(patch.is_object() || patch.is_array(), "{line}");
        }
        match command[..] {
            ["printf", "%s", text] => {
                let new = object(&serde_json::from_str(text).expect("JSON")).unwrap_or_else(|| panic!("{line}"));
                assert!(cluster.get(new.kind(), &new.key()).is_none(), "{line}");
            }
            ["kubectl", "create", "-f", "-"]
            | ["kubectl", "patch", "--local", "-f", "-", ..]
            | ["kubectl", "replace", "--force", "-f", "-"] => {}
            ["kubectl", "create", "priorityclass", name, value, ..] => {
                assert!(cluster.priority_classes.named(&name.into()).is_none() && value.starts_with("--value="), "{line}");
            }
            ["kubectl", "uncordon", node] => assert!(cluster.nodes.named(&node.into()).is_some_and(|node| node.unschedulable()), "{line}"),
            ["kubectl", "taint", "nodes", node, taint] => {
                let node = cluster.nodes.named(&node.into()).unwrap_or_else(|| panic!("{line}"));
                assert!(node.spec.taints.iter().any(|one| taint.starts_with(one.key.as_str())) && taint.ends_with('-'), "{line}");
            }
            ["kubectl", "delete" | "patch" | "get", "pod", name, ..] => assert!(pod(name, namespace), "{line}"),
            ["kubectl", "patch" | "get", kind, name, ..] => assert!(owns(kind, name, namespace), "{line}"),
            _ => panic!("unknown command: {line}"),
        }
    }
}

/// Every command of every fix in the demos is one that kubectl has, about objects that exist, with JSON that parses.
#[test]
fn every_command_names_objects_that_exist() {
    let mut commands = 0;
    for name in ["payments", "budgets", "tie-breaks", "aftermath", "queues"] {
        let loaded = schedscope::source::load(&[schedscope::source::Story::named(name).expect("a story").input()]);
        let scheduler = Scheduler::new(Config::defaults(Emulation::default()), loaded.objects, Options::default());
        let cluster = scheduler.state().cluster();
        for pod in cluster.pods.iter().filter(|pod| pod.is_pending()) {
            let found = find(&scheduler, pod, Limits::of(cluster.nodes.len()), Background::nothing(), &|_| true);
            let report = FixesReport::new(&found, cluster, Background::nothing().source());
            for line in report.fixes.iter().flat_map(|fix| fix.kubectl.iter()).flat_map(|lines| lines.lines()) {
                check_command(&scheduler, line);
                commands += 1;
            }
        }
    }
    assert!(commands > 30, "{commands}");
}
