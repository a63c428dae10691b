use super::*;
use crate::cluster::Cluster;
use crate::plugins::helper::testing::{node_info, pod_info, with_context};
use crate::release::Emulation;

#[test]
fn the_change_of_balance_counts() {
    let usage = |(allocated, requested, allocatable)| Usage { requested, allocated, allocatable, counts: allocatable != 0, weight: 1 };
    for (usages, expected) in [
        (vec![(0, 500, 1000), (0, 500, 1000)], 75),
        (vec![(0, 900, 1000), (0, 100, 1000)], 55),
        (vec![(500, 500, 1000), (0, 500, 1000)], 87),
        (vec![(0, 1000, 1000), (0, 0, 1000)], 50),
        // Use above capacity counts as full.
        (vec![(0, 5000, 1000), (1000, 1000, 1000)], 100),
        // A single resource, or none, is always balanced.
        (vec![(0, 900, 1000), (0, 100, 0)], 75),
        (vec![], 75),
        // With three resources the standard deviation counts: 0.6, 0.3, 0.3 deviate by 0.1414, so (50 + 85 - 100) /
        // 2 + 50.
        (vec![(0, 600, 1000), (0, 300, 1000), (0, 300, 1000)], 67),
    ] {
        let usages: Vec<Usage> = usages.into_iter().map(usage).collect();
        assert_eq!(balanced_resource_scorer(&usages), expected, "{usages:?}");
    }
    for (usages, expected) in [
        (vec![(0, 500, 1000), (0, 500, 1000)], 100),
        (vec![(0, 900, 1000), (0, 100, 1000)], 60),
        (vec![(500, 500, 1000), (0, 500, 1000)], 100),
        (vec![(0, 900, 1000), (0, 100, 0)], 100),
        (vec![(0, 600, 1000), (0, 300, 1000), (0, 300, 1000)], 85),
    ] {
        let usages: Vec<Usage> = usages.into_iter().map(usage).collect();
        assert_eq!(balance_with_pod(&usages), expected, "{usages:?}");
    }
    balanced_resource_scorer(&[usage((i64::MIN, i64::MAX, -1)), usage((1, 2, i64::MAX)), usage((1, 2, i64::MIN))]);
}

#[test]
fn pods_that_ask_for_nothing_are_not_scored() {
    let newest = &Emulation::default().behaviour().resources;
    let earlier = ResourceBehaviour { balance_skips_best_effort: false, balance: BalanceScore::Result, ..*newest };
    let node = node_info("{status: {allocatable: {cpu: 1, memory: 1000}}}");
    for (release, pod, skipped, score) in [
        (newest, "{spec: {containers: [{}]}}", true, 0),
        (newest, "{spec: {containers: [{resources: {requests: {cpu: 900m, memory: 100}}}]}}", false, 55),
        (&earlier, "{spec: {containers: [{}]}}", false, 100),
    ] {
        let plugin = NodeResourcesBalancedAllocation::new(NodeResourcesBalancedAllocationArgs::default(), release);
        let (pod, mut state) = (pod_info(pod), CycleState::default());
        with_context(&Cluster::default(), &[], |cx| {
            assert_eq!(ScorePlugin::score(&plugin, &cx, &state, &pod, &node), Ok(score), "without PreScore");
            assert_eq!(PreScorePlugin::pre_score(&plugin, &cx, &mut state, &pod, &[]).is_skip(), skipped);
            assert_eq!(ScorePlugin::score(&plugin, &cx, &state, &pod, &node), Ok(score));
        });
    }
}
