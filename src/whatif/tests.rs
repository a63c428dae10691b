//! Each verb on a small cluster, and laws of drains and capacities.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::testing::*;
use super::*;
use crate::cluster::neighbors::{Neighbor, NeighborKind, Neighbors};
use crate::cluster::{Cluster, Key, Kind};
use crate::controllers::pods as owners;
use crate::scheduler::{PostFilter, Scheduler, StepBound};

fn key(name: &str) -> Key {
    Key::new("d", name)
}

fn allowed(stage: &Rehearsal, budget: &str) -> i32 {
    stage.scheduler().state().cluster().pod_disruption_budgets.get(&key(budget)).unwrap().status.disruptions_allowed
}

fn two_zones() -> Vec<Object> {
    vec![node("a1", 4, "a"), node("a2", 4, "a"), node("b1", 4, "b")]
}

fn with(mut objects: Vec<Object>, more: impl IntoIterator<Item = Object>) -> Vec<Object> {
    objects.extend(more);
    objects
}

#[test]
fn a_drain_moves_what_controllers_make_again_and_leaves_the_rest() {
    let pods = [
        pod("web-x", "a1", "ReplicaSet/web"),
        pod("db-0", "a1", "StatefulSet/db"),
        pod("logs-y", "a1", "DaemonSet/logs"),
        pod("proxy-a1", "a1", "Node/a1"),
        pod_with("done", "a1", "", &json!({"status": {"phase": "Succeeded"}})),
        pod("web-z", "b1", "ReplicaSet/web"),
    ];
    let mut stage = stage(with(two_zones(), pods));
    let answer = run(&mut stage, "drain a1");
    assert_eq!(ends(&answer), [&NodeEnd::Drained]);
    let fates = fates(&stage, &answer);
    assert!(fates.contains(&"logs-y a1 → stays: DaemonSet".to_owned()) && fates.contains(&"proxy-a1 a1 → stays: Mirror".to_owned()));
    assert!(fates.contains(&"done a1 → gone: Ended".to_owned()), "{fates:?}");
    let made: BTreeMap<&str, &Key> = answer
        .pods
        .iter()
        .filter_map(|pod| if let PodEnd::Recreated(new) = &pod.end { Some((pod.pod.name.as_str(), new)) } else { None })
        .collect();
    assert_eq!(made.keys().copied().collect::<Vec<_>>(), ["db-0", "web-x"]);
    assert_eq!(made["db-0"], &key("db-0"), "a StatefulSet keeps the name");
    assert!(made["web-x"].name.starts_with("web-") && made["web-x"].name.len() == "web-".len() + 5);
    let pods = &stage.scheduler().state().cluster().pods;
    for new in made.values() {
        let pod = pods.get(new).unwrap();
        assert!(pod.node_name == "a2" || pod.node_name == "b1", "{pod:?}");
        assert_ne!(pod.metadata.uid, format!("uid-{}", new.name).as_str());
        assert!(pod.metadata.controller().is_some());
    }
    assert!(stage.scheduler().state().cluster().nodes.named(&"a1".into()).unwrap().unschedulable());
    assert!(answer.is_complete(stage.scheduler().state().cluster()));
}

#[test]
fn a_bare_pod_stops_the_drain_of_its_node_alone() {
    let pods = [pod("web-x", "a1", "ReplicaSet/web"), pod("bare", "a1", ""), pod("web-y", "a2", "ReplicaSet/web")];
    let mut stage = stage(with(two_zones(), pods));
    let answer = run(&mut stage, "drain a1 a2");
    assert_eq!(ends(&answer), [&NodeEnd::Bare { pods: vec![key("bare")], blocks: Vec::new() }, &NodeEnd::Drained]);
    let on_a1 = stage.scheduler().state().cluster().pods.iter().filter(|pod| pod.node_name == "a1").count();
    assert_eq!((on_a1, fates(&stage, &answer)), (2, vec!["web-y a2 → b1".to_owned()]), "a1 is cordoned too");
    assert!(!answer.is_complete(stage.scheduler().state().cluster()));
}

