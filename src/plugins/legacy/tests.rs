//! Tests of v1.12's predicates and priorities on small clusters, and of the differences in v1.11.

#![allow(clippy::needless_pass_by_value, reason = "literals are handed over")]

use serde_json::json;

use super::*;
use crate::framework::{CycleState, NodeInfo, Plugin, PodInfo};
use crate::plugins::registry::{self, Make};
use crate::plugins::volume_helpers::testing::{World, pod};
use crate::release::{Emulation, Profile};

const V1_12: &str = "v1.12.0";
const V1_11: &str = "v1.11.1";

fn emulation(release: &str) -> Emulation {
    Profile::named(release).unwrap().into()
}

fn world(release: &str, objects: &[(&'static str, serde_json::Value)]) -> World {
    World { emulation: emulation(release), ..World::new(objects.iter().map(|(kind, object)| (*kind, object.to_string()))) }
}

fn node(name: &str, labels: serde_json::Value, rest: serde_json::Value) -> (&'static str, serde_json::Value) {
    let mut node = json!({"metadata": {"name": name, "labels": labels},
        "status": {"allocatable": {"cpu": "4", "memory": "1000Mi", "pods": "10"}}});
    for (field, value) in rest.as_object().unwrap() {
        for (name, value) in value.as_object().unwrap() {
            node[field][name] = value.clone();
        }
    }
    ("Node", node)
}

fn on(name: &str, node: &str, labels: serde_json::Value, spec: serde_json::Value) -> (&'static str, serde_json::Value) {
    let mut pod = json!({"metadata": {"name": name, "namespace": "a", "uid": name, "labels": labels}, "spec": spec});
    pod["spec"]["nodeName"] = node.into();
    ("Pod", pod)
}

fn waiting(labels: serde_json::Value, spec: serde_json::Value) -> Arc<Pod> {
    pod(&json!({"metadata": {"name": "p", "namespace": "a", "uid": "p", "labels": labels}, "spec": spec}).to_string())
}

/// Returns code and reasons of a predicate for every node, by name.
fn verdicts(world: &World, plugin: &dyn Plugin, pod: &Arc<Pod>) -> Vec<String> {
    let (mut state, info) = (CycleState::default(), PodInfo::new(pod.clone()));
    if let Some(point) = plugin.pre_filter() {
        point.pre_filter(&world.cx(), &mut state, &info);
    }
    let say = |node: &Arc<NodeInfo>| {
        let status = plugin.filter().unwrap().filter(&world.cx(), &state, &info, node);
        let reasons: Vec<String> = status.reasons().iter().map(|r| r.text(world.emulation.profile().release).into_owned()).collect();
        match status.code() {
            Code::Success => String::new(),
            Code::Unschedulable => format!("may preempt: {}", reasons.join("; ")),
            _ => reasons.join("; "),
        }
    };
    nodes(world).iter().map(say).collect()
}

fn nodes(world: &World) -> Vec<Arc<NodeInfo>> {
    let mut nodes: Vec<_> = world.snapshot.nodes().to_vec();
    nodes.sort_by(|a, b| a.name().cmp(b.name()));
    nodes
}

/// Returns the scores of a priority for every node, by name.
fn scores(world: &World, plugin: &dyn Plugin, pod: &Arc<Pod>) -> Vec<i64> {
    let (mut state, info, nodes) = (CycleState::default(), PodInfo::new(pod.clone()), nodes(world));
    if let Some(point) = plugin.pre_score() {
        point.pre_score(&world.cx(), &mut state, &info, &nodes);
    }
    let point = plugin.score().unwrap();
    let mut scores = point.score_all(&world.cx(), &state, &info, &nodes).unwrap();
    point.normalize(&world.cx(), &state, &info, &nodes, &mut scores);
    scores
}

#[test]
fn all_are_registered_in_the_old_releases_only() {
    for name in ["GeneralPredicates", "CheckVolumeBinding", "SelectorSpreadPriority", "Preempt"] {
        assert!(registry::find(name, Emulation::default()).is_none(), "{name}");
        for release in [V1_11, V1_12] {
            assert!(registry::find(name, emulation(release)).is_some_and(|row| matches!(row.make, Make::Plugin(_))), "{name}");
        }
    }
}

#[test]
fn a_node_says_itself_that_it_takes_no_pods() {
    let conditions = json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}, {"type": "OutOfDisk", "status": "True"},
        {"type": "NetworkUnavailable", "status": "True"}, {"type": "MemoryPressure", "status": "True"},
        {"type": "DiskPressure", "status": "True"}, {"type": "PIDPressure", "status": "False"}]}, "spec": {"unschedulable": true}});
    let nodes = [node("n", json!({}), conditions)];
    let (plain, requesting) =
        (waiting(json!({}), json!({})), waiting(json!({}), json!({"containers": [{"resources": {"limits": {"cpu": "1"}}}]})));
    let condition = "node(s) were not ready; node(s) were out of disk space; node(s) had unavailable network; node(s) were unschedulable";
    for (release, pressure) in [(V1_12, "node(s) had "), (V1_11, "may preempt: node(s) had ")] {
        let world = world(release, &nodes);
        assert_eq!(verdicts(&world, &CheckNodeCondition, &plain), [condition]);
        assert_eq!(verdicts(&world, &CheckNodePressure::Memory, &plain), [format!("{pressure}memory pressure")]);
        assert_eq!(verdicts(&world, &CheckNodePressure::Memory, &requesting), [""]);
        assert_eq!(verdicts(&world, &CheckNodePressure::Disk, &requesting), [format!("{pressure}disk pressure")]);
        assert_eq!(verdicts(&world, &CheckNodePressure::Pid, &plain), [""]);
        assert_eq!(verdicts(&world, &CheckNodeUnschedulable, &plain), ["node(s) were unschedulable"]);
        let taint = json!({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]});
        assert_eq!(verdicts(&world, &CheckNodeUnschedulable, &waiting(json!({}), taint)), [""]);
    }
}

