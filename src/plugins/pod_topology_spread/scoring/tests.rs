//! Tests of `scoring`.

use super::super::testing::{World, info, node, pod};
use super::super::{DefaultingType, PodTopologySpreadArgs};
use super::*;
use crate::cluster::Object;

const WEB: &str = r#"{"app":"web"}"#;
const IS_WEB: &str = r#""labelSelector":{"matchLabels":{"app":"web"}}"#;

fn soft(max_skew: i32, key: &str, rest: &str) -> String {
    format!(r#"{{"maxSkew":{max_skew},"topologyKey":"{key}","whenUnsatisfiable":"ScheduleAnyway",{rest}}}"#)
}

fn service() -> Object {
    let text = r#"{"metadata":{"name":"s","namespace":"default"},"spec":{"selector":{"app":"web"}}}"#;
    Object::Service(Arc::new(serde_json::from_str(text).unwrap()))
}

/// Makes `n0` and `n1` in zone a, `n2` in zone b and `n3` without a zone, with the given number of web pods.
fn world(pods: [usize; 4]) -> World {
    let zone = |zone: &str, i: usize| format!(r#"{{"topology.kubernetes.io/zone":"{zone}","kubernetes.io/hostname":"n{i}"}}"#);
    let labels = [zone("a", 0), zone("a", 1), zone("b", 2), r#"{"kubernetes.io/hostname":"n3"}"#.to_string()];
    let nodes =
        labels.iter().zip(pods).enumerate().map(|(i, (labels, number))| {
            (node(&format!("n{i}"), labels), (0..number).map(|p| pod(&format!("w{i}-{p}"), WEB, "[]")).collect())
        });
    World::new(nodes.collect(), [service()])
}

fn raw(plugin: &PodTopologySpread, world: &World, pod: &PodInfo, feasible: &[Arc<NodeInfo>]) -> (CycleState, Vec<i64>) {
    let mut state = CycleState::default();
    let status = plugin.pre_score(&world.cx(), &mut state, pod, feasible);
    assert!(status.is_success(), "{status}");
    let scores = feasible.iter().map(|n| ScorePlugin::score(plugin, &world.cx(), &state, pod, n).unwrap()).collect();
    (state, scores)
}

/// Checks the raw and normalized scores of all four nodes.
#[track_caller]
fn check(world: &World, constraints: &[String], expected: ([i64; 4], [i64; 4])) {
    let (plugin, pod) = (PodTopologySpread::default(), info(pod("p", WEB, &format!("[{}]", constraints.join(",")))));
    let (state, mut scores) = raw(&plugin, world, &pod, &world.nodes().to_vec());
    assert_eq!(scores, expected.0);
    assert!(plugin.normalize(&world.cx(), &state, &pod, &world.nodes().to_vec(), &mut scores).is_success());
    assert_eq!(scores, expected.1);
}

#[test]
fn counts_are_weighed_by_domains_and_fewer_is_better() {
    let zone = "topology.kubernetes.io/zone";
    // ln 4 = 1.386: zone a 3 pods, zone b 1 pod; the node without a zone is not ranked.
    check(&world([2, 1, 1, 4]), &[soft(1, zone, IS_WEB)], ([4, 4, 1, 0], [25, 25, 100, 0]));
    // A larger maxSkew reduces the difference.
    check(&world([2, 1, 1, 4]), &[soft(5, zone, IS_WEB)], ([8, 8, 5, 0], [62, 62, 100, 0]));
    // By host there are four domains, ln 6 = 1.792, or three if the zone is required too.
    check(&world([2, 1, 0, 4]), &[soft(1, LABEL_HOSTNAME, IS_WEB)], ([4, 2, 0, 7], [42, 71, 100, 0]));
    let both = [soft(1, LABEL_HOSTNAME, IS_WEB), soft(1, zone, IS_WEB)];
    check(&world([2, 1, 0, 4]), &both, ([7, 6, 0, 0], [0, 14, 100, 0]));
    check(&world([0; 4]), &[soft(1, zone, IS_WEB)], ([0; 4], [100, 100, 100, 0]));
    check(&world([2, 1, 1, 4]), &[soft(1, zone, r#""labelSelector":{}"#)], ([0; 4], [100, 100, 100, 0]));
    // A maxSkew below the API server's minimum makes a raw score of -1, which counts as ignored.
    check(&world([0; 4]), &[soft(0, zone, IS_WEB)], ([-1, -1, -1, 0], [0, 0, 0, 0]));
}

#[test]
fn only_domains_of_feasible_nodes_count_but_all_their_nodes_do() {
    let world = world([2, 1, 1, 4]);
    let pod_of = |rest: &str| pod("p", WEB, &format!("[{}]", soft(1, "topology.kubernetes.io/zone", &format!("{IS_WEB}{rest}"))));
    let plugin = PodTopologySpread::default();
    // One feasible domain: ln 3 = 1.099 times the 3 pods of zone a, one of them on an infeasible node.
    assert_eq!(raw(&plugin, &world, &info(pod_of("")), &world.nodes().to_vec()[..1]).1, [3]);
    let selecting = |rest: &str| {
        let mut pod = pod_of(rest);
        pod.spec_mut().node_selector = serde_json::from_str(r#"{"kubernetes.io/hostname":"n0"}"#).unwrap();
        info(pod)
    };
    assert_eq!(raw(&plugin, &world, &selecting(""), &world.nodes().to_vec()[..1]).1, [2]);
    assert_eq!(raw(&plugin, &world, &selecting(r#","nodeAffinityPolicy":"Ignore""#), &world.nodes().to_vec()[..1]).1, [3]);
}

#[test]
fn system_defaults_rank_nodes_without_a_zone_and_a_list_does_not() {
    let world = world([2, 1, 1, 4]);
    let pod = info(pod("p", WEB, "[]"));
    let system = PodTopologySpread::default();
    // Hosts: ln 6 · n + 2; zones a, b and none: ln 5 · n + 4, where there is a zone.
    let (state, mut scores) = raw(&system, &world, &pod, &world.nodes().to_vec());
    assert_eq!(scores, [14, 13, 9, 9]);
    assert!(system.normalize(&world.cx(), &state, &pod, &world.nodes().to_vec(), &mut scores).is_success());
    assert_eq!(scores, [64, 71, 100, 100]);
    let constraints = system.default_constraints.clone().into();
    let args = PodTopologySpreadArgs { defaulting_type: DefaultingType::List, default_constraints: constraints, ..Default::default() };
    // Without the node that lacks a zone: ln 5 and ln 4.
    assert_eq!(raw(&PodTopologySpread::new(args), &world, &pod, &world.nodes().to_vec()).1, [13, 12, 9, 0]);
}

#[test]
fn skips_errors_and_missing_state() {
    let (world, plugin) = (world([0; 4]), PodTopologySpread::default());
    let run = |world: &World, labels: &str, constraints: &str| {
        plugin.pre_score(&world.cx(), &mut CycleState::default(), &info(pod("p", labels, constraints)), &world.nodes().to_vec())
    };
    assert!(run(&world, "{}", "[]").is_skip());
    let hard = r#"[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}]"#;
    assert!(run(&world, WEB, hard).is_skip());
    assert!(run(&World::new(vec![], [service()]), WEB, "[]").is_skip());
    let odd = format!("[{}]", soft(1, "z", r#""labelSelector":{"matchExpressions":[{"key":"a","operator":"Odd"}]}"#));
    let expected =
        r#"calculating preScoreState: obtaining pod's soft topology spread constraints: "Odd" is not a valid label selector operator"#;
    assert_eq!(run(&world, WEB, &odd), Status::error(expected));
    let (pod, state) = (info(pod("p", WEB, "[]")), CycleState::default());
    assert_eq!(ScorePlugin::score(&plugin, &world.cx(), &state, &pod, &world.nodes()[0]), Err(Status::error(NO_STATE)));
    assert_eq!(plugin.normalize(&world.cx(), &state, &pod, &[], &mut []), Status::error(NO_STATE));
}