#[test]
fn budgets_that_would_stop_a_drain_are_named_with_bare_pods() {
    let blocks = |allowed: i32| {
        let labelled = json!({"metadata": {"labels": {"app": "web"}}});
        let bare = |name| pod_with(name, "a1", "", &labelled);
        let web = budget("web", &json!({"disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 3 - allowed}));
        let mut stage = stage(with(two_zones(), [bare("b1"), bare("b2"), pod("web-x", "a1", "ReplicaSet/web"), web]));
        let answer = run(&mut stage, "drain a1");
        let NodeEnd::Bare { pods, blocks } = &answer.nodes[0].end else { panic!("{answer:?}") };
        assert_eq!(pods.len(), 2);
        blocks.clone()
    };
    let block = |allowed, desired| Block::Exhausted { budget: key("web"), allowed, healthy: Some((3, desired)) };
    assert_eq!(blocks(0), [block(0, 3)], "named once, though it covers three pods");
    assert_eq!(blocks(1), [block(1, 2)], "nothing gives the disruption of the first bare pod back");
    assert_eq!(blocks(2), []);
}

#[test]
fn a_budget_gives_way_as_its_replacements_are_placed() {
    let pods = ["w1", "w2", "w3"].map(|name| pod(name, "a1", "ReplicaSet/web"));
    let one_at_a_time = budget("web", &json!({"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2}));
    let mut stage = stage(with(two_zones(), pods.into_iter().chain([one_at_a_time])));
    let answer = run(&mut stage, "drain a1");
    assert_eq!(ends(&answer), [&NodeEnd::Drained]);
    assert_eq!(answer.pods.len(), 3);
    assert_eq!(allowed(&stage, "web"), 1, "the budget has its disruption back");
}

#[test]
fn a_budget_stops_a_drain_whose_replacements_stay_pending() {
    // Only one more pod fits beside a1.
    let full = (0..7).map(|i| pod(&format!("f{i}"), if i < 4 { "a2" } else { "b1" }, "ReplicaSet/full"));
    let pods = ["w1", "w2", "w3", "w4"].map(|name| pod(name, "a1", "ReplicaSet/web"));
    let two = budget("web", &json!({"disruptionsAllowed": 1, "currentHealthy": 4, "desiredHealthy": 3}));
    let mut stage = stage(with(two_zones(), full.chain(pods).chain([two])));
    let answer = run(&mut stage, "drain a1");
    assert_eq!(ends(&answer), [&NodeEnd::Blocked]);
    let blocked: Vec<&Block> =
        answer.pods.iter().filter_map(|pod| if let PodEnd::Stays(Stay::Blocked(block)) = &pod.end { Some(block) } else { None }).collect();
    let Block::Waits { budget, replacements } = blocked[0] else { panic!("{blocked:?}") };
    assert_eq!((budget, replacements.len(), blocked.len()), (&key("web"), 1, 2));
    let waits = Whereabouts::of(stage.scheduler(), &replacements[0]);
    assert!(waits.node().is_none() && waits.message.contains("Insufficient cpu"), "{waits:?}");
}

#[test]
fn an_exhausted_budget_keeps_its_pods_and_the_next_node_waits() {
    let pods = [pod("w1", "a1", "ReplicaSet/web"), pod("x", "a2", "ReplicaSet/other")];
    let none = budget("web", &json!({"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1}));
    let mut stage = stage(with(two_zones(), pods.into_iter().chain([none])));
    let answer = run(&mut stage, "drain a1 a2");
    assert_eq!(ends(&answer), [&NodeEnd::Blocked, &NodeEnd::NotReached]);
    let block = Block::Exhausted { budget: key("web"), allowed: 0, healthy: Some((1, 1)) };
    assert_eq!(answer.pods, [PodAnswer { pod: key("w1"), node: "a1".into(), end: PodEnd::Stays(Stay::Blocked(block)) }]);
    run(&mut stage, "relax web");
    assert_eq!(allowed(&stage, "web"), 1);
    assert_eq!(ends(&run(&mut stage, "drain a1 a2")), [&NodeEnd::Drained, &NodeEnd::Drained]);
}

#[test]
fn unready_pods_go_as_their_budget_says() {
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}});
    for (current, policy, goes) in [(1, json!(null), false), (1, json!("AlwaysAllow"), true), (2, json!(null), true)] {
        let mut budget = json!({
            "metadata": {"name": "web", "namespace": "d"}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
            "status": {"disruptionsAllowed": 0, "currentHealthy": current, "desiredHealthy": 2}
        });
        if !policy.is_null() {
            budget["spec"]["unhealthyPodEvictionPolicy"] = policy.clone();
        }
        let objects = [pod_with("w1", "a1", "ReplicaSet/web", &unready), object(Kind::PodDisruptionBudget, &budget)];
        let mut stage = stage(with(two_zones(), objects));
        let answer = run(&mut stage, "evict w1");
        assert_eq!(matches!(answer.pods[0].end, PodEnd::Recreated(_)), goes, "{current} {policy}");
    }
}

#[test]
fn two_budgets_of_one_pod_block_it_and_a_starting_pod_needs_none() {
    let both = |status: &str| {
        let mut second = json!({
            "metadata": {"name": "all", "namespace": "d"}, "spec": {"selector": {}}, "status": {"disruptionsAllowed": 9}
        });
        second["spec"]["selector"] = json!({});
        let pod = pod_with("w1", "a1", "ReplicaSet/web", &json!({"status": {"phase": status}}));
        let budgets = [budget("web", &json!({"disruptionsAllowed": 9})), object(Kind::PodDisruptionBudget, &second)];
        with(two_zones(), budgets.into_iter().chain([pod]))
    };
    let mut refused = stage(both("Running"));
    let answer = run(&mut refused, "evict d/w1");
    assert_eq!(answer.pods[0].end, PodEnd::Stays(Stay::Blocked(Block::Several(vec![key("all"), key("web")]))));
    let mut starting = stage(both("Pending"));
    assert!(matches!(run(&mut starting, "evict w1").pods[0].end, PodEnd::Recreated(_)));
}

#[test]
fn a_lost_zone_takes_everything_along_and_asks_no_budget() {
    let none = budget("web", &json!({"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2}));
    let pods = [
        pod("w1", "a1", "ReplicaSet/web"),
        pod("w2", "a2", "ReplicaSet/web"),
        pod("bare", "a1", ""),
        pod("logs-y", "a2", "DaemonSet/logs"),
        pod("proxy", "a2", "Node/a2"),
    ];
    let mut stage = stage(with(two_zones(), pods.into_iter().chain([none])));
    let answer = run(&mut stage, "lose zone=a");
    let mut fates = fates(&stage, &answer);
    fates.sort();
    let expected = ["bare a1 → gone: Bare", "logs-y a2 → gone: DaemonSet", "proxy a2 → gone: Mirror", "w1 a1 → b1", "w2 a2 → b1"];
    assert_eq!(fates, expected);
    assert_eq!(stage.scheduler().state().cluster().nodes.len(), 1);
    let status = &stage.scheduler().state().cluster().pod_disruption_budgets.get(&key("web")).unwrap().status;
    assert_eq!((status.current_healthy, status.disruptions_allowed), (2, 0), "two replacements are healthy again");
}

#[test]
fn labels_of_lost_nodes_may_be_short_and_unknown_ones_are_corrected() {
    let mut stage = stage(two_zones());
    let error = |stage: &mut Rehearsal, verb: &str| try_run(stage, verb).expect_err(verb).to_string();
    assert_eq!(error(&mut stage, "lose zone=c"), "no node has the label zone=c; did you mean zone=a?");
    assert_eq!(error(&mut stage, "lose zoen=a"), "no node has the label zoen=a; did you mean zone=a?");
    assert_eq!(error(&mut stage, "lose a3"), "there is no Node a3; did you mean a1?");
    assert_eq!(error(&mut stage, "drain worker-x"), "there is no Node worker-x");
    assert_eq!(error(&mut stage, "cordon b2"), "there is no Node b2; did you mean a2?");
    assert_eq!(error(&mut stage, "evict web"), "there is no Pod web");
    assert_eq!(ends(&run(&mut stage, "lose topology.kubernetes.io/zone=b")), [&NodeEnd::Lost]);
}

#[test]
fn pods_are_found_by_name_alone_if_one_has_it() {
    let elsewhere = pod_with("p", "", "", &json!({"metadata": {"namespace": "e"}}));
    let mut stage = stage(vec![node("n", 1, "a"), pod("p", "", ""), elsewhere, pod("payments", "", "")]);
    let error = |stage: &mut Rehearsal, verb: &str| try_run(stage, verb).expect_err(verb).to_string();
    assert_eq!(error(&mut stage, "capacity p"), "d/p and e/p have this name: give the namespace too");
    assert_eq!(error(&mut stage, "capacity paymnets"), "there is no Pod paymnets; did you mean d/payments?");
    assert_eq!(error(&mut stage, "capacity e/payments"), "there is no Pod e/payments; did you mean d/payments?");
    assert_eq!(error(&mut stage, "evict payments"), "d/payments is not on a node");
    assert_eq!(error(&mut stage, "ungate payments"), "d/payments has no scheduling gate");
}

#[test]
fn added_nodes_are_like_one_and_take_pending_pods() {
    let cordoned = json!({"spec": {"unschedulable": true, "taints": [
        {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "own", "effect": "PreferNoSchedule"}]}});
    let Object::Node(first) = node("n", 2, "a") else { panic!() };
    let mut value = serde_json::to_value(&*first).unwrap();
    merge(&mut value, &cordoned);
    let slice = json!({"metadata": {"name": "s"}, "spec": {"nodeName": "n", "driver": "d", "pool": {"name": "n"}}});
    let objects = vec![
        object(Kind::Node, &value),
        object(Kind::ResourceSlice, &slice),
        pod("logs-y", "n", "DaemonSet/logs"),
        pod("p1", "", ""),
        pod("p2", "", ""),
        pod("p3", "", ""),
    ];
    let mut stage = stage(objects);
    let answer = run(&mut stage, "add 2 like n");
    let cluster = stage.scheduler().state().cluster();
    let names: Vec<&str> = cluster.nodes.iter().map(|node| node.name().as_str()).collect();
    assert_eq!(names, ["n", "n-like-1", "n-like-2"]);
    let new = cluster.nodes.named(&"n-like-2".into()).unwrap();
    assert_eq!((new.unschedulable(), new.spec.taints.len()), (false, 1));
    assert_eq!(new.metadata.labels.get("kubernetes.io/hostname").map(crate::cluster::Str::as_str), Some("n-like-2"));
    assert_eq!(cluster.resource_slices.iter().filter(|s| s.spec.pool.name == "n-like-2").count(), 1);
    // Each takes the DaemonSet's pod and one more.
    let placed = ["p1", "p2", "p3"].iter().filter(|p| !cluster.pods.get(&key(p)).unwrap().node_name.is_empty()).count();
    assert_eq!((placed, answer.pods.len()), (2, 2));
}

#[test]
fn a_deployment_is_scaled_by_the_pods_of_its_replica_set() {
    let set = json!({"metadata": {"name": "web-7f", "namespace": "d", "ownerReferences":
        [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": true}]}});
    let pods = [pod("web-7f-a", "a1", "ReplicaSet/web-7f"), pod("web-7f-b", "", "ReplicaSet/web-7f")];
    let mut stage = stage(with(two_zones(), pods.into_iter().chain([object(Kind::ReplicaSet, &set)])));
    let answer = run(&mut stage, "scale deployment/web 4");
    let fates = fates(&stage, &answer);
    assert_eq!((fates.len(), fates.iter().filter(|fate| fate.contains("new, ") && !fate.contains("pending")).count()), (2, 2), "{fates:?}");
    let count = |stage: &Rehearsal| stage.scheduler().state().cluster().pods.len();
    assert_eq!(count(&stage), 4);
    assert!(run(&mut stage, "scale deploy d/web 1").pods.iter().all(|pod| pod.end == PodEnd::Gone(Departure::ScaledDown)));
    assert_eq!(count(&stage), 1);
    assert!(matches!(try_run(&mut stage, "scale deployment/web 1"), Err(WhatIfError::NothingChanges)));
    run(&mut stage, "scale deployment/web 0");
    assert_eq!(
        try_run(&mut stage, "scale deployment/web 2").unwrap_err().to_string(),
        "deployment/web has no living pod to copy, and its template was not read"
    );
    assert_eq!(
        try_run(&mut stage, "scale deployment/wbe 2").unwrap_err().to_string(),
        "there is no deployment/wbe; did you mean deployment/d/web?"
    );
    let template = json!({"metadata": {"name": "web-7f", "uid": "u7"}, "spec": {"template": {
        "metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}}});
    let original = |kind: Kind, at: &Key| (kind == Kind::ReplicaSet && *at == key("web-7f")).then(|| template.clone());
    let answer = apply(&mut stage, &"scale deployment/web 2".parse().unwrap(), &original).unwrap();
    assert_eq!(answer.pods.len(), 2);
    let new = stage.scheduler().state().cluster().pods.get(&answer.pods[0].pod).unwrap();
    assert!(new.metadata.labels.get("app").is_some_and(|app| app == "web") && !new.node_name.is_empty(), "{new:?}");
}

#[test]
fn a_stateful_set_is_scaled_by_ordinals_each_with_its_claim() {
    let claim = json!({"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]});
    let bound = json!({"metadata": {"name": "data-db-0", "namespace": "d", "uid": "c0", "annotations":
        {"pv.kubernetes.io/bind-completed": "yes"}}, "spec": {"volumeName": "v", "storageClassName": "fast", "accessModes": ["ReadWriteOnce"]},
        "status": {"phase": "Bound"}});
    let class = json!({"metadata": {"name": "fast"}, "provisioner": "x", "volumeBindingMode": "WaitForFirstConsumer"});
    let volume = json!({"metadata": {"name": "v"}, "spec": {"claimRef": {"namespace": "d", "name": "data-db-0", "uid": "c0"},
        "storageClassName": "fast"}, "status": {"phase": "Bound"}});
    let objects = [
        pod_with("db-0", "a1", "StatefulSet/db", &json!({"spec": claim})),
        object(Kind::PersistentVolumeClaim, &bound),
        object(Kind::StorageClass, &class),
        object(Kind::PersistentVolume, &volume),
    ];
    let mut stage = stage(with(two_zones(), objects));
    let answer = run(&mut stage, "scale sts/db 3");
    assert_eq!(answer.pods.iter().map(|pod| pod.pod.name.as_str()).collect::<Vec<_>>(), ["db-1", "db-2"]);
    let cluster = stage.scheduler().state().cluster();
    for name in ["db-1", "db-2"] {
        let pod = cluster.pods.get(&key(name)).unwrap();
        assert!(!pod.node_name.is_empty(), "{:?}", Whereabouts::of(stage.scheduler(), &key(name)));
        assert_eq!(pod.spec.volumes[0].persistent_volume_claim.as_ref().unwrap().claim_name, format!("data-{name}").as_str());
        assert!(cluster.persistent_volume_claims.get(&key(&format!("data-{name}"))).is_some());
    }
    let fates = run(&mut stage, "scale sts/db 1").pods.into_iter().map(|pod| pod.pod.name.to_string()).collect::<Vec<_>>();
    assert_eq!(fates, ["db-2", "db-1"]);
}

#[test]
fn taints_labels_priorities_and_gates_change_their_object() {
    let class = json!({"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"});
    let gated = pod_with("g", "", "", &json!({"spec": {"schedulingGates": [{"name": "shut"}]}}));
    let tolerant = pod_with("t", "a1", "ReplicaSet/t", &json!({"spec": {"tolerations": [{"operator": "Exists"}]}}));
    let objects = [pod("web-x", "a1", "ReplicaSet/web"), tolerant, gated, object(Kind::PriorityClass, &class)];
    let mut stage = stage(with(two_zones(), objects));
    let of_node = |stage: &Rehearsal| stage.scheduler().state().cluster().nodes.named(&"a1".into()).unwrap().as_ref().clone();
    run(&mut stage, "taint a1 own=x:PreferNoSchedule");
    assert_eq!(of_node(&stage).spec.taints.len(), 1);
    assert!(matches!(try_run(&mut stage, "taint a1 own=x:PreferNoSchedule"), Err(WhatIfError::NothingChanges)));
    let wrong = try_run(&mut stage, "taint a1 onw-").unwrap_err().to_string();
    assert_eq!(wrong, "a1 has no taint onw-; did you mean own-?");
    run(&mut stage, "taint a1 own-");
    let answer = run(&mut stage, "taint a1 out:NoExecute");
    assert_eq!(answer.pods.iter().map(|pod| pod.pod.name.as_str()).collect::<Vec<_>>(), ["web-x"], "the other tolerates it");
    run(&mut stage, "label a1 disk=ssd");
    assert_eq!(of_node(&stage).metadata.labels.get("disk").map(crate::cluster::Str::as_str), Some("ssd"));
    run(&mut stage, "label a1 disk-");
    assert_eq!(try_run(&mut stage, "label a1 disk-").unwrap_err().to_string(), "a1 has no label disk");
    let pod = |stage: &Rehearsal| stage.scheduler().state().cluster().pods.get(&key("g")).unwrap().as_ref().clone();
    run(&mut stage, "priority g high");
    assert_eq!((pod(&stage).priority(), pod(&stage).spec.preemption_policy.as_deref()), (1000, Some("Never")));
    run(&mut stage, "priority g -5");
    assert_eq!((pod(&stage).priority(), pod(&stage).spec.priority_class_name.as_str()), (-5, ""));
    let wrong = try_run(&mut stage, "priority g hihg").unwrap_err().to_string();
    assert_eq!(wrong, "there is no PriorityClass hihg; did you mean high?");
    run(&mut stage, "ungate g");
    while stage.settle_step() {}
    assert!(!pod(&stage).node_name.is_empty());
}

#[test]
fn the_configuration_is_edited_and_the_scheduler_starts_again() {
    let mut stage = stage(with(two_zones(), [pod("p", "", "")]));
    run(&mut stage, "weights ImageLocality=9");
    run(&mut stage, "plugin off NodeResourcesFit");
    run(&mut stage, "gate SchedulerAsyncPreemption=false");
    run(&mut stage, "release 1.33");
    let config = stage.scheduler().state().config();
    let weight = config.profiles[0].score.iter().find(|(plugin, _)| plugin.name().as_str() == "ImageLocality").map(|(_, weight)| *weight);
    assert_eq!(weight, Some(9));
    assert!(config.profiles[0].filter.iter().all(|plugin| plugin.name().as_str() != "NodeResourcesFit"));
    assert_eq!(stage.scheduler().emulated().profile.release.minor(), "1.33");
    let error = |verb: &str| try_run(&mut stage.clone(), verb).unwrap_err().to_string();
    assert!(error("gate SchedulerAsyncPreemtion=true").ends_with("did you mean SchedulerAsyncPreemption?"));
    assert_eq!(error("plugin off NodeResourcesFit"), "NodeResourcesFit is not enabled");
    assert!(error("release 1.20").contains("would not start with this configuration"), "{}", error("release 1.20"));
}

#[test]
fn claims_made_for_a_pod_are_made_again_and_shared_ones_are_freed() {
    let entry = json!([{"name": "gpu", "resourceClaimTemplateName": "t"}, {"name": "shared", "resourceClaimName": "s"}]);
    let patch = json!({
        "spec": {"resourceClaims": entry, "volumes": [{"name": "scratch", "ephemeral": {}}]},
        "status": {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "web-x-gpu-1"}]}
    });
    let consumer = json!([{"resource": "pods", "name": "web-x", "uid": "uid-web-x"}]);
    let claim = |name: &str| json!({"metadata": {"name": name, "namespace": "d"}, "status": {"allocation": {}, "reservedFor": consumer}});
    let scratch = json!({"metadata": {"name": "web-x-scratch", "namespace": "d"}, "spec": {"volumeName": "v", "storageClassName": "now"}});
    let objects = [
        pod_with("web-x", "a1", "ReplicaSet/web", &patch),
        object(Kind::ResourceClaim, &claim("web-x-gpu-1")),
        object(Kind::ResourceClaim, &claim("s")),
        object(Kind::PersistentVolumeClaim, &scratch),
        object(Kind::StorageClass, &json!({"metadata": {"name": "now"}, "provisioner": "x", "volumeBindingMode": "Immediate"})),
    ];
    let mut stage = stage(with(two_zones(), objects));
    let answer = run(&mut stage, "drain a1");
    let PodEnd::Recreated(new) = &answer.pods[0].end else { panic!("{answer:?}") };
    let cluster = stage.scheduler().state().cluster();
    let pod = cluster.pods.get(new).unwrap();
    let made = format!("{}-gpu", new.name);
    assert_eq!(pod.status.resource_claim_statuses[0].resource_claim_name.as_deref(), Some(made.as_str()));
    let owner = |meta: &crate::cluster::Meta| meta.controller().map(|owner| owner.uid.clone());
    assert_eq!(owner(&cluster.resource_claims.get(&key(&made)).unwrap().metadata), Some(pod.metadata.uid.clone()));
    assert!(
        cluster.resource_claims.get(&key("web-x-gpu-1")).is_none() && cluster.persistent_volume_claims.get(&key("web-x-scratch")).is_none()
    );
    let shared = &cluster.resource_claims.get(&key("s")).unwrap().status;
    assert!(shared.reserved_for.iter().all(|c| c.uid != "uid-web-x"));
    let scratch = cluster.persistent_volume_claims.get(&key(&format!("{}-scratch", new.name))).unwrap();
    assert_eq!((owner(&scratch.metadata), scratch.spec.volume_name.as_str()), (Some(pod.metadata.uid.clone()), ""));
    assert_eq!(answer.notes, [Note::ImmediateClaim(scratch.metadata.key())]);
}

/// Whether one more copy fits anywhere, beside copies on nodes, by a decision about every node.
fn fits_with(scheduler: &Scheduler, like: &str, nodes: &BTreeMap<crate::cluster::Str, usize>) -> bool {
    let like = scheduler.state().cluster().pods.get(&key(like)).unwrap().clone();
    let mut edits = Vec::new();
    let copies = nodes.iter().flat_map(|(node, count)| std::iter::repeat_n(node, *count));
    for (at, node) in copies.enumerate() {
        let mut copy = owners::copy(&like, format!("other-{at}").into(), jiff::Timestamp::UNIX_EPOCH);
        copy.node_name = node.clone();
        edits.push(crate::scheduler::ObjectEdit::Put(Object::Pod(std::sync::Arc::new(copy))));
    }
    if like.node_name.is_empty() {
        edits.push(crate::scheduler::ObjectEdit::Remove(Kind::Pod, like.key()));
    }
    let next = owners::copy(&like, "next".into(), jiff::Timestamp::UNIX_EPOCH);
    let decision = scheduler.looking_at_all_nodes().with_edits(edits).dry_decision(&std::sync::Arc::new(next), PostFilter::LeaveOut);
    !decision.best().is_empty()
}

#[test]
fn capacity_counts_what_fits_and_names_what_stops_the_next() {
    let anti = json!({"spec": {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        [{"labelSelector": {"matchLabels": {"app": "one"}}, "topologyKey": "kubernetes.io/hostname"}]}}}});
    let spread = json!({"spec": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "even"}}}]}});
    let ports = json!({"spec": {"containers": [{"name": "c", "ports": [{"hostPort": 80, "protocol": "TCP"}]}]}});
    let objects = [
        pod("p", "", "ReplicaSet/p"),
        pod_with("one", "", "ReplicaSet/one", &anti),
        pod_with("even", "", "ReplicaSet/even", &spread),
        pod_with("port", "", "ReplicaSet/port", &ports),
        pod("running", "b1", "ReplicaSet/running"),
    ];
    let scheduler = scheduler(with(two_zones(), objects));
    for (name, fits, next) in [
        ("p", 11, "Insufficient cpu"),
        ("one", 3, "anti-affinity"),
        // Three in the smaller zone, one more in the larger.
        ("even", 7, "Insufficient cpu"),
        ("port", 3, "free ports"),
        ("running", 11, "Insufficient cpu"),
    ] {
        let pod = scheduler.state().cluster().pods.get(&key(name)).unwrap().clone();
        let found = capacity(&scheduler, &pod, &|_| true).unwrap();
        assert_eq!((found.fits, found.nodes.values().sum::<usize>()), (fits, fits), "{name}: {found:?}");
        let CapacityEnd::Full(message) = &found.end else { panic!("{found:?}") };
        assert!(message.contains(next) && message.starts_with("0/3 nodes are available"), "{name}: {message}");
        let said = found.next.as_ref().and_then(|view| view.failure.as_ref().map(|failure| failure.message.to_string()));
        assert!(said.is_some_and(|said| said.contains(next) && !said.contains("not found")), "{name}: the decision about the next one");
        assert_eq!((found.is_pending, found.others), (name != "running", if name == "running" { 4 } else { 3 }), "{name}");
        assert!(!fits_with(&scheduler, name, &found.nodes), "{name}");
    }
    let pod = scheduler.state().cluster().pods.get(&key("p")).unwrap().clone();
    assert_eq!(capacity(&scheduler, &pod, &|_| false).unwrap().end, CapacityEnd::Cancelled);
}

/// Two pods of lower priority run, one with a budget, and pods of a higher one keep coming.
fn flooded(most: usize, watch: &dyn Fn(usize) -> bool) -> super::Flood {
    let priority = |priority: i32| json!({"spec": {"priority": priority}});
    let budget = json!({"metadata": {"name": "low", "namespace": "d"}, "spec": {"selector": {"matchLabels": {"app": "low"}}},
        "status": {"disruptionsAllowed": 0}});
    let objects = [
        pod_with("x", "", "ReplicaSet/x", &priority(100)),
        pod_with("low", "b1", "ReplicaSet/low", &priority(-10)),
        pod_with("lower", "a1", "", &priority(-20)),
        pod_with("same", "a1", "ReplicaSet/same", &priority(100)),
        pod_with("waiting", "", "", &priority(100)),
        object(Kind::PodDisruptionBudget, &budget),
    ];
    let scheduler = scheduler(with(two_zones(), objects));
    let pod = scheduler.state().cluster().pods.get(&key("x")).unwrap().clone();
    super::flood::flood_within(&scheduler, &pod, watch, most).unwrap()
}

#[test]
fn pods_that_keep_coming_evict_others_until_preemption_ends() {
    let found = flooded(1000, &|_| true);
    assert_eq!((found.fits, found.placed, found.others), (9, 11, 1), "{found:?}");
    let victims: Vec<_> =
        found.victims.iter().map(|v| (v.pod.name.as_str(), v.node.as_str(), v.priority, v.by, v.violates.len())).collect();
    assert_eq!(victims, [("lower", "a1", -20, 10, 0), ("low", "b1", -10, 11, 1)], "the one without a budget goes first");
    assert!(found.victims[0].workload.is_none() && found.victims[1].workload.as_ref().is_some_and(|w| w.ends_with("low")), "{found:?}");
    assert!(matches!(&found.end, CapacityEnd::Full(message) if message.contains("Insufficient cpu")), "{found:?}");
    assert_eq!(flooded(1000, &|_| false).end, CapacityEnd::Cancelled);
}

#[test]
fn pods_that_keep_coming_are_bounded() {
    let found = flooded(1, &|_| true);
    assert_eq!((found.placed, found.victims.len(), found.end), (10, 1, CapacityEnd::Limit));
}

#[test]
fn capacity_of_a_pod_with_a_claim_ends_where_volumes_do() {
    let volume = |name: &str| {
        object(
            Kind::PersistentVolume,
            &json!({"metadata": {"name": name}, "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
                "storageClassName": "local"}, "status": {"phase": "Available"}}),
        )
    };
    let claim = json!({"metadata": {"name": "data-db-0", "namespace": "d"}, "spec": {"storageClassName": "local",
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}});
    let class =
        json!({"metadata": {"name": "local"}, "provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"});
    let uses = json!({"spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}]}});
    let objects = [
        volume("v1"),
        volume("v2"),
        object(Kind::PersistentVolumeClaim, &claim),
        object(Kind::StorageClass, &class),
        pod_with("db-0", "", "StatefulSet/db", &uses),
        pod("other", "", ""),
    ];
    let scheduler = scheduler(with(two_zones(), objects));
    let pod = scheduler.state().cluster().pods.get(&key("db-0")).unwrap().clone();
    let found = capacity(&scheduler, &pod, &|_| true).unwrap();
    assert_eq!(found.fits, 2, "{found:?}");
    assert!(matches!(&found.end, CapacityEnd::Full(message) if message.contains("persistent volumes to bind")), "{found:?}");
    let said = found.next.as_ref().and_then(|view| view.failure.as_ref().map(|failure| failure.message.to_string()));
    assert!(said.is_some_and(|said| said.contains("persistent volumes to bind")));
}

/// Copies without a claim are decided dry, those with one by scheduling cycles.
#[test]
fn copies_are_counted_until_decisions_took_many_steps() {
    let class = json!({"metadata": {"name": "fast"}, "provisioner": "e.com", "volumeBindingMode": "WaitForFirstConsumer"});
    let claim = json!({"metadata": {"name": "data-x-0", "namespace": "d"}, "spec": {"storageClassName": "fast",
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}, "status": {"phase": "Pending"}});
    let claimed = json!({"spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data-x-0"}}]}});
    let spread = json!({"spec": {"topologySpreadConstraints": [{"maxSkew": 9, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}]}});
    for (uses, owner) in [(spread, "ReplicaSet/x"), (claimed, "StatefulSet/x")] {
        let objects = [object(Kind::PersistentVolumeClaim, &claim), object(Kind::StorageClass, &class), pod_with("x-0", "", owner, &uses)];
        let scheduler = scheduler(with(two_zones(), objects));
        let pod = scheduler.state().cluster().pods.get(&key("x-0")).unwrap().clone();
        let whole = capacity(&scheduler, &pod, &|_| true).unwrap();
        assert!(matches!(whole.end, CapacityEnd::Full(_)) && whole.fits > 3, "{whole:?}");
        let cut = super::capacity::capacity_within(&scheduler, &pod, &|_| true, 1).unwrap();
        assert_eq!((cut.fits, cut.end), (1, CapacityEnd::Limit));
    }
}

/// Counts every pod of a cluster by its owner, and bare pods by name.
fn census(cluster: &Cluster) -> BTreeMap<String, usize> {
    let mut census = BTreeMap::new();
    for pod in cluster.pods.iter() {
        let of = pod.metadata.controller().map_or_else(|| pod.metadata.name.to_string(), |owner| format!("{}/{}", owner.kind, owner.name));
        *census.entry(of).or_insert(0) += 1;
    }
    census
}

const OWNERS: [&str; 6] = ["ReplicaSet/web", "ReplicaSet/api", "StatefulSet/db", "Job/batch", "DaemonSet/logs", ""];

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// A drain keeps every pod exactly once; a pod that is gone is reported, budgets are never overdrawn.
    #[test]
    fn a_drain_keeps_every_pod_once(
        pods in prop::collection::vec((0..4_usize, 0..6_usize), 1..16),
        allowed in 0..3_i32,
        cpus in prop::collection::vec(2..6_u32, 4),
    ) {
        let nodes = (0..4).map(|n| node(&format!("n{n}"), cpus[n], if n < 2 { "a" } else { "b" }));
        let pods: Vec<Object> = pods.iter().enumerate().map(|(i, (node, owner))| {
            let name = if OWNERS[*owner] == "StatefulSet/db" { format!("db-{i}") } else { format!("p{i}") };
            pod(&name, &format!("n{node}"), OWNERS[*owner])
        }).collect();
        let web = budget("web", &json!({"disruptionsAllowed": allowed}));
        let mut stage = stage(nodes.chain(pods).chain([web]).collect());
        let before = stage.scheduler().state().cluster().clone();
        let answer = run(&mut stage, "drain n0 n1");
        let after = stage.scheduler().state().cluster();
        // Without preemption (all priorities are equal) nothing is lost.
        prop_assert_eq!(census(&before), census(after));
        let uids: BTreeSet<_> = after.pods.iter().map(|pod| pod.metadata.uid.clone()).collect();
        prop_assert_eq!(uids.len(), after.pods.len(), "every pod has a uid of its own");
        let mut reported = BTreeSet::new();
        for pod in &answer.pods {
            prop_assert!(reported.insert(pod.pod.clone()), "{} is reported once", pod.pod);
            let old = before.pods.get(&pod.pod).unwrap();
            match &pod.end {
                PodEnd::Recreated(new) => {
                    prop_assert_ne!(&after.pods.get(new).unwrap().metadata.uid, &old.metadata.uid);
                    prop_assert!(new == &pod.pod || after.pods.get(&pod.pod).is_none());
                }
                PodEnd::Stays(_) => prop_assert_eq!(&after.pods.get(&pod.pod).unwrap().node_name, &old.node_name),
                other => prop_assert!(false, "{:?}", other),
            }
        }
        for node in &answer.nodes {
            let left: Vec<_> = after.pods.iter().filter(|pod| pod.node_name == node.node).collect();
            let all_daemons = left.iter().all(|pod| pod.metadata.controller().is_some_and(|owner| owner.kind == "DaemonSet"));
            prop_assert!(node.end != NodeEnd::Drained || all_daemons, "{:?} {:?}", node, left);
        }
        let status = &after.pod_disruption_budgets.iter().next().unwrap().status;
        prop_assert!((0..=allowed).contains(&status.disruptions_allowed));
    }

    /// As many as are counted fit, and one more does not.
    #[test]
    fn capacity_is_exact(
        cpus in prop::collection::vec(0..6_u32, 3),
        running in prop::collection::vec(0..3_usize, 0..6),
        kind in 0..3_usize,
    ) {
        let patch = match kind {
            0 => json!({}),
            1 => json!({"spec": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "p"}}}]}}),
            _ => json!({"spec": {"containers": [{"name": "c", "ports": [{"hostPort": 80}]}]}}),
        };
        let nodes = (0..3).map(|n| node(&format!("n{n}"), cpus[n], "a"));
        let others = running.iter().enumerate().map(|(i, n)| pod(&format!("r{i}"), &format!("n{n}"), "ReplicaSet/r"));
        let scheduler = scheduler(nodes.chain(others).chain([pod_with("p", "", "ReplicaSet/p", &patch)]).collect());
        let pod = scheduler.state().cluster().pods.get(&key("p")).unwrap().clone();
        let found = capacity(&scheduler, &pod, &|_| true).unwrap();
        prop_assert!(matches!(found.end, CapacityEnd::Full(_)));
        prop_assert!(!fits_with(&scheduler, "p", &found.nodes), "one more fits beside {:?}", found);
        if kind != 1 {
            // Beside all but one of a node, one fits: the counted one.
            for node in found.nodes.keys() {
                let mut fewer = found.nodes.clone();
                fewer.entry(node.clone()).and_modify(|count| *count -= 1);
                prop_assert!(fits_with(&scheduler, "p", &fewer), "{:?} without one on {}", found, node);
            }
        }
    }
}

/// Applies verbs on a branch of a session.
fn on_branch(session: &mut crate::session::Session, verbs: &[&str]) {
    session.begin_what_if();
    for verb in verbs {
        apply(&mut OnBranch::new(session, &|| true), &verb.parse().unwrap(), &|_, _| None)
            .unwrap_or_else(|error| panic!("{verb}: {error}"));
    }
}

#[test]
fn a_what_if_is_undone_by_going_back_and_saved_with_the_session() {
    use crate::session::{Cursor, Session};
    let pods = ["w1", "w2", "w3"].map(|name| pod(name, "a1", "ReplicaSet/web"));
    let one = budget("web", &json!({"disruptionsAllowed": 1, "currentHealthy": 3, "desiredHealthy": 2}));
    let start = scheduler(with(two_zones(), pods.into_iter().chain([one, pod("p", "", "ReplicaSet/p")])));
    let mut session = Session::new(start.clone(), "test");
    let verbs = ["drain a1", "weights ImageLocality=9", "lose b1", "plugin off ImageLocality", "add 1 like a2", "scale rs/web 5"];
    on_branch(&mut session, &verbs);
    assert_eq!((session.branches().len(), session.current()), (2, 1), "one branch for all of them");
    let end = session.timeline().end().clone();
    // The same operations without a record lead to the same cluster.
    let mut rehearsal = Rehearsal::new(start.clone());
    for verb in verbs {
        run(&mut rehearsal, verb);
    }
    assert_eq!(rehearsal.scheduler().state().cluster(), &end.cluster);
    // Back to the start, and forth to the end.
    session.timeline_mut().seek(Cursor::default());
    assert_eq!(&session.timeline().keyframe().cluster, start.state().cluster());
    session.timeline_mut().seek(Cursor::END);
    assert_eq!(session.timeline().keyframe().cluster, end.cluster);
    assert_eq!(session.branches()[0].timeline().end().cluster, *start.state().cluster(), "main is as it was");
    // Saved as operations and edits of the configuration, which replay to the same.
    let mut file = Vec::new();
    session.save(&mut file).unwrap();
    let again = Session::load(file.as_slice()).unwrap();
    assert_eq!(again.timeline().end().cluster, end.cluster);
    assert_eq!(again.timeline().progress(), session.timeline().progress());
    let plugins = |session: &Session| session.scheduler().state().config().profiles[0].all.iter().map(|p| p.name()).collect::<Vec<_>>();
    assert_eq!(plugins(&again), plugins(&session));
    assert!(!plugins(&again).iter().any(|plugin| plugin.as_str() == "ImageLocality"));
}

#[test]
fn a_what_if_in_the_past_begins_a_branch_there() {
    use crate::session::{Cursor, Session};
    let start = scheduler(with(two_zones(), [pod("w1", "a1", "ReplicaSet/web"), pod("p", "", "")]));
    let mut session = Session::new(start, "test");
    while session.settle() {}
    session.timeline_mut().seek(Cursor::END);
    let main = session.timeline().end().cluster.clone();
    session.timeline_mut().seek(Cursor::default());
    assert_eq!(session.begin_what_if(), Some(("branch 2".to_owned(), "main".to_owned())));
    assert_eq!(session.begin_what_if(), None, "the branch goes on at its end");
    on_branch(&mut session, &["evict w1"]);
    let fork = session.branches()[1].forked().unwrap();
    assert_eq!((fork.branch, fork.revisions), (0, 0));
    assert_eq!(session.branches()[0].timeline().end().cluster, main);
    session.abandon_branch();
    assert_eq!((session.branches().len(), session.current()), (1, 0));
    session.abandon_branch();
    assert_eq!(session.branches().len(), 1, "main stays");
}

#[test]
fn the_capacity_of_a_workload_is_that_of_its_pods() {
    let pods = [pod("web-x", "a1", "ReplicaSet/web"), pod("web-y", "", "ReplicaSet/web"), pod("other", "a2", "")];
    let mut stage = stage(with(two_zones(), pods));
    for verb in ["capacity replicaset/web", "capacity rs/d/web"] {
        let found = run(&mut stage, verb).capacity.unwrap();
        assert_eq!((found.pod, found.is_pending), (key("web-y"), true), "{verb}");
    }
    let wrong = try_run(&mut stage, "capacity replicaset/wen").unwrap_err().to_string();
    assert!(wrong.contains("web"), "{wrong}");
}

#[test]
fn pods_that_take_too_many_steps_are_not_created() {
    let objects = with(two_zones(), [pod("web-0", "a1", "ReplicaSet/web")]);
    for (steps, made) in [(0, 0), (121, 2), (481, 5), (1_000_000, 6)] {
        let mut stage = stage(objects.clone());
        stage.set_bound(StepBound::after(stage.scheduler().state(), steps));
        let answer = run(&mut stage, "scale rs/d/web 7");
        assert_eq!((answer.pods.len(), stage.scheduler().state().cluster().pods.len()), (made, 1 + made), "{steps}");
        assert_eq!(answer.notes.contains(&Note::NotCreated(6 - made)), made < 6, "{:?}", answer.notes);
        assert_eq!(answer.notes.contains(&Note::CutShort), made < 6);
    }
    // A replacement that is not created is none.
    let pods = (0..4).map(|at| pod(&format!("web-{at}"), "a1", "ReplicaSet/web"));
    for verb in ["lose a1", "drain a1"] {
        let mut stage = stage(with(two_zones(), pods.clone()));
        stage.set_bound(StepBound::after(stage.scheduler().state(), 121));
        let answer = run(&mut stage, verb);
        let lost = answer.pods.iter().filter(|pod| pod.end == PodEnd::Gone(Departure::NotCreated)).count();
        let left = stage.scheduler().state().cluster().pods.len();
        assert!((1..4).contains(&lost) && left + lost == 4, "{verb}: {lost} {left}");
        assert!(answer.notes.contains(&Note::NotCreated(lost)) && answer.notes.contains(&Note::CutShort), "{:?}", answer.notes);
        assert!(!answer.is_complete(stage.scheduler().state().cluster()));
    }
}

#[test]
fn a_run_ends_after_a_number_of_steps() {
    let pods = (0..4).map(|at| pod(&format!("web-{at}"), "a1", "ReplicaSet/web"));
    let objects = with(two_zones(), pods);
    let found = |verb: &str, steps: u64| {
        let (mut with, mut without) = (stage(objects.clone()), stage(objects.clone()));
        let bound = StepBound::after(with.scheduler().state(), steps);
        with.set_bound(bound);
        let mut answers = vec![run(&mut with, verb)];
        let elsewhere = settle_both(&mut with, &mut without, &mut answers);
        assert!(elsewhere.is_empty());
        let pods = &with.scheduler().state().cluster().pods;
        (answers[0].notes.contains(&Note::CutShort), pods.iter().filter(|pod| pod.node_name.is_empty()).count())
    };
    // The run ends before the first attempt that begins with no step left.
    let mut whole = stage(objects.clone());
    let before = whole.scheduler().state().steps();
    // The creations of four pods begin with steps left, and no attempt does.
    whole.set_bound(StepBound::after(whole.scheduler().state(), 361));
    run(&mut whole, "lose a1");
    whole.set_bound(StepBound::of(whole.scheduler()));
    let mut begins = Vec::new();
    while whole.scheduler().next_pod().is_some() {
        begins.push(whole.scheduler().state().steps() - before);
        assert!(whole.settle_step());
    }
    assert_eq!(begins.len(), 4);
    for (at, begin) in begins.into_iter().enumerate() {
        assert_eq!(found("lose a1", begin), (true, 4 - at), "{begin}");
        assert_eq!(found("lose a1", begin + 1), (at < 3, 3 - at), "{begin}");
        // Two runs share the steps.
        let (mut with, mut without) = (stage(objects.clone()), stage(objects.clone()));
        with.set_bound(StepBound::after(with.scheduler().state(), 2 * (begin + 1)));
        let (answers, _) = apply_all(&mut with, &mut without, &["lose a1".parse().unwrap()], &|_, _| None).unwrap();
        let pods = &with.scheduler().state().cluster().pods;
        let left = pods.iter().filter(|pod| pod.node_name.is_empty()).count();
        assert_eq!((answers[0].notes.contains(&Note::CutShort), left), (at < 3, 3 - at), "{begin}");
    }
    // The verb changes nothing for pods, of which none is pending.
    assert_eq!(found("cordon a2", 0), (false, 0));
    let mut stage = stage(with(objects.clone(), [pod("first", "", "")]));
    stage.set_bound(StepBound::after(stage.scheduler().state(), 0));
    let answer = run(&mut stage, "add 1 like a2");
    assert_eq!((answer.notes.as_slice(), answer.tallies), (&[Note::CutShort][..], None));
}

#[test]
fn what_a_run_that_was_cut_short_may_yet_evict_is_not_elsewhere_because_of_a_verb() {
    let of = |name, node, priority: i32| pod_with(name, node, "ReplicaSet/x", &json!({"spec": {"priority": priority}}));
    let objects = vec![node("a1", 1, "a"), node("a2", 1, "a"), of("low", "a1", -10), of("other", "a2", 100), of("high", "", 100)];
    let elsewhere = |steps: [u64; 2]| {
        let mut stages = [stage(objects.clone()), stage(objects.clone())];
        for (stage, steps) in stages.iter_mut().zip(steps) {
            stage.set_bound(StepBound::after(stage.scheduler().state(), steps));
        }
        let [mut with, mut without] = stages;
        let mut answers = vec![run(&mut with, "cordon a2")];
        let found = settle_both(&mut with, &mut without, &mut answers);
        let is_evicted = [&with, &without].map(|stage| !stage.preempted().is_empty());
        (found, is_evicted, answers[0].notes.contains(&Note::CutShort))
    };
    let many = 1_000_000;
    assert_eq!(elsewhere([many, many]), (vec![], [true, true], false));
    assert_eq!(elsewhere([many, 0]), (vec![], [true, false], true));
    assert_eq!(elsewhere([0, many]), (vec![], [false, true], true));
    // Steps that one run takes beyond its bound are not left for the other.
    assert_eq!(elsewhere([1, 1]), (vec![], [true, false], true));
}

#[test]
fn a_job_whose_evicted_pod_counts_as_failed_makes_no_other() {
    let job = |limit: u32| {
        let mut neighbors = Neighbors::default();
        let job = json!({"metadata": {"name": "k", "namespace": "d"}, "spec": {"backoffLimit": limit}});
        neighbors.insert(Neighbor::deserialize_kind(NeighborKind::Job, "batch/v1".into(), job).unwrap());
        Arc::new(neighbors)
    };
    let drained = |limit: u32| {
        let mut stage = stage(with(two_zones(), [pod("k-1", "a1", "Job/k"), pod("k-2", "a1", "Job/k")])).among(&job(limit));
        let answer = run(&mut stage, "drain a1");
        answer.pods.iter().filter(|pod| pod.end == PodEnd::Gone(Departure::JobFails)).count()
    };
    assert_eq!([drained(0), drained(1), drained(2)], [2, 1, 0]);
}

#[test]
fn a_replacement_that_an_api_server_refuses_is_not_made() {
    let policy = |kind: NeighborKind, spec: serde_json::Value| {
        let mut neighbors = Neighbors::default();
        let object = json!({"metadata": {"name": "all", "namespace": "d"}, "spec": spec});
        neighbors.insert(Neighbor::deserialize_kind(kind, "v1".into(), object).unwrap());
        Arc::new(neighbors)
    };
    let drained = |neighbors: &Arc<Neighbors>, more: Vec<Object>| {
        let objects = two_zones().into_iter().chain(more).chain([pod("w-1", "a1", "ReplicaSet/w"), pod("w-2", "a1", "ReplicaSet/w")]);
        let mut stage = stage(objects.collect()).among(neighbors);
        let answer = run(&mut stage, "drain a1");
        let refused = |end: &PodEnd| matches!(end, PodEnd::Gone(Departure::Refused(_)));
        assert_eq!(answer.nodes[0].end, NodeEnd::Drained);
        answer.pods.iter().filter(|pod| refused(&pod.end)).count()
    };
    let none = Arc::new(Neighbors::default());
    assert_eq!(drained(&none, Vec::new()), 0);
    assert_eq!(drained(&policy(NeighborKind::LimitRange, json!({"limits": [{"type": "Container", "min": {"cpu": "2"}}]})), Vec::new()), 2);
    // A quota that was lowered has room for one of two.
    let quota = |pods: u32| policy(NeighborKind::ResourceQuota, json!({"hard": {"pods": pods.to_string()}}));
    assert_eq!([drained(&quota(1), Vec::new()), drained(&quota(2), Vec::new())], [1, 0]);
    let namespace = |ending: &str| {
        let deleted = if ending.is_empty() { json!(null) } else { json!(ending) };
        object(Kind::Namespace, &json!({"metadata": {"name": "d", "deletionTimestamp": deleted}}))
    };
    assert_eq!([drained(&none, vec![namespace("2026-01-01T00:00:00Z")]), drained(&none, vec![namespace("")])], [2, 0]);
}

#[test]
fn a_mirror_is_known_by_its_annotation() {
    let mirror = pod_with("etcd-a1", "a1", "", &json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "0"}}}));
    let mut stage = stage(with(two_zones(), [mirror]));
    let answer = run(&mut stage, "drain a1");
    assert_eq!((&answer.nodes[0].end, &answer.pods[0].end), (&NodeEnd::Drained, &PodEnd::Stays(Stay::Mirror)));
}