#[test]
fn general_predicates_collect_all_reasons() {
    let port = json!({"containers": [{"ports": [{"hostPort": 80}]}]});
    let nodes = [node("n", json!({}), json!({"status": {"allocatable": {"pods": "1", "cpu": "1"}}})), on("o", "n", json!({}), port)];
    let world = world(V1_12, &nodes);
    let demanding = json!({"nodeName": "m", "nodeSelector": {"k": "v"},
        "containers": [{"ports": [{"hostPort": 80}], "resources": {"requests": {"cpu": "2", "example.com/gpu": "1"}}}]});
    let demanding = waiting(json!({}), demanding);
    let resources = "Insufficient pods; Insufficient cpu; Insufficient example.com/gpu";
    let name = "node(s) didn't match the requested hostname";
    let (ports, selector) = ("node(s) didn't have free ports for the requested pod ports", "node(s) didn't match node selector");
    assert_eq!(verdicts(&world, &General(None), &demanding), [format!("{resources}; {name}; {ports}; {selector}")]);
    for (part, says) in [
        (GeneralPart::Resources, format!("may preempt: {resources}")),
        (GeneralPart::HostName, name.to_owned()),
        (GeneralPart::HostPorts, format!("may preempt: {ports}")),
        (GeneralPart::NodeSelector, selector.to_owned()),
    ] {
        assert_eq!(verdicts(&world, &General(Some(part)), &demanding), [says]);
    }
}

#[test]
fn an_init_container_counts_where_it_requests_more_than_all_others() {
    let container = |cpu: &str| json!({"resources": {"requests": {"cpu": cpu}}});
    let world = world(V1_12, &[node("n", json!({}), json!({}))]);
    for (init, containers, fits) in [("4", ["1", "1"], true), ("5", ["1", "1"], false), ("1", ["2", "3"], false)] {
        let spec = json!({"initContainers": [container(init)], "containers": containers.map(container)});
        let says = verdicts(&world, &General(Some(GeneralPart::Resources)), &waiting(json!({}), spec));
        assert_eq!(says[0].is_empty(), fits, "{init} {containers:?}");
    }
}

#[test]
fn taints_reject_and_soft_ones_count() {
    let taint = |key: &str, effect: &str| json!({"key": key, "effect": effect});
    let world = world(
        V1_12,
        &[
            node("a", json!({}), json!({"spec": {"taints": [taint("k", "NoSchedule")]}})),
            node("b", json!({}), json!({"spec": {"taints": [taint("k", "NoExecute")]}})),
            node("c", json!({}), json!({"spec": {"taints": [taint("x", "PreferNoSchedule"), taint("y", "PreferNoSchedule")]}})),
            node("d", json!({}), json!({"spec": {"taints": [taint("x", "PreferNoSchedule")]}})),
        ],
    );
    let text = "node(s) had taints that the pod didn't tolerate";
    let plain = waiting(json!({}), json!({}));
    assert_eq!(verdicts(&world, &ToleratesTaints::All, &plain), [text, text, "", ""]);
    assert_eq!(verdicts(&world, &ToleratesTaints::NoExecute, &plain), ["", text, "", ""]);
    assert_eq!(scores(&world, &TaintTolerationPriority, &plain), [10, 10, 0, 5]);
    let tolerant = waiting(json!({}), json!({"tolerations": [{"operator": "Exists", "effect": "PreferNoSchedule"}]}));
    assert_eq!(scores(&world, &TaintTolerationPriority, &tolerant), [10; 4]);
}

