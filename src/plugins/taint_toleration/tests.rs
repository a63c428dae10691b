use super::super::helper::testing::{node_change, node_info, pod, pod_change, pod_info, with_context};
use super::*;
use crate::cluster::Cluster;
use crate::framework::Code;

const PLAIN: &str = "{}";
const HARD: &str = "{spec: {taints: [{key: a, effect: NoSchedule}]}}";
const EXECUTE: &str = "{spec: {taints: [{key: b, effect: NoExecute}]}}";
const SOFT: &str = "{spec: {taints: [{key: a, effect: PreferNoSchedule}, {key: b, value: x, effect: PreferNoSchedule}]}}";
const TOLERANT: &str = "{spec: {tolerations: [{key: a, operator: Exists}]}}";

#[test]
fn an_untolerated_hard_taint_keeps_the_pod_away() {
    for (node, pod, fact) in [
        (PLAIN, "{}", None),
        (HARD, "{}", Some("has taint a:NoSchedule")),
        (HARD, TOLERANT, None),
        (EXECUTE, TOLERANT, Some("has taint b:NoExecute")),
        (SOFT, "{}", None),
        (HARD, "{spec: {tolerations: [{key: a, operator: Exists, effect: NoExecute}]}}", Some("has taint a:NoSchedule")),
    ] {
        let status = with_context(&Cluster::default(), &[], |cx| {
            FilterPlugin::filter(&TaintToleration, &cx, &CycleState::default(), &pod_info(pod), &node_info(node))
        });
        let (code, message) = match fact {
            Some(_) => (Code::UnschedulableAndUnresolvable, "node(s) had untolerated taint(s)"),
            None => (Code::Success, ""),
        };
        assert_eq!((status.code(), status.message().as_str()), (code, message), "{node} {pod}");
        assert_eq!(status.fact().as_deref(), fact);
    }
}

#[test]
fn untolerated_soft_taints_cost_points() {
    let nodes = [PLAIN, HARD, SOFT].map(node_info);
    for (pod, raw, normal) in [
        ("{}", [0, 0, 2], [100, 100, 0]),
        (TOLERANT, [0, 0, 1], [100, 100, 0]),
        ("{spec: {tolerations: [{operator: Exists}]}}", [0, 0, 0], [100, 100, 100]),
        // Tolerations of other effects do not apply to PreferNoSchedule taints.
        ("{spec: {tolerations: [{operator: Exists, effect: NoSchedule}]}}", [0, 0, 2], [100, 100, 0]),
        ("{spec: {tolerations: [{key: b, value: x, effect: PreferNoSchedule}]}}", [0, 0, 1], [100, 100, 0]),
    ] {
        let (pod, mut state) = (pod_info(pod), CycleState::default());
        let mut scores = with_context(&Cluster::default(), &nodes, |cx| {
            assert!(PreScorePlugin::pre_score(&TaintToleration, &cx, &mut state, &pod, &cx.snapshot.nodes().to_vec()).is_success());
            nodes.each_ref().map(|n| ScorePlugin::score(&TaintToleration, &cx, &state, &pod, n).unwrap())
        });
        assert_eq!(scores, raw);
        with_context(&Cluster::default(), &nodes, |cx| {
            TaintToleration.normalize(&cx, &state, &pod, &cx.snapshot.nodes().to_vec(), &mut scores)
        });
        assert_eq!(scores, normal);
    }
    with_context(&Cluster::default(), &nodes, |cx| {
        let status = ScorePlugin::score(&TaintToleration, &cx, &CycleState::default(), &pod_info("{}"), &nodes[0]).unwrap_err();
        assert_eq!(status.message(), "failed to read \"PreScoreTaintToleration\" from cycleState: not found");
    });
}

#[test]
fn a_node_that_becomes_tolerable_queues_the_pod() {
    use QueueingHint::{Queue, QueueSkip};
    let mine = pod(TOLERANT);
    for (old, new, expected) in [
        (None, PLAIN, Queue),
        (None, HARD, Queue),
        (None, EXECUTE, QueueSkip),
        (Some(EXECUTE), HARD, Queue),
        (Some(HARD), PLAIN, QueueSkip),
        (Some(EXECUTE), EXECUTE, QueueSkip),
    ] {
        let hint = after_node_change(Emulation::default(), &mine, &node_change(old, Some(new)));
        assert_eq!(hint, Ok(expected), "{old:?} {new}");
    }
    assert_eq!(after_toleration_change(&mine, &pod_change(Some("{}"), Some(TOLERANT))), Ok(Queue));
    assert_eq!(after_toleration_change(&mine, &pod_change(None, Some("{metadata: {uid: other}}"))), Ok(QueueSkip));
    assert!(after_toleration_change(&mine, &node_change(None, Some(PLAIN))).is_err());
}