#[test]
fn volumes_are_counted_by_kind() {
    let ebs = |ids: std::ops::Range<u32>| {
        let volume = |id: u32| json!({"awsElasticBlockStore": {"volumeID": format!("v{id}")}});
        json!({"volumes": ids.map(volume).collect::<Vec<_>>()})
    };
    let nodes = [
        node("a", json!({"beta.kubernetes.io/instance-type": "c5.large"}), json!({})),
        node("b", json!({}), json!({})),
        on("o", "a", json!({}), ebs(0..25)),
        on("q", "b", json!({}), ebs(0..38)),
    ];
    let full = "may preempt: node(s) exceed max volume count";
    for (release, ids, expected) in
        [(V1_12, 0..1, ["", ""]), (V1_12, 50..51, [full, ""]), (V1_12, 50..52, [full, full]), (V1_11, 50..51, ["", ""])]
    {
        let says = verdicts(&world(release, &nodes), &MaxVolumeCount::Ebs, &waiting(json!({}), ebs(ids.clone())));
        assert_eq!(says, expected, "{release} {ids:?}");
    }
    let world = world(V1_12, &nodes);
    assert_eq!(verdicts(&world, &MaxVolumeCount::GcePd, &waiting(json!({}), ebs(50..90))), ["", ""]);
    assert_eq!(verdicts(&world, &NoDiskConflict, &waiting(json!({}), ebs(24..25))), ["may preempt: node(s) had no available disk"; 2]);
}

#[test]
fn zones_of_volumes_keep_pods_to_them() {
    let zone = "failure-domain.beta.kubernetes.io/zone";
    let world = world(
        V1_12,
        &[
            node("a", json!({zone: "1"}), json!({})),
            node("b", json!({zone: "3"}), json!({})),
            node("c", json!({}), json!({})),
            ("PersistentVolumeClaim", json!({"metadata": {"name": "c", "namespace": "a"}, "spec": {"volumeName": "v"}})),
            ("PersistentVolume", json!({"metadata": {"name": "v", "labels": {zone: "1__2"}}, "spec": {}})),
        ],
    );
    let claim = |name: &str| waiting(json!({}), json!({"volumes": [{"persistentVolumeClaim": {"claimName": name}}]}));
    assert_eq!(verdicts(&world, &NoVolumeZoneConflict, &claim("c")), ["", "node(s) had no available volume zone", ""]);
    assert!(verdicts(&world, &NoVolumeZoneConflict, &claim("x"))[0].contains("\"x\""));
}

#[test]
fn affinity_is_met_by_terms_or_by_one_pod_together() {
    let term = |value: &str, key: &str| json!({"labelSelector": {"matchLabels": {"app": value}}, "topologyKey": key});
    let affinity =
        |terms: Vec<serde_json::Value>| json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}});
    let anti =
        |terms: Vec<serde_json::Value>| json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}});
    let nodes = [
        node("a", json!({"zone": "1", "host": "a"}), json!({})),
        node("b", json!({"zone": "1", "host": "b"}), json!({})),
        node("c", json!({"zone": "2", "host": "c"}), json!({})),
        on("o", "a", json!({"app": "x", "tier": "y"}), json!({})),
    ];
    let rules = "node(s) didn't match pod affinity/anti-affinity; node(s) didn't match pod affinity rules";
    let anti_rules = "may preempt: node(s) didn't match pod affinity/anti-affinity; node(s) didn't match pod anti-affinity rules";
    let (near, away) = (waiting(json!({}), affinity(vec![term("x", "zone")])), waiting(json!({}), anti(vec![term("x", "zone")])));
    let both = waiting(json!({}), affinity(vec![term("x", "zone"), term("x", "host")]));
    for (release, rules) in [(V1_12, rules.to_owned()), (V1_11, format!("may preempt: {rules}"))] {
        let world = world(release, &nodes);
        assert_eq!(verdicts(&world, &MatchInterPodAffinity, &near), ["", "", &rules]);
        assert_eq!(verdicts(&world, &MatchInterPodAffinity, &both), ["", &rules, &rules]);
        assert_eq!(verdicts(&world, &MatchInterPodAffinity, &away), [anti_rules, anti_rules, ""]);
        // The first pod of a group is exempt.
        let first = waiting(json!({"app": "z"}), affinity(vec![term("z", "zone")]));
        assert_eq!(verdicts(&world, &MatchInterPodAffinity, &first), [""; 3]);
    }
    // Two anti-affinity terms that different pods match: only v1.12 counts each.
    let mut more = nodes.to_vec();
    more.push(on("q", "b", json!({"app": "w"}), json!({})));
    let two = waiting(json!({}), anti(vec![term("x", "host"), term("w", "host")]));
    let of_all = waiting(json!({}), affinity(vec![term("x", "zone"), term("w", "zone")]));
    for (release, kept_away, met) in [(V1_12, [true, true, false], true), (V1_11, [false; 3], false)] {
        let world = world(release, &more);
        assert_eq!(
            verdicts(&world, &MatchInterPodAffinity, &two).iter().map(|s| !s.is_empty()).collect::<Vec<_>>(),
            kept_away,
            "{release}"
        );
        // In both releases, only pods that match all terms satisfy required affinity.
        assert!(!verdicts(&world, &MatchInterPodAffinity, &of_all)[0].is_empty(), "{release} {met}");
    }
    // Anti-affinity of existing pods applies to incoming ones.
    let existing = [nodes[0].clone(), nodes[2].clone(), on("o", "a", json!({}), anti(vec![term("mine", "zone")]))];
    let says = verdicts(&world(V1_12, &existing), &MatchInterPodAffinity, &waiting(json!({"app": "mine"}), json!({})));
    assert!(says[0].ends_with("node(s) didn't satisfy existing pods anti-affinity rules") && says[1].is_empty(), "{says:?}");
}

#[test]
fn resources_are_scored_by_what_would_be_requested() {
    let requests = |cpu: &str, memory: &str| json!({"containers": [{"resources": {"requests": {"cpu": cpu, "memory": memory}}}]});
    let nodes = [
        node("a", json!({}), json!({})),
        node("b", json!({}), json!({})),
        node("c", json!({}), json!({"status": {"allocatable": {"cpu": "0", "memory": "1000Mi", "pods": "10"}}})),
        on("o", "b", json!({}), requests("2", "250Mi")),
    ];
    let (world, pod) = (world(V1_12, &nodes), waiting(json!({}), requests("1", "250Mi")));
    assert_eq!(scores(&world, &ResourcePriority::LeastRequested, &pod), [7, 3, 3]);
    assert_eq!(scores(&world, &ResourcePriority::MostRequested, &pod), [2, 6, 1]);
    assert_eq!(scores(&world, &ResourcePriority::Balanced, &pod), [10, 7, 0]);
    let points = RequestedToCapacityRatioArgs::default().points();
    assert_eq!(scores(&world, &ResourcePriority::RequestedToCapacityRatio(points), &pod), [8, 4, 4]);
    // A container without requests counts as 100m and 200Mi.
    assert_eq!(scores(&world, &ResourcePriority::MostRequested, &waiting(json!({}), json!({"containers": [{}]}))), [1, 4, 1]);
}

#[test]
fn pods_of_one_service_are_spread_over_nodes_and_zones() {
    let zone = "failure-domain.beta.kubernetes.io/zone";
    let nodes = [
        node("a", json!({zone: "1"}), json!({})),
        node("b", json!({zone: "1"}), json!({})),
        node("c", json!({zone: "2"}), json!({})),
        ("Service", json!({"metadata": {"name": "s", "namespace": "a"}, "spec": {"selector": {"app": "x"}}})),
        ("ReplicaSet", json!({"metadata": {"name": "r", "namespace": "a"}, "spec": {"selector": {"matchLabels": {"tier": "y"}}}})),
        on("o", "a", json!({"app": "x"}), json!({})),
        on("q", "a", json!({"app": "x"}), json!({})),
        on("r", "b", json!({"app": "x"}), json!({})),
        on("s", "c", json!({"tier": "y"}), json!({})),
    ];
    let world = world(V1_12, &nodes);
    let (all, services) = (SelectorSpreadPriority::All, SelectorSpreadPriority::Services);
    assert_eq!(scores(&world, &all, &waiting(json!({"app": "x"}), json!({}))), [0, 1, 10]);
    assert_eq!(scores(&world, &all, &waiting(json!({"tier": "y"}), json!({}))), [10, 10, 0]);
    assert_eq!(scores(&world, &services, &waiting(json!({"tier": "y"}), json!({}))), [10; 3]);
    assert_eq!(scores(&world, &all, &waiting(json!({}), json!({}))), [10; 3]);
    let by_zone = ServiceAntiAffinityPriority::new(ServiceAntiAffinityPriorityArgs { label: zone.into() });
    assert_eq!(scores(&world, &by_zone, &waiting(json!({"app": "x"}), json!({}))), [0, 0, 10]);
    assert_eq!(scores(&world, &by_zone, &waiting(json!({}), json!({}))), [10; 3]);
    let together = CheckServiceAffinity::new(CheckServiceAffinityArgs { labels: vec![zone.into()] });
    let says = verdicts(&world, &together, &waiting(json!({"app": "x"}), json!({})));
    assert_eq!(says, ["", "", "may preempt: node(s) didn't match service affinity"]);
}

#[test]
fn labels_keep_pods_away_or_are_preferred() {
    let world = world(V1_12, &[node("a", json!({"rack": "1"}), json!({})), node("b", json!({}), json!({}))]);
    let plain = waiting(json!({}), json!({}));
    for (presence, says, score) in [(true, ["", "x"], [10, 0]), (false, ["x", ""], [0, 10])] {
        let predicate = CheckNodeLabelPresence::new(LabelPresence { labels: vec!["rack".into()], presence });
        assert_eq!(
            verdicts(&world, &predicate, &plain),
            says.map(|s| if s.is_empty() { s } else { "node(s) didn't have the requested labels" })
        );
        let priority = NodeLabelPriority::new(NodeLabelPriorityArgs { label: "rack".into(), presence });
        assert_eq!(scores(&world, &priority, &plain), score);
    }
}

#[test]
fn affinity_to_nodes_and_avoided_pods() {
    let avoid = json!({"preferAvoidPods": [{"podSignature": {"podController": {"kind": "ReplicaSet", "uid": "r"}}}]}).to_string();
    let world = world(
        V1_12,
        &[
            node("a", json!({"k": "v"}), json!({"metadata": {"annotations": {"scheduler.alpha.kubernetes.io/preferAvoidPods": avoid}}})),
            node("b", json!({"k": "v", "j": "v"}), json!({})),
            node("c", json!({}), json!({})),
        ],
    );
    let term = |weight: i32, key: &str| json!({"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "Exists"}]}});
    let preferred =
        json!({"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [term(1, "k"), term(2, "j")]}}});
    assert_eq!(scores(&world, &NodeAffinityPriority, &waiting(json!({}), preferred)), [3, 10, 0]);
    let owned = |kind: &str| {
        let owner = json!([{"kind": kind, "uid": "r", "controller": true}]);
        pod(&json!({"metadata": {"name": "p", "namespace": "a", "uid": "p", "ownerReferences": owner}}).to_string())
    };
    assert_eq!(scores(&world, &NodePreferAvoidPodsPriority, &owned("ReplicaSet")), [0, 10, 10]);
    assert_eq!(scores(&world, &NodePreferAvoidPodsPriority, &owned("StatefulSet")), [10; 3]);
    assert_eq!(scores(&world, &EqualPriority, &owned("ReplicaSet")), [1; 3]);
}

#[test]
fn images_count_by_size_and_since_1_12_by_how_many_nodes_have_them() {
    let image = |mb: i64| json!({"status": {"images": [{"names": ["i:1"], "sizeBytes": mb << 20}]}});
    let nodes = [node("a", json!({}), image(500)), node("b", json!({}), json!({}))];
    let pod = waiting(json!({}), json!({"containers": [{"image": "i:1"}]}));
    assert_eq!(scores(&world(V1_12, &nodes), &ImageLocalityPriority, &pod), [2, 0]);
    assert_eq!(scores(&world(V1_11, &nodes), &ImageLocalityPriority, &pod), [5, 0]);
    assert_eq!(scores(&world(V1_11, &[node("a", json!({}), image(2000))]), &ImageLocalityPriority, &pod), [10]);
}

#[test]
fn preferences_for_other_pods_are_scaled_from_lowest_to_highest() {
    let term = |weight: i32| json!([{"weight": weight, "podAffinityTerm": {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "zone"}}]);
    let nodes = [
        node("a", json!({"zone": "1"}), json!({})),
        node("b", json!({"zone": "2"}), json!({})),
        on("o", "a", json!({"app": "x"}), json!({})),
    ];
    let priority = InterPodAffinityPriority::new(InterPodAffinityPriorityArgs::default());
    for (kind, expected) in [("podAffinity", [10, 0]), ("podAntiAffinity", [0, 10])] {
        let spec = json!({"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": term(5)}}});
        assert_eq!(scores(&world(V1_12, &nodes), &priority, &waiting(json!({}), spec)), expected);
    }
    assert_eq!(scores(&world(V1_12, &nodes), &priority, &waiting(json!({}), json!({}))), [0, 0]);
}
